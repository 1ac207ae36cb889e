// Opening a store: never empty unasked, never another's file, never two at a time (D4).

import CPlatform
import SeleneCore

extension SQLiteStore {
  /// Opens the store in a file, or makes a new one where there is no file.
  ///
  /// - Parameter owner: the application that opens it, or nil.
  /// - Throws: a status of stores; the file is then as it was.
  package static func open(
    _ path: UnsafeRawBufferPointer, isRelaxed: Bool, owner: Bytes? = nil
  ) throws(SeleneError) -> SQLiteStore {
    let file = try located(try checked(path, "path"))
    platform_fork_hold()
    defer { platform_fork_release() }
    try checkLibrary()
    // Where the folder cannot be synced no commit could be durable, so that nothing is begun.
    let unsynced = file.withCString { platform_sync_directory($0) }
    guard unsynced == 0 else { throw StoreFile.error(unsynced, file) }
    if file.fileSize < 0 {
      // Another process may have made both meanwhile.
      if let rest = file.restOfAnother, file.fileSize < 0 {
        throw SeleneError(
          .storeCorrupt, "store", path: file, "the file is missing, but its log (the same name with \(rest)) exists")
      }
      try create(file)
    }
    let connection = try connectInTurn(file)
    do throws(SeleneError) {
      return try SQLiteStore.prepare(connection, isRelaxed: isRelaxed, owner: owner)
    } catch {
      connection.close()
      throw error
    }
  }

  /// Connects; two processes that come at the same instant may each keep the other out, so that each tries again.
  private static func connectInTurn(_ file: Bytes) throws(SeleneError) -> SQLite {
    var chance = Generator(seed: UInt64(bitPattern: platform_boot_clock()) ^ UInt64(platform_process()))
    for _ in 0..<4 {
      do throws(SeleneError) {
        return try connect(file)
      } catch {
        guard error.code == .storeLocked else { throw error }
      }
      platform_sleep(Int64(chance.upTo(12_000_000)))
    }
    return try connect(file)
  }

  /// Connects to an existing store and looks at all of it.
  ///
  /// - Throws: a status of stores; the file is then as it was.
  static func connect(_ file: Bytes) throws(SeleneError) -> SQLite {
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
      guard sqlite3_db_readonly(connection.raw, "main") == 0 else {
        throw SeleneError(.storeCannotOpen, "store", path: file, "the file is read-only")
      }
      // Nothing is written until all was found good, not even by closing.
      connection.keepLog()
      // Until the tasks are loaded each page is read once, and none is worth keeping.
      try connection.run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -64; PRAGMA temp_store = MEMORY")
      try connection.run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
      // The first read takes the lock and finds the log.
      guard try connection.number("SELECT count(*) FROM sqlite_schema") > 0 else {
        throw SeleneError(.storeCorrupt, "store", path: file, "no tables in it")
      }
      try connection.settle()
      // The log may have it from a newer library than the header of the file.
      let version = Int32(clamping: try connection.number("PRAGMA user_version"))
      try StoreFile.refuseIfNewer(version, file)
      // SQLite would read one that is damaged as if there were none.
      try StoreLog.check(
        of: file, pageSize: Int(try connection.number("PRAGMA page_size")),
        mayHaveHoles: version == 1 ? true : try connection.number(Schema.readRelaxed) != 0)
      try checkWhole(connection)
      // The first commit is durable in any case.
      try connection.run("PRAGMA synchronous = FULL")
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
      throw SeleneError(.storeCorrupt, "store", path: connection.path, "\(text: finding)")
    }
  }

  /// Makes an empty store; if another process made it meanwhile, that one stays.
  private static func create(_ file: Bytes) throws(SeleneError) {
    let image = try makeImage(StoredState(), owner: nil)
    defer { image.close() }
    do throws(SeleneError) {
      try writeImage(image, to: file)
    } catch {
      guard file.fileSize >= 0 else { throw error }
    }
  }

  /// An empty store in memory.
  static func makeImage(_ state: StoredState, owner: Bytes?) throws(SeleneError) -> SQLite {
    let image = try SQLite.open(nil, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY)
    do throws(SeleneError) {
      try image.run(Schema.create)
      let insert = try image.prepare(Schema.insertState)
      defer { insert.finish() }
      state.bind(insert, owner: owner)
      if let owner { insert.bind(8, text: owner.buffer) }
      _ = try insert.step()
      return image
    } catch {
      image.close()
      throw error
    }
  }

  /// Makes a file of a store in memory; it appears whole, where nothing was.
  static func writeImage(_ image: SQLite, to file: Bytes) throws(SeleneError) {
    var size: Int64 = 0
    guard let bytes = sqlite3_serialize(image.raw, "main", &size, 0) else {
      throw SeleneError(.storeIO, "store", path: file, "SQLite could not serialize it")
    }
    defer { sqlite3_free(bytes) }
    // Bytes 18 and 19 of the header say that the file is written through a log.
    (bytes[18], bytes[19]) = (2, 2)
    let error = file.withCString { platform_create_file($0, bytes, size) }
    guard error == 0 else { throw StoreFile.error(error, file) }
  }

  /// The whole name of a file: the host may go to another folder, and links lead to one log.
  ///
  /// - Throws: `storeCannotOpen` where its folder is not found.
  static func located(_ given: Bytes) throws(SeleneError) -> Bytes {
    var name = [CChar](repeating: 0, count: Int(PLATFORM_PATH_SIZE))
    let error = given.withCString { platform_whole_name($0, &name) }
    guard error == 0 else { throw StoreFile.error(error, given) }
    return name.withUnsafeBytes { name in
      Bytes(copying: UnsafeRawBufferPointer(rebasing: name[..<(name.firstIndex(of: 0) ?? name.count)]))
    }
  }

  /// A path as a file name: not empty, without NUL.
  static func checked(_ path: UnsafeRawBufferPointer, _ field: Literal) throws(SeleneError) -> Bytes {
    guard path.count > 0 else {
      throw SeleneError(.invalidArgument, field, "must not be empty")
    }
    guard path.count <= 4096 else { throw .range(field, path.count, 1, 4096, .bytes) }
    guard !path.contains(0) else { throw SeleneError(.invalidArgument, field, "contains a NUL") }
    return Bytes(copying: path)
  }

  private static func checkLibrary() throws(SeleneError) {
    guard sqlite3_libversion_number() >= 3_037_000, sqlite3_threadsafe() != 0 else {
      throw SeleneError(
        .unsupported,
        "SQLite \(text: text(sqlite3_libversion())) is too old or without threads, 3.37.0 or newer is required")
    }
  }
}

extension Bytes {
  /// Size of the file of this name, −1 if there is none.
  var fileSize: Int64 { withCString { platform_file_size($0) } }

  func removeFile() { withCString { platform_remove_file($0) } }

  /// What another store left beside this name, by its end: SQLite would take it for a new store's own.
  var restOfAnother: StaticString? {
    if appending("-wal").fileSize >= 0 { return "-wal" }
    return appending("-journal").fileSize >= 0 ? "-journal" : nil
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
