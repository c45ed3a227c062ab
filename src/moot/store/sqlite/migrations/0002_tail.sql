-- Version 2. A commit adds to the ends of two tables, whatever it is about; what makes events
-- findable is filed later, much at once. `tail.py` says how both are read together.

-- Where each filed event stands.
CREATE TABLE places (
  stream INTEGER NOT NULL,             -- streams.number
  seq    INTEGER NOT NULL,
  event  INTEGER NOT NULL,             -- events.id
  PRIMARY KEY (stream, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO places (stream, seq, event) SELECT stream, seq, id FROM events ORDER BY stream, seq;

-- One row: the last event that is filed.
CREATE TABLE filed (event INTEGER NOT NULL) STRICT;
INSERT INTO filed (event) SELECT coalesce(max(id), 0) FROM events;

-- What the events since then say to the indexes, a commit each.
CREATE TABLE unfiled (
  event INTEGER PRIMARY KEY,           -- the last one of the commit
  says  BLOB    NOT NULL
) STRICT;

INSERT INTO index_words (space, key, text) SELECT space, key, text FROM waiting_words ORDER BY id;
DROP TABLE waiting_words;

-- The events as they are, without an index of their own.
CREATE TABLE same_events (
  id     INTEGER PRIMARY KEY,          -- counts from 1 without a gap
  stream INTEGER NOT NULL,
  seq    INTEGER NOT NULL,
  kid    TEXT    NOT NULL,
  body   BLOB    NOT NULL,             -- the exact signed bytes
  sig    BLOB    NOT NULL,
  key    TEXT
) STRICT;
INSERT INTO same_events SELECT id, stream, seq, kid, body, sig, key FROM events ORDER BY id;
DROP TABLE events;
ALTER TABLE same_events RENAME TO events;
CREATE INDEX events_key ON events (stream, key, seq) WHERE key IS NOT NULL;

CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
-- REPLACE deletes without asking the trigger above. An older moot that still runs gives no id, and
-- would say nothing to the indexes.
CREATE TRIGGER events_once BEFORE INSERT ON events
WHEN NEW.id <= (SELECT coalesce(max(id), 0) FROM events)
  OR EXISTS (SELECT 1 FROM places WHERE stream = NEW.stream AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'events are never replaced'); END;
