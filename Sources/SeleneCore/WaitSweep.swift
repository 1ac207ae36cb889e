// Where the time of one task went: the logs of all and the steps of its own, brought together (W8).

/// A change of reason.
package struct WaitChange: Equatable, Sendable {
  package var at: Instant
  package var reason: Reason
  package var detail: Int64
}

/// The answer.
package struct Waits: Sendable {
  package var since: Instant
  package var until: Instant
  package var state: TaskState
  /// In the order in which the reasons came first.
  package var parts: [WaitPart] = []
  /// The last ones.
  package var changes: [WaitChange] = []
  /// How many dispatches went before it.
  package var preferred: UInt64 = 0
  /// Slots and sequences of the last of them, the latest first, each task once.
  package var preferredTasks: [(slot: Int, sequence: UInt64)] = []

  package static let mostChanges = 30
  package static let mostPreferred = 8
}

/// Follows a value of one subject through a log.
private struct WaitCursor {
  private let ring: WaitRing<WaitCause>?
  /// nil: whatever it is.
  private let subject: UInt64?
  private var place = 0
  private(set) var value: UInt16
  /// Since when the value is what it is.
  private(set) var changedAt: Instant = .min
  let knownSince: Instant
  private(set) var nextAt: Instant = Time.never

  /// - Parameter present: the value now.
  init(_ ring: WaitRing<WaitCause>?, _ subject: UInt64? = 0, from start: Instant, present: UInt16) {
    (self.ring, self.subject, value, knownSince) = (ring, subject, present, ring?.knownSince ?? .min)
    guard let ring else { return }
    place = ring.firstAfter(start)
    find()
    if nextAt != Time.never { value = ring[place].old }
  }

  private mutating func find() {
    nextAt = Time.never
    guard let ring else { return }
    while place < ring.count {
      if subject == nil || ring[place].subject == subject { return nextAt = ring[place].at }
      place += 1
    }
  }

  /// When it is another, or becomes known.
  func changesAt(after now: Instant) -> Instant { knownSince > now ? min(knownSince, nextAt) : nextAt }

  /// What it is after the next change.
  var next: UInt16 { ring.map { $0[place].new } ?? value }

  mutating func advance(to now: Instant) {
    // A clock may stand at the end of time, where nothing comes.
    while nextAt <= now, nextAt != Time.never, let ring {
      (value, changedAt) = (ring[place].new, ring[place].at)
      place += 1
      find()
    }
  }
}

/// One pass over the time of a task.
struct WaitSweep {
  /// The windows of the process that has the store, or those of a pool.
  private struct Room {
    /// The one that is open.
    var window: (place: Int, entry: WaitWindow)?
    /// When there may be another.
    var opensAt: Instant = .min
  }

  private let log: WaitLog
  private let record: TaskRecord
  private let kind: Kind
  private let steps: [WaitStep]
  private let until: Instant
  private var answer: Waits

  private var now: Instant
  private var stepPlace = 0
  /// When its last run before now began.
  private var ranAt: Instant = .min
  /// The bit, and whether it still stands for the condition for which it stood then.
  private var needs: [(bit: UInt64, isNamed: Bool, cursor: WaitCursor)] = []
  private var states: WaitCursor
  private var refusals: WaitCursor
  private var quota: WaitCursor
  private var group: WaitCursor
  /// The kinds that are paused: everywhere, and then in each pool.
  private var pauses: [WaitCursor]
  /// What waits for a task that may have ended its process, likewise.
  private var suspects: [WaitCursor]
  /// Its handler as the process that has the store has it, and then as each pool offers it: at most one of them does.
  private var handlers: [(pool: UInt64, cursor: WaitCursor)]
  private var lifePlace: Int
  /// The next window, and those of each pool that have to do with its kind.
  private var windowPlace: Int
  private var rooms: [Room] = []
  /// Whose handler counts now, by place in both; the last one while none has it.
  private var present = 0
  private var dispatchPlace: Int
  /// Since when it could be picked in the window that is open, and whether others were since.
  private var candidateSince: Instant?
  private var wasPassedOver = false
  /// The windows that were counted last.
  private var countedOpen = -1
  private var countedFull = -1
  private var countedPassing = -1

