-- Version 1 to 2: revisits, and what sitemaps were.

ALTER TABLE run ADD COLUMN revisit INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN kind TEXT NOT NULL DEFAULT 'fetched';
ALTER TABLE page ADD COLUMN reason TEXT NOT NULL DEFAULT 'ok';
ALTER TABLE page ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN seen_run INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN asked_at REAL NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN gone_runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN missed_runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN retired INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN alternates TEXT;
UPDATE page SET seen_run = last_run, asked_at = last_fetched;

-- A sitemap file over the runs of a crawl: what a run that leaves it alone takes over.
CREATE TABLE sitemap_file (
    crawl INTEGER NOT NULL,
    host INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    href TEXT NOT NULL,
    index_lastmod TEXT,                         -- what its index said of it when it was last read
    etag TEXT,
    last_modified TEXT,
    last_run INTEGER NOT NULL,                  -- the run that has its entries and children
    PRIMARY KEY (crawl, host, hash)
) WITHOUT ROWID;

-- What a sitemap file was in a run; problems as JSON: [[line, kind, sentence], ...].
CREATE TABLE sitemap_read (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    href TEXT NOT NULL,
    kind TEXT NOT NULL,
    entries INTEGER NOT NULL,
    children INTEGER NOT NULL,
    problems TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (run, host, hash)
) WITHOUT ROWID;

-- The files that an index names.
CREATE TABLE sitemap_child (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,                      -- of the child
    hash INTEGER NOT NULL,
    sitemap TEXT NOT NULL,                      -- href of the index
    href TEXT NOT NULL,
    lastmod TEXT,
    PRIMARY KEY (run, host, hash, sitemap)
) WITHOUT ROWID;

-- How far the hints of a section's sitemap entries were right; counts fade from run to run.
CREATE TABLE trust (
    crawl INTEGER NOT NULL,
    host INTEGER NOT NULL,
    section TEXT NOT NULL,
    hint TEXT NOT NULL,                         -- lastmod | changefreq
    run INTEGER NOT NULL,                       -- the last one counted
    announced REAL NOT NULL,                    -- changes that the hint announced
    confirmed REAL NOT NULL,                    -- of these, the content had changed
    sampled REAL NOT NULL,                      -- asked for although the hint said unchanged
    missed REAL NOT NULL,                       -- of these, the content had changed
    PRIMARY KEY (crawl, host, section, hint)
) WITHOUT ROWID;
