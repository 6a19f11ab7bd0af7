-- Version 1 to 2: revisits, and what sitemaps were.

ALTER TABLE run ADD COLUMN revisit INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN active_from REAL NOT NULL DEFAULT 0;
UPDATE run SET active_from = started_at;
ALTER TABLE run ADD COLUMN pruned_at REAL;
ALTER TABLE run ADD COLUMN totals TEXT;
ALTER TABLE page ADD COLUMN kind TEXT NOT NULL DEFAULT 'fetched';
ALTER TABLE page ADD COLUMN reason TEXT NOT NULL DEFAULT 'ok';
ALTER TABLE page ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN seen_run INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN asked_at REAL NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN gone_runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN missed_runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN retired INTEGER NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN lastmod TEXT;
ALTER TABLE entry ADD COLUMN standing INTEGER NOT NULL DEFAULT 1;
ALTER TABLE refusal ADD COLUMN standing INTEGER NOT NULL DEFAULT 1;
ALTER TABLE sitemap_entry ADD COLUMN misplaced INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sitemap_entry_file ON sitemap_entry (run, sitemap);
ALTER TABLE page ADD COLUMN alternates TEXT;
UPDATE page SET seen_run = last_run, asked_at = last_fetched;
-- How each page ended when it was last asked for: one that led elsewhere by a meta refresh is no page that stands unchanged.
UPDATE page SET (kind, reason, depth) = (e.kind, e.reason, e.depth) FROM (
    SELECT p.crawl, p.host, p.hash, max(x.run), x.kind, x.reason, x.depth
    FROM page AS p JOIN run AS r ON r.crawl = p.crawl JOIN entry AS x ON x.run = r.id AND x.host = p.host AND x.purpose = 0
        AND x.hash = p.hash
    WHERE x.attempts > 0 AND x.kind IS NOT NULL GROUP BY p.crawl, p.host, p.hash
) AS e WHERE e.crawl = page.crawl AND e.host = page.host AND e.hash = page.hash;

-- A sitemap file over the runs of a crawl: what a run that leaves it alone takes over.
CREATE TABLE sitemap_file (
    crawl INTEGER NOT NULL,
    host INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    href TEXT NOT NULL,
    index_lastmod TEXT,                         -- what its index said of it when it was last read
    etag TEXT,
    last_modified TEXT,
    digest TEXT,                                -- of its bytes
    asked_at REAL NOT NULL,
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
CREATE INDEX sitemap_child_file ON sitemap_child (run, sitemap);

-- By whom a sitemap file is named, itself or through its index: the owner, or a host by its robots.txt. What the file
-- may speak for follows from that.
CREATE TABLE sitemap_namer (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,                      -- of the file
    hash INTEGER NOT NULL,
    namer TEXT NOT NULL,                        -- "owner" or "robots:HOST"
    PRIMARY KEY (run, host, hash, namer)
) WITHOUT ROWID;

-- How far the hints of a section's sitemap entries were right in each run.
CREATE TABLE trust (
    crawl INTEGER NOT NULL,
    host INTEGER NOT NULL,
    section TEXT NOT NULL,
    hint TEXT NOT NULL,                         -- lastmod | changefreq | index
    run INTEGER NOT NULL,
    announced REAL NOT NULL,                    -- changes that the hint announced
    confirmed REAL NOT NULL,                    -- of these, the content had changed
    sampled REAL NOT NULL,                      -- asked for although the hint said unchanged
    missed REAL NOT NULL,                       -- of these, the content had changed
    left_alone REAL NOT NULL,                   -- not asked for on the hint's word
    PRIMARY KEY (crawl, host, section, hint, run)
) WITHOUT ROWID;

ALTER TABLE host ADD COLUMN gap_seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE host ADD COLUMN member_of INTEGER;
CREATE INDEX host_member_of ON host (member_of) WHERE member_of IS NOT NULL;

-- Hosts that are asked as if they were one, where the owner wants that (R-4.1). name: list:..., domain:... or address:...
CREATE TABLE host_group (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    next_at REAL NOT NULL DEFAULT 0,            -- no request to any of its hosts starts before
    started_at REAL NOT NULL DEFAULT 0,         -- when the last request to one of them began and ended, so that the next
    ended_at REAL NOT NULL DEFAULT 0            -- host's pace is kept from there on
);

-- How a host was treated in a run (R-4.6): one row, brought up to date with every batch. Spans are in seconds, measured on
-- the client's monotonic clock.
CREATE TABLE conduct (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    rule TEXT NOT NULL DEFAULT '',              -- what set the pace that is in force (politeness.RULES)
    gap_seconds REAL NOT NULL DEFAULT 0,        -- that pace: between starts,
    rest_seconds REAL NOT NULL DEFAULT 0,       -- and after an end
    connections INTEGER NOT NULL DEFAULT 1,     -- allowed at a time
    least_gap REAL,                             -- smallest span between two starts; NULL before the second request
    least_rest REAL,                            -- smallest span from the end of one to the start of the next, where none was under way
    least_slack REAL,                           -- smallest span kept beyond what the rule of that moment asked for; below 0: hurried
    most_connections INTEGER NOT NULL DEFAULT 0,
    retry_afters INTEGER NOT NULL DEFAULT 0,    -- Retry-After received
    longest_retry_after REAL,
    least_retry_slack REAL,                     -- smallest wait after one, minus what it asked for
    most_backoff REAL NOT NULL DEFAULT 0,
    robots_retries INTEGER NOT NULL DEFAULT 0,  -- robots.txt asked again after a failure
    given_up TEXT NOT NULL DEFAULT '',          -- why: failures | retry-after
    grouped TEXT NOT NULL DEFAULT '',           -- the group of hosts that it was asked with
    PRIMARY KEY (run, host)
) WITHOUT ROWID;

-- What makes a page's text comparable with others' (likeness.py), kept only where the owner wants near duplicates (R-9.3).
CREATE TABLE sketch (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    sketch BLOB NOT NULL,
    PRIMARY KEY (run, host, hash)
) WITHOUT ROWID;

-- Schedules, what became of each due time, and the one keeper that may start runs.
ALTER TABLE schedule ADD COLUMN zone TEXT NOT NULL DEFAULT 'UTC';
ALTER TABLE schedule ADD COLUMN config TEXT;
ALTER TABLE schedule ADD COLUMN grace_seconds REAL NOT NULL DEFAULT 3600;
ALTER TABLE schedule ADD COLUMN handled_at REAL NOT NULL DEFAULT 0;
ALTER TABLE schedule ADD COLUMN removed_at REAL;
CREATE TABLE schedule_event (
    schedule INTEGER NOT NULL,
    due_at REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'started', 'ended', 'failed', 'missed', 'overlapped')),
    at REAL NOT NULL,                           -- when it came to this state
    count INTEGER NOT NULL DEFAULT 1,           -- due times it stands for: missed ones in a row share a row
    run INTEGER,
    detail TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (schedule, due_at)
) WITHOUT ROWID;
CREATE TABLE keeper (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    token TEXT NOT NULL,
    expires_at REAL NOT NULL
);
