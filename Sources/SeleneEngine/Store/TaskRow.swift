// A task as a row: columns for what runs change, the rest packed, because each column costs what a comparison of ids costs.

import SeleneCore

/// The columns of a task.
struct TaskRow {
  var sequence: Int64
  var id: UnsafeRawBufferPointer
  var input: UnsafeRawBufferPointer
  /// The checksum of the packed terms, which many rows share.
  var terms: Int64
  var state: Int64
  var attempts: Int64
  var earliestBegin: Instant
  var lastRun: Instant
  var history: UnsafeRawBufferPointer

  /// The checksum of the row: SQLite notices a broken page, but not a changed value.
  var checksum: Int64 {
    var sum = Checksum()
    sum.add(sequence)
    sum.add(terms)
    sum.add(state)
    sum.add(attempts)
    sum.add(earliestBegin)
    sum.add(lastRun)
    sum.add(id)
    sum.add(input)
    sum.add(history)
    return sum.value
  }
}

extension TaskRecord {
  func row(terms: Int64, history: UnsafeRawBufferPointer) -> TaskRow {
    TaskRow(
      sequence: Int64(sequence), id: definition.id, input: definition.input, terms: terms, state: Int64(state.rawValue),
      attempts: Int64(attempts), earliestBegin: earliestBegin, lastRun: lastRun, history: history)
  }

  /// How many words a history has at most, without its fields.
  static let mostHistory = 7 + TaskDefinition.mostResponseTimes
  /// How many bytes it has at most without an output: those, and a failure's numbers and its message.
  static let historySize = mostHistory * 8 + 64 + LastFailure.longestMessage

  /// Packs what it has besides the columns, as little-endian words, and as fields what few have; nothing while all of it
  /// follows from them. How many bytes.
  ///
  /// The upper half of the first word is 0, or, where fields stand behind the response times, their count and one.
  func packHistory(into target: UnsafeMutableRawPointer) -> Int {
    let words = target.assumingMemoryBound(to: Int64.self)
    guard
      registeredAt != lastRun || changedAt != lastRun || anchor != earliestBegin || generation > 0
        || lastOutcome != nil || stopReason != .none || periodBase != Self.onRegistration || hasRun
        || failure != nil || isPaused || isNextSaid || isExpectationLearnt || output != nil
        || outputLost > 0 || suspicion != .none || deaths > 0 || definition.afterCount > 0 || trail != nil
    else { return 0 }
    words[0] = Int64(generation)
    words[1] = lastOutcome.map { Int64($0.rawValue) } ?? -1
    words[2] = Int64(stopReason.rawValue)
    words[3] = registeredAt
    words[4] = changedAt
    words[5] = anchor
    words[6] = periodBase
    let count = 7 + copyResponseTimes(to: words + 7)
    let (failure, output) = (failure, output)
    let learnt = ranksByFreshness ? outcomes : (count: 0, news: 0)
    let trail = trail
    // Of others it follows from the rest.
    let keepsDue =
      hasRun && definition.schedule == .periodic && (state == .enqueued || state == .cancelled) && trail == nil
    let hasFields =
      failure != nil || learnt.count > 0 || ranksByFreshness && freshSince != lastRun || isPaused
      || isNextSaid || isExpectationLearnt || output != nil || outputLost > 0 || suspicion != .none
      || deaths > 0 || definition.afterCount > 0
      || keepsDue || trail != nil
    if hasFields { words[0] |= Int64(count - 7 + 1) << 32 }
    for index in 0..<count { words[index] = words[index].littleEndian }
    guard hasFields else { return count * 8 }
    var fields: [UInt8] = []
    if let failure {
      fields.append(field: 1, failure.at)
      fields.append(field: 2, Int64(failure.attempt))
      if let message = failure.message { fields.append(field: 3, message.buffer) }
    }
    if ranksByFreshness && freshSince != lastRun { fields.append(field: 4, freshSince) }
    if learnt.count > 0 { fields.append(field: 5, Int64(learnt.count) << 16 | Int64(learnt.news)) }
    if isPaused { fields.append(field: 6, 1) }
    if isNextSaid { fields.append(field: 7, 1) }
    if isExpectationLearnt { fields.append(field: 8, expected) }
    if let output { fields.append(field: 25, output.buffer) }
    if definition.afterCount > 0 { fields.append(field: 26, definition.after) }
    if keepsDue { fields.append(field: 27, ranDue) }
    if let trail { trail.packed.withUnsafeBytes { fields.append(field: 28, $0) } }
    if outputLost > 0 { fields.append(field: 29, Int64(clamping: outputLost)) }
    if suspicion != .none || deaths > 0 { fields.append(field: 30, Int64(deaths) << 8 | Int64(suspicion.rawValue)) }
    fields.withUnsafeBytes {
      (target + count * 8).copyMemory(from: $0.baseAddress.unsafelyUnwrapped, byteCount: $0.count)
    }
    return count * 8 + fields.count
  }
}

