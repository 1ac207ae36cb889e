// Pushed cycles: library threads call the handlers, and the report comes by the deadline whatever they do (C5).

import CPlatform
import SeleneCore

extension Scheduler {
  // MARK: Blocking

  /// Begins a cycle that the caller will see through with `finish`.
  ///
  /// - Throws: as `begin`; `reentrant`, `busy` (too many threads left behind), `unsupported` (threads with a host clock),
  ///   `exhausted`.
  package func start(_ window: Window, at moment: Moment) throws(SeleneError) -> Cycle {
    try refuseInsideCallback("a blocking cycle")
    try refuseLanes(window)
    guard !window.isInline else { return try begin(window, .inline, at: moment) }
    return try beginPushed(window, coordinators: 0, at: moment)
  }

  /// Works on, or waits for, a cycle of `start` until it is over. The caller holds no lock.
  package func finish(_ cycle: Cycle) throws(SeleneError) -> Report {
    lock()
    cycle.waiter = platform_thread_number()
    // The thread of an inline cycle is in handlers instead.
    let waits = cycle.mode != .inline
    if waits { sleepers.calls += 1 }
    return try leaving(handsOver: cycle.mode == .pushed) { () throws(SeleneError) in
      defer { if waits { sleepers.calls -= 1 } }
      if cycle.mode == .inline {
        try runInline(cycle)
      } else {
        awaitEnd(of: cycle)
      }
      let now = clock.host == nil ? tick() : clock.last
      let report = end(cycle, at: now)
      // The cycle is over whatever the store says; the threads that wait for it are told that its outcomes are not durable.
      if let failure = cycle.failure { throw failure }
      if !report.isStored { try save(at: now) }
      return report
    }
  }

  // MARK: Asynchronous

  /// Begins a cycle on library threads, or joins one of exactly these kinds (C12).
  ///
  /// - Throws: as `start`.
  package func startAsync(
    _ window: Window, receive: ((Report) -> Void)?, destroy: (() -> Void)?, at moment: Moment
  ) throws(SeleneError) -> Cycle {
    guard !window.isInline else {
      throw .inlineIsBlocking
    }
    try refuseLanes(window)
    if window.task == nil { try refuseSwitchedOff(window.kinds) }
    let cycle: Cycle
    if let open = running(window) { cycle = open } else { cycle = try beginAsync(window, at: moment) }
    cycle.receivers.append(ReportReceiver(receive: receive, destroy: destroy))
    return cycle
  }

  /// The asynchronous cycle of exactly a window's kinds, if one is open.
  private func running(_ window: Window) -> Cycle? {
    cycles.first { $0.mode == .pushed && !$0.hasLeft && $0.kinds == window.kinds && window.task == nil }
  }

  private func beginAsync(_ window: Window, at moment: Moment) throws(SeleneError) -> Cycle {
    do throws(SeleneError) {
      return try beginPushed(window, coordinators: 1, at: moment)
    } catch {
      // Another thread has begun it while an owner was asked.
      guard owner != nil, error.code == .busy, let cycle = running(window) else { throw error }
      return cycle
    }
  }

  func beginPushed(_ window: Window, coordinators: Int, at moment: Moment) throws(SeleneError) -> Cycle {
    try refuseWithoutThreads()
    try refuseThreadsOfHostClock()
    return try beginPushed(admitted: try admit(window, at: moment), coordinators: coordinators, at: moment)
  }

  func refuseThreadsOfHostClock() throws(SeleneError) {
    guard clock.wakes else {
      throw SeleneError(.unsupported, "with a host clock that is asked only pulled and inline cycles are possible")
    }
  }

