-- The store, schema version 3; migrations/ makes older ones equal. Shape and reasons: rules R-1.1 to R-1.7.
-- Times are seconds since the epoch (REAL). Hashes are 64-bit signed (url.key64).
-- Only store/ reads these names; reports read the views at the end.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE crawl (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    config TEXT REFERENCES config (hash),       -- the settings its owner keeps for it; NULL: those of its last run
    removed_at REAL                             -- since when nothing shows it; its rows go when nobody crawls (R-8.4)
);

-- The settings a run was made with, or that an owner keeps for a crawl, once each.
CREATE TABLE config (hash TEXT PRIMARY KEY, toml TEXT NOT NULL) WITHOUT ROWID;

-- One execution of a crawl. state: running -> done | stopped | failed (and running again by --resume).
-- stop_reason: NULL while running, then finished | limit:pages | limit:seconds | limit:targets | interrupted | system:...
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    crawl INTEGER NOT NULL REFERENCES crawl (id),
    config TEXT NOT NULL REFERENCES config (hash),
    version TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'stopped', 'failed')),
    stop_reason TEXT,
    stop_requested INTEGER NOT NULL DEFAULT 0,
    started_at REAL NOT NULL,
    ended_at REAL,
    active_seconds REAL NOT NULL DEFAULT 0,
    counters TEXT NOT NULL DEFAULT '{}',   -- JSON, kept per batch: the first two counts of the books (R-7.1)
    books TEXT,                            -- JSON, written once at the end: all three counts, balanced or not
    revisit INTEGER NOT NULL DEFAULT 0,    -- whether it asks only for what may have changed (R-1.7)
    active_from REAL NOT NULL DEFAULT 0,   -- plus active_seconds: when it was last written, by the clock of that time
    pruned_at REAL,                        -- when its rows were removed (R-8.4); totals has what they summed up to
    totals TEXT                            -- JSON: [[purpose, kind, reason, count], ...], written at the end; NULL: to be counted
);
CREATE INDEX run_crawl ON run (crawl, id);

-- A host is a name without its port (R-4.1); its pace is store-wide.
CREATE TABLE host (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    next_at REAL NOT NULL DEFAULT 0,            -- no request starts before
    smoothed_seconds REAL NOT NULL DEFAULT 0,   -- smoothed response time
    backoff_seconds REAL NOT NULL DEFAULT 0,    -- after errors; recovers
    gap_seconds REAL NOT NULL DEFAULT 0,        -- the pace that was last in force: what a voided lease waits for (R-4.3)
    member_of INTEGER                           -- host_group.id; NULL: a group of its own, or not known yet in this process
);
CREATE INDEX host_member_of ON host (member_of) WHERE member_of IS NOT NULL;

-- Hosts that are asked as if they were one, where the owner wants that (R-4.1). name: list:..., domain:... or address:...
CREATE TABLE host_group (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    next_at REAL NOT NULL DEFAULT 0,            -- no request to any of its hosts starts before
    started_at REAL NOT NULL DEFAULT 0,         -- when the last request to one of them began and ended, so that the next
    ended_at REAL NOT NULL DEFAULT 0            -- host's pace is kept from there on
);

-- Who may talk to a host now (R-4.1, R-4.3): at most one holder, which the primary key holds.
CREATE TABLE lease (
    host INTEGER PRIMARY KEY REFERENCES host (id),
    token INTEGER NOT NULL,
    run INTEGER NOT NULL,
    expires_at REAL NOT NULL
);

-- A host's part in a run: when it is next worth leasing (NULL: nothing due), and what it cost.
CREATE TABLE run_host (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    due_at REAL,                                -- never before the host's next_at
    pages INTEGER NOT NULL DEFAULT 0,           -- page entries admitted (limits.pages_per_host)
    refused INTEGER NOT NULL DEFAULT 0,         -- listed refusals (R-1.4)
    requests INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    failures_in_a_row INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    given_up INTEGER NOT NULL DEFAULT 0,        -- its due entries are abandoned.host_given_up (R-1.6)
    PRIMARY KEY (run, host)
) WITHOUT ROWID;
CREATE INDEX run_host_due ON run_host (run, due_at) WHERE due_at IS NOT NULL;

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

