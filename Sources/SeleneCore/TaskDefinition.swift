// What a task is: the checked, immutable copy of a host's wish (T1, T2).

/// A task's definition; immutable, so runs in flight keep theirs through an update.
package final class TaskDefinition: Sendable {
  /// Id, handler, tags and input, each followed by a NUL.
  private let text: Bytes
  private let idRange: TextRange
  private let handlerRange: TextRange
  private let inputRange: TextRange
  private let tagRanges: [TextRange]

  package let expectedResponse: Span
  package let initialDelay: Span
  package let period: Span
  package let flex: Span
  /// The effective one, within the scheduler's bounds.
  package let backoffDelay: Span
  package let maxAttempts: UInt32
  package let constraints: Constraints
  package let kind: Kind
  package let schedule: Schedule
  package let priority: UInt8
  package let existing: ExistingPolicy
  package let recurrence: Recurrence
  package let backoff: BackoffPolicy
  package let responseWindow: UInt8

  package static let mostTags = 16
  package static let mostResponseTimes = 30

  /// Checks every field of a draft and copies it.
  ///
  /// - Throws: `invalidArgument` or `tooLarge`, naming the first field that is out of range.
  package static func checked(
    _ draft: borrowing TaskDraft, backoff bounds: BackoffBounds, maxInput: UInt64
  ) throws(SeleneError) -> TaskDefinition {
    try Identifier.check(draft.id, "id")
    if draft.handler.count > 0 { try Identifier.check(draft.handler, "handler") }
    guard let kind = UInt8(exactly: draft.kind).flatMap(Kind.init) else {
      throw .range("kind", draft.kind, "1 (refresh) or 2 (processing)")
    }
    guard let schedule = UInt8(exactly: draft.schedule).flatMap(Schedule.init) else {
      throw .range("schedule", draft.schedule, "0 (standing), 1 (once) or 2 (periodic)")
    }
    guard (1...5).contains(draft.priority) else { throw .range("priority", draft.priority, "1 … 5") }
    guard (0...Time.longestRun).contains(draft.expectedResponse) else {
      throw .range("expected_response", draft.expectedResponse, "0 … 24 h in ns")
    }
    guard (0...Int32(mostResponseTimes)).contains(draft.responseWindow) else {
      throw .range("response_window", draft.responseWindow, "0 … 30")
    }
    guard draft.tags.count <= mostTags else { throw .range("tag_count", draft.tags.count, "0 … 16") }
    for tag in draft.tags { try Identifier.check(tag, "tags") }
    guard Constraints.all.rawValue & draft.constraints == draft.constraints else {
      throw .range("constraints", draft.constraints, "bits 1 (network) and 2 (external power)")
    }
    let existing: ExistingPolicy
    if draft.existing == -1 {
      existing = schedule == .standing ? .update : .keep
    } else {
      guard let policy = UInt8(exactly: draft.existing).flatMap(ExistingPolicy.init) else {
        throw .range("existing", draft.existing, "-1 … 4")
      }
      existing = policy
    }
    if existing.appends && schedule != .once {
      throw SeleneError(
        .invalidArgument, "existing: append was given for a task that is not once, only once tasks can be appended")
    }
    guard (0...Time.tenYears).contains(draft.initialDelay) else {
      throw .range("initial_delay", draft.initialDelay, "0 … 10 years in ns")
    }
    if schedule == .periodic {
      guard (1...Time.tenYears).contains(draft.period) else {
        throw .range("period", draft.period, "1 ns … 10 years")
      }
      guard (0...draft.period).contains(draft.flex) else {
        throw .range("flex", draft.flex, "0 … period")
      }
    }
    guard let recurrence = UInt8(exactly: draft.recurrence).flatMap(Recurrence.init) else {
      throw .range("recurrence", draft.recurrence, "0 (after completion) or 1 (anchored)")
    }
    let backoff: BackoffPolicy
    if draft.backoff == -1 {
      backoff = schedule == .standing ? .none : .exponential
    } else {
      guard let policy = UInt8(exactly: draft.backoff).flatMap(BackoffPolicy.init) else {
        throw .range("backoff", draft.backoff, "-1 … 2")
      }
      backoff = policy
    }
    guard draft.backoffDelay >= 0 else { throw .range("backoff_delay", draft.backoffDelay, "0 or more") }
    guard draft.input.count <= maxInput else {
      throw SeleneError(
        .tooLarge, "input_length: \(draft.input.count) was given, at most \(maxInput) bytes are allowed")
    }
    return TaskDefinition(
      draft, kind, schedule, existing, recurrence, backoff, backoffDelay: bounds.clamp(draft.backoffDelay))
  }

  /// Takes what was checked. It does not throw: Embedded Swift would not free the object.
  private init(
    _ draft: borrowing TaskDraft, _ kind: Kind, _ schedule: Schedule, _ existing: ExistingPolicy,
    _ recurrence: Recurrence, _ backoff: BackoffPolicy, backoffDelay: Span
  ) {
    var layout = TextLayout()
    idRange = layout.add(draft.id)
    handlerRange = draft.handler.count == 0 || draft.handler.equals(draft.id) ? idRange : layout.add(draft.handler)
    var tagRanges: [TextRange] = []
    for (index, tag) in draft.tags.enumerated()
    where !draft.tags[..<index].contains(where: { $0.equals(tag) }) {
      tagRanges.append(layout.add(tag))
    }
    self.tagRanges = tagRanges
    inputRange = layout.add(draft.input)
    text = layout.bytes()

    self.kind = kind
    self.schedule = schedule
    self.existing = existing
    self.recurrence = recurrence
    self.backoff = backoff
    priority = UInt8(draft.priority)
    responseWindow = UInt8(draft.responseWindow)
    constraints = Constraints(rawValue: draft.constraints)
    maxAttempts = draft.maxAttempts
    expectedResponse = draft.expectedResponse
    initialDelay = draft.initialDelay
    period = schedule == .periodic ? draft.period : 0
    flex = schedule == .periodic ? draft.flex : 0
    self.backoffDelay = backoffDelay
  }

  /// The definition of a place where no task is.
  package static let vacant = TaskDefinition()

  private init() {
    text = Bytes(count: 0) { _ in }
    idRange = TextRange(offset: 0, count: 0)
    (handlerRange, inputRange, tagRanges) = (idRange, idRange, [])
    (expectedResponse, initialDelay, period, flex, backoffDelay, maxAttempts) = (0, 0, 0, 0, 0, 0)
    (constraints, kind, schedule, priority, existing) = ([], .refresh, .standing, 1, .keep)
    (recurrence, backoff, responseWindow) = (.afterCompletion, .none, 0)
  }

  /// The texts below stay valid while this object lives; each is followed by a NUL.
  package var id: UnsafeRawBufferPointer { text.buffer(idRange) }
  package var handler: UnsafeRawBufferPointer { text.buffer(handlerRange) }
  package var input: UnsafeRawBufferPointer { text.buffer(inputRange) }
  package var tagCount: Int { tagRanges.count }
  package func tag(_ index: Int) -> UnsafeRawBufferPointer { text.buffer(tagRanges[index]) }

  package func carries(tag: UnsafeRawBufferPointer) -> Bool {
    tagRanges.contains { text.buffer($0).equals(tag) }
  }

  /// Once and periodic tasks take a place of their kind's limit (T6).
  package var takesPlace: Bool { schedule != .standing }

  /// The first instant of a task that counts from here (T4): after its delay, and in the flex of its period.
  package func firstBegin(from start: Instant) -> Instant {
    let begin = start.adding(initialDelay)
    return flex > 0 ? begin.adding(period - flex) : begin
  }
}

/// Packs texts one behind the other, each with a NUL.
private struct TextLayout {
  private var parts: [(TextRange, UnsafeRawBufferPointer)] = []
  private var end = 0

  mutating func add(_ part: UnsafeRawBufferPointer) -> TextRange {
    let range = TextRange(offset: end, count: part.count)
    parts.append((range, part))
    end += part.count + 1
    return range
  }

  func bytes() -> Bytes {
    Bytes(count: end) { whole in
      for (range, part) in parts where part.count > 0 {
        UnsafeMutableRawBufferPointer(rebasing: whole[Int(range.offset)...]).copyMemory(from: part)
      }
    }
  }
}