  /// Begins the pushed cycle of a window against which nothing speaks but the want of threads.
  ///
  /// - Throws: `busy`, `exhausted`, a status of stores.
  func beginPushed(
    admitted window: Window, coordinators: Int, driving: KindSet = [], at moment: Moment
  ) throws(SeleneError) -> Cycle {
    try refuseAtThreadCap()
    try ensureThreads(window.lanes + coordinators)
    let cycle = try begin(admitted: window, .pushed, driving: driving, isAwaited: coordinators == 0, at: moment)
    for _ in 0..<coordinators { submit(.coordinate(cycle)) }
    startLane(of: cycle)
    return cycle
  }

  // MARK: On the threads

  /// Waits until every lane has finished, or the cycle is over. Called and left with the lock held.
  func awaitEnd(of cycle: Cycle) {
    if let owner { return owner.awaitEnd(of: cycle, for: self) }
    while !cycle.isEnded && (cycle.lanes > 0 || saver.isAtWork) {
      let now = tick()
      advance(to: now)
      guard now <= cycle.time.deadline else { return }
      guard now < looksAroundAt else {
        lookAround(at: now)
        continue
      }
      if hasNews { _ = callTeller() }
      // No other thread may be there to let runs time out.
      pause(until: min(cycle.time.nextExpiry(after: now), nextDue), at: now)
    }
  }

  /// Calls handlers until the cycle has nothing for this lane. Called and left with the lock held.
  ///
  /// One lane looks at a time, and another one from when it has found a run: what becomes ready wakes two lanes at most, and a
  /// window starts one more than it has runs, however many it may have (V22).
  ///
  /// - Throws: `forked`, as `leave`; so do all who call it or are called by it.
  func runLane(_ cycle: Cycle) throws(SeleneError) {
    lane: while !cycle.isEnded {
      awaitStore()
      let now = tick()
      advance(to: now)
      guard let step = step(of: cycle, at: now) else { break }
      switch step {
      case .run(let run):
        lookAway(from: cycle)
        guard try call(run) || comeBack(to: cycle) else { return }
        try awaitDecision(of: run)
        cycle.lookingLanes += 1
      case .wait(let until):
        guard mustDeliver() else {
          wait(in: cycle, until: until, at: now)
          continue
        }
        lookAway(from: cycle)
        try leave()
        lock()
        cycle.lookingLanes += 1
      case .done where isKeptOpen(cycle, at: now):
        wait(in: cycle, until: nextChange(of: cycle, after: now), at: now)
      case .done:
        // What becomes eligible a moment later is for the next window, which has all its lanes; not for the last one here.
        if cycle.isRolling { letFinish(cycle) }
        break lane
      }
    }
    cycle.lanes -= 1
    cycle.lookingLanes -= 1
    while callLane(of: cycle) {}
    wakeAll()
  }

  /// A lane waits: in line if another one looks. Called and left with the lock held.
  private func wait(in cycle: Cycle, until: Instant, at now: Instant) {
    guard cycle.lookingLanes > 1 else { return rest(in: cycle, until: until, at: now) }
    cycle.lookingLanes -= 1
    cycle.linedLanes += 1
    slot.monitor.lineUp(in: cycle.line)
  }

  /// Until a handler that has completed its run returns, its window cannot end, nor its driver begin another one: what becomes due
  /// meanwhile is for the other lanes.
  private func isKeptOpen(_ cycle: Cycle, at now: Instant) -> Bool {
    owner == nil && cycle.isRolling && cycle.hasLaneInHandler && !cycle.isDone && !cycle.hasLeft
      && now < cycle.time.expiresAt
  }

  /// A lane does something else: if none looks, another one does. The caller holds the lock.
  private func lookAway(from cycle: Cycle) {
    cycle.lookingLanes -= 1
    lookOn(in: cycle)
  }

  private func lookOn(in cycle: Cycle) {
    if cycle.lookingLanes == 0 && !callLane(of: cycle) { startLane(of: cycle) }
  }

  private func callLane(of cycle: Cycle) -> Bool {
    guard slot.monitor.call(cycle.line) else { return false }
    cycle.linedLanes -= 1
    cycle.lookingLanes += 1
    return true
  }

