// The schema of a store file, version 1.

/// What makes a file a store of this library.
enum Schema {
  /// "Seln", in the header of the file.
  static let applicationID: UInt32 = 0x5365_6C6E
  static let version: Int32 = 1

  /// Instants and spans are ns; text is UTF-8; numbers are those of selene.h. What a row may hold is checked when it is read,
  /// by its checksum and field by field.
  static let create: StaticString = """
    PRAGMA application_id = 1399155822;
    PRAGMA user_version = 1;
    CREATE TABLE scheduler (
      one              INTEGER PRIMARY KEY CHECK (one = 1),
      life             INTEGER NOT NULL,
      last_sequence    INTEGER NOT NULL,
      last_seen        INTEGER NOT NULL,
      last_refresh     INTEGER,
      last_processing  INTEGER,
      generator        INTEGER NOT NULL,
      checksum         INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE task (
      sequence          INTEGER PRIMARY KEY,
      id                TEXT    NOT NULL,
      handler           TEXT    NOT NULL,
      tags              BLOB    NOT NULL,
      input             BLOB    NOT NULL,
      kind              INTEGER NOT NULL,
      schedule          INTEGER NOT NULL,
      priority          INTEGER NOT NULL,
      existing          INTEGER NOT NULL,
      recurrence        INTEGER NOT NULL,
      backoff           INTEGER NOT NULL,
      response_window   INTEGER NOT NULL,
      max_attempts      INTEGER NOT NULL,
      constraints       INTEGER NOT NULL,
      expected_response INTEGER NOT NULL,
      initial_delay     INTEGER NOT NULL,
      period            INTEGER NOT NULL,
      flex              INTEGER NOT NULL,
      backoff_delay     INTEGER NOT NULL,
      state             INTEGER NOT NULL,
      attempts          INTEGER NOT NULL,
      generation        INTEGER NOT NULL,
      last_outcome      INTEGER,
      stop_reason       INTEGER NOT NULL,
      registered_at     INTEGER NOT NULL,
      earliest_begin    INTEGER NOT NULL,
      anchor            INTEGER NOT NULL,
      period_base       INTEGER,
      last_run          INTEGER NOT NULL,
      changed_at        INTEGER NOT NULL,
      response_times    BLOB    NOT NULL,
      checksum          INTEGER NOT NULL
    ) STRICT;
    """

  static let insert: StaticString = """
    INSERT OR REPLACE INTO task VALUES
    (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
    """
  /// The same table without a condition, for what is saved from a damaged file; what came first stays.
  static let createLoose: StaticString = """
    CREATE TABLE task (sequence INTEGER PRIMARY KEY, id, handler, tags, input, kind, schedule, priority, existing,
      recurrence, backoff, response_window, max_attempts, constraints, expected_response, initial_delay, period, flex,
      backoff_delay, state, attempts, generation, last_outcome, stop_reason, registered_at, earliest_begin, anchor,
      period_base, last_run, changed_at, response_times, checksum)
    """
  static let insertLoose: StaticString = """
    INSERT OR IGNORE INTO task VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
    """
  static let update: StaticString = """
    UPDATE task SET state=?2, attempts=?3, generation=?4, last_outcome=?5, stop_reason=?6, registered_at=?7,
    earliest_begin=?8, anchor=?9, period_base=?10, last_run=?11, changed_at=?12, response_times=?13, checksum=?14 WHERE sequence=?1
    """
  static let delete: StaticString = "DELETE FROM task WHERE sequence=?1"
  static let deleteAll: StaticString = "DELETE FROM task"
  static let writeState: StaticString = """
    UPDATE scheduler SET life=?1, last_sequence=?2, last_seen=?3, last_refresh=?4, last_processing=?5, generator=?6,
    checksum=?7
    """
  static let insertState: StaticString = "INSERT INTO scheduler VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)"
  static let readState: StaticString =
    "SELECT life, last_sequence, last_seen, last_refresh, last_processing, generator, checksum FROM scheduler"
  static let readTasks: StaticString = "SELECT * FROM task ORDER BY sequence"
}
