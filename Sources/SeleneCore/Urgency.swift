// Which tasks go before all others: those near their latest begin, and expedited ones; and which have missed it (W9, W10).

extension TaskDefinition {
  /// How long before its latest begin a task goes before others: a tenth of its wait, or 15 min if that is less.
  var urgentSpan: Span { min((latestBegin - initialDelay) / 10, 15 * Time.minute) }
}

extension TaskRecord {
  /// The last instant at which it may begin; never without one.
  package var latestAt: Instant { marks.contains(.limited) ? registeredAt.adding(definition.latestBegin) : Time.never }
  /// From when on it goes before others; never without a latest begin.
  package var urgentAt: Instant {
    marks.contains(.limited) ? latestAt.subtracting(definition.urgentSpan) : Time.never
  }
}

extension UnsafeMutablePointer<TaskRecord> {
  fileprivate var latestAt: OrderKey { OrderKey(pointee.latestAt, pointee.sequence) }
  fileprivate var urgentAt: OrderKey { OrderKey(pointee.urgentAt, pointee.sequence) }
  /// Higher priority first, then lower sequence, as what is held (T6).
  var turn: OrderKey { OrderKey(Int64(5 - pointee.traits.priority), pointee.sequence) }
  fileprivate var earliestBegin: OrderKey { OrderKey(pointee.earliestBegin, pointee.sequence) }
}

/// What an index has of tasks with a latest begin and of expedited ones; nothing while there is none.
///
/// Those that can run stand in the lines of their class like all others, and here besides, so that only a ranking that
/// has such looks at them.
final class Urgency {
  /// The lists of a class.
  enum Line: Int {
    /// Those near their latest begin, in the order of that.
    case urgent = 0
    /// The expedited ones that are due, in the order in which they go before others.
    case expedited = 1
    /// The expedited ones that are not, in the order in which they are due.
    case awaited = 2

    static let count = 3
  }

  /// By number of the class and line.
  private var lists: [OrderedSlots] = []
  /// How many are urgent, how many expedited and due, how many expedited and not.
  private var counts = InlineArray<3, Int>(repeating: 0)
  /// Those that can run and are not urgent yet, in the order in which they become so.
  private var ripening = OrderedSlots()
  /// All that wait, in the order of their latest begin.
  private var expiring = OrderedSlots()

  deinit { removeAll() }

  func removeAll() {
    for index in lists.indices { lists[index].removeAll() }
    ripening.removeAll()
    expiring.removeAll()
    counts = InlineArray(repeating: 0)
  }

  /// How many may go before others.
  var count: Int { counts[0] + counts[1] }
  /// How many are expedited and due; how many are expedited.
  var expedited: Int { counts[1] }
  var hasExpedited: Bool { counts[1] + counts[2] > 0 }

  private static func place(_ line: Line, _ taskClass: Int) -> Int { taskClass * Line.count + line.rawValue }

  func list(_ line: Line, _ taskClass: Int) -> OrderedSlots {
    let place = Self.place(line, taskClass)
    return place < lists.count ? lists[place] : OrderedSlots()
  }

  func next(_ line: Line, _ taskClass: Int, after place: OrderKey?, costing most: Cost) -> OrderedSlot? {
    let list = Self.place(line, taskClass)
    return list < lists.count ? lists[list].next(after: place, costing: most) : nil
  }

  private func insert(_ slot: Int, _ line: Line, _ taskClass: Int, at place: OrderKey, cost: Cost) {
    let list = Self.place(line, taskClass)
    while lists.count <= list { lists.append(OrderedSlots()) }
    lists[list].insert(slot, at: place, cost: cost)
    counts[line.rawValue] += 1
  }

  private func remove(_ line: Line, _ taskClass: Int, at place: OrderKey) {
    lists[Self.place(line, taskClass)].remove(at: place)
    counts[line.rawValue] -= 1
  }

  /// The one whose latest begin is the first, or nil.
  var firstToExpire: OrderedSlot? { expiring.first }

