-- What the frontier reads and writes. Purposes: 0 page, 1 robots, 2 sitemap.

-- name: host_id
-- The number of a host.
SELECT id FROM host WHERE name = ?;

-- name: add_host
-- A host met for the first time.
INSERT INTO host (name) VALUES (?) RETURNING id;

-- name: robots_id
-- The robots.txt of an origin in a run.
SELECT id, state FROM robots WHERE run = ? AND origin = ?;

-- name: add_robots
INSERT INTO robots (run, host, origin, state) VALUES (?, ?, ?, ?) RETURNING id;

-- name: robots_of_host
-- The origins of a host in a run, with what is known of their robots.txt.
SELECT id, origin, state, body, fetched_at, first_failed_at, ended FROM robots WHERE run = ? AND host = ? ORDER BY id;

-- name: robots_waiting
-- Origins whose robots.txt was redirected to this address.
SELECT id, host, origin FROM robots WHERE run = ? AND source = ? AND state = 'wanted';

-- name: robots_read_from
-- The newest body that was read from this address, for whichever origin.
SELECT body, fetched_at, ended FROM robots WHERE run = ? AND source = ? AND state = 'known' ORDER BY fetched_at DESC LIMIT 1;

-- name: set_robots
UPDATE robots SET state = ?, body = ?, source = ?, fetched_at = ?, ended = ? WHERE id = ?;

-- name: set_robots_hop
UPDATE robots SET source = ? WHERE id = ?;

-- name: set_robots_failed
UPDATE robots SET first_failed_at = coalesce(first_failed_at, ?) WHERE run = ? AND origin = ?;

-- name: seed_waits
-- Whether a seed, or a hop of a seed's chain, waits on an origin.
SELECT 1 FROM entry WHERE run = ? AND origin = ? AND due_at IS NOT NULL AND granted IN ('seed', 'seed-redirect') LIMIT 1;

-- name: robots_again
-- A robots.txt older than a day is asked for again (ST-4).
UPDATE robots SET state = 'wanted', source = NULL, first_failed_at = NULL WHERE id = ?;

-- name: entry
-- One entry with what merging and replaying need (R-2.1).
SELECT href, depth, hops, nofollow, found_by, via, linked, granted, origin, kind, reason, redirect_to, status, detail
FROM entry WHERE run = ? AND host = ? AND purpose = ? AND hash = ?;

-- name: add_entry
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, due_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_ended_entry
-- An entry whose response another purpose of the same address already got (R-1.3).
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule,
    kind, reason, detail, status, redirect_to, ended_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: merge_entry
-- Better facts of a known entry.
UPDATE entry SET depth = ?, hops = ?, nofollow = ?, found_by = ?, via = ?, linked = ?, granted = ?
WHERE run = ? AND host = ? AND purpose = ? AND hash = ?;

-- name: set_entry_rule
-- Why an entry is in, by its merged facts; where robots.txt ended it, its line stays.
UPDATE entry SET site = ?, rule = ? WHERE run = ? AND host = ? AND purpose = ? AND hash = ?
    AND (kind IS NULL OR kind <> 'excluded');

-- name: due_robots
SELECT purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, attempts
FROM entry WHERE run = ? AND origin = ? AND due_at <= ? AND purpose = 1 LIMIT 1;

-- name: due_entries
-- What may be fetched now of an origin whose robots.txt is known, the longest waiting first.
SELECT purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, attempts
FROM entry WHERE run = ? AND origin = ? AND due_at <= ? ORDER BY due_at LIMIT ?;

-- name: next_due
-- When the next entry of an origin is due.
SELECT min(due_at) FROM entry WHERE run = ? AND origin = ? AND due_at IS NOT NULL;

-- name: next_robots_due
SELECT min(due_at) FROM entry WHERE run = ? AND host = ? AND purpose = 1 AND origin = ? AND due_at IS NOT NULL;

-- name: siblings
-- Other purposes of the same address that still wait (R-1.3).
SELECT purpose FROM entry WHERE run = ? AND host = ? AND hash = ? AND purpose = ? AND due_at IS NOT NULL;

