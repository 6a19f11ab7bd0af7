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

-- name: open_origin
-- An origin of which only links are checked: nothing of it waits for a robots.txt, unless that is under way.
INSERT INTO robots (run, host, origin, state) VALUES (?, ?, ?, 'known')
ON CONFLICT (run, origin) DO UPDATE SET state = 'known' WHERE state = 'wanted' AND NOT EXISTS (
    SELECT 1 FROM entry AS e WHERE e.run = robots.run AND e.origin = robots.id AND e.purpose = 1 AND e.due_at IS NOT NULL);

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

-- name: set_certificate
UPDATE robots SET certificate_ends_at = ? WHERE id = ?;

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
SELECT href, depth, hops, nofollow, found_by, via, linked, granted, origin, kind, reason, redirect_to, status, detail, standing
FROM entry WHERE run = ? AND host = ? AND purpose = ? AND hash = ?;

-- name: entries
-- Several of one host, by their hashes.
SELECT e.href, e.depth, e.hops, e.nofollow, e.found_by, e.via, e.linked, e.granted, e.origin, e.kind, e.reason, e.redirect_to,
    e.status, e.detail, e.standing, e.hash
FROM carray(?1) AS n CROSS JOIN entry AS e ON e.run = ?2 AND e.host = ?3 AND e.purpose = ?4 AND e.hash = n.value;

-- name: addresses
-- The same, where only the address is wanted.
SELECT e.href, e.hash
FROM carray(?1) AS n CROSS JOIN entry AS e ON e.run = ?2 AND e.host = ?3 AND e.purpose = ?4 AND e.hash = n.value;

-- name: rows_there
-- What stands under several hashes of one host, as entry or refusal.
SELECT e.hash, e.href
FROM carray(?1) AS n CROSS JOIN entry AS e ON e.run = ?2 AND e.host = ?3 AND e.purpose = ?4 AND e.hash = n.value
UNION ALL SELECT f.hash, f.href
FROM carray(?1) AS n CROSS JOIN refusal AS f ON f.run = ?2 AND f.host = ?3 AND f.purpose = ?4 AND f.hash = n.value;

-- name: add_entry
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule, standing, due_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_ended_entry
-- An entry whose response another purpose of the same address already got (R-1.3).
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, site, rule,
    standing, kind, reason, detail, status, redirect_to, ended_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: merge_entry
-- Better facts of a known entry, and why it is in by them; where robots.txt ended it, its line stays.
UPDATE entry SET depth = ?1, hops = ?2, nofollow = ?3, found_by = ?4, via = ?5, linked = ?6, granted = ?7, standing = ?8,
    site = CASE WHEN kind = 'excluded' THEN site ELSE ?9 END, rule = CASE WHEN kind = 'excluded' THEN rule ELSE ?10 END
WHERE run = ?11 AND host = ?12 AND purpose = ?13 AND hash = ?14;

-- name: merge_found
-- The same where the scope's rules look at nothing that is new.
UPDATE entry SET found_by = ?, via = ?, linked = ? WHERE run = ? AND host = ? AND purpose = ? AND hash = ?;

-- name: set_entry_rule
-- Why an entry is in; where robots.txt ended it, its line stays.
UPDATE entry SET site = ?, rule = ? WHERE run = ? AND host = ? AND purpose = ? AND hash = ?
    AND (kind IS NULL OR kind <> 'excluded');

-- name: due_robots
SELECT purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, attempts, standing
FROM entry WHERE run = ? AND origin = ? AND due_at <= ? AND purpose = 1 LIMIT 1;

-- name: due_entries
-- What may be fetched now of an origin whose robots.txt is known, the longest waiting first.
SELECT purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, attempts, standing
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
SELECT href, depth, hops, nofollow, found_by, via, linked, sites, granted, reason, standing
FROM refusal WHERE run = ? AND host = ? AND purpose = ? AND hash = ?;

-- name: refusals
-- Several of one host, by their hashes.
SELECT f.href, f.depth, f.hops, f.nofollow, f.found_by, f.via, f.linked, f.sites, f.granted, f.reason, f.standing, f.hash
FROM carray(?1) AS n CROSS JOIN refusal AS f ON f.run = ?2 AND f.host = ?3 AND f.purpose = ?4 AND f.hash = n.value;

-- name: put_refusal
-- A refused address, or better facts of one; the reason follows from the facts.
INSERT INTO refusal (run, host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, sites, granted, reason, rule, standing)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, host, purpose, hash) DO UPDATE SET depth = excluded.depth, hops = excluded.hops,
    nofollow = excluded.nofollow, found_by = excluded.found_by, via = excluded.via, linked = excluded.linked,
    sites = excluded.sites, granted = excluded.granted, reason = excluded.reason, rule = excluded.rule,
    standing = excluded.standing;

-- name: count_refusal
INSERT INTO refusal_count (run, host, reason, rule, count) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run, host, reason, rule) DO UPDATE SET count = count + excluded.count;

