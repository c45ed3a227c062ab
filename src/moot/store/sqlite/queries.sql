-- One query a name; `pending_index.py` reads this file. A value that is needed twice is given twice: a
-- numbered place is a named one for some Pythons, which take no sequence of values for it.

-- name: head
-- A stream's newest event.
SELECT number, seq, hash FROM streams WHERE name = ?;

-- name: streams
-- All heads in order of creation.
SELECT name, number, seq, hash FROM streams ORDER BY number;

-- name: filed_records
-- A stream's events after a position, where all are filed.
SELECT p.seq, e.kid, e.body, e.sig FROM places p JOIN events e ON e.id = p.event
WHERE p.stream = (SELECT number FROM streams WHERE name = ?) AND p.seq > ? ORDER BY p.seq;

-- name: records
-- A stream's events after a position: filed ones, then, behind an event, those that are not.
SELECT p.seq, e.kid, e.body, e.sig FROM places p JOIN events e ON e.id = p.event
WHERE p.stream = (SELECT number FROM streams WHERE name = ?) AND p.seq > ?
UNION ALL
SELECT seq, kid, body, sig FROM events
WHERE id > ? AND stream = (SELECT number FROM streams WHERE name = ?) AND seq > ?
ORDER BY 1;

-- name: records_after
-- Events of all streams in the order of their commits.
SELECT s.name, e.seq, e.kid, e.body, e.sig FROM events e CROSS JOIN streams s ON s.number = e.stream
WHERE e.id > ? ORDER BY e.id LIMIT ?;

-- name: keys
-- Idempotency keys from one text up to, not including, another.
SELECT e.key, e.seq FROM events e JOIN streams s ON s.number = e.stream
WHERE s.name = ? AND e.key >= ? AND e.key < ? ORDER BY e.key, e.seq;

-- name: add_stream
-- A stream at its first event.
INSERT INTO streams (number, name, seq, hash)
VALUES ((SELECT coalesce(max(number) + 1, 0) FROM streams), ?, -1, x'') RETURNING number;

-- name: add_event
-- One sealed record; the number 0 stands for no key.
INSERT INTO events (id, stream, seq, kid, body, sig, key) VALUES (?, ?, ?, ?, ?, ?, nullif(?, 0));

-- name: filed
-- The last event that is filed.
SELECT event FROM filed;

-- name: newest_event
-- The last event there is.
SELECT coalesce(max(id), 0) FROM events;

-- name: is_placed
-- Whether an event stands in its place.
SELECT 1 FROM events e JOIN places p ON p.stream = e.stream AND p.seq = e.seq
WHERE e.id = ? AND p.event = e.id;

-- name: late_events
-- Where later events belong; the outer table is the left one.
SELECT e.id, s.name, e.stream, e.seq FROM events e CROSS JOIN streams s ON s.number = e.stream
WHERE e.id > ? ORDER BY e.id;

-- name: unfiled
-- What later commits say to the indexes.
SELECT event, says FROM unfiled WHERE event > ? ORDER BY event;

-- name: add_unfiled
-- What one commit says to them.
INSERT INTO unfiled (event, says) VALUES (?, ?);

-- name: file_places
-- Where the events since the last filing stand.
INSERT INTO places (stream, seq, event)
SELECT stream, seq, id FROM events WHERE id > (SELECT event FROM filed) ORDER BY stream, seq;

-- name: place_filed
-- Where all events that are filed stand; for a table that was lost.
INSERT INTO places (stream, seq, event)
SELECT stream, seq, id FROM events WHERE id <= (SELECT event FROM filed) ORDER BY stream, seq;

-- name: all_events
-- Every event, stream by stream, without the help of any index.
SELECT e.stream, s.name, e.seq, e.kid, e.body, e.sig
FROM events e LEFT JOIN streams s ON s.number = e.stream ORDER BY e.stream, e.seq, e.id;

-- name: mark_filed
-- That everything up to an event is filed.
UPDATE filed SET event = ?;

-- name: move_head
-- A stream's newest event, which no checkpoint pins yet.
UPDATE streams SET seq = ?, hash = ?, moved = 1 WHERE number = ?;

-- name: snapshot
-- The state kept for a stream.
SELECT stream, seq, hash, machine, state, sig FROM snapshots WHERE stream = ?;

-- name: put_snapshot
-- Replace the state kept for a stream.
INSERT OR REPLACE INTO snapshots (stream, seq, hash, machine, state, sig) VALUES (?, ?, ?, ?, ?, ?);

-- name: drop_snapshot
-- Forget the state kept for a stream.
DELETE FROM snapshots WHERE stream = ?;

-- name: row
-- One index row.
SELECT key, value, stream, seq FROM index_rows WHERE space = ? AND key = ?;

