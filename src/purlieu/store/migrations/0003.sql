-- Schema version 2 to 3: crawls that are kept and edited without a run, schedules on and off, what pages say.

ALTER TABLE schedule ADD COLUMN paused_at REAL;
ALTER TABLE schedule ADD COLUMN public_only INTEGER NOT NULL DEFAULT 0;

-- Crawls that are made and edited without a run, and such as were removed.
ALTER TABLE crawl ADD COLUMN config TEXT REFERENCES config (hash);
ALTER TABLE crawl ADD COLUMN removed_at REAL;

-- What pages say to their readers, the last of each, where the owner keeps it (keep = "text"). text: zlib; headings, more: JSON.
CREATE TABLE content (
    id INTEGER PRIMARY KEY,
    crawl INTEGER NOT NULL,
    host INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    href TEXT NOT NULL,
    run INTEGER NOT NULL,                       -- the run that read it last
    changed_run INTEGER NOT NULL,               -- the run in which it became what it is
    changed_at REAL NOT NULL,
    digest TEXT NOT NULL,                       -- of all that follows
    title TEXT NOT NULL,
    language TEXT NOT NULL,
    description TEXT NOT NULL,
    headings TEXT NOT NULL,                     -- [[level, text], ...]
    more TEXT NOT NULL,                         -- {"open_graph": {}, "json_ld": [], "breadcrumbs": [], "author": ""}
    text BLOB NOT NULL,
    unread TEXT NOT NULL DEFAULT '',            -- why a document's text is not here, or not all of it (document/told.py)
    links BLOB,                                 -- where it links to and what its links say (store/anchors.py); NULL: nowhere
    anchors TEXT NOT NULL DEFAULT '[]',         -- what links to it say, the most frequent first, as its last run ended
    UNIQUE (crawl, host, hash)
);
CREATE INDEX content_changed ON content (crawl, changed_run);
CREATE INDEX content_unread ON content (crawl, unread, href) WHERE unread <> '';

-- What a search engine has of a crawl's pages (purlieu feed): what its server has acknowledged, or what a file was given.
CREATE TABLE feed (
    id INTEGER PRIMARY KEY,
    crawl INTEGER NOT NULL,
    target TEXT NOT NULL,                       -- form, address and index; no secret
    host INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    href TEXT NOT NULL,
    digest TEXT NOT NULL,                       -- of the content as it was told, and the names of its fields
    told_at REAL NOT NULL,
    UNIQUE (crawl, target, host, hash, href)
);

-- What the owner's function took out of a page (Crawl(extract=...)): JSON.
CREATE TABLE extract (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (run, host, hash)
) WITHOUT ROWID;

-- The places that a page has (hashes of its ids) and that its links ask for on pages (zlib: href#fragment, one a line), kept
-- only where the owner has fragments checked (page/anchors.py).
CREATE TABLE anchor (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    ids BLOB NOT NULL,
    asked BLOB NOT NULL,
    PRIMARY KEY (run, host, hash)
) WITHOUT ROWID;

-- Until when the certificate of an origin holds.
ALTER TABLE robots ADD COLUMN certificate_ends_at REAL;