-- name: scope_refusals_of_host
-- Those of one host alone, in key order after (purpose, hash).
SELECT host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, sites, granted, reason, standing
FROM refusal WHERE run = ? AND host = ? AND (purpose, hash) > (?, ?) AND reason = 'scope' ORDER BY purpose, hash LIMIT 1000;

-- name: scope_refusals
-- Refusals that a landing may turn (R-3.2), in key order after (host, purpose, hash).
SELECT host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, sites, granted, reason, standing
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
SELECT rh.host, h.name, h.next_at, h.smoothed_seconds, h.backoff_seconds, rh.failures_in_a_row, h.gap_seconds
FROM run_host AS rh JOIN host AS h ON h.id = rh.host
WHERE rh.run = ? AND rh.due_at <= ?
    AND NOT EXISTS (SELECT 1 FROM lease AS l WHERE l.host = rh.host AND l.expires_at > ?)
ORDER BY rh.due_at LIMIT 1;

-- name: host_to_lease_in_groups
-- The same where several hosts may be one group: nobody holds any of the group, and its pause is over.
SELECT rh.host, h.name, h.next_at, h.smoothed_seconds, h.backoff_seconds, rh.failures_in_a_row, h.gap_seconds
FROM run_host AS rh JOIN host AS h ON h.id = rh.host LEFT JOIN host_group AS g ON g.id = h.member_of
WHERE rh.run = ?1 AND rh.due_at <= ?2 AND coalesce(g.next_at, 0) <= ?2
    AND NOT EXISTS (SELECT 1 FROM lease AS l WHERE l.host = rh.host AND l.expires_at > ?2)
    AND (g.id IS NULL OR g.id NOT IN (
        SELECT m.member_of FROM lease AS l JOIN host AS m ON m.id = l.host
        WHERE l.expires_at > ?2 AND m.member_of IS NOT NULL))
ORDER BY rh.due_at LIMIT 1;

-- name: next_host_due_in_groups
-- When the next host is worth leasing of which nobody holds the group.
SELECT min(max(rh.due_at, coalesce(g.next_at, 0)))
FROM run_host AS rh JOIN host AS h ON h.id = rh.host LEFT JOIN host_group AS g ON g.id = h.member_of
WHERE rh.run = ?1 AND rh.due_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM lease AS l WHERE l.host = rh.host AND l.expires_at > ?2)
    AND (g.id IS NULL OR g.id NOT IN (
        SELECT m.member_of FROM lease AS l JOIN host AS m ON m.id = l.host
        WHERE l.expires_at > ?2 AND m.member_of IS NOT NULL));

-- name: host_group
SELECT id, next_at, started_at, ended_at FROM host_group WHERE name = ?;

-- name: add_host_group
INSERT INTO host_group (name) VALUES (?) RETURNING id, next_at, started_at, ended_at;

-- name: set_member
UPDATE host SET member_of = ? WHERE id = ?;

-- name: leases_of_group
-- Leases on other hosts of a group, with the pace of each.
SELECT l.host, l.token, l.expires_at, m.gap_seconds FROM host AS m JOIN lease AS l ON l.host = m.id
WHERE m.member_of = ? AND m.id <> ?;

-- name: set_group_pace
UPDATE host_group SET next_at = max(next_at, ?), started_at = max(started_at, ?), ended_at = max(ended_at, ?) WHERE id = ?;

-- name: put_conduct
-- How a host was treated since the last time, added to what is known of the run.
INSERT INTO conduct (run, host, rule, gap_seconds, rest_seconds, connections, least_gap, least_rest, least_slack,
    most_connections, retry_afters, longest_retry_after, least_retry_slack, most_backoff, robots_retries, given_up, grouped)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, host) DO UPDATE SET rule = excluded.rule, gap_seconds = excluded.gap_seconds,
    rest_seconds = excluded.rest_seconds, connections = excluded.connections,
    least_gap = min(coalesce(least_gap, excluded.least_gap), coalesce(excluded.least_gap, least_gap)),
    least_rest = min(coalesce(least_rest, excluded.least_rest), coalesce(excluded.least_rest, least_rest)),
    least_slack = min(coalesce(least_slack, excluded.least_slack), coalesce(excluded.least_slack, least_slack)),
    most_connections = max(most_connections, excluded.most_connections),
    retry_afters = retry_afters + excluded.retry_afters,
    longest_retry_after = max(coalesce(longest_retry_after, excluded.longest_retry_after),
        coalesce(excluded.longest_retry_after, longest_retry_after)),
    least_retry_slack = min(coalesce(least_retry_slack, excluded.least_retry_slack),
        coalesce(excluded.least_retry_slack, least_retry_slack)),
    most_backoff = max(most_backoff, excluded.most_backoff),
    robots_retries = robots_retries + excluded.robots_retries,
    grouped = excluded.grouped,
    given_up = CASE WHEN excluded.given_up = '' THEN given_up ELSE excluded.given_up END;