  init(_ slot: Int, in table: TaskTable, at now: Instant) {
    (log, record, kind) = (table.waits, table[slot], table[slot].kind)
    let wait = record.wait(at: now)
    steps = wait.steps
    let start = steps[0].at
    until = max(start, record.isLive ? now : record.changedAt)
    answer = Waits(since: wait.since, until: until, state: record.state, parts: wait.folded)
    self.now = start
    for step in steps {
      var bits = step.needs
      while bits != 0 {
        let bit = UInt64(bits.trailingZeroBitCount)
        bits &= bits - 1
        let isNamed = step.isNamed(bit, of: record)
        guard !needs.contains(where: { $0.bit == bit && $0.isNamed == isNamed }) else { continue }
        let ring = Int(bit) < log.conditions.count ? log.conditions[Int(bit)] : nil
        let present = UInt16(truncatingIfNeeded: log.satisfied >> bit & 1)
        let subject = isNamed ? table.terms.conditions.subject(bit) : nil
        needs.append((bit, isNamed, WaitCursor(ring, subject, from: start, present: present)))
      }
    }
    states = WaitCursor(log.states, from: start, present: log.state.rawValue)
    refusals = WaitCursor(log.refusals[kind], from: start, present: log.refusal[kind])
    quota = WaitCursor(log.quota, from: start, present: log.isOutOfQuota ? 1 : 0)
    let group = table.group(of: slot)
    self.group = WaitCursor(
      group == nil ? nil : log.groups, group?.subject ?? 0, from: start, present: group?.bars ?? 0)
    let handler = WaitLog.subject(record.definition.handler)
    handlers = [
      (0, WaitCursor(log.handlers, handler, from: start, present: table.handling(record.handlerNumber).rawValue))
    ]
    for pool in log.pools {
      let subject = WaitLog.subject(handler, of: pool)
      guard let last = log.lastValue(of: subject) else { continue }
      handlers.append((pool, WaitCursor(log.handlers, subject, from: start, present: last)))
    }
    rooms = handlers.map { _ in Room() }
    pauses = handlers.map { (pool, _) in
      let paused = UInt16(truncatingIfNeeded: table.pauses.kinds(ofSubject: pool).rawValue)
      return WaitCursor(table.waits.pauses, pool, from: start, present: paused)
    }
    let ofSuspects = log.suspects
    suspects = handlers.map { (pool, _) in
      WaitCursor(ofSuspects, pool, from: start, present: table.waits.lastValue(ofSuspects: pool))
    }
    lifePlace = log.lives.firstAfter(start) - 1
    windowPlace = log.windows.firstAfter(start)
    dispatchPlace = log.dispatches.firstAfter(start - (start > .min ? 1 : 0))
    ranAt = wait.ranAt
    // The last windows of its kind that began before.
    for place in rooms.indices {
      var earlier = windowPlace - 1
      while earlier >= 0 && room(of: log.windows[earlier]) != place { earlier -= 1 }
      guard earlier >= 0 else { continue }
      let entry = log.windows[earlier]
      rooms[place].opensAt = opensAgainAt(entry)
      if entry.end > start {
        rooms[place].window = (earlier, entry)
        if ranAt < entry.at { findRun(since: entry.at, in: earlier) }
      }
    }
    lookWhoHasIt()
  }

  /// Looks whether it had its run in a window that is open as its wait begins: its record knows the last run alone.
  private mutating func findRun(since begin: Instant, in window: Int) {
    let number = UInt32(truncatingIfNeeded: log.windows.dropped &+ UInt64(window))
    var place = dispatchPlace - 1
    while place >= 0 && log.dispatches[place].at >= begin {
      let dispatch = log.dispatches[place]
      if dispatch.window == number && dispatch.sequence == record.sequence { return ranAt = dispatch.at }
      place -= 1
    }
  }

  /// Whose window it is, by place, if its kind and handler have to do with it.
  private func room(of entry: WaitWindow) -> Int? {
    entry.kinds & kind.rawValue != 0 ? handlers.firstIndex { $0.pool == entry.pool } : nil
  }

  private var window: (place: Int, entry: WaitWindow)? { rooms[present].window }
  private var handler: WaitCursor { handlers[present].cursor }

  /// Somebody else may have its handler now.
  private mutating func lookWhoHasIt() {
    guard handlers.count > 1, let now = handlers.firstIndex(where: { $0.cursor.value & 1 != 0 }), now != present
    else { return }
    (present, candidateSince, wasPassedOver) = (now, nil, false)
  }

