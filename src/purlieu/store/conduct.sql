-- How hosts were treated, for the report of politeness. It is written by put_conduct in frontier.sql.

-- name: report_conduct
SELECT h.name, c.grouped, c.rule, c.gap_seconds, c.rest_seconds, c.connections, c.most_connections,
    rh.requests, c.least_gap, c.least_rest, c.least_slack, c.retry_afters, c.longest_retry_after, c.least_retry_slack,
    c.most_backoff, c.robots_retries, rh.failures, c.given_up,
    (SELECT min(o.certificate_ends_at) FROM robots AS o WHERE o.run = c.run AND o.host = c.host)
FROM conduct AS c
JOIN host AS h ON h.id = c.host
JOIN run_host AS rh ON rh.run = c.run AND rh.host = c.host
WHERE c.run = ? AND rh.requests > 0 ORDER BY h.name;
