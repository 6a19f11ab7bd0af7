-- What is put right when the clock was set back since the store was last written. ?1 by so many seconds, ?2 now, ?3 the run.

-- name: last_written
-- When any run was last written, by the clock of that time.
SELECT max(active_from + active_seconds) FROM run;

-- name: set_back_hosts
UPDATE host SET next_at = max(?2, next_at - ?1) WHERE next_at > ?2;

-- name: set_back_groups
UPDATE host_group SET next_at = max(?2, next_at - ?1), started_at = min(?2, started_at - ?1), ended_at = min(?2, ended_at - ?1)
WHERE next_at > ?2 OR started_at > ?2 OR ended_at > ?2;

-- name: set_back_run_hosts
UPDATE run_host SET due_at = max(?2, due_at - ?1) WHERE run = ?3 AND due_at > ?2;

-- name: set_back_entries
UPDATE entry SET due_at = max(?2, due_at - ?1) WHERE run = ?3 AND due_at > ?2;

-- name: set_back_robots
UPDATE robots SET fetched_at = min(?2, fetched_at - ?1), first_failed_at = min(?2, first_failed_at - ?1)
WHERE run = ?3 AND (fetched_at > ?2 OR first_failed_at > ?2);

-- name: set_back_pages
-- What a history says of the future has happened by now, and before the run that begins now: nobody has asked in it yet.
UPDATE page SET first_seen = min(?1, first_seen), last_fetched = min(?1, last_fetched), last_changed = min(?1, last_changed),
    asked_at = min(?1 - 1, asked_at)
WHERE last_fetched > ?1 OR asked_at > ?1 OR first_seen > ?1;

-- name: set_back_runs
-- Else the same step back would be seen again the next time.
UPDATE run SET active_from = ?1 - active_seconds WHERE active_from + active_seconds > ?1;
