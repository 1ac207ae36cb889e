// Cycles: begin, next, end, and what a window would pick (C1 to C3, C11 to C14).

import SeleneCore
import SeleneGovernor

/// What a cycle offers its caller.
package enum Step {
  case run(Run)
  /// Nothing now; come again at this instant, or when a run was completed.
  case wait(until: Instant)
  case done
}

extension Scheduler {
  // MARK: Begin

  /// Begins a pulled cycle.
  ///
  /// - Throws: `unsupported` (inline), `unavailable`, `busy`, `tooSoon`; for one task `notFound`, `immediateRunIneligible`.
  package func begin(_ window: Window, at moment: Moment) throws(SeleneError) -> Cycle {
    guard !window.isInline else { throw .inlineIsCalled }
    return window.hasLanes ? try beginLanes(window, at: moment) : try begin(window, .pulled, at: moment)
  }

  /// Checks a window. Without named kinds it gets all that are switched on; a connection leaves them empty, and its owner
  /// resolves them.
  ///
  /// - Throws: `invalidArgument`, naming the first field that is out of range.
  package func window(_ draft: WindowDraft) throws(SeleneError) -> Window {
    // If all kinds are off, `admit` refuses them.
    try Window(draft, units, enabled: owner != nil ? [] : enabled.isEmpty ? .all : enabled)
  }

  /// Begins a cycle of any mode.
  func begin(_ window: Window, _ mode: Cycle.Mode, at moment: Moment) throws(SeleneError) -> Cycle {
    return try begin(admitted: try admit(window, at: moment), mode, at: moment)
  }

  /// Refuses a window that may not begin; one without named kinds is narrowed to those that may.
  func admit(
    _ window: Window, of pool: Pool? = nil, crew: Crew? = nil, at moment: Moment
  ) throws(SeleneError) -> Window {
    guard owner == nil, window.task == nil else {
      try refuseDrained()
      return window
    }
    do throws(SeleneError) {
      try refuse(window.kinds, of: pool, crew: crew, at: moment)
      return window
    } catch {
      let others = window.namesKinds ? [] : mayBegin(window.kinds, of: pool, crew, at: moment)
      guard !others.isEmpty else { throw error }
      return window.of(others)
    }
  }

  /// The kinds that would not be refused by themselves.
  private func mayBegin(_ kinds: KindSet, of pool: Pool?, _ crew: Crew?, at moment: Moment) -> KindSet {
    var free: KindSet = []
    for kind in Kind.allCases where kinds.contains(kind) {
      if (try? refuse(KindSet(kind), of: pool, crew: crew, at: moment)) != nil { free.formUnion(KindSet(kind)) }
    }
    return free
  }

