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

-- name: soft_404_counts
-- Pages with the text of a page that cannot be there, by their endings.
SELECT e.kind, e.reason, count(*)
FROM entry AS e JOIN response AS x ON x.run = e.run AND x.host = e.host AND x.purpose = 0 AND x.hash = e.hash
WHERE e.run = ?1 AND e.purpose = 0 AND e.kind IN ('fetched', 'unchanged') AND (e.host, x.digest) IN (
    SELECT p.host, y.digest
    FROM entry AS p JOIN response AS y ON y.run = p.run AND y.host = p.host AND y.purpose = 0 AND y.hash = p.hash
    WHERE p.run = ?1 AND p.purpose = 0 AND p.granted = 'probe')
GROUP BY e.kind, e.reason;

-- name: end_soft_404
UPDATE entry SET kind = 'missing', reason = 'soft_404'
WHERE run = ?1 AND purpose = 0 AND kind IN ('fetched', 'unchanged') AND (host, hash) IN (
    SELECT x.host, x.hash FROM response AS x WHERE x.run = ?1 AND x.purpose = 0 AND (x.host, x.digest) IN (
        SELECT p.host, y.digest
        FROM entry AS p JOIN response AS y ON y.run = p.run AND y.host = p.host AND y.purpose = 0 AND y.hash = p.hash
        WHERE p.run = ?1 AND p.purpose = 0 AND p.granted = 'probe'));
