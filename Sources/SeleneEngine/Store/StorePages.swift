// Saving tasks page by page, where the tree that leads to them is broken.
//
// Source of the format: https://www.sqlite.org/fileformat2.html, sections 1.5 and 1.6 (pages and cells), 2.1 (records).

import CPlatform
import SeleneCore

/// The pages of a damaged store in memory, as its log leaves them.
struct StorePages {
  /// Whole pages, with a header as a store has it.
  private var bytes: [UInt8]
  let pageSize: Int
  private var pageCount: Int { bytes.count / pageSize }
  /// Pages that hold nothing any more; what stands on them was deleted.
  private var free: [Bool] = []
  /// Every page of which the header says that it is free was found.
  private(set) var isFreeListWhole = false
  /// Frames of the log that were damaged.
  private(set) var lostFrames: UInt64 = 0

  /// What a page size is if no header says it.
  static let usualPageSize = 4096
  /// Of SQLite.
  static let leastPageSize = 512

  /// Reads a file and its log; the page size is the header's, if it can be one, unless it is given.
  ///
  /// What was never written at the end of a file is not read: a file that is made long costs no memory.
  ///
  /// - Throws: `exhausted` for more than the machine has memory; `storeCannotOpen`, `storeIO`.
  init(_ store: Bytes, pageSize given: Int? = nil) throws(SeleneError) {
    guard let file = try OpenFile.open(store) else { throw StoreFile.error(StoreFile.noEntry, store) }
    let end = try file.dataEnd()
    guard end < platform_memory() else {
      throw SeleneError(
        .exhausted, "store", path: store, "\(end) bytes long, more than the memory that salvage may use")
    }
    // A page more, for an end that is not a whole page, and for a file without even a header.
    var image = [UInt8](repeating: 0, count: Int(end) + 65_536)
    let count = min(Int(end), try file.read(at: 0, into: &image))
    let word = Int(image[16]) << 8 | Int(image[17])
    let says = word == 1 ? 65_536 : word
    pageSize = given ?? (says >= Self.leastPageSize && says & (says - 1) == 0 ? says : Self.usualPageSize)
    let pages = max(1, (count + pageSize - 1) / pageSize)
    image.removeSubrange((pages * pageSize)...)
    bytes = image
    try readLog(of: store)
    repairHeader()
    readFreeList(first: Int(number(bytes, 32)))
  }

  /// Puts what was committed to the log over the file; a page of a frame that is damaged stays as it was before.
  private mutating func readLog(of file: Bytes) throws(SeleneError) {
    guard var log = try StoreLog.open(of: file, pageSize: pageSize) else { return }
    var (frames, committed) = (0, 0)
    // Where it cannot be read it ends.
    while (try? log.next()) == true {
      frames += 1
      if log.isWhole && log.pagesOfCommit > 0 { committed = frames }
    }
    guard committed > 0, var log = try StoreLog.open(of: file, pageSize: pageSize) else { return }
    // A store grows by what is written; a number beyond that is not a page of it.
    let greatest = pageCount + 16 * frames + 1024
    while committed > 0, (try? log.next()) == true {
      committed -= 1
      guard log.isWhole, log.page <= greatest else {
        lostFrames += 1
        continue
      }
      let end = log.page * pageSize
      if end > bytes.count { bytes.append(contentsOf: repeatElement(0, count: end - bytes.count)) }
      bytes.replaceSubrange((end - pageSize)..<end, with: log.frame[StoreLog.frameHeaderSize...])
    }
  }

  /// The header says what it says in every store, so that SQLite reads the pages behind it; in memory there is no log.
  private mutating func repairHeader() {
    let magic: StaticString = "SQLite format 3"
    for index in 0..<16 { bytes[index] = index < 15 ? magic.utf8Start[index] : 0 }
    bytes.replaceSubrange(16..<24, with: [UInt8(pageSize >> 8 & 0xFF), UInt8(pageSize >> 16), 1, 1, 0, 64, 32, 32])
    // The change counter for which the number of pages is valid.
    for index in 0..<4 {
      bytes[28 + index] = UInt8(truncatingIfNeeded: pageCount >> (24 - index * 8))
      bytes[92 + index] = bytes[24 + index]
      // The format of the schema, no vacuum, UTF-8.
      bytes[44 + index] = index == 3 ? 4 : 0
      bytes[52 + index] = 0
      bytes[56 + index] = index == 3 ? 1 : 0
      bytes[64 + index] = 0
    }
  }

  private mutating func readFreeList(first: Int) {
    free = [Bool](repeating: false, count: pageCount + 1)
    var (trunk, found) = (first, 0)
    while trunk > 0, trunk <= pageCount, !free[trunk] {
      let page = self.page(trunk)
      free[trunk] = true
      found += 1
      let leaves = min(Int(number(page, 4)), pageSize / 4 - 2)
      for leaf in 0..<max(0, leaves) {
        let number = Int(number(page, 8 + leaf * 4))
        guard number <= pageCount, !free[number] else { continue }
        free[number] = true
        found += 1
      }
      trunk = Int(number(page, 0))
    }
    isFreeListWhole = trunk == 0 && found == Int(number(bytes, 36))
  }