  private func opensAgainAt(_ entry: WaitWindow) -> Instant {
    kind == .refresh ? entry.opensAt.0 : entry.opensAt.1
  }

  /// Goes through all of it.
  mutating func run() -> Waits {
    while now < until {
      settle()
      let (reason, detail) = reason(afterFirst: window.map { $0.entry.firstAt <= now } ?? false)
      let next = min(until, nextAt())
      tell(reason, detail, next.subtracting(now))
      now = next
    }
    settle()
    if !record.isLive { note(.terminal, 0) }
    return answer
  }

  // MARK: What changes

  /// Takes in what happened until now.
  private mutating func settle() {
    while stepPlace + 1 < steps.count && steps[stepPlace + 1].at <= now {
      stepPlace += 1
      if steps[stepPlace].state == .running { ranAt = steps[stepPlace].at }
    }
    for place in needs.indices { needs[place].cursor.advance(to: now) }
    states.advance(to: now)
    refusals.advance(to: now)
    quota.advance(to: now)
    for place in handlers.indices { handlers[place].cursor.advance(to: now) }
    for place in pauses.indices { pauses[place].advance(to: now) }
    lookWhoHasIt()
    // A dispatch that filled its group was preferred to it before that.
    let isFilled = group.nextAt <= now && group.nextAt != Time.never && group.value == 0 && group.next != 0
    if !isFilled { group.advance(to: now) }
    // So was that of a suspect for which it waits since.
    let next = suspects[present].nextAt
    let isTaken = next <= now && next != Time.never && suspects[present].value == 0
    if !isTaken { for place in suspects.indices { suspects[place].advance(to: now) } }
    while lifePlace + 1 < log.lives.count && log.lives[lifePlace + 1].at <= now { lifePlace += 1 }
    closeWindows()
    while windowPlace < log.windows.count && log.windows[windowPlace].at <= now {
      let entry = log.windows[windowPlace]
      if let place = room(of: entry) {
        rooms[place] = Room(window: (windowPlace, entry), opensAt: opensAgainAt(entry))
        if place == present {
          (candidateSince, wasPassedOver) = (nil, false)
          visit()
          if entry.end <= now && reason(afterFirst: entry.firstAt <= now).reason == .didNotFit {
            countWindow(.didNotFit)
          }
        }
        closeWindows()
      }
      windowPlace += 1
    }
    visit()
    guard isFilled || isTaken else { return }
    group.advance(to: now)
    for place in suspects.indices { suspects[place].advance(to: now) }
    visit()
  }

  private mutating func closeWindows() {
    for place in rooms.indices {
      guard let entry = rooms[place].window?.entry, entry.end <= now else { continue }
      if place == present {
        visit()
        candidateSince = nil
      }
      rooms[place].window = nil
    }
  }

  /// Looks who was dispatched in the window while it could have been.
  private mutating func visit() {
    guard let window else { return }
    let isCandidate =
      switch reason(afterFirst: window.entry.firstAt < now).reason {
      case .windowOpen, .preferredOthers: true
      default: false
      }
    if !isCandidate { candidateSince = nil }
    if isCandidate && candidateSince == nil { candidateSince = now }
    let number = UInt32(truncatingIfNeeded: log.windows.dropped &+ UInt64(window.place))
    while dispatchPlace < log.dispatches.count && log.dispatches[dispatchPlace].at <= now {
      let dispatch = log.dispatches[dispatchPlace]
      dispatchPlace += 1
      guard let since = candidateSince, dispatch.window == number, dispatch.at >= since,
        dispatch.sequence != record.sequence
      else { continue }
      wasPassedOver = true
      countWindow(.preferredOthers)
      answer.preferred += 1
      answer.preferredTasks.removeAll { $0.sequence == dispatch.sequence }
      answer.preferredTasks.insert((Int(dispatch.slot), dispatch.sequence), at: 0)
      if answer.preferredTasks.count > Waits.mostPreferred { answer.preferredTasks.removeLast() }
    }
  }

