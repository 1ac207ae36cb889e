// What many tasks have in common: all of a definition but its id and its input, kept once.

/// The terms of tasks; immutable.
package final class TaskTerms: Sendable {
  struct Numbers: Equatable, Sendable {
    let expectedResponse: Span
    let initialDelay: Span
    let period: Span
    let flex: Span
    let backoffDelay: Span
    let maxAttempts: UInt32
    let constraints: Constraints
    let kind: Kind
    let schedule: Schedule
    let priority: UInt8
    let existing: ExistingPolicy
    let recurrence: Recurrence
    let backoff: BackoffPolicy
    let responseWindow: UInt8
  }

  let numbers: Numbers
  /// The handler's name, or nil where it is the id.
  package let handler: Bytes?
  let tags: [Bytes]

  fileprivate init(_ numbers: Numbers, handler: Bytes?, tags: [Bytes]) {
    self.numbers = numbers
    self.handler = handler
    self.tags = tags
  }

  static let vacant = TaskTerms(
    Numbers(
      expectedResponse: 0, initialDelay: 0, period: 0, flex: 0, backoffDelay: 0, maxAttempts: 0, constraints: [],
      kind: .refresh, schedule: .standing, priority: 1, existing: .keep, recurrence: .afterCompletion, backoff: .none,
      responseWindow: 0),
    handler: nil, tags: [])
}

/// Terms that were lately used, so that tasks of the same sort share them.
package struct TermsPool {
  private static let size = 256
  /// Terms whose places meet.
  private static let ways = 8
  private var places = [TaskTerms?](repeating: nil, count: size)
  /// Which of them goes next.
  private var turn = 0

  package init() {}

  /// The terms of a draft: those of an earlier task where they are the same.
  @_optimize(speed)
  mutating func terms(_ numbers: TaskTerms.Numbers, of draft: borrowing TaskDraft) -> TaskTerms {
    let handler = draft.handler.count > 0 && !draft.handler.equals(draft.id) ? draft.handler : nil
    let first = Self.place(numbers, handler, tags: draft.tags.count)
    for place in first..<(first + Self.ways) {
      if let known = places[place], known.numbers == numbers, Self.isSame(known.handler, handler),
        Self.isSame(known.tags, draft.tags)
      {
        return known
      }
    }
    let new = Self.make(numbers, handler, draft.tags)
    turn = (turn + 1) % Self.ways
    places[first + turn] = new
    return new
  }

  @inline(never)
  private static func make(
    _ numbers: TaskTerms.Numbers, _ handler: UnsafeRawBufferPointer?, _ texts: [UnsafeRawBufferPointer]
  ) -> TaskTerms {
    var tags: [Bytes] = []
    for tag in texts where !tags.contains(where: { $0.buffer.equals(tag) }) { tags.append(Bytes(copying: tag)) }
    return TaskTerms(numbers, handler: handler.map { Bytes(copying: $0) }, tags: tags)
  }

  @_optimize(speed)
  private static func place(_ numbers: TaskTerms.Numbers, _ handler: UnsafeRawBufferPointer?, tags: Int) -> Int {
    var mix = UInt64(bitPattern: numbers.expectedResponse ^ numbers.period)
    mix ^= UInt64(bitPattern: numbers.initialDelay) << 1 ^ UInt64(numbers.maxAttempts) << 7
    mix ^=
      UInt64(numbers.priority) << 13 ^ UInt64(numbers.kind.rawValue) << 17 ^ UInt64(numbers.schedule.rawValue) << 19
    mix ^= UInt64(numbers.constraints.rawValue) << 23 ^ UInt64(tags) << 29
    if let handler { mix ^= UInt64(handler.count) << 37 ^ UInt64(handler[handler.count - 1]) << 43 }
    return Int((mix &* 0x9E37_79B9_7F4A_7C15) >> 59) * ways
  }

  private static func isSame(_ known: Bytes?, _ text: UnsafeRawBufferPointer?) -> Bool {
    guard let known, let text else { return known == nil && text == nil }
    return known.buffer.equals(text)
  }

  private static func isSame(_ known: [Bytes], _ texts: [UnsafeRawBufferPointer]) -> Bool {
    guard known.count == texts.count else { return false }
    for index in known.indices where !known[index].buffer.equals(texts[index]) { return false }
    return true
  }
}