/// Terms as bytes: numbers of seven bits a byte, then the handler's name and the tags, each with a NUL; then, where a
/// number that came later is not its default, a byte that begins no name, and what came later (`Fields`).
struct PackedTerms: TaskNumberVisitor {
  private(set) var terms: TaskTerms?
  private(set) var bytes: [UInt8] = []
  private(set) var checksum: Int64 = 0

  /// Packs the terms of a definition, unless they are those of the one before.
  mutating func pack(_ definition: TaskDefinition) {
    guard terms !== definition.terms else { return }
    terms = definition.terms.isCounted ? nil : definition.terms
    bytes = []
    var numbers = definition.terms.numbers.asStored
    numbers.visit(&self)
    // No name: it is the id.
    if let handler = definition.terms.handler { bytes.append(contentsOf: handler.buffer) }
    bytes.append(0)
    for index in 0..<definition.tagCount {
      bytes.append(contentsOf: definition.tag(index))
      bytes.append(0)
    }
    let names = bytes.count
    numbers.visitLater(&self)
    if let group = definition.group { bytes.append(field: Self.group, group.name.buffer) }
    if definition.conditionCount > 0 {
      definition.conditionNames.withUnsafeBytes { bytes.append(field: Self.conditions, $0) }
    }
    if bytes.count > names { bytes.insert(Self.later, at: names) }
    checksum = bytes.withUnsafeBytes { Checksum.of($0) }
  }

  /// No text in UTF-8 begins with it.
  private static let later: UInt8 = 0xFF
  /// The field of the group's name; behind it no number may come.
  private static let group: UInt64 = 20

  /// The field of the conditions of the host, each name with a NUL.
  private static let conditions: UInt64 = 21

  mutating func visit(_ number: inout Int32) { bytes.append(packed: UInt64(bitPattern: Int64(number))) }
  mutating func visit(_ number: inout UInt32) { bytes.append(packed: UInt64(number)) }
  mutating func visit(_ number: inout Int64) { bytes.append(packed: UInt64(bitPattern: number)) }
  mutating func visit<Number: FixedWidthInteger>(_ field: UInt64, _ number: inout Number, usually: Number) {
    if number != usually { bytes.append(field: field, Int64(truncatingIfNeeded: number)) }
  }

  /// Takes terms over as they were packed.
  ///
  /// - Returns: nil if that is not a task.
  mutating func unpack(
    _ packed: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer, _ input: UnsafeRawBufferPointer,
    _ pool: inout TermsPool
  ) -> TaskDefinition? {
    if let terms, bytes.withUnsafeBytes({ $0.equals(packed) }) {
      return try? TaskDefinition.stored(id: id, input: input, terms)
    }
    var draft = TaskDraft()
    (draft.id, draft.input) = (id, input)
    var numbers = PackedNumbers(packed)
    draft.numbers.visit(&numbers)
    let names = numbers.position
    var start = names
    while start < packed.count, packed[start] != Self.later {
      guard let end = packed[start...].firstIndex(of: 0) else { return nil }
      let name = UnsafeRawBufferPointer(rebasing: packed[start..<end])
      if start == names { draft.handler = name } else { draft.tags.append(name) }
      start = end + 1
    }
    guard start > names else { return nil }
    numbers.later = Fields(packed, from: start < packed.count ? start + 1 : start)
    draft.numbers.visitLater(&numbers)
    if let group = numbers.later.text(Self.group) {
      guard group.count > 0 else { return nil }
      draft.group = group
    }
    if let names = numbers.later.text(Self.conditions) {
      var start = 0
      while start < names.count {
        guard let end = names[start...].firstIndex(of: 0) else { return nil }
        draft.conditions.append(UnsafeRawBufferPointer(rebasing: names[start..<end]))
        start = end + 1
      }
      guard !draft.conditions.isEmpty else { return nil }
    }
    guard numbers.later.isAtEnd else { return nil }
    draft.numbers = draft.numbers.fromStored
    // What was accepted once stays accepted: neither bounds nor sizes of today count.
    let bounds = BackoffBounds(minimum: 0, maximum: .max)
    guard let definition = try? TaskDefinition.checked(draft, .own, backoff: bounds, maxInput: .max, pool: &pool)
    else { return nil }
    // Such terms have no name for other tasks.
    terms = draft.handler.equals(id) ? nil : definition.terms
    bytes = Array(packed)
    checksum = Checksum.of(packed)
    return definition
  }
}

