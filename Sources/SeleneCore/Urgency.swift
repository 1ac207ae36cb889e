// Which tasks are near their latest begin and go before all others, and which have missed it (W9).

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
}

/// What an index has of tasks with a latest begin; nothing while there is none.
///
/// Those that can run stand in the lines of their class like all others, and here besides, so that only a ranking that
/// has urgent ones looks at them.
final class Urgency {
  /// By number of the class: the urgent ones, in the order of their latest begin.
  private var fronts: [OrderedSlots] = []
  /// How many are urgent.
  private(set) var count = 0
  /// Those that can run and are not urgent yet, in the order in which they become so.
  private var ripening = OrderedSlots()
  /// All that wait, in the order of their latest begin.
  private var expiring = OrderedSlots()

  deinit { removeAll() }

  func removeAll() {
    for index in fronts.indices { fronts[index].removeAll() }
    ripening.removeAll()
    expiring.removeAll()
    count = 0
  }

  /// The urgent ones of a class.
  func front(_ taskClass: Int) -> OrderedSlots { taskClass < fronts.count ? fronts[taskClass] : OrderedSlots() }

  func next(_ taskClass: Int, after place: OrderKey?, costing most: Cost) -> OrderedSlot? {
    taskClass < fronts.count ? fronts[taskClass].next(after: place, costing: most) : nil
  }

  /// The one whose latest begin is the first, or nil.
  var firstToExpire: OrderedSlot? { expiring.first }

  /// A record waits; if it is ranked, its turn may come before that of others.
  func insert(_ slot: Int, _ record: UnsafeMutablePointer<TaskRecord>, present: Instant) {
    if !record.pointee.marks.contains(.expiring) {
      record.pointee.marks.insert(.expiring)
      expiring.insert(slot, at: record.latestAt, cost: .any)
    }
    guard record.pointee.place.standing == .ranked, record.pointee.marks.isDisjoint(with: [.ripening, .urgent]) else {
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
    let taskClass = record.pointee.place.taskClass
    while fronts.count <= taskClass { fronts.append(OrderedSlots()) }
    record.pointee.marks.insert(.urgent)
    fronts[taskClass].insert(slot, at: record.latestAt, cost: Cost(record.estimate))
    count += 1
  }

  /// Takes a record out; its fields, its place in the index among them, are as they were when it was put there.
  func remove(_ record: UnsafeMutablePointer<TaskRecord>) {
    let marks = record.pointee.marks
    if marks.contains(.expiring) { expiring.remove(at: record.latestAt) }
    if marks.contains(.ripening) { ripening.remove(at: record.urgentAt) }
    if marks.contains(.urgent) {
      fronts[record.pointee.place.taskClass].remove(at: record.latestAt)
      count -= 1
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
  /// A record that waits has a latest begin.
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
