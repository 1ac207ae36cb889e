// Picking: which tasks were eligible when a cycle began, in which order, and which is best now (S1, S2, C2, C3).

/// What a window offers to tasks.
package struct Offer {
  package var kinds: KindSet
  /// What tasks may ask for.
  package var satisfied: Needs
  /// Handlers will be called by the library, so they must have a run function.
  package var pushes: Bool
  package var observedRange: Bool
  /// The kinds of which it takes expedited tasks alone (W10).
  package var alone: KindSet = []
  /// Whose handlers: those of other processes, or nil for this process's own. Held by whoever offers.
  private let crew: Unmanaged<Crew>?

  package init(kinds: KindSet, satisfied: Needs, pushes: Bool, observedRange: Bool, crew: Crew? = nil) {
    self.kinds = kinds
    self.satisfied = satisfied
    self.pushes = pushes
    self.observedRange = observedRange
    self.crew = crew.map { Unmanaged.passUnretained($0) }
  }

  @inline(__always)
  var isOwn: Bool { crew == nil }

  /// What of its crew tells it from others, and from itself before its last change.
  var crewVersion: UInt64 { crew?._withUnsafeGuaranteedRef { $0.version } ?? 0 }

  /// Whether it has a handler of other processes.
  func has(_ handler: Int) -> Bool { crew?._withUnsafeGuaranteedRef { $0.has(handler, pushed: pushes) } ?? false }

  /// Whether another offer takes tasks of the same classes, if both are of this process.
  func takes(theSameAs other: Offer) -> Bool {
    kinds == other.kinds && satisfied == other.satisfied && pushes == other.pushes && alone == other.alone
  }
}

/// A choice: whose turn it is.
package struct Pick: Sendable {
  package let slot: Int
  /// Which of the ranking's heads it is.
  let head: Int
  package let score: Double
  package let estimate: Span
}

