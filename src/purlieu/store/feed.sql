-- What search engines are told of a crawl's pages (purlieu feed).

-- name: feed_run
-- The newest finished run of a crawl.
SELECT max(id) FROM run WHERE crawl = ? AND state = 'done' AND pruned_at IS NULL;

-- name: feed_changed
-- Pages that stand in a run and may be searched, and that a target has not, or not as they are; after one of them.
SELECT c.id, c.host, c.hash, c.digest, f.id IS NOT NULL, c.href, c.changed_at, c.title, c.language, c.description, c.headings,
    c.more, c.text, x.content_type, x.last_modified, x.etag, x.status, x.headers, e.depth, e.via, c.anchors
FROM content AS c
JOIN entry AS e ON e.run = ?1 AND e.host = c.host AND e.purpose = 0 AND e.hash = c.hash AND e.kind IN ('fetched', 'unchanged')
LEFT JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
LEFT JOIN feed AS f ON f.crawl = c.crawl AND f.target = ?3 AND f.host = c.host AND f.hash = c.hash AND f.href = c.href
WHERE c.crawl = ?2 AND c.id > ?4 AND coalesce(x.index_reason, '') = '' AND (?5 OR f.id IS NULL OR f.digest <> c.digest || ?6)
ORDER BY c.id LIMIT 100;

-- name: feed_gone
-- Pages that a target has and that the run shows to be gone, elsewhere, out of bounds or not to be searched; after one of them.
-- What could not be had this once stays, and so does what a run that ended early has not met.
SELECT f.id, f.href
FROM feed AS f
LEFT JOIN content AS c ON c.crawl = f.crawl AND c.host = f.host AND c.hash = f.hash AND c.href = f.href
LEFT JOIN entry AS e ON e.run = ?1 AND e.host = f.host AND e.purpose = 0 AND e.hash = f.hash
LEFT JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
WHERE f.crawl = ?2 AND f.target = ?3 AND f.id > ?4 AND CASE
    WHEN c.id IS NULL THEN 1
    WHEN e.kind IN ('fetched', 'unchanged') THEN coalesce(x.index_reason, '') <> ''
    WHEN e.hash IS NOT NULL THEN coalesce(e.kind, 'abandoned') NOT IN ('server_error', 'unreachable', 'abandoned', 'crashed')
    ELSE EXISTS (SELECT 1 FROM run AS r WHERE r.id = ?1 AND r.state = 'done' AND r.stop_reason = 'finished')
        OR EXISTS (SELECT 1 FROM refusal AS d WHERE d.run = ?1 AND d.host = f.host AND d.purpose = 0 AND d.hash = f.hash)
END
ORDER BY f.id LIMIT 500;

-- name: feed_accepted
INSERT INTO feed (crawl, target, host, hash, href, digest, told_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (crawl, target, host, hash, href) DO UPDATE SET digest = excluded.digest, told_at = excluded.told_at;

-- name: feed_removed
DELETE FROM feed WHERE id = ?;
