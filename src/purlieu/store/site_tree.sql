-- The pages of one run in the order of their addresses, with the sections they make: temporary tables of the connection
-- that looks at them, so that the store itself is only read and a crawl pays for no index.

-- name: tree_begin
-- Temporary tables lie in a file, not in memory: a run may have millions of rows.
PRAGMA temp_store = FILE;
CREATE TEMP TABLE IF NOT EXISTS tree_run (run INTEGER PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS tree_node (
    run INTEGER NOT NULL,
    key TEXT NOT NULL,                          -- a section's prefix, or a page's href
    rank INTEGER NOT NULL,                      -- 0 section, 1 page: the order of the tree, depth first
    host INTEGER, hash INTEGER,
    title TEXT,
    kind TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    index_reason TEXT NOT NULL DEFAULT '',
    document INTEGER NOT NULL DEFAULT 0,        -- fetched, and no HTML
    in_sitemap INTEGER NOT NULL DEFAULT 0,
    linked INTEGER NOT NULL DEFAULT 0,          -- another page of the run links to it, or it is a seed
    lastmod TEXT,
    pages INTEGER NOT NULL DEFAULT 0,           -- the rest of a section: sums over all pages below it
    newest REAL,
    unlinked INTEGER NOT NULL DEFAULT 0,        -- in a sitemap, but not linked
    unlisted INTEGER NOT NULL DEFAULT 0,        -- linked and indexable, but in no sitemap
    redirecting INTEGER NOT NULL DEFAULT 0,     -- these three: in a sitemap, and yet
    excluded INTEGER NOT NULL DEFAULT 0,
    failing INTEGER NOT NULL DEFAULT 0,
    broken INTEGER NOT NULL DEFAULT 0,          -- failing, in a sitemap or not
    unindexable INTEGER NOT NULL DEFAULT 0,
    problems INTEGER NOT NULL DEFAULT 0,        -- of the sitemap files that lie in it
    PRIMARY KEY (run, key, rank)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS temp.tree_node_section ON tree_node (run, key) WHERE rank = 0;
CREATE TEMP TABLE IF NOT EXISTS tree_section AS SELECT * FROM tree_node WHERE 0;

-- name: tree_known
SELECT 1 FROM tree_run WHERE run = ?;

-- name: tree_add_pages
-- Sorted, so that the table grows at its end. A run's pages are its entries; a refused address only counts if a sitemap names it.
INSERT INTO tree_node (run, key, rank, host, hash, title, kind, reason, index_reason, document, in_sitemap, linked, lastmod)
SELECT e.run, e.href, 1, e.host, e.hash, x.title, e.end_kind, e.end_reason, coalesce(x.index_reason, ''),
    e.end_kind IN ('fetched', 'unchanged') AND coalesce(x.content_type, '') <> '' AND x.content_type NOT LIKE 'text/html%'
        AND x.content_type NOT LIKE 'application/xhtml+xml%',
    EXISTS (SELECT 1 FROM sitemap_entry AS s WHERE s.run = e.run AND s.host = e.host AND s.hash = e.hash),
    e.found_by IN ('seed', 'link'),
    (SELECT max(s.lastmod) FROM sitemap_entry AS s WHERE s.run = e.run AND s.host = e.host AND s.hash = e.hash)
FROM ending AS e LEFT JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
WHERE e.run = ?1 AND e.purpose = 0
ORDER BY e.href;

-- name: tree_add_refused
INSERT OR IGNORE INTO tree_node (run, key, rank, host, hash, kind, reason, in_sitemap, linked, lastmod)
SELECT f.run, f.href, 1, f.host, f.hash, 'excluded', f.reason, 1, f.found_by = 'link', s.lastmod
FROM sitemap_entry AS s JOIN refusal AS f ON f.run = s.run AND f.host = s.host AND f.purpose = 0 AND f.hash = s.hash
WHERE s.run = ?1 AND NOT EXISTS (
    SELECT 1 FROM entry AS e WHERE e.run = f.run AND e.host = f.host AND e.purpose = 0 AND e.hash = f.hash
);

-- name: tree_link
UPDATE tree_node SET linked = 1 WHERE run = ?1 AND key = ?2 AND rank = 1;

-- name: tree_unlinked
-- Whether anything is left to be linked.
SELECT 1 FROM tree_node WHERE run = ? AND linked = 0 LIMIT 1;

-- name: tree_pages
SELECT key, kind, reason, index_reason, document, in_sitemap, linked, lastmod FROM tree_node WHERE run = ? ORDER BY key;

-- name: tree_add_section
INSERT INTO tree_section (run, key, rank, kind, reason, index_reason, document, in_sitemap, linked, pages, newest, unlinked, unlisted,
    redirecting, excluded, failing, broken, unindexable, problems)
VALUES (?, ?, 0, '', '', '', 0, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: tree_end
-- The sections take their places before their pages.
INSERT INTO tree_node SELECT * FROM tree_section ORDER BY key;

-- name: tree_done
INSERT INTO tree_run (run) VALUES (?);

-- name: tree_forget
DELETE FROM tree_node WHERE run = ?;

-- name: tree_forget_run
DELETE FROM tree_run WHERE run = ?;

-- name: tree_forget_sections
DELETE FROM tree_section;

-- name: tree_after
-- Nodes behind a place in the tree, in its order.
SELECT key, rank, host, hash, title, kind, reason, index_reason, document, in_sitemap, linked, lastmod, pages, newest, unlinked,
    unlisted, redirecting, excluded, failing, broken, unindexable, problems
FROM tree_node WHERE run = ?1 AND (key, rank) > (?2, ?3) AND key < ?4 ORDER BY key, rank LIMIT ?5;

-- name: tree_before
-- The same before it, the nearest first.
SELECT key, rank, host, hash, title, kind, reason, index_reason, document, in_sitemap, linked, lastmod, pages, newest, unlinked,
    unlisted, redirecting, excluded, failing, broken, unindexable, problems
FROM tree_node WHERE run = ?1 AND (key, rank) < (?2, ?3) AND key >= ?4 ORDER BY key DESC, rank DESC LIMIT ?5;

-- name: tree_node
SELECT key, rank, host, hash, title, kind, reason, index_reason, document, in_sitemap, linked, lastmod, pages, newest, unlinked,
    unlisted, redirecting, excluded, failing, broken, unindexable, problems
FROM tree_node WHERE run = ?1 AND key = ?2 AND rank = ?3;

-- name: tree_section_from
SELECT key, rank, host, hash, title, kind, reason, index_reason, document, in_sitemap, linked, lastmod, pages, newest, unlinked,
    unlisted, redirecting, excluded, failing, broken, unindexable, problems
FROM tree_node INDEXED BY tree_node_section WHERE run = ?1 AND rank = 0 AND key >= ?2 AND key < ?3 ORDER BY key LIMIT 1;

-- name: tree_history
-- A page's links and its other languages, as this crawl last saw them.
SELECT p.outlinks, p.alternates FROM page AS p
WHERE p.crawl = (SELECT crawl FROM run WHERE id = ?1) AND p.host = ?2 AND p.hash = ?3;

-- name: tree_problems
-- How many things are wrong with each sitemap file.
SELECT href, json_array_length(problems) FROM sitemap_read WHERE run = ?;

-- name: tree_read_sitemaps
-- Whether the run has read any sitemap: else no page is missing from one.
SELECT 1 FROM sitemap_entry WHERE run = ? LIMIT 1;

-- name: tree_sitemap_entries
-- What the sitemaps of a run say, by address.
SELECT href, max(lastmod), max(changefreq), max(priority) FROM sitemap_entry WHERE run = ? GROUP BY href ORDER BY href;
