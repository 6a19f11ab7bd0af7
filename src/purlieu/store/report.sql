-- What reports read. Columns of a run's ledger come from the views of schema.sql, so that every report tells the same endings.

-- name: report_runs
-- Every run, the newest first.
SELECT r.id, c.name, r.version, r.state, r.stop_reason, r.started_at, r.ended_at, r.active_seconds, r.config, r.pruned_at, r.counters, r.books
FROM run AS r JOIN crawl AS c ON c.id = r.crawl WHERE c.removed_at IS NULL ORDER BY r.id DESC;

-- name: report_run
SELECT r.id, c.name, r.version, r.state, r.stop_reason, r.started_at, r.ended_at, r.active_seconds, r.config, r.pruned_at, r.counters, r.books
FROM run AS r JOIN crawl AS c ON c.id = r.crawl WHERE r.id = ? AND c.removed_at IS NULL;

-- name: report_latest
-- The newest run of a crawl.
SELECT max(r.id) FROM run AS r JOIN crawl AS c ON c.id = r.crawl WHERE c.name = ?;

-- name: report_latest_of_any
SELECT max(r.id) FROM run AS r JOIN crawl AS c ON c.id = r.crawl WHERE c.removed_at IS NULL;

-- name: report_config
-- The settings that a run was made with.
SELECT toml FROM config WHERE hash = ?;

-- name: report_hosts_of_ledger
-- Every host that has rows in a run, by name; number 0 holds what has no host. The recursion steps from host to host in the
-- key of the refusals, since a DISTINCT would read them all.
WITH RECURSIVE refused (host) AS (
    SELECT min(host) FROM refusal WHERE run = ?
    UNION ALL
    SELECT (SELECT min(f.host) FROM refusal AS f WHERE f.run = ? AND f.host > refused.host) FROM refused WHERE host IS NOT NULL
)
SELECT x.host, coalesce(h.name, '') AS name
FROM (SELECT host FROM run_host WHERE run = ? UNION SELECT host FROM refused WHERE host IS NOT NULL) AS x
LEFT JOIN host AS h ON h.id = x.host
ORDER BY name, x.host;

-- name: report_ledger_of_host
-- One host's ledger in the columns of report/ledger.py, which works out last_url. An empty text and an absent one are the same there.
SELECT run, url, purpose, kind, reason, status,
    url AS last_url, redirect_to, canonical, nullif(content_type, ''), nullif(title, ''), nullif(lang, ''),
    depth, nullif(via, ''), found_by, site, nullif(rule, ''), attempts, fetched_at, bytes, round(seconds, 3),
    CASE WHEN purpose = 'page' AND kind IN ('fetched', 'unchanged') AND index_reason IS NOT NULL THEN index_reason = '' END AS indexable,
    nullif(index_reason, '') AS index_reason, nullif(last_modified, ''), nullif(etag, ''), nullif(digest, ''),
    EXISTS (SELECT 1 FROM sitemap_entry AS s WHERE s.run = l.run AND s.host = l.host_id AND s.hash = l.hash AND s.misplaced = 0)
        AS in_sitemap,
    nullif(address, ''), ? AS version, hops, nofollow, nullif(detail, ''), nullif(host, ''), ended_at,
    CASE WHEN purpose = 'page' THEN (SELECT t.record FROM extract AS t WHERE t.run = l.run AND t.host = l.host_id AND t.hash = l.hash) END
        AS extracted
FROM ledger AS l WHERE run = ? AND host_id = ? ORDER BY purpose, url;

-- name: report_visit
-- One entry by host name, purpose and hash of its key, with what its response said.
SELECT e.href, e.end_kind, e.end_reason, e.attempts, e.redirect_to,
    CASE WHEN e.end_kind = 'unchanged' THEN coalesce(x.status, e.status) ELSE coalesce(e.status, x.status) END AS status,
    x.headers, x.content_type, x.title, x.canonical, x.last_modified, x.fetched_at
FROM host AS n JOIN ending AS e ON e.run = ? AND e.host = n.id AND e.purpose = ? AND e.hash = ?
LEFT JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = e.purpose AND x.hash = e.hash
WHERE n.name = ?;

-- name: report_asked_pages_of_host
-- The pages of a host found as seed, link or sitemap entry that were requested in the run (by themselves, or by another
-- purpose of the same address, R-1.3) or stand unchanged: those that may have a row in the MF3.0 file (R-6.2).
SELECT e.href, e.end_kind, e.end_reason, e.attempts, e.redirect_to,
    CASE WHEN e.end_kind = 'unchanged' THEN coalesce(x.status, e.status) ELSE coalesce(e.status, x.status) END AS status,
    x.headers, x.content_type, x.title, x.canonical, x.last_modified, x.fetched_at
