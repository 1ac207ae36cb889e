// What the runs of expedited tasks have used of their quota (W10).

/// The time of the expedited runs of the last 24 h, against their quota.
///
/// A run counts from its dispatch on, and as long as it took until 24 h after its end.
package struct ExpeditedLedger: Sendable {
  /// A run; or several, where there were too many to keep apart.
  private struct Use {
    var begin: Instant
    var end: Instant

    var length: Span { end.subtracting(begin) }
  }

  /// At this many the two nearest are put together, as if the earlier had been later: never too little is counted.
  static let mostUses = 256
  private static let period = Time.day

  /// `Time.never`: no limit.
  package let quota: Span
  /// Those that are over, in the order of their end.
  private var uses: [Use] = []
  /// Those that are not.
  private var open: [(run: UInt64, begin: Instant)] = []

  /// Whether all of it is used, as it was told last, and when time alone may change that.
  package private(set) var isUsedUp = false
  package private(set) var changesAt = Time.never

  package init(quota: Span) { self.quota = quota }

  // MARK: Used up, or not any more

  /// What changed first until now, if anything did: all is used, or something is left again; and when.
  package mutating func settle(at now: Instant) -> Instant? {
    while changesAt <= now {
      let at = changesAt
      let isUsedUp = !isLeft(at: at)
      defer { look(from: at) }
      guard isUsedUp == self.isUsedUp else {
        self.isUsedUp = isUsedUp
        return at
      }
    }
    return nil
  }

  /// What it is at the begin of a life.
  package mutating func start(at now: Instant) {
    isUsedUp = !isLeft(at: now)
    look(from: now)
  }

  /// When it may change next; at once if a run or a reset has changed it.
  package mutating func look(from now: Instant) {
    guard quota != Time.never && quota > 0 else { return changesAt = Time.never }
    if isUsedUp != !isLeft(at: now) { return changesAt = now }
    changesAt = Time.never
    if !isUsedUp {
      guard !open.isEmpty else { return }
      let count = Span(open.count)
      let left = quota.subtracting(used(at: now))
      return changesAt = now.adding(left / count + (left % count == 0 ? 0 : 1))
    }
    let from = now.subtracting(Self.period)
    for use in uses where use.end > from { return changesAt = use.end.adding(Self.period) }
  }

  // MARK: Writing

  /// A run begins.
  package mutating func begin(_ run: UInt64, at now: Instant) { open.append((run, now)) }

  /// A run that was to begin did not.
  package mutating func drop(_ run: UInt64) { open.removeAll { $0.run == run } }

  /// A run is over; whether it counts.
  package mutating func end(_ run: UInt64, at now: Instant) -> Bool {
    guard let place = open.firstIndex(where: { $0.run == run }) else { return false }
    let begin = open.remove(at: place).begin
    add(Use(begin: min(begin, now), end: now), at: now)
    return true
  }

  /// Whether a run is counted as it goes.
  package var hasOpen: Bool { !open.isEmpty }

  /// Forgets all that is over.
  package mutating func clear() { uses.removeAll() }

  private mutating func add(_ use: Use, at now: Instant) {
    let from = now.subtracting(Self.period)
    uses.removeAll { $0.end <= from }
    uses.insert(use, at: uses.lastIndex { $0.end <= use.end }.map { $0 + 1 } ?? 0)
    if uses.count > Self.mostUses { join() }
  }

  private mutating func join() {
    var best = 0
    for place in 1..<(uses.count - 1) where gap(behind: place) < gap(behind: best) { best = place }
    uses[best + 1].begin = uses[best + 1].begin.subtracting(uses[best].length)
    uses.remove(at: best)
  }

  private func gap(behind place: Int) -> Span { uses[place + 1].end.subtracting(uses[place].end) }

  // MARK: Reading

  /// What was used in the 24 h up to now.
  package func used(at now: Instant) -> Span {
    let from = now.subtracting(Self.period)
    var used: Span = 0
    for use in uses where use.end > from { used = used.adding(use.length) }
    for run in open { used = used.adding(max(0, now.subtracting(run.begin))) }
    return used
  }

  /// Whether anything is left.
  package func isLeft(at now: Instant) -> Bool { quota == Time.never || used(at: now) < quota }

  package func left(at now: Instant) -> Span { quota == Time.never ? quota : max(0, quota.subtracting(used(at: now))) }

  /// When something is left if no more is used; now if something is, never if there is no quota.
  package func freeAt(_ now: Instant) -> Instant {
    guard quota > 0 else { return Time.never }
    var excess = quota == Time.never ? -1 : used(at: now).subtracting(quota)
    let from = now.subtracting(Self.period)
    for use in uses where use.end > from {
      if excess < 0 { break }
      excess = excess.subtracting(use.length)
      if excess < 0 { return use.end.adding(Self.period) }
    }
    return excess < 0 ? now : Time.never
  }

  // MARK: Storing

  /// Begin and end of each, for stores; what is not over has no end.
  package var numbers: [Int64] {
    uses.flatMap { [$0.begin, $0.end] } + open.flatMap { [$0.begin, Time.never] }
  }

  /// Takes over what an earlier life left.
  ///
  /// - Parameters:
  ///   - span: what its clock is moved by.
  ///   - seen: when that life was last seen, by its own clock: then its runs ended.
  /// - Returns: whether one of them had no end.
  /// - Throws: `storeCorrupt` for what no life leaves.
  package mutating func restore(
    _ numbers: [Int64], movedBy span: Span, seen: Instant, at now: Instant
  ) throws(SeleneError) -> Bool {
    guard numbers.count % 2 == 0 else { throw Self.corrupt }
    uses = []
    var wasOpen = false
    for place in stride(from: 0, to: numbers.count, by: 2) {
      let (begin, end) = (numbers[place], numbers[place + 1])
      guard begin <= end else { throw Self.corrupt }
      wasOpen = wasOpen || end == Time.never
      var use = Use(begin: begin.adding(span), end: (end == Time.never ? max(begin, seen) : end).adding(span))
      // Nothing lies in the future of a clock that was set back.
      if use.end > now { use = Use(begin: now.subtracting(use.length), end: now) }
      add(use, at: now)
    }
    return wasOpen
  }

  private static var corrupt: SeleneError {
    SeleneError(.storeCorrupt, "store", "the row of the governor is not valid: the expedited runs are malformed")
  }
}

