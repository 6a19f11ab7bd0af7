-- What the making of sitemaps reads: the pages of a run with their history.

-- name: making_pages_of_host
-- Every page of a host that a run met, by address: how it ended, what the answer that stands said, and its history.
SELECT e.href, e.end_kind, e.end_reason, e.attempts,
    CASE WHEN e.end_kind = 'unchanged' THEN coalesce(x.status, e.status) ELSE coalesce(e.status, x.status) END AS status,
    x.content_type, coalesce(x.index_reason, ''), x.last_modified,
    p.first_seen, p.last_fetched, p.last_changed, p.visits, p.changes, p.alternates
FROM ending AS e
LEFT JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
LEFT JOIN page AS p ON p.crawl = (SELECT crawl FROM run WHERE id = e.run) AND p.host = e.host AND p.hash = e.hash
WHERE e.run = ? AND e.host = ? AND e.purpose = 0 ORDER BY e.href;

-- name: making_page
-- The same of one page, by run, hash and host name.
SELECT e.href, e.end_kind, e.end_reason, e.attempts,
    CASE WHEN e.end_kind = 'unchanged' THEN coalesce(x.status, e.status) ELSE coalesce(e.status, x.status) END AS status,
    x.content_type, coalesce(x.index_reason, ''), x.last_modified,
    p.first_seen, p.last_fetched, p.last_changed, p.visits, p.changes, p.alternates
FROM host AS n JOIN ending AS e ON e.run = ? AND e.host = n.id AND e.purpose = 0 AND e.hash = ?
LEFT JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
LEFT JOIN page AS p ON p.crawl = (SELECT crawl FROM run WHERE id = e.run) AND p.host = e.host AND p.hash = e.hash
WHERE n.name = ?;

-- name: making_refused_of_host
-- The pages of a host, by name, that the run's own rules refused and never admitted.
SELECT f.href FROM refusal AS f WHERE f.run = ?1 AND f.host = (SELECT id FROM host WHERE name = ?2) AND f.purpose = 0
    AND NOT EXISTS (
        SELECT 1 FROM entry AS e WHERE e.run = f.run AND e.host = f.host AND e.purpose = 0 AND e.hash = f.hash
            AND substr(e.href, 1, length(f.href)) = f.href
    )
ORDER BY f.href;

-- name: making_whole
-- Whether a run looked at everything: it finished, had no limit to end it, and left nothing alone.
SELECT state = 'done' AND stop_reason = 'finished' AND revisit = 0 FROM run WHERE id = ?;