  /// The next instant at which anything may change.
  private func nextAt() -> Instant {
    var next = Time.never
    func take(_ at: Instant) { if at > now && at < next { next = at } }
    if stepPlace + 1 < steps.count { take(steps[stepPlace + 1].at) }
    take(steps[stepPlace].due)
    for place in needs.indices { take(needs[place].cursor.changesAt(after: now)) }
    take(states.changesAt(after: now))
    take(refusals.changesAt(after: now))
    take(quota.changesAt(after: now))
    take(group.changesAt(after: now))
    for place in handlers.indices { take(handlers[place].cursor.changesAt(after: now)) }
    for place in pauses.indices { take(pauses[place].changesAt(after: now)) }
    for place in suspects.indices { take(suspects[place].changesAt(after: now)) }
    take(log.windows.knownSince)
    if lifePlace >= 0 && lifePlace < log.lives.count { take(log.lives[lifePlace].end) }
    if lifePlace + 1 < log.lives.count { take(log.lives[lifePlace + 1].at) }
    take(rooms[present].opensAt)
    if windowPlace < log.windows.count { take(log.windows[windowPlace].at) }
    guard let entry = window?.entry else { return next }
    take(entry.end)
    take(entry.expiresAt)
    take(entry.firstAt)
    take(entry.vetoedAt)
    take(entry.expiresAt.subtracting(steps[stepPlace].leastRoom(isStrict: entry.isStrict)).adding(1))
    if dispatchPlace < log.dispatches.count { take(log.dispatches[dispatchPlace].at) }
    return next
  }

  // MARK: Precedence

  /// Which reason counts now where several hold: the order of `explain`; what it does not tell comes last.
  ///
  /// - Parameter isAfterFirst: the window that is open has dispatched something.
  private func reason(afterFirst isAfterFirst: Bool) -> (reason: Reason, detail: Int64) {
    let step = steps[stepPlace]
    if let own = step.ownReason(at: now), own != .running { return (own, 0) }
    if log.lives.count > 0 {
      guard lifePlace >= 0, lifePlace < log.lives.count else { return (.notKnown, 0) }
      let life = log.lives[lifePlace]
      if life.end <= now { return (life.wasClosed ? .noProcess : .notKnown, 0) }
    }
    if step.state == .running { return (.running, 0) }
    for place in needs.indices
    where step.needs >> needs[place].bit & 1 != 0 && needs[place].isNamed == step.isNamed(needs[place].bit, of: record)
    {
      guard needs[place].cursor.knownSince <= now else { return (.earlier, 0) }
      if needs[place].cursor.value == 0 {
        let bit = Int64(needs[place].bit)
        return bit < 32 ? (.constraints, 1 << bit) : (.conditions, needs[place].isNamed ? bit : -1)
      }
    }
    guard handler.knownSince <= now else { return (.earlier, 0) }
    let handling = WaitLog.Handling(rawValue: handler.value)
    if !handling.contains(.present) || (window?.entry.pushes == true && !handling.contains(.pushes)) {
      return (.noHandler, 0)
    }
    if handling.contains(.stuck) { return (.handlerStuck, 0) }
    if !record.isPermitted { return (.notPermitted, 0) }
    if step.marks.contains(.paused) { return (.paused, 0) }
    guard group.knownSince <= now else { return (.earlier, 0) }
    if group.value & 1 != 0 { return (.groupPaused, 0) }
    if group.value & 2 != 0 { return (.groupFull, 0) }
    guard
      max(
        pauses[0].knownSince, suspects[0].knownSince, states.knownSince, refusals.knownSince, quota.knownSince,
        log.windows.knownSince) <= now
    else {
      return (.earlier, 0)
    }
    let state = WaitLog.States(rawValue: states.value)
    if state.rawValue & UInt16(kind.rawValue) == 0 { return (.kindOff, 0) }
    if (pauses[0].value | pauses[present].value) & UInt16(kind.rawValue) != 0 { return (.kindPaused, 0) }
    // In another process it had not come back any more.
    if step.marks.contains(.taken) && (log.lives.count == 0 || step.at >= log.lives[lifePlace].at) {
      return (.stillRunning, 0)
    }
    let isExpedited = record.marks.contains(.expedited)
    guard let entry = window?.entry else {
      if isExpedited && quota.value != 0 { return (.outOfQuota, 0) }
      if rooms[present].opensAt > now && !isExpedited { return (.tooSoon, 0) }
      // Windows of pools do not ask the governor.
      if handlers[present].pool == 0 && refusals.value > 0 { return (.governor, Int64(refusals.value) - 1) }
      if state.contains(.drained) { return (.drained, 0) }
      if state.contains(.storeRefuses) { return (.storeRefuses, 0) }
      if state.contains(.noThread) { return (.noThread, 0) }
      return (.noWindow, 0)
    }
    if entry.early & kind.rawValue != 0 && (!isExpedited || quota.value != 0) {
      return (isExpedited ? .outOfQuota : .tooSoon, 0)
    }
    let hadItsRun = ranAt >= entry.at
    if entry.isRolling {
      if hadItsRun && record.traits.isStanding { return (.hadItsRun, 0) }
    } else if !isRanked(step, in: entry) {
      return (hadItsRun ? .hadItsRun : .nextCycle, 0)
    }
    let fits =
      now < entry.expiresAt
      && ((!entry.isStrict && !isAfterFirst)
        || step.leastRoom(isStrict: entry.isStrict) <= entry.expiresAt.subtracting(now))
    if !fits { return (.didNotFit, 0) }
    if entry.vetoedAt <= now && entry.veto >> 8 & UInt16(kind.rawValue) != 0 {
      return (.governor, Int64(entry.veto & 0xFF))
    }
    let isHeldBack = WaitLog.Suspects(rawValue: suspects[present].value)
    if isHeldBack.contains(.all) || (isHeldBack.contains(.others) && step.marks.contains(.suspect)) {
      return (.quarantined, 0)
    }
    if state.contains(.drained) { return (.drained, 0) }
    return (wasPassedOver && candidateSince != nil ? .preferredOthers : .windowOpen, 0)
  }

