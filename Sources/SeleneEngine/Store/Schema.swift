// The schema of a store file, and how older ones become it.

/// What makes a file a store of this library.
enum Schema {
  /// "Seln", in the header of the file.
  static let applicationID: UInt32 = 0x5365_6C6E
  static let version: Int32 = 10

  /// Instants are ns; text is UTF-8; numbers are those of selene.h but for three (`TaskNumbers.asStored`). `terms` is
  /// what a definition has besides its id and its input (`PackedTerms`), `history` what a record has besides its columns
  /// once it ran (`packHistory`). What a row may hold is checked when it is read, by its checksum and field by field.
  static let create: StaticString = """
    PRAGMA application_id = 1399155822;
    PRAGMA user_version = 10;
    CREATE TABLE scheduler (
      one              INTEGER PRIMARY KEY CHECK (one = 1),
      life             INTEGER NOT NULL,
      last_sequence    INTEGER NOT NULL,
      last_seen        INTEGER NOT NULL,
      last_refresh     INTEGER,
      last_processing  INTEGER,
      generator        INTEGER NOT NULL,
      checksum         INTEGER NOT NULL,
      relaxed          INTEGER NOT NULL DEFAULT 0 CHECK (relaxed IN (0, 1)),
      owner            TEXT
    ) STRICT;
    CREATE TABLE governor (
      one               INTEGER PRIMARY KEY CHECK (one = 1),
      background_switch INTEGER,
      host_presence     INTEGER,
      ledger            BLOB    NOT NULL,
      habits            BLOB    NOT NULL,
      checksum          INTEGER NOT NULL,
      expedited         BLOB    NOT NULL DEFAULT x''
    ) STRICT;
    CREATE TABLE task (
      sequence        INTEGER PRIMARY KEY,
      id              TEXT    NOT NULL,
      input           BLOB    NOT NULL,
      terms           BLOB    NOT NULL,
      state           INTEGER NOT NULL,
      attempts        INTEGER NOT NULL,
      earliest_begin  INTEGER NOT NULL,
      last_run        INTEGER NOT NULL,
      history         BLOB    NOT NULL,
      checksum        INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE handler (
      place     INTEGER PRIMARY KEY,
      name      TEXT    NOT NULL,
      times     BLOB    NOT NULL,
      checksum  INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE task_group (
      place     INTEGER PRIMARY KEY,
      name      TEXT    NOT NULL,
      most      INTEGER NOT NULL,
      paused    INTEGER NOT NULL,
      checksum  INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE condition (
      place     INTEGER PRIMARY KEY,
      name      TEXT    NOT NULL,
      checksum  INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE wait_log (
      place     INTEGER PRIMARY KEY,
      entries   BLOB    NOT NULL,
      checksum  INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE member_run (
      token     INTEGER PRIMARY KEY,
      terms     BLOB    NOT NULL,
      checksum  INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE pause (
      place       INTEGER PRIMARY KEY,
      pool        TEXT    NOT NULL,
      refresh     INTEGER,
      processing  INTEGER,
      checksum    INTEGER NOT NULL
    ) STRICT;
    """
  /// What makes of version n + 1 the one after it; run within the first commit, when all that is there was found good.
  static let steps: [StaticString] = [
    "ALTER TABLE scheduler ADD COLUMN relaxed INTEGER NOT NULL DEFAULT 0 CHECK (relaxed IN (0, 1))",
    "ALTER TABLE scheduler ADD COLUMN owner TEXT",
    """
    CREATE TABLE handler (
      place     INTEGER PRIMARY KEY,
      name      TEXT    NOT NULL,
      times     BLOB    NOT NULL,
      checksum  INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE task_group (
      place     INTEGER PRIMARY KEY,
      name      TEXT    NOT NULL,
      most      INTEGER NOT NULL,
      paused    INTEGER NOT NULL,
      checksum  INTEGER NOT NULL
    ) STRICT
    """,
    "ALTER TABLE governor ADD COLUMN expedited BLOB NOT NULL DEFAULT x''",
    """
    CREATE TABLE condition (
      place     INTEGER PRIMARY KEY,
      name      TEXT    NOT NULL,
      checksum  INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE wait_log (
      place     INTEGER PRIMARY KEY,
      entries   BLOB    NOT NULL,
      checksum  INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE member_run (
      token     INTEGER PRIMARY KEY,
      terms     BLOB    NOT NULL,
      checksum  INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE pause (
      place       INTEGER PRIMARY KEY,
      pool        TEXT    NOT NULL,
      refresh     INTEGER,
      processing  INTEGER,
      checksum    INTEGER NOT NULL
    ) STRICT
    """,
  ]
  static let setVersion: StaticString = "PRAGMA user_version = 10"
  /// Whether the log may have holes where power was lost: set by a commit that is durable before the first that is not.
  static let writeRelaxed: StaticString = "UPDATE scheduler SET relaxed=1"
  static let writeFull: StaticString = "UPDATE scheduler SET relaxed=0"
  static let readRelaxed: StaticString = "SELECT relaxed FROM scheduler"

  /// How many columns a task has.
  static let columns = 10
  /// How many columns the rows of the other tables have; the one with as many as a task has numbers where that has texts.
  static let otherColumns = 3...10
  /// How many tables a store has, by version.
  static let tables: ClosedRange<Int64> = 3...9

  static let countTables: StaticString = "SELECT count(*) FROM sqlite_schema"