FROM ending AS e
LEFT JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
WHERE e.run = ? AND e.host = ? AND e.purpose = 0 AND e.linked <> 0
    AND (e.attempts > 0 OR (e.kind IS NOT NULL AND e.reason <> 'retired')) AND e.end_kind <> 'excluded'
ORDER BY e.href;

-- name: report_hosts_of_entries
-- Every host that has entries in a run, by name; stepping from host to host in their key.
WITH RECURSIVE entered (host) AS (
    SELECT min(host) FROM entry WHERE run = ?
    UNION ALL
    SELECT (SELECT min(e.host) FROM entry AS e WHERE e.run = ? AND e.host > entered.host) FROM entered WHERE host IS NOT NULL
)
SELECT h.id, h.name FROM entered JOIN host AS h ON h.id = entered.host ORDER BY h.name;

-- name: report_entry_count
SELECT count(*) FROM entry WHERE run = ?;

-- name: report_counts
-- Entries by purpose and ending, stored or derived.
SELECT CASE purpose WHEN 0 THEN 'page' WHEN 1 THEN 'robots' WHEN 2 THEN 'sitemap' ELSE 'check' END, end_kind, end_reason, count(*)
FROM ending WHERE run = ? GROUP BY purpose, end_kind, end_reason;

-- name: report_totals
-- What the rows of a run sum up to, as it was written at its end or when it was pruned.
SELECT totals FROM run WHERE id = ?;

-- name: report_refused
-- Listed refusals by reason, less those whose address was admitted later.
SELECT CASE f.purpose WHEN 3 THEN 'check' ELSE 'page' END, f.reason, count(*) FROM refusal AS f WHERE f.run = ? AND NOT EXISTS (
    SELECT 1 FROM entry AS e WHERE e.run = f.run AND e.host = f.host AND e.purpose = f.purpose AND e.hash = f.hash
        AND substr(e.href, 1, length(f.href)) = f.href
) GROUP BY 1, 2;

-- name: report_unlisted
-- Refusals that are counted only.
SELECT coalesce(h.name, ''), c.reason, c.rule, c.count FROM refusal_count AS c LEFT JOIN host AS h ON h.id = c.host
WHERE c.run = ? ORDER BY 1, 2, 3;

-- name: report_asked_hosts
-- What each host that was asked for anything cost, or that was given up.
SELECT h.name, rh.requests, rh.failures, rh.seconds, rh.bytes, rh.pages, rh.given_up
FROM run_host AS rh JOIN host AS h ON h.id = rh.host
WHERE rh.run = ? AND (rh.requests > 0 OR rh.given_up <> 0) ORDER BY h.name;

-- name: report_ended_origins
-- Origins whose robots.txt ended their pages.
SELECT origin, ended FROM robots WHERE run = ? AND ended IS NOT NULL ORDER BY origin;

-- name: report_findings
SELECT code, subject, arguments FROM finding WHERE run = ? ORDER BY code, subject;

-- name: report_found
-- One entry by host name, purpose and hash, as it was found and judged; for the verdict to be given again from the same facts.
SELECT e.href, e.depth, e.hops, e.nofollow, e.found_by, e.via, e.linked, e.granted,
    (SELECT group_concat(s.site) FROM site_of AS s
        WHERE s.run = e.run AND s.host = e.host AND s.purpose = e.purpose AND s.hash = e.hash) AS sites,
    e.standing, e.rule, e.end_kind, e.end_reason, coalesce(e.detail, ''), e.status, e.redirect_to, e.attempts
FROM host AS n JOIN ending AS e ON e.run = ? AND e.host = n.id AND e.purpose = ? AND e.hash = ?
WHERE n.name = ?;

-- name: report_found_refused
-- The same of a refusal; what has no host stands under number 0.
SELECT f.href, f.depth, f.hops, f.nofollow, f.found_by, f.via, f.linked, '', f.sites,
    f.standing, f.rule, 'excluded', f.reason, '', NULL, NULL, 0
FROM refusal AS f
WHERE f.run = ? AND f.purpose = ? AND f.hash = ? AND f.host = coalesce((SELECT id FROM host WHERE name = ?), 0);

-- name: report_found_cut
-- The same of a refusal by its text: a too long address is stored cut, under the hash of the whole (R-1.4).
SELECT f.href, f.depth, f.hops, f.nofollow, f.found_by, f.via, f.linked, '', f.sites,
    f.standing, f.rule, 'excluded', f.reason, '', NULL, NULL, 0
