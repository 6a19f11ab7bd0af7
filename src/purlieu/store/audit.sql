-- What an audit reads of a run's pages (report/audit.py). Each statement is one pass, or one look at an index.

-- name: audit_ended_badly
-- Pages that could not be had, and addresses that redirect. What was never asked for says nothing of the site.
SELECT e.href, e.end_kind, e.end_reason, coalesce(e.status, 0) FROM ending AS e
WHERE e.run = ? AND e.purpose = 0 AND e.end_reason <> 'robots_unreachable' AND e.end_kind IN
    ('missing', 'refused', 'server_error', 'unreachable', 'unreadable', 'redirected', 'misdirected');

-- name: audit_checks_ended_badly
-- The same of what was only checked; 1: it lies out of scope.
SELECT e.href, e.end_kind, e.end_reason, coalesce(e.status, 0), e.granted = 'foreign-link' FROM ending AS e
WHERE e.run = ? AND e.purpose = 3 AND e.end_reason <> 'robots_unreachable' AND e.end_kind IN
    ('missing', 'refused', 'server_error', 'unreachable', 'unreadable', 'redirected', 'misdirected');

-- name: audit_anchors
-- What pages ask of pages, in key order after (host, hash).
SELECT a.host, a.hash, e.href, a.asked FROM anchor AS a
JOIN entry AS e ON e.run = a.run AND e.host = a.host AND e.purpose = 0 AND e.hash = a.hash
WHERE a.run = ?1 AND (a.host, a.hash) > (?2, ?3) AND e.kind IN ('fetched', 'unchanged')
ORDER BY a.host, a.hash LIMIT 200;

-- name: audit_ids_of
-- The places that one page has, by host name and hash.
SELECT e.href, a.ids FROM host AS n
JOIN entry AS e ON e.run = ?1 AND e.host = n.id AND e.purpose = 0 AND e.hash = ?3 AND e.kind IN ('fetched', 'unchanged')
JOIN anchor AS a ON a.run = ?1 AND a.host = n.id AND a.hash = ?3
WHERE n.name = ?2;

-- name: audit_foreign
-- Links out of scope that were checked, with the ending of their origin's robots.txt where that was asked for first.
SELECT e.href, e.end_kind, e.end_reason, coalesce(e.status, 0), coalesce(
    (SELECT r.kind || '.' || r.reason FROM entry AS r
        WHERE r.run = e.run AND r.host = e.host AND r.purpose = 1 AND r.origin = e.origin AND r.kind = 'unreachable' LIMIT 1), '')
FROM ending AS e WHERE e.run = ? AND e.purpose = 3 AND e.granted = 'foreign-link' AND e.linked <> 0 ORDER BY e.href;

-- name: audit_certificates
-- Until when the certificates of the origins hold of which more was asked for than whether links lead there. An expired one
-- may be known only by what was said when the connection failed.
SELECT o.origin, o.certificate_ends_at, EXISTS (
    SELECT 1 FROM entry AS e WHERE e.run = o.run AND e.host = o.host AND e.origin = o.id AND e.kind = 'unreachable'
        AND e.reason = 'tls' AND e.detail LIKE '%certificate has expired%') AS is_expired
FROM robots AS o WHERE o.run = ? AND o.origin LIKE 'https:%' AND EXISTS (
    SELECT 1 FROM entry AS e WHERE e.run = o.run AND e.host = o.host AND e.origin = o.id AND e.granted <> 'foreign-link'
        AND e.attempts > 0) ORDER BY o.origin;

-- name: audit_titles
-- HTML pages with their titles, those that are equal side by side.
SELECT coalesce(trim(x.title), '') AS title, e.href FROM entry AS e
JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = e.purpose AND x.hash = e.hash
WHERE e.run = ? AND e.purpose = 0 AND e.kind IN ('fetched', 'unchanged') AND x.index_reason = ''
    AND (x.content_type LIKE 'text/html%' OR x.content_type LIKE 'application/xhtml+xml%')
ORDER BY title, e.href;

-- name: audit_texts
-- Pages with the digest of their main text, those that are equal side by side.
SELECT x.digest, e.href FROM entry AS e
JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = e.purpose AND x.hash = e.hash
WHERE e.run = ? AND e.purpose = 0 AND e.kind IN ('fetched', 'unchanged') AND x.index_reason = '' AND x.digest IS NOT NULL
ORDER BY x.digest, e.href;

-- name: audit_canonicals
-- Pages that name another page as their canonical.
SELECT e.href, x.canonical FROM entry AS e
JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = e.purpose AND x.hash = e.hash
WHERE e.run = ? AND e.purpose = 0 AND e.kind IN ('fetched', 'unchanged') AND x.canonical IS NOT NULL AND x.canonical <> e.href
ORDER BY e.href;

-- name: audit_languages
-- Pages that name themselves in other languages, in key order after (host, hash).
SELECT p.host, p.hash, p.href, p.alternates FROM page AS p
WHERE p.crawl = (SELECT crawl FROM run WHERE id = ?1) AND p.last_run = ?1 AND p.alternates IS NOT NULL
    AND (p.host, p.hash) > (?2, ?3)
ORDER BY p.host, p.hash LIMIT 200;

-- name: audit_languages_of
-- The languages that one page names, by host name and hash.
SELECT p.href, p.alternates FROM host AS n
JOIN page AS p ON p.crawl = (SELECT crawl FROM run WHERE id = ?1) AND p.host = n.id AND p.hash = ?3
WHERE n.name = ?2;

-- name: audit_soft_404s
SELECT e.href FROM entry AS e WHERE e.run = ? AND e.purpose = 0 AND e.kind = 'missing' AND e.reason = 'soft_404' ORDER BY e.href;

-- name: audit_sitemap_entries
-- What sitemaps list and may speak for, with what became of it. The key of both tables begins alike.
SELECT DISTINCT s.href, e.end_kind, e.end_reason, coalesce(x.index_reason, '') FROM sitemap_entry AS s
JOIN ending AS e ON e.run = s.run AND e.host = s.host AND e.purpose = 0 AND e.hash = s.hash
LEFT JOIN response AS x ON x.run = s.run AND x.host = s.host AND x.purpose = 0 AND x.hash = s.hash
WHERE s.run = ? AND s.misplaced = 0 AND e.end_reason <> 'robots_unreachable' AND
    (e.end_kind IN ('missing', 'refused', 'server_error', 'unreachable', 'unreadable', 'redirected', 'misdirected')
        OR (e.end_kind IN ('fetched', 'unchanged') AND coalesce(x.index_reason, '') <> ''))
ORDER BY s.href;

-- name: audit_sitemap_alone
-- Pages that were fetched and are in a sitemap: those among them that no page links to are orphans.
SELECT DISTINCT e.hash, e.href FROM sitemap_entry AS s
JOIN entry AS e ON e.run = s.run AND e.host = s.host AND e.purpose = 0 AND e.hash = s.hash
WHERE s.run = ? AND s.misplaced = 0 AND e.kind IN ('fetched', 'unchanged') AND e.depth > 0
    AND NOT EXISTS (SELECT 1 FROM response AS x WHERE x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
        AND x.index_reason <> '');
