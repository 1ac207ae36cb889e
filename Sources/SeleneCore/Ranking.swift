// Picking: which tasks were eligible when a cycle began, in which order, and which is best now (S1, S2, C2, C3).

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
    enum State {
      /// Nothing was passed.
      case fresh
      /// `current` is the first that was not passed.
      case current
      /// `current` was passed.
      case passed
      /// All was passed.
      case atEnd
    }

    let list: Int
    let taskClass: TaskClass
    /// Of equal scores the higher priority goes first; 0 under the freshness rule.
    let priority: UInt8
    /// What the age of its tasks is multiplied by.
    var factor: UInt64 = 0
    /// Where the last stood at begin; all behind it came since.
    var end: OrderKey
    /// All of it scores 0, so it is in the order of sequences.
    var isBySequence: Bool { factor == 0 }
    var state = State.fresh
    var current = OrderedSlot(at: OrderKey(0, 0), slot: 0, cost: .any)
    /// The score of `current`, as it is compared.
    var numerator: UInt128 = 0

    init(list: Int, taskClass: TaskClass, priority: UInt8, factor: UInt64, end: OrderKey) {
      (self.list, self.taskClass, self.priority, self.factor, self.end) = (list, taskClass, priority, factor, end)
    }
  }

  /// What it counts, in memory of its own: records that come and go find it without counting references.
  struct Frozen {
    fileprivate let begin: Instant
    fileprivate let stamp: UInt64
    /// Of the tasks that were eligible at begin in each class, how many did not change since; counted while the ranking
    /// is open in its table.
    fileprivate var left = InlineArray<16, Int>(repeating: 0)

    /// Whether a record did not change since begin.
    @inline(__always)
    fileprivate func has(_ record: UnsafeMutablePointer<TaskRecord>) -> Bool {
      record.pointee.stamp <= stamp && record.pointee.earliestBegin <= begin
    }

    /// A record joins its list as it was, or leaves it.
    @inline(__always)
    mutating func count(_ record: UnsafeMutablePointer<TaskRecord>, _ taskClass: Int, _ change: Int) {
      if has(record) { left[taskClass] += change }
    }
  }

  /// Heads that are in use, of as many as there is room for.
  private var heads: UnsafeMutablePointer<Head>
  private var headCount = 0
  private var headRoom = 8
  let frozen: UnsafeMutablePointer<Frozen>
  /// The one task of a window of one task (C14), while it was not picked.
  private var only: (slot: Int, sequence: UInt64)?
  private var scale: ScoreScale
  /// How many tasks were eligible when it was frozen.
  package private(set) var eligibleCount = 0

  /// Ranks what is eligible now.
  ///
  /// - Complexity: O(1) in the number of tasks but for those that became due since the last look.
  package init(_ table: TaskTable, _ offer: Offer, at now: Instant) {
    heads = .allocate(capacity: headRoom)
    frozen = .allocate(capacity: 1)
    frozen.initialize(to: Frozen(begin: now, stamp: 0))
    scale = ScoreScale(greatestElapsed: 0)
    freeze(table, offer, at: now)
  }

  /// Ranks anew what is eligible now: the next pick of a rolling window goes by this moment (R1).
  package func renew(_ table: TaskTable, _ offer: Offer, at now: Instant) {
    guard only == nil else { return }
    freeze(table, offer, at: now)
  }

  private func freeze(_ table: TaskTable, _ offer: Offer, at now: Instant) {
    table.settle(at: now)
    if offer.observedRange { table.keepBirths() }
    let index = table.index
    let byFreshness = table.policy.freshness
    frozen.pointee = Frozen(begin: now, stamp: table.stamp)
    (headCount, eligibleCount) = (0, 0)
    var priorities: ClosedRange<UInt8>?
    var ages: ClosedRange<Age>?
    var greatestIndex: UInt128 = 0
    for number in index.rankedClasses {
      let taskClass = TaskClass(number: number)
      guard taskClass.isOpen(to: offer) else { continue }
      index.forEachRanked(taskClass) { list, line in
        let aged = index.aged(list)
        guard let oldest = aged.first, let youngest = aged.last else { return }
        let priority = byFreshness ? 0 : UInt8(truncatingIfNeeded: line + 1)
        let factor = byFreshness ? Freshness.weight(line) : UInt64(priority)
        append(Head(list: list, taskClass: taskClass, priority: priority, factor: factor, end: youngest.at))
        frozen.pointee.left[number] += aged.count
        eligibleCount += aged.count
        let (low, high) = (now.since(youngest.at.key), now.since(oldest.at.key))
        if byFreshness {
          greatestIndex = max(greatestIndex, UInt128(factor) &* UInt128(high))
        } else {
          priorities =
            priorities.map { min($0.lowerBound, priority)...max($0.upperBound, priority) } ?? priority...priority
          ages = ages.map { min($0.lowerBound, low)...max($0.upperBound, high) } ?? low...high
        }
      }
    }
    guard !byFreshness else { return scale = ScoreScale(greatestIndex: greatestIndex) }
    let elapsed = ages ?? 0...0
    guard offer.observedRange else { return scale = ScoreScale(greatestElapsed: elapsed.upperBound) }
    scale = ScoreScale(priorities: priorities ?? 0...0, elapsed: elapsed)
    for head in heads..<(heads + headCount) {
      head.pointee.factor = scale.factor(head.pointee.priority)
      if head.pointee.isBySequence, let last = index.born(head.pointee.list).last { head.pointee.end = last.at }
    }
  }

  private func append(_ head: Head) {
    if headCount == headRoom {
      let wider = UnsafeMutablePointer<Head>.allocate(capacity: headRoom * 2)
      wider.moveInitialize(from: heads, count: headCount)
      heads.deallocate()
      (heads, headRoom) = (wider, headRoom * 2)
    }
    (heads + headCount).initialize(to: head)
    headCount += 1
  }

  /// A ranking of one task, whatever its earliest begin (C14).
  package init(_ table: TaskTable, only slot: Int, observedRange: Bool, at now: Instant) {
    let record = table[slot]
    scale =
      table.policy.freshness
      ? ScoreScale(greatestIndex: UInt128(Freshness.weight(record.pace)) &* UInt128(now.since(record.freshSince)))
      : ScoreScale(spanningOnly: record.priority, elapsed: now.since(record.lastRun), observedRange: observedRange)
    only = (slot, record.sequence)
    (heads, headRoom) = (.allocate(capacity: 0), 0)
    eligibleCount = 1
    frozen = .allocate(capacity: 1)
    frozen.initialize(to: Frozen(begin: now, stamp: table.stamp))
  }

  deinit {
    heads.deallocate()
    frozen.deallocate()
  }

  private var all: UnsafeBufferPointer<Head> { UnsafeBufferPointer(start: heads, count: headCount) }
  private var begin: Instant { frozen.pointee.begin }

  // MARK: Picking

  /// The best-ranked task that is still eligible and whose estimate fits into the room; nil room takes any.
  ///
  /// The room never grows from call to call.
  @_optimize(speed)
  package func best(in table: TaskTable, _ offer: Offer, room: Span?) -> Pick? {
    if let only { return pick(only.slot, only.sequence, in: table, offer, room: room) }
    let most = room.map { Cost($0) } ?? .any
    var passed = 0
    // Whether the first of a head still fits is asked when its turn has come: behind it nothing has a greater score.
    while let best = leader(in: table, offer, room, most) {
      guard fits(best, in: table, room, most) else {
        _ = search(best, in: table, room, most)
        continue
      }
      if table.passesStuck(best.pointee.current.slot, &passed) {
        best.pointee.state = .passed
        if table.isMoving { return nil }
        continue
      }
      let record = table.records.at(best.pointee.current.slot)
      return Pick(
        slot: best.pointee.current.slot, head: best - heads,
        score: scale.score(factor: best.pointee.factor, elapsed: begin.since(record.agesSince)),
        estimate: record.estimate)
    }
    return nil
  }

  /// A pick had its turn.
  package func remove(_ pick: Pick) {
    guard only == nil else {
      only = nil
      return
    }
    heads[pick.head].state = .passed
  }

  /// The head whose first has the greatest score of all that a window takes, whether it fits or not.
  @inline(__always)
  private func leader(in table: TaskTable, _ offer: Offer, _ room: Span?, _ most: Cost) -> UnsafeMutablePointer<Head>? {
    var leader: UnsafeMutablePointer<Head>?
    var next = heads
    for _ in 0..<headCount {
      let head = next
      next += 1
      guard head.pointee.state != .atEnd, head.pointee.taskClass.isOpen(to: offer),
        head.pointee.state == .current || search(head, in: table, room, most)
      else { continue }
      if let leader, !precedes(head, leader) { continue }
      leader = head
    }
    return leader
  }

  /// By score, then priority, then the order of registration.
  @inline(__always)
  private func precedes(_ a: UnsafeMutablePointer<Head>, _ b: UnsafeMutablePointer<Head>) -> Bool {
    if a.pointee.numerator != b.pointee.numerator { return a.pointee.numerator > b.pointee.numerator }
    if a.pointee.priority != b.pointee.priority { return a.pointee.priority > b.pointee.priority }
    return a.pointee.current.at.sequence < b.pointee.current.at.sequence
  }

  /// Moves a head to the next of its list that fits; false if there is none.
  @_optimize(speed)
  private func search(_ head: UnsafeMutablePointer<Head>, in table: TaskTable, _ room: Span?, _ most: Cost) -> Bool {
    let list = head.pointee.isBySequence ? table.index.born(head.pointee.list) : table.index.aged(head.pointee.list)
    var passed = head.pointee.state == .fresh ? nil : head.pointee.current.at
    while let next = list.next(after: passed, costing: most), !(head.pointee.end < next.at) {
      head.pointee.current = next
      if fits(head, in: table, room, most) {
        head.pointee.numerator = head.pointee.isBySequence ? 0 : numerator(head.pointee.factor, next.at)
        head.pointee.state = .current
        return true
      }
      passed = next.at
    }
    head.pointee.state = .atEnd
    return false
  }

  /// Whether an entry did not change since begin and fits.
  @inline(__always)
  private func fits(_ head: UnsafeMutablePointer<Head>, in table: TaskTable, _ room: Span?, _ most: Cost) -> Bool {
    let entry = head.pointee.current
    let record = table.records.at(entry.slot)
    guard entry.cost <= most, record.pointee.sequence == entry.at.sequence, frozen.pointee.has(record) else {
      return false
    }
    // Only in the last step that fits the exact estimate decides.
    guard entry.cost == most, let room else { return true }
    return record.estimate <= room
  }

  private func pick(
    _ slot: Int, _ sequence: UInt64, in table: TaskTable, _ offer: Offer, room: Span?
  ) -> Pick? {
    let record = table[slot]
    guard record.sequence == sequence, record.stamp <= frozen.pointee.stamp, table.isRunnable(slot, offer) else {
      return nil
    }
    if let room, record.estimate > room { return nil }
    return Pick(
      slot: slot, head: 0, score: scale.score(factor: factor(of: record), elapsed: begin.since(since(record))),
      estimate: record.estimate)
  }

  @inline(__always)
  private func numerator(_ factor: UInt64, _ place: OrderKey) -> UInt128 {
    scale.numerator(factor: factor, elapsed: begin.since(place.key))
  }

  /// What the age of a task is multiplied by, and since when it ages.
  private func factor(of record: TaskRecord) -> UInt64 {
    scale.isFresh ? Freshness.weight(record.pace) : scale.factor(record.priority)
  }
  private func since(_ record: TaskRecord) -> Instant { scale.isFresh ? record.freshSince : record.lastRun }

  // MARK: Counting

  /// How many ranked tasks could still run. The ranking is open in its table since its begin.
  package func remaining(in table: TaskTable, _ offer: Offer) -> Int {
    if let only { return pick(only.slot, only.sequence, in: table, offer, room: nil) == nil ? 0 : 1 }
    var count = 0
    var last = -1
    for head in all where head.taskClass.number != last {
      last = head.taskClass.number
      if head.taskClass.isOpen(to: offer) { count += frozen.pointee.left[last] }
    }
    return count
  }

  // MARK: Explaining

  /// The place of a task among the eligible, from 1, or nil.
  package func rank(of slot: Int, in table: TaskTable) -> Int? {
    let record = table[slot]
    guard record.place.standing == .ranked, frozen.pointee.has(table.records.at(slot)) else { return nil }
    let list = table.index.list(of: record)
    guard let own = all.first(where: { $0.list == list }) else { return nil }
    let numerator = own.isBySequence ? 0 : numerator(own.factor, OrderKey(since(record), record.sequence))
    var before = 0
    for head in all {
      let slots = head.isBySequence ? table.index.born(head.list) : table.index.aged(head.list)
      before += slots.count { place in
        let other = head.isBySequence ? 0 : self.numerator(head.factor, place)
        if other != numerator { return other > numerator }
        if head.priority != own.priority { return head.priority > own.priority }
        return place.sequence < record.sequence
      }
    }
    return before + 1
  }

  /// What a task would score among the eligible.
  package func score(of record: TaskRecord, at now: Instant) -> Double {
    let elapsed = now.since(since(record))
    guard !scale.isFresh else {
      let factor = factor(of: record)
      return scale.including(factor: factor, elapsed: elapsed).score(factor: factor, elapsed: elapsed)
    }
    let scale =
      eligibleCount > 0
      ? scale.including(priority: record.priority, elapsed: elapsed)
      : ScoreScale(spanningOnly: record.priority, elapsed: elapsed, observedRange: scale.observedRange)
    return scale.score(factor: scale.factor(record.priority), elapsed: elapsed)
  }
}