-- name: rows
-- Index rows of a space from one key up to, not including, another.
SELECT key, value, stream, seq FROM index_rows
WHERE space = ? AND key >= ? AND key < ? AND key > ? ORDER BY key LIMIT ?;

-- name: values
-- What every index row of a space says.
SELECT key, value FROM index_rows WHERE space = ?;

-- name: all_rows
-- Every index row.
SELECT space, key, value, stream, seq FROM index_rows;

-- name: all_words
-- Every findable text.
SELECT space, key, text FROM index_words;

-- name: all_snapshots
-- Every state kept.
SELECT stream, seq, hash, machine, state, sig FROM snapshots;

-- name: put_row
-- Set an index row.
INSERT OR REPLACE INTO index_rows (space, key, value, stream, seq) VALUES (?, ?, ?, ?, ?);

-- name: drop_row
-- Remove an index row.
DELETE FROM index_rows WHERE space = ? AND key = ?;

-- name: put_words
-- Make a text findable.
INSERT INTO index_words (space, key, text) VALUES (?, ?, ?);

-- name: search
-- Keys whose text holds all words, best first.
SELECT rank, key FROM index_words WHERE index_words MATCH ? AND space = ?
ORDER BY rank, rowid LIMIT ?;

-- name: heartbeat
-- An agent's latest sign of life.
SELECT agent, at, kid, body, sig FROM heartbeats WHERE agent = ?;

-- name: heartbeats
-- Everyone's latest sign of life.
SELECT agent, at, kid, body, sig FROM heartbeats ORDER BY agent;

-- name: heartbeats_since
-- The latest signs of life that are not older than a time.
SELECT agent, at, kid, body, sig FROM heartbeats WHERE at >= ? ORDER BY agent;

-- name: heartbeat_times
-- Of when everyone's latest sign of life is.
SELECT agent, at FROM heartbeats;

-- name: put_heartbeat
-- Keep a sign of life instead of the last.
INSERT OR REPLACE INTO heartbeats (agent, at, kid, body, sig) VALUES (?, ?, ?, ?, ?);

-- name: cursor
-- How far an agent has been served.
SELECT position FROM cursors WHERE agent = ? AND name = ?;

-- name: all_cursors
-- How far everyone has been served.
SELECT agent, name, position FROM cursors ORDER BY agent, name;

-- name: all_notes
-- Every checkpoint, the oldest first.
SELECT note FROM notes ORDER BY number;

-- name: put_cursor
-- Move a delivery cursor.
INSERT OR REPLACE INTO cursors (agent, name, position) VALUES (?, ?, ?);

-- name: note
-- The newest checkpoint.
SELECT note FROM notes ORDER BY number DESC LIMIT 1;

-- name: add_note
-- One more checkpoint.
INSERT INTO notes (number, note) VALUES ((SELECT coalesce(max(number) + 1, 0) FROM notes), ?);

-- name: note_head
-- What the newest checkpoint pins of one stream.
SELECT number, noted_seq, noted_hash FROM streams WHERE name = ? AND noted_seq >= 0;

-- name: note_heads
-- What the newest checkpoint pins.
SELECT name, number, noted_seq, noted_hash FROM streams WHERE noted_seq >= 0 ORDER BY number;

-- name: stale_heads
-- What has moved since; the mark alone could have been taken away.
SELECT name, number, seq, hash FROM streams
WHERE moved = 1 OR seq != noted_seq OR hash != noted_hash ORDER BY number;

-- name: pin_head
-- Remember what a checkpoint pins.
UPDATE streams SET noted_seq = ?, noted_hash = ?, moved = seq != ? WHERE number = ?;

-- name: node
-- A node of the head tree.
SELECT hash FROM nodes WHERE level = ? AND place = ?;

-- name: all_nodes
-- Every node of the head tree.
SELECT level, place, hash FROM nodes;

-- name: put_node
-- Set a node of the head tree.
INSERT OR REPLACE INTO nodes (level, place, hash) VALUES (?, ?, ?);

-- name: counts
-- How much there is.
SELECT count(*), coalesce(sum(seq + 1), 0)
  + (SELECT count(*) FROM events WHERE id > (SELECT event FROM filed)) FROM streams;

-- name: nowhere
-- How many events are said to be filed and have no place.
SELECT count(*) FROM events e WHERE e.id <= (SELECT event FROM filed) AND NOT EXISTS (
  SELECT 1 FROM places p WHERE p.stream = e.stream AND p.seq = e.seq AND p.event = e.id);

-- name: forks
-- Second records for taken positions.
SELECT stream, seq, kid, body, sig FROM forks ORDER BY id;

-- name: keep_fork
-- Keep one, once.
INSERT OR IGNORE INTO forks (stream, seq, kid, body, sig) VALUES (?, ?, ?, ?, ?);
