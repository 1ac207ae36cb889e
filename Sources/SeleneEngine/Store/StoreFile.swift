// Store files that nobody works with: looking into one, copying, saving what can be read.

import CPlatform
import SeleneCore

/// What was found in a store file.
package struct StoreFindings {
  package var schemaVersion: Int32 = 0
  package var tasks: UInt64 = 0
  package var damaged: UInt64 = 0

  package init() {}
}

/// Operations on files that are not open.
package enum StoreFile {
  private static let headerSize = 100

  /// Reads the header without SQLite: whose file it is, and of which age.
  ///
  /// - Throws: `storeCannotOpen`, `storeForeign`, `storeCorrupt`, `storeNewer`.
  static func checkHeader(_ file: Bytes) throws(SeleneError) {
    var header = [UInt8](repeating: 0, count: headerSize)
    let count = file.withCString { platform_read_head($0, &header, Int64(headerSize)) }
    guard count >= 0 else { throw error(Int32(-count), file) }
    guard count > 0 else {
      throw SeleneError(
        .storeCorrupt, "store \(name: file.buffer): the file is empty; a new store is made only where there is no file")
    }
    let magic: StaticString = "SQLite format 3"
    for index in 0..<min(Int(count), 16) where header[index] != (index < 15 ? magic.utf8Start[index] : 0) {
      throw SeleneError(.storeForeign, "store \(name: file.buffer): the file is no database")
    }
    guard count == headerSize else {
      throw SeleneError(.storeCorrupt, "store \(name: file.buffer): the file has only \(count) bytes")
    }
    guard number(header, 68) == Schema.applicationID else {
      throw SeleneError(.storeForeign, "store \(name: file.buffer): the database belongs to another application")
    }
    let version = Int32(bitPattern: number(header, 60))
    guard version <= Schema.version else {
      throw SeleneError(
        .storeNewer,
        "store \(name: file.buffer): its schema is version \(version), this library knows \(Schema.version)")
    }
    // Without a log the file is as long as its header says; a missing end would be read as zeros.
    let pageSize = Int64(header[16]) << 8 | Int64(header[17])
    let size = Int64(number(header, 28)) * (pageSize == 1 ? 65_536 : pageSize)
    guard file.appending("-wal").fileSize > 0 || file.fileSize == size else {
      throw SeleneError(
        .storeCorrupt, "store \(name: file.buffer): it has \(file.fileSize) bytes, its header says \(size)")
    }
    guard header[18] == 2, header[19] == 2 else {
      throw SeleneError(
        .storeCorrupt, "store \(name: file.buffer): its header says that it is not written through a log")
    }
    guard version >= 1 else {
      throw SeleneError(.storeCorrupt, "store \(name: file.buffer): its schema is version \(version), which never was")
    }
  }

  private static func number(_ header: [UInt8], _ offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 << 8 | UInt32(header[offset + $1]) }
  }

  /// EIO and EEXIST, which Swift would need all of libc for.
  static let inputOutput: Int32 = 5
  static let exists: Int32 = 17

  /// An error of the system as a status.
  static func error(_ number: Int32, _ file: Bytes) -> SeleneError {
    let code: SeleneError.Code
    switch number {
    case 28, 122: code = .storeFull  // ENOSPC, EDQUOT
    case inputOutput: code = .storeIO
    default: code = .storeCannotOpen
    }
    return SeleneError(code, "store \(name: file.buffer): \(text: text(platform_error_text(number)))")
  }

  // MARK: Check

  /// Examines a store without changing it.
  ///
  /// - Throws: a status of stores.
  package static func check(_ path: UnsafeRawBufferPointer, _ findings: inout StoreFindings) throws(SeleneError) {
    let file = try SQLiteStore.checked(path, "path")
    let connection = try connectToRead(file)
    defer { connection.close() }
    findings.schemaVersion = Schema.version
    // The statements of work must be possible, too.
    _ = try SQLiteStore.prepare(connection, isRelaxed: false)
    let table = TaskTable(Policy(), generator: Generator(seed: 0))
    let rows = try connection.prepare(Schema.readTasks)
    defer { rows.finish() }
    while try rows.step() {
      if let record = TaskRecord(rows, &table.terms), table.load(record) {
        findings.tasks += 1
      } else {
        findings.damaged += 1
      }
    }
    guard findings.damaged == 0 else {
      throw SeleneError(.storeCorrupt, "store \(name: file.buffer): \(findings.damaged) rows of the tasks are no tasks")
    }
  }

  /// Connects as for work, or, where nothing may be written and no log has to be read, for reading.
  private static func connectToRead(_ file: Bytes) throws(SeleneError) -> SQLite {
    do throws(SeleneError) {
      return try SQLiteStore.connect(file, isRelaxed: false)
    } catch {
      guard error.code == .storeCannotOpen, file.appending("-wal").fileSize <= 0, file.fileSize > 0 else { throw error }
      let claim = try StoreClaim.take(file)
      let connection: SQLite
      do throws(SeleneError) {
        try checkHeader(file)
        connection = try SQLite.openImmutable(file)
      } catch {
        claim.release()
        throw error
      }
      connection.hold(claim)
      do throws(SeleneError) {
        try SQLiteStore.checkWhole(connection)
        return connection
      } catch {
        connection.close()
        throw error
      }
    }
  }

  // MARK: Salvage

  /// Saves every task that can be read into a new store.
  ///
  /// - Throws: a status of stores; then there is no new file.
  package static func salvage(
    _ damaged: UnsafeRawBufferPointer, into fresh: UnsafeRawBufferPointer, _ findings: inout StoreFindings
  ) throws(SeleneError) {
    let source = try SQLiteStore.checked(damaged, "damaged")
    let target = try SQLiteStore.checked(fresh, "fresh")
    guard target.fileSize < 0 else {
      throw SeleneError(.storeCannotOpen, "store \(name: target.buffer): it exists, salvage makes a new file")
    }
    let claim = try StoreClaim.take(source)
    defer { claim.release() }
    do throws(SeleneError) {
      try checkHeader(source)
    } catch {
      guard error.code == .storeCorrupt else { throw error }
    }
    try refuseIfLocked(source)
    // A copy is worked on: reading a log would change the original.
    let copy = target.appending(".salvage")
    try copyFile(source, copy)
    defer { for file in [copy, copy.appending("-wal")] { file.removeFile() } }
    let log = source.appending("-wal")
    if log.fileSize > 0 { try copyFile(log, copy.appending("-wal")) }

    let gathered = try SQLite.open(nil, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY)
    defer { gathered.close() }
    try gather(copy, of: source, into: gathered, &findings)
    guard try SQLiteStore.create(target) else { throw error(exists, target) }
    do throws(SeleneError) {
      try save(gathered, into: target, &findings)
    } catch {
      for file in [target, target.appending("-wal")] { file.removeFile() }
      throw error
    }
  }

  /// What can be read of a damaged store, in a table in memory that takes every row as it is.
  ///
  /// First the rows to which the tree leads, then, where that breaks off, all that stand on the pages.
  private static func gather(
    _ copy: Bytes, of source: Bytes, into gathered: SQLite, _ findings: inout StoreFindings
  ) throws(SeleneError) {
    try gathered.run(Schema.createLoose)
    let insert = try gathered.prepare(Schema.insertLoose)
    defer { insert.finish() }
    var isWhole = false
    if let reader = try? SQLite.open(copy, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX) {
      try? reader.run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF")
      // With the log in the file, the pages are all there is to read.
      _ = sqlite3_wal_checkpoint_v2(reader.raw, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
      if let state = try? SQLiteStore.readState(reader) { gathered.state = state }
      isWhole = copyRows(reader, into: insert)
      reader.keepLog()
      reader.close()
    }
    guard !isWhole else { return }
    guard let pages = StorePages(copy) else {
      throw SeleneError(.storeCorrupt, "store \(name: source.buffer): not even its pages can be told apart")
    }
    findings.damaged += pages.copyRows(into: insert)
  }

  /// Copies the rows to which the tree leads; false if it breaks off.
  private static func copyRows(_ reader: SQLite, into insert: Statement) -> Bool {
    guard (try? SQLiteStore.checkWhole(reader)) != nil, let rows = try? reader.prepare(Schema.readTasks) else {
      return false
    }
    while true {
      guard let isRow = try? rows.step() else { return false }
      guard isRow else { return true }
      rows.copyRow(into: insert)
    }
  }

  private static func save(_ gathered: SQLite, into target: Bytes, _ findings: inout StoreFindings) throws(SeleneError)
  {
    let table = TaskTable(Policy(), generator: Generator(seed: 0))
    table.journal = Journal()
    let rows = try gathered.prepare(Schema.readTasks)
    while try rows.step() {
      guard var record = TaskRecord(rows, &table.terms) else {
        findings.damaged += 1
        continue
      }
      // A successor whose predecessor is lost has nobody to wait for.
      if record.state == .blocked && table.find(record.definition.id) == nil { record.state = .enqueued }
      if table.load(record) { findings.tasks += 1 } else { findings.damaged += 1 }
    }
    var state = gathered.state
    table.raiseSequence(to: state.lastSequence)
    state.lastSequence = table.lastSequence
    findings.schemaVersion = Schema.version
    let store = try SQLiteStore.open(target.buffer, isRelaxed: false)
    defer { store.close() }
    try store.save(table, state, isLast: true)
  }

  private static func refuseIfLocked(_ file: Bytes) throws(SeleneError) {
    let probe = try SQLite.open(file, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX)
    defer { probe.close() }
    probe.keepLog()
    do throws(SeleneError) {
      try probe.run("PRAGMA locking_mode = EXCLUSIVE")
      _ = try probe.number("SELECT count(*) FROM sqlite_schema")
    } catch {
      if error.code == .storeLocked { throw error }
    }
  }

  private static func copyFile(_ from: Bytes, _ to: Bytes) throws(SeleneError) {
    let failure = from.withCString { from in to.withCString { platform_copy_file(from, $0) } }
    guard failure == 0 else { throw error(failure, to) }
  }
}
