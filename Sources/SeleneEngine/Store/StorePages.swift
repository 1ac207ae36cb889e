// Saving tasks page by page, where the tree that leads to them is broken.
//
// Source of the format: https://www.sqlite.org/fileformat2.html, sections 1.5 and 1.6 (pages and cells), 2.1 (records).

import CPlatform
import SeleneCore

/// The pages of a store file, read without SQLite.
struct StorePages {
  private let file: Bytes
  private let pageSize: Int
  private let pageCount: Int
  /// Pages that hold nothing any more; what stands on them was deleted.
  private var free: [Bool]

  /// The columns of a task's row.
  private static let columns = 32

  init?(_ file: Bytes) {
    self.file = file
    var header = [UInt8](repeating: 0, count: 100)
    guard file.withCString({ platform_read_at($0, 0, &header, 100) }) == 100 else { return nil }
    let size = Int(header[16]) << 8 | Int(header[17])
    pageSize = size == 1 ? 65_536 : size
    guard pageSize >= 512, pageSize & (pageSize - 1) == 0, header[20] == 0 else { return nil }
    pageCount = Int(file.fileSize) / pageSize
    free = [Bool](repeating: false, count: pageCount + 1)
    readFreeList(first: Int(number(header, 32)))
  }

  private mutating func readFreeList(first: Int) {
    var trunk = first
    while trunk > 0, trunk <= pageCount, !free[trunk], let page = read(trunk) {
      free[trunk] = true
      let leaves = min(Int(number(page, 4)), pageSize / 4 - 2)
      for leaf in 0..<max(0, leaves) {
        let number = Int(number(page, 8 + leaf * 4))
        if number <= pageCount { free[number] = true }
      }
      trunk = Int(number(page, 0))
    }
  }

  /// Puts every row that looks like a task's, on any page in use, into a table that takes it as it is.
  ///
  /// - Returns: how many cells cannot be read.
  func copyRows(into insert: Statement) -> UInt64 {
    var damaged: UInt64 = 0
    for number in stride(from: 2, through: pageCount, by: 1) where !free[number] {
      guard let page = read(number), page[0] == 0x0D else { continue }
      let cells = Int(page[3]) << 8 | Int(page[4])
      for cell in 0..<min(cells, (pageSize - 8) / 2) {
        let pointer = 8 + cell * 2
        let isRow = copyRow(page, at: Int(page[pointer]) << 8 | Int(page[pointer + 1]), into: insert)
        damaged += isRow ? 0 : 1
      }
    }
    return damaged
  }

  /// Answers false for what is no row that can be read.
  private func copyRow(_ page: [UInt8], at start: Int, into insert: Statement) -> Bool {
    var position = start
    guard let size = varint(page, &position), let sequence = varint(page, &position), sequence > 0,
      (1...Int64(pageCount * pageSize)).contains(size), let payload = payload(page, position, Int(size))
    else { return false }
    var header = 0
    guard let headerSize = varint(payload, &header), headerSize <= payload.count else { return false }
    var body = Int(headerSize)
    insert.bind(1, sequence)
    for column in 1...Self.columns {
      guard header < Int(headerSize), let type = varint(payload, &header), type >= 0,
        let length = Self.length(of: type), body + length <= payload.count
      else { return false }
      if column > 1 { bind(payload, body, length, type, to: insert, Int32(column)) }
      body += length
    }
    guard header == Int(headerSize) else { return false }
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
      guard left > 0, next > 1, next <= pageCount, let page = read(next) else { return nil }
      bytes.append(contentsOf: page[4..<min(pageSize, 4 + size - bytes.count)])
      next = Int(number(page, 0))
    }
    return bytes
  }

  private func read(_ number: Int) -> [UInt8]? {
    guard number >= 1, number <= pageCount else { return nil }
    var page = [UInt8](repeating: 0, count: pageSize)
    let offset = Int64(number - 1) * Int64(pageSize)
    let count = file.withCString { platform_read_at($0, offset, &page, Int64(pageSize)) }
    return count == pageSize ? page : nil
  }

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
