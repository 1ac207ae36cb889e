// Opening a store: never empty unasked, never another's file, never two at a time (D4).

import CPlatform
import SeleneCore

extension SQLiteStore {
  /// Opens the store in a file, or makes a new one where there is no file.
  ///
  /// - Throws: a status of stores; the file is then as it was.
  package static func open(_ path: UnsafeRawBufferPointer, isRelaxed: Bool) throws(SeleneError) -> SQLiteStore {
    let file = try checked(path, "path")
    try checkLibrary()
    if file.fileSize < 0 {
      // Somebody may have made both meanwhile.
      guard file.appending("-wal").fileSize < 0 || file.fileSize >= 0 else {
        throw SeleneError(
          .storeCorrupt, "store \(name: file.buffer): the file is gone, but its log is there (the same name with -wal)")
      }
      try create(file)
    }
    let connection = try connectInTurn(file, isRelaxed: isRelaxed)
    do throws(SeleneError) {
      return try SQLiteStore.prepare(connection, isRelaxed: isRelaxed)
    } catch {
      connection.close()
      throw error
    }
  }

  /// Connects; two processes that come at the same instant may each keep the other out, so that each tries again.
  private static func connectInTurn(_ file: Bytes, isRelaxed: Bool) throws(SeleneError) -> SQLite {
    var chance = Generator(seed: UInt64(bitPattern: platform_boot_clock()) ^ UInt64(platform_process()))
    for _ in 0..<4 {
      do throws(SeleneError) {
        return try connect(file, isRelaxed: isRelaxed)
      } catch {
        guard error.code == .storeLocked else { throw error }
      }
      platform_sleep(Int64(chance.upTo(12_000_000)))
    }
    return try connect(file, isRelaxed: isRelaxed)
  }

  /// Connects to an existing store and looks at all of it.
  ///
  /// - Throws: a status of stores; the file is then as it was.
  static func connect(_ file: Bytes, isRelaxed: Bool) throws(SeleneError) -> SQLite {
    let claim = try StoreClaim.take(file)
    let connection: SQLite
    do throws(SeleneError) {
      try StoreFile.checkHeader(file)
      connection = try SQLite.open(file, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX)
    } catch {
      claim.release()
      throw error
    }
    connection.hold(claim)
    do throws(SeleneError) {
      // Nothing is written until all was found good, not even by closing.
      connection.keepLog()
      guard sqlite3_db_readonly(connection.raw, "main") == 0 else {
        throw SeleneError(.storeCannotOpen, "store \(name: file.buffer): the file is read-only")
      }
      try connection.run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY")
      try connection.run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
      // The first read takes the lock and finds the log.
      guard try connection.number("SELECT count(*) FROM sqlite_schema") > 0 else {
        throw SeleneError(.storeCorrupt, "store \(name: file.buffer): it has no tables")
      }
      try checkWhole(connection)
      try connection.run(isRelaxed ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL")
      return connection
    } catch {
      connection.isOthers = error.code == .storeLocked
      connection.close()
      throw error
    }
  }

  /// SQLite looks at every page and every row.
  static func checkWhole(_ connection: SQLite) throws(SeleneError) {
    let rows = try connection.prepare("PRAGMA quick_check(1)")
    defer { rows.finish() }
    guard try rows.step() else { return }
    let finding = rows.bytes(0)
    guard finding.equals(UnsafeRawBufferPointer(start: ("ok" as StaticString).utf8Start, count: 2)) else {
      if let error = connection.readError { throw error }
      throw SeleneError(.storeCorrupt, "store \(name: connection.path.buffer): \(text: finding)")
    }
  }

  /// Makes an empty store: its image is made in memory, then the file appears whole.
  ///
  /// - Returns: false if somebody else made it meanwhile.
  @discardableResult
  static func create(_ file: Bytes) throws(SeleneError) -> Bool {
    let image = try SQLite.open(nil, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY)
    defer { image.close() }
    try image.run(Schema.create)
    let insert = try image.prepare(Schema.insertState)
    StoredState().bind(insert)
    _ = try insert.step()
    insert.finish()
    var size: Int64 = 0
    guard let bytes = sqlite3_serialize(image.raw, "main", &size, 0) else {
      throw SeleneError(.storeIO, "store \(name: file.buffer): SQLite could not make an image of it")
    }
    defer { sqlite3_free(bytes) }
    // Bytes 18 and 19 of the header say that the file is written through a log.
    (bytes[18], bytes[19]) = (2, 2)
    let error = file.withCString { platform_create_file($0, bytes, size) }
    guard error == 0 || error == StoreFile.exists else { throw StoreFile.error(error, file) }
    return error == 0
  }

  /// A path as a file name: not empty, without NUL.
  static func checked(_ path: UnsafeRawBufferPointer, _ field: StaticString) throws(SeleneError) -> Bytes {
    guard path.count > 0 else {
      throw SeleneError(.invalidArgument, "\(field): it is empty, the name of a file is allowed")
    }
    guard path.count <= 4096 else { throw .range(field, path.count, "1 to 4096 bytes") }
    guard !path.contains(0) else { throw SeleneError(.invalidArgument, "\(field): it has a NUL") }
    return Bytes(copying: path)
  }

  private static func checkLibrary() throws(SeleneError) {
    guard sqlite3_libversion_number() >= 3_037_000, sqlite3_threadsafe() != 0 else {
      throw SeleneError(
        .unsupported, "SQLite \(text: text(sqlite3_libversion())) is loaded, 3.37.0 or newer with threads is required")
    }
  }
}

extension Bytes {
  /// Size of the file of this name, −1 if there is none.
  var fileSize: Int64 { withCString { platform_file_size($0) } }

  func removeFile() { withCString { platform_remove_file($0) } }

  /// The name for SQLite; "./" keeps it from reading a meaning into a relative one.
  var sqliteName: Bytes { isAbsolutePath ? self : prepending("./") }

  var isAbsolutePath: Bool { buffer.first == UInt8(ascii: "/") }

  /// These bytes with more before them.
  func prepending(_ prefix: StaticString) -> Bytes {
    Bytes(count: prefix.utf8CodeUnitCount + count) { whole in
      whole.copyMemory(from: UnsafeRawBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
      UnsafeMutableRawBufferPointer(rebasing: whole[prefix.utf8CodeUnitCount...]).copyMemory(from: buffer)
    }
  }

  /// These bytes with more behind them.
  func appending(_ suffix: StaticString) -> Bytes {
    Bytes(count: count + suffix.utf8CodeUnitCount) { whole in
      whole.copyMemory(from: buffer)
      UnsafeMutableRawBufferPointer(rebasing: whole[count...])
        .copyMemory(from: UnsafeRawBufferPointer(start: suffix.utf8Start, count: suffix.utf8CodeUnitCount))
    }
  }
}