  /// Begins the cycle of a window against which nothing speaks; ends forgotten pulled ones of its kinds first (C5).
  ///
  /// - Parameter driving: the kinds for which the driver opens it.
  @_optimize(speed)
  func begin(
    admitted window: Window, _ mode: Cycle.Mode, driving: KindSet = [], for member: Member? = nil,
    isCalled: Bool = false, isAwaited: Bool = true, at moment: Moment
  ) throws(SeleneError) -> Cycle {
    let now = moment.now
    if let owner {
      return try owner.begin(
        window, mode, !mode.callsHandlers ? .host : isAwaited ? .waiting : .later, for: self, at: now)
    }
    let pool = member?.pool
    let satisfied = self.satisfied(probing: moment)
    let only = try window.task.map { task throws(SeleneError) in
      try runnableSlot(task, satisfied: satisfied, pushes: mode.callsHandlers || isCalled, crew: member?.crew, at: now)
    }
    let kinds = only == nil ? window.kinds : []
    let serves = only.map { KindSet(table[$0].kind) } ?? window.kinds
    let driver = member != nil ? member?.driver : governance.driver
    let alone = tooEarly(kinds, of: pool, driving: driving, by: driver, at: now)
    let booked = keepsBooks ? driving.isEmpty ? kinds : driving : []
    let forgotten = forgotten(serves, of: pool, at: now)
    let stopping = openRuns(without: satisfied)
    try transaction(at: now) {
      requeue(stopping, .constraintLost, at: now)
      for cycle in forgotten { book(endOf: cycle, at: now) }
      if !window.joins { book(begin: booked, budget: window.budget, at: now) }
      for kind in Kind.allCases where kinds.contains(kind) && !alone.contains(kind) && pool == nil {
        pace[kind].lastBegin = now
      }
      _ = table.prune(endedBefore: now.subtracting(Time.retention))
    }
    if let pool {
      for kind in Kind.allCases where kinds.contains(kind) && !alone.contains(kind) { pool.pace[kind].lastBegin = now }
    }
    if let probe = moment.probe { absorb(probe.readings, at: now) }
    for cycle in forgotten {
      cycle.booked = []
      _ = end(cycle, at: now)
    }

    let time =
      window.isOpenEnded
      ? Budget(openSince: now) : Budget(begin: now, budget: window.budget, reserve: window.reserve)
    let paused = table.pauses.kinds(of: pool?.name, at: now)
    let ranking =
      only.map { Ranking(table, only: $0, observedRange: options.observedRange, at: now) }
      ?? table.openRanking(
        offer(window.kinds.subtracting(paused), alone: alone, mode, pool?.crew, callsThere: isCalled), at: now)
    let cycle = Cycle(
      handle: slot.newCycle(), mode: mode, laneLimit: window.lanes, strictFit: window.strictFit,
      isRolling: window.isRolling, kinds: kinds, alone: alone, serves: serves, booked: booked, driven: driving,
      pool: pool, callsThere: isCalled, time: time, budget: window.isOpenEnded ? window.budget : nil, ranking: ranking)
    cycles.append(cycle)
    cycle.isGranted = !driving.isEmpty && driver?.terms.isGoverned == true
    if !kinds.isEmpty {
      noteWindow(cycle, pushes: mode.callsHandlers || (member != nil && window.isInline), paused: paused, at: now)
    }
    // What stands at begin is not new; a signal may expire while it is open.
    if governance.governor.profile.preempts { _ = governance.look(at: now) }
    nextDue = min(nextDue, time.expiresAt, cycle.picksUntil, governance.nextLook)
    beginTrace(of: cycle, paused: paused, at: now)
    publish(begun(cycle), at: now)
    return cycle
  }

  /// What `explain` will say of the window that begins.
  private func beginTrace(of cycle: Cycle, paused: KindSet, at now: Instant) {
    var trace = CycleTrace(
      begin: now, stamp: table.stamp, deadline: min(cycle.time.deadline, cycle.picksUntil), satisfied: satisfied,
      pushes: cycle.mode.callsHandlers, isRolling: cycle.isRolling)
    trace.needsThreads = cycle.mode.needsThreads
    for kind in Kind.allCases where cycle.kinds.contains(kind) && !cycle.alone.contains(kind) {
      var trace = trace
      // Its ranking has nothing of what was paused then.
      if paused.contains(kind) { trace.stamp = 0 }
      if let pool = cycle.pool { pool.traces[kind] = trace } else { traces[kind] = trace }
    }
  }

  /// The log of waits has a window more.
  private func noteWindow(_ cycle: Cycle, pushes: Bool, paused: KindSet, at now: Instant) {
    let pace = cycle.pool?.pace ?? pace
    cycle.waitNumber = table.waits.beginWindow(
      cycle.kinds, early: cycle.alone, paused: paused, expiresAt: min(cycle.time.expiresAt, cycle.picksUntil),
      isStrict: cycle.strictFit, isRolling: cycle.isRolling, pushes: pushes,
      opensAt: PerKind(refresh: pace.refresh.opensAt, processing: pace.processing.opensAt), stamp: table.stamp,
      lastSequence: table.lastSequence, pool: WaitLog.pool(cycle.pool?.name), at: now)
  }

  /// Ends the pulled cycles of some kinds whose deadline has passed (C5).
  func endForgotten(_ kinds: KindSet, of pool: Pool? = nil, at now: Instant) {
    for cycle in forgotten(kinds, of: pool, at: now) { _ = end(cycle, at: now) }
  }

