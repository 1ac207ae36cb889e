// What a task is: the checked, immutable copy of a host's wish (T1, T2).

/// A task's definition; immutable, so runs in flight keep theirs through an update.
///
/// Small, because there may be millions: what many tasks have in common is shared, and a short id stands in the object
/// itself. Otherwise a block beside it has the id and the input.
package final class TaskDefinition: @unchecked Sendable {  // immutable after init
  package let terms: TaskTerms
  /// An id with its NUL and, in the last byte, its count; or the address of a block and `isLong`.
  private var words: (UInt64, UInt64, UInt64) = (0, 0, 0)

  private static let mostInline = 22
  private static let isLong: UInt8 = 255

  package static let mostTags = 16
  package static let mostAfter = 16
  package static let mostResponseTimes = 30

  /// Checks every field of a draft and copies it.
  ///
  /// - Parameters:
  ///   - units: of a host's draft those of the scheduler's clock.
  ///   - pool: where terms are found that other tasks have, too.
  /// - Throws: `invalidArgument` or `tooLarge`, naming the first field that is out of range; `exhausted`.
  @_optimize(speed)
  package static func checked(
    _ draft: borrowing TaskDraft, _ units: Units, backoff bounds: BackoffBounds, maxInput: UInt64,
    pool: inout TermsPool
  ) throws(SeleneError) -> TaskDefinition {
    var numbers = draft.numbers
    try Identifier.check(draft.id, "id")
    if draft.handler.count > 0 { try Identifier.check(draft.handler, "handler") }
    guard UInt8(exactly: numbers.kind).flatMap(Kind.init) != nil else {
      throw .kind("kind", numbers.kind)
    }
    if numbers.schedule == 0 {
      numbers.schedule = Int32((numbers.period != 0 ? Schedule.periodic : .once).rawValue)
    }
    guard let schedule = UInt8(exactly: numbers.schedule).flatMap(Schedule.init) else {
      throw .range(
        "schedule", numbers.schedule, 0, 3, .number,
        "0 (periodic with a period, else once), 1 (once), 2 (periodic) or 3 (standing)")
    }
    try numbers.checkRanges(units)
    guard draft.tags.count <= mostTags else { throw .range("tag_count", draft.tags.count, 0, Int64(mostTags)) }
    for index in draft.tags.indices { try Identifier.check(draft.tags[index], "tags", entry: index) }
    if draft.group.count > 0 { try Identifier.check(draft.group, "group") }
    if !draft.conditions.isEmpty { try check(conditions: draft) }
    guard numbers.flags & ~(steady | afterAnyEnd | expedited | refuseOutOfQuota) == 0 else {
      throw SeleneError(
        .invalidArgument, "flags",
        "of a task only STEADY (1), AFTER_ANY_END (2), EXPEDITED (4) and REFUSE_OUT_OF_QUOTA (8) are known")
    }
    if numbers.flags & expedited != 0 && schedule != .once {
      throw SeleneError(.invalidArgument, "flags", "EXPEDITED is for once tasks only")
    }
    if numbers.flags & refuseOutOfQuota != 0 && numbers.flags & expedited == 0 {
      throw SeleneError(.invalidArgument, "flags", "REFUSE_OUT_OF_QUOTA is for tasks that are EXPEDITED")
    }
    guard Constraints.all.rawValue & numbers.constraints == numbers.constraints else {
      throw .constraints("constraints", numbers.constraints)
    }
    if numbers.existing == 0 {
      numbers.existing = Int32((schedule == .once ? ExistingPolicy.keep : .update).rawValue)
    }
    guard let existing = UInt8(exactly: numbers.existing).flatMap(ExistingPolicy.init) else {
      throw .range("existing", numbers.existing, 0, 6)
    }
    if !draft.after.isEmpty { try check(after: draft, schedule, existing) }
    if existing.appends && schedule != .once {
      throw SeleneError(.invalidArgument, "existing", "append is for once tasks only")
    }
    if schedule == .periodic {
      try units.check("period", numbers.period, 1, Time.tenYears)
      try units.check("flex", numbers.flex, 0, numbers.period, "0 … period")
    } else {
      guard numbers.period == 0 else { throw SeleneError(.invalidArgument, "period", "is for periodic tasks only") }
      guard numbers.flex == 0 else { throw SeleneError(.invalidArgument, "flex", "is for periodic tasks only") }
    }
    guard UInt8(exactly: numbers.recurrence).flatMap(Recurrence.init) != nil else {
      throw .range(
        "recurrence", numbers.recurrence, 0, 2, .number, "0 (after completion), 1 (anchored) or 2 (calendar)")
    }
    if numbers.backoff == 0 {
      numbers.backoff = Int32((schedule == .standing ? BackoffPolicy.none : .exponential).rawValue)
    }
    guard UInt8(exactly: numbers.backoff).flatMap(BackoffPolicy.init) != nil else {
      throw .range("backoff", numbers.backoff, 0, 3)
    }
    if numbers.latestBegin != 0 {
      guard schedule == .once else {
        throw SeleneError(.invalidArgument, "latest_begin", "is for once tasks only")
      }
      try units.check(
        "latest_begin", numbers.latestBegin, numbers.initialDelay + 1, Time.tenYears,
        "0, or more than initial_delay and at most 10 years")
    }
    guard draft.input.count <= maxInput else {
      throw .range("input_length", draft.input.count, 0, Int64(maxInput), .bytes).code(.tooLarge)
    }
    numbers.backoffDelay = bounds.clamp(numbers.backoffDelay)
    let terms = try pool.terms(numbers, of: draft)
    guard !draft.after.isEmpty else { return TaskDefinition(id: draft.id, input: draft.input, terms) }
    return TaskDefinition(id: draft.id, input: draft.input, after: Predecessor.named(draft.after), terms)
  }

  @inline(never)
  private static func check(conditions draft: borrowing TaskDraft) throws(SeleneError) {
    guard draft.conditions.count <= HostConditions.most else {
      throw .range("condition_count", draft.conditions.count, 0, Int64(HostConditions.most))
    }
    for index in draft.conditions.indices { try Identifier.check(draft.conditions[index], "conditions", entry: index) }
  }

  /// What a task comes after: once tasks that are others (W4).
  @inline(never)
  private static func check(
    after draft: borrowing TaskDraft, _ schedule: Schedule, _ existing: ExistingPolicy
  ) throws(SeleneError) {
    guard draft.after.count <= mostAfter else {
      throw .range("after_count", draft.after.count, 0, Int64(mostAfter))
    }
    for index in draft.after.indices {
      try Identifier.check(draft.after[index], "after", entry: index)
      guard !draft.after[index].equals(draft.id) else {
        throw SeleneError(.invalidArgument, "after", name: draft.id, "is the task itself").entry(index)
      }
    }
    guard schedule == .once else { throw SeleneError(.invalidArgument, "after", "is for once tasks only") }
    guard !existing.appends else {
      throw SeleneError(.invalidArgument, "after", "cannot be combined with append: a successor waits for one task")
    }
  }

  /// A definition of terms that were checked before.
  ///
  /// - Throws: `invalidArgument` if the id is none.
  package static func stored(
    id: UnsafeRawBufferPointer, input: UnsafeRawBufferPointer, after: [Predecessor] = [], _ terms: TaskTerms
  ) throws(SeleneError) -> TaskDefinition {
    try Identifier.check(id, "id")
    guard !after.isEmpty else { return TaskDefinition(id: id, input: input, terms) }
    return TaskDefinition(id: id, input: input, after: after, terms)
  }

  /// The same, which comes after these records.
  package func after(_ predecessors: [Predecessor]) -> TaskDefinition {
    TaskDefinition(id: id, input: input, after: predecessors, terms)
  }

  /// The same, which does not say itself how those have to end.
  package func after(_ predecessors: [Predecessor], anyEnd: Bool) -> TaskDefinition {
    guard anyEnd != startsAfterAnyEnd else { return after(predecessors) }
    return TaskDefinition(id: id, input: input, after: predecessors, terms.flipping(Self.afterAnyEnd))
  }

  private init(
    id: UnsafeRawBufferPointer, input: UnsafeRawBufferPointer, after: [Predecessor], _ terms: TaskTerms
  ) {
    self.terms = terms
    own.storeBytes(of: LongText(id: id, input: input, after: after), as: LongText.self)
    own.storeBytes(of: Self.isLong, toByteOffset: 23, as: UInt8.self)
  }

  @_optimize(speed)
  private init(id: UnsafeRawBufferPointer, input: UnsafeRawBufferPointer, _ terms: TaskTerms) {
    self.terms = terms
    precondition(withUnsafeMutablePointer(to: &words) { UnsafeMutableRawPointer($0) } == own)
    if id.count <= Self.mostInline && input.count == 0 {
      if let bytes = id.baseAddress { own.copyMemory(from: bytes, byteCount: id.count) }
      own.storeBytes(of: UInt8(id.count), toByteOffset: 23, as: UInt8.self)
    } else {
      own.storeBytes(of: LongText(id: id, input: input), as: LongText.self)
      own.storeBytes(of: Self.isLong, toByteOffset: 23, as: UInt8.self)
    }
  }

  deinit { long?.deallocate() }

  /// The definition of a place where no task is.
  package static let vacant = TaskDefinition(
    id: UnsafeRawBufferPointer(start: nil, count: 0), input: UnsafeRawBufferPointer(start: nil, count: 0), .vacant)

  // MARK: Texts: valid while this object lives, each followed by a NUL

  /// Where `words` are, which texts are lent from: behind the object's header of two words and `terms`, on eight bytes.
  /// Making one checks that they are there, so a field in front of them does not go unnoticed.
  private var own: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() + Self.wordsOffset }

  private static var wordsOffset: Int {
    let end = 2 * MemoryLayout<UnsafeRawPointer>.size + MemoryLayout<TaskTerms>.size
    let alignment = MemoryLayout<UInt64>.alignment
    return (end + alignment - 1) / alignment * alignment
  }

  private var long: LongText? {
    inlineCount == Int(Self.isLong) ? own.load(as: LongText.self) : nil
  }

  private var inlineCount: Int { Int(own.load(fromByteOffset: 23, as: UInt8.self)) }

  package var id: UnsafeRawBufferPointer {
    if let long { return long.id }
    return UnsafeRawBufferPointer(start: own, count: inlineCount)
  }

  package var input: UnsafeRawBufferPointer {
    if let long { return long.input }
    return UnsafeRawBufferPointer(start: own + inlineCount, count: 0)
  }

  /// How many tasks it comes after (W4).
  package var afterCount: Int { long?.afterCount ?? 0 }

  /// The tasks that it comes after.
  package var after: [Predecessor] { long?.after ?? [] }

  package var handler: UnsafeRawBufferPointer { terms.handler?.buffer ?? id }
  package var tagCount: Int { terms.tags.count }
  package func tag(_ index: Int) -> UnsafeRawBufferPointer { terms.tags[index].buffer }

  /// The group that it is in, or nil (W3).
  package var group: TaskGroup? { terms.group }

  /// The conditions of the host that it asks for (W2).
  package var conditionCount: Int { terms.conditions?.members.count ?? 0 }
  package func condition(_ index: Int) -> UnsafeRawBufferPointer {
    terms.conditions?.members[index].name.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// All that it asks for.
  package var needs: Needs { Needs(constraints, host: terms.conditions?.mask ?? 0) }

  package func carries(tag: UnsafeRawBufferPointer) -> Bool {
    terms.tags.contains { $0.buffer.equals(tag) }
  }

  // MARK: Numbers

  /// −1: not said.
  package var expectedResponse: Span { terms.numbers.expectedResponse }
  /// The duration that is planned for a run of unknown duration (V17).
  package static let unknownResponse = 5 * Time.second

  /// The planned duration of a run whose known duration is this; −1: unknown.
  @inline(__always)
  package static func planned(_ known: Span) -> Span { known >= 0 ? known : unknownResponse }

  /// The time that a window must have left for a run of a known duration. One of unknown duration (−1) fits anywhere, unless the
  /// fit is strict (V17).
  @inline(__always)
  static func leastRoom(for known: Span, isStrict: Bool = false) -> Span {
    known >= 0 ? known : isStrict ? unknownResponse : 1
  }
  package var initialDelay: Span { terms.numbers.initialDelay }
  package var period: Span { terms.numbers.period }
  package var flex: Span { terms.numbers.flex }
  /// The effective one, within the scheduler's bounds.
  package var backoffDelay: Span { terms.numbers.backoffDelay }
  package var jitter: UInt32 { terms.numbers.jitter }
  /// From registration; 0: none.
  package var latestBegin: Span { terms.numbers.latestBegin }
  package var timeout: Span { terms.numbers.timeout }
  package var stallLimit: Span { terms.numbers.stallLimit }
  /// Whether its runs may be asked to stop before their window ends.
  package var hasLimits: Bool { timeout | stallLimit > 0 }
  package var maxAttempts: UInt32 { terms.numbers.maxAttempts }
  /// The flag of a task whose outcomes the freshness rule does not learn from (F9).
  package static let steady: UInt32 = 1
  package var isSteady: Bool { terms.numbers.flags & Self.steady != 0 }
  /// The flag of a task that starts however those end that it comes after (W4).
  package static let afterAnyEnd: UInt32 = 2
  var startsAfterAnyEnd: Bool { terms.numbers.flags & Self.afterAnyEnd != 0 }
  /// The flags of a task that goes before others while its quota lasts, and of one that is refused when that is used (W10).
  package static let expedited: UInt32 = 4
  package static let refuseOutOfQuota: UInt32 = 8
  package var isExpedited: Bool { @inline(__always) get { terms.numbers.flags & Self.expedited != 0 } }
  package var isRefusedOutOfQuota: Bool { terms.numbers.flags & Self.refuseOutOfQuota != 0 }
  package var constraints: Constraints { Constraints(rawValue: terms.numbers.constraints) }
  package var kind: Kind { Self.choice(terms.numbers.kind) ?? .refresh }
  package var schedule: Schedule { Self.choice(terms.numbers.schedule) ?? .standing }
  package var priority: UInt8 { UInt8(truncatingIfNeeded: terms.numbers.priority) }
  package var existing: ExistingPolicy { Self.choice(terms.numbers.existing) ?? .keep }
  package var recurrence: Recurrence { Self.choice(terms.numbers.recurrence) ?? .afterCompletion }
  package var backoff: BackoffPolicy { Self.choice(terms.numbers.backoff) ?? .none }
  package var responseWindow: UInt8 { UInt8(truncatingIfNeeded: terms.numbers.responseWindow) }

  /// What a number stands for that was checked.
  @inline(__always)
  private static func choice<T: RawRepresentable<UInt8>>(_ number: Int32) -> T? {
    T(rawValue: UInt8(truncatingIfNeeded: number))
  }

  /// Once and periodic tasks take a place of their kind's limit (T6).
  package var takesPlace: Bool { schedule != .standing }

  /// The first instant of a task that counts from here (T4): after its delay, and in the flex of its period; without
  /// jitter.
  package func firstBegin(from start: Instant) -> Instant {
    let begin = start.adding(initialDelay)
    return flex > 0 ? begin.adding(period - flex) : begin
  }

  /// By how much its first begin may come later, by chance (W11): not past its flex, nor, anchored, its next period, nor to
  /// where it is urgent.
  var firstJitter: Span {
    guard jitter > 0 else { return 0 }
    let wait = initialDelay.adding(flex > 0 ? period - flex : 0)
    let most = share(of: wait)
    let latest = latestBegin > 0 ? latestBegin - initialDelay - urgentSpan : .max
    return min(most, flex > 0 ? flex - 1 : .max, isOnGrid ? period - 1 : .max, latest)
  }

  /// The same for each begin after that: not past the period after it, if those stand on a grid.
  var periodJitter: Span {
    guard jitter > 0 else { return 0 }
    return min(share(of: period), isOnGrid ? period - 1 : .max)
  }

  private var isOnGrid: Bool { schedule == .periodic && recurrence == .anchored }

  /// So many per mille of a time, rounded down; in two parts, because the product may have more than 64 bits.
  private func share(of time: Span) -> Span { time / 1000 * Int64(jitter) + time % 1000 * Int64(jitter) / 1000 }

  /// Whether begins are computed from the same as those of another definition.
  func isTimed(as other: TaskDefinition) -> Bool {
    let (own, old) = (terms.numbers, other.terms.numbers)
    return own.initialDelay == old.initialDelay && own.period == old.period && own.flex == old.flex
      && own.recurrence == old.recurrence && own.jitter == old.jitter
  }
}

