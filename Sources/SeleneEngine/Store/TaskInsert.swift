// Writing tasks as rows.

import CPlatform
import SeleneCore

/// A statement that writes a number of rows at a time; what a row has in common with the one before stays bound.
final class TaskInsert {
  private let statement: Statement
  private var packed = PackedTerms()
  /// The terms that are bound at the place of each row.
  private var terms: [TaskTerms?]
  /// The numbers that are bound.
  private var numbers: [Int64]
  /// The histories that are bound, each at the place of its row.
  private let histories: UnsafeMutableRawPointer
  /// Those that need more room, until their rows are written.
  private var long: [UnsafeMutableRawPointer] = []
  let rows: Int
  /// How many rows were taken and not written yet.
  private(set) var count = 0

  init(_ statement: Statement, rows: Int) {
    self.statement = statement
    self.rows = rows
    terms = [TaskTerms?](repeating: nil, count: rows)
    numbers = [Int64](repeating: 0, count: rows * Schema.columns + 1)
    histories = .allocate(byteCount: rows * TaskRecord.historySize, alignment: 8)
    for index in 1..<numbers.count { statement.bind(Int32(index), 0) }
  }

  deinit {
    forgetLong()
    histories.deallocate()
  }

  func finish() { statement.finish() }

  /// Takes a record as its next row; with the last one writes all of them. The code of SQLite.
  func add(_ record: UnsafePointer<TaskRecord>) -> Int32 {
    let code = bind(record, count)
    guard code == SQLITE_OK else {
      terms[count] = nil
      count = 0
      forgetLong()
      return code
    }
    count += 1
    guard count == rows else { return SQLITE_OK }
    count = 0
    defer { forgetLong() }
    return statement.execute()
  }

  private func forgetLong() {
    guard !long.isEmpty else { return }
    for history in long { history.deallocate() }
    long = []
  }

  /// Where the history of the row at a place is packed.
  @inline(__always)
  private func room(for record: UnsafePointer<TaskRecord>, _ place: Int) -> UnsafeMutableRawPointer {
    let (output, definition) = (record.pointee.output, record.pointee.definition)
    let hasTrail = record.pointee.trail != nil
    guard output != nil || definition.afterCount > 0 || hasTrail else {
      return histories + place * TaskRecord.historySize
    }
    let after = definition.after
    let size =
      TaskRecord.historySize + (output?.count ?? 0) + after.reduce(16) { $0 + 11 + $1.id.count }
      + (hasTrail ? WaitTrail.mostBytes : 0)
    let room = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
    long.append(room)
    return room
  }

  private func bind(_ record: UnsafePointer<TaskRecord>, _ place: Int) -> Int32 {
    let first = place * Schema.columns
    packed.pack(record.pointee.definition)
    if packed.terms == nil || terms[place] !== packed.terms {
      terms[place] = packed.terms
      let code = packed.bytes.withUnsafeBytes { statement.bindCopy(Int32(first + 4), $0, isText: false) }
      guard code == SQLITE_OK else { return code }
    }
    let target = room(for: record, place)
    let history = UnsafeRawBufferPointer(start: target, count: record.pointee.packHistory(into: target))
    let row = record.pointee.row(terms: packed.checksum, history: history)
    bind(first + 1, row.sequence)
    // The record has its definition until the statement has run.
    statement.bind(Int32(first + 2), text: row.id)
    statement.bind(Int32(first + 3), bytes: row.input)
    bind(first + 5, row.state)
    bind(first + 6, row.attempts)
    bind(first + 7, row.earliestBegin)
    bind(first + 8, row.lastRun)
    statement.bind(Int32(first + 9), bytes: history)
    bind(first + 10, row.checksum)
    return SQLITE_OK
  }

  private func bind(_ index: Int, _ number: Int64) {
    guard numbers[index] != number else { return }
    numbers[index] = number
    statement.bind(Int32(index), number)
  }
}
