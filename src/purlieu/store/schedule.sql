-- Schedules, what became of their due times, and the lease of the keeper (R-8.5). Written beside a crawl, in short transactions.

-- name: add_schedule
INSERT INTO schedule (crawl, cron, created_at, zone, config, grace_seconds, handled_at, public_only)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?3, ?7) RETURNING id;

-- name: remove_schedule
UPDATE schedule SET removed_at = ? WHERE id = ? AND removed_at IS NULL;

-- name: pause_schedule
UPDATE schedule SET paused_at = ? WHERE id = ? AND removed_at IS NULL AND paused_at IS NULL;

-- name: unpause_schedule
-- What was due while it was off is not missed.
UPDATE schedule SET paused_at = NULL, handled_at = max(handled_at, ?) WHERE id = ? AND removed_at IS NULL AND paused_at IS NOT NULL;

-- name: schedules
SELECT s.id, c.name, s.cron, s.zone, s.config, s.grace_seconds, s.handled_at, s.public_only, s.paused_at
FROM schedule AS s JOIN crawl AS c ON c.id = s.crawl WHERE s.removed_at IS NULL ORDER BY s.id;

-- name: handle_schedule
-- A due time was seen to; only one of two keepers changes the row.
UPDATE schedule SET handled_at = ?1 WHERE id = ?2 AND handled_at < ?1 AND removed_at IS NULL;

-- name: anchor_schedule
UPDATE schedule SET handled_at = ? WHERE id = ? AND handled_at = ?;

-- name: add_schedule_event
-- A due time that a clock which was ahead has seen to before comes again; handle_schedule sees to it that it comes once.
INSERT OR REPLACE INTO schedule_event (schedule, due_at, state, at, count, detail) VALUES (?, ?, ?, ?, ?, ?);

-- name: turn_schedule_event
-- From one state to another; whoever finds it in another state has come too late.
UPDATE schedule_event SET state = ?4, at = ?5, run = coalesce(?6, run), detail = ?7
WHERE schedule = ?1 AND due_at = ?2 AND state = ?3;

-- name: open_schedule_events
-- Due times that wait for the store, or whose run was started and has not been seen to end.
SELECT e.schedule, e.due_at, e.state, e.at, c.name, s.cron, s.zone, s.config, s.grace_seconds, s.handled_at, s.public_only,
    coalesce(s.removed_at, s.paused_at)
FROM schedule_event AS e JOIN schedule AS s ON s.id = e.schedule JOIN crawl AS c ON c.id = s.crawl
WHERE e.state IN ('waiting', 'started') ORDER BY e.due_at, e.schedule;

-- name: schedule_events
-- What became of the last due times of a schedule, the newest first.
SELECT due_at, state, at, count, run, detail FROM schedule_event WHERE schedule = ? ORDER BY due_at DESC LIMIT ?;

-- name: take_keeper
-- One keeper at a time: it is taken when it is free, ran out, is one's own, or ends so late that a wrong clock wrote it.
INSERT INTO keeper (id, token, expires_at) VALUES (1, ?1, ?2)
ON CONFLICT (id) DO UPDATE SET token = ?1, expires_at = ?2 WHERE token = ?1 OR expires_at <= ?3 OR expires_at > ?3 + 2 * (?2 - ?3);

-- name: keeper_until
-- The name of the keeper at work, and until when its lease holds.
SELECT token, expires_at FROM keeper;

-- name: leave_keeper
DELETE FROM keeper WHERE token = ?;

-- name: running_crawls
SELECT c.name FROM run AS r JOIN crawl AS c ON c.id = r.crawl WHERE r.state = 'running';

-- name: run_since
-- The first run of a crawl that began at a moment or later, and not in the future, as one that a wrong clock dated.
SELECT r.id, r.state, r.stop_reason FROM run AS r JOIN crawl AS c ON c.id = r.crawl
WHERE c.name = ? AND r.started_at BETWEEN ? AND ? ORDER BY r.id LIMIT 1;

-- name: request_stop
UPDATE run SET stop_requested = 1 WHERE id = ? AND state = 'running';