-- robots.txt of an origin in a run (ST-15). state: wanted -> known | unreachable.
-- ended: NULL, or the ending of its due page entries (R-1.6): unreachable.robots_unreachable | abandoned.delay_too_long.
CREATE TABLE robots (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    origin TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'wanted' CHECK (state IN ('wanted', 'known', 'unreachable')),
    body BLOB,                                  -- the rules as read, at most 512,000 bytes; empty: everything is allowed
    source TEXT,                                -- href the body came from, or of the redirect hop that is waited for (ST-1)
    fetched_at REAL,
    first_failed_at REAL,
    ended TEXT,
    certificate_ends_at REAL,                   -- until when the certificate holds that was served first; NULL: none, or not told
    UNIQUE (run, origin)
);
CREATE INDEX robots_host ON robots (run, host);
CREATE INDEX robots_source ON robots (run, source) WHERE source IS NOT NULL;

-- Frontier and ledger row in one (R-1.1, R-1.2). due_at set: waiting; kind set: ended (never both).
CREATE TABLE entry (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    purpose INTEGER NOT NULL,                   -- 0 page, 1 robots, 2 sitemap, 3 check: only whether it is there
    hash INTEGER NOT NULL,
    href TEXT NOT NULL,
    origin INTEGER NOT NULL,                    -- robots.id
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    nofollow INTEGER NOT NULL,
    found_by TEXT NOT NULL,
    via TEXT NOT NULL,
    linked INTEGER NOT NULL,                    -- found as seed, link or sitemap entry: has a row in the MF3.0 file (R-6.2)
    granted TEXT NOT NULL DEFAULT '',           -- permission outside scope it came with (R-3.3)
    site INTEGER,                               -- index of the first site that accepts it; NULL for a grant
    rule TEXT NOT NULL,                         -- why it is in; after the end the rule that ended it, if one did
    due_at REAL,
    attempts INTEGER NOT NULL DEFAULT 0,        -- requests sent
    kind TEXT,
    reason TEXT,
    detail TEXT,
    status INTEGER,
    redirect_to TEXT,
    ended_at REAL,
    standing INTEGER NOT NULL DEFAULT 1,        -- candidate.Standing: 0 misplaced, 1 found, 2 listed
    PRIMARY KEY (run, host, purpose, hash),
    CHECK ((due_at IS NULL) <> (kind IS NULL))
) WITHOUT ROWID;
CREATE INDEX entry_due ON entry (run, origin, due_at) WHERE due_at IS NOT NULL;

-- Lineage of an entry, only kept for own-seed scope (R-3.1).
CREATE TABLE site_of (
    run INTEGER NOT NULL, host INTEGER NOT NULL, purpose INTEGER NOT NULL, hash INTEGER NOT NULL,
    site INTEGER NOT NULL,
    PRIMARY KEY (run, host, purpose, hash, site)
) WITHOUT ROWID;

-- A site whose seed has landed (R-3.2), and where.
CREATE TABLE landing (
    run INTEGER NOT NULL,
    seed TEXT NOT NULL,                         -- href of the site's seed, which a resume with other seeds still knows
    href TEXT NOT NULL,                         -- what its scope is measured by from now on
    PRIMARY KEY (run, seed)
) WITHOUT ROWID;

-- What the last response of an entry said, for this run's ledger and MF3.0 file.
CREATE TABLE response (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    purpose INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL,                      -- as received, "Name: value" lines ended by \n
    content_type TEXT,
    title TEXT,
    canonical TEXT,                             -- absolute href or NULL
    lang TEXT,
    index_reason TEXT NOT NULL,                 -- '' when it may be searched: noindex | canonical | empty | ...
    last_modified TEXT,
    etag TEXT,
    digest TEXT,
    address TEXT NOT NULL,
    fetched_at REAL NOT NULL,
    bytes INTEGER NOT NULL,                     -- decoded
    seconds REAL NOT NULL,
    PRIMARY KEY (run, host, purpose, hash)
) WITHOUT ROWID;