/// The ranking of one cycle, frozen at its begin.
///
/// Nothing is scored or sorted: within a line the index has the tasks in the order of their score, so the best is the
/// first of a few heads. Time only takes room away, so that what was passed over is never looked at again. What changed
/// after begin is told by its stamp.
package final class Ranking {
  /// Of a line the first that was not passed.
  private struct Head {
    let list: Int
    /// The number of its class.
    let taskClass: Int
    /// Of its class, which holds it; nil is none.
    let group: Unmanaged<TaskGroup>?
    /// Of equal scores the higher priority goes first; 0 under the freshness rule.
    let priority: UInt8
    /// `current` had its turn, or cannot have one.
    var isPassed = false
    /// All was passed.
    var isAtEnd = false
    /// Its class has lost its number: nothing of it is left, and the list may be another's.
    var isGone = false
    /// What the age of its tasks is multiplied by.
    var factor: UInt64
    /// What stands behind came since begin.
    var end: OrderKey
    var current: OrderedSlot
    /// All of it scores 0, so it is in the order of sequences.
    var isBySequence: Bool { factor == 0 }

    init(
      list: Int, taskClass: Int, group: TaskGroup?, priority: UInt8, factor: UInt64, first: OrderedSlot,
      end: OrderKey
    ) {
      (self.list, self.taskClass, self.priority, self.factor) = (list, taskClass, priority, factor)
      self.group = group.map { Unmanaged.passUnretained($0) }
      (current, self.end) = (first, end)
    }
  }

  /// What it counts, in memory of its own: records that come and go find it without counting references.
  struct Frozen {
    fileprivate var begin: Instant
    fileprivate var stamp: UInt64
    /// Of the tasks that were eligible at begin in each class, how many did not change since; counted while the ranking
    /// is open in its table. Classes that came later have a number without a place, or with none of these tasks.
    fileprivate private(set) var left: UnsafeMutablePointer<Int>
    private var classes: Int

    fileprivate init(begin: Instant, stamp: UInt64, classes: Int) {
      (self.begin, self.stamp, self.classes) = (begin, stamp, classes)
      left = .allocate(capacity: classes)
      left.initialize(repeating: 0, count: classes)
    }

    fileprivate mutating func renew(begin: Instant, stamp: UInt64, classes: Int) {
      (self.begin, self.stamp) = (begin, stamp)
      guard classes != self.classes else { return left.update(repeating: 0, count: classes) }
      left.deallocate()
      self = Frozen(begin: begin, stamp: stamp, classes: classes)
    }

    fileprivate func deallocate() { left.deallocate() }

    /// Whether a record did not change since begin.
    @inline(__always)
    func has(_ record: UnsafeMutablePointer<TaskRecord>) -> Bool {
      record.pointee.stamp <= stamp && record.pointee.earliestBegin <= begin
    }

    /// A record joins its list as it was, or leaves it.
    @inline(__always)
    mutating func count(_ record: UnsafeMutablePointer<TaskRecord>, _ taskClass: Int, _ change: Int) {
      if has(record) && taskClass < classes { left[taskClass] += change }
    }
  }

  /// Heads that are in use, of as many as there is room for.
  private var heads: UnsafeMutablePointer<Head>
  private var headCount = 0
  private var room: Int
  /// The heads that have something left, of the classes that the offer of the last look takes.
  private var contenders: Contenders
  /// Those among them that were passed over because their group had no room, and how many were open then.
  private var parked: [Int] = []
  private var openings: UInt64 = 0
  /// The lines of urgent and of expedited tasks (W9, W10).
  var fronts: [FrontHead] = []
  private var looked: Offer
  private var lookedVersion: UInt64 = 0
  let frozen: UnsafeMutablePointer<Frozen>
  /// The one task of a window of one task (C14), while it was not picked.
  private var only: (slot: Int, sequence: UInt64)?
  private var scale: ScoreScale
  /// How many tasks were eligible when it was frozen.
  package private(set) var eligibleCount = 0

  /// Ranks what is eligible now.
  ///
  /// - Complexity: O(1) in the number of tasks but for those that became due since the last look.
  @_optimize(speed)
  package init(_ table: TaskTable, _ offer: Offer, at now: Instant) {
    table.settle(at: now)
    (room, looked) = (table.index.rankedLineCount, offer)
    (heads, contenders) = (.allocate(capacity: room), Contenders(room: room))
    frozen = .allocate(capacity: 1)
    frozen.initialize(to: Frozen(begin: now, stamp: 0, classes: table.index.classes.room))
    scale = ScoreScale(greatestElapsed: 0)
    freeze(table, offer, at: now)
  }

  /// Ranks anew what is eligible now: the next pick of a rolling window goes by this moment (R1).
  package func renew(_ table: TaskTable, _ offer: Offer, at now: Instant) {
    guard only == nil else { return }
    table.settle(at: now)
    makeRoom(table.index.rankedLineCount)
    freeze(table, offer, at: now)
  }

  @_optimize(speed)
  private func freeze(_ table: TaskTable, _ offer: Offer, at now: Instant) {
    if offer.observedRange { table.keepBirths() }
    let index = table.index
    let byFreshness = table.policy.freshness
    frozen.pointee.renew(begin: now, stamp: table.stamp, classes: index.classes.room)
    (headCount, eligibleCount) = (0, 0)
    // What joins a line later is younger than all of it, unless the clock went back.
    let end = index.youngest <= now ? OrderKey(now, table.lastSequence) : nil
    var oldest = now
    index.rankedClasses.forEach { number in
      guard index.classes[number].suits(offer) else { return }
      index.forEachRanked(number) { list, line in
        let aged = index.aged(list)
        guard let first = aged.first, let end = end ?? aged.last?.at else { return }
        let priority = byFreshness ? 0 : UInt8(truncatingIfNeeded: line + 1)
        let factor = byFreshness ? Freshness.weight(line) : UInt64(priority)
        (heads + headCount).initialize(
          to: Head(
            list: list, taskClass: number, group: index.classes[number].group, priority: priority, factor: factor,
            first: first, end: end))
        headCount += 1
        oldest = min(oldest, first.at.key)
        frozen.pointee.left[number] += aged.count
        eligibleCount += aged.count
      }
    }
    if byFreshness {
      scale = ScoreScale(greatestIndex: 0)
    } else if offer.observedRange {
      observeRange(index, oldest: oldest)
    } else {
      scale = ScoreScale(greatestElapsed: now.since(oldest))
    }
    arrange(offer, index)
    if !fronts.isEmpty { fronts.removeAll(keepingCapacity: true) }
    if let urgency = table.urgency, urgency.count > 0 { freezeFronts(urgency, index, offer) }
    var greatest = contenders.first?.numerator ?? 0
    if !offer.alone.isEmpty {
      // Ordinary tasks have no turn, but scores are what they would be beside them.
      for place in 0..<headCount where byFreshness { greatest = max(greatest, contender(place).numerator) }
      eligibleCount = countEligible(besides: offer.alone, index) + countAlone(in: table, offer, inOpenGroups: false)
    }
    if byFreshness { scale = ScoreScale(greatestIndex: greatest) }
  }

  /// The scale of the observed range, and what it makes of the heads (S3).
  private func observeRange(_ index: TaskIndex, oldest: Instant) {
    var priorities = headCount > 0 ? heads[0].priority...heads[0].priority : 0...0
    var youngest = Instant.min
    for head in all {
      priorities = min(priorities.lowerBound, head.priority)...max(priorities.upperBound, head.priority)
      youngest = max(youngest, index.aged(head.list).last?.at.key ?? .min)
    }
    let ages = headCount > 0 ? begin.since(youngest)...begin.since(oldest) : 0...0
    scale = ScoreScale(priorities: priorities, elapsed: ages)
    for head in heads..<(heads + headCount) {
      head.pointee.factor = scale.factor(head.pointee.priority)
      let born = index.born(head.pointee.list)
      guard head.pointee.isBySequence, let first = born.first, let last = born.last else { continue }
      (head.pointee.current, head.pointee.end) = (first, last.at)
    }
  }

  private func makeRoom(_ count: Int) {
    guard count > room else { return }
    heads.deallocate()
    contenders.free()
    (heads, contenders, room) = (.allocate(capacity: count), Contenders(room: count), count)
  }

  /// Lets the heads compete whose class an offer takes.
  @_optimize(speed)
  private func arrange(_ offer: Offer, _ index: TaskIndex) {
    looked = offer
    if !offer.isOwn { lookedVersion = offer.crewVersion }
    contenders.removeAll()
    if !parked.isEmpty { parked.removeAll(keepingCapacity: true) }
    for place in 0..<headCount where !heads[place].isAtEnd && index.classes[heads[place].taskClass].suits(offer) {
      if offer.alone.contains(index.classes[heads[place].taskClass].kind) { continue }
      contenders.append(contender(place))
    }
    contenders.arrange()
  }

  @inline(__always)
  private func contender(_ place: Int) -> Contender {
    let head = heads + place
    let at = head.pointee.current.at
    return Contender(
      numerator: head.pointee.isBySequence ? 0 : numerator(head.pointee.factor, at), sequence: at.sequence,
      priority: head.pointee.priority, head: place)
  }

  /// A ranking of one task, whatever its earliest begin (C14).
  package init(_ table: TaskTable, only slot: Int, observedRange: Bool, at now: Instant) {
    let record = table[slot]
    scale =
      table.policy.freshness
      ? ScoreScale(greatestIndex: UInt128(Freshness.weight(record.pace)) &* UInt128(now.since(record.freshSince)))
      : ScoreScale(spanningOnly: record.priority, elapsed: now.since(record.lastRun), observedRange: observedRange)
    only = (slot, record.sequence)
    (room, looked) = (0, Offer(kinds: [], satisfied: [], pushes: false, observedRange: observedRange))
    (heads, contenders) = (.allocate(capacity: 0), Contenders(room: 0))
    eligibleCount = 1
    frozen = .allocate(capacity: 1)
    frozen.initialize(to: Frozen(begin: now, stamp: table.stamp, classes: 0))
  }

  deinit {
    heads.deallocate()
    contenders.free()
    frozen.pointee.deallocate()
    frozen.deallocate()
  }

  private var all: UnsafeBufferPointer<Head> { UnsafeBufferPointer(start: heads, count: headCount) }
  var begin: Instant { frozen.pointee.begin }

  // MARK: Picking

  /// The best-ranked task that is still eligible and that fits into the room.
  ///
  /// The room never grows from call to call.
  @_optimize(speed)
  package func best(in table: TaskTable, _ offer: Offer, room: Room) -> Pick? {
    if let only { return pick(only.slot, only.sequence, in: table, offer, room: room) }
    look(table, offer)
    let most = room.most
    var passed = 0
    if !fronts.isEmpty {
      if let pick = bestAhead(in: table, offer, room: room, most, &passed) { return pick }
      if table.isMoving { return nil }
    }
    // Whether the first of a line still fits is asked when its turn has come: behind it nothing has a greater score.
    while let first = contenders.first {
      let head = heads + first.head
      guard !head.pointee.isPassed, fits(head, in: table, room, most) else {
        advance(first, in: table, most)
        continue
      }
      guard head.pointee.group?._withUnsafeGuaranteedRef({ $0.isOpen }) ?? true else {
        contenders.removeFirst()
        parked.append(first.head)
        continue
      }
      if table.passesStuck(head.pointee.current.slot, &passed) {
        head.pointee.isPassed = true
        if table.isMoving { return nil }
        continue
      }
      return Pick(
        slot: head.pointee.current.slot, head: first.head,
        score: scale.score(factor: head.pointee.factor, elapsed: begin.since(head.pointee.current.at.key)),
        estimate: table.records.at(head.pointee.current.slot).estimate)
    }
    return nil
  }

  /// Sees to it that those compete whose class the offer takes, and that nobody is passed over whose group has got room.
  @inline(__always)
  private func look(_ table: TaskTable, _ offer: Offer) {
    if !looked.takes(theSameAs: offer) || (!offer.isOwn && offer.crewVersion != lookedVersion) {
      arrange(offer, table.index)
    }
    if !parked.isEmpty && openings != table.terms.groups.openings { unpark() }
    openings = table.terms.groups.openings
  }

  @inline(never)
  private func unpark() {
    var kept = 0
    for place in parked where !heads[place].isGone {
      if heads[place].group?._withUnsafeGuaranteedRef({ $0.isOpen }) ?? true {
        contenders.insert(contender(place))
      } else {
        parked[kept] = place
        kept += 1
      }
    }
    parked.removeLast(parked.count - kept)
  }

  /// Calls a body with the groups for whose runs to end tasks wait that fit into the room, and for nothing else; with some
  /// more than once.
  package func forEachAwaited(in table: TaskTable, _ offer: Offer, room: Room, _ body: (TaskGroup) -> Void) {
    if let only {
      guard let group = table.group(of: only.slot), group.isFull, !group.isPaused, table.isEligible(only.slot, offer),
        table.sequence(only.slot) == only.sequence
      else { return }
      return body(group)
    }
    let most = room.most
    if !fronts.isEmpty { forEachAwaitedAhead(in: table, offer, room: room, most, body) }
    for place in parked where !heads[place].isGone {
      guard let group = heads[place].group?.takeUnretainedValue(), group.isFull, !group.isPaused else { continue }
      while !heads[place].isAtEnd && (heads[place].isPassed || !fits(heads + place, in: table, room, most)) {
        step(heads + place, in: table, most)
      }
      if !heads[place].isAtEnd { body(group) }
    }
  }

  /// A class has lost its number, and is empty.
  func forget(_ taskClass: Int) {
    for place in 0..<headCount where heads[place].taskClass == taskClass {
      (heads[place].isGone, heads[place].isAtEnd, heads[place].isPassed) = (true, true, true)
      heads[place].end = OrderKey(.min, 0)
    }
    fronts.removeAll { $0.taskClass == taskClass }
  }

  /// A pick had its turn.
  package func remove(_ pick: Pick) {
    guard pick.head != Self.aside else { return }
    guard only == nil else {
      only = nil
      return
    }
    if pick.head < 0 { return removeAhead(pick) }
    heads[pick.head].isPassed = true
  }

  /// What a task scores that was eligible at begin.
  func score(of record: UnsafeMutablePointer<TaskRecord>) -> Double {
    scale.score(factor: factor(of: record.pointee), elapsed: begin.since(since(record.pointee)))
  }

  /// Moves the first of the contenders to the next of its line that costs at most this, if there is one.
  @inline(__always)
  private func advance(_ first: Contender, in table: TaskTable, _ most: Cost) {
    let head = heads + first.head
    step(head, in: table, most)
    if head.pointee.isAtEnd { contenders.removeFirst() } else { contenders.replaceFirst(contender(first.head)) }
  }

  @inline(__always)
  private func step(_ head: UnsafeMutablePointer<Head>, in table: TaskTable, _ most: Cost) {
    let next = table.index.next(
      head.pointee.list, bySequence: head.pointee.isBySequence, after: head.pointee.current.at, costing: most)
    guard let next, !(head.pointee.end < next.at) else { return head.pointee.isAtEnd = true }
    (head.pointee.current, head.pointee.isPassed) = (next, false)
  }

  /// Whether an entry did not change since begin and fits.
  @inline(__always)
  private func fits(_ head: UnsafeMutablePointer<Head>, in table: TaskTable, _ room: Room, _ most: Cost) -> Bool {
    let entry = head.pointee.current
    let record = table.records.at(entry.slot)
    guard entry.cost <= most, record.pointee.sequence == entry.at.sequence, frozen.pointee.has(record),
      record.pointee.marks.isDisjoint(with: [.urgent, .ahead]) || !hadItsTurn(record)
    else { return false }
    // Only in the last step that fits the exact estimate decides, and where the fit is strict.
    return entry.cost == most || room.isStrict ? room.takes(record) : true
  }

  /// Of a task that had its turn and could not begin: its pick, if it still can run.
  package func pick(
    aside task: (slot: Int, sequence: UInt64), in table: TaskTable, _ offer: Offer, room: Room
  ) -> Pick? {
    pick(task.slot, task.sequence, in: table, offer, room: room, head: Self.aside)
  }

  /// In place of a head: none of them has the task.
  private static let aside = Int.max

  private func pick(
    _ slot: Int, _ sequence: UInt64, in table: TaskTable, _ offer: Offer, room: Room, head: Int = 0
  ) -> Pick? {
    let record = table[slot]
    guard record.sequence == sequence, record.stamp <= frozen.pointee.stamp, table.isRunnable(slot, offer) else {
      return nil
    }
    guard room.takes(table.records.at(slot)) else { return nil }
    return Pick(
      slot: slot, head: head, score: scale.score(factor: factor(of: record), elapsed: begin.since(since(record))),
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
    if let only { return pick(only.slot, only.sequence, in: table, offer, room: .any) == nil ? 0 : 1 }
    var count = offer.alone.isEmpty ? 0 : countAlone(in: table, offer, inOpenGroups: true)
    var last = -1
    for head in all where head.taskClass != last {
      last = head.taskClass
      guard !head.isGone, table.index.classes[last].isOpen(to: offer),
        !offer.alone.contains(table.index.classes[last].kind)
      else { continue }
      count += frozen.pointee.left[last]
    }
    return count
  }

  private func countEligible(besides alone: KindSet, _ index: TaskIndex) -> Int {
    var (count, last) = (0, -1)
    for head in all where head.taskClass != last {
      last = head.taskClass
      if !alone.contains(index.classes[last].kind) { count += frozen.pointee.left[last] }
    }
    return count
  }

  // MARK: Explaining

  /// The place of a task among the eligible, from 1, or nil.
  package func rank(of slot: Int, in table: TaskTable) -> Int? {
    let record = table[slot]
    guard record.place.standing == .ranked, frozen.pointee.has(table.records.at(slot)) else { return nil }
    if let before = countAhead(of: table.records.at(slot), in: table) { return before + 1 }
    let list = table.index.list(of: record)
    guard let own = all.first(where: { $0.list == list && !$0.isGone }) else { return nil }
    let numerator = own.isBySequence ? 0 : numerator(own.factor, OrderKey(since(record), record.sequence))
    func goesBefore(_ head: Head, _ place: OrderKey) -> Bool {
      let other = head.isBySequence ? 0 : self.numerator(head.factor, place)
      if other != numerator { return other > numerator }
      if head.priority != own.priority { return head.priority > own.priority }
      return place.sequence < record.sequence
    }
    var before = 0
    if !fronts.isEmpty {
      before = countAhead(in: table) { other in
        let list = table.index.list(of: other.pointee)
        guard let head = all.first(where: { $0.list == list && !$0.isGone }) else { return false }
        return goesBefore(head, OrderKey(since(other.pointee), other.pointee.sequence))
      }
    }
    for head in all where !head.isGone {
      let slots = head.isBySequence ? table.index.born(head.list) : table.index.aged(head.list)
      before += slots.count { goesBefore(head, $0) }
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
