-- Version 1. The truth is `events`; everything else but the two side tables can be made from it.

CREATE TABLE ledger (
  version  integer NOT NULL,           -- of this schema
  writes   bigint  NOT NULL            -- counts commits: a reader that waits polls it
);
INSERT INTO ledger VALUES (1, 0);

CREATE TABLE streams (
  number     bigint PRIMARY KEY,       -- order of creation, from 0
  name       bytea  NOT NULL UNIQUE,
  seq        bigint NOT NULL,          -- the head
  hash       bytea  NOT NULL,
  noted_seq  bigint NOT NULL DEFAULT -1,   -- the head in the newest checkpoint
  noted_hash bytea  NOT NULL DEFAULT ''
);

CREATE TABLE events (
  id     bigint PRIMARY KEY,           -- counts from 1 without a gap
  stream bigint NOT NULL,              -- streams.number
  seq    bigint NOT NULL,
  kid    bytea  NOT NULL,
  body   bytea  NOT NULL,              -- the exact signed bytes
  sig    bytea  NOT NULL,
  key    bytea,
  UNIQUE (stream, seq)
);
CREATE INDEX events_key ON events (stream, key, seq) WHERE key IS NOT NULL;

CREATE FUNCTION events_stay() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'events are never changed or deleted'; END $$;
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events
FOR EACH ROW EXECUTE FUNCTION events_stay();
CREATE TRIGGER events_remain BEFORE TRUNCATE ON events
FOR EACH STATEMENT EXECUTE FUNCTION events_stay();

CREATE FUNCTION ledger_has_moved() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'this ledger has moved elsewhere'; END $$;

-- A second record that was signed for a taken position: kept as proof.
CREATE TABLE forks (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream bytea  NOT NULL,
  seq    bigint NOT NULL,
  kid    bytea  NOT NULL,
  body   bytea  NOT NULL,
  sig    bytea  NOT NULL,
  UNIQUE (stream, seq, sig)
);

CREATE TABLE snapshots (
  stream  bytea  PRIMARY KEY,
  seq     bigint NOT NULL,
  hash    bytea  NOT NULL,
  machine bytea  NOT NULL,
  state   bytea  NOT NULL,
  sig     bytea  NOT NULL
);

CREATE TABLE index_rows (
  space  bytea  NOT NULL,
  key    bytea  NOT NULL,
  value  bytea  NOT NULL,
  stream bytea  NOT NULL,
  seq    bigint NOT NULL,
  PRIMARY KEY (space, key)
);

CREATE TABLE index_words (
  id    bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space bytea   NOT NULL,
  key   bytea   NOT NULL,
  text  bytea   NOT NULL,
  words bytea[] NOT NULL               -- split by moot, independent of the server's languages
);
CREATE INDEX index_words_found ON index_words USING gin (words);

CREATE TABLE notes (
  number bigint PRIMARY KEY,
  note   bytea  NOT NULL
);

-- Complete subtrees of the head tree, as of the newest checkpoint.
CREATE TABLE nodes (
  level integer NOT NULL,
  place bigint  NOT NULL,
  hash  bytea   NOT NULL,
  PRIMARY KEY (level, place)
);

-- The two side tables, which a rebuild keeps.
CREATE TABLE heartbeats (
  agent bytea  PRIMARY KEY,
  at    bigint NOT NULL,
  kid   bytea  NOT NULL,
  body  bytea  NOT NULL,
  sig   bytea  NOT NULL
);
CREATE TABLE cursors (
  agent    bytea  NOT NULL,
  name     bytea  NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (agent, name)
);