/// Reads the numbers of packed terms, in the order in which they were packed.
private struct PackedNumbers: TaskNumberVisitor {
  let bytes: UnsafeRawBufferPointer
  /// Where the next one begins; beyond the end once one was none.
  private(set) var position = 0
  /// Those that came later.
  var later: Fields

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    later = Fields(bytes, from: bytes.count)
  }

  @inline(never)
  mutating func next(atMost most: UInt64 = .max) -> Int64 {
    guard let number = bytes.unpack(&position), number <= most else {
      position = .max
      return 0
    }
    return Int64(bitPattern: number)
  }

  mutating func visit(_ number: inout Int32) { number = Int32(next(atMost: 255)) }
  mutating func visit(_ number: inout UInt32) { number = UInt32(next(atMost: UInt64(UInt32.max))) }
  mutating func visit(_ number: inout Int64) { number = next() }
  mutating func visit<Number: FixedWidthInteger>(_ field: UInt64, _ number: inout Number, usually: Number) {
    number = usually
    guard let found = later.number(field) else { return }
    if let kept = Number(exactly: found) { number = kept } else { later.refuse() }
  }
}

/// The rows of all tasks, in the order of their sequence.
struct TaskRows {
  private let rows: Statement
  private var terms = PackedTerms()

  init(_ connection: SQLite) throws(SeleneError) { rows = try connection.prepare(Schema.readTasks) }

  func finish() { rows.finish() }

  /// Goes to the next row; false after the last.
  func step() throws(SeleneError) -> Bool { try rows.step() }

  var sequence: Int64 { rows.int(0) }

