// What takes a call back when the store refuses it, and what the store does not have yet (D2).

/// The steps of the present call, and the records that differ from the store.
package struct Journal {
  /// One step of a call, with what was there before it; small, because a batch takes two for each task.
  enum Step {
    /// A record came into a slot where the store has nothing.
    case added(Int)
    case changed(Int, Old)
    /// Which slot the id of a slot's record showed.
    case shown(Int?, Int)
    case chain(Int, [Int]?)
    /// What stood in a place of the handlers' times.
    case timed(Int, OldTimes?)
    /// What a group was set to.
    case grouped(TaskGroup, GroupTerms)
    /// The conditions of the host.
    case conditions(OldConditions)
    /// What was paused.
    case paused(OldPauses)
    /// The queue of ended records.
    case ended(count: Int, head: Int)
    /// Those that were kept for others.
    case released([(slot: Int, sequence: UInt64)])
  }

  /// What a record was.
  final class Old {
    let record: TaskRecord
    init(_ record: TaskRecord) { self.record = record }
  }

  final class OldTimes {
    let times: HandlerTimes
    init(_ times: HandlerTimes) { self.times = times }
  }

  final class OldConditions {
    let conditions: HostConditions
    init(_ conditions: HostConditions) { self.conditions = conditions }
  }

  final class OldPauses {
    let pauses: Pauses
    init(_ pauses: Pauses) { self.pauses = pauses }
  }

  private var steps: [Step] = []
  /// The last sequence given out before the present call, if it gave out one.
  private(set) var sequence: UInt64?
  /// The slots that differ from the store, in the order of their first change, with the number of the record that the
  /// store has there, or 0. The records in these slots are marked as unsaved.
  package private(set) var stored: [(slot: Int, sequence: UInt64)] = []
  /// How many of them differed before the present call.
  private var accepted = 0

  /// In the present call it changed who waits for whom (W4).
  private(set) var changedGraph = false

  /// The room for steps that is kept from one call to the next.
  private static let usual = 64

  package init() {}

  package var isEmpty: Bool { stored.isEmpty }
  /// The present call has changed something.
  var hasSteps: Bool { !steps.isEmpty }

  mutating func note(_ step: Step) { steps.append(step) }

  mutating func noteGraph() { changedGraph = true }

  /// The times of a handler are others from now on.
  mutating func note(_ place: Int, _ old: HandlerTimes?) { steps.append(.timed(place, old.map { OldTimes($0) })) }

  /// A sequence is given out; what the last one is before.
  mutating func note(sequence last: UInt64) { if sequence == nil { sequence = last } }

  /// A record comes into a slot that is free, in the store too.
  mutating func noteNew(_ slot: Int) {
    steps.append(.added(slot))
    stored.append((slot, 0))
  }

  /// A record is about to change.
  mutating func note(_ slot: Int, _ old: TaskRecord) {
    steps.append(.changed(slot, Old(old)))
    if !old.isUnsaved { stored.append((slot, old.sequence)) }
  }

  /// The call stands, though the store does not have it yet.
  mutating func accept() {
    if !steps.isEmpty { steps.removeAll(keepingCapacity: steps.count <= Self.usual) }
    sequence = nil
    changedGraph = false
    accepted = stored.count
  }

  /// The store has everything.
  mutating func clear() {
    if !stored.isEmpty { stored.removeAll(keepingCapacity: stored.count <= Self.usual) }
    accept()
  }

  /// The last step of the present call that was not taken yet; the caller takes it back.
  mutating func takeStep() -> Step? {
    if let step = steps.popLast() { return step }
    while stored.count > accepted { stored.removeLast() }
    sequence = nil
    return nil
  }
}