  /// Lets SQLite read the pages.
  mutating func withReader(_ body: (SQLite) -> Void) throws(SeleneError) {
    let reader = try SQLite.open(nil, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY)
    let size = Int64(bytes.count)
    bytes.withUnsafeMutableBufferPointer { bytes in
      let flags = UInt32(SQLITE_DESERIALIZE_READONLY)
      if sqlite3_deserialize(reader.raw, "main", bytes.baseAddress, size, size, flags) == SQLITE_OK { body(reader) }
      reader.close()
    }
  }

  /// Puts every row that looks like a task's, on any page in use, into a table that takes it as it is.
  ///
  /// - Returns: how many cells cannot be read.
  func copyRows(into insert: Statement) -> UInt64 {
    var damaged: UInt64 = 0
    for number in stride(from: 2, through: pageCount, by: 1) where !free[number] {
      let page = self.page(number)
      guard page[0] == 0x0D else { continue }
      let cells = Int(page[3]) << 8 | Int(page[4])
      for cell in 0..<min(cells, (pageSize - 8) / 2) {
        let pointer = 8 + cell * 2
        let isRow = copyRow(page, at: Int(page[pointer]) << 8 | Int(page[pointer + 1]), into: insert)
        damaged += isRow ? 0 : 1
      }
    }
    return damaged
  }

  /// Answers false for a row that cannot be read.
  private func copyRow(_ page: [UInt8], at start: Int, into insert: Statement) -> Bool {
    var position = start
    guard let size = varint(page, &position), let sequence = varint(page, &position), sequence > 0,
      (1...Int64(pageCount * pageSize)).contains(size), let payload = payload(page, position, Int(size))
    else { return false }
    var header = 0
    guard let headerSize = varint(payload, &header), headerSize <= payload.count else { return false }
    var body = Int(headerSize)
    var columns = 0
    var hasID = false
    insert.bind(1, sequence)
    while header < Int(headerSize) {
      guard let type = varint(payload, &header), type >= 0, let length = Self.length(of: type),
        body + length <= payload.count
      else { return false }
      columns += 1
      if columns == 2 { hasID = !(1...9).contains(type) }
      if columns > 1 && columns <= Schema.columns { bind(payload, body, length, type, to: insert, Int32(columns)) }
      body += length
    }
    // Those of the other tables are not tasks.
    guard columns == Schema.columns && hasID else { return Schema.otherColumns.contains(columns) }
    // The bound bytes must live until here.
    withExtendedLifetime(payload) { _ = insert.execute() }
    return true
  }

  private func bind(
    _ payload: [UInt8], _ start: Int, _ length: Int, _ type: Int64, to insert: Statement, _ column: Int32
  ) {
    switch type {
    case 0: insert.bind(column, Int64?.none)
    case 1...6:
      var value: Int64 = payload[start] >= 0x80 ? -1 : 0
      for index in start..<(start + length) { value = value << 8 | Int64(payload[index]) }
      insert.bind(column, value)
    case 8, 9: insert.bind(column, type - 8)
    default:
      payload.withUnsafeBytes { bytes in
        let part = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
        insert.bindCopy(column, part, isText: type % 2 == 1)
      }
    }
  }

  /// Bytes of a value by its serial type; nil for types that a store never writes.
  private static func length(of type: Int64) -> Int? {
    switch type {
    case 0, 8, 9: return 0
    case 1...4: return Int(type)
    case 5: return 6
    case 6: return 8
    case 12...(1 << 32): return Int((type - 12) / 2)
    default: return nil
    }
  }

  /// The payload of a cell, with what stands on overflow pages.
  private func payload(_ page: [UInt8], _ start: Int, _ size: Int) -> [UInt8]? {
    let most = pageSize - 35
    var local = size
    if size > most {
      let least = (pageSize - 12) * 32 / 255 - 23
      let fitting = least + (size - least) % (pageSize - 4)
      local = fitting <= most ? fitting : least
    }
    guard start + local <= page.count else { return nil }
    var bytes = Array(page[start..<(start + local)])
    guard local < size else { return bytes }
    guard start + local + 4 <= page.count else { return nil }
    var next = Int(number(page, start + local))
    var left = pageCount
    while bytes.count < size {
      left -= 1
      guard left > 0, next > 1, next <= pageCount else { return nil }
      let page = self.page(next)
      bytes.append(contentsOf: page[4..<min(pageSize, 4 + size - bytes.count)])
      next = Int(number(page, 0))
    }
    return bytes
  }

  /// A page of 1 … pageCount.
  private func page(_ number: Int) -> [UInt8] { Array(bytes[((number - 1) * pageSize)..<(number * pageSize)]) }

  private func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[offset + $1]) }
  }

  /// SQLite's variable-length integer: 7 bits a byte, the ninth byte with 8.
  private func varint(_ bytes: [UInt8], _ position: inout Int) -> Int64? {
    var value: UInt64 = 0
    for index in 0..<9 {
      guard position < bytes.count else { return nil }
      let byte = bytes[position]
      position += 1
      if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte & 0x80 == 0 { break }
    }
    return Int64(bitPattern: value)
  }
}