  /// Starts a lane, unless the window has as many as it may have or the system refuses a thread. The caller holds the lock.
  func startLane(of cycle: Cycle) {
    guard cycle.lanes < cycle.laneLimit, (try? ensureThreads(1)) != nil else { return }
    cycle.lanes += 1
    cycle.lookingLanes += 1
    submit(.lane(cycle))
  }

  /// A thread that was left behind takes its place again, if no other has it; else it is not of this cycle any more.
  private func comeBack(to cycle: Cycle) -> Bool {
    guard !cycle.isEnded, cycle.lanes < cycle.laneLimit else { return false }
    cycle.lanes += 1
    return true
  }

  /// The library thread of a run was left behind: another takes its place while there can be more to run (R3).
  private func replaceThread(of run: Run) {
    guard run.mode == .pushed, let cycle = run.cycle else { return }
    replaceThread(of: cycle)
  }

  /// A thread does not come back to a cycle.
  func replaceThread(of cycle: Cycle) {
    cycle.lanes -= 1
    wake()
    guard !cycle.isDone, !cycle.hasExpired, !isAtThreadCap else { return }
    lookOn(in: cycle)
  }

  /// A lane waits; one of a rolling cycle also for what may become eligible (R1). Called and left with the lock held.
  func rest(in cycle: Cycle, until: Instant, at now: Instant) {
    if let owner { return owner.rest(in: cycle, for: self) }
    guard cycle.isRolling else { return pause(until: until, at: now) }
    workers.rolledStamp = table.stamp
    workers.rollingWaiters += 1
    pause(until: until, at: now)
    workers.rollingWaiters -= 1
  }

  /// Lets lanes that wait in rolling cycles look again if the table is not what they saw.
  @inline(__always)
  func wakeLanes() {
    if workers.hasWatches || workers.rollingWaiters > 0 || crews.hasListeners { wakeWaitingLanes() }
  }

  private func wakeWaitingLanes() {
    if workers.hasWatches { for cycle in cycles { cycle.watch?.follow(cycle, table) } }
    if crews.hasListeners { callMembers() }
    guard workers.rollingWaiters > 0, table.stamp != workers.rolledStamp else { return }
    workers.rolledStamp = table.stamp
    wake()
  }

  /// Something that the table does not show may let a task run: a condition, a kind that is switched on.
  func lookAgain() {
    letDriversLook()
    lookAgainInLanes()
  }

  func lookAgainInLanes() {
    if workers.rollingWaiters > 0 { wake() }
    if workers.hasWatches { for cycle in cycles { cycle.watch?.poke() } }
    if crews.hasListeners { callMembers(all: true) }
  }

  /// The next step of a cycle, or nil when the store refuses it; then the cycle goes no further.
  private func step(of cycle: Cycle, at now: Instant) -> Step? {
    do throws(SeleneError) {
      return try advance(cycle, at: now)
    } catch {
      if cycle.failure == nil { cycle.failure = error }
      return nil
    }
  }

  /// The same on the thread of the host, where no other thread may let time pass.
  private func runInline(_ cycle: Cycle) throws(SeleneError) {
    lane: while !cycle.isEnded {
      awaitStore()
      let now = try present()
      guard !cycle.isEnded, let step = step(of: cycle, at: now) else { break }
      switch step {
      case .run(let run):
        _ = try call(run)
        if clock.host == nil { try awaitDecision(of: run) } else { advance(to: try present()) }
        // With a host clock only another call could decide it, so there is no lane left.
        if run.isOpen { break lane }
      case .wait where owner != nil:
        // Where only the owner's host lets time pass waiting is of no use.
        guard let owned = cycle.owned, owned.delay >= 0 else { break lane }
        if try !settleDeliveries() { rest(in: cycle, until: now, at: now) }
      case .wait(let until):
        guard until > now else { continue }
        guard let node, node.machine.isLooking, clock.host == nil else { break lane }
        if try !settleDeliveries() { rest(in: cycle, until: until, at: now) }
      case .done: break lane
      }
    }
  }

