// Cycles whose handlers run on threads of the host: each lends itself through a lane (C20).

import SeleneCore

extension Scheduler {
  /// Reports that wait for their host, at most.
  static let mostReported = 16

  // MARK: Begin

  /// Begins a cycle that has lanes.
  ///
  /// - Throws: as a pulled one; `busy` also when too many threads are left behind.
  func beginLanes(_ window: Window, at moment: Moment) throws(SeleneError) -> Cycle {
    let window = try admit(window, at: moment)
    try refuseAtThreadCap()
    return try begin(admitted: window, .lanes, at: moment)
  }

  func refuseLanes(_ window: Window) throws(SeleneError) {
    guard !window.hasLanes else {
      throw SeleneError(.unsupported, "flags", "LANES is for selene_cycle_begin, this cycle runs on other threads")
    }
  }

  /// The open cycle of a handle, or one whose report waits for the host.
  func cycle(_ handle: UInt64) -> Cycle? {
    cycles.first { $0.handle == handle } ?? reported.first { $0.handle == handle }
  }

  // MARK: Lanes

  /// Opens a lane of a cycle.
  ///
  /// - Throws: `unsupported` for a cycle that gives its runs otherwise, `busy` when all are open.
  package func openLane(_ cycle: Cycle) throws(SeleneError) -> Lane {
    guard cycle.lend() else {
      throw SeleneError(
        .unsupported, "cycle", "not begun for lanes, or its runs are taken by selene_cycle_next")
    }
    if let owner, cycle.lanes >= cycle.laneLimit {
      // Nobody may have read yet that a run is over, whose place is free.
      _ = try? owner.progress(of: cycle, for: self)
      guard !cycle.isEnded else { throw .closedHandle }
    }
    guard cycle.lanes < cycle.laneLimit else {
      throw SeleneError(.busy, "cycle", "all \(cycle.laneLimit) lanes of its window are open")
    }
    let handle = slot.newLane()
    let lane = Lane(handle, of: cycle)
    lanes[handle.number] = lane
    cycle.lanes += 1
    return lane
  }

  private func check(_ cycle: Cycle) throws(SeleneError) {
    guard cycle.mode == .lanes else {
      throw SeleneError(.unsupported, "cycle", "without lanes; begin it with SELENE_WINDOW_LANES")
    }
  }

  /// Takes back the thread of a lane and gives it the next run; waits for one up to a timeout.
  ///
  /// - Parameter outcome: of the run before, or nil: it was given, or will be.
  /// - Throws: `reentrant` where it would wait inside a callback; a status of stores, then nothing was dispatched.
  @_optimize(speed)
  package func next(
    _ lane: Lane, _ outcome: Outcome?, timeout: Span, at moment: Moment
  ) throws(SeleneError) -> Step {
    if timeout > 0 { try refuseInsideCallback("waiting for a run") }
    var said = comeBack(lane, outcome, at: moment.now)
    let cycle = lane.cycle
    // No other lane took its place meanwhile.
    if lane.isLeftBehind && cycle.lanes < cycle.laneLimit {
      lane.isLeftBehind = false
      cycle.lanes += 1
    }
    let until = moment.now.adding(timeout)
    var now = moment.now
    sleepers.calls += 1
    defer { sleepers.calls -= 1 }
    while !cycle.isEnded && !lane.isLeftBehind {
      if saver.isAtWork {
        awaitStore()
        if clock.wakes { now = tick() }
        advance(to: now)
        continue
      }
      var wakeAt = nextExpiry(of: cycle, after: now)
      if owner != nil || cycle.openRuns < cycle.laneLimit {
        let told = said
        said = nil
        switch try advance(cycle, after: told, at: now) {
        case .run(let run):
          run.isInHandler = true
          lane.run = run
          lane.thread = cycle.noteTaker()
          return .run(run)
        case .wait(let next): wakeAt = next
        case .done:
          letFinish(cycle)
          return .done
        }
      } else {
        try save(at: now)
      }
      if cycle.isDone { return .done }
      guard let later = try wait(for: cycle, until: until, orAt: wakeAt, at: now, isLane: true) else {
        sleep(cycle, until: wakeAt, at: now)
        return .wait(until: wakeAt)
      }
      now = later
    }
    if let said { owner?.tell(said, for: self, at: now) }
    return .done
  }

