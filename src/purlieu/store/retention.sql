-- Pruning (R-8.4): the only statements that remove what runs have written. History, totals, findings and what a later run takes
-- over (page.last_run, sitemap_file.last_run) stay.

-- name: prunable_runs
-- Runs of a crawl that are older than its newest finished ones, so many of them, and have not been emptied.
SELECT r.id FROM run AS r WHERE r.crawl = ?1 AND r.state <> 'running'
    AND r.id < (SELECT max(n.id) FROM run AS n WHERE n.crawl = ?1)
    AND r.id < (SELECT n.id FROM run AS n WHERE n.crawl = ?1 AND n.state = 'done' ORDER BY n.id DESC LIMIT 1 OFFSET ?2 - 1)
ORDER BY r.id;

-- name: mark_pruned
-- From now on the run says so; its rows go after that, so that no report ever shows a part of them as the whole.
UPDATE run SET pruned_at = ?, totals = ? WHERE id = ? AND pruned_at IS NULL;

-- name: has_prunable_rows
-- Whether pruning was broken off, or never begun; the rows of robots go last.
SELECT 1 FROM robots WHERE run = ?1 AND ended IS NULL UNION ALL SELECT 1 FROM refusal WHERE run = ?1 LIMIT 1;

-- name: prunable_hosts
-- The hosts of which a run still has rows, with about how many; number 0 holds what has no host.
SELECT host, pages + refused FROM run_host WHERE run = ?1
UNION SELECT 0, 0
UNION SELECT host, 0 FROM refusal WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM run_host AS h WHERE h.run = ?1 AND h.host = refusal.host)
ORDER BY 1;

-- name: prune_entries
DELETE FROM entry WHERE run = ?1 AND host = ?2 AND purpose = ?3 AND hash BETWEEN ?4 AND ?5;

-- name: prune_refusals
DELETE FROM refusal WHERE run = ?1 AND host = ?2 AND purpose = ?3 AND hash BETWEEN ?4 AND ?5;

-- name: prune_lineage
DELETE FROM site_of WHERE run = ?1 AND host = ?2 AND purpose = ?3 AND hash BETWEEN ?4 AND ?5;

-- name: prune_responses
-- Those that a later run takes over stay.
DELETE FROM response WHERE run = ?1 AND host = ?2 AND purpose = ?3 AND hash BETWEEN ?4 AND ?5
    AND NOT EXISTS (SELECT 1 FROM page AS p WHERE p.crawl = ?6 AND p.host = response.host AND p.hash = response.hash
        AND p.last_run = ?1)
    AND NOT EXISTS (SELECT 1 FROM sitemap_file AS f WHERE f.crawl = ?6 AND f.host = response.host AND f.hash = response.hash
        AND f.last_run = ?1);

-- name: prune_sketches
-- As of responses.
DELETE FROM sketch WHERE run = ?1 AND host = ?2 AND hash BETWEEN ?3 AND ?4
    AND NOT EXISTS (SELECT 1 FROM page AS p WHERE p.crawl = ?5 AND p.host = sketch.host AND p.hash = sketch.hash AND p.last_run = ?1);

-- name: prune_extracts
-- As of responses.
DELETE FROM extract WHERE run = ?1 AND host = ?2 AND hash BETWEEN ?3 AND ?4
    AND NOT EXISTS (SELECT 1 FROM page AS p WHERE p.crawl = ?5 AND p.host = extract.host AND p.hash = extract.hash AND p.last_run = ?1);

-- name: prune_anchors
-- As of responses.
DELETE FROM anchor WHERE run = ?1 AND host = ?2 AND hash BETWEEN ?3 AND ?4
    AND NOT EXISTS (SELECT 1 FROM page AS p WHERE p.crawl = ?5 AND p.host = anchor.host AND p.hash = anchor.hash AND p.last_run = ?1);

-- name: prune_sitemap_entries
DELETE FROM sitemap_entry WHERE run = ?1 AND host = ?2 AND hash BETWEEN ?3 AND ?4
    AND sitemap NOT IN (SELECT href FROM sitemap_file WHERE crawl = ?5 AND last_run = ?1);