  static let insert: StaticString = "INSERT OR REPLACE INTO task VALUES (?,?,?,?,?,?,?,?,?,?)"
  /// A run that ended and the one that starts behind it.
  static let insertTwo: StaticString = "INSERT OR REPLACE INTO task VALUES (?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?)"
  /// Sixteen at a time: SQLite begins and ends a statement at some cost.
  static let insertSixteen: StaticString = """
    INSERT OR REPLACE INTO task VALUES
    (?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?),
    (?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?),
    (?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?),
    (?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?),(?,?,?,?,?,?,?,?,?,?)
    """
  /// The same table without a condition, for what is saved from a damaged file; what came first stays.
  static let createLoose: StaticString = """
    CREATE TABLE task (sequence INTEGER PRIMARY KEY, id, input, terms, state, attempts, earliest_begin, last_run, history,
      checksum)
    """
  static let insertLoose: StaticString = "INSERT OR IGNORE INTO task VALUES (?,?,?,?,?,?,?,?,?,?)"
  /// Of tasks with one id the last stays, and those that are blocked (state 2) behind it.
  static let deleteStale: StaticString = """
    DELETE FROM task WHERE state <> 2 AND sequence NOT IN
      (SELECT max(sequence) FROM task WHERE state <> 2 GROUP BY id)
    """
  static let delete: StaticString = "DELETE FROM task WHERE sequence=?1"
  static let deleteAll: StaticString = "DELETE FROM task"
  static let writeState: StaticString = """
    UPDATE scheduler SET life=?1, last_sequence=?2, last_seen=?3, last_refresh=?4, last_processing=?5, generator=?6,
    checksum=?7
    """
  static let insertState: StaticString = "INSERT INTO scheduler VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8)"
  /// Whatever columns the version of the file has; those that came later stand behind.
  static let readState: StaticString = "SELECT * FROM scheduler"
  static let ownerColumn: Int32 = 9
  static let writeOwner: StaticString = "UPDATE scheduler SET owner=?1"
  /// Ledger, habits and expedited runs are little-endian numbers of 64 bits.
  static let writeBooks: StaticString = "INSERT OR REPLACE INTO governor VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)"
  static let readBooks: StaticString =
    "SELECT background_switch, host_presence, ledger, habits, checksum, expedited FROM governor"
  /// The first version that has expedited runs, and how those before it are read.
  static let expeditedVersion: Int64 = 6
  static let readOldBooks: StaticString =
    "SELECT background_switch, host_presence, ledger, habits, checksum FROM governor"
  /// The last response times of a handler's runs, oldest first, as little-endian numbers of 64 bits. Places count from 1.
  static let writeTimes: StaticString = "INSERT OR REPLACE INTO handler VALUES (?1, ?2, ?3, ?4)"
  static let readTimes: StaticString = "SELECT place, name, times, checksum FROM handler ORDER BY place"
  static let deleteTimes: StaticString = "DELETE FROM handler"
  /// The first version that has them.
  static let timesVersion: Int64 = 4
  /// What hosts have set of groups: the most runs at a time, 0 being no limit, and whether they are paused.
  static let writeGroup: StaticString = "INSERT OR REPLACE INTO task_group VALUES (?1, ?2, ?3, ?4, ?5)"
  static let deleteGroup: StaticString = "DELETE FROM task_group WHERE place=?1"
  static let readGroups: StaticString = "SELECT place, name, most, paused, checksum FROM task_group ORDER BY place"
  static let groupsVersion: Int64 = 5
  /// The conditions that hosts have defined (W2), and, with negative places, others that tasks ask for.
  static let writeCondition: StaticString = "INSERT INTO condition VALUES (?1, ?2, ?3)"
  static let deleteConditions: StaticString = "DELETE FROM condition"
  static let readConditions: StaticString = "SELECT place, name, checksum FROM condition ORDER BY place"
  static let conditionsVersion: Int64 = 7
  /// What happened to all tasks alike, as little-endian numbers of 64 bits (`KeptWaits`). Places count up.
  static let writeWaits: StaticString = "INSERT OR REPLACE INTO wait_log VALUES (?1, ?2, ?3)"
  static let deleteWaits: StaticString = "DELETE FROM wait_log"
  static let readWaits: StaticString = "SELECT place, entries, checksum FROM wait_log ORDER BY place"
  static let waitsVersion: Int64 = 8
  /// The runs that other processes have, by the token that they were told first, as little-endian numbers of 64 bits
  /// (`StoredRun`).
  static let writeRun: StaticString = "INSERT OR REPLACE INTO member_run VALUES (?1, ?2, ?3)"
  static let deleteRun: StaticString = "DELETE FROM member_run WHERE token=?1"
  static let deleteRuns: StaticString = "DELETE FROM member_run"
  static let readRuns: StaticString = "SELECT token, terms, checksum FROM member_run ORDER BY token"
  static let runsVersion: Int64 = 9
  /// Until when each kind is paused, the greatest number being without an end; without a name of a pool it is paused
  /// everywhere. Places count from 1.
  static let writePause: StaticString = "INSERT INTO pause VALUES (?1, ?2, ?3, ?4, ?5)"
  static let deletePauses: StaticString = "DELETE FROM pause"
  static let readPauses: StaticString = "SELECT place, pool, refresh, processing, checksum FROM pause ORDER BY place"
  static let pausesVersion: Int64 = 10
  static let readTasks: StaticString = "SELECT * FROM task ORDER BY sequence"
}
