// The durable store: one SQLite file, one connection, one commit a call (D1, D2).

import CPlatform
import SeleneCore

/// Keeps records in an SQLite file.
///
/// No process forks in the middle of one of its calls: SQLite has locks for all connections, and a child may open its own.
///
/// Write-ahead log, exclusive locking, one connection: readers and checkpoints of other connections never meet ours, which
/// also keeps us out of the WAL-reset race that SQLite had before 3.51.3.
package final class SQLiteStore: Store {
  let connection: SQLite
  private let statements: Statements
  /// What writes many rows, while it does.
  private var sixteen: TaskInsert?
  /// What writes the times of a handler: not before the file has their table.
  private var writeTimes: Statement?
  private var writeBooks: Statement?
  /// The same for groups.
  private var (writeGroup, deleteGroup): (Statement?, Statement?) = (nil, nil)
  /// And for runs of other processes.
  private var (writeRun, deleteRun): (Statement?, Statement?) = (nil, nil)
  private let isRelaxed: Bool
  private let pageSize: Int64
  /// The application whose store it is, if any said so.
  private let owner: Bytes?
  /// Its name comes into the file with the first commit.
  private let isOwnerNew: Bool
  /// What the file says.
  private var written: StoredState
  private var isClosed = false
  /// A first commit was made, so the file may be changed from here on, also by closing.
  private var isTrusted = false
  /// A commit may be on the disk, or not (D4): its sync failed, or no memory was left for it.
  private var isFailed = false
  /// All of the log is to be in the file, and the log to begin with nothing, before the next commit.
  ///
  /// If an earlier life ended with a failed sync, its log is good in the system's cache and bad on the disk; what came
  /// behind it would be lost with it.
  private var mustRenewLog: Bool
  /// Behind the commits of the log may stand frames of one that failed, which must go before the next commit.
  private var mustCutLog = false

  /// How many frames the log may have before they are copied into the file.
  private static let checkpointFrames: Int32 = 1000
  /// Free space is checked every so many frames.
  private static let framesPerLook: Int32 = 16
  /// The frames of the log at the last check.
  private var framesLooked: Int32 = 0
  /// With less free space than this, in bytes, each commit allocates space first.
  static let scarceRoom: Int64 = 64 << 20
  /// Each commit first allocates the space that the file needs for the next checkpoint, which then cannot fail for lack of it
  /// (V23).
  private var isRoomScarce: Bool

  override var isDurable: Bool { true }
  override var canGoOn: Bool { !isFailed }
  override var path: Bytes? { connection.path }

  /// Takes over a connection that was checked.
  ///
  /// - Parameter owner: the application that opens it, or nil for whatever opens it without a name.
  /// - Throws: `storeForeign` if another application's name is in it.
  static func prepare(_ connection: SQLite, isRelaxed: Bool, owner: Bytes? = nil) throws(SeleneError) -> SQLiteStore {
    let found = try readState(connection)
    if let owner, let other = found.owner, !other.buffer.equals(owner.buffer) {
      throw SeleneError(
        .storeForeign, "store", path: connection.path,
        "belongs to \"\(text: other.buffer)\", not to \"\(text: owner.buffer)\"")
    }
    return SQLiteStore(
      connection, isRelaxed: isRelaxed, try Statements(connection), found.state, owner: found.owner ?? owner,
      isOwnerNew: found.owner == nil && owner != nil, pageSize: try connection.number("PRAGMA page_size"))
  }

  private init(
    _ connection: SQLite, isRelaxed: Bool, _ statements: Statements, _ state: StoredState, owner: Bytes?,
    isOwnerNew: Bool, pageSize: Int64
  ) {
    self.owner = owner
    self.isOwnerNew = isOwnerNew
    self.connection = connection
    self.pageSize = pageSize
    self.isRelaxed = isRelaxed
    self.statements = statements
    mustRenewLog = connection.hadLog
    isRoomScarce = connection.freeRoom < Self.scarceRoom
    written = state
    super.init()
    remember(state)
    // Checkpoints are ours: SQLite's own would keep the failure of a sync to itself.
    sqlite3_wal_hook(
      connection.raw,
      { context, _, _, frames in
        context?.assumingMemoryBound(to: Watch.self).pointee.frames = frames
        return SQLITE_OK
      }, watch)
    sqlite3_commit_hook(
      connection.raw,
      { context in
        context?.assumingMemoryBound(to: Watch.self).pointee.isCommitting = true
        return 0
      }, watch)
  }

  /// What the hooks of SQLite say.
  private struct Watch {
    /// The changes are made, and go to the disk.
    var isCommitting = false
    /// How many frames the log has.
    var frames: Int32 = 0
  }

  private let watch: UnsafeMutablePointer<Watch> = {
    let watch = UnsafeMutablePointer<Watch>.allocate(capacity: 1)
    watch.initialize(to: Watch())
    return watch
  }()

  static func readState(_ connection: SQLite) throws(SeleneError) -> (state: StoredState, owner: Bytes?) {
    let rows = try connection.prepare(Schema.readState)
    defer { rows.finish() }
    guard try rows.step() else {
      throw SeleneError(.storeCorrupt, "store", path: connection.path, "the row of the scheduler is missing")
    }
    let state = StoredState(
      life: UInt64(bitPattern: rows.int(1)), lastSequence: UInt64(bitPattern: rows.int(2)),
      lastSeen: rows.int(3), lastRefresh: rows.optional(4), lastProcessing: rows.optional(5),
      generator: UInt64(bitPattern: rows.int(6)))
    // Version 3 of the schema has an owner, the versions before it fewer columns.
    var owner: Bytes?
    if rows.columns > Schema.ownerColumn, rows.bytes(Schema.ownerColumn).count > 0 {
      owner = Bytes(copying: rows.bytes(Schema.ownerColumn))
    }
    guard state.checksum(owner: owner) == rows.int(7), state.lastSequence <= TaskTable.greatestSequence else {
      throw SeleneError(.storeCorrupt, "store", path: connection.path, "the row of the scheduler is damaged")
    }
    return (state, owner)
  }

  override func load(into table: TaskTable) throws(SeleneError) {
    platform_fork_hold()
    defer { platform_fork_release() }
    try loadConditions(into: table)
    var rows = try TaskRows(connection)
    defer { rows.finish() }
    var newest: Instant = .min
    while try rows.step() {
      guard let record = rows.record(&table.terms), table.load(record) else {
        throw SeleneError(
          .storeCorrupt, "store", path: connection.path, "row \(rows.sequence) is not a valid task")
      }
      newest = max(newest, record.newestInstant)
    }
    var state = opened
    // A commit that changes records has its time in most of them, and need not write it elsewhere then.
    state.lastSeen = max(state.lastSeen, newest)
    written.lastSeen = state.lastSeen
    remember(state)
    try loadTimes(into: table)
    try loadGroups(into: table)
    try loadPauses(into: table)
    try loadWaits(into: table)
    table.raiseSequence(to: state.lastSequence)
    table.finishLoading()
    // From now on pages are read and written here and there.
    try connection.run("PRAGMA cache_size = -2000")
  }

  /// What the runs of handlers took (R8).
  ///
  /// - Throws: a status of stores.
  func loadTimes(into table: TaskTable) throws(SeleneError) {
    guard try connection.number("PRAGMA user_version") >= Schema.timesVersion else { return }
    let rows = try connection.prepare(Schema.readTimes)
    defer { rows.finish() }
    while try rows.step() {
      let place = table.handlerTimes.count
      guard rows.int(0) == Int64(place) + 1,
        let times = HandlerTimes(Bytes(copying: rows.bytes(1)), stored: rows.numbers(2)),
        times.checksum(at: place) == rows.int(3), table.load(times)
      else {
        throw SeleneError(
          .storeCorrupt, "store", path: connection.path, "row \(rows.int(0)) of the handlers is damaged")
      }
    }
  }

  /// What hosts have set of groups (W3).
  ///
  /// - Throws: a status of stores.
  func loadGroups(into table: TaskTable) throws(SeleneError) {
    guard try connection.number("PRAGMA user_version") >= Schema.groupsVersion else { return }
    let rows = try connection.prepare(Schema.readGroups)
    defer { rows.finish() }
    while try rows.step() {
      guard let terms = GroupTerms(row: rows), table.terms.groups.load(rows.bytes(1), terms, at: rows.int(0)) else {
        throw SeleneError(
          .storeCorrupt, "store", path: connection.path, "row \(rows.int(0)) of the groups is damaged")
      }
    }
  }

  /// What is paused (W13).
  ///
  /// - Throws: a status of stores.
  func loadPauses(into table: TaskTable) throws(SeleneError) {
    guard try connection.number("PRAGMA user_version") >= Schema.pausesVersion else { return }
    let rows = try connection.prepare(Schema.readPauses)
    defer { rows.finish() }
    while try rows.step() {
      guard table.pauses.load(row: rows) else {
        throw SeleneError(
          .storeCorrupt, "store", path: connection.path, "row \(rows.int(0)) of the pauses is damaged")
      }
    }
  }

  /// The conditions that hosts have defined, or that tasks ask for (W2).
  ///
  /// - Throws: a status of stores.
  func loadConditions(into table: TaskTable) throws(SeleneError) {
    guard try connection.number("PRAGMA user_version") >= Schema.conditionsVersion else { return }
    let rows = try connection.prepare(Schema.readConditions)
    defer { rows.finish() }
    while try rows.step() {
      guard HostConditions.isWhole(rows),
        let number = HostConditions.number(rows),
        table.terms.load(condition: rows.bytes(1), number: number, isDefined: rows.int(0) > 0)
      else {
        throw SeleneError(
          .storeCorrupt, "store", path: connection.path, "row \(rows.int(0)) of the conditions is damaged")
      }
    }
  }

  /// What happened to all tasks alike (W8).
  ///
  /// - Throws: a status of stores.
  func loadWaits(into table: TaskTable) throws(SeleneError) {
    guard try connection.number("PRAGMA user_version") >= Schema.waitsVersion else { return }
    let rows = try connection.prepare(Schema.readWaits)
    defer { rows.finish() }
    while try rows.step() {
      let words = rows.numbers(1)
      guard KeptWaits.checksum(words, at: rows.int(0)) == rows.int(2), table.waits.load(words, at: rows.int(0)) else {
        throw SeleneError(
          .storeCorrupt, "store", path: connection.path, "row \(rows.int(0)) of the waits is damaged")
      }
    }
    table.finishLoadingWaits()
  }

  override func loadRuns() throws(SeleneError) -> [StoredRun] {
    platform_fork_hold()
    defer { platform_fork_release() }
    guard try connection.number("PRAGMA user_version") >= Schema.runsVersion else { return [] }
    let rows = try connection.prepare(Schema.readRuns)
    defer { rows.finish() }
    var runs: [StoredRun] = []
    while try rows.step() {
      let words = rows.numbers(1)
      guard StoredRun.checksum(words, of: rows.int(0)) == rows.int(2), let run = StoredRun(token: rows.int(0), words)
      else {
        throw SeleneError(
          .storeCorrupt, "store", path: connection.path, "row \(rows.int(0)) of the runs is damaged")
      }
      runs.append(run)
    }
    return runs
  }

  // MARK: Saving

  override func hasChanges(_ table: TaskTable, _ state: StoredState) -> Bool {
    guard let journal = table.journal else { return false }
    return !journal.isEmpty || hasMore(table) || isOther(state)
  }

  /// Whether something of the table besides its records is to be written.
  private func hasMore(_ table: TaskTable) -> Bool {
    !table.handlerTimes.unsavedPlaces.isEmpty || table.terms.groups.isUnsaved || table.terms.conditions.isUnsaved
      || table.pauses.isUnsaved
  }

  /// Whether what is kept of the scheduler itself is another than was written.
  private func isOther(_ state: StoredState) -> Bool {
    state.life != written.life || state.lastRefresh != written.lastRefresh
      || state.lastProcessing != written.lastProcessing || state.generator != written.generator
  }

  override func save(
    _ table: TaskTable, _ state: StoredState, _ books: StoredBooks? = nil, isLast: Bool
  ) throws(SeleneError) {
    guard let journal = table.journal else { return }
    let changes = StoredChanges(journal.stored, of: table)
    let isMore = hasMore(table) || books != nil || !runs.isEmpty
    let groups = table.terms.groups.isUnsaved ? table.terms.groups.takeUnsaved() : []
    let (conditions, pauses) = (table.terms.conditions, table.pauses)
    let times = table.handlerTimes.unsavedPlaces
    // What is paused, or is due at another instant than was computed, has no time of that, nor has what is no record.
    let isUntimed =
      (isMore || !journal.isEmpty) && changes.newest <= written.lastSeen && state.lastSeen > written.lastSeen
    let mustWriteState = isLast || isUntimed || changes.removed > 0 || isOther(state)
    guard mustWriteState || isMore || !journal.isEmpty else { return }
    platform_fork_hold()
    defer { platform_fork_release() }
    let waits = waits
    self.waits = nil
    try transact(isOne: changes.isOne && !isMore && !mustWriteState && waits == nil) {
      var code = write(changes, journal, of: table)
      for place in times where code == SQLITE_OK { code = write(table.handlerTimes[place], at: place) }
      for group in groups where code == SQLITE_OK { code = write(group) }
      if conditions.isUnsaved && code == SQLITE_OK { code = write(conditions) }
      if pauses.isUnsaved && code == SQLITE_OK { code = write(pauses) }
      if let books, code == SQLITE_OK { code = write(books) }
      if let waits, code == SQLITE_OK { code = write(waits) }
      for run in runs where code == SQLITE_OK { code = write(run) }
      if mustWriteState && code == SQLITE_OK { code = write(state) }
      return code
    }
    if mustWriteState { written = state } else { written.lastSeen = max(written.lastSeen, changes.newest) }
    keptWaits = waits
  }

  override func look() throws(SeleneError) {
    platform_fork_hold()
    defer { platform_fork_release() }
    guard !isClosed && !isFailed else { return }
    try refuseIfMoved()
  }

  override func erase(_ state: StoredState, _ books: StoredBooks) throws(SeleneError) {
    platform_fork_hold()
    defer { platform_fork_release() }
    let deleteAll = try connection.prepare(Schema.deleteAll)
    defer { deleteAll.finish() }
    try transact(isOne: false) {
      var code = deleteAll.execute()
      if code == SQLITE_OK && (try? connection.run(Schema.deleteTimes)) == nil { code = connection.lastCode }
      if code == SQLITE_OK && (try? connection.run(Schema.deleteRuns)) == nil { code = connection.lastCode }
      if code == SQLITE_OK { code = write(books) }
      if code == SQLITE_OK { code = write(state) }
      return code
    }
    written = state
  }

  private func write(_ changes: StoredChanges, _ journal: Journal, of table: TaskTable) -> Int32 {
    if changes.removed > 0 {
      for (slot, stored) in journal.stored where stored != 0 && stored != table.sequence(slot) {
        statements.delete.bind(1, Int64(stored))
        let code = statements.delete.execute()
        guard code == SQLITE_OK else { return code }
      }
    }
    var left = changes.kept
    var insert = statements.insert
    for (slot, _) in journal.stored where table.sequence(slot) != 0 {
      if insert.count == 0 { insert = self.insert(for: left) }
      let code = table.withRecord(slot) { insert.add($0) }
      guard code == SQLITE_OK else { return code }
      left -= 1
    }
    return SQLITE_OK
  }

  /// From how many rows on it is worth the time to prepare writing sixteen at a time.
  private static let batch = 512

  /// The statement that writes as many of these rows at a time as there is one for.
  private func insert(for rows: Int) -> TaskInsert {
    if rows >= Self.batch, sixteen == nil, let statement = try? connection.prepare(Schema.insertSixteen) {
      sixteen = TaskInsert(statement, rows: 16)
    }
    if let sixteen {
      if rows >= sixteen.rows { return sixteen }
      sixteen.finish()
      self.sixteen = nil
    }
    return rows >= 2 ? statements.insertTwo : statements.insert
  }

  private func write(_ state: StoredState) -> Int32 {
    state.bind(statements.writeState, owner: owner)
    return statements.writeState.execute()
  }

  private func write(_ times: HandlerTimes, at place: Int) -> Int32 {
    if writeTimes == nil { writeTimes = try? connection.prepare(Schema.writeTimes) }
    guard let writeTimes else { return connection.lastCode }
    writeTimes.bind(1, Int64(place) + 1)
    writeTimes.bindCopy(2, times.name.buffer, isText: true)
    writeTimes.bindWords(3, times.responseTimes)
    writeTimes.bind(4, times.checksum(at: place))
    return writeTimes.execute()
  }

  private func write(_ group: TaskGroup) -> Int32 {
    if writeGroup == nil { writeGroup = try? connection.prepare(Schema.writeGroup) }
    if deleteGroup == nil { deleteGroup = try? connection.prepare(Schema.deleteGroup) }
    guard let writeGroup, let deleteGroup else { return connection.lastCode }
    guard group.isSet else {
      deleteGroup.bind(1, group.place)
      return deleteGroup.execute()
    }
    GroupTerms(limit: group.limit, isPaused: group.isPaused).bind(writeGroup, group.name.buffer, at: group.place)
    return writeGroup.execute()
  }

  private func write(_ conditions: HostConditions) -> Int32 {
    guard (try? connection.run(Schema.deleteConditions)) != nil,
      let write = try? connection.prepare(Schema.writeCondition)
    else { return connection.lastCode }
    defer { write.finish() }
    var code = SQLITE_OK
    conditions.forEach { number, name, isDefined in
      guard code == SQLITE_OK else { return }
      HostConditions.bind(write, name.buffer, number, isDefined: isDefined)
      code = write.execute()
    }
    return code
  }

  private func write(_ pauses: Pauses) -> Int32 {
    guard (try? connection.run(Schema.deletePauses)) != nil,
      let write = try? connection.prepare(Schema.writePause)
    else { return connection.lastCode }
    defer { write.finish() }
    return pauses.write(write)
  }

  private func write(_ waits: KeptWaits) -> Int32 {
    if waits.isWhole && (try? connection.run(Schema.deleteWaits)) == nil { return connection.lastCode }
    guard let statement = try? connection.prepare(Schema.writeWaits) else { return connection.lastCode }
    defer { statement.finish() }
    statement.bind(1, waits.place)
    statement.bindWords(2, waits.words)
    statement.bind(3, KeptWaits.checksum(waits.words, at: waits.place))
    return statement.execute()
  }

  private func write(_ change: StoredRunChange) -> Int32 {
    if writeRun == nil { writeRun = try? connection.prepare(Schema.writeRun) }
    if deleteRun == nil { deleteRun = try? connection.prepare(Schema.deleteRun) }
    guard let writeRun, let deleteRun else { return connection.lastCode }
    let token = Int64(bitPattern: change.token)
    guard let run = change.run else {
      deleteRun.bind(1, token)
      return deleteRun.execute()
    }
    let words = run.words
    writeRun.bind(1, token)
    writeRun.bindWords(2, words)
    writeRun.bind(3, StoredRun.checksum(words, of: token))
    return writeRun.execute()
  }

  private func write(_ books: StoredBooks) -> Int32 {
    // Not before the first commit has made its table what this version writes.
    if writeBooks == nil { writeBooks = try? connection.prepare(Schema.writeBooks) }
    guard let statement = writeBooks else { return connection.lastCode }
    return books.ledger.withUnsafeBytes { ledger in
      books.habits.withUnsafeBytes { habits in
        statement.bind(1, books.backgroundSwitch)
        statement.bind(2, books.hostPresence)
        statement.bindCopy(3, ledger, isText: false)
        statement.bindCopy(4, habits, isText: false)
        statement.bind(5, books.checksum)
        return books.expedited.withUnsafeBytes { expedited in
          statement.bindCopy(6, expedited, isText: false)
          return statement.execute()
        }
      }
    }
  }

  override func loadBooks() throws(SeleneError) -> StoredBooks? {
    platform_fork_hold()
    defer { platform_fork_release() }
    let hasExpedited = try connection.number("PRAGMA user_version") >= Schema.expeditedVersion
    let rows = try connection.prepare(hasExpedited ? Schema.readBooks : Schema.readOldBooks)
    defer { rows.finish() }
    guard try rows.step() else { return nil }
    let books = StoredBooks(
      backgroundSwitch: rows.optional(0), hostPresence: rows.optional(1), ledger: rows.numbers(2),
      habits: rows.numbers(3), expedited: hasExpedited ? rows.numbers(5) : [])
    guard books.checksum == rows.int(4) else {
      throw SeleneError(.storeCorrupt, "store", path: connection.path, "the row of the governor is damaged")
    }
    return books
  }

  private var isInTransaction: Bool { sqlite3_get_autocommit(connection.raw) == 0 }

  /// Makes changes in one commit; takes them back if the code that they answer says that they could not be made.
  ///
  /// If the disk is full, a checkpoint frees the space of the log and the commit is tried once more (V23).
  private func transact(isOne: Bool, _ change: () -> Int32) throws(SeleneError) {
    do throws(SeleneError) {
      return try commit(isOne: isOne, change)
    } catch {
      guard error.code == .storeFull, isTrusted, !isFailed, watch.pointee.frames > 0, !mustRenewLog, checkpoint()
      else { throw error }
    }
    try commit(isOne: isOne, change)
  }

  /// One statement is a commit of its own. BEGIN and COMMIT cost as much as the row between them.
  private func commit(isOne: Bool, _ change: () -> Int32) throws(SeleneError) {
    try refuseIfFailed()
    try refuseIfMoved()
    try tidyLog()
    watch.pointee.isCommitting = false
    let isOne = isOne && isTrusted && !isRoomScarce
    var code = isInTransaction ? statements.rollback.execute() : SQLITE_OK
    if code == SQLITE_OK && !isOne { code = statements.begin.execute() }
    if code == SQLITE_OK && !isTrusted { code = beginLife() }
    if code == SQLITE_OK { code = change() }
    if code == SQLITE_OK && isRoomScarce { code = takeRoom() }
    if code == SQLITE_OK && !isOne { code = statements.commit.execute() }
    guard code == SQLITE_OK else {
      let error = connection.error(code)
      // Without memory even that may fail; then the next one begins with it.
      if isInTransaction { _ = statements.rollback.execute() }
      mustCutLog = true
      // The frames of a commit whose sync failed may be found again, or not; so may those that no memory was left for.
      if SQLite.isFailedSync(code) || (watch.pointee.isCommitting && code & 0xFF == SQLITE_NOMEM) {
        isFailed = true
        try refuseIfFailed()
      }
      throw error
    }
    commits += 1
    try trust()
    if watch.pointee.frames >= Self.checkpointFrames || isLogTooLong() { checkpoint() }
  }

  /// Whether the log takes more than half of the space that is free beside it.
  private func isLogTooLong() -> Bool {
    let frames = watch.pointee.frames
    if frames < framesLooked { framesLooked = 0 }
    guard frames >= framesLooked + Self.framesPerLook else { return false }
    framesLooked = frames
    let room = connection.freeRoom
    isRoomScarce = room < Self.scarceRoom
    return room / 2 < logSize(of: frames)
  }

  /// Allocates the space that the file needs with the open transaction.
  private func takeRoom() -> Int32 {
    guard let pages = try? connection.number("PRAGMA page_count") else { return connection.lastCode }
    return connection.lengthen(to: pages * pageSize, by: Int32(pageSize)) ? SQLITE_OK : SQLITE_FULL
  }

  private func logSize(of frames: Int32) -> Int64 {
    frames == 0 ? 0 : Int64(StoreLog.headerSize) + Int64(frames) * (Int64(StoreLog.frameHeaderSize) + pageSize)
  }

  /// Before a commit: nothing is in the log but commits that stand, so that what else is found there is damage.
  ///
  /// SQLite by itself would begin a log anew over the old one; power lost then may leave a torn header before frames.
  private func tidyLog() throws(SeleneError) {
    guard mustRenewLog || mustCutLog else { return }
    if mustRenewLog {
      let code = sqlite3_wal_checkpoint_v2(connection.raw, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
      guard code == SQLITE_OK else { throw failure(connection.error(code), isOfSync: SQLite.isFailedSync(code)) }
      connection.noteWrite()
      watch.pointee.frames = 0
    }
    // SQLite neither cuts what a failed commit left, nor syncs a log that it has cut.
    let error = connection.cutLog(to: logSize(of: watch.pointee.frames))
    guard error == 0 else { throw failure(StoreFile.error(abs(error), connection.path), isOfSync: error < 0) }
    (mustRenewLog, mustCutLog) = (false, false)
  }

  /// What to throw for a failure between two commits; if it is of a sync, the store is failed from now on.
  private func failure(_ error: SeleneError, isOfSync: Bool) -> SeleneError {
    guard isOfSync else { return error }
    isFailed = true
    return isTrusted ? unknownOutcome : error
  }

  /// In the first commit: the file becomes one of this version, and says how it is written.
  private func beginLife() -> Int32 {
    do throws(SeleneError) {
      let version = Int(try connection.number("PRAGMA user_version"))
      if version < Schema.version {
        for step in Schema.steps[(version - 1)...] { try connection.run(step) }
        try connection.run(Schema.setVersion)
      }
      try connection.run(isRelaxed ? Schema.writeRelaxed : Schema.writeFull)
      if isOwnerNew, let owner {
        let write = try connection.prepare(Schema.writeOwner)
        defer { write.finish() }
        write.bind(1, text: owner.buffer)
        return write.execute()
      }
      return SQLITE_OK
    } catch {
      return connection.lastCode
    }
  }

  /// After the first commit: closing may change the file, and the name of its log is on the disk.
  private func trust() throws(SeleneError) {
    guard !isTrusted else { return }
    let error = connection.path.withCString { platform_sync_directory($0) }
    guard error == 0 else {
      isFailed = true
      throw StoreFile.error(error, connection.path)
    }
    if isRelaxed { try connection.run("PRAGMA synchronous = NORMAL") }
    connection.checkpointAtClose()
    isTrusted = true
  }

  /// Copies the log into the file; whether all of it was copied. The commit before it stands whatever happens here; what fails is
  /// tried again.
  @discardableResult
  private func checkpoint() -> Bool {
    // Until all of it was copied the log goes on; then it ends, and the next commit comes into a new one.
    guard copyLog() == SQLITE_OK else { return false }
    mustRenewLog = true
    try? tidyLog()
    return true
  }

  private func copyLog() -> Int32 {
    let code = sqlite3_wal_checkpoint_v2(connection.raw, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    if SQLite.isFailedSync(code) { isFailed = true }
    connection.noteWrite()
    return code
  }

  /// A commit that could not be found again is refused. What was committed before into a log that is gone is saved.
  private func refuseIfMoved() throws(SeleneError) {
    do throws(SeleneError) {
      try connection.refuseIfMoved()
    } catch {
      if isTrusted && connection.canOutliveLog { _ = copyLog() }
      throw error
    }
  }

  private func refuseIfFailed() throws(SeleneError) {
    guard !isClosed else { throw SeleneError(.storeIO, "store", path: connection.path, "closed") }
    guard !isFailed else { throw unknownOutcome }
  }

  private var unknownOutcome: SeleneError {
    SeleneError(
      .outcomeUnknown,
      "store", path: connection.path, "a commit failed and the on-disk state is unknown; reopen the store")
  }

  // MARK: Copies, facts and the end

  override func backUp(to target: Bytes) throws(SeleneError) {
    platform_fork_hold()
    defer { platform_fork_release() }
    try refuseIfFailed()
    let made = target.withCString { platform_create_empty($0) }
    guard made == 0 else { throw StoreFile.error(made, target) }
    do throws(SeleneError) {
      let copy = try connection.prepare("VACUUM INTO ?1")
      defer { copy.finish() }
      copy.bind(1, text: target.buffer)
      _ = try copy.step()
      // The copy is a store: its header says that it is written through a log.
      let error = target.withCString { platform_finish_file($0, 18, [2, 2], 2) }
      guard error == 0 else { throw StoreFile.error(error, target) }
    } catch {
      target.removeFile()
      throw error
    }
  }

  override func facts() throws(SeleneError) -> StoreFacts {
    platform_fork_hold()
    defer { platform_fork_release() }
    var facts = StoreFacts()
    facts.path = connection.path
    facts.sqliteVersion = Bytes(copying: text(sqlite3_libversion()))
    facts.isRelaxed = isRelaxed
    facts.schemaVersion = Schema.version
    facts.pageSize = UInt64(pageSize)
    facts.pages = UInt64(try connection.number("PRAGMA page_count"))
    facts.walSize = UInt64(max(0, connection.path.appending("-wal").fileSize))
    facts.commits = commits
    facts.owner = owner
    return facts
  }

  override func close() {
    guard !isClosed else { return }
    platform_fork_hold()
    defer { platform_fork_release() }
    isClosed = true
    // After a failed sync the log is the better witness than what a checkpoint would make of it. And what stands in the
    // place of the store is another's.
    if isFailed || ((try? connection.refuseIfMoved()) == nil && !connection.canOutliveLog) { connection.keepLog() }
    connection.close()
  }

  deinit { watch.deallocate() }
}

/// What a save has to do with the rows of tasks.
private struct StoredChanges {
  /// How many rows go.
  private(set) var removed = 0
  /// How many are written.
  private(set) var kept = 0
  /// The newest instant of those.
  private(set) var newest: Instant = .min

  init(_ changes: [(slot: Int, sequence: UInt64)], of table: TaskTable) {
    for (slot, stored) in changes {
      let sequence = table.sequence(slot)
      if sequence != 0 {
        kept += 1
        newest = max(newest, table[slot].newestInstant)
      }
      if stored != 0 && stored != sequence { removed += 1 }
    }
  }

  /// One statement does it.
  var isOne: Bool { removed == 0 && (kept == 1 || kept == 2) }
}

/// What a store says to SQLite again and again.
private struct Statements {
  let insert: TaskInsert
  let insertTwo: TaskInsert
  let delete: Statement
  let writeState: Statement
  let begin: Statement
  let commit: Statement
  let rollback: Statement

  init(_ connection: SQLite) throws(SeleneError) {
    insert = TaskInsert(try connection.prepare(Schema.insert), rows: 1)
    insertTwo = TaskInsert(try connection.prepare(Schema.insertTwo), rows: 2)
    delete = try connection.prepare(Schema.delete)
    writeState = try connection.prepare(Schema.writeState)
    begin = try connection.prepare("BEGIN IMMEDIATE")
    commit = try connection.prepare("COMMIT")
    rollback = try connection.prepare("ROLLBACK")
  }
}

extension StoredState {
  func bind(_ statement: Statement, owner: Bytes?) {
    statement.bind(1, Int64(bitPattern: life))
    statement.bind(2, Int64(bitPattern: lastSequence))
    statement.bind(3, lastSeen)
    statement.bind(4, lastRefresh)
    statement.bind(5, lastProcessing)
    statement.bind(6, Int64(bitPattern: generator))
    statement.bind(7, checksum(owner: owner))
  }
}
