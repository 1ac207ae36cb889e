// The schema of a store file, version 1.

/// What makes a file a store of this library.
enum Schema {
  /// "Seln", in the header of the file.
  static let applicationID: UInt32 = 0x5365_6C6E
  static let version: Int32 = 1

  /// Instants and spans are ns; text is UTF-8; numbers are those of selene.h.
  static let create: StaticString = """
    PRAGMA application_id = 1399155822;
    PRAGMA user_version = 1;
    CREATE TABLE scheduler (
      one              INTEGER PRIMARY KEY CHECK (one = 1),
      life             INTEGER NOT NULL CHECK (life >= 0),
      last_sequence    INTEGER NOT NULL CHECK (last_sequence >= 0),
      last_seen        INTEGER NOT NULL,
      last_refresh     INTEGER,
      last_processing  INTEGER,
      generator        INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE task (
      sequence          INTEGER PRIMARY KEY CHECK (sequence > 0),
      id                TEXT    NOT NULL CHECK (id <> ''),
      handler           TEXT    NOT NULL CHECK (handler <> ''),
      tags              BLOB    NOT NULL,
      input             BLOB    NOT NULL,
      kind              INTEGER NOT NULL CHECK (kind IN (1, 2)),
      schedule          INTEGER NOT NULL CHECK (schedule IN (0, 1, 2)),
      priority          INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 5),
      existing          INTEGER NOT NULL CHECK (existing BETWEEN 0 AND 4),
      recurrence        INTEGER NOT NULL CHECK (recurrence IN (0, 1)),
      backoff           INTEGER NOT NULL CHECK (backoff IN (0, 1, 2)),
      response_window   INTEGER NOT NULL CHECK (response_window BETWEEN 0 AND 30),
      max_attempts      INTEGER NOT NULL CHECK (max_attempts >= 0),
      constraints       INTEGER NOT NULL CHECK (constraints BETWEEN 0 AND 3),
      expected_response INTEGER NOT NULL CHECK (expected_response >= 0),
      initial_delay     INTEGER NOT NULL CHECK (initial_delay >= 0),
      period            INTEGER NOT NULL CHECK (period >= 0),
      flex              INTEGER NOT NULL CHECK (flex BETWEEN 0 AND period),
      backoff_delay     INTEGER NOT NULL CHECK (backoff_delay >= 0),
      state             INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
      attempts          INTEGER NOT NULL CHECK (attempts >= 0),
      generation        INTEGER NOT NULL CHECK (generation >= 0),
      last_outcome      INTEGER CHECK (last_outcome BETWEEN 0 AND 5),
      stop_reason       INTEGER NOT NULL CHECK (stop_reason BETWEEN 0 AND 7),
      registered_at     INTEGER NOT NULL,
      earliest_begin    INTEGER NOT NULL,
      anchor            INTEGER NOT NULL,
      period_base       INTEGER,
      last_run          INTEGER NOT NULL,
      changed_at        INTEGER NOT NULL,
      response_times    BLOB    NOT NULL CHECK (length(response_times) % 8 = 0)
    ) STRICT;
    INSERT INTO scheduler VALUES (1, 0, 0, -9223372036854775808, NULL, NULL, 0);
    """

  static let insert: StaticString = """
    INSERT OR REPLACE INTO task VALUES
    (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
    """
  /// The same table without a condition, for what is saved from a damaged file; what came first stays.
  static let createLoose: StaticString = """
    CREATE TABLE task (sequence INTEGER PRIMARY KEY, id, handler, tags, input, kind, schedule, priority, existing,
      recurrence, backoff, response_window, max_attempts, constraints, expected_response, initial_delay, period, flex,
      backoff_delay, state, attempts, generation, last_outcome, stop_reason, registered_at, earliest_begin, anchor,
      period_base, last_run, changed_at, response_times)
    """
  static let insertLoose: StaticString = """
    INSERT OR IGNORE INTO task VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
    """
  static let update: StaticString = """
    UPDATE task SET state=?2, attempts=?3, generation=?4, last_outcome=?5, stop_reason=?6, registered_at=?7,
    earliest_begin=?8, anchor=?9, period_base=?10, last_run=?11, changed_at=?12, response_times=?13 WHERE sequence=?1
    """
  static let delete: StaticString = "DELETE FROM task WHERE sequence=?1"
  static let deleteAll: StaticString = "DELETE FROM task"
  static let writeState: StaticString = """
    UPDATE scheduler SET life=?1, last_sequence=?2, last_seen=?3, last_refresh=?4, last_processing=?5, generator=?6
    """
  static let readState: StaticString =
    "SELECT life, last_sequence, last_seen, last_refresh, last_processing, generator FROM scheduler"
  static let readTasks: StaticString = "SELECT * FROM task ORDER BY sequence"
}
