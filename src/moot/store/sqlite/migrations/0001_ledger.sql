-- Version 1. The truth is `events`; everything else but the two side tables can be made from it.

CREATE TABLE streams (
  number INTEGER PRIMARY KEY,          -- order of creation, from 0
  name   TEXT    NOT NULL UNIQUE,
  seq    INTEGER NOT NULL,             -- the head
  hash   BLOB    NOT NULL,
  noted_seq  INTEGER NOT NULL DEFAULT -1,   -- the head in the newest checkpoint
  noted_hash BLOB    NOT NULL DEFAULT x'',
  moved      INTEGER NOT NULL DEFAULT 1     -- seq != noted_seq; its index is touched once, not
) STRICT;                                   -- with every event
CREATE INDEX streams_moved ON streams (number) WHERE moved = 1;

-- A rowid table: inserts go to the end of the file however many chains are interleaved.
CREATE TABLE events (
  id     INTEGER PRIMARY KEY,
  stream INTEGER NOT NULL,             -- streams.number
  seq    INTEGER NOT NULL,
  kid    TEXT    NOT NULL,
  body   BLOB    NOT NULL,             -- the exact signed bytes
  sig    BLOB    NOT NULL,
  key    TEXT,
  UNIQUE (stream, seq)
) STRICT;
CREATE INDEX events_key ON events (stream, key, seq) WHERE key IS NOT NULL;

CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
-- REPLACE deletes without asking the trigger above.
CREATE TRIGGER events_once BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE stream = NEW.stream AND seq = NEW.seq)
  OR EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'events are never replaced'); END;

-- A second record signed for a position that is taken: kept as proof.
CREATE TABLE forks (
  id     INTEGER PRIMARY KEY,
  stream TEXT    NOT NULL,
  seq    INTEGER NOT NULL,
  kid    TEXT    NOT NULL,
  body   BLOB    NOT NULL,
  sig    BLOB    NOT NULL,
  UNIQUE (stream, seq, sig)
) STRICT;

CREATE TABLE snapshots (
  stream  TEXT    PRIMARY KEY,
  seq     INTEGER NOT NULL,
  hash    BLOB    NOT NULL,
  machine TEXT    NOT NULL,
  state   BLOB    NOT NULL,
  sig     BLOB    NOT NULL
) STRICT;

CREATE TABLE index_rows (
  space  TEXT    NOT NULL,
  key    TEXT    NOT NULL,
  value  BLOB    NOT NULL,
  stream TEXT    NOT NULL,
  seq    INTEGER NOT NULL,
  PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE index_words USING fts5 (space UNINDEXED, key UNINDEXED, text);
-- Texts on their way there: one by one they cost more than their events, many at once little.
CREATE TABLE waiting_words (
  id    INTEGER PRIMARY KEY,
  space TEXT NOT NULL,
  key   TEXT NOT NULL,
  text  TEXT NOT NULL
) STRICT;

CREATE TABLE notes (
  number INTEGER PRIMARY KEY,
  note   TEXT NOT NULL
) STRICT;

-- Complete subtrees of the head tree, as of the newest checkpoint.
CREATE TABLE nodes (
  level INTEGER NOT NULL,
  place INTEGER NOT NULL,
  hash  BLOB    NOT NULL,
  PRIMARY KEY (level, place)
) STRICT, WITHOUT ROWID;

-- The two side tables, which a rebuild keeps.
CREATE TABLE heartbeats (
  agent TEXT    PRIMARY KEY,
  at    INTEGER NOT NULL,
  kid   TEXT    NOT NULL,
  body  BLOB    NOT NULL,
  sig   BLOB    NOT NULL
) STRICT;
CREATE TABLE cursors (
  agent    TEXT    NOT NULL,
  name     TEXT    NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (agent, name)
) STRICT, WITHOUT ROWID;
