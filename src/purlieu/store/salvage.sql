-- What puts saved rows into a new store and makes them hold together again; used by store/sqlite/salvage.py and store/mending.py.

-- name: salvage_put
-- Names of table and columns come from the schema. What breaks a rule of the schema, or stands there already, is left out.
INSERT OR IGNORE INTO :table (:columns) VALUES (:values);

-- name: salvage_tables
SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid;

-- name: salvage_columns
-- In the order of a record: the key first where there is no rowid.
SELECT name, type, "notnull" OR pk > 0, pk FROM pragma_table_info(?)
ORDER BY CASE WHEN (SELECT wr FROM pragma_table_list(?1)) AND pk > 0 THEN pk ELSE 1000 + cid END;

-- name: salvage_has_rowid
SELECT NOT wr FROM pragma_table_list(?);

-- name: mend_runs
-- Entries whose run was lost, by run.
SELECT run, coalesce(min(ended_at), 0) FROM entry WHERE run NOT IN (SELECT id FROM run) GROUP BY run;

-- name: mend_add_run
INSERT INTO run (id, crawl, config, version, state, stop_reason, started_at) VALUES (?, ?, ?, '', 'failed', 'system:damaged', ?);

-- name: mend_crawls
-- Crawls that were lost.
SELECT crawl FROM run WHERE crawl NOT IN (SELECT id FROM crawl) UNION SELECT crawl FROM page WHERE crawl NOT IN (SELECT id FROM crawl);

-- name: mend_crawl_ids
SELECT id FROM crawl;

-- name: mend_crawl_settings
-- Where its name stands too.
SELECT c.toml FROM run AS r JOIN config AS c ON c.hash = r.config WHERE r.crawl = ? ORDER BY r.id DESC LIMIT 1;

-- name: mend_add_crawl
INSERT OR IGNORE INTO crawl (id, name) VALUES (?, ?);

-- name: mend_configs
INSERT OR IGNORE INTO config (hash, toml) SELECT config, '' FROM run WHERE config NOT IN (SELECT hash FROM config);

-- name: mend_hosts
-- Hosts that were lost, each with an address of theirs.
SELECT host, min(href) FROM (SELECT host, href FROM entry UNION ALL SELECT host, href FROM refusal WHERE host <> 0
    UNION ALL SELECT host, href FROM page)
WHERE host NOT IN (SELECT id FROM host) GROUP BY host;

-- name: mend_add_host
INSERT OR IGNORE INTO host (id, name) VALUES (?, ?);

-- name: mend_move_host
UPDATE OR IGNORE entry SET host = (SELECT id FROM host WHERE name = ?2) WHERE host = ?1;

-- name: mend_drop_entries
DELETE FROM entry WHERE host = ?;

-- name: mend_drop_refusals
DELETE FROM refusal WHERE host = ?;

-- name: mend_drop_pages
DELETE FROM page WHERE host = ?;

-- name: mend_run_hosts
INSERT OR IGNORE INTO run_host (run, host, pages, requests)
SELECT run, host, sum(purpose = 0), sum(attempts) FROM entry GROUP BY run, host;

-- name: mend_no_hosts
DELETE FROM run_host WHERE host NOT IN (SELECT id FROM host) OR run NOT IN (SELECT id FROM run);

-- name: mend_origins
-- Origins whose robots.txt was lost, each with an address of theirs.
SELECT run, origin, host, min(href) FROM entry AS e
WHERE NOT EXISTS (SELECT 1 FROM robots AS o WHERE o.id = e.origin AND o.run = e.run) GROUP BY run, origin, host;

-- name: mend_add_robots
INSERT OR IGNORE INTO robots (id, run, host, origin) VALUES (?, ?, ?, ?);

-- name: mend_new_robots
-- Its number is another's.
INSERT OR IGNORE INTO robots (run, host, origin) VALUES (?, ?, ?);

-- name: mend_move_origin
-- Where the origin stands under another number already.
UPDATE entry SET origin = (SELECT id FROM robots AS o WHERE o.run = entry.run AND o.origin = ?3) WHERE run = ?1 AND origin = ?2
    AND NOT EXISTS (SELECT 1 FROM robots AS o WHERE o.id = ?2 AND o.run = ?1);

