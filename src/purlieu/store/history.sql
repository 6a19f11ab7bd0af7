-- Runs, their settings, responses, the history of pages; settling and the audit of the books (R-2.5, R-7.1).

-- name: crawl_id
SELECT id FROM crawl WHERE name = ?;

-- name: add_crawl
INSERT INTO crawl (name) VALUES (?) RETURNING id;

-- name: crawl_names
SELECT name FROM crawl WHERE removed_at IS NULL ORDER BY id;

-- name: add_config
INSERT OR IGNORE INTO config (hash, toml) VALUES (?, ?);

-- name: add_run
INSERT INTO run (crawl, config, version, state, started_at, revisit, active_from) VALUES (?1, ?2, ?3, 'running', ?4, ?5, ?4) RETURNING id;

-- name: last_run
SELECT r.id, r.state, r.stop_reason, r.counters, r.active_seconds, c.toml, r.revisit
FROM run AS r JOIN config AS c ON c.hash = r.config WHERE r.crawl = ? ORDER BY r.id DESC LIMIT 1;

-- name: last_unfinished
-- The newest run of any crawl that has not finished.
SELECT w.name, c.toml FROM run AS r JOIN crawl AS w ON w.id = r.crawl JOIN config AS c ON c.hash = r.config
WHERE w.removed_at IS NULL AND (r.state <> 'done' OR r.stop_reason LIKE 'limit:%') AND r.id = (SELECT max(l.id) FROM run AS l WHERE l.crawl = r.crawl)
ORDER BY r.id DESC LIMIT 1;

-- name: reopen_run
UPDATE run SET state = 'running', stop_reason = NULL, stop_requested = 0, ended_at = NULL, config = ?1, books = NULL, totals = NULL,
    active_from = ?2 - active_seconds
WHERE id = ?3;

-- name: end_the_dead
-- Who writes holds the lock, so a run that is still called running was killed, some time after the last it wrote.
UPDATE run SET state = 'failed', stop_reason = 'system:killed', ended_at = max(started_at, active_from + active_seconds)
WHERE state = 'running';

-- name: stop_requested
SELECT stop_requested FROM run WHERE id = ?;

-- name: save_counters
UPDATE run SET counters = ?, active_seconds = ? WHERE id = ?;

-- name: keep_counters
UPDATE run SET counters = ? WHERE id = ?;

-- name: end_run
UPDATE run SET state = ?, stop_reason = ?, ended_at = ? WHERE id = ?;

-- name: save_books
UPDATE run SET books = ? WHERE id = ?;

-- name: save_totals
-- What the rows of a run sum up to, for the list of runs; as report_counts and report_refused tell it.
UPDATE run SET totals = (
    SELECT json_group_array(json_array(purpose, kind, reason, n)) FROM (
        SELECT purpose, kind, reason, sum(n) AS n FROM (
            SELECT CASE purpose WHEN 0 THEN 'page' WHEN 1 THEN 'robots' WHEN 2 THEN 'sitemap' ELSE 'check' END AS purpose,
                end_kind AS kind, end_reason AS reason, count(*) AS n
            FROM ending WHERE run = ?1 GROUP BY 1, 2, 3
            UNION ALL
            SELECT CASE f.purpose WHEN 3 THEN 'check' ELSE 'page' END, 'excluded', f.reason, count(*) FROM refusal AS f WHERE f.run = ?1 AND NOT EXISTS (
                SELECT 1 FROM entry AS e WHERE e.run = f.run AND e.host = f.host AND e.purpose = f.purpose AND e.hash = f.hash
                    AND substr(e.href, 1, length(f.href)) = f.href
            ) GROUP BY 1, 3
        ) GROUP BY purpose, kind, reason ORDER BY purpose, kind, reason
    )
) WHERE id = ?1;

-- name: put_response
INSERT OR REPLACE INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason,
    last_modified, etag, digest, address, fetched_at, bytes, seconds)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: put_anchor
INSERT OR REPLACE INTO anchor (run, host, hash, ids, asked) VALUES (?, ?, ?, ?, ?);

-- name: copy_response
INSERT OR REPLACE INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason,
    last_modified, etag, digest, address, fetched_at, bytes, seconds)
SELECT run, host, ?, hash, status, headers, content_type, title, canonical, lang, index_reason,
    last_modified, etag, digest, address, fetched_at, bytes, seconds
FROM response WHERE run = ? AND host = ? AND purpose = ? AND hash = ?;

-- name: outlinks
SELECT outlinks FROM page WHERE crawl = ? AND host = ? AND hash = ? AND last_run = ?;