/// An id and an input in a block of their own, and what the task comes after.
private struct LongText {
  private static let header = 8
  /// Of one that the task comes after: the number of its record, and the bytes of its id, which follow.
  private static let entry = 9
  private static let countShift: UInt32 = 16
  private let block: UnsafeMutableRawPointer

  init(id: UnsafeRawBufferPointer, input: UnsafeRawBufferPointer) {
    block = .allocate(byteCount: Self.header + id.count + 1 + input.count + 1, alignment: 8)
    block.storeBytes(of: UInt32(input.count), as: UInt32.self)
    block.storeBytes(of: UInt32(id.count), toByteOffset: 4, as: UInt32.self)
    var end = Self.header
    for text in [id, input] { append(text, &end) }
  }

  init(id: UnsafeRawBufferPointer, input: UnsafeRawBufferPointer, after: [Predecessor]) {
    let room = after.reduce(0) { $0 + Self.entry + $1.id.count + 1 }
    block = .allocate(byteCount: Self.header + id.count + 1 + input.count + 1 + room, alignment: 8)
    block.storeBytes(of: UInt32(input.count), as: UInt32.self)
    block.storeBytes(of: UInt32(id.count) | UInt32(after.count) << Self.countShift, toByteOffset: 4, as: UInt32.self)
    var end = Self.header
    append(id, &end)
    append(input, &end)
    for predecessor in after {
      block.storeBytes(of: predecessor.sequence, toByteOffset: end, as: UInt64.self)
      block.storeBytes(of: UInt8(predecessor.id.count), toByteOffset: end + 8, as: UInt8.self)
      end += Self.entry
      append(predecessor.id, &end)
    }
  }

