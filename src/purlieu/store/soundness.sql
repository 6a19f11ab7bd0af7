-- What must hold between the rows of a store, whichever program wrote it. Each statement gives one row for each thing wrong:
-- (code of soundness.py, run or NULL, how many, an example).

-- name: sound_entries
-- The views that reports read join these; an entry without one of them would be in no report.
WITH part AS (SELECT run, host, count(*) AS n, min(href) AS href FROM entry GROUP BY run, host)
SELECT CASE WHEN r.id IS NULL THEN 'run_missing' WHEN h.id IS NULL THEN 'host_missing' ELSE 'run_host_missing' END AS code,
    p.run, sum(p.n), min(p.href)
FROM part AS p LEFT JOIN run AS r ON r.id = p.run LEFT JOIN host AS h ON h.id = p.host
LEFT JOIN run_host AS rh ON rh.run = p.run AND rh.host = p.host
WHERE r.id IS NULL OR h.id IS NULL OR rh.host IS NULL GROUP BY code, p.run;

-- name: sound_run_hosts
-- A host that is due in a run and is not there would be waited for without end.
SELECT 'run_host_alone', run, count(*), group_concat(host) FROM run_host
WHERE host NOT IN (SELECT id FROM host) OR run NOT IN (SELECT id FROM run) GROUP BY run;

-- name: sound_origins
WITH part AS (SELECT run, origin, count(*) AS n, min(href) AS href FROM entry GROUP BY run, origin)
SELECT 'origin_missing', p.run, sum(p.n), min(p.href)
FROM part AS p LEFT JOIN robots AS o ON o.id = p.origin AND o.run = p.run WHERE o.id IS NULL GROUP BY p.run;

-- name: sound_due
-- What waits is reached only through its host: one that is due, held, or given up.
SELECT 'never_due', e.run, count(*), min(e.href)
FROM entry AS e JOIN robots AS o ON o.id = e.origin JOIN run_host AS rh ON rh.run = e.run AND rh.host = e.host
JOIN run AS r ON r.id = e.run
WHERE e.due_at IS NOT NULL AND rh.due_at IS NULL AND rh.given_up = 0 AND (o.ended IS NULL OR e.purpose = 1)
    AND (o.state <> 'wanted' OR e.purpose = 1) AND r.stop_reason IS NOT 'finished'
    AND NOT EXISTS (SELECT 1 FROM lease AS l WHERE l.host = e.host)
GROUP BY e.run;

-- name: sound_robots
-- Pages wait for their robots.txt, which must itself be waited for, or have led elsewhere (ST-1).
SELECT 'robots_never_due', o.run, count(*), min(o.origin) FROM robots AS o JOIN run AS r ON r.id = o.run
WHERE o.state = 'wanted' AND o.source IS NULL AND o.ended IS NULL AND r.stop_reason IS NOT 'finished'
    AND EXISTS (SELECT 1 FROM entry AS e WHERE e.run = o.run AND e.origin = o.id AND e.due_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.run = o.run AND e.origin = o.id AND e.due_at IS NOT NULL AND e.purpose = 1)
    AND NOT EXISTS (SELECT 1 FROM run_host AS rh WHERE rh.run = o.run AND rh.host = o.host AND rh.given_up <> 0)
GROUP BY o.run;

