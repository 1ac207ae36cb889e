// SQLite's C API, as little of it as a store needs.

import CPlatform
import SeleneCore

/// A connection. Used by one thread at a time.
final class SQLite {
  private(set) var raw: OpaquePointer?
  /// What messages call the file.
  let path: Bytes
  /// The right to touch the file.
  private var claim: StoreClaim?
  /// The log was there before this connection.
  private(set) var hadLog = true
  /// Another process has the file open, and the files beside it are its own.
  var isOthers = false
  private var keepsLog = false
  /// What is looked at before each commit.
  private var place: StorePlace?

  /// Whatever a host made its default, a store is used with locks and on files.
  private static let system: StaticString = "unix"

  /// Opens a file; `nil` is a database in memory.
  ///
  /// - Throws: what SQLite says, as a status of stores.
  static func open(_ file: Bytes?, flags: Int32) throws(SeleneError) -> SQLite {
    let connection = SQLite(path: file ?? Bytes(count: 0) { _ in })
    connection.hadLog = file.map { $0.appending("-wal").fileSize >= 0 } ?? true
    let name = file ?? Bytes(copying: text((":memory:" as StaticString).cString))
    let code = name.withCString { sqlite3_open_v2($0, &connection.raw, flags, system.cString) }
    guard code == SQLITE_OK else {
      let error = connection.error(code)
      connection.close()
      throw error
    }
    sqlite3_extended_result_codes(connection.raw, 1)
    return connection
  }

  /// Opens a file that no process changes, for reading; needs no lock and no log.
  static func openImmutable(_ file: Bytes) throws(SeleneError) -> SQLite {
    var uri: [UInt8] = []
    func add(_ literal: StaticString) {
      uri.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }
    add("file:")
    let digits: StaticString = "0123456789ABCDEF"
    for byte in file.buffer {
      let isPlain =
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      if isPlain {
        uri.append(byte)
      } else {
        uri += [UInt8(ascii: "%"), digits.utf8Start[Int(byte >> 4)], digits.utf8Start[Int(byte & 15)]]
      }
    }
    add("?immutable=1")
    let name = uri.withUnsafeBytes { Bytes(copying: $0) }
    let connection = SQLite(path: file)
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI
    let code = name.withCString { sqlite3_open_v2($0, &connection.raw, flags, system.cString) }
    guard code == SQLITE_OK else {
      let error = connection.error(code)
      connection.close()
      throw error
    }
    return connection
  }

  // Initialisers of classes do not throw here: Embedded Swift would not free the object.
  private init(path: Bytes) { self.path = path }

  /// Ends the connection and every statement of it.
  func close() {
    while let statement = sqlite3_next_stmt(raw, nil) { sqlite3_finalize(statement) }
    // Looking at a file leaves no empty log behind. The next process that opens it may have one of its own by then, so it is removed
    // while the file is locked.
    if keepsLog && !isOthers && !hadLog && (place == nil || isInPlace) {
      let log = path.appending("-wal")
      if log.fileSize == 0 { log.removeFile() }
    }
    sqlite3_close_v2(raw)
    raw = nil
    place = nil
    claim?.release()
    claim = nil
  }

  /// Holds the right to touch the file until it is closed.
  func hold(_ claim: StoreClaim) { self.claim = claim }

  /// SQLite has its locks and its log: from now on it is known what they are.
  func settle() throws(SeleneError) {
    guard let claim else { return }
    try claim.complete(path)
    place = try StorePlace.of(path, claim)
  }

  /// Names still lead to the file and the log that are open.
  private var isInPlace: Bool { (try? place?.check()) != nil }

  /// Refuses to go on where names lead elsewhere (D6).
  ///
  /// - Throws: `storeMoved`; `storeIO`, `storeCannotOpen` if that cannot be told.
  func refuseIfMoved() throws(SeleneError) { try place?.check() }

  /// Only the name of the log is gone: what is committed can come into the file from the log that is open.
  var canOutliveLog: Bool { place?.isOnlyLogGone ?? false }

  /// This connection wrote into the file.
  func noteWrite() { place?.noteWrite() }

  /// Bytes that are free on the file system.
  var freeRoom: Int64 { place?.freeRoom ?? .max }

  /// Allocates disk space for the file up to a size, in pages; whether there was enough.
  func lengthen(to size: Int64, by page: Int32) -> Bool {
    var (size, page) = (size, page)
    sqlite3_file_control(raw, "main", SQLITE_FCNTL_CHUNK_SIZE, &page)
    let code = sqlite3_file_control(raw, "main", SQLITE_FCNTL_SIZE_HINT, &size)
    noteWrite()
    return code == SQLITE_OK || code == SQLITE_NOTFOUND
  }

  /// Cuts the log, durably. 0 or an errno, negative if it was the sync that failed.
  func cutLog(to size: Int64) -> Int32 { place?.cutLog(to: size) ?? 0 }

  /// Closing leaves the log as it is.
  func keepLog() {
    keepsLog = true
    platform_keep_log(raw, 1)
  }

  /// Closing copies the log into the file and removes it.
  func checkpointAtClose() {
    keepsLog = false
    platform_keep_log(raw, 0)
  }

  /// The error of the system that kept SQLite from reading, if there was one.
  var readError: SeleneError? {
    sqlite3_system_errno(raw) == StoreFile.inputOutput ? StoreFile.error(StoreFile.inputOutput, path) : nil
  }