  /// Takes back the thread of a lane and ends the lane.
  package func close(_ lane: Lane, at moment: Moment) {
    _ = comeBack(lane, nil, at: moment.now)
    if !lane.isLeftBehind { lane.cycle.lanes -= 1 }
    lanes.remove(Handle(rawValue: lane.handle).number)
  }

  /// The thread of a lane is out of its handler; an outcome that comes too late changes nothing.
  ///
  /// - Returns: what an owner is to be told, with the request for the next run.
  private func comeBack(_ lane: Lane, _ outcome: Outcome?, at now: Instant) -> Said? {
    guard let run = lane.run else { return nil }
    lane.run = nil
    leaveHandler(of: run, lane.overrun)
    lane.overrun = nil
    if let outcome {
      if owner != nil { return Said(run: run, outcome: outcome) }
      run.wasGivenOutcome = true
      if run.isOpen { give(run, outcome, retryDelay: nil, at: now) }
    }
    comeBackIfDone(run)
    wake()
    return nil
  }

  /// The lane of a run whose thread was left behind is free for another.
  func leaveLane(of run: Run) {
    guard run.mode == .lanes else { return }
    lanes.forEach { lane in
      guard lane.run === run else { return }
      lane.isLeftBehind = true
      lane.overrun = run.handler
      lane.cycle.lanes -= 1
    }
  }

  /// Whether a lane could take a run, if there were one.
  private func hasFreeLane(_ cycle: Cycle) -> Bool {
    var free = cycle.laneLimit
    lanes.forEach { if $0.cycle === cycle && $0.run != nil && !$0.isLeftBehind { free -= 1 } }
    return min(free, cycle.laneLimit - cycle.openRuns) > 0
  }

  /// Whether threads of the host other than one are in handlers.
  func hasLanesAtWork(but thread: UInt64) -> Bool {
    var found = false
    lanes.forEach { if $0.run != nil && $0.thread != thread { found = true } }
    return found
  }

  // MARK: Descriptor

  /// A descriptor that is readable when there may be something to do for the lanes of a cycle, or its report.
  ///
  /// - Throws: `unsupported`, `exhausted`.
  package func descriptor(of cycle: Cycle) throws(SeleneError) -> Int32 {
    try check(cycle)
    if let owner {
      // What it says makes the descriptor readable.
      try owner.startHearing(self)
      guard !cycle.isEnded else { throw .closedHandle }
    }
    if let watch = cycle.watch { return watch.descriptor }
    let watch = try CycleWatch.open(followsTime: clock.host == nil)
    cycle.watch = watch
    workers.hasWatches = true
    // The thread that opened it looks first.
    watch.poke()
    return watch.descriptor
  }

  /// The host of a cycle was told to wait: its descriptor is unreadable until there may be something to do.
  private func sleep(_ cycle: Cycle, until wakeAt: Instant, at now: Instant) {
    guard let watch = cycle.watch else { return }
    if let owner { return owner.sleep(watch, of: cycle, for: self, at: now) }
    watch.sleep(cycle, until: wakeAt, at: now, table)
  }

  // MARK: The end

  /// Nothing is left to run in a cycle.
  func letFinish(_ cycle: Cycle) {
    cycle.isDone = true
    table.waits.endWindow(cycle.waitNumber, at: clock.last)
    wakeAll()
  }

  /// Starts nothing more in a cycle; its runs have a grace, after which they are stopped (V5).
  ///
  /// - Throws: `invalidArgument`; with no grace a status of stores, then the cycle goes on.
  package func drain(_ cycle: Cycle, grace: Span, at moment: Moment) throws(SeleneError) {
    try units.check(grace: grace)
    guard !cycle.isEnded else { return }
    if let owner { return try owner.drain(cycle, grace: grace, for: self) }
    if grace == 0 { try endRuns(cycle.runs.filter { $0.isOpen }, of: cycle, at: moment.now) }
    drain(cycle, for: grace, at: moment.now)
    advance(to: moment.now)
  }