-- name: end_entry
UPDATE entry SET due_at = NULL, kind = ?, reason = ?, detail = ?, status = ?, redirect_to = ?, ended_at = ?,
    rule = CASE WHEN ? = '' THEN rule ELSE ? END, attempts = attempts + ?
WHERE run = ? AND host = ? AND purpose = ? AND hash = ? AND kind IS NULL;

-- name: retry_entry
UPDATE entry SET due_at = ?, attempts = attempts + ?
WHERE run = ? AND host = ? AND purpose = ? AND hash = ? AND kind IS NULL;

-- name: reopen_entry
UPDATE entry SET due_at = ?, kind = NULL, reason = NULL, detail = NULL, status = NULL, redirect_to = NULL, ended_at = NULL
WHERE run = ? AND host = ? AND purpose = ? AND hash = ? AND kind IS NOT NULL;

-- name: sites_of
SELECT site FROM site_of WHERE run = ? AND host = ? AND purpose = ? AND hash = ?;

-- name: add_site_of
INSERT OR IGNORE INTO site_of (run, host, purpose, hash, site) VALUES (?, ?, ?, ?, ?);

-- name: refusal
SELECT href, depth, hops, nofollow, found_by, via, linked, sites, granted, reason
FROM refusal WHERE run = ? AND host = ? AND purpose = ? AND hash = ?;

-- name: put_refusal
-- A refused address, or better facts of one; the reason follows from the facts.
INSERT INTO refusal (run, host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, sites, granted, reason, rule)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, host, purpose, hash) DO UPDATE SET depth = excluded.depth, hops = excluded.hops,
    nofollow = excluded.nofollow, found_by = excluded.found_by, via = excluded.via, linked = excluded.linked,
    sites = excluded.sites, granted = excluded.granted, reason = excluded.reason, rule = excluded.rule;

-- name: count_refusal
INSERT INTO refusal_count (run, host, reason, rule, count) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run, host, reason, rule) DO UPDATE SET count = count + excluded.count;

-- name: scope_refusals_of_host
-- Those of one host alone, in key order after (purpose, hash).
SELECT host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, sites, granted
FROM refusal WHERE run = ? AND host = ? AND (purpose, hash) > (?, ?) AND reason = 'scope' ORDER BY purpose, hash LIMIT 1000;

-- name: scope_refusals
-- Refusals that a landing may turn (R-3.2), in key order after (host, purpose, hash).
SELECT host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, sites, granted
FROM refusal WHERE run = ? AND (host, purpose, hash) > (?, ?, ?) AND reason = 'scope' ORDER BY host, purpose, hash LIMIT 1000;

-- name: run_host
SELECT due_at, pages, refused, failures_in_a_row, given_up FROM run_host WHERE run = ? AND host = ?;

-- name: add_run_host
INSERT OR IGNORE INTO run_host (run, host) VALUES (?, ?);

-- name: host_due
-- Something new is due on a host; the earlier time stands, but none before the host's pause is over.
UPDATE run_host SET due_at = min(coalesce(due_at, 9e99), max(?, (SELECT h.next_at FROM host AS h WHERE h.id = run_host.host)))
WHERE run = ? AND host = ? AND given_up = 0;

-- name: set_host_due
-- When a host is next worth leasing, at its release; NULL when nothing of it is due.
UPDATE run_host SET due_at = max(?, (SELECT h.next_at FROM host AS h WHERE h.id = run_host.host))
WHERE run = ? AND host = ? AND given_up = 0;

-- name: count_host
UPDATE run_host SET pages = pages + ?, refused = refused + ? WHERE run = ? AND host = ?;

-- name: spend_host
-- What the visits of a batch cost a host.
UPDATE run_host SET requests = requests + ?, failures = failures + ?, failures_in_a_row = ?, seconds = seconds + ?, bytes = bytes + ?
WHERE run = ? AND host = ?;

-- name: give_up_host
UPDATE run_host SET given_up = 1, due_at = NULL WHERE run = ? AND host = ? AND given_up = 0;

