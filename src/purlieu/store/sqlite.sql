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

-- name: sqlite_begin
-- The write lock is taken at once, so that a transaction cannot fail half way for want of it.
BEGIN IMMEDIATE;

-- name: sqlite_commit
COMMIT;

-- name: sqlite_rollback
ROLLBACK;

-- name: sqlite_tables
SELECT count(*) FROM sqlite_schema;
