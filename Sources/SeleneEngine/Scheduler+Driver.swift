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
    guard !hasThread || clock.wakes else { throw Self.clockHasNoThread }
    guard ownDriver == nil else { throw Self.driverIsOpen }
    if let owner { return try owner.openDriver(draft, hasThread: hasThread, for: self) }
    let driver = try Driver.make(draft, units, hasThread: hasThread, hears: clock.host == nil ? .system : .pokes)
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

  /// The driver of this process, also one to which an owner grants windows.
  private var ownDriver: Driver? { governance.driver ?? owner?.driver }

  /// Stops the driver: starts nothing more in its windows on library threads, lets their runs complete within the grace, and
  /// stops those that are left (V5).
  ///
  /// - Throws: `invalidArgument`, `invalidHandle`, `forked`, `reentrant`.
  package static func stopDriver(_ handle: UInt64, grace: Span) throws(SeleneError) {
    let scheduler = try enter(handle) { (scheduler, moment) throws(SeleneError) in
      try scheduler.units.check(grace: grace)
      try scheduler.refuseInsideCallback("stopping the driver")
      scheduler.stopDriver(grace: grace, at: moment.now)
      return scheduler
    }
    scheduler.lock()
    try scheduler.leaving { () throws(SeleneError) in
      try scheduler.awaitStoppedDrivers(until: scheduler.end(of: grace))
      scheduler.owner?.undrive(scheduler)
    }
  }

  /// Lets the driver go: nothing more is started in its windows.
  private func stopDriver(grace: Span, at now: Instant) {
    workers.stopped.removeAll { $0.hasLeft }
    guard let driver = ownDriver else { return }
    letDriverGo()
    let windows = cycles.filter { $0.isDriven && $0.mode == .pushed }
    // While the end of one is stored the lock is free, so nothing more is to begin in the others.
    for cycle in windows { cycle.isDone = true }
    let inHandler = windows.flatMap { $0.runs.filter { $0.isInHandler } }
    workers.stopped.append(StoppedDriver(driver: driver, windows: windows, inHandler: inHandler))
    for cycle in windows where grace > 0 { drain(cycle, for: grace, at: now) }
    for cycle in windows where grace == 0 { stop(cycle, at: now) }
  }

  /// Waits until the windows of drivers that were stopped are over and their threads have left, also of one that another thread
  /// is just stopping, at most until the end of a grace, when the windows end. Called and left with the lock held.
  ///
  /// - Throws: `forked`, as `leave`.
  private func awaitStoppedDrivers(until end: EndOfGrace) throws(SeleneError) {
    sleepers.calls += 1
    defer { sleepers.calls -= 1 }
    while workers.stopped.contains(where: { !$0.hasLeft }) {
      let now = tick()
      advance(to: now)
      let left = end.left(clock)
      guard left > 0, !isClosing, workers.stopped.contains(where: { !$0.hasLeft }) else { break }
      if try settleDeliveries() { continue }
      pause(clock.isTold ? left : min(left, nextDue.subtracting(now)), end)
    }
    for stopped in workers.stopped { for cycle in stopped.windows { stop(cycle, at: clock.last) } }
    // What has left lets its descriptors go.
    workers.stopped.removeAll { $0.hasLeft }
  }

  /// Ends a cycle and stops its runs, because the host ends the work (V4).
  func stop(_ cycle: Cycle, at now: Instant) {
    guard !cycle.isEnded else { return }
    // An owner hears of the end before any handler can answer its stop.
    if owner == nil { for run in cycle.runs where run.isOpen { stop(run, .shutdown, at: now) } }
    _ = end(cycle, at: now)
  }

  // MARK: Drivers of members (L7)

  /// Calls a body with each driver: that of this process, and those of members.
  @inline(__always)
  func forEachDriver(_ body: (Driver) -> Void) {
    guard governance.driver != nil || crews.hasDrivers else { return }
    visitDrivers(body)
  }

  @inline(never)
  private func visitDrivers(_ body: (Driver) -> Void) {
    if let driver = governance.driver { body(driver) }
    guard crews.hasDrivers else { return }
    crews.members.forEach { if let driver = $0.driver { body(driver) } }
  }

  /// Something that the table does not show may let a driver open a window, or its windows have a run.
  func letDriversLook() {
    forEachDriver { $0.lookAgain() }
    crews.mustLook = true
  }

  /// Opens a driver for a member.
  ///
  /// - Parameter hasThread: whether its process calls the handlers of its windows.
  /// - Throws: `unsupported`, `busy`, `invalidArgument`.
  package func openDriver(_ draft: DriverDraft, hasThread: Bool, for member: Member) throws(SeleneError) {
    guard !hasThread || clock.wakes else { throw Self.clockHasNoThread }
    guard member.driver == nil else { throw Self.driverIsOpen }
    member.driver = try Driver.make(draft, units, hasThread: hasThread, of: member)
    crews.hasDrivers = true
    lookAgain()
  }

  /// Stops that of a member, and its runs in the windows in which its process calls the handlers; their grace is over (V5).
  package func stopDriver(of member: Member, at moment: Moment) {
    closeDriver(of: member)
    for share in member.shares where share.cycle.isDriven && share.isCalled && !share.cycle.isEnded {
      for run in member.openRuns(of: share.cycle) {
        run.wasGivenOutcome = true
        stop(run, .shutdown, at: moment.now)
      }
      _ = try? end(share.cycle, for: member, at: moment)
    }
  }

  /// A member asks for no more windows; others need not wait for it.
  func closeDriver(of member: Member) {
    guard let driver = member.driver else { return }
    driver.member = nil
    member.driver = nil
    lookAgain()
  }

  /// Does what is due for a member with a driver.
  ///
  /// - Returns: a window that was begun, or that of its pool which it has joined, how many runs at a time it may have there,
  ///   and when to come again.
  /// - Throws: `unsupported` without a driver.
  package static func step(
    _ handle: UInt64, member number: UInt64
  ) throws(SeleneError) -> (cycle: UInt64, lanes: Int, wakeAt: Instant, delay: Span) {
    let (driver, joined) = try enter(handle, member: number) { (scheduler, member, moment) throws(SeleneError) in
      guard let driver = member.driver else { throw SeleneError(.unsupported, "no driver is open") }
      return (driver, scheduler.join(driver, of: member, at: moment.now))
    }
    let step = joined == nil ? try step(handle, driver) : (joined, Time.never)
    return try enter(handle, member: number, isQuestion: true) { (scheduler, member, moment) throws(SeleneError) in
      let lanes = step.0.flatMap { scheduler.share(of: member, in: $0) }.map { member.shares[$0].lanes } ?? 0
      // One that hears of news is called when it is time.
      let until = step.0 == nil && member.bell >= 0 ? max(step.1, moment.now.adding(Time.hour)) : step.1
      return (step.0?.handle ?? 0, lanes, step.1, scheduler.delay(until: until, at: moment))
    }
  }

  /// Lets a member into the window that its pool was granted, if something is there for it.
  private func join(_ driver: Driver, of member: Member, at now: Instant) -> Cycle? {
    guard let cycle = window(toJoin: driver, of: member, at: now) else { return nil }
    let lanes = Kind.allCases.filter { cycle.kinds.contains($0) }.map { driver.terms.lanes[$0] }.max() ?? 1
    grant(cycle, lanes: Int(lanes), to: member, driver)
    return cycle
  }

  /// The window of its pool in which there is something for a member, more than those will take who are in it; or nil.
  func window(toJoin driver: Driver, of member: Member, at now: Instant) -> Cycle? {
    for cycle in cycles where cycle.isDriven && cycle.pool === member.pool {
      guard
        cycle.driven.isSubset(of: driver.terms.kinds), !cycle.isOfOneTask, !cycle.isDone, now < cycle.time.expiresAt,
        share(of: member, in: cycle) == nil, mayComeBack(member, to: cycle)
      else { continue }
      let view = self.view(driver, Hearing(), at: now)
      guard Kind.allCases.contains(where: { cycle.kinds.contains($0) && view.first($0) != nil }) else { continue }
      let free = freeLanes(in: cycle, beside: member)
      guard free == 0 || view.eligible(cycle.kinds) > free else {
        expectCalled()
        continue
      }
      return cycle
    }
    return nil
  }

  /// Whether a member may be let in: also where it was in it before, and something has come for it since.
  func mayComeBack(_ member: Member, to cycle: Cycle) -> Bool {
    member.lastCycle != cycle.handle || (cycle.isRolling && member.doneStamp != table.stamp)
  }

  private func grant(_ cycle: Cycle, lanes: Int, to member: Member, _ driver: Driver) {
    dropEnded(of: member)
    // It comes again, and others may have something there, too.
    _ = driver.awake()
    crews.mustLook = true
    member.lastCycle = cycle.handle
    member.shares.append(Share(cycle, lanes: lanes, hasLanes: driver.hasLanes, isCalled: driver.hasThread))
  }

  private static var clockHasNoThread: SeleneError {
    SeleneError(
      .unsupported, "with a host clock that is asked no thread can follow time; use selene_driver_open and _step")
  }
  private static var driverIsOpen: SeleneError { SeleneError(.busy, "a driver is open; stop it first") }

  /// From here on it is not stepped.
  func letDriverGo() {
    guard let driver = ownDriver else { return }
    driver.poke()
    governance.driver = nil
    owner?.driver = nil
    lookAgain()
    log(.info, "the driver was stopped")
  }

  // MARK: Step

  /// The life of the thread that follows a driver. The caller holds no lock.
  static func follow(_ driver: Driver, of handle: UInt64) {
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
      guard let driver = scheduler.ownDriver, !driver.hasThread else {
        throw SeleneError(.unsupported, "no driver of selene_driver_open is open")
      }
      return driver
    }
  }

  private static func step(_ handle: UInt64, _ driver: Driver) throws(SeleneError) -> (cycle: Cycle?, wakeAt: Instant) {
    var hearing = Hearing()
    var act = try enter(handle) { (scheduler, moment) throws(SeleneError) -> Act in
      try scheduler.check(driver)
      if let owner = scheduler.owner {
        let granted = try owner.step(driver, for: scheduler, at: moment.now)
        return .done(granted.cycle, wakeAt: granted.wakeAt)
      }
      scheduler.endForgotten(.all, of: driver.member?.pool, at: moment.now)
      // Nobody keeps what was granted beyond its time.
      for cycle in scheduler.cycles where cycle.isDriven && cycle.isForgotten(at: moment.now) {
        _ = scheduler.end(cycle, at: moment.now)
      }
      // Another thread may have stopped it meanwhile.
      try scheduler.check(driver)
      let heard = driver.awake()
      hearing.announced = heard.groups
      // The look that this call began with may have come before what was heard.
      let mustLook =
        heard.storeTouched || (driver.member == nil && scheduler.store.isDurable && !driver.hearsOfStore)
      driver.looksAroundAt = mustLook ? scheduler.looksAroundAt : Time.never
      return scheduler.drive(driver, hearing, at: moment.now)
    }
    while true {
      let sources: SignalSources
      switch act {
      case .done(let cycle, let wakeAt): return (cycle, wakeAt)
      case .read(let found): sources = found
      }
      let readings = sources.read()
      hearing.read.formUnion(sources.groups)
      act = try enter(handle) { [hearing] (scheduler, moment) throws(SeleneError) in
        try scheduler.check(driver)
        if let readings { scheduler.absorb(readings, at: moment.now) }
        if scheduler.groups(.asked).isSubset(of: hearing.read) { driver.hear(at: moment.now) }
        return scheduler.drive(driver, hearing, at: moment.now)
      }
    }
  }

  private func check(_ driver: Driver) throws(SeleneError) {
    guard ownDriver === driver || (driver.member != nil && driver.member?.driver === driver) else {
      throw Self.driverWasStopped
    }
  }

  private static var driverWasStopped: SeleneError { SeleneError(.unsupported, "the driver was stopped") }

  /// What became of a plan.
  private enum Act {
    /// These are to be read without the lock.
    case read(SignalSources)
    case done(Cycle?, wakeAt: Instant)
  }

  /// Plans and acts until there is something to read, or nothing to do.
  private func drive(_ driver: Driver, _ hearing: Hearing, at now: Instant) -> Act {
    while true {
      let plan = view(driver, hearing, at: now).plan()
      for made in plan.decisions { note(made.decision, neverRan: made.neverRan, at: now) }
      driver.askAgainAt = plan.askAgainAt
      switch plan.step {
      case .read(let groups): return .read(SignalSources(groups, of: self))
      case .sleep(let plannedAt):
        let wakeAt = min(plannedAt, driver.looksAroundAt)
        driver.watchMemory(plan.watchesMemory)
        driver.sleep(until: wakeAt, at: now, seen: table.stamp, readsAt: plan.readsAt)
        if driver.member != nil { crews.mustLook = true }
        return .done(nil, wakeAt: wakeAt)
      case .open(let window, let kinds):
        guard let cycle = open(window, kinds, driver, at: now) else { continue }
        guard driver.member == nil else { return .done(cycle, wakeAt: now) }
        guard !driver.hasThread else { continue }
        // There may be more: a loop that waits before its next step must not wait in vain.
        driver.poke()
        return .done(cycle, wakeAt: now)
      }
    }
  }

  /// Opens a window of the driver's; nil if that is not possible, then its kinds give way.
  private func open(_ window: Window, _ kinds: KindSet, _ driver: Driver, at now: Instant) -> Cycle? {
    do throws(SeleneError) {
      let moment = Moment(now: now)
      if let member = driver.member {
        let cycle = try begin(
          admitted: window, .member, driving: kinds, for: member, isCalled: driver.hasThread, at: moment)
        grant(cycle, lanes: window.lanes, to: member, driver)
        return cycle
      }
      if driver.hasThread { return try beginPushed(admitted: window, coordinators: 1, driving: kinds, at: moment) }
      return try begin(admitted: window, driver.hasLanes ? .lanes : .pulled, driving: kinds, at: moment)
    } catch {
      // The refusal was told where it was made (C19).
      for kind in Kind.allCases where kinds.contains(kind) { driver.giveWay(kind, at: now) }
      return nil
    }
  }

  /// What a driver goes by now.
  func view(_ driver: Driver, _ hearing: Hearing, at now: Instant) -> DriverView {
    var view = DriverView(terms: driver.terms, table: table, governor: governance.governor, now: now)
    view.enabled = offered(to: driver.member?.pool)
    // What was granted is the machine's: other pools take part in it. What a host begins concerns its own handlers alone.
    let pool = driver.member?.pool
    for cycle in cycles where !cycle.hasLeft {
      if cycle.pool === pool {
        view.open.formUnion(cycle.kinds.union(cycle.driven))
      } else {
        see(cycle, &view, at: now)
      }
    }
    // Where no lane is free the next window waits for one.
    view.open.formUnion(fullKinds(of: driver))
    view.hasCycles = !cycles.isEmpty
    view.hasDriven = cycles.contains { $0.isDriven && !$0.hasLeft && $0.pool === pool }
    view.lacksThreads = driver.member == nil && driver.needsThreads && isAtThreadCap
    if view.lacksThreads { tellThreadCap() }
    view.pushes = driver.hasThread
    view.observedRange = options.observedRange
    (view.pace, view.crew) = (driver.member?.pool.pace ?? pace, driver.member?.crew)
    view.satisfied = satisfied
    view.reach = reach
    view.hearing = hearing
    (view.askAgainAt, view.delayedUntil) = (driver.askAgainAt, driver.delayedUntil)
    view.heardAt = driver.heardAt
    view.nextLook = governance.nextLook
    view.nextEffect = table.pauses.endsAt
    for cycle in cycles where !cycle.hasLeft { view.nextEffect = min(view.nextEffect, cycle.picksUntil) }
    guard driver.member == nil else {
      for cycle in cycles where cycle.isDriven {
        view.nextEffect = min(view.nextEffect, cycle.time.deadline.adding(1))
      }
      return view
    }
    view.nextEffect = min(view.nextEffect, table.tellsExpiryAt, conditions.changesAt)
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
    return view
  }

  /// The kinds of which runs in windows that pick no more have all lanes of a driver (V1).
  func fullKinds(of driver: Driver) -> KindSet {
    var full: KindSet = []
    for kind in Kind.allCases where carried(KindSet(kind), by: driver.member) >= Int(driver.terms.lanes[kind]) {
      full.formUnion(KindSet(kind))
    }
    return full
  }

  /// The window of another pool, in which that of a view may take part: the governor granted it, and no veto ends it.
  private func see(_ cycle: Cycle, _ view: inout DriverView, at now: Instant) {
    guard view.terms.isGoverned, cycle.isGranted else { return }
    // What the budget leaves for a newcomer is for it alone.
    guard !cycle.isOfOneTask else { return view.open.formUnion(cycle.driven) }
    guard !cycle.isDone else { return }
    let until = min(cycle.time.expiresAt, cycle.picksUntil)
    guard now < until else { return }
    for kind in Kind.allCases where cycle.driven.contains(kind) && !cycle.preempted.contains(kind) {
      if let other = view.granted[kind], other.until >= until { continue }
      view.granted[kind] = GrantedWindow(until: until, deadline: cycle.time.deadline)
    }
  }

  /// A window has ended, so that its kinds may have another. One in which nothing ran, though nothing spoke against it, is
  /// not opened again at once.
  func drove(_ cycle: Cycle, at now: Instant) {
    letDriversLook()
    forEachDriver { driver in
      guard driver.member?.pool === cycle.pool else { return }
      for kind in Kind.allCases where cycle.driven.contains(kind) {
        if cycle.dispatched > 0 {
          driver.goOn(kind)
        } else if !cycle.preempted.contains(kind) {
          driver.giveWay(kind, isIdle: true, at: now)
        }
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
    let kind = table[slot].kind
    draft.budget = (governance.driver?.terms.budgets ?? DriverTerms.usualBudgets)[kind]
    draft.isOpenEnded =
      governance.driver?.terms.isOpenEnded(KindSet(kind), rations: governance.governor.profile.rationsTime) ?? false
    _ = try startAsync(window(draft), receive: nil, destroy: nil, at: moment)
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
    wake()
  }
}
