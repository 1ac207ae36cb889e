// The driver at work (G7), and the functions that tests call instead of waiting for it (G8).

import CPlatform
import SeleneCore
import SeleneGovernor

extension Scheduler {
  // MARK: Start and stop

  /// Opens a driver.
  ///
  /// - Parameter hasThread: whether a library thread follows it.
  /// - Throws: `unsupported`, `busy`, `invalidArgument`, `exhausted`.
  package func openDriver(
    _ draft: DriverDraft, hasThread: Bool, at moment: Moment
  ) throws(SeleneError) -> Driver {
    if hasThread { try refuseWithoutThreads() }
    guard !hasThread || clock.host == nil else {
      throw SeleneError(.unsupported, "with a host clock no thread can follow time; use selene_driver_open and _step")
    }
    guard governance.driver == nil else { throw SeleneError(.busy, "a driver is open; stop it first") }
    let driver = try Driver.make(draft, hasThread: hasThread, followsSystem: clock.host == nil)
    if hasThread {
      try ensureThreads(1)
      submit(.drive(driver))
    }
    governance.driver = driver
    if let path = store.path { driver.hear(ofStore: path) }
    // The thread that opened it looks first; until then every change is news.
    driver.poke()
    log(.info, "a driver was opened\(hasThread ? ", on a thread of its own" : "" as StaticString)")
    return driver
  }

  /// Stops the driver and the runs of its windows on library threads, and waits for them up to the grace.
  ///
  /// - Throws: `invalidArgument`, `invalidHandle`, `forked`, `reentrant`.
  package static func stopDriver(_ handle: UInt64, grace: Span) throws(SeleneError) {
    guard (0...longestGrace).contains(grace) else { throw .range("grace", grace, 0, longestGrace, .duration) }
    let stopped: (Scheduler, Driver, [Run])? = try enter(handle) { (scheduler, moment) throws(SeleneError) in
      try scheduler.refuseInsideCallback("stopping the driver")
      guard let driver = scheduler.governance.driver else { return nil }
      scheduler.letDriverGo()
      var inHandler: [Run] = []
      for cycle in scheduler.cycles where cycle.isDriven && cycle.mode == .pushed {
        inHandler += cycle.runs.filter { $0.isInHandler }
        for run in cycle.runs where run.isOpen { scheduler.stop(run, .preempted, at: moment.now) }
        _ = scheduler.end(cycle, at: moment.now)
      }
      return (scheduler, driver, inHandler)
    }
    guard let (scheduler, driver, inHandler) = stopped else { return }
    scheduler.lock()
    let until = platform_boot_clock().adding(grace)
    while !driver.hasLeft || inHandler.contains(where: { $0.isInHandler }) {
      let left = until.subtracting(platform_boot_clock())
      guard left > 0 else { break }
      scheduler.slot.monitor.wait(left)
    }
    try scheduler.leave()
  }

  /// From here on it is not stepped.
  func letDriverGo() {
    guard let driver = governance.driver else { return }
    driver.poke()
    governance.driver = nil
    log(.info, "the driver was stopped")
  }

  // MARK: Step

  /// The life of the thread that follows a driver. The caller holds no lock.
  func follow(_ driver: Driver) {
    let handle = Handle(.scheduler, slot: slot.index, number: slot.number).rawValue
    while let step = try? Self.step(handle, driver) {
      if step.cycle == nil { driver.wait() }
    }
  }

  /// Does what is due for a driver without a thread.
  ///
  /// - Returns: a window that was begun, and when to come again.
  /// - Throws: `unsupported` without such a driver.
  package static func step(_ handle: UInt64) throws(SeleneError) -> (cycle: Cycle?, wakeAt: Instant) {
    try step(handle, steppedDriver(handle, waits: false))
  }

  /// Waits until a step of such a driver is due, up to a timeout; whether it is.
  ///
  /// - Throws: `unsupported` without such a driver, also if it is stopped meanwhile, `reentrant`.
  package static func awaitStep(_ handle: UInt64, timeout: Span) throws(SeleneError) -> Bool {
    let driver = try steppedDriver(handle, waits: timeout > 0)
    guard driver.wait(timeout) else { return false }
    // A driver that is stopped wakes who waits for it.
    guard try steppedDriver(handle, waits: false) === driver else { throw driverWasStopped }
    return true
  }

