-- The ledger of one run laid out for looking at it: a file of its own beside the store, with what no crawl pays for.
-- The store is attached to it as "store", read-only. Marks such as :where are replaced by store/sqlite/shelf.py out of this file.

-- name: shelf_begin
-- Nothing here is worth a sync: the file is made anew when it is lost.
PRAGMA main.journal_mode = OFF;
PRAGMA main.synchronous = OFF;
PRAGMA main.cache_size = -65536;
CREATE TABLE row (
    id INTEGER PRIMARY KEY,                     -- the place of a row in the ledger: by host and address
    href TEXT NOT NULL,
    title TEXT NOT NULL,
    content_type TEXT NOT NULL,
    kind INTEGER NOT NULL,                      -- this and the next three: word.code
    reason INTEGER NOT NULL,
    purpose INTEGER NOT NULL,
    difference INTEGER NOT NULL,                -- from the run before: difference.Difference, '' where there is none
    section INTEGER NOT NULL,                   -- section.code
    status INTEGER NOT NULL,                    -- 0: no answer
    depth INTEGER NOT NULL,
    bytes INTEGER NOT NULL,                     -- -1: no answer
    seconds REAL NOT NULL                       -- -1: no answer
);
-- Which rows have three characters somewhere; where they stand is not kept, so rows that are found are looked at again.
CREATE VIRTUAL TABLE words USING fts5 (said, content = '', tokenize = 'trigram', detail = 'none', columnsize = 0);
CREATE VIRTUAL TABLE temp.every USING fts5vocab (main, words, row);
CREATE TABLE trigram (trigram TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE word (code INTEGER PRIMARY KEY, word TEXT NOT NULL);
CREATE TABLE section (code INTEGER PRIMARY KEY, section TEXT NOT NULL, number INTEGER NOT NULL);
CREATE INDEX section_number ON section (number);
-- How many rows meet any conditions together: with a section, and without.
CREATE TABLE cell (
    section INTEGER, kind INTEGER, reason INTEGER, status INTEGER, purpose INTEGER, difference INTEGER, number INTEGER,
    PRIMARY KEY (section, kind, reason, status, purpose, difference)
) WITHOUT ROWID;
CREATE TABLE tally (
    kind INTEGER, reason INTEGER, status INTEGER, purpose INTEGER, difference INTEGER, number INTEGER,
    PRIMARY KEY (kind, reason, status, purpose, difference)
) WITHOUT ROWID;
-- Every folder of the pages, with the numbers of all below it; first and last are rows between which they all lie.
CREATE TABLE folder (
    folder TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    number INTEGER NOT NULL,
    own INTEGER NOT NULL,                       -- pages that lie in it and in no folder of it
    kinds TEXT NOT NULL,                        -- JSON: {kind: number}
    differences TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL
) WITHOUT ROWID;

-- name: shelf_before
-- The run of the same crawl that a run is compared with.
SELECT max(b.id) FROM store.run AS b JOIN store.run AS r ON r.id = ?1 AND b.crawl = r.crawl
WHERE b.id < r.id AND b.pruned_at IS NULL;

-- name: shelf_fill
-- What ended as before with the same content is by far the most, and needs no judging.
INSERT INTO row (href, title, content_type, kind, reason, purpose, difference, section, status, depth, bytes, seconds)
SELECT l.url, coalesce(l.title, ''), coalesce(l.content_type, ''), code_of(l.kind), code_of(l.reason), code_of(l.purpose),
    code_of(CASE
        WHEN ?2 IS NULL OR l.purpose <> 'page' THEN ''
        WHEN e.kind = l.kind AND l.kind IN ('fetched', 'missing') AND x.digest IS l.digest THEN 'unchanged'
        WHEN e.hash IS NULL AND f.hash IS NULL THEN difference_of(NULL, NULL, NULL, l.kind, l.digest, l.redirect_to)
        ELSE difference_of(
            CASE WHEN e.hash IS NULL THEN 'excluded' ELSE coalesce(e.kind, (
                SELECT n.end_kind FROM store.ending AS n
                WHERE n.run = e.run AND n.host = e.host AND n.purpose = 0 AND n.hash = e.hash
            )) END, x.digest, e.redirect_to, l.kind, l.digest, l.redirect_to)
    END),
    section_code_of(l.url), coalesce(l.status, 0), l.depth, coalesce(l.bytes, -1), coalesce(l.seconds, -1)
FROM store.ledger AS l
LEFT JOIN store.entry AS e ON e.run = ?2 AND e.host = l.host_id AND e.purpose = 0 AND e.hash = l.hash
LEFT JOIN store.response AS x ON x.run = ?2 AND x.host = l.host_id AND x.purpose = 0 AND x.hash = l.hash
LEFT JOIN store.refusal AS f ON e.hash IS NULL AND f.run = ?2 AND f.host = l.host_id AND f.purpose = 0 AND f.hash = l.hash
WHERE l.run = ?1 ORDER BY l.host, l.url, l.purpose;

-- name: shelf_add_word
INSERT INTO word (code, word) VALUES (?, ?);

-- name: shelf_end
-- One index has all that is filtered and sorted by, and is a tenth of the rows: it is read instead of them.
CREATE INDEX row_facts ON row (kind, reason, section, status, purpose, difference, depth, bytes, seconds);
CREATE INDEX row_section ON row (section);
INSERT INTO cell SELECT section, kind, reason, status, purpose, difference, count(*) FROM row GROUP BY 1, 2, 3, 4, 5, 6;
INSERT INTO tally SELECT kind, reason, status, purpose, difference, sum(number) FROM cell GROUP BY 1, 2, 3, 4, 5;
INSERT INTO section SELECT section, section_of(href), (SELECT sum(number) FROM cell AS c WHERE c.section = r.section)
FROM row AS r GROUP BY section;
-- Two blanks at the end, so that the last two characters begin a trigram as all others do.
INSERT INTO words (rowid, said) SELECT id, href || ' ' || title || '  ' FROM row;
INSERT INTO trigram SELECT term, doc FROM every;

-- name: shelf_leaves
-- The pages of each folder by what became of them, in the order of the folders.
SELECT folder_of(href) AS folder, kind, difference, count(*), min(id), max(id) FROM row
WHERE purpose = (SELECT code FROM word WHERE word = 'page') GROUP BY 1, 2, 3 ORDER BY 1;

-- name: shelf_add_folder
INSERT INTO folder (folder, parent, number, own, kinds, differences, first, last) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: shelf_folders_end
CREATE INDEX folder_parent ON folder (parent, number);

-- name: shelf_spans
-- Between which places the folders of a folder lie, in their order.
SELECT first, last FROM folder WHERE parent = ? ORDER BY first;

-- name: shelf_words
SELECT code, word FROM word;

-- name: shelf_counts
SELECT purpose, kind, reason, sum(number) FROM tally GROUP BY purpose, kind, reason;

-- name: shelf_differences
SELECT difference, sum(number) FROM tally GROUP BY difference;

-- name: shelf_statuses
SELECT status, sum(number) FROM tally WHERE status > 0 GROUP BY status ORDER BY status;

-- name: shelf_sections
-- The largest sections with their pages by kind.
SELECT s.section, c.kind, sum(c.number) FROM (SELECT code, section FROM section ORDER BY number DESC, code LIMIT ?) AS s
JOIN cell AS c ON c.section = s.code WHERE c.purpose = (SELECT code FROM word WHERE word = 'page')
GROUP BY s.section, c.kind ORDER BY s.section, c.kind;

-- name: shelf_section_number
SELECT number FROM section WHERE code = ?;

-- name: shelf_trigram
SELECT number FROM trigram WHERE trigram = ?;

-- name: shelf_trigrams_from
SELECT trigram, number FROM trigram WHERE trigram >= ? AND trigram < ? LIMIT ?;

-- name: shelf_folder
SELECT folder, parent, number, own, kinds, differences, first, last FROM folder WHERE folder = ?;

-- name: shelf_folders
-- The largest folders of a folder; those of "" are the hosts.
SELECT folder, parent, number, own, kinds, differences, first, last FROM folder WHERE parent = ? ORDER BY number DESC, folder LIMIT ?;

-- name: shelf_number
SELECT coalesce(sum(number), 0) FROM :from WHERE :where;

-- name: shelf_places
-- The places of rows that meet conditions, in an order.
SELECT :column, id FROM row :by WHERE :where ORDER BY :order LIMIT :most;

-- name: shelf_told
-- Places of rows that may have a text, in their order; no more rows are looked at than are met.
SELECT w.rowid, w.rowid FROM words AS w CROSS JOIN row AS r ON r.id = w.rowid
WHERE w.words MATCH :trigrams AND w.rowid BETWEEN :low AND :high AND :where ORDER BY w.rowid :way LIMIT :most;

-- name: shelf_row
SELECT id, href, purpose, kind, reason, status, title, content_type, depth, bytes, seconds, difference FROM row WHERE id = ?;

-- name: shelf_where_kind
kind = :kind

-- name: shelf_where_reason
reason = :reason

-- name: shelf_where_section
section = :section

-- name: shelf_where_status
status = :status

-- name: shelf_where_purpose
purpose = :purpose

-- name: shelf_where_difference
difference = :difference

-- name: shelf_where_changed
difference NOT IN (:nothing, :unchanged, :outside)

-- name: shelf_where_within
id BETWEEN :first AND :last

-- name: shelf_where_own
id IN (SELECT value FROM json_each(:own))

-- name: shelf_where_told
id IN (SELECT rowid FROM words WHERE words MATCH :trigrams)

-- name: shelf_where_any
1

-- name: shelf_behind
(:column, id) > (:value, :place)

-- name: shelf_before_place
(:column, id) < (:value, :place)