  private func forgotten(_ kinds: KindSet, of pool: Pool?, at now: Instant) -> [Cycle] {
    guard !cycles.isEmpty else { return [] }
    return cycles.filter { $0.isForgotten(at: now) && $0.pool === pool && !$0.serves.isDisjoint(with: kinds) }
  }

  /// The refusals of a begin, in their order (C12, C13).
  func refuse(_ kinds: KindSet, of pool: Pool?, crew: Crew? = nil, at moment: Moment) throws(SeleneError) {
    let now = moment.now
    try refuseSwitchedOff(kinds)
    let open = cycles.first {
      $0.pool === pool && !$0.occupied.isDisjoint(with: kinds) && !$0.isForgotten(at: now)
    }
    if let open { throw SeleneError(.busy, "kinds", "a cycle of \(open.kinds.names) is open") }
    let pace = pool?.pace ?? pace
    for kind in Kind.allCases where kinds.contains(kind) && pace[kind].opensAt > now {
      guard !hasExpedited(kind, of: pool, crew, at: moment) else { continue }
      throw SeleneError.range("kinds", now, pace[kind].opensAt, .max, .instant).code(.tooSoon).of(kind.name)
        .problem("may begin again in \(span: pace[kind].opensAt.subtracting(now))")
    }
  }

  /// Whether a window may begin too early, for expedited tasks alone.
  @inline(never)
  private func hasExpedited(_ kind: Kind, of pool: Pool?, _ crew: Crew?, at moment: Moment) -> Bool {
    table.hasExpedited(
      Offer(
        kinds: KindSet(kind).intersection(offered(to: pool)), satisfied: satisfied(probing: moment), pushes: false,
        observedRange: options.observedRange, crew: crew), at: moment.now)
  }

  /// The kinds for which it is too early, by their own pace or that of the driver which opens the window (W10).
  private func tooEarly(
    _ kinds: KindSet, of pool: Pool?, driving: KindSet, by driver: Driver?, at now: Instant
  ) -> KindSet {
    var early: KindSet = []
    for kind in Kind.allCases where kinds.contains(kind) {
      var pace = pool?.pace[kind] ?? pace[kind]
      if driving.contains(kind), let driver {
        pace.interval = max(pace.interval, driver.terms.every)
      }
      if pace.opensAt > now { early.formUnion(KindSet(kind)) }
    }
    return early
  }

  func refuseSwitchedOff(_ kinds: KindSet) throws(SeleneError) {
    try refuseDrained()
    guard kinds.isSubset(of: enabled) else {
      throw SeleneError(.unavailable, "kinds", "\(kinds.subtracting(enabled).names) is switched off")
    }
  }