  /// The same without acting on what is due by then.
  func drain(_ cycle: Cycle, for grace: Span, at now: Instant) {
    if let owner {
      try? owner.drain(cycle, grace: grace, for: self)
      return
    }
    cycle.drain(at: now, grace: grace)
    table.waits.endWindow(cycle.waitNumber, at: now)
    nextDue = min(nextDue, now)
    wake()
  }

  /// Waits up to a timeout until a cycle of lanes is over, and gives its report then; else nil and when to come again.
  ///
  /// - Throws: `unsupported`, `reentrant`, a status of stores; then the cycle is still open.
  package func await(
    _ cycle: Cycle, timeout: Span, at moment: Moment
  ) throws(SeleneError) -> (report: Report?, wakeAt: Instant) {
    try check(cycle)
    if timeout > 0 { try refuseInsideCallback("waiting for a cycle") }
    let until = moment.now.adding(timeout)
    var now = moment.now
    sleepers.calls += 1
    defer { sleepers.calls -= 1 }
    while !cycle.isEnded {
      guard case .wait(let wakeAt) = try progress(of: cycle, at: now) else {
        return (try end(cycle, at: Moment(now: now)), now)
      }
      guard let later = try wait(for: cycle, until: until, orAt: wakeAt, at: now) else {
        // What a lane could take is news until it has looked.
        if !hasFreeLane(cycle) { sleep(cycle, until: wakeAt, at: now) }
        return (nil, wakeAt)
      }
      now = later
    }
    return (try takeReport(of: cycle) ?? cycle.report, now)
  }

  /// Whether a cycle of lanes has nothing more, or when to look again.
  private func progress(of cycle: Cycle, at now: Instant) throws(SeleneError) -> Step {
    if let owner { return try owner.progress(of: cycle, for: self) }
    guard cycle.isDone && cycle.openRuns == 0 && (!saver.isAtWork || now > cycle.time.deadline) else {
      return .wait(until: nextExpiry(of: cycle, after: now))
    }
    return .done
  }

  /// Waits for something to happen to a cycle, up to an instant, and says what time it is then; nil where waiting is of no
  /// use: the instant has come, or the host's clock stands still meanwhile.
  ///
  /// - Throws: `forked`, as `leave`.
  private func wait(
    for cycle: Cycle, until host: Instant, orAt wakeAt: Instant, at now: Instant, isLane: Bool = false
  ) throws(SeleneError) -> Instant? {
    if let owner { return try owner.wait(for: cycle, until: host, at: now, for: self) }
    let until = min(wakeAt, host)
    guard clock.wakes, now < until else { return nil }
    if isLane { cycle.waitingLanes += 1 }
    defer { if isLane { cycle.waitingLanes -= 1 } }
    if try !settleDeliveries() { rest(in: cycle, until: until, at: now) }
    // A scheduler that was closed has ended its cycles.
    guard !cycle.isEnded else { return now }
    let later = tick()
    advance(to: later)
    return later
  }

  /// A cycle of lanes has ended: its report waits for its host.
  func keepReport(of cycle: Cycle) {
    guard cycle.mode == .lanes else { return }
    cycle.watch?.poke()
    if reported.count == Self.mostReported { reported.removeFirst() }
    reported.append(cycle)
  }

  /// The report of a cycle of lanes that has ended, once.
  ///
  /// - Throws: that it went with its owner.
  func takeReport(of cycle: Cycle) throws(SeleneError) -> Report? {
    guard cycle.mode == .lanes, cycle.isEnded else { return nil }
    let place = reported.firstIndex { $0 === cycle }
    if let place {
      reported.remove(at: place)
      cycle.watch = nil
    }
    if cycle.owned?.isLost == true, let owner { throw owner.link.lost() }
    return place == nil ? nil : cycle.report
  }
}