extension TaskTable {
  /// Whether a task goes before others because it is expedited and something of the quota is left.
  @inline(__always)
  package func isExpedited(_ slot: Int) -> Bool {
    records.at(slot).pointee.marks.contains(.expedited) && hasQuota
  }

  /// Whether expedited tasks are that now.
  package var hasQuota: Bool { expedited.isLeft(at: index.present) }

  /// Whether a window that would be too early for others has an expedited task to run.
  package func hasExpedited(_ offer: Offer, at now: Instant) -> Bool {
    settle(at: now)
    guard let urgency, urgency.expedited > 0, hasQuota else { return false }
    var isFound = false
    index.rankedClasses.forEach { number in
      if index.classes[number].isOpen(to: offer) && urgency.list(.expedited, number).first != nil { isFound = true }
    }
    return isFound
  }

  /// When the next expedited task may run, whatever the pace is; `Time.never` if none may.
  @inline(never)
  func nextExpedited(_ offer: Offer, at now: Instant) -> Instant {
    let freeAt = expedited.freeAt(now)
    guard let urgency, freeAt != Time.never else { return Time.never }
    var next = Time.never
    index.rankedClasses.forEach { number in
      if index.classes[number].isOpen(to: offer) && urgency.list(.expedited, number).first != nil {
        next = min(next, freeAt)
      }
    }
    index.dueClasses.forEach { number in
      guard index.classes[number].isOpen(to: offer), let first = urgency.list(.awaited, number).first else { return }
      next = min(next, max(freeAt, first.at.key))
    }
    return next
  }
}