  /// The slot of a window's one task (C14).
  private func runnableSlot(
    _ id: UnsafeRawBufferPointer, satisfied: Needs, pushes: Bool, crew: Crew?, at now: Instant
  ) throws(SeleneError) -> Int {
    let slot = try visibleSlot(id, "task")
    let pool = pool(of: table[slot])
    let offer = Offer(
      kinds: offered(to: pool), satisfied: satisfied, pushes: pushes, observedRange: options.observedRange, crew: crew)
    guard table.isRunnable(slot, offer) else {
      let explanation = table.explain(
        slot, enabled: enabled, pausedUntil: table.pauses.until(table[slot].kind, of: pool?.name, at: now),
        satisfied: satisfied, observedRange: options.observedRange, pace: pace[table[slot].kind],
        trace: nil, hadItsRun: false, runDeadline: nil, releaseAt: Time.never, at: now)
      let reasons = explanation.entries.filter {
        $0.reason != .notDue && $0.reason != .tooSoon && $0.reason != .outOfQuota
      }.map { $0.reason.name }
      throw SeleneError(
        .immediateRunIneligible,
        "task", name: id,
        "cannot run now: \(reasons.first ?? ("its handler is another process's, or has no run function" as Literal))")
    }
    return slot
  }

  func begun(_ cycle: Cycle) -> Change {
    let change = Change(.cycleBegun)
    change.cycle = cycle.handle
    change.kinds = cycle.kinds
    change.timeAt = cycle.time.deadline
    return change
  }

  @inline(__always)
  private func offer(
    _ kinds: KindSet, alone: KindSet, _ mode: Cycle.Mode, _ crew: Crew?, callsThere: Bool
  ) -> Offer {
    var offer = Offer(
      kinds: kinds, satisfied: satisfied, pushes: mode.callsHandlers || callsThere,
      observedRange: options.observedRange, crew: crew)
    offer.alone = alone
    return offer
  }

  /// What an open cycle offers now.
  func offer(of cycle: Cycle) -> Offer {
    let offered = offered(to: cycle.pool)
    let kinds = cycle.isOfOneTask ? offered : cycle.kinds.intersection(offered)
    return offer(
      kinds.subtracting(cycle.preempted), alone: cycle.alone, cycle.mode, cycle.crew, callsThere: cycle.callsThere)
  }

  // MARK: Next

  /// The next run of a pulled cycle; never blocks.
  ///
  /// - Throws: `unsupported` for a cycle that the library runs.
  @_optimize(speed)
  package func next(_ cycle: Cycle, at moment: Moment) throws(SeleneError) -> Step {
    guard cycle.mode == .pulled else {
      guard cycle.mode != .lanes else {
        throw SeleneError(.unsupported, "cycle", "begun with SELENE_WINDOW_LANES; take its runs with selene_lane_next")
      }
      throw SeleneError(.unsupported, "cycle", "run by library threads; only a pulled cycle gives its runs to the host")
    }
    guard owner != nil || cycle.openRuns < cycle.laneLimit else {
      try save(at: moment.now)
      return .wait(until: nextChange(of: cycle, after: moment.now))
    }
    let step = try advance(cycle, at: moment.now)
    if case .run = step { _ = cycle.noteTaker() }
    return step
  }

  /// When time alone changes something for the runs of a cycle: its next expiry, or what is a run's own.
  func nextExpiry(of cycle: Cycle, after now: Instant) -> Instant {
    var expiry = min(cycle.time.nextExpiry(after: now), conditions.changesAt, table.pauses.endsAt)
    if !cycle.hasLeft { expiry = min(expiry, cycle.picksUntil) }
    if cycle.hasTimedRuns && cycle.openRuns > 0 {
      runs.forEach { run in
        if run.isOpen && run.cycle === cycle { expiry = min(expiry, nextInstant(of: run)) }
      }
    }
    return expiry
  }

  /// The same, or, if it rolls, what becomes eligible before.
  func nextChange(of cycle: Cycle, after now: Instant) -> Instant {
    let expiry = min(nextExpiry(of: cycle, after: now), cycle.isHeldBack ? clearingChangesAt(after: now) : Time.never)
    return cycle.isRolling ? min(expiry, table.nextDue(offer(of: cycle), at: now)) : expiry
  }

  /// Dispatches the next pick of a cycle that has a free lane, or says what to wait for.
  ///
  /// - Parameter said: what a lane comes back with, which an owner is told with the request.
  @_optimize(speed)
  func advance(_ cycle: Cycle, after said: Said? = nil, at now: Instant) throws(SeleneError) -> Step {
    if let owner { return try owner.take(cycle, after: said, for: self, at: now) }
    if cycle.isOpenEnded && cycles.count > 1 && !cycle.isDone && isFull(cycle) {
      try save(at: now)
      return .wait(until: nextChange(of: cycle, after: now))
    }
    if let pick = pick(cycle, at: now) {
      guard let run = try dispatch(pick, in: cycle, at: now) else { return .done }
      cycle.ranking.remove(pick)
      return .run(run)
    }
    try save(at: now)
    // Tasks of stuck handlers are being moved, some in each call: the caller comes again at once (R4).
    if table.isMoving {
      table.settle(at: now)
      return .wait(until: now)
    }
    if cycle.openRuns > 0 { return .wait(until: nextChange(of: cycle, after: now)) }
    guard let wakeAt = awaitsGroup(cycle, at: now) ?? awaitsOthers(cycle, at: now) else {
      guard let node, cycle.isRolling, now < cycle.time.expiresAt else { return .done }
      return wait(for: node, in: cycle, at: now)
    }
    return .wait(until: min(nextChange(of: cycle, after: now), wakeAt))
  }

  /// Whether runs of earlier windows of its driver, which pick no more, leave it no lane now (V1). Of a member that is known
  /// already: others of its pool have lanes of their own.
  private func isFull(_ cycle: Cycle) -> Bool {
    guard cycle.mode != .member else { return false }
    let carried = carried(cycle.driven, of: cycle.pool)
    return carried > 0 && cycle.openRuns + carried >= cycle.laneLimit
  }

  /// How many runs are in flight in a driver's windows of some kinds that pick no more.
  func carried(_ kinds: KindSet, of pool: Pool?) -> Int {
    var count = 0
    for cycle in cycles where cycle.hasLeft && cycle.pool === pool && !cycle.driven.isDisjoint(with: kinds) {
      count += cycle.openRuns
    }
    return count
  }

  /// A window waits while what the fleet may have for it is asked for.
  @inline(never)
  private func wait(for node: SchedulerNode, in cycle: Cycle, at now: Instant) -> Step {
    let before = table.stamp
    // It may not know yet what just became free.
    followNode(node)
    guard table.stamp == before else { return .wait(until: now) }
    // What it has and was not picked does not fit: it is first in the next window.
    guard node.machine.isLooking, !hasPending(for: cycle, node) else { return .done }
    return .wait(until: min(nextChange(of: cycle, after: now), now.adding(Self.askAgain)))
  }

  /// How soon a host that pulls looks again for what a fleet may have; threads of the library are woken.
  private static let askAgain = Time.second / 50

  /// Whose turn it is in a cycle now, or nil (C2, C3).
  @_optimize(speed)
  private func pick(_ cycle: Cycle, at now: Instant) -> Pick? {
    guard hasSuspects || !cycle.aside.isEmpty || cycle.isHeldBack else { return bestPick(cycle, at: now) }
    return pickBesideSuspects(cycle, at: now)
  }

  /// Whose turn it is where some may have to wait for what runs beside them (V7).
  @inline(never)
  private func pickBesideSuspects(_ cycle: Cycle, at now: Instant) -> Pick? {
    // A rolling ranking has them again.
    if cycle.isRolling { cycle.aside.removeAll() }
    cycle.isHeldBack = false
    if let pick = cleared(cycle, at: now) { return pick }
    var isWaiting = false
    for task in cycle.aside {
      guard let room = room(in: cycle, at: now),
        let pick = cycle.ranking.pick(aside: task, in: table, offer(of: cycle), room: room)
      else { continue }
      switch turn(of: task.slot, in: cycle, at: now) {
      case .now: return pick
      case .later: isWaiting = true
      case .afterOthers:
        cycle.isHeldBack = true
        return nil
      }
    }
    var isFirst = true
    while let pick = bestPick(cycle, at: now, renewing: isFirst) {
      isFirst = false
      switch turn(of: pick.slot, in: cycle, at: now) {
      case .now: return pick
      case .later where !cycle.isOfOneTask:
        isWaiting = true
        cycle.ranking.remove(pick)
        cycle.aside.append((pick.slot, table.sequence(pick.slot)))
      case .later, .afterOthers:
        cycle.isHeldBack = true
        return nil
      }
    }
    cycle.isHeldBack = isWaiting
    return nil
  }

  /// The task for which the process of a cycle has begun nothing, once nothing runs there: others that rank before it have
  /// waited for it.
  private func cleared(_ cycle: Cycle, at now: Instant) -> Pick? {
    guard let clearing, clearing.cycle === cycle, clearing.member === cycle.member, now < clearing.endsAt,
      table[clearing.slot].suspicion == .blamed, !hasRuns(beside: cycle), let room = room(in: cycle, at: now),
      let pick = cycle.ranking.pick(
        aside: (clearing.slot, clearing.sequence), in: table, offer(of: cycle), room: cycle.isOfOneTask ? .any : room)
    else { return nil }
    self.clearing = nil
    return pick
  }

  @_optimize(speed)
  private func bestPick(_ cycle: Cycle, at now: Instant, renewing: Bool = true) -> Pick? {
    guard !cycle.isEnded, !cycle.isDone else { return nil }
    guard !cycle.isOfOneTask else {
      return now < cycle.time.deadline ? cycle.ranking.best(in: table, offer(of: cycle), room: .any) : nil
    }
    let room = room(in: cycle, at: now)
    trace(cycle) { $0?.room = room ?? Room(0, isStrict: cycle.strictFit) }
    guard let room else { return nil }
    if cycle.isRolling && renewing { cycle.ranking.renew(table, offer(of: cycle), at: now) }
    return cycle.ranking.best(in: table, offer(of: cycle), room: room)
  }

  @inline(__always)
  func room(in cycle: Cycle, at now: Instant) -> Room? {
    guard cycle.isOpenEnded else {
      return cycle.time.room(at: now, isFirst: cycle.dispatched == 0, strictFit: cycle.strictFit)
    }
    guard now < cycle.picksUntil else { return nil }
    return cycle.strictFit ? Room(cycle.picksUntil.subtracting(now), isStrict: true) : .any
  }

  /// When to look again at the tasks of a cycle that wait for nothing but the end of a run of their group, which is at work in
  /// whatever cycle; nil if there is none (W3).
  func awaitsGroup(_ cycle: Cycle, at now: Instant) -> Instant? {
    guard !cycle.isEnded, !cycle.isDone, now < cycle.time.deadline, let room = room(in: cycle, at: now) else {
      return nil
    }
    var wakeAt: Instant?
    cycle.ranking.forEachAwaited(in: table, offer(of: cycle), room: cycle.isOfOneTask ? .any : room) { group in
      runs.forEach { run in
        guard run.isAtWork, run.definition.group === group else { return }
        let at = min(Budget.nextExpiry(run.expiresAt, run.deadline, after: now), nextInstant(of: run))
        wakeAt = min(wakeAt ?? at, at)
      }
    }
    return wakeAt.map { max($0, now) }
  }

  /// Writes down what `explain` will say of the cycle.
  private func trace(_ cycle: Cycle, _ write: (inout CycleTrace?) -> Void) {
    if let pool = cycle.pool {
      for kind in Kind.allCases where cycle.occupied.contains(kind) { write(&pool.traces[kind]) }
      return
    }
    if cycle.occupied.contains(.refresh) { write(&traces.refresh) }
    if cycle.occupied.contains(.processing) { write(&traces.processing) }
  }

  // MARK: End

  /// Ends a cycle: open runs are over, its report is made and handed to the callers that wait for it.
  @_optimize(speed)
  package func end(_ cycle: Cycle, at now: Instant) -> Report {
    if let report = cycle.report { return report }
    if let owner { return owner.endAnyway(cycle, for: self, at: now) }
    cycle.isDone = true
    expireOpenRuns(of: cycle, at: now)
    let isStored: Bool
    if saver.isAtWork {
      // The report does not wait for the disk; what it says is stored as soon as that is possible.
      owe(.books(cycle, at: now))
      saver.owesSave = true
      isStored = cycle.failure == nil
    } else {
      book(endOf: cycle, at: now)
      isStored = saveEnd(of: cycle, at: now) && cycle.failure == nil
      // Time has ended it meanwhile.
      if let report = cycle.report { return report }
    }
    if !cycle.hasLeft { countWhatDidNotFit(in: cycle, at: now) }
    cycle.trim()
    let report = Report(cycle, didNotFit: cycle.didNotFit, isStored: isStored, at: now)
    leaveBehind(cycle)
    cycle.report = report
    if !cycle.hasLeft { endPicking(of: cycle, at: now) }
    cycle.letRunsGo()
    cycles.removeAll { $0 === cycle }
    if cycle.hasLeft { lookAgain() }
    let change = Change(.cycleEnded)
    change.cycle = cycle.handle
    change.kinds = cycle.kinds
    change.detail = report.tally.result.rawValue
    publish(change, at: report.endedAt)
    keepReport(of: cycle)
    if !cycle.receivers.isEmpty {
      hand(report, to: cycle.receivers)
      cycle.receivers = []
    }
    wake()
    return report
  }

  private func countWhatDidNotFit(in cycle: Cycle, at now: Instant) {
    if cycle.isRolling { cycle.ranking.renew(table, offer(of: cycle), at: now) }
    cycle.didNotFit = cycle.ranking.remaining(in: table, offer(of: cycle))
  }

  /// A cycle picks no more: its kinds are free for the next.
  private func endPicking(of cycle: Cycle, at now: Instant) {
    table.waits.endWindow(cycle.waitNumber, at: now)
    drove(cycle, at: now)
    table.close(cycle.ranking)
    for (slot, sequence) in cycle.spent { table.renew(slot, sequence) }
    let room = max(0, min(cycle.time.expiresAt, cycle.picksUntil).subtracting(now))
    trace(cycle) {
      $0?.isOpen = false
      $0?.room = Room(room, isStrict: cycle.strictFit)
    }
  }

  /// The time for which an open-ended cycle picks is over: the next window may begin, and its runs in flight go on (V1).
  func leave(_ cycle: Cycle, at now: Instant) {
    if cycle.mode == .pulled && cycle.openRuns > 0 && mayGoOn(cycle, at: now) { return goOn(cycle, at: now) }
    countWhatDidNotFit(in: cycle, at: now)
    endPicking(of: cycle, at: now)
    cycle.leave()
    cycle.watch?.poke()
    lookAgain()
    wake()
  }

  /// Whether the governor would grant the next window now, which a host that pulls would not come for: it works on this one.
  private func mayGoOn(_ cycle: Cycle, at now: Instant) -> Bool {
    guard let driver = cycle.pool == nil ? governance.driver : nil, cycle.preempted.isEmpty else { return false }
    guard driver.terms.isGoverned else { return true }
    for kind in Kind.allCases where cycle.driven.contains(kind) {
      let decision = governance.governor.decide(kind, neverRan: false, at: now)
      note(decision, neverRan: false, at: now)
      guard decision.isGranted, decision.longestWindow >= cycle.budget else { return false }
    }
    return true
  }

  /// The next window of a host that pulls is the one that it has.
  private func goOn(_ cycle: Cycle, at now: Instant) {
    table.waits.endWindow(cycle.waitNumber, at: now)
    table.close(cycle.ranking)
    for (slot, sequence) in cycle.spent { table.renew(slot, sequence) }
    let paused = table.pauses.kinds(of: nil, at: now)
    book(begin: cycle.booked, budget: cycle.budget, at: now)
    for kind in Kind.allCases where cycle.kinds.contains(kind) { pace[kind].lastBegin = now }
    cycle.renew(
      table.openRanking(
        offer(cycle.kinds.subtracting(paused), alone: cycle.alone, cycle.mode, nil, callsThere: false), at: now),
      at: now)
    noteWindow(cycle, pushes: false, paused: paused, at: now)
    beginTrace(of: cycle, paused: paused, at: now)
    wake()
  }

  /// Ends a cycle at the host's word; one that the library runs ends early.
  ///
  /// - Throws: a status of stores; then the cycle and its runs are still open.
  package func end(_ cycle: Cycle, at moment: Moment) throws(SeleneError) -> Report {
    if let report = try takeReport(of: cycle) { return report }
    if let owner { return try owner.end(cycle, for: self, at: moment.now) }
    if cycle.openRuns > 0 { try endRuns(cycle.runs.filter { $0.isOpen }, of: cycle, at: moment.now) }
    let report = end(cycle, at: moment.now)
    return try takeReport(of: cycle) ?? report
  }

  /// Ends open runs because the host ends their window: they are stopped (V4), unless the deadline was first.
  ///
  /// - Throws: a status of stores; then the runs go on.
  func endRuns(_ runs: [Run], of cycle: Cycle, at now: Instant) throws(SeleneError) {
    guard !runs.isEmpty else { return }
    guard now >= cycle.time.deadline, !cycle.isEndedByHost else { return try stop(runs, .shutdown, at: now) }
    try expire(runs, early: cycle.time.deadline, at: now)
  }

  /// Where it is over without its host or its deadline, since nothing of it can go on, runs are stopped, too.
  private func expireOpenRuns(of cycle: Cycle, at now: Instant) {
    guard cycle.openRuns > 0 else { return }
    for run in cycle.runs where run.isOpen {
      if now < cycle.time.deadline { stop(run, .shutdown, at: now) } else { expire(run, at: cycle.time.deadline) }
    }
  }

  /// The next begin ends forgotten cycles first (C5), so a question counts the tasks that had their run of such a one as
  /// eligible again.
  ///
  /// - Returns: those that are given to `spendAgain` when it is answered.
  func renewForgotten(of pool: Pool?, at now: Instant) -> [Int] {
    var renewed: [Int] = []
    for cycle in cycles where cycle.pool === pool && cycle.isForgotten(at: now) {
      for (slot, sequence) in cycle.spent where table.renew(slot, sequence) { renewed.append(slot) }
    }
    return renewed
  }

  func spendAgain(_ renewed: [Int]) { for slot in renewed { table.spendAgain(slot) } }

  // MARK: Plan

  /// What such a window would pick now if every run took its estimate.
  ///
  /// - Throws: for one task `notFound`, `immediateRunIneligible`.
  package func plan(_ window: Window, at moment: Moment) throws(SeleneError) -> Plan {
    try plan(window, of: nil, crew: nil, at: moment)
  }

  /// The same of a pool.
  func plan(_ window: Window, of pool: Pool?, crew: Crew?, at moment: Moment) throws(SeleneError) -> Plan {
    let now = moment.now
    let satisfied = self.satisfied(probing: moment)
    let time = Budget(begin: now, budget: window.budget, reserve: window.reserve)
    var plan = Plan()
    if let task = window.task {
      let slot = try runnableSlot(task, satisfied: satisfied, pushes: false, crew: crew, at: now)
      let ranking = Ranking(table, only: slot, observedRange: options.observedRange, at: now)
      let offer = Offer(
        kinds: enabled, satisfied: satisfied, pushes: false, observedRange: options.observedRange, crew: crew)
      plan.eligible = 1
      if let pick = ranking.best(in: table, offer, room: .any) { plan.entries.append(entry(pick, at: now)) }
      return plan
    }
    let renewed = renewForgotten(of: pool, at: now)
    defer { spendAgain(renewed) }
    let offer = Offer(
      kinds: window.kinds.subtracting(table.pauses.kinds(of: pool?.name, at: now)), satisfied: satisfied, pushes: false,
      observedRange: options.observedRange, crew: crew)
    let ranking = Ranking(table, offer, at: now)
    plan.eligible = ranking.eligibleCount
    // When each lane is free again; the earliest takes the next pick.
    var lanes = [Instant](repeating: now, count: window.lanes)
    table.terms.groups.beginPlan()
    defer { table.terms.groups.endPlan() }
    while let lane = lanes.indices.min(by: { lanes[$0] < lanes[$1] }) {
      let at = lanes[lane]
      table.terms.groups.endPlanned(by: at)
      guard let room = time.room(at: at, isFirst: plan.entries.isEmpty, strictFit: window.strictFit) else {
        return plan
      }
      if let pick = ranking.best(in: table, offer, room: room) {
        ranking.remove(pick)
        plan.entries.append(entry(pick, at: at))
        lanes[lane] = at.adding(pick.estimate)
        if let group = table.group(of: pick.slot) { table.terms.groups.plan(group, until: lanes[lane]) }
      } else {
        var next: Instant?
        ranking.forEachAwaited(in: table, offer, room: room) { group in
          if let end = table.terms.groups.firstEnd(ofPlanned: group) { next = min(next ?? end, end) }
        }
        guard let next else { return plan }
        lanes[lane] = next
      }
    }
    return plan
  }

  private func entry(_ pick: Pick, at now: Instant) -> Plan.Entry {
    Plan.Entry(definition: table[pick.slot].definition, score: pick.score, estimate: pick.estimate, startsAt: now)
  }
}

extension SeleneError {
  package static var inlineIsCalled: SeleneError {
    SeleneError(.unsupported, "flags", "SELENE_WINDOW_INLINE is for selene_cycle_run, a pulled cycle calls no handlers")
  }

  static var inlineIsBlocking: SeleneError {
    SeleneError(
      .unsupported, "flags",
      "SELENE_WINDOW_INLINE is for selene_cycle_run, an asynchronous cycle runs on library threads")
  }
}

extension KindSet {
  var names: Literal {
    if self == .all { return "refresh and processing" }
    return self == KindSet(.refresh) ? "refresh" : "processing"
  }
}
