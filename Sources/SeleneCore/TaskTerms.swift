// What many tasks have in common: all of a definition but its id and its input, kept once.

/// The terms of tasks; immutable.
package final class TaskTerms: Sendable {
  package let numbers: TaskNumbers
  /// The handler's name, or nil where it is the id.
  package let handler: Bytes?
  let tags: [Bytes]
  package let group: TaskGroup?
  /// The conditions of the host that it asks for, or nil (W2).
  let conditions: HostNeeds?

  fileprivate init(
    _ numbers: TaskNumbers, handler: Bytes?, tags: [Bytes], group: TaskGroup?, conditions: HostNeeds?
  ) {
    self.numbers = numbers
    self.handler = handler
    self.tags = tags
    self.group = group
    self.conditions = conditions
  }

  /// The same with a flag that is set where it is not, and not where it is.
  func flipping(_ flag: UInt32) -> TaskTerms {
    var numbers = numbers
    numbers.flags ^= flag
    return TaskTerms(numbers, handler: handler, tags: tags, group: group, conditions: conditions)
  }

  /// Only tasks and the pool may lead to it for long, because what it names is known by who leads there.
  package var isCounted: Bool { conditions != nil }

  static let vacant = TaskTerms(TaskNumbers(), handler: nil, tags: [], group: nil, conditions: nil)
}

/// Terms that were lately used, so that tasks of the same sort share them.
package struct TermsPool {
  private static let size = 256
  /// Terms whose places meet.
  private static let ways = 8
  private var places = [TaskTerms?](repeating: nil, count: size)
  /// Which of them goes next.
  private var turn = 0
  /// The groups that terms name, which stay what they are as long as terms lead to them.
  package var groups = TaskGroups()
  /// The conditions that hosts define, and that terms ask for.
  package var conditions = HostConditions()
  /// The constraints that any task has asked for.
  package private(set) var asked: Constraints = []

  package init() {}

  /// Tasks may come that ask for these.
  package mutating func ask(_ constraints: Constraints) { asked.formUnion(constraints) }

  /// The terms of a draft: those of an earlier task where they are the same.
  ///
  /// - Throws: `exhausted` for conditions that find no room.
  @_optimize(speed)
  mutating func terms(_ numbers: TaskNumbers, of draft: borrowing TaskDraft) throws(SeleneError) -> TaskTerms {
    let handler = draft.handler.count > 0 && !draft.handler.equals(draft.id) ? draft.handler : nil
    let group = draft.group.count > 0 ? groups.group(draft.group) : nil
    let asked = draft.conditions.isEmpty ? 0 : try mask(of: draft.conditions)
    let first = Self.place(numbers, handler, tags: draft.tags.count, group)
    for place in first..<(first + Self.ways) {
      if let known = places[place], known.numbers == numbers, known.group === group,
        (known.conditions?.mask ?? 0) == asked,
        Self.isSame(known.handler, handler),
        Self.isSame(known.tags, draft.tags)
      {
        return known
      }
    }
    let new = Self.make(numbers, handler, draft.tags, group, needs(asked))
    self.asked.formUnion(Constraints(rawValue: numbers.constraints))
    turn = (turn + 1) % Self.ways
    places[first + turn] = new
    return new
  }

  @inline(never)
  private static func make(
    _ numbers: TaskNumbers, _ handler: UnsafeRawBufferPointer?, _ texts: [UnsafeRawBufferPointer],
    _ group: TaskGroup?, _ conditions: HostNeeds?
  ) -> TaskTerms {
    var tags: [Bytes] = []
    for tag in texts where !tags.contains(where: { $0.buffer.equals(tag) }) { tags.append(Bytes(copying: tag)) }
    return TaskTerms(
      numbers, handler: handler.map { Bytes(copying: $0) }, tags: tags, group: group, conditions: conditions)
  }

  /// Forgets some of those that no task need have.
  mutating func forgetTerms(where isForgotten: (TaskTerms) -> Bool) {
    for place in places.indices where places[place].map(isForgotten) ?? false { places[place] = nil }
  }

  @_optimize(speed)
  private static func place(
    _ numbers: TaskNumbers, _ handler: UnsafeRawBufferPointer?, tags: Int, _ group: TaskGroup?
  ) -> Int {
    // Those in which tasks of one host differ most; where the others differ, terms meet.
    var mix = UInt64(bitPattern: numbers.expectedResponse ^ numbers.period)
    mix ^= UInt64(bitPattern: numbers.initialDelay) << 1 ^ UInt64(numbers.maxAttempts) << 7
    mix ^= UInt64(truncatingIfNeeded: numbers.priority ^ numbers.kind << 4 ^ numbers.schedule << 6) << 13
    mix ^= UInt64(numbers.constraints) << 23 ^ UInt64(tags) << 29
    if let handler { mix ^= UInt64(handler.count) << 37 ^ UInt64(handler[handler.count - 1]) << 43 }
    if let group { mix ^= UInt64(UInt(bitPattern: Unmanaged.passUnretained(group).toOpaque())) << 5 }
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