-- What makes a page's text comparable with others' (likeness.py), kept only where the owner wants near duplicates (R-9.3).
CREATE TABLE sketch (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    sketch BLOB NOT NULL,
    PRIMARY KEY (run, host, hash)
) WITHOUT ROWID;

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

-- History: one row per URL per crawl, over all runs. outlinks: store/outlinks.py.
CREATE TABLE page (
    crawl INTEGER NOT NULL,
    host INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    href TEXT NOT NULL,
    first_seen REAL NOT NULL,
    last_fetched REAL NOT NULL,
    last_changed REAL NOT NULL,
    visits INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    etag TEXT,
    last_modified TEXT,
    digest TEXT,
    interval_seconds REAL,
    last_run INTEGER NOT NULL,                  -- the run that has its last response, fetched or taken over
    outlinks BLOB,
    kind TEXT NOT NULL DEFAULT 'fetched',       -- how it ended when it was last asked for
    reason TEXT NOT NULL DEFAULT 'ok',
    depth INTEGER NOT NULL DEFAULT 0,
    seen_run INTEGER NOT NULL DEFAULT 0,        -- the last run in which it was found
    asked_at REAL NOT NULL DEFAULT 0,           -- when it was last asked for, whatever came of it
    gone_runs INTEGER NOT NULL DEFAULT 0,       -- times asked in a row that gave 404 or 410
    missed_runs INTEGER NOT NULL DEFAULT 0,     -- times in a row that it was asked for and not found
    retired INTEGER NOT NULL DEFAULT 0,         -- no longer asked for
    lastmod TEXT,                               -- what its sitemap said when it was last asked for
    alternates TEXT,                            -- the page in other languages as JSON: [[hreflang, href], ...]; NULL: none
    PRIMARY KEY (crawl, host, hash)
) WITHOUT ROWID;

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

-- Refusals: append-only; one whose URL was later admitted is hidden by its entry (R-1.4, R-2.1).
-- host NULL-like 0: no host (not a URL, or not of the web).
CREATE TABLE refusal (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    purpose INTEGER NOT NULL DEFAULT 0,
    hash INTEGER NOT NULL,
    href TEXT NOT NULL,
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    nofollow INTEGER NOT NULL,
    found_by TEXT NOT NULL,
    via TEXT NOT NULL,
    linked INTEGER NOT NULL,
    sites TEXT NOT NULL DEFAULT '',             -- lineage, comma-separated, only for own-seed
    granted TEXT NOT NULL DEFAULT '',           -- permission outside scope it came with, and was refused all the same
    reason TEXT NOT NULL,                       -- code of an excluded.* ending
    rule TEXT NOT NULL,
    standing INTEGER NOT NULL DEFAULT 1,        -- as of an entry
    PRIMARY KEY (run, host, purpose, hash)
) WITHOUT ROWID;

-- "Not listed": refusals beyond ledger.refusals_per_host, and addresses that are not of the web, per scheme.
-- Counts sightings, not distinct URLs (nothing is remembered of them).
CREATE TABLE refusal_count (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    reason TEXT NOT NULL,
    rule TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (run, host, reason, rule)
) WITHOUT ROWID;

-- What sitemaps say of a URL.
CREATE TABLE sitemap_entry (
    run INTEGER NOT NULL,
    host INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    sitemap TEXT NOT NULL,                      -- href of the sitemap file
    href TEXT NOT NULL,
    lastmod TEXT,
    changefreq TEXT,
    priority REAL,
    misplaced INTEGER NOT NULL DEFAULT 0,       -- 1: the file may not speak for this address; 2: nobody names the file
    PRIMARY KEY (run, host, hash, sitemap)
) WITHOUT ROWID;
CREATE INDEX sitemap_entry_file ON sitemap_entry (run, sitemap);

-- What the owner should know of a run; message arguments as JSON.
CREATE TABLE finding (
    run INTEGER NOT NULL,
    code TEXT NOT NULL,
    subject TEXT NOT NULL,
    arguments TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (run, code, subject)
) WITHOUT ROWID;

