-- What became of the URLs between two runs, laid out for looking at it: a file of its own beside the store, in pages by key.

-- name: contrast_begin
-- Nothing here is worth a sync: the file is made anew when it is lost.
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE pair (
    id INTEGER PRIMARY KEY,                     -- the place of a URL: by host and address
    class TEXT NOT NULL,                        -- difference.Difference
    told TEXT NOT NULL                          -- JSON of what both runs know of it
);
CREATE TABLE tally (told TEXT NOT NULL);        -- JSON of the counts

-- name: contrast_add
INSERT INTO pair (class, told) VALUES (?, ?);

-- name: contrast_end
CREATE INDEX pair_class ON pair (class, id);

-- name: contrast_count
INSERT INTO tally (told) VALUES (?);

-- name: contrast_tally
SELECT told FROM tally;

-- name: contrast_page
SELECT id, told FROM pair WHERE class = ? AND id > ? ORDER BY id LIMIT ?;

-- name: contrast_page_before
SELECT id, told FROM pair WHERE class = ? AND id < ? ORDER BY id DESC LIMIT ?;
