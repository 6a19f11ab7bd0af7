-- The words of a crawl's newest content: a file of its own beside the store, with what no crawl pays for. The store is attached
-- to it as "store", read-only. store/sqlite/search.py says how it is used.

-- name: search_begin
-- The ids are those of store.content. Lost without harm; the log lets some search while another brings it up to date.
PRAGMA main.journal_mode = WAL;
PRAGMA main.synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS main.page (id INTEGER PRIMARY KEY, href TEXT NOT NULL, digest TEXT NOT NULL, length INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS main.stamp (id INTEGER PRIMARY KEY CHECK (id = 1), stamp TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS main.words
    USING fts5 (title, headings, description, said, content = '', contentless_delete = 1, tokenize = 'trigram');
CREATE VIRTUAL TABLE temp.every USING fts5vocab (main, words, row);
CREATE TABLE temp.stands (id INTEGER PRIMARY KEY, href TEXT NOT NULL, digest TEXT NOT NULL);

-- name: search_detach
DETACH store;

-- name: search_run
-- The run whose pages stand: the newest that is done, else the newest.
SELECT id, state, ended_at FROM store.run WHERE crawl = ? AND pruned_at IS NULL ORDER BY state = 'done' DESC, id DESC LIMIT 1;

-- name: search_is_settled
-- Whether nobody writes to the crawl, so that a stamp says all.
SELECT NOT EXISTS (SELECT 1 FROM store.run WHERE crawl = ? AND state = 'running');

-- name: search_changes
-- How many pages have changed last in which run, of an index alone.
SELECT changed_run, count(*) FROM store.content WHERE crawl = ? GROUP BY changed_run;

-- name: search_stamp
SELECT stamp FROM main.stamp;

-- name: search_put_stamp
INSERT OR REPLACE INTO main.stamp (id, stamp) VALUES (1, ?);

-- name: search_stand
-- What may be searched: pages that the run has, fetched or unchanged, and that ask for no other treatment.
INSERT INTO temp.stands SELECT c.id, c.href, c.digest FROM store.content AS c
JOIN store.entry AS e ON e.run = ?1 AND e.host = c.host AND e.purpose = 0 AND e.hash = c.hash AND e.kind IN ('fetched', 'unchanged')
LEFT JOIN store.response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
WHERE c.crawl = ?2 AND coalesce(x.index_reason, '') = '';

-- name: search_forget_words
DELETE FROM main.words WHERE rowid IN (SELECT p.id FROM main.page AS p
    WHERE NOT EXISTS (SELECT 1 FROM temp.stands AS s WHERE s.id = p.id AND s.digest = p.digest AND s.href = p.href));

-- name: search_forget
DELETE FROM main.page WHERE NOT EXISTS (SELECT 1 FROM temp.stands AS s
    WHERE s.id = page.id AND s.digest = page.digest AND s.href = page.href);

-- name: search_add_words
-- Two blanks at the end, so that the last two characters of each begin a trigram as all others do.
INSERT INTO main.words (rowid, title, headings, description, said)
SELECT c.id, folded(c.title) || '  ', headings_of(c.headings) || '  ', folded(c.description) || '  ', unpacked(c.text) || '  '
FROM temp.stands AS s JOIN store.content AS c ON c.id = s.id WHERE s.id NOT IN (SELECT id FROM main.page)
ORDER BY s.id LIMIT ?;

-- name: search_add
-- The same pages. A character takes about so many bytes as it is packed.
INSERT INTO main.page SELECT s.id, s.href, s.digest, 3 * length(c.text) FROM temp.stands AS s
JOIN store.content AS c ON c.id = s.id WHERE s.id NOT IN (SELECT id FROM main.page)
ORDER BY s.id LIMIT ?;

-- name: search_progress
-- How many pages stand, and how many of them the index has.
SELECT (SELECT count(*) FROM temp.stands), (SELECT count(*) FROM main.page);

-- name: search_end
DELETE FROM temp.stands;

-- name: search_trigrams
-- The trigrams that a short word begins, those of the most pages first.
SELECT term FROM temp.every WHERE term >= ?1 AND term < ?2 ORDER BY doc DESC, term LIMIT ?3;

-- name: search_number
SELECT count(*) FROM main.words WHERE words MATCH ?;

-- name: search_found
SELECT rowid FROM main.words WHERE words MATCH ?1 AND rank MATCH 'bm25(12.0, 4.0, 2.0, 1.0)' ORDER BY rank LIMIT ?2;

-- name: search_size
-- How many pages there are, and how many characters each has, by and large.
SELECT count(*), coalesce(avg(length), 0) FROM main.page;

-- name: content_to_show
-- What is shown of pages that were found. The list of numbers stands for the first placeholder.
SELECT c.id, c.href, c.changed_at, c.title, c.language, c.description, c.headings, c.text
FROM carray(?1) AS n JOIN content AS c ON c.id = n.value;

-- name: search_crawls
-- The crawls that have content, the one that ran last first.
SELECT c.id, c.name FROM crawl AS c WHERE c.removed_at IS NULL AND EXISTS (SELECT 1 FROM content AS t WHERE t.crawl = c.id)
ORDER BY (SELECT max(r.id) FROM run AS r WHERE r.crawl = c.id) DESC;