  /// What the last call answered, where it failed.
  var lastCode: Int32 { sqlite3_extended_errcode(raw) }

  /// Runs statements whose rows are not needed.
  func run(_ sql: StaticString) throws(SeleneError) {
    let code = sqlite3_exec(raw, sql.cString, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code) }
  }

  func prepare(_ sql: StaticString) throws(SeleneError) -> Statement {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(raw, sql.cString, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK else { throw error(code) }
    return Statement(self, statement)
  }

  /// The one number that a statement answers.
  func number(_ sql: StaticString) throws(SeleneError) -> Int64 {
    let statement = try prepare(sql)
    defer { statement.finish() }
    return try statement.step() ? statement.int(0) : 0
  }

  /// A result code as a status, with SQLite's own words.
  func error(_ code: Int32) -> SeleneError {
    let words = text(sqlite3_errmsg(raw) ?? sqlite3_errstr(code))
    switch code & 0xFF {
    case SQLITE_FULL: return SeleneError(.storeFull, "store", path: path, "the disk or the quota is full")
    case SQLITE_BUSY, SQLITE_LOCKED:
      return SeleneError(.storeLocked, "store", path: path, "open in another process, or in the parent of this one")
    case SQLITE_CORRUPT where readError != nil: return StoreFile.error(StoreFile.inputOutput, path)
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT, SQLITE_SCHEMA, SQLITE_ERROR:
      return SeleneError(.storeCorrupt, "store", path: path, "\(text: words)")
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
      return SeleneError(.storeCannotOpen, "store", path: path, "\(text: words)")
    default: return SeleneError(.storeIO, "store", path: path, "\(text: words) (SQLite \(code))")
    }
  }

  /// Whether a result code says that a sync failed.
  static func isFailedSync(_ code: Int32) -> Bool {
    // SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC, macros that Swift does not import.
    code == SQLITE_IOERR | 4 << 8 || code == SQLITE_IOERR | 5 << 8
  }
}

/// A prepared statement.
struct Statement {
  private let connection: SQLite
  private let raw: OpaquePointer?

  fileprivate init(_ connection: SQLite, _ raw: OpaquePointer?) {
    self.connection = connection
    self.raw = raw
  }

  func finish() { sqlite3_finalize(raw) }

  // Bound text and bytes must live until the statement was run.
  func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(raw, index, value) }
  func bind(_ index: Int32, _ value: Int64?) {
    if let value { sqlite3_bind_int64(raw, index, value) } else { sqlite3_bind_null(raw, index) }
  }
  func bind(_ index: Int32, text: UnsafeRawBufferPointer) {
    sqlite3_bind_text(raw, index, text.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(text.count), nil)
  }
  func bind(_ index: Int32, bytes: UnsafeRawBufferPointer) {
    sqlite3_bind_blob(raw, index, Self.start(bytes), Int32(bytes.count), nil)
  }
  /// Binds a copy of bytes, which need not live on; the code of SQLite. What could not be copied is NULL, which no
  /// column of bytes takes.
  @discardableResult
  func bindCopy(_ index: Int32, _ bytes: UnsafeRawBufferPointer, isText: Bool) -> Int32 {
    platform_bind_copy(raw, index, Self.start(bytes), Int32(bytes.count), isText ? 1 : 0)
  }
  /// Binds numbers as the store has them in a row: little-endian.
  func bindWords(_ index: Int32, _ words: [Int64]) {
    words.map { $0.littleEndian }.withUnsafeBytes { _ = bindCopy(index, $0, isText: false) }
  }
  /// No bytes are not NULL.
  private static func start(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer {
    bytes.baseAddress ?? UnsafeRawPointer(("" as StaticString).utf8Start)
  }

  /// Runs it once; the code of SQLite.
  func execute() -> Int32 {
    let code = sqlite3_step(raw)
    sqlite3_reset(raw)
    return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code
  }

  /// Goes to the next row; false after the last.
  func step() throws(SeleneError) -> Bool {
    let code = sqlite3_step(raw)
    guard code == SQLITE_ROW || code == SQLITE_DONE else { throw connection.error(code) }
    return code == SQLITE_ROW
  }

  /// Inserts the present row as it is.
  func copyRow(into insert: Statement) {
    for column in 0..<sqlite3_column_count(raw) {
      sqlite3_bind_value(insert.raw, column + 1, sqlite3_column_value(raw, column))
    }
    _ = insert.execute()
  }

  func reset() { sqlite3_reset(raw) }
  var columns: Int32 { sqlite3_column_count(raw) }
  func int(_ column: Int32) -> Int64 { sqlite3_column_int64(raw, column) }
  func optional(_ column: Int32) -> Int64? {
    sqlite3_column_type(raw, column) == SQLITE_NULL ? nil : sqlite3_column_int64(raw, column)
  }
  /// The bytes of a text or blob; valid until the next step.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(raw, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column)))
  }
  /// The numbers of a blob, little-endian; what is left over at its end is none.
  func numbers(_ column: Int32) -> [Int64] {
    let bytes = bytes(column)
    return (0..<bytes.count / 8).map {
      Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self))
    }
  }
}

/// A C string as bytes, for a message.
func text(_ string: UnsafePointer<CChar>?) -> UnsafeRawBufferPointer {
  var count = 0
  if let string { while string[count] != 0 { count += 1 } }
  return UnsafeRawBufferPointer(start: string, count: count)
}
