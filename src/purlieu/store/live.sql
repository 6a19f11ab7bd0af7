-- What is asked once a second while somebody looks on at a run.

-- name: busy_hosts
-- The hosts that are leased now, those asked most first.
SELECT h.name, coalesce(rh.requests, 0), coalesce(rh.failures, 0), coalesce(rh.bytes, 0), coalesce(rh.failures_in_a_row, 0)
FROM lease AS l JOIN host AS h ON h.id = l.host LEFT JOIN run_host AS rh ON rh.run = l.run AND rh.host = l.host
WHERE l.run = ?1 AND l.expires_at > ?2 ORDER BY 2 DESC, 1 LIMIT ?3;

-- name: count_busy_hosts
SELECT count(*) FROM lease WHERE run = ? AND expires_at > ?;

-- name: count_waiting_hosts
-- Hosts with something due now or later that nobody holds.
SELECT count(*) FROM run_host AS rh WHERE rh.run = ?1 AND rh.due_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM lease AS l WHERE l.host = rh.host AND l.expires_at > ?2);