  /// Scheduler time on the thread of an inline cycle. Called and left with the lock held.
  private func present() throws(SeleneError) -> Instant {
    let now = clock.tick(clock.host == nil ? nil : try readHostClock())
    advance(to: now)
    return now
  }

  /// Calls a handler without the lock. Called and left with the lock held.
  ///
  /// - Returns: whether its thread was not left behind meanwhile.
  private func call(_ run: Run) throws(SeleneError) -> Bool {
    let handler = run.handler
    _ = try settleDeliveries()
    guard run.isOpen else {
      // Stopped before its handler saw it: no other call will bring it back.
      if let owner {
        owner.tell(Said(run: run, outcome: .failed), for: self, at: clock.last)
      } else {
        run.wasGivenOutcome = true
        comeBackIfDone(run)
      }
      return true
    }
    run.isInHandler = true
    handler.beginUse()
    try outside { () throws(SeleneError) in
      if let function = handler.run { try callHost(life, HostCall(kind: .run, number: run.token)) { function(run) } }
    }
    let isOnTime = !run.isLeftBehind
    if run.isBack { workers.letGo.removeAll { $0 === run } }
    leaveHandler(of: run, handler)
    endUse(of: handler)
    comeBackIfDone(run)
    wake()
    _ = try settleDeliveries()
    return isOnTime
  }

  /// Keeps the lane of a run whose handler returned while it was still at work. Called and left with the lock held.
  private func awaitDecision(of run: Run) throws(SeleneError) {
    if run.isOpen, let owner, let cycle = run.cycle, owner.waitsInVain(in: cycle, for: self) { return }
    while run.isOpen && run.isInCycle {
      let now = tick()
      advance(to: now)
      guard run.isOpen else { return }
      if try !settleDeliveries() {
        if let owner {
          owner.rest(Time.hour, forAll: true, self)
          continue
        }
        let expiry = Budget.nextExpiry(run.expiresAt, run.deadline, after: now)
        pause(until: min(expiry, nextInstant(of: run)), at: now)
      }
    }
  }

  /// Delivers what waits, if anything does; answers whether this thread has been without the lock for it. Called and left
  /// with the lock held.
  func settleDeliveries() throws(SeleneError) -> Bool {
    guard mustDeliver() else { return false }
    try leave()
    lock()
    return true
  }

  /// Whether something waits for delivery that no other thread of the library delivers.
  private func mustDeliver() -> Bool { hasNews && !(hasTellers && callTeller()) }

  // MARK: The end

  /// Threads that are in a handler of a cycle when it ends are left behind.
  func leaveBehind(_ cycle: Cycle) {
    guard cycle.mode != .inline && cycle.mode != .pulled else { return }
    for run in cycle.runs { leaveBehind(run) }
  }

  /// A run is over while its thread is still at work: the thread is left behind, and its lane is free for another.
  func leaveBehind(_ run: Run) {
    guard run.isInHandler, !run.isLeftBehind, run.mode != .inline else { return }
    run.isLeftBehind = true
    leaveLane(of: run)
    threadsStayBehind(1)
    if run.hasOverrun { threadStaysBehind(in: run.handler) }
    replaceThread(of: run)
  }

  /// The thread that was in the handler of a run has come back; the handler is given where the thread was left behind.
  func leaveHandler(of run: Run, _ handler: Handler?) {
    run.isInHandler = false
    guard run.isLeftBehind else { return }
    run.isLeftBehind = false
    threadCameBack()
    if let handler, run.hasOverrun { threadCameBack(from: handler) }
  }

  /// Hands a report to the callers that wait for it, on the thread that ends the cycle.
  func hand(_ report: Report, to receivers: [ReportReceiver]) {
    for receiver in receivers {
      receiver.beginUse()
      outbox.add(.report(HandedReport(report, to: receiver)))
    }
  }
}