-- name: mend_robots_asked
-- Origins that pages wait for and whose robots.txt nobody would ask for.
SELECT o.run, o.id, o.host, o.origin FROM robots AS o
WHERE o.state = 'wanted' AND o.source IS NULL AND o.ended IS NULL
    AND EXISTS (SELECT 1 FROM entry AS e WHERE e.run = o.run AND e.origin = o.id AND e.due_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.run = o.run AND e.origin = o.id AND e.due_at IS NOT NULL AND e.purpose = 1);

-- name: mend_ask_robots
INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, granted, rule, due_at)
VALUES (?, ?, 1, ?, ?, ?, 0, 0, 0, 'robots', '', 0, 'robots', 'robots', ?)
ON CONFLICT (run, host, purpose, hash) DO UPDATE SET due_at = excluded.due_at, kind = NULL, reason = NULL, detail = NULL,
    status = NULL, redirect_to = NULL, ended_at = NULL;

-- name: mend_ask_again
-- What named addresses that may have been lost: sitemaps and redirects of a run that can go on are asked for once more.
UPDATE entry SET due_at = ?2, kind = NULL, reason = NULL, detail = NULL, status = NULL, redirect_to = NULL, ended_at = NULL
WHERE run = ?1 AND kind IS NOT NULL AND (purpose = 2 OR (purpose = 0 AND redirect_to IS NOT NULL));

-- name: mend_judge_again
-- A resume with other settings judges everything that is stored again, its links too; one line more makes them others.
INSERT OR IGNORE INTO config (hash, toml) SELECT ?2, c.toml || ?3 FROM run AS r JOIN config AS c ON c.hash = r.config WHERE r.id = ?1;

-- name: mend_set_config
UPDATE run SET config = ? WHERE id = ?;

-- name: mend_due
UPDATE run_host SET due_at = (SELECT min(e.due_at) FROM entry AS e
    WHERE e.run = run_host.run AND e.host = run_host.host AND e.due_at IS NOT NULL)
WHERE due_at IS NULL AND given_up = 0 AND run = ?;

-- name: mend_dates_entries
UPDATE entry SET due_at = ?1 WHERE due_at > ?2;

-- name: mend_dates_hosts
UPDATE host SET next_at = ?1 WHERE next_at > ?2;

-- name: mend_dates_pages
UPDATE page SET first_seen = min(?1, first_seen), last_fetched = min(?1, last_fetched), last_changed = min(?1, last_changed),
    asked_at = min(?1, asked_at)
WHERE last_fetched > ?1 OR asked_at > ?1 OR first_seen > ?1;

-- name: mend_dates_runs
UPDATE run SET ended_at = started_at WHERE ended_at < started_at;

-- name: mend_responses
DELETE FROM response WHERE NOT EXISTS (SELECT 1 FROM entry AS e
    WHERE e.run = response.run AND e.host = response.host AND e.purpose = response.purpose AND e.hash = response.hash);

-- name: mend_leases
DELETE FROM lease;

-- name: mend_outlinks
UPDATE page SET outlinks = NULL, digest = NULL, etag = NULL, last_modified = NULL WHERE crawl = ? AND host = ? AND hash = ?;

-- name: mend_run_list
SELECT r.id, w.name, r.state, r.stop_reason, CASE WHEN json_valid(r.counters) THEN r.counters ELSE '{}' END,
    CASE WHEN json_valid(r.books) THEN r.books END, r.pruned_at IS NOT NULL
FROM run AS r JOIN crawl AS w ON w.id = r.crawl ORDER BY r.id;

-- name: mend_count
-- What a run's counters say of the rows that are there.
SELECT (SELECT count(*) FROM entry WHERE run = ?1), (SELECT count(*) FROM refusal AS f WHERE f.run = ?1 AND NOT EXISTS (
        SELECT 1 FROM entry AS e WHERE e.run = f.run AND e.host = f.host AND e.purpose = f.purpose AND e.hash = f.hash
            AND substr(e.href, 1, length(f.href)) = f.href)),
    (SELECT coalesce(sum(count), 0) FROM refusal_count WHERE run = ?1),
    (SELECT coalesce(sum(attempts), 0) FROM entry WHERE run = ?1),
    (SELECT count(*) FROM entry WHERE run = ?1 AND purpose = 0 AND attempts > 0);

-- name: mend_endings
SELECT kind || '.' || reason, count(*) FROM entry WHERE run = ? AND kind IS NOT NULL GROUP BY kind, reason;

-- name: mend_save
UPDATE run SET counters = ?, books = ?, totals = NULL WHERE id = ?;
