-- Pages that say the same (R-9.3). A page counts that was fetched or stands unchanged.

-- name: report_equal_digests
SELECT x.digest, count(*) AS pages, min(e.href) AS first
FROM response AS x
JOIN entry AS e ON e.run = x.run AND e.host = x.host AND e.purpose = x.purpose AND e.hash = x.hash
WHERE x.run = ? AND x.purpose = 0 AND x.digest IS NOT NULL AND e.kind IN ('fetched', 'unchanged')
GROUP BY x.digest HAVING count(*) > 1 ORDER BY pages DESC, first;

-- name: report_pages_with_digest
SELECT e.href
FROM response AS x
JOIN entry AS e ON e.run = x.run AND e.host = x.host AND e.purpose = x.purpose AND e.hash = x.hash
WHERE x.run = ? AND x.purpose = 0 AND x.digest = ? AND e.kind IN ('fetched', 'unchanged')
ORDER BY e.href LIMIT ?;

-- name: report_sketches
-- One page of each digest, in key order.
SELECT host, hash, sketch FROM (
    SELECT s.host, s.hash, s.sketch, row_number() OVER (PARTITION BY x.digest ORDER BY e.href) AS place
    FROM sketch AS s
    JOIN entry AS e ON e.run = s.run AND e.host = s.host AND e.purpose = 0 AND e.hash = s.hash
    JOIN response AS x ON x.run = s.run AND x.host = s.host AND x.purpose = 0 AND x.hash = s.hash
    WHERE s.run = ? AND e.kind IN ('fetched', 'unchanged')
) WHERE place = 1 ORDER BY host, hash;

-- name: report_href_of
SELECT href FROM entry WHERE run = ? AND host = ? AND purpose = 0 AND hash = ?;

-- name: put_sketch
INSERT OR REPLACE INTO sketch (run, host, hash, sketch) VALUES (?, ?, ?, ?);