  private func append(_ text: UnsafeRawBufferPointer, _ end: inout Int) {
    if let bytes = text.baseAddress { (block + end).copyMemory(from: bytes, byteCount: text.count) }
    end += text.count
    block.storeBytes(of: 0, toByteOffset: end, as: UInt8.self)
    end += 1
  }

  func deallocate() { block.deallocate() }

  var id: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: block + Self.header, count: idCount)
  }

  /// An id has at most 255 bytes, so the upper half counts what the task comes after.
  private var counts: UInt32 { block.load(fromByteOffset: 4, as: UInt32.self) }
  private var idCount: Int { Int(counts & (1 << Self.countShift - 1)) }
  var afterCount: Int { Int(counts >> Self.countShift) }

  var after: [Predecessor] {
    guard afterCount > 0 else { return [] }
    var start = block + Self.header + idCount + 1 + input.count + 1
    return (0..<afterCount).map { _ in
      let sequence = start.loadUnaligned(as: UInt64.self)
      let count = Int(start.load(fromByteOffset: 8, as: UInt8.self))
      let id = UnsafeRawBufferPointer(start: start + Self.entry, count: count)
      start += Self.entry + count + 1
      return Predecessor(id: id, sequence: sequence)
    }
  }

  var input: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: block + Self.header + idCount + 1, count: Int(block.load(as: UInt32.self)))
  }
}
