// The durable store: one SQLite file, one connection, one commit a call (D1, D2).

import CPlatform
import SeleneCore

/// Keeps records in an SQLite file.
///
/// Write-ahead log, exclusive locking, one connection: readers and checkpoints of other connections never meet ours, which
/// also keeps us out of the WAL-reset race that SQLite had before 3.51.3.
package final class SQLiteStore: Store {
  let connection: SQLite
  private let statements: Statements
  private let isRelaxed: Bool
  /// What the file says.
  private var written: StoredState
  private var commits: UInt64 = 0
  private var isClosed = false
  /// A first commit was made, so the file may be changed from here on, also by closing.
  private var isTrusted = false
  /// A sync failed: what is on the disk is not known (D4).
  private var isFailed = false

  /// How many frames the log may have before they are copied into the file.
  private static let checkpointFrames: Int32 = 1000

  override var isDurable: Bool { true }

  /// Takes over a connection that was checked.
  static func prepare(_ connection: SQLite, isRelaxed: Bool) throws(SeleneError) -> SQLiteStore {
    SQLiteStore(connection, isRelaxed: isRelaxed, try Statements(connection), try readState(connection))
  }

  private init(_ connection: SQLite, isRelaxed: Bool, _ statements: Statements, _ state: StoredState) {
    self.connection = connection
    self.isRelaxed = isRelaxed
    self.statements = statements
    written = state
    super.init()
    remember(state)
    // Checkpoints are ours: SQLite's own would keep the failure of a sync to itself.
    sqlite3_wal_hook(
      connection.raw,
      { context, _, _, frames in
        context?.assumingMemoryBound(to: Int32.self).pointee = frames
        return SQLITE_OK
      }, framesCell)
  }

  /// Where the hook writes the number of frames.
  private let framesCell: UnsafeMutablePointer<Int32> = {
    let cell = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    cell.initialize(to: 0)
    return cell
  }()

  static func readState(_ connection: SQLite) throws(SeleneError) -> StoredState {
    let rows = try connection.prepare(Schema.readState)
    defer { rows.finish() }
    guard try rows.step() else {
      throw SeleneError(.storeCorrupt, "store \(name: connection.path.buffer): the row of the scheduler is missing")
    }
    let state = StoredState(
      life: UInt64(bitPattern: rows.int(0)), lastSequence: UInt64(bitPattern: rows.int(1)),
      lastSeen: rows.int(2), lastRefresh: rows.optional(3), lastProcessing: rows.optional(4),
      generator: UInt64(bitPattern: rows.int(5)))
    guard state.checksum == rows.int(6), state.life < Token.lifeMask, state.lastSequence <= TaskTable.greatestSequence
    else {
      throw SeleneError(.storeCorrupt, "store \(name: connection.path.buffer): the row of the scheduler was changed")
    }
    return state
  }

  override func load(into table: TaskTable) throws(SeleneError) {
    let rows = try connection.prepare(Schema.readTasks)
    defer { rows.finish() }
    var newest: Instant = .min
    while try rows.step() {
      let sequence = rows.int(0)
      guard let record = TaskRecord(rows, &table.terms), table.load(record) else {
        throw SeleneError(
          .storeCorrupt, "store \(name: connection.path.buffer): row \(sequence) of the tasks is no task")
      }
      newest = max(newest, record.lastRun, record.changedAt)
    }
    var state = opened
    // A commit that only changes records has its time in them, and need not write it elsewhere.
    state.lastSeen = max(state.lastSeen, newest)
    remember(state)
    table.raiseSequence(to: state.lastSequence)
    table.finishLoading()
  }

  // MARK: Saving

  override func save(_ table: TaskTable, _ state: StoredState, isLast: Bool) throws(SeleneError) {
    guard let journal = table.journal else { return }
    let mustWriteState =
      isLast || state.life != written.life || state.lastRefresh != written.lastRefresh
      || state.lastProcessing != written.lastProcessing || state.generator != written.generator
      || journal.stored.contains { $0.record.sequence != 0 && table[$0.slot].sequence != $0.record.sequence }
    guard mustWriteState || !journal.isEmpty else { return }
    try transaction { () -> Int32 in
      for (slot, old) in journal.stored {
        let code = save(table[slot], over: old)
        guard code == SQLITE_OK else { return code }
      }
      return mustWriteState ? self.write(state) : SQLITE_OK
    }
    if mustWriteState { written = state }
  }

  override func erase(_ state: StoredState) throws(SeleneError) {
    let deleteAll = try connection.prepare(Schema.deleteAll)
    defer { deleteAll.finish() }
    try transaction { () -> Int32 in
      let code = deleteAll.execute()
      return code == SQLITE_OK ? self.write(state) : code
    }
    written = state
  }

  /// Writes what became of a slot of which the store has `old`.
  private func save(_ record: TaskRecord, over old: TaskRecord) -> Int32 {
    if old.sequence != 0 && old.sequence != record.sequence {
      statements.delete.bind(1, Int64(old.sequence))
      let code = statements.delete.execute()
      guard code == SQLITE_OK else { return code }
    }
    guard record.sequence != 0 else { return SQLITE_OK }
    return record.responseTimes.withUnsafeBytes { times in
      if old.sequence == record.sequence && old.definition === record.definition {
        record.bindState(statements.update, times, at: 2)
        statements.update.bind(1, Int64(record.sequence))
        return statements.update.execute()
      }
      var tags: [UInt8] = []
      for index in 0..<record.definition.tagCount {
        tags.append(contentsOf: record.definition.tag(index))
        tags.append(0)
      }
      return tags.withUnsafeBytes { tags in
        statements.insert.bind(1, Int64(record.sequence))
        record.definition.bind(statements.insert, tags: tags)
        record.bindState(statements.insert, times, at: 20)
        return statements.insert.execute()
      }
    }
  }

  private func write(_ state: StoredState) -> Int32 {
    state.bind(statements.writeState)
    return statements.writeState.execute()
  }

  /// Runs a body in one commit.
  private func transaction(_ body: () -> Int32) throws(SeleneError) {
    try refuseIfFailed()
    try renewLog()
    var code = statements.begin.execute()
    guard code == SQLITE_OK else { throw connection.error(code) }
    code = body()
    if code == SQLITE_OK { code = statements.commit.execute() }
    guard code == SQLITE_OK else {
      let error = connection.error(code)
      if sqlite3_get_autocommit(connection.raw) == 0 { _ = statements.rollback.execute() }
      // The frames of a commit whose sync failed may be found again, or not.
      if SQLite.isFailedSync(code) || sqlite3_get_autocommit(connection.raw) == 0 {
        isFailed = true
        try refuseIfFailed()
      }
      throw error
    }
    commits += 1
    try trust()
    if framesCell.pointee >= Self.checkpointFrames { checkpoint() }
  }

  /// Before the first commit: a log that was found goes into the file, and begins anew.
  ///
  /// If an earlier life ended with a failed sync, its log is good in the system's cache and bad on the disk; what came behind
  /// it would be lost with it.
  private func renewLog() throws(SeleneError) {
    guard !isTrusted, connection.hadLog else { return }
    let code = sqlite3_wal_checkpoint_v2(connection.raw, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    guard code == SQLITE_OK else {
      isFailed = SQLite.isFailedSync(code)
      throw connection.error(code)
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
    connection.checkpointAtClose()
    isTrusted = true
  }

  /// Copies the log into the file. The commit before it stands whatever happens here.
  private func checkpoint() {
    let code = sqlite3_wal_checkpoint_v2(connection.raw, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    if SQLite.isFailedSync(code) { isFailed = true }
    framesCell.pointee = 0
  }

  private func refuseIfFailed() throws(SeleneError) {
    guard !isClosed else { throw SeleneError(.storeIO, "store \(name: connection.path.buffer): it is closed") }
    guard !isFailed else {
      throw SeleneError(
        .outcomeUnknown,
        "store \(name: connection.path.buffer): a sync failed, so what is on the disk is not known; open it again")
    }
  }

  // MARK: Copies, facts and the end

  override func backUp(to target: Bytes) throws(SeleneError) {
    try refuseIfFailed()
    let made = target.withCString { platform_create_empty($0) }
    guard made == 0 else { throw StoreFile.error(made, target) }
    do throws(SeleneError) {
      let name = target.sqliteName
      let copy = try connection.prepare("VACUUM INTO ?1")
      defer { copy.finish() }
      copy.bind(1, text: name.buffer)
      _ = try copy.step()
      // The copy is a store: its header says that it is written through a log.
      let error = target.withCString { platform_finish_file($0, 18, [2, 2], 2) }
      guard error == 0 else { throw StoreFile.error(error, target) }
      withExtendedLifetime(name) {}
    } catch {
      target.removeFile()
      throw error
    }
  }

  override func facts() throws(SeleneError) -> StoreFacts {
    var facts = StoreFacts()
    facts.path = connection.path
    facts.sqliteVersion = Bytes(copying: text(sqlite3_libversion()))
    facts.isRelaxed = isRelaxed
    facts.schemaVersion = Schema.version
    facts.pageSize = UInt64(try connection.number("PRAGMA page_size"))
    facts.pages = UInt64(try connection.number("PRAGMA page_count"))
    facts.walSize = UInt64(max(0, connection.path.appending("-wal").fileSize))
    facts.commits = commits
    return facts
  }

  override func close() {
    guard !isClosed else { return }
    isClosed = true
    // After a failed sync the log is the better witness than what a checkpoint would make of it.
    if isFailed { connection.keepLog() }
    connection.close()
  }

  deinit { framesCell.deallocate() }
}

/// What a store says to SQLite again and again.
private struct Statements {
  let insert: Statement
  let update: Statement
  let delete: Statement
  let writeState: Statement
  let begin: Statement
  let commit: Statement
  let rollback: Statement

  init(_ connection: SQLite) throws(SeleneError) {
    insert = try connection.prepare(Schema.insert)
    update = try connection.prepare(Schema.update)
    delete = try connection.prepare(Schema.delete)
    writeState = try connection.prepare(Schema.writeState)
    begin = try connection.prepare("BEGIN IMMEDIATE")
    commit = try connection.prepare("COMMIT")
    rollback = try connection.prepare("ROLLBACK")
  }
}

extension TaskRecord {
  /// A row of the tasks, or nil if it is none.
  init?(_ row: Statement, _ pool: inout TermsPool) {
    var draft = TaskDraft()
    draft.id = row.bytes(1)
    draft.handler = row.bytes(2)
    let tags = row.bytes(3)
    var start = 0
    for index in tags.indices where tags[index] == 0 {
      draft.tags.append(UnsafeRawBufferPointer(rebasing: tags[start..<index]))
      start = index + 1
    }
    draft.input = row.bytes(4)
    guard let kind = Int32(exactly: row.int(5)), let schedule = Int32(exactly: row.int(6)),
      let priority = Int32(exactly: row.int(7)), let existing = Int32(exactly: row.int(8)),
      let recurrence = Int32(exactly: row.int(9)), let backoff = Int32(exactly: row.int(10)),
      let window = Int32(exactly: row.int(11)), let maxAttempts = UInt32(exactly: row.int(12)),
      let constraints = UInt32(exactly: row.int(13)), existing >= 0, backoff >= 0,
      let state = UInt8(exactly: row.int(19)).flatMap(TaskState.init), let attempts = UInt32(exactly: row.int(20)),
      let generation = UInt32(exactly: row.int(21)),
      let stopReason = Int32(exactly: row.int(23)).flatMap(StopReason.init),
      let sequence = UInt64(exactly: row.int(0)), (1...TaskTable.greatestSequence).contains(sequence),
      start == tags.count
    else { return nil }
    (draft.kind, draft.schedule, draft.priority, draft.existing) = (kind, schedule, priority, existing)
    (draft.recurrence, draft.backoff, draft.responseWindow) = (recurrence, backoff, window)
    (draft.maxAttempts, draft.constraints) = (maxAttempts, constraints)
    draft.expectedResponse = row.int(14)
    draft.initialDelay = row.int(15)
    draft.period = row.int(16)
    draft.flex = row.int(17)
    draft.backoffDelay = row.int(18)
    // What was accepted once stays accepted: neither bounds nor sizes of today count.
    let bounds = BackoffBounds(minimum: 0, maximum: .max)
    guard let definition = try? TaskDefinition.checked(draft, backoff: bounds, maxInput: .max, pool: &pool) else {
      return nil
    }
    var lastOutcome: Outcome?
    if let number = row.optional(22) {
      guard let outcome = Int32(exactly: number).flatMap(Outcome.init) else { return nil }
      lastOutcome = outcome
    }
    let times = row.bytes(30)
    guard times.count % 8 == 0, times.count / 8 <= TaskDefinition.mostResponseTimes else { return nil }
    var responseTimes: [Span] = []
    for index in 0..<(times.count / 8) {
      let time = times.loadUnaligned(fromByteOffset: index * 8, as: Int64.self)
      guard time >= 0 else { return nil }
      responseTimes.append(Int64(littleEndian: time))
    }
    self.init(
      stored: definition, sequence: sequence, state: state, attempts: attempts, generation: generation,
      lastOutcome: lastOutcome, stopReason: stopReason, registeredAt: row.int(24), earliestBegin: row.int(25),
      anchor: row.int(26), periodBase: row.optional(27) ?? TaskRecord.onRegistration, lastRun: row.int(28),
      changedAt: row.int(29), responseTimes: responseTimes)
    guard checksum == row.int(31) else { return nil }
  }

  /// Binds what runs change.
  fileprivate func bindState(_ statement: Statement, _ times: UnsafeRawBufferPointer, at first: Int32) {
    statement.bind(first, Int64(state.rawValue))
    statement.bind(first + 1, Int64(attempts))
    statement.bind(first + 2, Int64(generation))
    statement.bind(first + 3, lastOutcome.map { Int64($0.rawValue) })
    statement.bind(first + 4, Int64(stopReason.rawValue))
    statement.bind(first + 5, registeredAt)
    statement.bind(first + 6, earliestBegin)
    statement.bind(first + 7, anchor)
    statement.bind(first + 8, periodBase == TaskRecord.onRegistration ? nil : periodBase)
    statement.bind(first + 9, lastRun)
    statement.bind(first + 10, changedAt)
    statement.bind(first + 11, blob: times)
    statement.bind(first + 12, checksum)
  }
}

extension StoredState {
  func bind(_ statement: Statement) {
    statement.bind(1, Int64(bitPattern: life))
    statement.bind(2, Int64(bitPattern: lastSequence))
    statement.bind(3, lastSeen)
    statement.bind(4, lastRefresh)
    statement.bind(5, lastProcessing)
    statement.bind(6, Int64(bitPattern: generator))
    statement.bind(7, checksum)
  }
}

extension TaskDefinition {
  /// Binds what registering sets, behind the sequence.
  fileprivate func bind(_ statement: Statement, tags: UnsafeRawBufferPointer) {
    statement.bind(2, text: id)
    statement.bind(3, text: handler)
    statement.bind(4, blob: tags)
    statement.bind(5, blob: input)
    statement.bind(6, Int64(kind.rawValue))
    statement.bind(7, Int64(schedule.rawValue))
    statement.bind(8, Int64(priority))
    statement.bind(9, Int64(existing.rawValue))
    statement.bind(10, Int64(recurrence.rawValue))
    statement.bind(11, Int64(backoff.rawValue))
    statement.bind(12, Int64(responseWindow))
    statement.bind(13, Int64(maxAttempts))
    statement.bind(14, Int64(constraints.rawValue))
    statement.bind(15, expectedResponse)
    statement.bind(16, initialDelay)
    statement.bind(17, period)
    statement.bind(18, flex)
    statement.bind(19, backoffDelay)
  }
}
