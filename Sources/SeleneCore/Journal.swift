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
  /// What the store has of each slot that differs from it, in the order of their first change; vacant where it has
  /// nothing. The records in these slots are marked as unsaved.
  package private(set) var stored: [(slot: Int, record: TaskRecord)] = []
  /// How many of them differed before the present call.
  private var accepted = 0

  package init() {}

  package var isEmpty: Bool { stored.isEmpty }

  mutating func note(_ step: Step) { steps.append(step) }

  /// A record is about to change.
  mutating func note(_ slot: Int, _ old: TaskRecord) {
    steps.append(.record(slot, old))
    if !old.isUnsaved { stored.append((slot, old)) }
  }

  /// The call stands, though the store does not have it yet.
  mutating func accept() {
    steps.removeAll(keepingCapacity: true)
    accepted = stored.count
  }

  /// The store has everything.
  mutating func clear() {
    stored.removeAll(keepingCapacity: true)
    accept()
  }

  /// The steps of the present call, the last one first; they are taken back by the caller.
  mutating func takeSteps() -> [Step] {
    let taken = Array(steps.reversed())
    stored.removeLast(stored.count - accepted)
    accept()
    return taken
  }
}
