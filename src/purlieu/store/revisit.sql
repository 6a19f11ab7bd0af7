-- What revisits read and write: the history of pages and sitemap files, and how far hints were right (R-2.4).

-- name: known_page
-- What earlier runs know of a page, whether its last response is still stored, and whether it was a sitemap too.
SELECT p.href, p.kind, p.reason, p.asked_at, p.interval_seconds, p.last_run, p.etag, p.last_modified, p.digest, p.lastmod,
    p.gone_runs, p.retired, EXISTS (SELECT 1 FROM response AS x WHERE x.run = p.last_run AND x.host = p.host AND x.purpose = 0
        AND x.hash = p.hash),
    EXISTS (SELECT 1 FROM sitemap_file AS f WHERE f.crawl = p.crawl AND f.host = p.host AND f.hash = p.hash)
FROM page AS p WHERE p.crawl = ? AND p.host = ? AND p.hash = ?;

-- name: settings_of_runs
-- The settings text of a run and of each run before it of its crawl.
SELECT r.id, c.toml FROM run AS r JOIN config AS c ON c.hash = r.config WHERE r.crawl = ? AND r.id <= ? ORDER BY r.id DESC;

-- name: known_sitemap
SELECT f.href, f.index_lastmod, f.etag, f.last_modified, f.digest, f.asked_at, f.last_run,
    EXISTS (SELECT 1 FROM sitemap_read AS r WHERE r.run = f.last_run AND r.host = f.host AND r.hash = f.hash)
FROM sitemap_file AS f WHERE f.crawl = ? AND f.host = ? AND f.hash = ?;

-- name: hints
-- What the sitemaps of a run say of an address.
SELECT lastmod, changefreq FROM sitemap_entry WHERE run = ? AND host = ? AND hash = ? AND href = ? AND misplaced = 0;

-- name: index_lastmod
-- What the indexes of a run say of a sitemap file.
SELECT max(lastmod) FROM sitemap_child WHERE run = ? AND host = ? AND hash = ? AND href = ?;

-- name: trust
-- How far a hint was right in the runs before, the newest first.
SELECT announced, confirmed, sampled, missed, left_alone FROM trust
WHERE crawl = ? AND host = ? AND section = ? AND hint = ? AND run < ? ORDER BY run DESC LIMIT 8;

-- name: trust_of_host
-- The same of all sections of a host together.
SELECT sum(announced), sum(confirmed), sum(sampled), sum(missed), sum(left_alone) FROM trust
WHERE crawl = ? AND host = ? AND hint = ? AND run < ? GROUP BY run ORDER BY run DESC LIMIT 8;

-- name: trust_of_run
-- What a run has measured of hints, by host, section and hint.
SELECT t.host, h.name, t.section, t.hint, t.announced, t.confirmed, t.sampled, t.missed, t.left_alone
FROM run AS r JOIN trust AS t ON t.crawl = r.crawl AND t.run = r.id JOIN host AS h ON h.id = t.host
WHERE r.id = ? ORDER BY h.name, t.section, t.hint;

-- name: add_trust
INSERT INTO trust (crawl, host, section, hint, run, announced, confirmed, sampled, missed, left_alone)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (crawl, host, section, hint, run) DO UPDATE SET announced = announced + excluded.announced,
    confirmed = confirmed + excluded.confirmed, sampled = sampled + excluded.sampled, missed = missed + excluded.missed,
    left_alone = left_alone + excluded.left_alone;

-- name: put_page
-- An answer that was read as a page; a change is another digest than last time, and makes the interval shorter.
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, etag, last_modified, digest,
    last_run, outlinks, kind, reason, depth, seen_run, asked_at, interval_seconds,
    alternates)
VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5, 1, 0, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?5, ?15, ?19)
ON CONFLICT (crawl, host, hash) DO UPDATE SET href = excluded.href, last_fetched = excluded.last_fetched, visits = visits + 1,
    changes = changes + (digest IS NOT excluded.digest),
    last_changed = CASE WHEN digest IS excluded.digest THEN last_changed ELSE excluded.last_fetched END,
    interval_seconds = CASE WHEN digest IS excluded.digest THEN min(coalesce(interval_seconds, ?15) * ?17, ?16)
        ELSE max(coalesce(interval_seconds, ?15) * ?18, ?15) END,
    etag = excluded.etag, last_modified = excluded.last_modified, digest = excluded.digest,
    last_run = excluded.last_run, outlinks = excluded.outlinks, kind = excluded.kind, reason = excluded.reason,
    depth = min(depth, excluded.depth), asked_at = excluded.asked_at, gone_runs = 0, retired = 0, alternates = excluded.alternates,
    seen_run = max(seen_run, excluded.seen_run), missed_runs = CASE WHEN excluded.seen_run THEN 0 ELSE missed_runs END;

