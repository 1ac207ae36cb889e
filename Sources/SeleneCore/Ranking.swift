// The picking seam: who was eligible when a cycle began, in which order, and who is best now (S1, S2, C2, C3).

/// What a window offers to tasks.
package struct Offer: Sendable {
  package var kinds: KindSet
  /// The constraints that are satisfied.
  package var satisfied: Constraints
  /// Handlers will be called by the library, so they must have a run function.
  package var pushes: Bool
  package var observedRange: Bool

  package init(kinds: KindSet, satisfied: Constraints, pushes: Bool, observedRange: Bool) {
    self.kinds = kinds
    self.satisfied = satisfied
    self.pushes = pushes
    self.observedRange = observedRange
  }
}

/// A choice: whose turn it is.
package struct Pick: Sendable {
  package let slot: Int
  /// Which of the ranking's heads it is.
  fileprivate let head: Int
  package let score: Double
  package let estimate: Span
}

/// The ranking of one cycle, frozen at its begin.
///
/// Nothing is scored or sorted: within a class and a priority the index has the tasks in the order of their score, so
/// the best is the best of a few heads. Time only takes room away, so that what was passed over is never looked at
/// again. What changed after begin is told by its stamp.
package final class Ranking {
  /// The first of a list that was not passed.
  private struct Head {
    let list: Int
    let taskClass: TaskClass
    let priority: UInt8
    /// All of it scores 0, so it is in the order of sequences.
    let isBySequence: Bool
    var current: OrderedSlot?
    var passed: OrderKey?
    var isAtEnd = false
  }

  private var heads: [Head] = []
  /// The one task of a window of one task (C14), while it was not picked.
  private var only: (slot: Int, sequence: UInt64)?
  private let scale: ScoreScale
  private let begin: Instant
  private let stamp: UInt64
  /// How many tasks were eligible at begin.
  package let eligibleCount: Int
  /// Of these in each class, how many did not change since; counted while the ranking is open in its table.
  private var left = [Int](repeating: 0, count: TaskClass.count)

  /// Ranks what is eligible now.
  ///
  /// - Complexity: O(1) in the number of tasks but for those that became due since the last look.
  package init(_ table: TaskTable, _ offer: Offer, at now: Instant) {
    table.settle(at: now)
    if offer.observedRange { table.keepBirths() }
    let index = table.index
    var priorities: ClosedRange<UInt8>?
    var ages: ClosedRange<Age>?
    var count = 0
    for number in 0..<TaskClass.count {
      let taskClass = TaskClass(number: number)
      guard taskClass.isOpen(to: offer) else { continue }
      for priority in 1...UInt8(TaskIndex.priorities) {
        let list = TaskIndex.list(taskClass, priority)
        let aged = index.aged(list)
        guard let oldest = aged.first, let youngest = aged.last else { continue }
        heads.append(Head(list: list, taskClass: taskClass, priority: priority, isBySequence: false))
        left[number] += aged.count
        count += aged.count
        priorities =
          priorities.map { min($0.lowerBound, priority)...max($0.upperBound, priority) } ?? priority...priority
        let (low, high) = (now.since(youngest.at.key), now.since(oldest.at.key))
        ages = ages.map { min($0.lowerBound, low)...max($0.upperBound, high) } ?? low...high
      }
    }
    let elapsed = ages ?? 0...0
    let range = priorities ?? 0...0
    scale =
      offer.observedRange
      ? ScoreScale(priorities: range, elapsed: elapsed) : ScoreScale(greatestElapsed: elapsed.upperBound)
    if offer.observedRange && range.lowerBound < range.upperBound {
      heads = heads.map {
        $0.priority == range.lowerBound
          ? Head(list: $0.list, taskClass: $0.taskClass, priority: $0.priority, isBySequence: true) : $0
      }
    }
    begin = now
    stamp = table.stamp
    eligibleCount = count
  }

  /// A ranking of one task, whatever its earliest begin (C14).
  package init(_ table: TaskTable, only slot: Int, at now: Instant) {
    let record = table[slot]
    scale = ScoreScale(greatestElapsed: now.since(record.lastRun))
    only = (slot, record.sequence)
    begin = now
    stamp = table.stamp
    eligibleCount = 1
  }

  // MARK: Picking

  /// The best-ranked task that is still eligible and whose estimate fits into the room; nil room takes any.
  ///
  /// The room never grows from call to call.
  package func best(in table: TaskTable, _ offer: Offer, room: Span?) -> Pick? {
    if let only { return pick(only.slot, only.sequence, in: table, offer, room: room) }
    var best: (head: Int, numerator: UInt128, sequence: UInt64)?
    for index in heads.indices {
      guard heads[index].taskClass.isOpen(to: offer), let current = advance(index, in: table, room: room) else {
        continue
      }
      let priority = heads[index].priority
      let numerator = heads[index].isBySequence ? 0 : numerator(priority, current.at)
      if let best {
        if numerator < best.numerator { continue }
        if numerator == best.numerator {
          if priority < heads[best.head].priority { continue }
          if priority == heads[best.head].priority && current.at.sequence > best.sequence { continue }
        }
      }
      best = (index, numerator, current.at.sequence)
    }
    guard let best, let current = heads[best.head].current else { return nil }
    let priority = heads[best.head].priority
    return table.withRecord(current.slot) { record in
      Pick(
        slot: current.slot, head: best.head,
        score: scale.score(priority: priority, elapsed: begin.since(record.pointee.lastRun)),
        estimate: record.pointee.estimate)
    }
  }

  /// A pick had its turn.
  package func remove(_ pick: Pick) {
    guard only == nil else {
      only = nil
      return
    }
    heads[pick.head].passed = heads[pick.head].current?.at
    heads[pick.head].current = nil
  }

  /// The first of a list that fits, or nil.
  @inline(__always)
  private func advance(_ index: Int, in table: TaskTable, room: Span?) -> OrderedSlot? {
    if heads[index].isAtEnd { return nil }
    let most = room.map { Cost($0) } ?? .any
    while true {
      if let current = heads[index].current, current.cost <= most, isRanked(current, in: table) {
        // Only in the last step that fits the exact estimate decides.
        if current.cost < most || room.map({ table.estimate(current.slot) <= $0 }) ?? true { return current }
      }
      let passed = heads[index].current?.at ?? heads[index].passed
      let list = heads[index].list
      let next = heads[index].isBySequence ? table.index.born(list) : table.index.aged(list)
      heads[index].passed = passed
      heads[index].current = next.next(after: passed, costing: most)
      guard heads[index].current != nil else {
        heads[index].isAtEnd = true
        return nil
      }
    }
  }

  /// Whether it did not change since begin.
  private func isRanked(_ entry: OrderedSlot, in table: TaskTable) -> Bool {
    table.withRecord(entry.slot) { $0.pointee.sequence == entry.at.sequence && isRanked($0) }
  }

  private func isRanked(_ record: UnsafePointer<TaskRecord>) -> Bool {
    record.pointee.stamp <= stamp && record.pointee.earliestBegin <= begin
  }

  private func pick(
    _ slot: Int, _ sequence: UInt64, in table: TaskTable, _ offer: Offer, room: Span?
  ) -> Pick? {
    let record = table[slot]
    guard record.sequence == sequence, record.stamp <= stamp, table.isRunnable(slot, offer) else { return nil }
    if let room, record.estimate > room { return nil }
    return Pick(
      slot: slot, head: 0, score: scale.score(priority: record.priority, elapsed: begin.since(record.lastRun)),
      estimate: record.estimate)
  }

  @inline(__always)
  private func numerator(_ priority: UInt8, _ place: OrderKey) -> UInt128 {
    scale.numerator(priority: priority, elapsed: begin.since(place.key))
  }

  // MARK: Counting

  /// A ranked record leaves its list, or comes back as it was.
  func count(_ record: UnsafePointer<TaskRecord>, _ taskClass: TaskClass, _ change: Int) {
    if isRanked(record) { left[taskClass.number] += change }
  }

  /// How many ranked tasks could still run. The ranking is open in its table since its begin.
  package func remaining(in table: TaskTable, _ offer: Offer) -> Int {
    if let only { return pick(only.slot, only.sequence, in: table, offer, room: nil) == nil ? 0 : 1 }
    var count = 0
    var last = -1
    for head in heads where head.taskClass.number != last {
      last = head.taskClass.number
      if head.taskClass.isOpen(to: offer) { count += left[last] }
    }
    return count
  }

  // MARK: Explaining

  /// The place of a task among the eligible, from 1, or nil.
  @_optimize(size)
  package func rank(of slot: Int, in table: TaskTable) -> Int? {
    let record = table[slot]
    guard record.standing == .ranked, table.withRecord(slot, { isRanked($0) }) else { return nil }
    let list = TaskIndex.list(table.withRecord(slot) { table.taskClass(of: $0) }, record.priority)
    guard let own = heads.first(where: { $0.list == list }) else { return nil }
    let numerator = own.isBySequence ? 0 : numerator(record.priority, OrderKey(record.lastRun, record.sequence))
    var before = 0
    for head in heads {
      let slots = head.isBySequence ? table.index.born(head.list) : table.index.aged(head.list)
      before += slots.count { place in
        let other = head.isBySequence ? 0 : self.numerator(head.priority, place)
        if other != numerator { return other > numerator }
        if head.priority != record.priority { return head.priority > record.priority }
        return place.sequence < record.sequence
      }
    }
    return before + 1
  }

  /// What a task would score among the eligible.
  package func score(of record: TaskRecord, at now: Instant) -> Double {
    let elapsed = now.since(record.lastRun)
    let scale =
      eligibleCount > 0
      ? scale.including(priority: record.priority, elapsed: elapsed)
      : scale.alone(priority: record.priority, elapsed: elapsed)
    return scale.score(priority: record.priority, elapsed: elapsed)
  }
}
