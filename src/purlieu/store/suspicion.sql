-- What a run sums up to at its end, for what looks wrong (R-8.1).

-- name: has_more_than_seeds
SELECT 1 FROM entry WHERE run = ? AND purpose = 0 AND depth > 0 LIMIT 1;

-- name: outside_hosts
-- Links refused by scope, by host; only asked for where a run has nothing but its seeds.
SELECT coalesce(h.name, ''), count(*) FROM refusal AS f LEFT JOIN host AS h ON h.id = f.host
WHERE f.run = ? AND f.reason = 'scope' GROUP BY f.host ORDER BY 2 DESC, 1 LIMIT 1000;

-- name: sampled_responses
-- Contents and titles of pages, all or an even share of them by their hashes.
SELECT e.href, x.digest, x.title FROM response AS x
JOIN entry AS e ON e.run = x.run AND e.host = x.host AND e.purpose = 0 AND e.hash = x.hash
WHERE x.run = ?1 AND x.purpose = 0 AND x.hash & ?2 = 0 AND e.kind IN ('fetched', 'unchanged');

-- name: finished_before
-- The last finished run of the crawl before this one, with its totals if it was pruned.
SELECT b.id, b.totals FROM run AS b WHERE b.crawl = ?1 AND b.id < ?2 AND b.state = 'done' ORDER BY b.id DESC LIMIT 1;

-- name: forget_finding
DELETE FROM finding WHERE run = ? AND code = ?;