-- name: put_failed_page
-- Any other end of a request: redirects, errors, what is gone. Validators and links of the last page stand. Where addresses of
-- one hash have changed places, nothing is said of the other one.
INSERT INTO page (crawl, host, hash, href, first_seen, last_fetched, last_changed, visits, changes, last_run, kind, reason, depth,
    seen_run, asked_at, gone_runs)
VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5, 1, 0, ?6, ?7, ?8, ?9, ?10, ?5, ?7 = 'missing')
ON CONFLICT (crawl, host, hash) DO UPDATE SET visits = visits + 1, kind = excluded.kind, reason = excluded.reason,
    asked_at = excluded.asked_at, gone_runs = CASE WHEN excluded.kind = 'missing' THEN gone_runs + 1 ELSE 0 END,
    retired = excluded.kind = 'missing' AND gone_runs + 1 >= ?11,
    seen_run = max(seen_run, excluded.seen_run), missed_runs = CASE WHEN excluded.seen_run THEN 0 ELSE missed_runs END
WHERE page.href = excluded.href;

-- name: page_not_modified
UPDATE page SET visits = visits + 1, asked_at = ?1, last_fetched = ?1, interval_seconds = min(coalesce(interval_seconds, ?2) * ?4, ?3),
    last_run = ?5, seen_run = max(seen_run, ?6), missed_runs = CASE WHEN ?6 THEN 0 ELSE missed_runs END, kind = 'unchanged',
    reason = 'not_modified', gone_runs = 0
WHERE crawl = ?7 AND host = ?8 AND hash = ?9;

-- name: page_still_found
-- It was found and not asked for, and does not stand unchanged either; what is known of it stays with the run that has it.
UPDATE page SET seen_run = max(seen_run, ?1), missed_runs = CASE WHEN ?1 THEN 0 ELSE missed_runs END
WHERE crawl = ?2 AND host = ?3 AND hash = ?4;

-- name: page_of_file
-- The page of a sitemap's address, which came with the same response, stands unchanged with it.
UPDATE page SET last_run = ?, asked_at = max(asked_at, ?) WHERE crawl = ? AND host = ? AND hash = ? AND last_run = ?;

-- name: page_left_alone
UPDATE page SET last_run = CASE WHEN kind = 'missing' THEN last_run ELSE ? END, seen_run = ?, missed_runs = 0
WHERE crawl = ? AND host = ? AND hash = ?;

-- name: take_over_response
-- What stands unchanged keeps the response that an earlier run got, be it for another purpose of the address (R-1.3).
INSERT OR REPLACE INTO response (run, host, purpose, hash, status, headers, content_type, title, canonical, lang, index_reason,
    last_modified, etag, digest, address, fetched_at, bytes, seconds)
SELECT ?1, host, ?4, hash, status, headers, content_type, title, canonical, lang, index_reason,
    last_modified, etag, digest, address, fetched_at, bytes, seconds
FROM response WHERE run = ?2 AND host = ?3 AND hash = ?5 AND purpose IN (?4, 0) ORDER BY purpose = ?4 DESC LIMIT 1;

-- name: has_sketches
SELECT 1 FROM sketch WHERE run = ? LIMIT 1;

-- name: has_anchors
SELECT 1 FROM anchor WHERE run = ? LIMIT 1;

-- name: take_over_anchor
INSERT OR REPLACE INTO anchor (run, host, hash, ids, asked) SELECT ?, host, hash, ids, asked FROM anchor
WHERE run = ? AND host = ? AND hash = ?;

-- name: take_over_sketch
INSERT OR REPLACE INTO sketch (run, host, hash, sketch) SELECT ?, host, hash, sketch FROM sketch WHERE run = ? AND host = ? AND hash = ?;

-- name: take_over_status
UPDATE entry SET status = (SELECT x.status FROM response AS x WHERE x.run = entry.run AND x.host = entry.host
    AND x.purpose = entry.purpose AND x.hash = entry.hash)
WHERE run = ? AND host = ? AND purpose = ? AND hash = ?;

-- name: taken_over_outlinks
SELECT outlinks FROM page WHERE crawl = ? AND host = ? AND hash = ?;

-- name: put_sitemap_file
INSERT INTO sitemap_file (crawl, host, hash, href, index_lastmod, etag, last_modified, digest, asked_at, last_run)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (crawl, host, hash) DO UPDATE SET href = excluded.href, index_lastmod = excluded.index_lastmod, etag = excluded.etag,
    last_modified = excluded.last_modified, digest = excluded.digest, asked_at = excluded.asked_at, last_run = excluded.last_run;