-- name: canonical
SELECT canonical FROM response WHERE run = ? AND host = ? AND purpose = 0 AND hash = ?;

-- name: redirecting_entries
-- Pages that lead elsewhere, whatever their ending was last time, in key order after (host, hash).
SELECT host, hash, href, kind, reason, status FROM entry
WHERE run = ? AND (host, purpose, hash) > (?, 0, ?) AND purpose = 0 AND redirect_to IS NOT NULL
    AND kind IN ('redirected', 'misdirected')
ORDER BY host, purpose, hash LIMIT 1000;

-- name: entry_rules
-- Pages with their site, rule and facts, in key order after (host, hash); where robots.txt ended one, its line stays.
SELECT host, hash, href, site, rule, depth, hops, nofollow, found_by, via, linked, granted, standing FROM entry
WHERE run = ? AND (host, purpose, hash) > (?, 0, ?) AND purpose = 0 AND (kind IS NULL OR kind <> 'excluded')
ORDER BY host, purpose, hash LIMIT 1000;

-- name: hop
-- One step of a redirect chain, with the ending that stands or is derived.
SELECT end_kind, end_reason, redirect_to FROM ending WHERE run = ? AND host = ? AND purpose = 0 AND hash = ?;

-- name: set_ending
UPDATE entry SET kind = ?, reason = ?, detail = ? WHERE run = ? AND host = ? AND purpose = 0 AND hash = ?;

-- name: count_entries
SELECT count(*), coalesce(sum(attempts), 0), coalesce(sum(kind IS NOT NULL), 0) FROM entry WHERE run = ?;

-- name: count_written
SELECT kind, reason, count(*) FROM entry WHERE run = ? AND kind IS NOT NULL GROUP BY kind, reason;

-- name: count_page_endings
SELECT kind, reason, count(*) FROM entry WHERE run = ? AND purpose = 0 AND kind IS NOT NULL GROUP BY kind, reason;

-- name: count_derived
SELECT end_kind, end_reason, count(*) FROM ending WHERE run = ? AND kind IS NULL GROUP BY end_kind, end_reason;

-- name: count_refusals
SELECT count(*) FROM refusal AS f WHERE f.run = ? AND NOT EXISTS (
    SELECT 1 FROM entry AS e WHERE e.run = f.run AND e.host = f.host AND e.purpose = f.purpose AND e.hash = f.hash
        AND substr(e.href, 1, length(f.href)) = f.href);

-- name: count_unlisted
SELECT coalesce(sum(count), 0) FROM refusal_count WHERE run = ?;

-- name: unlisted
-- What is counted but not listed, by host number, reason and rule.
SELECT host, reason, rule, count FROM refusal_count WHERE run = ?;

-- name: pages_with_outlinks
-- The outlinks that this run read of its pages, in key order after (host, hash). A robots.txt that turned out to be a page
-- has outlinks too, which count when it is found as one.
SELECT p.host, p.hash, p.href, p.outlinks FROM page AS p
WHERE p.crawl = ?1 AND p.last_run = ?2 AND p.outlinks IS NOT NULL AND (p.host, p.hash) > (?3, ?4) AND EXISTS (
    SELECT 1 FROM entry AS e WHERE e.run = ?2 AND e.host = p.host AND e.purpose = 0 AND e.hash = p.hash AND e.kind IS NOT NULL)
ORDER BY p.host, p.hash LIMIT 200;

-- name: redirect_targets
SELECT host, hash, redirect_to FROM entry
WHERE run = ? AND (host, purpose, hash) > (?, 0, ?) AND purpose = 0 AND redirect_to IS NOT NULL
ORDER BY host, purpose, hash LIMIT 1000;

-- name: sitemap_targets
-- What files that count as sitemaps name and what has no row, as entry or refusal.
SELECT s.host, s.hash, s.href FROM sitemap_entry AS s
WHERE s.run = ?1 AND (s.host, s.hash) > (?2, ?3) AND s.misplaced < 2
    AND NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.run = ?1 AND e.host = s.host AND e.purpose = 0 AND e.hash = s.hash)
    AND NOT EXISTS (SELECT 1 FROM refusal AS f WHERE f.run = ?1 AND f.host = s.host AND f.purpose = 0 AND f.hash = s.hash)
ORDER BY s.host, s.hash LIMIT 1000;

-- name: has_row
-- Whether an address has a row in a run for a purpose, as entry or refusal.
SELECT 1 FROM entry WHERE run = ?1 AND host = ?2 AND purpose = ?3 AND hash = ?4
UNION ALL SELECT 1 FROM refusal WHERE run = ?1 AND host = ?2 AND purpose = ?3 AND hash = ?4 LIMIT 1;
