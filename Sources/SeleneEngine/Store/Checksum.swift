// A checksum of each row: SQLite notices a broken page, but not a changed value.

import CPlatform
import SeleneCore

/// A 64-bit multiplicative hash of numbers and bytes; finds damage, does not resist malice.
struct Checksum {
  private var state: UInt64 = 0x53_656C_6E65

  static func of(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    var sum = Checksum()
    sum.add(bytes)
    return sum.value
  }

  var value: Int64 { Int64(bitPattern: state) }

  mutating func add(_ word: UInt64) {
    state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
    state ^= state >> 32
  }

  mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }

  mutating func add(_ number: Int64?) {
    add(number == nil ? 0 : 1 as UInt64)
    add(number ?? 0)
  }

  /// The length, then the bytes eight at a time, the last ones filled up with zeros.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    add(UInt64(bytes.count))
    var offset = 0
    while offset + 8 <= bytes.count {
      add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      offset += 8
    }
    guard offset < bytes.count else { return }
    var last: UInt64 = 0
    for index in offset..<bytes.count { last |= UInt64(bytes[index]) << UInt64((index - offset) * 8) }
    add(last)
  }
}

extension StoredBooks {
  /// The checksum of its row.
  var checksum: Int64 {
    var sum = Checksum()
    sum.add(backgroundSwitch)
    sum.add(hostPresence)
    ledger.withUnsafeBytes { sum.add($0) }
    habits.withUnsafeBytes { sum.add($0) }
    // Without such runs it is that of the versions that had none.
    if !expedited.isEmpty { expedited.withUnsafeBytes { sum.add($0) } }
    return sum.value
  }
}

extension HandlerTimes {
  /// The checksum of its row.
  func checksum(at place: Int) -> Int64 {
    var sum = Checksum()
    sum.add(Int64(place))
    sum.add(name.buffer)
    for time in responseTimes { sum.add(time) }
    return sum.value
  }
}

extension KeptWaits {
  /// The checksum of a row.
  static func checksum(_ words: [Int64], at place: Int64) -> Int64 {
    var sum = Checksum()
    sum.add(place)
    for word in words { sum.add(word) }
    return sum.value
  }
}

extension GroupTerms {
  /// What a row says of a group; nil if it is damaged.
  init?(row: Statement) {
    guard let limit = UInt32(exactly: row.int(2)), (0...1).contains(row.int(3)) else { return nil }
    self.init(limit: limit, isPaused: row.int(3) == 1)
    guard checksum(of: row.bytes(1), at: row.int(0)) == row.int(4) else { return nil }
  }

  /// Binds the columns of the row of a group.
  func bind(_ statement: Statement, _ name: UnsafeRawBufferPointer, at place: Int64) {
    statement.bind(1, place)
    statement.bindCopy(2, name, isText: true)
    statement.bind(3, Int64(limit))
    statement.bind(4, isPaused ? 1 : 0)
    statement.bind(5, checksum(of: name, at: place))
  }

  /// The checksum of the row of a group.
  private func checksum(of name: UnsafeRawBufferPointer, at place: Int64) -> Int64 {
    var sum = Checksum()
    sum.add(place)
    sum.add(name)
    sum.add(Int64(limit))
    sum.add(isPaused ? 1 : 0 as Int64)
    return sum.value
  }
}

extension HostConditions {
  /// Whether the row of a condition is as it was written.
  static func isWhole(_ row: Statement) -> Bool { checksum(of: row.bytes(1), at: row.int(0)) == row.int(2) }

  /// Binds the columns of the row of a condition.
  ///
  /// The place is its number and one; negative if it is not defined, and tasks ask for it all the same.
  static func bind(_ statement: Statement, _ name: UnsafeRawBufferPointer, _ number: Int, isDefined: Bool) {
    let place = Int64(number) + 1
    bind(statement, name, at: isDefined ? place : -place)
  }

  /// Its number; nil if it cannot have such a place.
  static func number(_ row: Statement) -> Int? {
    let place = row.int(0).magnitude
    return (1...UInt64(most)).contains(place) ? Int(place) - 1 : nil
  }

  private static func bind(_ statement: Statement, _ name: UnsafeRawBufferPointer, at place: Int64) {
    statement.bind(1, place)
    statement.bindCopy(2, name, isText: true)
    statement.bind(3, checksum(of: name, at: place))
  }

  private static func checksum(of name: UnsafeRawBufferPointer, at place: Int64) -> Int64 {
    var sum = Checksum()
    sum.add(place)
    sum.add(name)
    return sum.value
  }
}

extension Pauses {
  /// Takes what a row says; false if it is damaged.
  mutating func load(row: Statement) -> Bool {
    let until = PerKind(refresh: row.optional(2) ?? .min, processing: row.optional(3) ?? .min)
    let pool = row.bytes(1)
    guard Self.checksum(of: pool, until, at: row.int(0)) == row.int(4) else { return false }
    return load(pool.isEmpty ? nil : pool, until)
  }

  /// Writes all of them as rows, into an empty table.
  func write(_ statement: Statement) -> Int32 {
    var place: Int64 = 0
    for entry in entries {
      place += 1
      let pool = entry.pool?.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0)
      statement.bind(1, place)
      statement.bindCopy(2, pool, isText: true)
      statement.bind(3, entry.until.refresh == .min ? nil : entry.until.refresh)
      statement.bind(4, entry.until.processing == .min ? nil : entry.until.processing)
      statement.bind(5, Self.checksum(of: pool, entry.until, at: place))
      let code = statement.execute()
      guard code == SQLITE_OK else { return code }
    }
    return SQLITE_OK
  }

  private static func checksum(of pool: UnsafeRawBufferPointer, _ until: PerKind<Instant>, at place: Int64) -> Int64 {
    var sum = Checksum()
    sum.add(place)
    sum.add(pool)
    sum.add(until.refresh)
    sum.add(until.processing)
    return sum.value
  }
}

extension StoredState {
  /// The checksum of its row, in which the owner of the store stands, too.
  func checksum(owner: Bytes?) -> Int64 {
    var sum = Checksum()
    for word in [life, lastSequence, generator] { sum.add(word) }
    sum.add(lastSeen)
    sum.add(lastRefresh)
    sum.add(lastProcessing)
    // Without an owner it is that of the versions that had none.
    if let owner { sum.add(owner.buffer) }
    return sum.value
  }
}