-- name: sitemap_taken_over
-- A file that was not read again; asked_at stands when it was not asked for.
UPDATE sitemap_file SET index_lastmod = ?, asked_at = max(asked_at, ?), last_run = ? WHERE crawl = ? AND host = ? AND hash = ?;

-- name: take_over_sitemap_read
INSERT OR REPLACE INTO sitemap_read (run, host, hash, href, kind, entries, children, problems)
SELECT ?, host, hash, href, kind, entries, children, problems FROM sitemap_read WHERE run = ? AND host = ? AND hash = ?;

-- name: take_over_sitemap_entries
-- By whom the file is named in this run is found out anew.
INSERT OR REPLACE INTO sitemap_entry (run, host, hash, sitemap, href, lastmod, changefreq, priority, misplaced)
SELECT ?, host, hash, sitemap, href, lastmod, changefreq, priority, 2 FROM sitemap_entry WHERE run = ? AND sitemap = ?;

-- name: take_over_sitemap_children
INSERT OR REPLACE INTO sitemap_child (run, host, hash, sitemap, href, lastmod)
SELECT ?, host, hash, sitemap, href, lastmod FROM sitemap_child WHERE run = ? AND sitemap = ?;

-- name: entries_of_sitemap
SELECT href, priority FROM sitemap_entry WHERE run = ? AND sitemap = ?;

-- name: children_of_sitemap
SELECT href FROM sitemap_child WHERE run = ? AND sitemap = ?;

-- name: vanished
-- Pages of earlier runs that this one has not met, in key order after (host, hash); what was met and refused has not vanished.
SELECT p.host, p.hash, p.href, p.depth, p.asked_at, p.missed_runs FROM page AS p
WHERE p.crawl = ?1 AND (p.host, p.hash) > (?3, ?4) AND p.retired = 0 AND p.seen_run > 0
    AND NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.run = ?2 AND e.host = p.host AND e.purpose = 0 AND e.hash = p.hash)
    AND NOT EXISTS (SELECT 1 FROM refusal AS f WHERE f.run = ?2 AND f.host = p.host AND f.purpose = 0 AND f.hash = p.hash)
ORDER BY p.host, p.hash LIMIT 1000;

-- name: has_history
-- Whether the crawl has an earlier run.
SELECT 1 FROM run WHERE crawl = ? AND id < ? LIMIT 1;

-- name: count_missed
-- At the end of a run that found all there is: what it did not meet, or only asked for because it was known.
UPDATE page SET missed_runs = missed_runs + 1
WHERE crawl = ?1 AND retired = 0 AND seen_run > 0
    AND (missed_runs = 0 OR asked_at >= (SELECT r.started_at FROM run AS r WHERE r.id = ?2)) AND NOT EXISTS (
    SELECT 1 FROM entry AS e WHERE e.run = ?2 AND e.host = page.host AND e.purpose = 0 AND e.hash = page.hash
        AND e.found_by <> 'history') AND NOT EXISTS (
    SELECT 1 FROM refusal AS f WHERE f.run = ?2 AND f.host = page.host AND f.purpose = 0 AND f.hash = page.hash
        AND f.found_by <> 'history');

-- name: count_vanished
-- How many of these it is the first time for, with one of them; before they are counted.
SELECT count(*), min(page.href) FROM page
WHERE crawl = ?1 AND retired = 0 AND seen_run > 0 AND missed_runs = 0 AND NOT EXISTS (
    SELECT 1 FROM entry AS e WHERE e.run = ?2 AND e.host = page.host AND e.purpose = 0 AND e.hash = page.hash
        AND e.found_by <> 'history') AND NOT EXISTS (
    SELECT 1 FROM refusal AS f WHERE f.run = ?2 AND f.host = page.host AND f.purpose = 0 AND f.hash = page.hash
        AND f.found_by <> 'history');

-- name: remember_lastmods
-- What the sitemaps said of the pages that were asked for in this run.
UPDATE page SET lastmod = (SELECT max(s.lastmod) FROM sitemap_entry AS s WHERE s.run = ?2 AND s.host = page.host AND s.hash = page.hash
    AND s.href = page.href AND s.misplaced = 0)
WHERE crawl = ?1 AND asked_at >= (SELECT r.started_at FROM run AS r WHERE r.id = ?2);

-- name: report_past
-- What the history knows of a page, for a report.
SELECT p.first_seen, p.asked_at, p.last_changed, p.visits, p.changes, p.interval_seconds, p.gone_runs, p.missed_runs, p.retired
FROM run AS r JOIN page AS p ON p.crawl = r.crawl JOIN host AS h ON h.id = p.host
WHERE r.id = ? AND h.name = ? AND p.hash = ? AND p.href = ?;
