// One instance: the table of tasks, its handlers, cycles and runs, and the lock that guards them.

import CPlatform
import SeleneCore
import SeleneGovernor

/// A scheduler. All that varies is guarded by the lock of its slot.
package final class Scheduler: @unchecked Sendable {
  let slot: Slot
  /// What its tokens have of its life: no other scheduler that is open in this process has the same.
  let life: UInt64
  /// The number of its life, which only grows.
  let lifeNumber: UInt64
  let options: Options
  /// Told of each thread that begins and ends (B2).
  let threadHooks: ThreadHooks?
  let table: TaskTable
  var saver: Saver
  var clock: Clock
  /// What a host's numbers of time are of.
  package var units: Units { owner == nil ? Units(clock.host) : .own }
  var conditions = Conditions(Signals(), at: .min)
  /// The constraints whose signals the host set by their bits, which the next such call clears unless it has them, too.
  var setByBit: Constraints = []
  /// The constraints that tasks asked for while a cycle was open: their signals were read then.
  var readFor: Constraints = []
  var enabled = KindSet.all {
    didSet { table.waits.set(kinds: enabled, at: clock.last) }
  }
  /// Nothing is dispatched until the host says so (R6).
  var isDrained = false {
    didSet { table.waits.set(.drained, isDrained, at: clock.last) }
  }
  /// A thread closes it, and waits for its runs.
  var isLeaving = false
  /// Pace and last cycle of each kind.
  var pace: PerKind<Pace>
  var traces = PerKind<CycleTrace?>(repeating: nil)

  /// Live and retired handlers by number.
  var handlers: [Handler?] = []
  /// Cycles that are not reported, in order of their begin.
  var cycles: [Cycle] = []
  /// Cycles of lanes whose report waits for the host.
  var reported: [Cycle] = []
  /// Lanes by number.
  let lanes = NumberMap<Lane>()
  var runs = Runs()
  /// Of open runs that have told their progress, or have a stall limit, by the number of their token (W6).
  let progress = NumberMap<ProgressWatch>()
  /// What runs that have not come back leave if they succeed, likewise (W5).
  let outputs = NumberMap<RunOutput>()
  /// The runs at work of tasks that may have ended their process (V7).
  var suspectRuns: [Run] = []
  /// What of that the log of waits has, by the number of the pool (W8).
  var toldSuspects: [(pool: UInt64, what: WaitLog.Suspects)] = []
  /// The process that begins nothing else until one of them may run alone there.
  var clearing: Clearing?
  /// What the host has set for runs that have not come back, likewise.
  let users = NumberMap<UnsafeMutableRawPointer>()
  /// Until when threads wait for a clock that is told, and how many of them are in handlers.
  var sleepers = Sleepers()
  /// Nothing happens by itself before this instant.
  var nextDue: Instant = Time.never

  /// Processes that take runs (L5).
  var crews = Crews()
  /// What they ran when the owner before this one ended, and what the store keeps for the next one (L10).
  var adoption = Adoption()

  var governance = Governance()
  /// Who gives its runs, in another process; nil: it has the tasks itself.
  package let owner: OwnerSource?
  /// What its tasks come from a fleet by, or nil.
  var node: SchedulerNode?
  var workers = Workers()
  var troubles = Troubles()
  /// When a call looks again at what nothing announces.
  var looksAroundAt: Instant = .min
  /// The store refused because its file or its log is not where it was.
  var isStoreMoved = false

  var outbox = Outbox()
  /// A thread closes it, and no other does: no call finds its handle any more, what is under way ends and is stored.
  var isEnding = false
  /// All of that is done, and the store is closed; runs and threads may still come back.
  var isClosing = false

  private init(
    _ slot: Slot, life: UInt64, _ lifeNumber: UInt64, _ options: Options, _ hostClock: HostClock?,
    _ threadHooks: ThreadHooks?, _ store: Store, _ owner: OwnerSource?
  ) {
    self.owner = owner
    self.slot = slot
    self.life = life
    self.lifeNumber = lifeNumber
    self.options = options
    self.threadHooks = threadHooks
    clock = Clock(hostClock)
    saver = Saver(store)
    let seed = options.seed != 0 ? options.seed : UInt64(bitPattern: platform_wall_clock())
    table = TaskTable(options.policy, generator: Generator(seed: seed))
    pace = PerKind(
      refresh: Pace(interval: options.intervals.refresh), processing: Pace(interval: options.intervals.processing))
  }

  /// Opens a scheduler.
  ///
  /// - Parameter path: the file of its store, or nil for memory.
  /// - Throws: `exhausted`, a status of stores.
  package static func open(
    _ options: Options, _ hostClock: HostClock?, _ threadHooks: ThreadHooks? = nil,
    path: UnsafeRawBufferPointer? = nil
  ) throws(SeleneError) -> UInt64 {
    try refuseInsideClock()
    followEndsOfThreads()
    guard let path else { return try open(options, hostClock, threadHooks, on: Store()) }
    let handle: UInt64
    do throws(SeleneError) {
      let store = try SQLiteStore.open(path, isRelaxed: options.isRelaxed, owner: options.owner)
      handle = try open(options, hostClock, threadHooks, on: store)
    } catch {
      guard !error.isOfChild else { throw error }
      Log.write(.error, "not opened: \(error.detail)")
      try Log.deliver()
      throw error
    }
    try Log.deliver()
    return handle
  }

  /// Opens one that works off what an owner gives.
  ///
  /// - Throws: `exhausted`.
  package static func open(for owner: OwnerSource) throws(SeleneError) -> UInt64 {
    followEndsOfThreads()
    return try open(try Options(OptionsDraft(), .own), nil, on: Store(), owner)
  }

  /// Opens one on a store, which is closed if that fails.
  static func open(
    _ options: Options, _ hostClock: HostClock?, _ threadHooks: ThreadHooks? = nil, on store: Store,
    _ owner: OwnerSource? = nil
  ) throws(SeleneError) -> UInt64 {
    do throws(SeleneError) {
      let (slot, life, number) = try Registry.claim(after: store.isDurable ? store.opened.life : nil)
      do throws(SeleneError) {
        let scheduler = Scheduler(slot, life: life, number, options, hostClock, threadHooks, store, owner)
        try scheduler.restore(try hostClock?.now())
        slot.monitor.lock()
        defer { slot.monitor.unlock() }
        return slot.open(scheduler).rawValue
      } catch {
        if error.isOfChild { throw error }
        Registry.retire(slot)
        Registry.recycle(slot)
        throw error
      }
    } catch {
      // In a child of the host's clock neither is its own.
      if !error.isOfChild { store.close() }
      throw error
    }
  }

  // MARK: The way in and out

  /// Calls a body with the scheduler of a handle: locked, its time applied; delivers what the body caused.
  ///
  /// - Parameter probing: which constraints the body looks at: the system is asked for their signals without the lock.
  /// - Parameter isQuestion: whether the body changes no record; then it does not wait for the store (D7).
  @inline(__always)
  package static func enter<R>(
    _ handle: UInt64, probing: Probing = .none, isQuestion: Bool = false,
    _ body: (Scheduler, Moment) throws(SeleneError) -> R
  ) throws(SeleneError) -> R {
    let (scheduler, moment) = try locked(handle, probing: probing, isQuestion: isQuestion)
    return try scheduler.leaving { () throws(SeleneError) in try body(scheduler, moment) }
  }

  /// The same with the scheduler and the cycle of a cycle's handle.
  @inline(__always)
  package static func enter<R>(
    cycle handle: UInt64, isQuestion: Bool = false, _ body: (Scheduler, Cycle, Moment) throws(SeleneError) -> R
  ) throws(SeleneError) -> R {
    let (scheduler, moment) = try locked(cycle: handle, isQuestion: isQuestion)
    return try scheduler.leaving { () throws(SeleneError) in
      guard let cycle = scheduler.cycle(handle) else {
        throw scheduler.owner?.refusal(ofCycle: handle, for: scheduler) ?? .closedHandle
      }
      return try body(scheduler, cycle, moment)
    }
  }

  /// The same with the scheduler and the lane of a lane's handle, also while it closes.
  @inline(__always)
  package static func enter<R>(
    lane handle: UInt64, isQuestion: Bool = false, _ body: (Scheduler, Lane, Moment) throws(SeleneError) -> R
  ) throws(SeleneError) -> R {
    let (scheduler, moment) = try locked(lane: handle, isQuestion: isQuestion)
    return try scheduler.leaving { () throws(SeleneError) in
      guard let lane = scheduler.lanes[Handle(rawValue: handle).number] else { throw .closedHandle }
      return try body(scheduler, lane, moment)
    }
  }

  /// The same with the scheduler of a run's token, also while it closes.
  @inline(__always)
  package static func enter<R>(
    run token: UInt64, _ body: (Scheduler, UInt64, Moment) throws(SeleneError) -> R
  ) throws(SeleneError) -> R {
    let (scheduler, moment) = try locked(run: token)
    return try scheduler.leaving { () throws(SeleneError) in
      try body(scheduler, Token(rawValue: token).number, moment)
    }
  }

  @inline(never)
  package static func locked(
    _ handle: UInt64, probing: Probing, isQuestion: Bool = false
  ) throws(SeleneError) -> (Scheduler, Moment) {
    let handle = Handle(rawValue: handle)
    try handle.check(.scheduler)
    guard
      let entered = try lock(
        try Registry.find(handle), .scheduler(handle.number), probing: probing, isQuestion: isQuestion)
    else {
      throw .closedHandle
    }
    return entered
  }

  package static func locked(cycle handle: UInt64, isQuestion: Bool = false) throws(SeleneError) -> (Scheduler, Moment)
  {
    let handle = Handle(rawValue: handle)
    try handle.check(.cycle)
    guard let entered = try lock(try Registry.find(handle), .any, isQuestion: isQuestion) else { throw .closedHandle }
    return entered
  }

  package static func locked(lane handle: UInt64, isQuestion: Bool = false) throws(SeleneError) -> (Scheduler, Moment) {
    let handle = Handle(rawValue: handle)
    try handle.check(.lane)
    let slot = try Registry.find(handle)
    guard let entered = try lock(slot, .closing, isQuestion: isQuestion) else {
      slot.monitor.lock()
      slot.release(lane: handle.rawValue)
      slot.monitor.unlock()
      throw .closedHandle
    }
    return entered
  }

  package static func locked(run token: UInt64) throws(SeleneError) -> (Scheduler, Moment) {
    let token = Token(rawValue: token)
    guard let entered = try lock(try Registry.find(token), .life(token.life), isQuestion: true) else {
      throw .earlierLife
    }
    return entered
  }

  /// Which scheduler of a slot is meant.
  private enum Door {
    /// The one of a number, while it is open.
    case scheduler(UInt64)
    /// Whichever is open.
    case any
    /// Whichever is open or closes.
    case closing
    /// The one of a life, also while it closes.
    case life(UInt64)

    var isOfScheduler: Bool { if case .scheduler = self { true } else { false } }

    @inline(__always)
    func leads(to scheduler: Scheduler) -> Bool {
      switch self {
      case .scheduler(let number): !scheduler.isEnding && scheduler.slot.number == number
      case .any: !scheduler.isEnding
      case .closing: true
      case .life(let life): scheduler.life == life
      }
    }
  }

  /// Locks a slot and brings its scheduler up to the present; nil, unlocked, if it is not the one.
  ///
  /// - Throws: `reentrant`, `forked`.
  @_optimize(speed)
  private static func lock(
    _ slot: Slot, _ door: Door, probing: Probing = .none, isQuestion: Bool = false
  ) throws(SeleneError) -> (Scheduler, Moment)? {
    try refuseInsideClock()
    guard slot.monitor.enter() else { throw slot.insideSignalHandler }
    guard let scheduler = slot.scheduler, door.leads(to: scheduler) else {
      slot.monitor.unlock()
      return nil
    }
    // The host's clock and the system's files are read without the lock; then the door may be another.
    let wanted = scheduler.groups(probing)
    var reading: Instant?
    var probe: Probe?
    if scheduler.clock.host != nil || !wanted.isEmpty {
      let sources = wanted.isEmpty ? nil : SignalSources(wanted, of: scheduler)
      reading = try scheduler.readHostClock(also: sources != nil) { probe = sources?.read().map { Probe($0) } }
      guard slot.scheduler === scheduler, door.leads(to: scheduler) else {
        try scheduler.leave()
        return nil
      }
    }
    guard isQuestion || !scheduler.saver.isAtWork(here: platform_thread_number()) else {
      slot.monitor.unlock()
      throw slot.insideSignalHandler
    }
    var now = scheduler.clock.tick(reading)
    let looks = now >= scheduler.looksAroundAt && door.isOfScheduler
    if looks { scheduler.lookAround(at: now) }
    if scheduler.clock.host != nil { scheduler.lookAtClock(behindBy: scheduler.clock.lag) }
    if looks || (!isQuestion && scheduler.saver.isAtWork) {
      if !isQuestion { scheduler.awaitStore() }
      guard slot.scheduler === scheduler, door.leads(to: scheduler) else {
        try scheduler.leave()
        return nil
      }
      now = scheduler.clock.tick(reading)
    }
    scheduler.table.advance(to: now)
    scheduler.advance(to: now)
    if scheduler.saver.mustSaveAgain && !isQuestion { try? scheduler.save(at: now) }
    scheduler.outbox.beginCall()
    if scheduler.table.expiresAt < now && !(isQuestion && scheduler.saver.isAtWork) {
      scheduler.expireTasks(at: now)
      guard slot.scheduler === scheduler, door.leads(to: scheduler) else {
        try scheduler.leave()
        return nil
      }
      now = scheduler.clock.tick(reading)
    }
    // A save, or the end of a cycle, has let others in, who may have closed it.
    guard !scheduler.isEnding || (slot.scheduler === scheduler && door.leads(to: scheduler)) else {
      try scheduler.leave()
      return nil
    }
    return (scheduler, Moment(now: now, probe: probe))
  }

  /// Reads the host's clock, if there is one, and does what else is done without the lock, if there is such. Called and left
  /// with the lock held; nil once the clock has ended.
  ///
  /// - Throws: `forked`, as `leave`.
  func readHostClock(also isMore: Bool = false, _ more: () -> Void = {}) throws(SeleneError) -> Instant? {
    let host = clock.host
    let isUsable = host?.isRetired == false
    if !isMore, isUsable, let told = host?.told { return told }
    if isUsable { host?.beginUse() }
    unlock()
    if isMore { more() }
    let asked = isUsable && host?.read != nil ? try host?.now() : nil
    lock()
    let reading = isUsable ? asked ?? host?.told : nil
    if isUsable, let host { finishIfLast(host.endUse(), host) }
    return reading
  }

  @inline(__always)
  static func refuseInsideClock() throws(SeleneError) {
    guard platform_frame_is_any() != 0 else { return }
    dropLeft(from: platform_stack_place())
    guard platform_frame_within(PLATFORM_CLOSED_OWNER) == 0 else {
      throw SeleneError(.reentrant, "a host clock or a log function may not call the library")
    }
  }

  /// Whether this thread is in a callback of this scheduler.
  var isInsideCallback: Bool { platform_frame_within(life) != 0 }

  func refuseInsideCallback(_ what: Literal) throws(SeleneError) {
    guard !isInsideCallback else {
      throw SeleneError(.reentrant, "\(what) is not possible inside a callback of the same scheduler")
    }
  }

  func lock() { slot.monitor.lock() }
  func unlock() { slot.monitor.unlock() }

  /// The present, read again; the caller holds the lock and the clock is the system's.
  func tick() -> Instant { clock.tick(nil) }

  /// Calls a body with the lock held, then leaves.
  @inline(__always)
  func leaving<R>(handsOver: Bool = false, _ body: () throws(SeleneError) -> R) throws(SeleneError) -> R {
    let result: R
    do throws(SeleneError) {
      result = try body()
    } catch {
      if !error.isOfChild { try leave(handsOver: handsOver) }
      throw error
    }
    try leave(handsOver: handsOver)
    return result
  }

  /// Hands the host what was caused meanwhile, or lets a thread of the library do it, and unlocks.
  ///
  /// - Throws: `forked` in a child that came back from a callback. Who throws it holds no lock, also where the lock is held
  ///   otherwise, and whoever gets it touches nothing and throws it on.
  @_optimize(speed)
  func leave(handsOver: Bool = false) throws(SeleneError) {
    if let node { followNode(node) }
    if hasSuspects || !toldSuspects.isEmpty { tellSuspects() }
    table.checkInvariants()
    if governance.recording != nil { flushTrace() }
    governance.driver?.follow(table.stamp)
    wakeLanes()
    if !outbox.isEmpty { try emptyOutbox(handsOver: handsOver) }
    // Where there are threads of the library they tell, so that nothing waits for a log function.
    let isForOthers = Log.isWaiting && hasTellers && callTeller()
    unlock()
    if !isForOthers { try Log.deliver() }
  }
}

/// When a call happens, and what the system says then of what it looks at.
package struct Moment {
  package let now: Instant
  var probe: Probe?
}
