-- Crawls as their owner keeps them: made, edited, removed. Written beside a run, in short transactions.

-- name: kept_settings
-- The settings that are kept for a crawl, and their hash; no row where there are none.
SELECT k.toml, k.hash FROM crawl AS c JOIN config AS k ON k.hash = c.config WHERE c.name = ?;

-- name: make_crawl
INSERT OR IGNORE INTO crawl (name, config) VALUES (?, ?) RETURNING id;

-- name: keep_settings
-- Only where they are still those that the editor began with ("": none).
UPDATE crawl SET config = ?1 WHERE id = ?2 AND coalesce(config, '') = ?3 AND removed_at IS NULL;

-- name: remove_crawl
-- Its name is free from now on: no crawl's own has a slash. A crawl with a run under way stays.
UPDATE crawl SET removed_at = ?1, name = '/' || id WHERE id = ?2 AND removed_at IS NULL
    AND (?3 OR NOT EXISTS (SELECT 1 FROM run WHERE crawl = ?2 AND state = 'running'));

-- name: remove_schedules_of
UPDATE schedule SET removed_at = ?1 WHERE crawl = ?2 AND removed_at IS NULL;

-- name: crawl_extent
-- What would be lost with a crawl: its runs, the pages of its history, its schedules.
SELECT (SELECT count(*) FROM run WHERE crawl = ?1), (SELECT count(*) FROM page WHERE crawl = ?1),
    (SELECT count(*) FROM schedule WHERE crawl = ?1 AND removed_at IS NULL);