  /// Whether a window whose ranking is frozen has it.
  private func isRanked(_ step: WaitStep, in entry: WaitWindow) -> Bool {
    guard step.at < entry.at || (step.at == entry.at && step.stamp <= entry.stamp) else { return false }
    return record.sequence <= entry.lastSequence && step.due <= entry.at && step.needs & ~entry.satisfied == 0
      && handler.changedAt <= entry.at && entry.paused & kind.rawValue == 0
  }

  // MARK: Telling

  private mutating func tell(_ reason: Reason, _ detail: Int64, _ span: Span) {
    let isNew = note(reason, detail)
    switch reason {
    case .didNotFit, .preferredOthers, .windowOpen:
      countWindow(reason)
      answer.parts.add(span, reason, detail, times: 0)
    default: answer.parts.add(span, reason, detail, times: isNew ? 1 : 0)
    }
  }

  @discardableResult
  private mutating func note(_ reason: Reason, _ detail: Int64) -> Bool {
    if let last = answer.changes.last, last.reason == reason, last.detail == detail { return false }
    answer.changes.append(WaitChange(at: now, reason: reason, detail: detail))
    if answer.changes.count > Waits.mostChanges { answer.changes.removeFirst() }
    return true
  }

  private mutating func countWindow(_ reason: Reason) {
    guard let place = window?.place else { return }
    switch reason {
    case .didNotFit where countedFull != place: countedFull = place
    case .preferredOthers where countedPassing != place: countedPassing = place
    case .windowOpen where countedOpen != place: countedOpen = place
    default: return
    }
    answer.parts.add(0, reason, 0, times: 1)
  }
}

extension TaskTable {
  /// Where the time of the record in a slot went since it was last due, or registered.
  ///
  /// - Complexity: O(log n + entries of the logs since then).
  package func waits(of slot: Int, at now: Instant) -> Waits {
    var sweep = WaitSweep(slot, in: self, at: now)
    return sweep.run()
  }

  /// What a part of a record's waits is about, by name: a condition, its group, the first that it waits for.
  package func waitName(of slot: Int, _ reason: Reason, _ detail: Int64) -> UnsafeRawBufferPointer? {
    switch reason {
    case .conditions:
      guard detail >= 32 else { return nil }
      return terms.conditions.names(Needs(rawValue: 1 << UInt64(detail)).host).first?.buffer
    case .groupPaused, .groupFull: return group(of: slot)?.name.buffer
    case .blocked:
      let waitsFor = self.waitsFor(slot)
      guard waitsFor != 0 else { return nil }
      return records[slot].definition.after[waitsFor.trailingZeroBitCount].id
    default: return nil
    }
  }

  /// What a handler is, by its number.
  func handling(_ number: Int32) -> WaitLog.Handling {
    // What other processes offer is told of their pools.
    guard number >= 0, roster.way(Int(number)) != .crewed else { return [] }
    var handling: WaitLog.Handling = .present
    if roster.pushes(Int(number)) { handling.insert(.pushes) }
    if roster.isStuck(Int(number)) { handling.insert(.stuck) }
    return handling
  }
}