FROM refusal AS f
WHERE f.run = ? AND f.purpose = ? AND f.href = ? AND f.host = coalesce((SELECT id FROM host WHERE name = ?), 0);

-- name: report_found_pages_of_host
-- The same of all pages of a host, admitted or refused, by address.
SELECT e.href, e.depth, e.hops, e.nofollow, e.found_by, e.via, e.linked, e.granted,
    (SELECT group_concat(s.site) FROM site_of AS s
        WHERE s.run = e.run AND s.host = e.host AND s.purpose = 0 AND s.hash = e.hash) AS sites,
    e.standing, e.rule, e.end_kind, e.end_reason, coalesce(e.detail, ''), e.status, e.redirect_to, e.attempts
FROM ending AS e WHERE e.run = ?1 AND e.host = ?2 AND e.purpose = 0
UNION ALL
SELECT f.href, f.depth, f.hops, f.nofollow, f.found_by, f.via, f.linked, '', f.sites,
    f.standing, f.rule, 'excluded', f.reason, '', NULL, NULL, 0
FROM refusal AS f WHERE f.run = ?1 AND f.host = ?2 AND f.purpose = 0 AND NOT EXISTS (
    SELECT 1 FROM entry AS e WHERE e.run = f.run AND e.host = f.host AND e.purpose = 0 AND e.hash = f.hash
        AND substr(e.href, 1, length(f.href)) = f.href
)
ORDER BY 1;

-- name: report_robots
-- What a run knows of the robots.txt of an origin.
SELECT state, body, source, ended FROM robots WHERE run = ? AND origin = ?;

-- name: report_naming_sitemaps
-- The sitemap files that name an address, with what they say of it.
SELECT s.sitemap, s.lastmod FROM sitemap_entry AS s
WHERE s.run = ? AND s.host = (SELECT id FROM host WHERE name = ?) AND s.hash = ? AND s.href = ? ORDER BY s.sitemap LIMIT ?;

-- name: report_outlinks
-- The pages whose links were read last in this run, in key order after (host, hash).
SELECT p.host, p.hash, p.href, p.outlinks FROM page AS p
WHERE p.crawl = (SELECT crawl FROM run WHERE id = ?1) AND p.last_run = ?1 AND p.outlinks IS NOT NULL
    AND (p.host, p.hash) > (?2, ?3)
ORDER BY p.host, p.hash LIMIT 200;

-- name: report_pages_of_either
-- The pages of a host that one of two runs has, admitted or refused, by address.
SELECT href, hash FROM entry WHERE run = ?1 AND host = ?3 AND purpose = 0
UNION SELECT href, hash FROM entry WHERE run = ?2 AND host = ?3 AND purpose = 0
UNION SELECT href, hash FROM refusal WHERE run = ?1 AND host = ?3 AND purpose = 0
UNION SELECT href, hash FROM refusal WHERE run = ?2 AND host = ?3 AND purpose = 0
ORDER BY 1, 2;

-- name: report_seen
-- What a run knows of a page, with what its response said; one that stands unchanged has the response of an earlier run. An
-- ending that is derived is left out: the view costs three times as much, and few need it.
SELECT e.kind, e.reason,
    CASE WHEN e.kind = 'unchanged' THEN coalesce(x.status, y.status) ELSE coalesce(e.status, x.status) END,
    coalesce(x.title, y.title), coalesce(x.canonical, y.canonical), e.redirect_to, coalesce(x.digest, y.digest),
    coalesce(x.headers, y.headers)
FROM ending AS e
LEFT JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
LEFT JOIN page AS p ON e.kind = 'unchanged' AND x.run IS NULL AND p.crawl = ?4 AND p.host = e.host AND p.hash = e.hash
    AND p.last_run <= e.run
LEFT JOIN response AS y ON y.run = p.last_run AND y.host = p.host AND y.purpose = 0 AND y.hash = p.hash
WHERE e.run = ?1 AND e.host = ?2 AND e.purpose = 0 AND e.hash = ?3;

-- name: report_refusal_reason
SELECT 'excluded', reason, NULL, NULL, NULL, NULL, NULL, NULL FROM refusal
WHERE run = ? AND host = ? AND purpose = 0 AND hash = ?;

-- name: report_crawl_of
SELECT crawl FROM run WHERE id = ?;

-- name: report_crawls
-- Every crawl with its number, by name; those too that are planned and have no run yet.
SELECT id, name FROM crawl WHERE removed_at IS NULL ORDER BY name;
