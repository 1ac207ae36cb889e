// Store files that are not open anywhere: looking into one, copying, saving what can be read.

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
    // Another process may close the store meanwhile, and what was read before no longer fits to what is read after.
    for _ in 0..<2 {
      do throws(SeleneError) {
        return try readHeader(file)
      } catch {
        guard error.code == .storeCorrupt else { throw error }
      }
    }
    try readHeader(file)
  }

  private static func readHeader(_ file: Bytes) throws(SeleneError) {
    let hasLog = file.appending("-wal").fileSize > 0
    var header = [UInt8](repeating: 0, count: headerSize)
    let count = file.withCString { platform_read_head($0, &header, Int64(headerSize)) }
    guard count >= 0 else { throw error(Int32(-count), file) }
    guard count > 0 else {
      throw SeleneError(
        .storeCorrupt, "store", path: file, "the file is empty; a new store is created only where no file exists")
    }
    let magic: StaticString = "SQLite format 3"
    for index in 0..<min(Int(count), 16) where header[index] != (index < 15 ? magic.utf8Start[index] : 0) {
      throw SeleneError(.storeForeign, "store", path: file, "not a Selene store: not an SQLite database")
    }
    guard count == headerSize else {
      throw SeleneError(.storeCorrupt, "store", path: file, "only \(count) bytes long")
    }
    guard number(header, 68) == Schema.applicationID else {
      throw SeleneError(.storeForeign, "store", path: file, "not a Selene store: a database of another application")
    }
    let version = Int32(bitPattern: number(header, 60))
    try refuseIfNewer(version, file)
    // Without a log the file is as long as its header says; a missing end would be read as zeros. It may be longer by
    // empty pages: space that was allocated for a commit which failed.
    let sizeOfPage = Int64(header[16]) << 8 | Int64(header[17])
    let pageSize = sizeOfPage == 1 ? 65_536 : sizeOfPage
    let size = Int64(number(header, 28)) * pageSize
    var isWhole = hasLog || file.fileSize == size
    let more = file.fileSize - size
    if !isWhole, pageSize >= 512, more > 0, more < SQLiteStore.scarceRoom, more % pageSize == 0,
      let pages = try OpenFile.open(file)
    {
      isWhole = try pages.isEmpty(from: size)
    }
    guard isWhole else {
      throw SeleneError(
        .storeCorrupt, "store", path: file, "\(file.fileSize) bytes long, its header says \(size)")
    }
    guard header[18] == 2, header[19] == 2 else {
      throw SeleneError(
        .storeCorrupt, "store", path: file, "its header does not say that it has a write-ahead log")
    }
    guard version >= 1 else {
      throw SeleneError(.storeCorrupt, "store", path: file, "unknown schema version \(version)")
    }
  }

  static func refuseIfNewer(_ version: Int32, _ file: Bytes) throws(SeleneError) {
    guard version <= Schema.version else {
      throw SeleneError(
        .storeNewer,
        "store", path: file, "schema version \(version), this library knows up to \(Schema.version)")
    }
  }

  private static func number(_ header: [UInt8], _ offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 << 8 | UInt32(header[offset + $1]) }
  }

  /// ENOENT, EIO, EAGAIN, EEXIST, ENOTDIR and ESTALE, which Swift would need all of libc for.
  static let noEntry: Int32 = 2
  static let inputOutput: Int32 = 5
  static let again: Int32 = 11
  static let exists: Int32 = 17
  static let notFolder: Int32 = 20
  static let stale: Int32 = 116

  /// An error of the system as a status.
  static func error(_ number: Int32, _ file: Bytes, as noun: Literal = "store") -> SeleneError {
    let code: SeleneError.Code
    switch number {
    case 28, 122: code = .storeFull  // ENOSPC, EDQUOT
    case inputOutput: code = .storeIO
    default: code = .storeCannotOpen
    }
    return SeleneError(code, noun, path: file, "\(text: text(platform_error_text(number)))")
  }

  // MARK: Check

  /// Examines a store without changing it.
  ///
  /// - Throws: a status of stores.
  package static func check(_ path: UnsafeRawBufferPointer, _ findings: inout StoreFindings) throws(SeleneError) {
    let file = try SQLiteStore.located(try SQLiteStore.checked(path, "path"))
    platform_fork_hold()
    defer { platform_fork_release() }
    let connection = try connectToRead(file)
    defer { connection.close() }
    findings.schemaVersion = Int32(clamping: try connection.number("PRAGMA user_version"))
    // The statements of work must be possible, and the governor's books be such.
    let store = try SQLiteStore.prepare(connection, isRelaxed: false)
    if let books = try store.loadBooks() {
      var governance = Governance()
      try governance.restore(books, at: 0)
      var expedited = ExpeditedLedger(quota: 0)
      _ = try expedited.restore(books.expedited, movedBy: 0, seen: 0, at: 0)
    }
    let table = TaskTable(Policy(), generator: Generator(seed: 0))
    try store.loadConditions(into: table)
    try store.loadPauses(into: table)
    var rows = try TaskRows(connection)
    defer { rows.finish() }
    while try rows.step() {
      if let record = rows.record(&table.terms), table.load(record) {
        findings.tasks += 1
      } else {
        findings.damaged += 1
      }
    }
    guard findings.damaged == 0 else {
      throw SeleneError(.storeCorrupt, "store", path: file, "\(findings.damaged) rows are not valid tasks")
    }
    try store.loadTimes(into: table)
    try store.loadGroups(into: table)
    try store.loadWaits(into: table)
    _ = try store.loadRuns()
  }

  /// Connects as for work, or, where nothing may be written and no log has to be read, for reading.
  private static func connectToRead(_ file: Bytes) throws(SeleneError) -> SQLite {
    do throws(SeleneError) {
      return try SQLiteStore.connect(file)
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
    let given = (try SQLiteStore.checked(damaged, "damaged"), try SQLiteStore.checked(fresh, "fresh"))
    do throws(SeleneError) {
      try salvage(try SQLiteStore.located(given.0), into: try SQLiteStore.located(given.1), &findings)
    } catch {
      Log.write(.error, "not salvaged: \(error.detail)")
      try Log.deliver()
      throw error
    }
    Log.write(
      .warning,
      "store \(path: damaged): \(findings.tasks) tasks were salvaged into \(path: fresh), \(findings.damaged) pieces are damaged"
    )
    try Log.deliver()
  }

  private static func salvage(
    _ source: Bytes, into target: Bytes, _ findings: inout StoreFindings
  ) throws(SeleneError) {
    platform_fork_hold()
    defer { platform_fork_release() }
    guard target.fileSize < 0 else {
      throw SeleneError(.storeCannotOpen, "store", path: target, "the file exists, salvage writes a new one")
    }
    if let rest = target.restOfAnother {
      throw SeleneError(
        .storeCannotOpen,
        "store", path: target, "the log of another store (the same name with \(rest)) exists, salvage writes a new file"
      )
    }
    let claim = try StoreClaim.take(source)
    defer { claim.release() }
    var refusal: SeleneError?
    do throws(SeleneError) {
      try checkHeader(source)
    } catch {
      guard error.code == .storeCorrupt || error.code == .storeForeign || error.code == .storeNewer else { throw error }
      refusal = error
    }
    // A file that is not a Selene store is not read whole, however large it is.
    if let refusal, refusal.code == .storeForeign, source.fileSize > mostForeign { throw refusal }
    try claim.complete(source)

    var pages = try StorePages(source)
    var gathered = try gather(&pages, refusal)
    if !gathered.isStore && pages.pageSize != StorePages.usualPageSize {
      pages = try StorePages(source, pageSize: StorePages.usualPageSize)
      gathered.rows.close()
      gathered = try gather(&pages, refusal)
    }
    defer { gathered.rows.close() }
    guard gathered.isStore else {
      throw refusal
        ?? SeleneError(.storeCorrupt, "store", path: source, "no row of a store was found in it")
    }
    var found = StoreFindings()
    found.damaged = gathered.damaged
    try save(gathered, into: target, &found)
    findings = found
  }

  private static let mostForeign: Int64 = 1 << 32

  /// What can be read of a damaged store.
  private struct Gathered {
    /// A table that takes every row as it is; in the end only tasks.
    let rows: SQLite
    var state: StoredState?
    var owner: Bytes?
    /// What hosts had set of groups.
    var groups: [(name: Bytes, terms: GroupTerms)] = []
    /// The conditions that hosts had defined.
    var conditions: [(number: Int, name: Bytes)] = []
    /// What was paused.
    var pauses = Pauses()
    var damaged: UInt64 = 0
    /// Something in it is as only this library writes it: a row with its checksum.
    var isStore = false
  }

  /// First the rows to which the tree leads, then, where that breaks off, all that stand on the pages.
  private static func gather(_ pages: inout StorePages, _ refusal: SeleneError?) throws(SeleneError) -> Gathered {
    let rows = try SQLite.open(nil, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY)
    var gathered = Gathered(rows: rows, damaged: pages.lostFrames)
    do throws(SeleneError) {
      try rows.run(Schema.createLoose)
      let insert = try rows.prepare(Schema.insertLoose)
      defer { insert.finish() }
      var (isWhole, isOther) = (false, false)
      let isFreeListWhole = pages.isFreeListWhole
      try pages.withReader { reader in
        try? reader.run("PRAGMA trusted_schema = OFF")
        if let found = try? SQLiteStore.readState(reader) { (gathered.state, gathered.owner) = found }
        gathered.groups = readGroups(reader)
        gathered.conditions = readConditions(reader)
        gathered.pauses = readPauses(reader)
        // Where the list of free pages is broken, others than those of the tree may hold what was deleted.
        isWhole =
          copyRows(reader, into: insert) && (!isFreeListWhole || (try? SQLiteStore.checkWhole(reader)) != nil)
        isOther = !Schema.tables.contains((try? reader.number(Schema.countTables)) ?? 3)
      }
      if let refusal, refusal.code == .storeNewer, isOther { throw refusal }
      if !isWhole { gathered.damaged += pages.copyRows(into: insert) }
      let tasks = try removeDamaged(rows)
      gathered.damaged += tasks.damaged
      gathered.isStore = gathered.state != nil || tasks.sound > 0
      return gathered
    } catch {
      rows.close()
      throw error
    }
  }

  /// Copies the rows to which the tree leads; false if it breaks off.
  private static func copyRows(_ reader: SQLite, into insert: Statement) -> Bool {
    guard let rows = try? reader.prepare(Schema.readTasks) else { return false }
    while true {
      guard let isRow = try? rows.step() else { return false }
      guard isRow else { return true }
      rows.copyRow(into: insert)
    }
  }

  /// What can be read of the groups.
  private static func readGroups(_ reader: SQLite) -> [(name: Bytes, terms: GroupTerms)] {
    var groups: [(name: Bytes, terms: GroupTerms)] = []
    guard let rows = try? reader.prepare(Schema.readGroups) else { return [] }
    defer { rows.finish() }
    while (try? rows.step()) == true {
      if let terms = GroupTerms(row: rows) { groups.append((Bytes(copying: rows.bytes(1)), terms)) }
    }
    return groups
  }

  /// What can be read of the conditions.
  private static func readConditions(_ reader: SQLite) -> [(number: Int, name: Bytes)] {
    var names: [(number: Int, name: Bytes)] = []
    guard let rows = try? reader.prepare(Schema.readConditions) else { return [] }
    defer { rows.finish() }
    while (try? rows.step()) == true {
      // Those that are not defined get their numbers from the tasks that ask for them.
      guard HostConditions.isWhole(rows), rows.int(0) > 0, let number = HostConditions.number(rows) else { continue }
      names.append((number, Bytes(copying: rows.bytes(1))))
    }
    return names
  }

  /// What can be read of the pauses.
  private static func readPauses(_ reader: SQLite) -> Pauses {
    var pauses = Pauses()
    guard let rows = try? reader.prepare(Schema.readPauses) else { return pauses }
    defer { rows.finish() }
    while (try? rows.step()) == true { _ = pauses.load(row: rows) }
    return pauses
  }

  /// Removes rows that are not tasks, and of several with one id those that were replaced.
  private static func removeDamaged(_ gathered: SQLite) throws(SeleneError) -> (sound: UInt64, damaged: UInt64) {
    var rows = try TaskRows(gathered)
    defer { rows.finish() }
    var pool = TermsPool()
    var sound: UInt64 = 0
    var damaged: [Int64] = []
    while try rows.step() {
      if rows.record(&pool) != nil { sound += 1 } else { damaged.append(rows.sequence) }
    }
    let delete = try gathered.prepare(Schema.delete)
    defer { delete.finish() }
    for sequence in damaged {
      delete.bind(1, sequence)
      _ = delete.execute()
    }
    try gathered.run(Schema.deleteStale)
    return (sound, UInt64(damaged.count))
  }

  /// Makes the new store in memory, and then its file.
  private static func save(
    _ gathered: Gathered, into target: Bytes, _ findings: inout StoreFindings
  ) throws(SeleneError) {
    var state = gathered.state ?? StoredState()
    let table = TaskTable(Policy(), generator: Generator(seed: 0))
    let image = try SQLiteStore.makeImage(state, owner: gathered.owner)
    defer { image.close() }
    let writeCondition = try image.prepare(Schema.writeCondition)
    defer { writeCondition.finish() }
    for (number, name) in gathered.conditions
    where table.terms.load(condition: name.buffer, number: number, isDefined: true) {
      HostConditions.bind(writeCondition, name.buffer, number, isDefined: true)
      let code = writeCondition.execute()
      guard code == SQLITE_OK else { throw image.error(code) }
    }
    let insert = TaskInsert(try image.prepare(Schema.insert), rows: 1)
    defer { insert.finish() }
    var rows = try TaskRows(gathered.rows)
    defer { rows.finish() }
    while try rows.step() {
      guard var record = rows.record(&table.terms) else { continue }
      // A successor whose predecessor is lost has nothing to wait for.
      if record.state == .blocked && record.definition.afterCount == 0 && table.find(record.definition.id) == nil {
        record.state = .enqueued
      }
      guard table.load(record) else {
        findings.damaged += 1
        continue
      }
      findings.tasks += 1
      let code = withUnsafePointer(to: record) { insert.add($0) }
      guard code == SQLITE_OK else { throw image.error(code) }
    }
    table.raiseSequence(to: state.lastSequence)
    state.lastSequence = table.lastSequence
    let writeGroup = try image.prepare(Schema.writeGroup)
    defer { writeGroup.finish() }
    var place: Int64 = 1
    for (name, terms) in gathered.groups {
      guard table.terms.groups.load(name.buffer, terms, at: place) else { continue }
      terms.bind(writeGroup, name.buffer, at: place)
      let code = writeGroup.execute()
      guard code == SQLITE_OK else { throw image.error(code) }
      place += 1
    }
    let writePause = try image.prepare(Schema.writePause)
    defer { writePause.finish() }
    let code = gathered.pauses.write(writePause)
    guard code == SQLITE_OK else { throw image.error(code) }
    let write = try image.prepare(Schema.writeState)
    defer { write.finish() }
    state.bind(write, owner: gathered.owner)
    _ = try write.step()
    findings.schemaVersion = Schema.version
    try SQLiteStore.writeImage(image, to: target)
  }
}