-- name: host_to_lease
-- The host that has waited longest and that nobody holds.
SELECT rh.host, h.name, h.next_at, h.smoothed_seconds, h.backoff_seconds, rh.failures_in_a_row
FROM run_host AS rh JOIN host AS h ON h.id = rh.host
WHERE rh.run = ? AND rh.due_at <= ?
    AND NOT EXISTS (SELECT 1 FROM lease AS l WHERE l.host = rh.host AND l.expires_at > ?)
ORDER BY rh.due_at LIMIT 1;

-- name: next_host_due
-- When the next host that nobody holds is worth leasing.
SELECT rh.due_at FROM run_host AS rh
WHERE rh.run = ? AND rh.due_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM lease AS l WHERE l.host = rh.host AND l.expires_at > ?)
ORDER BY rh.due_at LIMIT 1;

-- name: put_lease
INSERT INTO lease (host, token, run, expires_at) VALUES (?, ?, ?, ?)
ON CONFLICT (host) DO UPDATE SET token = excluded.token, run = excluded.run, expires_at = excluded.expires_at;

-- name: last_token
SELECT coalesce(max(value + 0), 0) FROM meta WHERE key = 'lease_token';

-- name: set_last_token
INSERT INTO meta (key, value) VALUES ('lease_token', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: lease_token
SELECT token, expires_at FROM lease WHERE host = ?;

-- name: renew_lease
UPDATE lease SET expires_at = ? WHERE host = ? AND token = ?;

-- name: drop_lease
DELETE FROM lease WHERE host = ? AND token = ?;

-- name: void_leases
-- The writer's lock was free, so nobody lives who could hold one; hosts wait once more (R-4.3).
UPDATE host SET next_at = max(next_at, ?) WHERE id IN (SELECT host FROM lease);

-- name: due_after_void
-- What was leased is due again after that pause.
UPDATE run_host SET due_at = (SELECT h.next_at FROM host AS h WHERE h.id = run_host.host)
WHERE run = ? AND host IN (SELECT host FROM lease) AND given_up = 0;

-- name: drop_leases
DELETE FROM lease;

-- name: set_pace
UPDATE host SET next_at = max(next_at, ?), smoothed_seconds = ?, backoff_seconds = ? WHERE id = ?;

-- name: add_sitemap_entry
INSERT OR REPLACE INTO sitemap_entry (run, host, hash, sitemap, href, lastmod, changefreq, priority) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: landings
SELECT seed, href FROM landing WHERE run = ?;

-- name: add_landing
INSERT OR REPLACE INTO landing (run, seed, href) VALUES (?, ?, ?);

-- name: add_finding
INSERT OR REPLACE INTO finding (run, code, subject, arguments) VALUES (?, ?, ?, ?);

-- name: all_refusals
-- Every refusal, in key order, for a resume with other settings.
SELECT host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, sites, granted
FROM refusal WHERE run = ? AND (host, purpose, hash) > (?, ?, ?) ORDER BY host, purpose, hash LIMIT 1000;

-- name: entries_to_judge
-- Pages and sitemaps that wait or were excluded before they were asked for, in key order, for a resume with other settings.
SELECT host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, granted, kind, reason FROM entry
WHERE run = ? AND (host, purpose, hash) > (?, ?, ?) AND purpose <> 1 AND (kind IS NULL OR kind = 'excluded' AND reason <> 'robots')
ORDER BY host, purpose, hash LIMIT 1000;

-- name: exclude_entry
UPDATE entry SET due_at = NULL, kind = 'excluded', reason = ?, rule = ?, ended_at = ?
WHERE run = ? AND host = ? AND purpose = ? AND hash = ?;

-- name: robots_known_of_host
-- The robots.txt that are known of a host, to follow its Sitemap lines when a site has landed there.
SELECT r.origin, r.body, r.source FROM robots AS r JOIN host AS h ON h.id = r.host
WHERE r.run = ? AND h.name = ? AND r.state = 'known' AND length(r.body) > 0 AND r.ended IS NULL;
