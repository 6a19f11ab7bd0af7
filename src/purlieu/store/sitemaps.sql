-- What sitemap files of a run are, say and may say; the history of files over the runs is in revisit.sql.

-- name: serves_sitemap
-- Whether what came for the page of an address serves its sitemap too (R-1.3): it was read as one, is HTML, or has no body to read.
SELECT 1 FROM entry AS e JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
WHERE e.run = ? AND e.host = ? AND e.purpose = 0 AND e.hash = ? AND e.kind <> 'skipped' AND (
    x.status >= 300
    OR coalesce(x.content_type, '') = '' OR x.content_type LIKE 'text/html%' OR x.content_type LIKE 'application/xhtml+xml%'
    OR EXISTS (SELECT 1 FROM sitemap_read AS r WHERE r.run = e.run AND r.host = e.host AND r.hash = e.hash));

-- name: put_sitemap_read
INSERT OR REPLACE INTO sitemap_read (run, host, hash, href, kind, entries, children, problems) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: sitemap_read
SELECT href, problems FROM sitemap_read WHERE run = ? AND host = ? AND hash = ?;

-- name: sitemaps_read
SELECT href FROM sitemap_read WHERE run = ?;

-- name: set_sitemap_problems
UPDATE sitemap_read SET problems = ? WHERE run = ? AND host = ? AND hash = ?;

-- name: add_sitemap_entry
INSERT OR REPLACE INTO sitemap_entry (run, host, hash, sitemap, href, lastmod, changefreq, priority, misplaced)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_sitemap_child
INSERT OR REPLACE INTO sitemap_child (run, host, hash, sitemap, href, lastmod) VALUES (?, ?, ?, ?, ?, ?);

-- name: sitemap_entries
-- What a file says, in key order after (host, hash).
SELECT host, hash, href, misplaced FROM sitemap_entry
WHERE run = ? AND sitemap = ? AND (host, hash) > (?, ?) ORDER BY host, hash LIMIT 5000;

-- name: sitemap_children
SELECT host, hash, href FROM sitemap_child WHERE run = ? AND sitemap = ? ORDER BY host, hash;

-- name: set_misplaced
UPDATE sitemap_entry SET misplaced = ? WHERE run = ? AND host = ? AND hash = ? AND sitemap = ?;

-- name: add_sitemap_namer
INSERT OR IGNORE INTO sitemap_namer (run, host, hash, namer) VALUES (?, ?, ?, ?);

-- name: sitemap_namers
SELECT namer FROM sitemap_namer WHERE run = ? AND host = ? AND hash = ?;

-- name: priority
-- The highest that the sitemaps give a page which they may name.
SELECT max(priority) FROM sitemap_entry WHERE run = ? AND host = ? AND hash = ? AND misplaced <> 1;

-- name: priorities
-- The same of several pages of one host.
SELECT s.hash, max(s.priority)
FROM carray(?1) AS n CROSS JOIN sitemap_entry AS s ON s.run = ?2 AND s.host = ?3 AND s.hash = n.value
WHERE s.misplaced <> 1 GROUP BY s.hash;

-- name: come_forward
-- A page that waits is due earlier (SM-73).
UPDATE entry SET due_at = due_at - ? WHERE run = ? AND host = ? AND purpose = 0 AND hash = ? AND due_at IS NOT NULL AND attempts = 0;

-- name: report_sitemaps
-- The sitemap files of a run, admitted or refused, with what was read of those that were.
SELECT l.url, l.kind, l.reason, l.found_by, l.via, l.rule, coalesce(r.kind, ''), coalesce(r.entries, 0), coalesce(r.children, 0),
    coalesce(r.problems, '[]')
FROM ledger AS l LEFT JOIN sitemap_read AS r ON r.run = l.run AND r.host = l.host_id AND r.hash = l.hash AND r.href = l.url
WHERE l.run = ? AND l.purpose = 'sitemap' ORDER BY l.url;