-- name: next_host_due
-- When the next host that nobody holds is worth leasing; one without a row (a damaged store) could never be.
SELECT rh.due_at FROM run_host AS rh JOIN host AS h ON h.id = rh.host
WHERE rh.run = ? AND rh.due_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM lease AS l WHERE l.host = rh.host AND l.expires_at > ?)
ORDER BY rh.due_at LIMIT 1;

-- name: hosts_due
-- On how many hosts of a run something is due, now or later; no further than so many.
SELECT count(*) FROM (SELECT 1 FROM run_host WHERE run = ? AND due_at IS NOT NULL LIMIT ?);

-- name: put_lease
INSERT INTO lease (host, token, run, expires_at) VALUES (?, ?, ?, ?)
ON CONFLICT (host) DO UPDATE SET token = excluded.token, run = excluded.run, expires_at = excluded.expires_at;

-- name: last_token
SELECT coalesce(max(value + 0), 0) FROM meta WHERE key = 'lease_token';

-- name: set_last_token
INSERT INTO meta (key, value) VALUES ('lease_token', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: lease_token
SELECT token, expires_at FROM lease WHERE host = ?;

-- name: lease_tokens
-- Of several hosts.
SELECT l.host, l.token FROM carray(?) AS n CROSS JOIN lease AS l ON l.host = n.value;

-- name: renew_lease
UPDATE lease SET expires_at = ? WHERE host = ? AND token = ?;

-- name: drop_lease
DELETE FROM lease WHERE host = ? AND token = ?;

-- name: void_leases
-- The writer's lock was free, so nobody lives who could hold one; hosts wait once more (R-4.3).
UPDATE host SET next_at = max(next_at, ? + max(?, gap_seconds)) WHERE id IN (SELECT host FROM lease);

-- name: void_group_leases
-- The groups that those hosts work for wait as long.
UPDATE host_group SET next_at = max(next_at, coalesce(
    (SELECT max(h.next_at) FROM lease AS l JOIN host AS h ON h.id = l.host WHERE h.member_of = host_group.id), 0))
WHERE id IN (SELECT h.member_of FROM lease AS l JOIN host AS h ON h.id = l.host);

-- name: forget_groups
UPDATE host SET member_of = NULL WHERE member_of IS NOT NULL;

-- name: due_after_void
-- What was leased is due again after that pause.
UPDATE run_host SET due_at = (SELECT h.next_at FROM host AS h WHERE h.id = run_host.host)
WHERE run = ? AND host IN (SELECT host FROM lease) AND given_up = 0;

-- name: drop_leases
DELETE FROM lease;

-- name: set_pace
UPDATE host SET next_at = max(next_at, ?), smoothed_seconds = ?, backoff_seconds = ?, gap_seconds = ? WHERE id = ?;

-- name: landings
SELECT seed, href FROM landing WHERE run = ?;

-- name: add_landing
INSERT OR REPLACE INTO landing (run, seed, href) VALUES (?, ?, ?);

-- name: add_finding
INSERT OR REPLACE INTO finding (run, code, subject, arguments) VALUES (?, ?, ?, ?);

-- name: take_over_findings
-- Findings of a code in the newest finished run before, which a revisit goes on with.
INSERT OR IGNORE INTO finding (run, code, subject, arguments)
SELECT ?1, f.code, f.subject, f.arguments FROM finding AS f
WHERE f.code = ?3 AND f.run = (SELECT max(r.id) FROM run AS r WHERE r.crawl = ?2 AND r.id < ?1 AND r.state = 'done');

-- name: subjects_of
SELECT subject FROM finding WHERE run = ? AND code = ?;

-- name: all_refusals
-- Every refusal, in key order, for a resume with other settings.
SELECT host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, sites, granted, reason, standing
FROM refusal WHERE run = ? AND (host, purpose, hash) > (?, ?, ?) ORDER BY host, purpose, hash LIMIT 1000;

-- name: entries_to_judge
-- Pages and sitemaps that wait or were excluded before they were asked for, in key order, for a resume with other settings.
SELECT host, purpose, hash, href, depth, hops, nofollow, found_by, via, linked, granted, standing, kind, reason
FROM entry
WHERE run = ? AND (host, purpose, hash) > (?, ?, ?) AND purpose <> 1 AND (kind IS NULL OR kind = 'excluded')
ORDER BY host, purpose, hash LIMIT 1000;

-- name: exclude_entry
UPDATE entry SET due_at = NULL, kind = 'excluded', reason = ?, rule = ?, ended_at = ?
WHERE run = ? AND host = ? AND purpose = ? AND hash = ?;

-- name: robots_known_of_host
-- The robots.txt that are known of a host, to follow its Sitemap lines when a site has landed there.
SELECT r.origin, r.body, r.source FROM robots AS r JOIN host AS h ON h.id = r.host
WHERE r.run = ? AND h.name = ? AND r.state = 'known' AND r.ended IS NULL;
