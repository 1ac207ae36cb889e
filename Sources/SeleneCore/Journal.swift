// What takes a call back when the store refuses it, and what the store does not have yet (D2).

/// The steps of the present call, and the records that differ from the store.
package struct Journal {
  /// One step of a call, with what was there before it.
  enum Step {
    case record(Int, TaskRecord)
    /// Which slot an id showed.
    case shown(Int?, TaskDefinition)
    case chain(Int, [Int]?)
    /// The last sequence given out.
    case sequence(UInt64)
    /// The queue of ended records.
    case ended(count: Int, head: Int)
  }

  private var steps: [Step] = []
  /// Slots that first differ from the store because of the present call.
  private var fresh: [Int] = []
  /// What the store has of each slot that differs from it; vacant where it has nothing.
  package private(set) var stored: [Int: TaskRecord] = [:]

  package init() {}

  package var isEmpty: Bool { stored.isEmpty }

  mutating func note(_ step: Step) { steps.append(step) }

  /// A record is about to change.
  mutating func note(_ slot: Int, _ old: TaskRecord) {
    steps.append(.record(slot, old))
    guard stored[slot] == nil else { return }
    stored[slot] = old
    fresh.append(slot)
  }

  /// The call stands, though the store does not have it yet.
  package mutating func accept() {
    steps.removeAll(keepingCapacity: true)
    fresh.removeAll(keepingCapacity: true)
  }

  /// The store has everything.
  package mutating func clear() {
    accept()
    stored.removeAll(keepingCapacity: true)
  }

  /// The steps of the present call, the last one first; they are taken back by the caller.
  mutating func takeSteps() -> [Step] {
    let taken = Array(steps.reversed())
    for slot in fresh { stored[slot] = nil }
    accept()
    return taken
  }
}
