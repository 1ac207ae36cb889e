// Looking into a write-ahead log: SQLite takes one that it cannot read for one that was never written.
//
// Source of the format: https://www.sqlite.org/fileformat2.html, section 4 (the write-ahead log).

import CPlatform
import SeleneCore

/// The frames of a log, read without SQLite.
struct StoreLog: ~Copyable {
  static let headerSize = 32
  static let frameHeaderSize = 24

  private let file: OpenFile
  private let pageSize: Int
  private let isBigEndian: Bool
  private let salts: UInt64
  /// The sums that the present frame's go on from.
  private var sums: (UInt32, UInt32)
  /// Sums that the first frame may go on from instead.
  private var otherSums: (UInt32, UInt32)
  private var offset = Int64(headerSize)
  /// The present frame with its header.
  private(set) var frame: [UInt8]
  /// The header is as SQLite wants it.
  let isValid: Bool

  /// Reads the header of a store's log; nil if it is not whole.
  ///
  /// - Throws: `storeCannotOpen`, `storeIO`.
  static func open(of store: Bytes, pageSize: Int) throws(SeleneError) -> StoreLog? {
    guard let file = try OpenFile.open(store.appending("-wal")) else { return nil }
    var header = [UInt8](repeating: 0, count: headerSize + frameHeaderSize)
    guard try file.read(at: 0, into: &header) >= headerSize else { return nil }
    return StoreLog(file, header, pageSize: pageSize)
  }

  private init(_ file: consuming OpenFile, _ header: [UInt8], pageSize: Int) {
    self.file = file
    self.pageSize = pageSize
    frame = [UInt8](repeating: 0, count: Self.frameHeaderSize + pageSize)
    let magic = Self.number(header, 0)
    isBigEndian = magic == 0x377F_0683
    sums = (Self.number(header, 24), Self.number(header, 28))
    otherSums = (0, 0)
    Self.add(header, 0..<24, isBigEndian, to: &otherSums)
    isValid =
      magic & ~1 == 0x377F_0682 && Self.number(header, 4) == 3_007_000 && Int(Self.number(header, 8)) == pageSize
      && sums == otherSums
    // The first frame repeats the salts of a header that was damaged.
    salts = Self.salts(header, isValid ? 16 : Self.headerSize + 8)
  }

  /// Goes to the next frame; false after the last whole one.
  ///
  /// Of frames that were never written, as in a file that was made long without being written, the last stands for all.
  ///
  /// - Throws: `storeIO`.
  mutating func next() throws(SeleneError) -> Bool {
    guard try file.read(at: offset, into: &frame) == frame.count else { return false }
    if page == 0, salt == 0 {
      guard let data = file.data(from: offset) else { return false }
      let skipped = max(0, (data - offset) / Int64(frame.count) - 1)
      offset += skipped * Int64(frame.count)
    }
    offset += Int64(frame.count)
    let stored = (Self.number(frame, 16), Self.number(frame, 20))
    isWhole = page > 0 && isOfLog && (sum(from: sums) == stored || sum(from: otherSums) == stored)
    // Each goes on from what the one before says, so that one that is damaged does not hide those behind it.
    (sums, otherSums) = (stored, stored)
    return true
  }

  /// The present frame is as it was written.
  private(set) var isWhole = false
  /// It belongs to this log, and not to an earlier one in its place.
  var isOfLog: Bool { salt == salts }
  private var salt: UInt64 { Self.salts(frame, 8) }
  var page: Int { Int(Self.number(frame, 0)) }
  /// The pages of the store after the commit that it ends; 0 within a commit.
  var pagesOfCommit: Int { Int(Self.number(frame, 4)) }

  private func sum(from start: (UInt32, UInt32)) -> (UInt32, UInt32) {
    var sums = start
    Self.add(frame, 0..<8, isBigEndian, to: &sums)
    Self.add(frame, Self.frameHeaderSize..<frame.count, isBigEndian, to: &sums)
    return sums
  }

  private static func add(
    _ bytes: [UInt8], _ range: Range<Int>, _ isBigEndian: Bool, to sums: inout (UInt32, UInt32)
  ) {
    bytes.withUnsafeBytes { bytes in
      for index in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
        let first = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)
        let second = bytes.loadUnaligned(fromByteOffset: index + 4, as: UInt32.self)
        sums.0 &+= (isBigEndian ? UInt32(bigEndian: first) : UInt32(littleEndian: first)) &+ sums.1
        sums.1 &+= (isBigEndian ? UInt32(bigEndian: second) : UInt32(littleEndian: second)) &+ sums.0
      }
    }
  }

  private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[offset + $1]) }
  }

  private static func salts(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
    UInt64(number(bytes, offset)) << 32 | UInt64(number(bytes, offset + 4))
  }

  // MARK: Check

  /// Refuses a log of which SQLite would drop what was durable.
  ///
  /// Each log begins with nothing, and its header is on the disk before its first frame is written: frames behind a header
  /// that is none were damaged, whatever power was lost meanwhile. Each commit is on the disk before the next is written: a
  /// frame was damaged where a whole commit and still another frame come behind it. What ends a log may be the last commit,
  /// torn by a loss of power: damage there cannot be told from that.
  ///
  /// - Parameter mayHaveHoles: commits were not brought to the disk one by one.
  /// - Throws: `storeCorrupt`, `storeCannotOpen`, `storeIO`.
  static func check(of store: Bytes, pageSize: Int, mayHaveHoles: Bool) throws(SeleneError) {
    if var log = try StoreLog.open(of: store, pageSize: pageSize), log.isValid {
      var (isBroken, isCommitted) = (false, false)
      while !mayHaveHoles, try log.next() {
        isBroken = isBroken || !log.isWhole
        guard isBroken, log.isOfLog else { continue }
        guard !isCommitted else {
          throw SeleneError(
            .storeCorrupt, "store", path: store, "its log (the same name with -wal) is damaged in the middle")
        }
        isCommitted = log.pagesOfCommit > 0
      }
      return
    }
    guard let file = try OpenFile.open(store.appending("-wal")) else { return }
    guard try file.isEmpty(from: Int64(headerSize)) else {
      throw SeleneError(
        .storeCorrupt, "store", path: store, "the header of its log (the same name with -wal) is damaged")
    }
  }
}