  /// The driver that a host steps.
  private static func steppedDriver(_ handle: UInt64, waits: Bool) throws(SeleneError) -> Driver {
    try enter(handle, isQuestion: waits) { (scheduler, _) throws(SeleneError) in
      if waits { try scheduler.refuseInsideCallback("waiting for the driver") }
      guard let driver = scheduler.governance.driver, !driver.hasThread else {
        throw SeleneError(.unsupported, "no driver of selene_driver_open is open")
      }
      return driver
    }
  }

  private static func step(_ handle: UInt64, _ driver: Driver) throws(SeleneError) -> (cycle: Cycle?, wakeAt: Instant) {
    var hearing = Hearing()
    var act = try enter(handle) { (scheduler, moment) throws(SeleneError) in
      try scheduler.check(driver)
      scheduler.endForgotten(.all, at: moment.now)
      let heard = driver.awake()
      hearing.announced = heard.groups
      // The look that this call began with may have come before what was heard.
      let mustLook = heard.storeTouched || (scheduler.store.isDurable && !driver.hearsOfStore)
      driver.looksAroundAt = mustLook ? scheduler.looksAroundAt : Time.never
      return scheduler.drive(driver, hearing, at: moment.now)
    }
    while true {
      let (sources, wanted, kinds): (SignalSources, Constraints, KindSet)
      switch act {
      case .done(let cycle, let wakeAt): return (cycle, wakeAt)
      case .read(let found): (sources, wanted, kinds) = found
      }
      let readings = sources.read()
      let probe = Conditions.probe(wanted)
      hearing.read.formUnion(sources.groups)
      hearing.asked = (hearing.asked ?? []).union(kinds)
      act = try enter(handle) { [hearing] (scheduler, moment) throws(SeleneError) in
        try scheduler.check(driver)
        scheduler.apply(probe, at: moment.now)
        if !wanted.isEmpty { driver.hear(at: moment.now) }
        if let readings { scheduler.absorb(readings, at: moment.now) }
        return scheduler.drive(driver, hearing, at: moment.now)
      }
    }
  }

  private func check(_ driver: Driver) throws(SeleneError) {
    guard governance.driver === driver else { throw Self.driverWasStopped }
  }

  private static var driverWasStopped: SeleneError { SeleneError(.unsupported, "the driver was stopped") }

  /// What became of a plan.
  private enum Act {
    /// This is to be read without the lock, on behalf of some kinds.
    case read((SignalSources, Constraints, KindSet))
    case done(Cycle?, wakeAt: Instant)
  }

  /// Plans and acts until there is something to read, or nothing to do.
  private func drive(_ driver: Driver, _ hearing: Hearing, at now: Instant) -> Act {
    while true {
      let plan = view(driver, hearing, at: now).plan()
      for made in plan.decisions { note(made.decision, neverRan: made.neverRan, at: now) }
      driver.askAgainAt = plan.askAgainAt
      switch plan.step {
      case .read(let groups, let conditions, let kinds):
        let wanted = conditions ? Constraints.all.subtracting(self.conditions.hostOwned) : []
        return .read((SignalSources(groups, of: self), wanted, kinds))
      case .sleep(let plannedAt):
        let wakeAt = min(plannedAt, driver.looksAroundAt)
        driver.watchMemory(plan.watchesMemory)
        driver.sleep(until: wakeAt, at: now, seen: table.stamp)
        return .done(nil, wakeAt: wakeAt)
      case .open(let window, let kinds):
        guard let cycle = open(window, kinds, driver, at: now), !driver.hasThread else { continue }
        // There may be more: a loop that waits before its next step must not wait in vain.
        driver.poke()
        return .done(cycle, wakeAt: now)
      }
    }
  }

