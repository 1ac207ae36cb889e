// Rows of tasks: what is written comes back, also what later versions added, and what is none is refused (D1).

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Rows") struct TaskRowTests {
  @Test("D1 fields come back by number, and are all there or refused")
  func fields() {
    let numbers: [Int64] = [1, 0, -1, .max, .min, 127, 128]
    var bytes: [UInt8] = []
    for (index, number) in numbers.enumerated() { bytes.append(field: UInt64(2 * index + 1), number) }
    Array("text".utf8).withUnsafeBytes { bytes.append(field: 200, $0) }
    bytes.append(field: 201, UnsafeRawBufferPointer(start: nil, count: 0))
    bytes.withUnsafeBytes { bytes in
      var fields = Fields(bytes, from: 0)
      for (index, number) in numbers.enumerated() {
        #expect(fields.number(UInt64(2 * index)) == nil)
        #expect(fields.number(UInt64(2 * index + 1)) == number)
      }
      // A number is not asked for as a text, nor the other way round.
      #expect(fields.number(200) == nil)
      #expect(fields.text(200).map { $0.elementsEqual("text".utf8) } == true)
      #expect(!fields.isAtEnd)
      #expect(fields.text(201)?.count == 0)
      #expect(fields.isAtEnd)
    }
    // Cut anywhere it is either refused or ends before a field.
    for count in 0..<bytes.count {
      bytes[..<count].withUnsafeBytes { cut in
        var fields = Fields(cut, from: 0)
        var found = 0
        for index in numbers.indices where fields.number(UInt64(2 * index + 1)) != nil { found += 1 }
        if fields.text(200) != nil { found += 1 }
        if fields.text(201) != nil { found += 1 }
        var whole: [UInt8] = []
        for index in numbers.indices.prefix(found) { whole.append(field: UInt64(2 * index + 1), numbers[index]) }
        if found > numbers.count { Array("text".utf8).withUnsafeBytes { whole.append(field: 200, $0) } }
        #expect(fields.isAtEnd == (whole.count == count))
      }
    }
  }

  @Test("D1 a text that says to be longer than its row is refused")
  func endless() {
    for count in [1, 2, UInt64(Int64.max), .max] {
      var bytes: [UInt8] = []
      bytes.append(packed: 3)
      bytes.append(packed: count)
      bytes.withUnsafeBytes {
        var fields = Fields($0, from: 0)
        #expect(fields.text(1) == nil)
        #expect(!fields.isAtEnd)
      }
    }
  }

  /// A store in memory with the row of one task.
  private struct Table {
    let connection: SQLite

    init(_ record: TaskRecord) throws {
      connection = try SQLite.open(nil, flags: 0x2 | 0x80 | 0x8000)
      try connection.run(Schema.create)
      let insert = TaskInsert(try connection.prepare(Schema.insert), rows: 1)
      #expect(withUnsafePointer(to: record) { insert.add($0) } == 0)
      insert.finish()
    }

    func read() throws -> TaskRecord? {
      var rows = try TaskRows(connection)
      defer { rows.finish() }
      #expect(try rows.step())
      var pool = TermsPool()
      return rows.record(&pool)
    }

    func bytes(_ column: Int32) throws -> [UInt8] {
      let rows = try connection.prepare(Schema.readTasks)
      defer { rows.finish() }
      #expect(try rows.step())
      return Array(rows.bytes(column))
    }

    /// Writes other terms and another history into the row, with their checksum.
    func write(_ record: TaskRecord, terms: [UInt8], history: [UInt8]) throws {
      let update = try connection.prepare("UPDATE task SET terms=?1, history=?2, checksum=?3")
      defer { update.finish() }
      terms.withUnsafeBytes { terms in
        history.withUnsafeBytes { history in
          update.bind(1, bytes: terms)
          update.bind(2, bytes: history)
          update.bind(3, record.row(terms: Checksum.of(terms), history: history).checksum)
          #expect(update.execute() == 0)
        }
      }
    }
  }

  private func record(responseTimes: [Span], _ change: (inout Recipe) -> Void = { _ in }) throws -> TaskRecord {
    var record = TaskRecord(
      try Recipe("task", .once, kind: .processing, change).define(), sequence: 7, state: .enqueued, at: 40)
    record.generation = 3
    record.lastOutcome = .failed
    record.responseTimes = responseTimes
    return record
  }

  @Test("R7 a failure is in the row of its task, and a damaged one is refused")
  func failure() throws {
    for message in [nil, "why", String(repeating: "ä", count: 512)] {
      var record = try record(responseTimes: message == nil ? [] : [5, 6])
      let bytes = try message.map { Array($0.utf8) }?.withUnsafeBytes { try LastFailure.message($0) }
      record.failure = LastFailure(at: .min, attempt: .max, bytes)
      let table = try Table(record)
      let read = try #require(try table.read())
      #expect(read.failure?.at == .min)
      #expect(read.failure?.attempt == .max)
      #expect(read.failure?.message.map { Array($0.buffer) } == message.map { Array($0.utf8) })
      #expect(read.responseTimes == record.responseTimes)
      #expect(read.generation == 3)
      // Cut anywhere behind the response times it is one without a failure, one without a text, or none.
      let (terms, history) = (try table.bytes(3), try table.bytes(8))
      let fields = (7 + record.responseTimes.count) * 8
      var whole: [Int] = []
      for end in fields..<history.count {
        try table.write(record, terms: terms, history: Array(history[..<end]))
        if try table.read() != nil { whole.append(end - fields) }
      }
      #expect(whole.first == 0 && whole.count == (message == nil ? 1 : 2))
    }
    // More than may be kept, no text, and an attempt that there is not.
    let record = try record(responseTimes: [])
    let table = try Table(record)
    let (terms, history) = (try table.bytes(3), try table.bytes(8))
    var counted = history
    counted[4] = 1
    for (attempt, text) in [(1, [UInt8](repeating: 65, count: 1025)), (1, [0xFF]), (1, [65, 0]), (1 << 32, [65])] {
      var fields: [UInt8] = []
      fields.append(field: 1, 5)
      fields.append(field: 2, Int64(attempt))
      text.withUnsafeBytes { fields.append(field: 3, $0) }
      try table.write(record, terms: terms, history: counted + fields)
      #expect(try table.read() == nil)
    }
  }

  @Test("D1 a row without fields is as version 2 of the schema wrote it, and one with unknown fields is refused")
  func later() throws {
    // A tag may begin with any byte that UTF-8 can begin with.
    let record = try record(responseTimes: [5, 6]) { $0.tags = ["\u{1}\u{2}", "b"] }
    let table = try Table(record)
    let (terms, history) = (try table.bytes(3), try table.bytes(8))
    #expect(history.count == 9 * 8 && history[4..<8].allSatisfy { $0 == 0 })
    #expect(terms.suffix(6) == [0, 1, 2, 0, UInt8(ascii: "b"), 0])
    #expect(try table.read()?.responseTimes == [5, 6])

    // The same with an empty list of fields, and with one that is not known.
    var counted = history
    counted[4] = 3
    try table.write(record, terms: terms + [0xFF], history: counted)
    let read = try #require(try table.read())
    #expect(read.responseTimes == [5, 6])
    #expect(read.generation == 3)
    #expect(read.definition.tagCount == 2)
    try table.write(record, terms: terms + [0xFF, 0xFE, 0xFF, 3, 1], history: history)
    #expect(try table.read() == nil)
    try table.write(record, terms: terms, history: counted + [0xFE, 0xFF, 3, 1])
    #expect(try table.read() == nil)
    // Fewer and more response times than there are; and what stands behind uncounted ones.
    for count: UInt8 in [1, 2, 4, 200] {
      counted[4] = count
      try table.write(record, terms: terms, history: counted)
      #expect(try table.read() == nil)
    }
    try table.write(record, terms: terms, history: history + [0])
    #expect(try table.read() == nil)
  }
}
