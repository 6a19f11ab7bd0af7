-- The ledger of one run laid out for looking at it: a file of its own beside the store, with indexes that no crawl pays for.
-- The store is attached to it as "store", read-only.

-- name: shelf_begin
-- Nothing here is worth a sync: the file is made anew when it is lost.
PRAGMA main.journal_mode = OFF;
PRAGMA main.synchronous = OFF;
PRAGMA main.cache_size = -65536;
CREATE TABLE row (
    id INTEGER PRIMARY KEY,                     -- the place of a row in the ledger: by host and address
    href TEXT NOT NULL,
    purpose TEXT NOT NULL,
    kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    status INTEGER NOT NULL,                    -- 0: no answer
    section TEXT NOT NULL,
    title TEXT NOT NULL,
    content_type TEXT NOT NULL,
    depth INTEGER NOT NULL,
    bytes INTEGER NOT NULL,                     -- -1: no answer
    seconds REAL NOT NULL                       -- -1: no answer
);
-- Which rows have three characters somewhere; where they stand is not kept, so rows that are found are looked at again.
CREATE VIRTUAL TABLE words USING fts5 (said, content = '', tokenize = 'trigram', detail = 'none', columnsize = 0);
CREATE TABLE count (purpose TEXT, kind TEXT, reason TEXT, number INTEGER, PRIMARY KEY (purpose, kind, reason)) WITHOUT ROWID;
CREATE TABLE section (section TEXT, kind TEXT, number INTEGER, PRIMARY KEY (section, kind)) WITHOUT ROWID;
CREATE TABLE status (status INTEGER PRIMARY KEY, number INTEGER);

-- name: shelf_fill
INSERT INTO row (href, purpose, kind, reason, status, section, title, content_type, depth, bytes, seconds)
SELECT url, purpose, kind, reason, coalesce(status, 0), section_of(url), coalesce(title, ''), coalesce(content_type, ''), depth,
    coalesce(bytes, -1), coalesce(seconds, -1)
FROM store.ledger WHERE run = ? ORDER BY host, url, purpose;

-- name: shelf_end
CREATE INDEX row_kind ON row (kind, reason);
CREATE INDEX row_section ON row (section);
CREATE INDEX row_status ON row (status);
CREATE INDEX row_bytes ON row (bytes);
CREATE INDEX row_seconds ON row (seconds);
INSERT INTO words (rowid, said) SELECT id, href || ' ' || title FROM row;
INSERT INTO count SELECT purpose, kind, reason, count(*) FROM row GROUP BY purpose, kind, reason;
INSERT INTO section SELECT section, kind, count(*) FROM row WHERE purpose = 'page' GROUP BY section, kind;
INSERT INTO status SELECT status, count(*) FROM row GROUP BY status;

-- name: shelf_counts
SELECT purpose, kind, reason, number FROM count;

-- name: shelf_statuses
SELECT status, number FROM status WHERE status > 0 ORDER BY status;

-- name: shelf_sections
-- The largest sections with their pages by kind.
SELECT section, kind, number FROM section WHERE section IN (
    SELECT section FROM section GROUP BY section ORDER BY sum(number) DESC, section LIMIT ?
) ORDER BY section, kind;

-- name: shelf_section_count
SELECT coalesce(sum(number), 0) FROM section WHERE section = ?;

-- name: shelf_text_count
-- How many rows may have a text, counted up to a number.
SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?);

-- name: shelf_rows
-- One page of the table behind a place; three marks are replaced by store/sqlite/shelf.py out of its own table.
SELECT id, href, purpose, kind, reason, status, title, content_type, depth, bytes, seconds FROM row AS r :by
WHERE (?1 = '' OR r.kind = ?1) AND (?2 = '' OR r.reason = ?2) AND (?3 = '' OR r.section = ?3)
    AND (?4 = 0 OR r.status = ?4) AND (?5 = '' OR r.purpose = ?5)
    AND (?6 = '' OR instr(lower(r.href), ?6) > 0 OR instr(lower(r.title), ?6) > 0)
    AND :after
ORDER BY :order LIMIT ?9;

-- name: shelf_narrowed
-- Where few rows meet a condition, they are read by its index and sorted; the mark is replaced as the others are.
JOIN (SELECT id AS found FROM row WHERE :narrowest) ON found = r.id