  /// Opens a window of the driver's; nil if that is not possible, then its kinds give way.
  private func open(_ window: Window, _ kinds: KindSet, _ driver: Driver, at now: Instant) -> Cycle? {
    do throws(SeleneError) {
      let moment = Moment(now: now, probe: Probe())
      if driver.hasThread { return try beginPushed(admitted: window, coordinators: 1, driving: kinds, at: moment) }
      return try begin(admitted: window, driver.hasLanes ? .lanes : .pulled, driving: kinds, at: moment)
    } catch {
      // The refusal was told where it was made (C19).
      for kind in Kind.allCases where kinds.contains(kind) { driver.giveWay(kind, at: now) }
      return nil
    }
  }

  /// What a driver goes by now.
  private func view(_ driver: Driver, _ hearing: Hearing, at now: Instant) -> DriverView {
    var view = DriverView(terms: driver.terms, table: table, governor: governance.governor, now: now)
    view.enabled = offered
    for cycle in cycles where cycle.pool == nil { view.open.formUnion(cycle.kinds.union(cycle.driven)) }
    view.hasCycles = !cycles.isEmpty
    view.hasDriven = cycles.contains { $0.isDriven }
    view.lacksThreads = driver.needsThreads && isAtThreadCap
    if view.lacksThreads { tellThreadCap() }
    view.pushes = driver.hasThread
    view.observedRange = options.observedRange
    view.pace = pace
    (view.satisfied, view.hostOwned) = (satisfied, conditions.hostOwned)
    view.reach = reach
    view.hearing = hearing
    (view.askAgainAt, view.delayedUntil) = (driver.askAgainAt, driver.delayedUntil)
    view.mayListenAt = driver.listensAt
    view.nextEffect = table.tellsExpiryAt
    for cycle in cycles where !cycle.mode.callsHandlers {
      view.nextEffect = min(view.nextEffect, cycle.time.deadline.adding(1))
    }
    runs.forEach {
      if !$0.isOpen {
        view.nextEffect = min(view.nextEffect, $0.endedAt.adding(options.releaseAfter))
      } else if !$0.mode.callsHandlers {
        view.nextEffect = min(view.nextEffect, nextInstant(of: $0))
      }
    }
    view.nextLook = governance.nextLook
    return view
  }

  /// A window has ended, so that its kinds may have another. One in which nothing ran, though nothing spoke against it, is
  /// not opened again at once.
  func drove(_ cycle: Cycle, at now: Instant) {
    guard let driver = governance.driver else { return }
    driver.lookAgain()
    for kind in Kind.allCases where cycle.driven.contains(kind) {
      if !cycle.runs.isEmpty {
        driver.goOn(kind)
      } else if !cycle.preempted.contains(kind) {
        driver.giveWay(kind, isIdle: true, at: now)
      }
    }
  }

  // MARK: Simulate (G8)

  /// Runs a pending request now, as if the system had launched it.
  ///
  /// - Throws: `notFound`, `immediateRunIneligible`, `unsupported`, `busy`, `exhausted`.
  package func launch(_ id: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) {
    try Identifier.check(id, "id")
    guard let slot = table.find(id), table[slot].state == .enqueued, table[slot].definition.schedule != .standing else {
      throw SeleneError(.notFound, "id", name: id, "is not a pending request")
    }
    var draft = WindowDraft()
    draft.task = id
    draft.budget = governance.driver?.terms.budgets[table[slot].kind] ?? DriverDraft().budgets[table[slot].kind]
    _ = try startAsync(Window(draft), receive: nil, destroy: nil, at: moment)
  }

  /// Ends the window of a run in flight, as if its time had run out.
  ///
  /// - Throws: `notFound`.
  package func expire(_ id: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) {
    try Identifier.check(id, "id")
    guard let cycle = cycles.first(where: { $0.runs.contains { $0.isOpen && $0.definition.id.equals(id) } }) else {
      throw SeleneError(.notFound, "id", name: id, "has no run in flight")
    }
    cycle.expire(at: moment.now)
    table.waits.limit(cycle.waitNumber, to: moment.now)
    nextDue = moment.now
    advance(to: moment.now)
    slot.monitor.broadcast()
  }
}
