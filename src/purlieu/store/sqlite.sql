-- What only SQLite needs.

-- name: sqlite_writer
-- WAL survives a killed process without a sync per batch; the cache is the bound that R-1.2 names.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -65536;
PRAGMA wal_autocheckpoint = 4000;
PRAGMA temp_store = MEMORY;

-- name: sqlite_reader
PRAGMA cache_size = -65536;

-- name: sqlite_beside
-- A few rows beside a crawl: as safe as its own.
PRAGMA synchronous = NORMAL;

-- name: sqlite_begin
-- The write lock is taken at once, so that a transaction cannot fail half way for want of it.
BEGIN IMMEDIATE;

-- name: sqlite_commit
COMMIT;

-- name: sqlite_rollback
ROLLBACK;

-- name: sqlite_tables
SELECT count(*) FROM sqlite_schema;

-- name: sqlite_mark
-- Which writer works on the store; whoever finds another mark has been superseded (R-4.3).
INSERT INTO meta (key, value) VALUES ('writer', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: sqlite_marked
SELECT value FROM meta WHERE key = 'writer';

-- name: sqlite_views
SELECT name FROM sqlite_schema WHERE type = 'view';

-- name: sqlite_view_texts
SELECT name, sql FROM sqlite_schema WHERE type = 'view' ORDER BY rowid;

-- name: sqlite_drop_view
-- The name is put in by store/sqlite/upgrade.py; it comes from the schema itself.
DROP VIEW :name;

-- name: sqlite_unended
SELECT 1 FROM run WHERE state = 'running' LIMIT 1;

-- name: sqlite_dead
-- Before a reader's eyes: who was at work has died, some time after the last it wrote. All columns of the table, in order.
CREATE TEMP VIEW run AS
SELECT id, crawl, config, version, CASE state WHEN 'running' THEN 'failed' ELSE state END AS state,
    CASE state WHEN 'running' THEN 'system:killed' ELSE stop_reason END AS stop_reason, stop_requested, started_at,
    CASE state WHEN 'running' THEN max(started_at, active_from + active_seconds) ELSE ended_at END AS ended_at,
    active_seconds, counters, books, revisit, active_from, pruned_at, totals
FROM main.run;

-- name: sqlite_integrity
PRAGMA integrity_check(200);

-- name: sqlite_copy
-- The whole store, its log included, into another file, without the pages that are free.
VACUUM INTO ?;

-- name: sqlite_attach
ATTACH ? AS store;