  /// A record waits; if it is ranked, its turn may come before that of others.
  func insert(_ slot: Int, _ record: UnsafeMutablePointer<TaskRecord>, present: Instant) {
    let marks = record.pointee.marks
    let standing = record.pointee.place.standing
    if marks.contains(.expedited) && !marks.contains(.ahead) && (standing == .ranked || standing == .due) {
      record.pointee.marks.insert(.ahead)
      let taskClass = record.pointee.place.taskClass
      if standing == .ranked {
        insert(slot, .expedited, taskClass, at: record.turn, cost: Cost(record.leastRoom))
      } else {
        insert(slot, .awaited, taskClass, at: record.earliestBegin, cost: .any)
      }
    }
    guard marks.contains(.limited) else { return }
    if !marks.contains(.expiring) {
      record.pointee.marks.insert(.expiring)
      expiring.insert(slot, at: record.latestAt, cost: .any)
    }
    guard standing == .ranked, record.pointee.marks.isDisjoint(with: [.ripening, .urgent]) else {
      return
    }
    if record.pointee.urgentAt <= present {
      insertUrgent(slot, record)
    } else {
      record.pointee.marks.insert(.ripening)
      ripening.insert(slot, at: record.urgentAt, cost: .any)
    }
  }

  private func insertUrgent(_ slot: Int, _ record: UnsafeMutablePointer<TaskRecord>) {
    record.pointee.marks.insert(.urgent)
    insert(slot, .urgent, record.pointee.place.taskClass, at: record.latestAt, cost: Cost(record.leastRoom))
  }

  /// Takes a record out; its fields, its place in the index among them, are as they were when it was put there.
  func remove(_ record: UnsafeMutablePointer<TaskRecord>) {
    let marks = record.pointee.marks
    if marks.contains(.expiring) { expiring.remove(at: record.latestAt) }
    if marks.contains(.ripening) { ripening.remove(at: record.urgentAt) }
    if marks.contains(.urgent) { remove(.urgent, record.pointee.place.taskClass, at: record.latestAt) }
    if marks.contains(.ahead) {
      let isDue = record.pointee.place.standing == .ranked
      remove(
        isDue ? .expedited : .awaited, record.pointee.place.taskClass, at: isDue ? record.turn : record.earliestBegin)
    }
    record.pointee.marks.subtract(.listed)
  }

  /// What is near its latest begin now is urgent from now on.
  func ripen(to now: Instant, in records: RecordList) {
    while let first = ripening.first, first.at.key <= now {
      let record = records.at(first.slot)
      ripening.remove(at: first.at)
      record.pointee.marks.remove(.ripening)
      insertUrgent(first.slot, record)
    }
  }
}

extension TaskTable {
  /// A record that waits has a latest begin, or is expedited.
  @inline(never)
  func expect(_ slot: Int, _ record: UnsafeMutablePointer<TaskRecord>) {
    let urgency = self.urgency ?? Urgency()
    self.urgency = urgency
    urgency.insert(slot, record, present: index.present)
    expiresAt = urgency.firstToExpire?.at.key ?? Time.never
  }

  @inline(never)
  func expectNoMore(_ record: UnsafeMutablePointer<TaskRecord>) {
    urgency?.remove(record)
    expiresAt = urgency?.firstToExpire?.at.key ?? Time.never
  }

  /// When the next of them is too late: the first whole microsecond then, which every language tells exactly.
  package var tellsExpiryAt: Instant {
    expiresAt == Time.never ? Time.never : expiresAt.adding(1_000 - (expiresAt % 1_000 + 1_000) % 1_000)
  }

  /// Lets those fail that were not begun by their latest begin.
  package func expire(at now: Instant, _ changes: inout Changes) {
    while expiresAt < now, let first = urgency?.firstToExpire {
      let wasHeld = records[first.slot].state == .held
      step(first.slot, at: now) { $0.missLatestBegin(at: now) }
      changes.add(
        Change(.completed, self[first.slot], detail: Outcome.failed.rawValue, message: LastFailure.tooLate))
      _ = settleDependents(of: first.slot, at: now, &changes)
      if !chains.isEmpty { settle(first.slot, holdsPlace: !wasHeld, at: now, &changes) }
    }
    if count(.held) > 0 { promote(&changes) }
  }
}