-- name: prune_sitemap_children
DELETE FROM sitemap_child WHERE run = ?1 AND host = ?2 AND hash BETWEEN ?3 AND ?4
    AND sitemap NOT IN (SELECT href FROM sitemap_file WHERE crawl = ?5 AND last_run = ?1);

-- name: prune_sitemaps
DELETE FROM sitemap_read WHERE run = ?1 AND host = ?2 AND hash BETWEEN ?3 AND ?4
    AND NOT EXISTS (SELECT 1 FROM sitemap_file AS f WHERE f.crawl = ?5 AND f.host = sitemap_read.host AND f.hash = sitemap_read.hash
        AND f.last_run = ?1);

-- name: prune_sitemap_namers
DELETE FROM sitemap_namer WHERE run = ?1 AND host = ?2 AND hash BETWEEN ?3 AND ?4 AND ?5 IS NOT NULL;

-- name: prune_robots
-- An origin whose robots.txt ended its pages is a finding, and stays.
DELETE FROM robots WHERE run = ? AND ended IS NULL;

-- name: removed_crawls
SELECT id FROM crawl WHERE removed_at IS NOT NULL ORDER BY id;

-- name: runs_of_removed
SELECT id FROM run WHERE crawl = ? ORDER BY id;

-- What pruning leaves of a run that is forgotten: small tables, and rows whose host has none of its own.

-- name: erase_entry
DELETE FROM entry WHERE run = ?;

-- name: erase_refusal
DELETE FROM refusal WHERE run = ?;

-- name: erase_site_of
DELETE FROM site_of WHERE run = ?;

-- name: erase_response
DELETE FROM response WHERE run = ?;

-- name: erase_sketch
DELETE FROM sketch WHERE run = ?;

-- name: erase_extract
DELETE FROM extract WHERE run = ?;

-- name: erase_anchor
DELETE FROM anchor WHERE run = ?;

-- name: erase_sitemap_entry
DELETE FROM sitemap_entry WHERE run = ?;

-- name: erase_sitemap_child
DELETE FROM sitemap_child WHERE run = ?;

-- name: erase_sitemap_read
DELETE FROM sitemap_read WHERE run = ?;

-- name: erase_sitemap_namer
DELETE FROM sitemap_namer WHERE run = ?;

-- name: erase_refusal_count
DELETE FROM refusal_count WHERE run = ?;

-- name: erase_landing
DELETE FROM landing WHERE run = ?;

-- name: erase_finding
DELETE FROM finding WHERE run = ?;

-- name: erase_conduct
DELETE FROM conduct WHERE run = ?;

-- name: erase_robots
DELETE FROM robots WHERE run = ?;

-- name: erase_run_host
DELETE FROM run_host WHERE run = ?;

-- name: erase_run
DELETE FROM run WHERE id = ?;

-- name: erase_pages
-- Some pages of a removed crawl's history at a time.
DELETE FROM page WHERE crawl = ?1 AND (host, hash) IN (SELECT host, hash FROM page WHERE crawl = ?1 LIMIT ?2);

-- name: erase_contents
-- Some of what its pages said at a time.
DELETE FROM content WHERE crawl = ?1 AND id IN (SELECT id FROM content WHERE crawl = ?1 LIMIT ?2);

-- name: erase_feeds
-- Some of what search engines have of it at a time.
DELETE FROM feed WHERE crawl = ?1 AND id IN (SELECT id FROM feed WHERE crawl = ?1 LIMIT ?2);

-- name: erase_sitemap_files
DELETE FROM sitemap_file WHERE crawl = ?;

-- name: erase_trust
DELETE FROM trust WHERE crawl = ?;

-- name: erase_schedule_events
DELETE FROM schedule_event WHERE schedule IN (SELECT id FROM schedule WHERE crawl = ?);

-- name: erase_schedules
DELETE FROM schedule WHERE crawl = ?;

-- name: erase_crawl
DELETE FROM crawl WHERE id = ?;

-- name: erase_configs
-- Settings that no run was made with and nobody keeps.
DELETE FROM config WHERE hash NOT IN (SELECT config FROM run) AND hash NOT IN (SELECT config FROM crawl WHERE config IS NOT NULL);

-- name: vacuum
-- Give the room that was freed back to the disk; needs as much again while it works.
VACUUM;
