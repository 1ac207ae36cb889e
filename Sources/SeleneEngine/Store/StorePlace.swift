// Whether the names of a store lead to what is open (D6): what is committed elsewhere would not be found again.

import CPlatform
import SeleneCore

/// The file and the log of a connection, and where they stood when it opened them.
struct StorePlace: ~Copyable {
  private let path: Bytes
  private let claim: StoreClaim
  private let log: OpenFile
  private let logFacts: platform_file_facts
  /// When the file was last written, and how long it was then, by this connection or before it.
  private var written: (at: Int64, size: Int64)

  /// Looks at what SQLite has just opened.
  ///
  /// - Throws: `storeMoved`, `storeIO`, `storeCannotOpen`.
  static func of(_ path: Bytes, _ claim: StoreClaim) throws(SeleneError) -> StorePlace {
    guard let file = try look(path), claim.isOf(file) else { throw moved(path, "the file") }
    guard let log = try OpenFile.open(path.appending("-wal"), forWriting: true) else {
      throw moved(path, "its log (the same name with -wal)")
    }
    let logFacts = try log.facts()
    return StorePlace(path: path, claim: claim, log: log, logFacts: logFacts, written: (file.written, file.size))
  }

  private init(
    path: Bytes, claim: StoreClaim, log: consuming OpenFile, logFacts: platform_file_facts,
    written: (at: Int64, size: Int64)
  ) {
    self.path = path
    self.claim = claim
    self.log = log
    self.logFacts = logFacts
    self.written = written
  }

  /// - Throws: `storeMoved`; `storeIO`, `storeCannotOpen` if it cannot be told.
  func check() throws(SeleneError) {
    guard let file = try Self.look(path), claim.isOf(file) else { throw Self.moved(path, "the file") }
    guard let found = try Self.look(log.path), isLog(found) else {
      throw Self.moved(path, "its log (the same name with -wal)")
    }
  }

  /// The file is there, no other process wrote into it, and no other log is in the place of the one that is gone.
  var isOnlyLogGone: Bool {
    guard let file = try? Self.look(path), claim.isOf(file), (file.written, file.size) == written else { return false }
    var facts = platform_file_facts()
    return log.path.withCString { platform_file_look($0, &facts) } == StoreFile.noEntry
  }

  mutating func noteWrite() {
    guard let file = try? Self.look(path), claim.isOf(file) else { return }
    written = (file.written, file.size)
  }

  /// Bytes that are free on the file system.
  var freeRoom: Int64 { log.freeRoom }

  func cutLog(to size: Int64) -> Int32 { log.cut(to: size) }

  private func isLog(_ found: platform_file_facts) -> Bool {
    found.device == logFacts.device && found.inode == logFacts.inode
  }

  /// What a name leads to; nil if to nothing.
  private static func look(_ path: Bytes) throws(SeleneError) -> platform_file_facts? {
    var facts = platform_file_facts()
    let error = path.withCString { platform_file_look($0, &facts) }
    // Of a file server: ESTALE is a file that is gone.
    if error == StoreFile.noEntry || error == StoreFile.notFolder || error == StoreFile.stale { return nil }
    guard error == 0 else { throw StoreFile.error(error, path) }
    return facts
  }

  private static func moved(_ path: Bytes, _ what: StaticString) -> SeleneError {
    SeleneError(
      .storeMoved, "store", path: path, "\(what) was removed or replaced while open; reopen the store")
  }
}
