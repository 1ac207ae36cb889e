// The driver at work (G7), and the hooks of those who test without waiting for it (G8).

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
    guard !hasThread || clock.host == nil else {
      throw SeleneError(.unsupported, "with a host clock no thread can follow time, open a driver and step it")
    }
    guard governance.driver == nil else { throw SeleneError(.busy, "a driver is open until it is stopped") }
    let driver = try Driver.make(draft, hasThread: hasThread, followsSystem: clock.host == nil)
    if hasThread {
      try ensureThreads(1)
      submit(.drive(driver))
    }
    governance.driver = driver
    // Whoever opened it looks first; until then every change is news.
    driver.poke()
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

  /// From here on nobody steps it.
  func letDriverGo() {
    governance.driver?.poke()
    governance.driver = nil
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
    let driver = try enter(handle) { (scheduler, _) throws(SeleneError) in
      guard let driver = scheduler.governance.driver, !driver.hasThread else {
        throw SeleneError(.unsupported, "no driver is open that the host steps")
      }
      return driver
    }
    return try step(handle, driver)
  }

  private static func step(_ handle: UInt64, _ driver: Driver) throws(SeleneError) -> (cycle: Cycle?, wakeAt: Instant) {
    // The kinds for which the system was asked, and what was read of it. One that falls due meanwhile is asked about, too,
    // before it is decided; so is what a decision looks at only now.
    var (asked, read): (KindSet, SignalGroups) = ([], [])
    while true {
      let (source, kinds, isDue) = try enter(handle) { (scheduler, moment) throws(SeleneError) in
        try scheduler.check(driver)
        scheduler.endForgotten(.all, at: moment.now)
        let groups = scheduler.groupsToRead(driver, at: moment.now)
        return (SignalSources(groups.read, of: scheduler), groups.kinds, groups.isDue)
      }
      asked.formUnion(kinds)
      read.formUnion(source.groups)
      let readings = source.read()
      let step = try enter(handle, probing: isDue) { [asked, read] (scheduler, moment) throws(SeleneError) in
        try scheduler.check(driver)
        scheduler.apply(moment.probe, at: moment.now)
        if isDue { driver.hear(at: moment.now) }
        if let readings { scheduler.absorb(readings, at: moment.now) }
        let kinds = scheduler.dueKinds(driver, at: moment.now)
        let isAsked = kinds.isSubset(of: asked) && scheduler.groupsToRead(kinds).isSubset(of: read)
        return isAsked ? scheduler.drive(driver, at: moment.now) : nil
      }
      if let step { return step }
    }
  }

  private func check(_ driver: Driver) throws(SeleneError) {
    guard governance.driver === driver else { throw SeleneError(.unsupported, "the driver was stopped") }
  }

  /// The kinds that would be asked about now.
  private func dueKinds(_ driver: Driver, at now: Instant) -> KindSet {
    var kinds: KindSet = []
    for kind in Kind.allCases {
      guard let due = dueAt(kind, driver, at: now), max(due, driver.asksAt(kind)) <= now else { continue }
      kinds.insert(KindSet(kind))
    }
    return kinds
  }

  /// What to read from the system before a look, for which kinds, and whether conditions are among it.
  private func groupsToRead(
    _ driver: Driver, at now: Instant
  ) -> (read: SignalGroups, kinds: KindSet, isDue: Bool) {
    var announced = driver.awake()
    if listensAt(driver, at: now) <= now { announced.formUnion([.power, .network]) }
    let kinds = dueKinds(driver, at: now)
    // What is announced is read where anybody wants to know it.
    let read = groupsToRead(kinds).union(announced.intersection(groups(.all)))
    return (read, kinds, !kinds.isEmpty || !announced.isEmpty)
  }

  /// What decisions about some kinds look at, and the vetoes against open windows.
  private func groupsToRead(_ kinds: KindSet) -> SignalGroups {
    groups(kinds).union(groups(openKinds, onlyStopping: true))
  }

  /// The kinds that have a window; also one of the driver's for a single task.
  private var openKinds: KindSet {
    cycles.reduce(KindSet()) { $0.union($1.kinds).union($1.drivenKind.map { KindSet($0) } ?? []) }
  }

  /// When a kind that may have a window has something to do, or nil.
  private func dueAt(_ kind: Kind, _ driver: Driver, at now: Instant) -> Instant? {
    dueAt(kind, driver, with: conditions.satisfied, at: now)
  }

  private func dueAt(_ kind: Kind, _ driver: Driver, with satisfied: Constraints, at now: Instant) -> Instant? {
    guard enabled.contains(kind), !openKinds.contains(kind) else { return nil }
    // A thread that comes back lets it look again.
    guard !isAtThreadCap || !driver.needsThreads else { return nil }
    return table.nextWakeup(offer(kind, driver, satisfied), pace, at: now)
  }

  private func offer(_ kind: Kind, _ driver: Driver, _ satisfied: Constraints) -> Offer {
    Offer(
      kinds: KindSet(kind), satisfied: satisfied, pushes: driver.hasThread, observedRange: options.observedRange)
  }

  /// When to read conditions though nothing was announced: while a window is open in which a run may need what the system
  /// could take away, or a task waits for what it could give.
  private func listensAt(_ driver: Driver, at now: Instant) -> Instant {
    let couldBe = Constraints.all.subtracting(conditions.hostOwned)
    if !cycles.isEmpty && !couldBe.isEmpty { return driver.listensAt }
    var listensAt = Time.never
    guard !couldBe.isSubset(of: conditions.satisfied) else { return listensAt }
    for kind in Kind.allCases {
      let due = dueAt(kind, driver, with: conditions.satisfied.union(couldBe), at: now) ?? Time.never
      if due < dueAt(kind, driver, at: now) ?? Time.never { listensAt = min(listensAt, max(due, driver.listensAt)) }
    }
    return listensAt
  }

  /// Opens a window for the first kind that is granted one, or sleeps.
  private func drive(_ driver: Driver, at now: Instant) -> (cycle: Cycle?, wakeAt: Instant) {
    var wakeAt = Time.never
    for cycle in cycles where !cycle.mode.callsHandlers { wakeAt = min(wakeAt, cycle.time.deadline.adding(1)) }
    runs.forEach { if !$0.isOpen { wakeAt = min(wakeAt, $0.endedAt.adding(options.releaseAfter)) } }
    for kind in Kind.allCases {
      guard let due = dueAt(kind, driver, at: now) else { continue }
      let at = max(due, driver.asksAt(kind))
      if at <= now {
        if let cycle = open(kind, driver, at: now) {
          // There may be more: a loop that waits before its next step must not wait in vain.
          driver.poke()
          return (cycle, now)
        }
        wakeAt = min(wakeAt, driver.asksAt(kind))
      } else {
        wakeAt = min(wakeAt, at)
      }
    }
    wakeAt = min(wakeAt, nextLook(at: now))
    wakeAt = min(wakeAt, listensAt(driver, at: now))
    driver.sleep(until: wakeAt, at: now, seen: table.stamp)
    return (nil, wakeAt)
  }

  /// When a veto may be raised against a window that is open.
  private func nextLook(at now: Instant) -> Instant {
    let open = openKinds
    var next = open.isEmpty ? Time.never : governance.nextLook
    governance.governor.forEachSignal(open, onlyStopping: true) { signal in
      if signal.lookAgain > 0 && !groups(signal).isEmpty { next = min(next, now.adding(signal.lookAgain)) }
    }
    governance.driver?.watchMemory(groups(open, onlyStopping: true).contains(.load))
    return next
  }

  /// Asks for a window of a kind and opens it; nil if it is refused.
  private func open(_ kind: Kind, _ driver: Driver, at now: Instant) -> Cycle? {
    var decision = decide(kind, at: now)
    var draft = WindowDraft()
    // Only what a new task may use is left: it alone.
    if decision.isRefusedByBudget, let newcomer = newcomer(kind, driver, at: now) {
      let other = decide(kind, neverRan: true, at: now)
      if other.isGranted {
        decision = other
        draft.task = table[newcomer].definition.id
      }
    }
    guard decision.isGranted else {
      driver.askAgainAt[kind] = decision.askAgainAt
      return nil
    }
    // The last seconds of a budget would only cut tasks off.
    if draft.task.count == 0 && decision.longestWindow < driver.budgets[kind] {
      let governor = governance.governor
      let roomAt = governor.ledger.roomAt(kind, governor.profile.quotas, at: now)
      guard roomAt <= now else {
        driver.askAgainAt[kind] = roomAt
        return nil
      }
    }
    draft.kinds = UInt32(kind.rawValue)
    draft.lanes = draft.task.count > 0 ? 1 : driver.lanes[kind]
    draft.budget = max(1, min(driver.budgets[kind], decision.longestWindow))
    do throws(SeleneError) {
      let moment = Moment(now: now, probe: Probe())
      let window = try Window(draft)
      let cycle =
        driver.hasThread
        ? try beginPushed(window, coordinators: 1, driving: kind, at: moment)
        : driver.hasLanes
          ? try beginLanes(window, driving: kind, at: moment)
          : try begin(window, .pulled, driving: kind, at: moment)
      return cycle
    } catch {
      driver.giveWay(kind, at: now)
      return nil
    }
  }

  /// The task that would be first in a window, if it never ran.
  private func newcomer(_ kind: Kind, _ driver: Driver, at now: Instant) -> Int? {
    let offer = offer(kind, driver, conditions.satisfied)
    guard let best = Ranking(table, offer, at: now).best(in: table, offer, room: nil) else { return nil }
    return table[best.slot].hasRun ? nil : best.slot
  }

  /// A window has ended, so that its kinds may have another. One in which nothing ran, though nothing spoke against it, is
  /// not opened again at once.
  func drove(_ cycle: Cycle, at now: Instant) {
    guard let driver = governance.driver else { return }
    driver.lookAgain()
    guard let kind = cycle.drivenKind else { return }
    if !cycle.runs.isEmpty {
      driver.goOn(kind)
    } else if !cycle.preempted.contains(KindSet(kind)) {
      driver.giveWay(kind, at: now)
    }
  }

  // MARK: Simulate (G8)

  /// Runs a pending request now, as if the system had launched it.
  ///
  /// - Throws: `notFound`, `immediateRunIneligible`, `unsupported`, `busy`, `exhausted`.
  package func launch(_ id: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) {
    try Identifier.check(id, "id")
    guard let slot = table.find(id), table[slot].state == .enqueued, table[slot].definition.schedule != .standing else {
      throw SeleneError(.notFound, "id: there is no pending request \(name: id)")
    }
    var draft = WindowDraft()
    draft.task = id
    draft.budget = governance.driver?.budgets[table[slot].kind] ?? DriverDraft().budgets[table[slot].kind]
    _ = try startAsync(Window(draft), receive: nil, destroy: nil, at: moment)
  }

  /// Ends the window of a run in flight, as if its time had run out.
  ///
  /// - Throws: `notFound`.
  package func expire(_ id: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) {
    try Identifier.check(id, "id")
    guard let cycle = cycles.first(where: { $0.runs.contains { $0.isOpen && $0.definition.id.equals(id) } }) else {
      throw SeleneError(.notFound, "id: no run of \(name: id) is in flight")
    }
    cycle.expire(at: moment.now)
    nextDue = moment.now
    advance(to: moment.now)
    slot.monitor.broadcast()
  }
}

extension Decision {
  /// Whether nothing but a spent budget refuses.
  fileprivate var isRefusedByBudget: Bool {
    firstVeto?.factor == .budget && findings.allSatisfy { $0.verdict != .vetoed || $0.factor == .budget }
  }
}