CREATE TABLE schedule (
    id INTEGER PRIMARY KEY,
    crawl INTEGER NOT NULL REFERENCES crawl (id),
    cron TEXT NOT NULL,
    created_at REAL NOT NULL,
    zone TEXT NOT NULL DEFAULT 'UTC',
    config TEXT,                                -- path of the settings file; NULL: the settings of the crawl's last run
    grace_seconds REAL NOT NULL DEFAULT 3600,   -- so late a missed start is still caught up
    handled_at REAL NOT NULL DEFAULT 0,         -- the last due time that was seen to
    removed_at REAL,
    paused_at REAL,                             -- when it was switched off; NULL: it is on
    public_only INTEGER NOT NULL DEFAULT 0      -- its runs open no private network (R-5.1)
);

-- What became of each due time (R-8.5); its key is what keeps two keepers from starting one run twice.
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

-- The one keeper that may start runs (R-8.5).
CREATE TABLE keeper (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    token TEXT NOT NULL,
    expires_at REAL NOT NULL
);

-- Every entry with its ending, stored or derived (R-1.6).
CREATE VIEW ending AS
SELECT e.*, h.name AS host_name,
    CASE
        WHEN e.kind IS NOT NULL THEN e.kind
        WHEN rh.given_up THEN 'abandoned'
        WHEN e.purpose <> 1 AND o.ended IS NOT NULL THEN substr(o.ended, 1, instr(o.ended, '.') - 1)
        WHEN r.state = 'running' THEN 'due'
        ELSE 'abandoned'
    END AS end_kind,
    CASE
        WHEN e.kind IS NOT NULL THEN e.reason
        WHEN rh.given_up THEN 'host_given_up'
        WHEN e.purpose <> 1 AND o.ended IS NOT NULL THEN substr(o.ended, instr(o.ended, '.') + 1)
        WHEN r.state = 'running' THEN 'due'
        WHEN r.stop_reason LIKE 'limit:%' THEN 'run_limit'
        ELSE 'stopped'
    END AS end_reason
FROM entry AS e
JOIN run AS r ON r.id = e.run
JOIN host AS h ON h.id = e.host
JOIN robots AS o ON o.id = e.origin
JOIN run_host AS rh ON rh.run = e.run AND rh.host = e.host;

-- The ledger: every URL of a run, admitted or refused, one row each.
CREATE VIEW ledger AS
SELECT e.run, e.href AS url,
    CASE e.purpose WHEN 0 THEN 'page' WHEN 1 THEN 'robots' WHEN 2 THEN 'sitemap' ELSE 'check' END AS purpose,
    e.end_kind AS kind, e.end_reason AS reason, coalesce(e.detail, '') AS detail,
    e.status, e.redirect_to, x.canonical, x.content_type, x.title, x.lang,
    e.depth, e.hops, e.via, e.found_by, e.linked, e.site, e.rule, e.attempts,
    x.fetched_at, x.bytes, x.seconds, x.index_reason, x.last_modified, x.etag, x.digest,
    x.address, x.headers, e.host_name AS host, e.host AS host_id, e.hash, e.ended_at, e.nofollow
FROM ending AS e
LEFT JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = e.purpose AND x.hash = e.hash
UNION ALL
SELECT f.run, f.href, CASE f.purpose WHEN 0 THEN 'page' WHEN 3 THEN 'check' ELSE 'sitemap' END, 'excluded', f.reason, '',
    NULL, NULL, NULL, NULL, NULL, NULL,
    f.depth, f.hops, f.via, f.found_by, f.linked, NULL, f.rule, 0,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, coalesce(h.name, ''), f.host, f.hash, NULL, f.nofollow
FROM refusal AS f
LEFT JOIN host AS h ON h.id = f.host
WHERE NOT EXISTS (
    SELECT 1 FROM entry AS e WHERE e.run = f.run AND e.host = f.host AND e.purpose = f.purpose AND e.hash = f.hash
        AND substr(e.href, 1, length(f.href)) = f.href   -- a refused address may be stored cut (R-1.4)
);