-- name: sound_counters
-- What a run has counted batch by batch against the rows that are there (R-7.1).
WITH kept AS (
    SELECT id, CASE WHEN json_valid(counters) THEN counters ELSE '{}' END AS c FROM run WHERE pruned_at IS NULL
), pair AS (
    SELECT id, 'entries' AS what, coalesce(c ->> '$.admitted', 0) AS one,
        (SELECT count(*) FROM entry AS e WHERE e.run = kept.id) AS other FROM kept
    UNION ALL SELECT id, 'refusals', coalesce(c ->> '$.refused', 0) - coalesce(c ->> '$.promoted', 0),
        (SELECT count(*) FROM refusal AS f WHERE f.run = kept.id AND NOT EXISTS (
            SELECT 1 FROM entry AS e WHERE e.run = f.run AND e.host = f.host AND e.purpose = f.purpose AND e.hash = f.hash
                AND substr(e.href, 1, length(f.href)) = f.href)) FROM kept
    UNION ALL SELECT id, 'not listed', coalesce(c ->> '$.unlisted', 0),
        (SELECT coalesce(sum(count), 0) FROM refusal_count AS u WHERE u.run = kept.id) FROM kept
    UNION ALL SELECT id, 'endings', (SELECT coalesce(sum(value), 0) FROM json_each(c, '$.endings')),
        (SELECT count(*) FROM entry AS e WHERE e.run = kept.id AND e.kind IS NOT NULL) FROM kept
    UNION ALL SELECT id, 'requests', coalesce(c ->> '$.requests', 0),
        (SELECT coalesce(sum(attempts), 0) FROM entry AS e WHERE e.run = kept.id) FROM kept
)
SELECT 'counters', id, abs(one - other), what || ': ' || one || ' / ' || other FROM pair WHERE one <> other;

-- name: sound_runs
SELECT 'counters_unreadable', id, 1, substr(counters, 1, 40) FROM run WHERE NOT json_valid(counters)
UNION ALL SELECT 'books_missing', id, 1, state FROM run WHERE state IN ('done', 'stopped') AND books IS NULL
UNION ALL SELECT 'books_unbalanced', id, json_array_length(books, '$.faults'), coalesce(books ->> '$.faults[0]', '') FROM run
    WHERE json_valid(books) AND books ->> '$.balanced' = 0
UNION ALL SELECT 'config_missing', id, 1, config FROM run WHERE config NOT IN (SELECT hash FROM config)
UNION ALL SELECT 'crawl_missing', id, 1, crawl FROM run WHERE crawl NOT IN (SELECT id FROM crawl)
UNION ALL SELECT 'dates', id, 1, 'run ended before it began' FROM run WHERE ended_at < started_at;

-- name: sound_finished
-- A run that finished left nothing undone.
SELECT 'finished_undone', e.run, count(*), min(e.href) FROM ending AS e JOIN run AS r ON r.id = e.run
WHERE r.state = 'done' AND r.stop_reason = 'finished' AND e.end_kind = 'abandoned' AND e.end_reason = 'stopped' GROUP BY e.run;

-- name: sound_responses
-- Of a pruned run some stay alone, for later runs that take them over (R-8.4).
SELECT 'response_alone', x.run, count(*), '' FROM response AS x
WHERE x.run NOT IN (SELECT id FROM run WHERE pruned_at IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.run = x.run AND e.host = x.host AND e.purpose = x.purpose AND e.hash = x.hash)
GROUP BY x.run;

-- name: sound_dates
-- ?1 is a day from now, ?2 a year from now.
SELECT 'dates', run, count(*), 'due ' || min(href) FROM entry WHERE due_at > ?2 GROUP BY run HAVING count(*) > 0
UNION ALL SELECT 'dates', NULL, count(*), 'next request to ' || min(name) FROM host WHERE next_at > ?2 HAVING count(*) > 0
UNION ALL SELECT 'dates', NULL, count(*), 'history of ' || min(href) FROM page
    WHERE last_fetched > ?1 OR asked_at > ?1 OR first_seen > ?1 HAVING count(*) > 0;

-- name: sound_outlinks
-- The outlinks of the history, in key order.
SELECT crawl, host, hash, href, outlinks, last_run FROM page
WHERE (crawl, host, hash) > (?, ?, ?) AND outlinks IS NOT NULL ORDER BY crawl, host, hash LIMIT 500;

-- name: sound_leases
SELECT count(*), coalesce(group_concat(DISTINCT run), '') FROM lease;

-- name: sound_unfinished
-- Runs that a resume would take up: the newest of each crawl, unless it finished.
SELECT r.id, w.name FROM run AS r JOIN crawl AS w ON w.id = r.crawl
WHERE (r.state <> 'done' OR r.stop_reason LIKE 'limit:%') AND r.id = (SELECT max(l.id) FROM run AS l WHERE l.crawl = r.crawl)
ORDER BY r.id;
