-- What pages say to their readers (keep = "text"), and what the owner's function takes out of them.

-- name: put_content
-- The newest content of a page; it has changed when anything of it has.
INSERT INTO content (crawl, host, hash, href, run, changed_run, changed_at, digest, title, language, description, headings, more, text,
    unread, links)
VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT (crawl, host, hash) DO UPDATE SET href = excluded.href, run = excluded.run,
    changed_run = CASE WHEN digest = excluded.digest THEN changed_run ELSE excluded.changed_run END,
    changed_at = CASE WHEN digest = excluded.digest THEN changed_at ELSE excluded.changed_at END,
    title = excluded.title, language = excluded.language, description = excluded.description, headings = excluded.headings,
    more = excluded.more, text = excluded.text, digest = excluded.digest, unread = excluded.unread,
    links = excluded.links;

-- name: contents
-- The content of the pages that a run has, fetched or standing unchanged, in the order of the rows, after one of them.
SELECT c.id, c.href, c.changed_run, c.changed_at, c.title, c.language, c.description, c.headings, c.more, c.text, c.unread, c.anchors, x.content_type,
    x.last_modified, x.index_reason, e.depth
FROM content AS c
JOIN entry AS e ON e.run = ?1 AND e.host = c.host AND e.purpose = 0 AND e.hash = c.hash AND e.kind IN ('fetched', 'unchanged')
LEFT JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
WHERE c.crawl = (SELECT crawl FROM run WHERE id = ?1) AND c.id > ?2
ORDER BY c.id LIMIT 200;

-- name: unread_documents
-- How many documents of a run there is no text of, or not all, by reason, each with the first of them.
SELECT c.unread, count(*), min(c.href)
FROM content AS c INDEXED BY content_unread
JOIN entry AS e ON e.run = ?1 AND e.host = c.host AND e.purpose = 0 AND e.hash = c.hash AND e.kind IN ('fetched', 'unchanged')
WHERE c.crawl = ?2 AND c.unread <> ''
GROUP BY c.unread ORDER BY c.unread;

-- name: put_extract
INSERT OR REPLACE INTO extract (run, host, hash, record) VALUES (?, ?, ?, ?);

-- name: has_extracts
SELECT 1 FROM extract WHERE run = ? LIMIT 1;

-- name: take_over_extract
-- What stands unchanged keeps what was taken out of it.
INSERT OR REPLACE INTO extract (run, host, hash, record) SELECT ?, host, hash, record FROM extract WHERE run = ? AND host = ? AND hash = ?;

-- name: count_finding
-- Its count goes up; the rest is told of the first.
INSERT INTO finding (run, code, subject, arguments) VALUES (?, ?, ?, ?)
ON CONFLICT (run, code, subject) DO UPDATE SET
    arguments = json_set(arguments, '$.count', json_extract(arguments, '$.count') + json_extract(excluded.arguments, '$.count'));

-- name: anchor_targets
-- The pages of a run that have content, in the order of the rows, after one of them.
SELECT c.id, c.href
FROM content AS c
JOIN entry AS e ON e.run = ?1 AND e.host = c.host AND e.purpose = 0 AND e.hash = c.hash AND e.kind IN ('fetched', 'unchanged')
WHERE c.crawl = ?2 AND c.id > ?3
ORDER BY c.id LIMIT ?4;

-- name: anchor_sources
-- The links of pages of a run, in the order of the rows, after one of them.
SELECT c.id, c.href, c.links
FROM content AS c
JOIN entry AS e ON e.run = ?1 AND e.host = c.host AND e.purpose = 0 AND e.hash = c.hash AND e.kind IN ('fetched', 'unchanged')
WHERE c.crawl = ?2 AND c.id > ?3 AND c.links IS NOT NULL
ORDER BY c.id LIMIT 500;

-- name: put_anchors
UPDATE content SET anchors = ?1 WHERE id = ?2 AND anchors <> ?1;