  /// The task of the present row, or nil if it is none.
  mutating func record(_ pool: inout TermsPool) -> TaskRecord? {
    let (id, input) = (rows.bytes(1), rows.bytes(2))
    guard let sequence = UInt64(exactly: rows.int(0)), (1...TaskTable.greatestSequence).contains(sequence),
      let definition = terms.unpack(rows.bytes(3), id, input, &pool),
      let state = UInt8(exactly: rows.int(4)).flatMap(TaskState.init), let attempts = UInt32(exactly: rows.int(5))
    else { return nil }
    let row = TaskRow(
      sequence: rows.int(0), id: id, input: input, terms: terms.checksum, state: rows.int(4), attempts: rows.int(5),
      earliestBegin: rows.int(6), lastRun: rows.int(7), history: rows.bytes(8))
    guard row.checksum == rows.int(9) else { return nil }
    var facts: [Int64] = [0, -1, 0, row.lastRun, row.lastRun, row.earliestBegin, TaskRecord.onRegistration]
    var responseTimes: [Span] = []
    var words = row.history.count / 8
    var times: Int64 = 0
    if words > 0 {
      let first = Int64(littleEndian: row.history.loadUnaligned(as: Int64.self))
      times = first >> 32
      facts[0] = first & 0xFFFF_FFFF
    }
    if times > 0 {
      guard times - 1 <= Int64(words - facts.count) else { return nil }
      words = facts.count + Int(times) - 1
    }
    guard words <= TaskRecord.mostHistory, times > 0 || times == 0 && row.history.count % 8 == 0 else { return nil }
    var fields = Fields(row.history, from: words * 8)
    for index in stride(from: 1, to: words, by: 1) {
      let word = Int64(littleEndian: row.history.loadUnaligned(fromByteOffset: index * 8, as: Int64.self))
      if index < facts.count { facts[index] = word } else { responseTimes.append(word) }
      guard index < facts.count || word >= 0 else { return nil }
    }
    let failure = fields.failure()
    let freshSince = fields.number(4)
    let learnt = fields.number(5) ?? 0
    let isPaused = fields.number(6) == 1
    let isNextSaid = fields.number(7) == 1
    let expected = fields.number(8)
    let output = fields.text(25)
    let after = fields.predecessors(26)
    let ranDue = fields.number(27)
    let packedTrail = fields.text(28)
    let trail = packedTrail.flatMap { WaitTrail($0) }
    if packedTrail != nil && trail == nil { fields.refuse() }
    let outputLost = fields.number(29)
    let crashes = fields.number(30) ?? 0
    guard let suspicion = Suspicion(rawValue: UInt8(truncatingIfNeeded: crashes)),
      let deaths = UInt8(exactly: crashes >> 8)
    else { return nil }
    guard fields.isAtEnd, outputLost.map({ $0 > 0 }) ?? true, (0..<17 << 16).contains(learnt),
      responseTimes.count <= TaskDefinition.mostResponseTimes,
      expected.map({ $0 >= 0 && definition.expectedResponse < 0 }) ?? true,
      let generation = UInt32(exactly: facts[0]), let stopReason = Int32(exactly: facts[2]).flatMap(StopReason.init)
    else { return nil }
    var lastOutcome: Outcome?
    if facts[1] != -1 {
      guard let outcome = Int32(exactly: facts[1]).flatMap(Outcome.init) else { return nil }
      lastOutcome = outcome
    }
    guard after.isEmpty || definition.schedule == .once else { return nil }
    return TaskRecord(
      stored: after.isEmpty ? definition : definition.after(after), sequence: sequence, state: state,
      attempts: attempts, generation: generation,
      lastOutcome: lastOutcome, stopReason: stopReason, registeredAt: facts[3], earliestBegin: row.earliestBegin,
      anchor: facts[5], periodBase: facts[6], lastRun: row.lastRun, changedAt: facts[4], responseTimes: responseTimes,
      failure: failure, freshSince: freshSince,
      outcomes: (UInt8(truncatingIfNeeded: learnt >> 16), UInt16(truncatingIfNeeded: learnt)), isPaused: isPaused,
      isNextSaid: isNextSaid, expected: expected, output: output.map { Bytes(copying: $0) },
      outputLost: UInt64(outputLost ?? 0), suspicion: suspicion, deaths: deaths, ranDue: ranDue, trail: trail)
  }
}

extension TaskDefinition {
  /// The names of the conditions that it asks for, each with a NUL.
  fileprivate var conditionNames: [UInt8] {
    var names: [UInt8] = []
    for index in 0..<conditionCount {
      names.append(contentsOf: condition(index))
      names.append(0)
    }
    return names
  }
}

extension [UInt8] {
  /// Adds what a task comes after as a field: for each the number of its record, and its id behind the count of its bytes.
  fileprivate mutating func append(field: UInt64, _ after: [Predecessor]) {
    var packed: [UInt8] = []
    for predecessor in after {
      packed.append(packed: predecessor.sequence)
      packed.append(UInt8(truncatingIfNeeded: predecessor.id.count))
      packed.append(contentsOf: predecessor.id)
    }
    packed.withUnsafeBytes { append(field: field, $0) }
  }
}

extension Fields {
  /// What a task comes after; valid as long as the row.
  fileprivate mutating func predecessors(_ field: UInt64) -> [Predecessor] {
    guard let packed = text(field) else { return [] }
    var after: [Predecessor] = []
    var position = 0
    while position < packed.count {
      guard let sequence = packed.unpack(&position), position < packed.count else { break }
      let end = position + 1 + Int(packed[position])
      guard end <= packed.count, after.count < TaskDefinition.mostAfter else { break }
      let id = UnsafeRawBufferPointer(rebasing: packed[(position + 1)..<end])
      guard (try? Identifier.check(id, "after")) != nil else { break }
      after.append(Predecessor(id: id, sequence: sequence))
      position = end
    }
    if position != packed.count || after.isEmpty { refuse() }
    return after
  }

  /// The failure of a record.
  fileprivate mutating func failure() -> LastFailure? {
    guard let at = number(1) else { return nil }
    guard let attempt = number(2).flatMap({ UInt32(exactly: $0) }) else {
      refuse()
      return nil
    }
    guard let text = text(3) else { return LastFailure(at: at, attempt: attempt, nil) }
    guard text.count <= LastFailure.longestMessage, let message = try? LastFailure.message(text) else {
      refuse()
      return nil
    }
    return LastFailure(at: at, attempt: attempt, message)
  }
}
