-- What looks endless (trap.py).

-- name: report_traps
-- What was not asked for because it looks endless, by host and rule, with how many and the first of them.
SELECT name, rule, sum(number), min(first) FROM (
    SELECT h.name AS name, f.rule AS rule, count(*) AS number, min(f.href) AS first
    FROM refusal AS f JOIN host AS h ON h.id = f.host
    WHERE f.run = ? AND f.reason = 'trap' GROUP BY h.name, f.rule
    UNION ALL
    SELECT h.name, e.rule, count(*), min(e.href) FROM entry AS e JOIN host AS h ON h.id = e.host
    WHERE e.run = ? AND e.kind = 'excluded' AND e.reason = 'trap' GROUP BY h.name, e.rule
) GROUP BY name, rule ORDER BY name, rule;

-- name: hosts_with_pages
-- The hosts of a registrable domain that a run has taken pages of: the domain itself, and names below it.
SELECT count(*) FROM run_host AS rh JOIN host AS h ON h.id = rh.host
WHERE rh.run = ? AND rh.pages > 0 AND (h.name = ? OR substr(h.name, -length(?)) = ?);
