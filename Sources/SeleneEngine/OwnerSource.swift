// Where the runs of a connection come from: the owner of the store, in another process.
//
// A scheduler that has an owner has no tasks of its own. The owner ranks, judges time and decides; cycles, lanes, threads,
// stop functions, drivers and the close are those of any scheduler, which asks here instead of its table.

import CPlatform
import SeleneCore

/// What a lane comes back with.
struct Said {
  let run: Run
  let outcome: Outcome
}

/// The owner of a connection. Guarded by the lock of the scheduler that works for it; a request lets that go.
package final class OwnerSource {
  let link: OwnerLink
  /// How often there was news.
  private(set) var news: UInt64 = 0
  /// What asks it for windows, or nil.
  var driver: Driver?
  /// How long a driver waits before it asks again that could not be answered.
  private var pause = shortestPause
  /// The thread that reads what the owner says, and whether it waits for what happens here, too; 0: none reads.
  private var reader: UInt64 = 0
  private var readerWantsAll = false
  /// How many wait behind it.
  private var waiters = 0
  /// Its connection has ended, and there is no other yet.
  private var isAway = false
  /// The cycles that went with it.
  private var lostCycles: [UInt64] = []
  /// A thread of the library hears it, so that stop functions are called.
  private var isHeard = false
  /// The connection is being closed.
  private(set) var isOver = false
  /// Of the last run: most that follow have the same.
  private var terms: TaskDefinition?
  private let unknown = Handler(number: 0, run: nil, stop: nil, destroy: nil)
  /// Runs that have not come back, by the connection's number of each, and the other way.
  private let taken = NumberMap<Run>()
  private let numbers = NumberMap<UInt64>()

  private static let shortestPause = Time.second / 100
  private static let longestPause = Time.second

  package init(_ link: OwnerLink) { self.link = link }

  // MARK: Asking

  /// Asks: without the lock, with the turn, which is given back with the lock held again. So answers and news are applied in
  /// the order in which they came. Called and left with the lock held.
  @inline(__always)
  func asking<R>(_ scheduler: Scheduler, _ call: (Turn) throws(SeleneError) -> R) throws(SeleneError) -> R {
    scheduler.unlock()
    let turn: Turn
    do throws(SeleneError) { turn = try link.enter() } catch {
      scheduler.lock()
      throw error
    }
    defer {
      scheduler.lock()
      link.exit(turn)
    }
    return try call(turn)
  }

  /// A function of a run that only the owner answers.
  func ask(
    _ run: Run, _ operation: UInt32, _ words: RunWords, for scheduler: Scheduler
  ) throws(SeleneError) {
    let number = number(of: run)
    try asking(scheduler) { (turn) throws(SeleneError) in try link.ask(turn, number, operation, words) }
  }

  // MARK: Handlers

  /// Offers a handler.
  func offer(
    _ name: UnsafeRawBufferPointer, isCalled: Bool, hasStop: Bool, for scheduler: Scheduler
  ) throws(SeleneError) {
    if hasStop { try startHearing(scheduler) }
    try asking(scheduler) { (turn) throws(SeleneError) in try link.offer(turn, name, isCalled) }
  }

  func withdraw(_ name: UnsafeRawBufferPointer, for scheduler: Scheduler) {
    try? asking(scheduler) { (turn) throws(SeleneError) in link.withdraw(turn, name) }
  }

  private func handler(_ name: UnsafeRawBufferPointer, of scheduler: Scheduler) -> Handler {
    scheduler.table.findHandler(name).flatMap { scheduler.handlers[$0] } ?? unknown
  }

  // MARK: Cycles

  func begin(
    _ window: Window, _ mode: Cycle.Mode, _ caller: Caller, for scheduler: Scheduler, at now: Instant
  ) throws(SeleneError) -> Cycle {
    let begun = try asking(scheduler) { (turn) throws(SeleneError) in try link.begin(turn, window, caller) }
    guard !scheduler.isEnding else {
      // Closed meanwhile.
      end(begun.cycle, for: scheduler)
      throw .closedHandle
    }
    return cycle(
      begun.cycle, window.task == nil ? window.kinds : [], lanes: window.lanes, mode, isRolling: window.isRolling,
      deadline: begun.deadline, for: scheduler, at: now)
  }

  private func cycle(
    _ number: UInt64, _ kinds: KindSet, driven: KindSet = [], lanes: Int, _ mode: Cycle.Mode, isRolling: Bool,
    deadline: Instant = Time.never, for scheduler: Scheduler, at now: Instant
  ) -> Cycle {
    let nothing = Offer(
      kinds: [], satisfied: scheduler.satisfied, pushes: false, observedRange: false, crew: nil)
    let cycle = Cycle(
      handle: scheduler.slot.newCycle(), mode: mode, laneLimit: lanes, strictFit: false, isRolling: isRolling,
      kinds: kinds, alone: [], serves: kinds, booked: [], driven: driven, time: Budget(openSince: now),
      ranking: Ranking(scheduler.table, nothing, at: now))
    cycle.owned = Cycle.Owned(number: number, deadline: deadline)
    scheduler.cycles.append(cycle)
    return cycle
  }

  /// The next run of a cycle. The outcome of a lane rides on the request.
  @_optimize(speed)
  func take(
    _ cycle: Cycle, after said: Said?, for scheduler: Scheduler, at now: Instant
  ) throws(SeleneError) -> Step {
    guard let owned = cycle.owned, !scheduler.isLeaving, !cycle.isDone else {
      if let said { tell(said, for: scheduler, at: now) }
      return .done
    }
    var said = said
    while true {
      let (number, pulls) = (owned.number, cycle.mode == .pulled)
      let last = said.map { self.number(of: $0.run) } ?? 0
      let outcome = said?.outcome.rawValue ?? -1
      let step: GivenStep
      do throws(SeleneError) {
        step = try asking(scheduler) { (turn) throws(SeleneError) in try link.take(turn, number, last, outcome, pulls) }
      } catch {
        if let said { settle(said, for: scheduler, at: now) }
        // It went with its owner, or was ended meanwhile.
        guard !pulls, error.code == .invalidHandle else { throw error }
        return .done
      }
      if let told = said { settle(told, for: scheduler, at: now) }
      said = nil
      switch step {
      case .run(let given):
        guard let run = try begin(given, in: cycle, for: scheduler, at: now) else {
          guard !scheduler.isEnding, !cycle.isEnded else { return .done }
          continue
        }
        return .run(run)
      case .wait(let until, let delay):
        guard delay >= 0 || cycle.mode != .pushed else {
          // Only an owner whose host tells the time says that waiting is of no use, and that begins no such window.
          try? asking(scheduler) { (turn) throws(SeleneError) in link.drop(turn) }
          return .done
        }
        cycle.owned?.delay = delay
        cycle.owned?.seen = news
        return .wait(until: until)
      case .done: return .done
      }
    }
  }

  /// A run was given. Nil: its handler was withdrawn as the owner gave it, which gives it back.
  private func begin(
    _ given: GivenRun, in cycle: Cycle, for scheduler: Scheduler, at now: Instant
  ) throws(SeleneError) -> Run? {
    defer { given.block.deallocate() }
    let handler = handler(given.handler, of: scheduler)
    // The end of the cycle, or of the connection, gives it back.
    guard !scheduler.isEnding, !cycle.isEnded else { return nil }
    if cycle.mode.callsHandlers && handler.run == nil {
      try? asking(scheduler) { (turn) throws(SeleneError) in
        try link.decide(turn, given.number, Completion(outcome: .failed, retryDelay: 0))
      }
      return nil
    }
    let run = Run(
      given, try definition(of: given, for: scheduler),
      token: Token(life: scheduler.life, number: scheduler.runs.last + 1).rawValue,
      handler: handler, in: cycle)
    scheduler.runs.add(run)
    taken[given.number & Self.mask] = run
    numbers[Token(rawValue: run.token).number] = given.number
    cycle.add(run, nil)
    cycle.owned?.add(given.number & Self.mask, run.token)
    return run
  }

  private func definition(of given: GivenRun, for scheduler: Scheduler) throws(SeleneError) -> TaskDefinition {
    let hasHandler = !given.id.equals(given.handler)
    if hasHandler, let terms, Int32(terms.kind.rawValue) == given.kind, Int32(terms.priority) == given.priority,
      terms.handler.equals(given.handler)
    {
      return try TaskDefinition.stored(id: given.id, input: given.input, terms.terms)
    }
    var draft = TaskDraft()
    (draft.id, draft.handler, draft.input) = (given.id, given.handler, given.input)
    (draft.numbers.kind, draft.numbers.priority) = (given.kind, given.priority)
    draft.numbers.schedule = Int32(Schedule.once.rawValue)
    let definition = try TaskDefinition.checked(
      draft, .own, backoff: BackoffBounds(), maxInput: .max, pool: &scheduler.table.terms)
    if hasHandler { terms = definition }
    return definition
  }

  /// Whether nothing of a cycle is left for this process, or when to look again.
  func progress(of cycle: Cycle, for scheduler: Scheduler) throws(SeleneError) -> Step {
    guard let number = cycle.owned?.number else { return .done }
    let step = try asking(scheduler) { (turn) throws(SeleneError) in try link.progress(turn, number) }
    guard case .wait(let until, let delay) = step else { return .done }
    cycle.owned?.delay = delay
    cycle.owned?.seen = news
    return .wait(until: until)
  }

  func drain(_ cycle: Cycle, grace: Span, for scheduler: Scheduler) throws(SeleneError) {
    guard let number = cycle.owned?.number else { return }
    try asking(scheduler) { (turn) throws(SeleneError) in try link.drain(turn, number, grace) }
    cycle.isDone = true
    cycle.watch?.poke()
    scheduler.wakeAll()
  }

  /// Ends a cycle that nobody here knows of yet.
  private func end(_ number: UInt64, for scheduler: Scheduler) {
    try? asking(scheduler) { (turn) throws(SeleneError) in try link.end(turn, number).deallocate() }
  }

  /// Ends a cycle at the host's word.
  func end(_ cycle: Cycle, for scheduler: Scheduler, at now: Instant) throws(SeleneError) -> Report {
    guard let number = cycle.owned?.number else { throw .closedHandle }
    let block = try asking(scheduler) { (turn) throws(SeleneError) in try link.end(turn, number) }
    if let report = cycle.report {
      block.deallocate()
      return report
    }
    let tokens = NumberMap<UInt64>()
    for run in cycle.owned?.runs ?? [] { tokens[run.number] = run.token }
    link.name(block, cycle.handle) { number in tokens[number & Self.mask] ?? 0 }
    let report = Report(cycle, of: block, at: now)
    over(cycle, report, for: scheduler, at: now)
    cycle.watch = nil
    return report
  }

  /// The same; the report comes whatever has become of the owner.
  func endAnyway(_ cycle: Cycle, for scheduler: Scheduler, at now: Instant) -> Report {
    do throws(SeleneError) { return try end(cycle, for: scheduler, at: now) } catch {
      if let report = cycle.report { return report }
      if cycle.failure == nil { cycle.failure = error }
      let report = Report(cycle, of: nil, at: now)
      over(cycle, report, for: scheduler, at: now)
      return report
    }
  }

  private func over(_ cycle: Cycle, _ report: Report, isLost: Bool = false, for scheduler: Scheduler, at now: Instant) {
    cycle.isDone = true
    scheduler.leaveBehind(cycle)
    cycle.report = report
    // The next owner may go on with what this one had given; else the end has decided them.
    for run in cycle.runs where run.isOpen && !isLost {
      scheduler.tell(run, .shutdown)
      scheduler.close(run, .stopped, at: now)
      scheduler.comeBackIfDone(run)
    }
    cycle.letRunsGo()
    scheduler.cycles.removeAll { $0 === cycle }
    // Whose host waits with a descriptor finds out by asking for the report.
    if isLost && cycle.watch != nil { scheduler.keepReport(of: cycle) }
    if !cycle.receivers.isEmpty {
      scheduler.hand(report, to: cycle.receivers)
      cycle.receivers = []
    }
    driver?.poke()
    scheduler.wakeAll()
  }

  /// What is said of a handle that is none.
  func refusal(ofCycle handle: UInt64, for scheduler: Scheduler) -> SeleneError {
    // The next owner hears of what goes on here, whichever call is the first (L10).
    if isAway { try? asking(scheduler) { (turn) throws(SeleneError) in try link.settle(turn) } }
    return lostCycles.contains(handle) ? link.lost() : .closedHandle
  }

  // MARK: Outcomes

  /// Whether the owner is to hear how a run ended: also of one that is over, whose id is free again with that.
  func hears(of run: Run) -> Bool { run.isOpen || !isAway }

  /// A host says how a run ended.
  ///
  /// - Throws: what the owner answers; the run is open as before unless that says that it is over.
  func complete(_ run: Run, _ said: Completion, for scheduler: Scheduler, at now: Instant) throws(SeleneError) {
    let number = number(of: run)
    do throws(SeleneError) {
      try asking(scheduler) { (turn) throws(SeleneError) in try link.decide(turn, number, said) }
    } catch {
      run.wasGivenOutcome = true
      if run.isOpen && error.code == .staleRun { scheduler.close(run, .stopped, at: now) }
      if run.isOpen && error.code == .alreadyCompleted { scheduler.close(run, said.outcome, at: now) }
      // A later one counts where the first was refused; one that could not be told is kept for the next owner.
      run.wasGivenOutcome = !run.isOpen || error.code == .ownerAway
      scheduler.comeBackIfDone(run)
      throw error
    }
    settle(Said(run: run, outcome: said.outcome), for: scheduler, at: now)
  }

  /// A lane has come back with an outcome, and asks for nothing more.
  func tell(_ said: Said, for scheduler: Scheduler, at now: Instant) {
    guard hears(of: said.run) else { return settle(said, for: scheduler, at: now) }
    let (number, isLost) = (number(of: said.run), said.run.isOpen && !said.run.isInCycle)
    try? asking(scheduler) { (turn) throws(SeleneError) in
      // Nobody waits here until an owner is there.
      guard !isLost else { return link.keep(turn, number, said.outcome.rawValue) }
      try link.decide(turn, number, Completion(outcome: said.outcome))
    }
    settle(said, for: scheduler, at: now)
  }

  /// An outcome was given before: the next owner hears of it where this one has gone and may not have stored it.
  func tellAgain(_ scheduler: Scheduler) {
    _ = try? asking(scheduler) { (turn) throws(SeleneError) in link.comeBack(turn) }
  }

  private func settle(_ said: Said, for scheduler: Scheduler, at now: Instant) {
    said.run.wasGivenOutcome = true
    if said.run.isOpen { scheduler.close(said.run, said.outcome, at: now) }
    scheduler.comeBackIfDone(said.run)
  }

  /// A run has come back.
  func forget(_ run: Run) {
    taken.remove(number(of: run) & Self.mask)
    numbers.remove(Token(rawValue: run.token).number)
  }

  private func number(of run: Run) -> UInt64 { numbers[Token(rawValue: run.token).number] ?? 0 }

  /// What tells the numbers of a connection's runs apart: the type and the connection are the same in all.
  private static let mask: UInt64 = 1 << 44 - 1

  // MARK: News

  /// The owner has said something without being asked. Called with the turn, without the lock.
  func told(_ number: UInt64, _ word: Int32, isOver: Bool, for scheduler: Scheduler) {
    let now = scheduler.clock.last
    // One of an earlier version does not say where there may be something.
    let isAnywhere = number == .max || (number == 0 && word == 0)
    let calls: Member.Calls =
      isAnywhere ? [.windows, .driver] : number != 0 ? .windows : Member.Calls(rawValue: word)
    if calls.contains(.driver) { driver?.poke() }
    guard calls.contains(.windows) else { return }
    news += 1
    switch number {
    case .max:
      isAway = true
      for cycle in scheduler.cycles {
        if cycle.failure == nil { cycle.failure = link.lost() }
        cycle.owned?.isLost = true
        lostCycles.append(cycle.handle)
        over(cycle, Report(cycle, of: nil, at: now), isLost: true, for: scheduler, at: now)
      }
    case 0: (isAway, lostCycles) = (false, [])
    default:
      let reason = StopReason(rawValue: word) ?? .expiring
      guard let run = taken[number & Self.mask] else { break }
      if run.isOpen { scheduler.tell(run, reason) }
      // What time has ended at the owner leaves a thread behind that is still in the handler.
      if run.isOpen && isOver {
        scheduler.close(run, reason == .expiring || reason.isOfTask ? .expired : .stopped, at: now)
      }
      scheduler.comeBackIfDone(run)
    }
    if scheduler.workers.hasWatches { for cycle in scheduler.cycles { cycle.watch?.poke() } }
    if scheduler.hasNews && scheduler.hasTellers { _ = scheduler.callTeller() }
    scheduler.wakeAll()
  }

  /// A thread hears the owner from now on, so that stop functions are called, drivers woken, and
  /// descriptors readable.
  ///
  /// - Throws: `exhausted`.
  func startHearing(_ scheduler: Scheduler) throws(SeleneError) {
    guard !isHeard else { return }
    try scheduler.ensureThreads(1)
    isHeard = true
    scheduler.submit(.hear)
    // One that is not reached, or refuses, is asked with the next request.
    try? asking(scheduler) { (turn) throws(SeleneError) in try link.hear(turn) }
  }

  /// The life of the thread that hears. Called and left with the lock held.
  func hear(_ scheduler: Scheduler) throws(SeleneError) {
    while !isOver {
      var span = Time.hour
      if isAway {
        span = (try? asking(scheduler) { (turn) throws(SeleneError) in link.comeBack(turn) }) ?? Time.second
        guard !isOver else { return }
      }
      if span > 0 { rest(span, forAll: false, scheduler) }
      _ = try scheduler.settleDeliveries()
    }
  }

  // MARK: Waiting

  /// Whether waiting for a run of an inline cycle is of no use, since only the owner's host lets time pass.
  func waitsInVain(in cycle: Cycle, for scheduler: Scheduler) -> Bool {
    guard cycle.mode == .inline, (try? progress(of: cycle, for: scheduler)) != nil else { return false }
    return cycle.owned.map { $0.delay < 0 } ?? false
  }

  /// Waits up to a time for what the owner says, or for all that happens here: the first who waits reads. Called and left with
  /// the lock held.
  func rest(_ span: Span, forAll: Bool, _ scheduler: Scheduler) {
    guard reader == 0 else {
      waiters += 1
      scheduler.slot.monitor.wait(span)
      waiters -= 1
      return
    }
    (reader, readerWantsAll) = (platform_thread_number(), forAll)
    scheduler.unlock()
    link.read(span)
    scheduler.lock()
    reader = 0
    // Another one reads on.
    if waiters > 0 { scheduler.slot.monitor.broadcast() }
  }

  /// A lane waits until the owner has said something since it answered, or the time is over that it said. Called and left with
  /// the lock held.
  ///
  /// - Parameter until: of the host's patience, by the scheduler's clock.
  /// - Returns: what time it is then; nil where waiting is of no use.
  func wait(
    for cycle: Cycle, until: Instant, at now: Instant, for scheduler: Scheduler
  ) throws(SeleneError) -> Instant? {
    guard let owned = cycle.owned, owned.delay >= 0, now < until else { return nil }
    let last = min(until, now.adding(owned.delay))
    var later = now
    while news == owned.seen && later < last && !cycle.isEnded && !cycle.isDone && !scheduler.isLeaving && !isOver {
      if try !scheduler.settleDeliveries() { rest(last.subtracting(later), forAll: false, scheduler) }
      later = scheduler.tick()
    }
    return later
  }

  /// The host of a cycle was told to wait: its descriptor is unreadable until the owner says something, or the time is over
  /// that it said.
  func sleep(_ watch: CycleWatch, of cycle: Cycle, for scheduler: Scheduler, at now: Instant) {
    guard let owned = cycle.owned, owned.seen == news else { return watch.poke() }
    watch.sleep(cycle, until: owned.delay < 0 ? Time.never : now.adding(owned.delay), at: now, scheduler.table)
  }

  /// The same of a lane of the library, which has no patience. Called and left with the lock held.
  func rest(in cycle: Cycle, for scheduler: Scheduler) {
    guard let owned = cycle.owned else { return }
    let until = platform_boot_clock().adding(owned.delay)
    while news == owned.seen && !cycle.isEnded && !cycle.isDone && !scheduler.isLeaving && !isOver {
      let left = until.subtracting(platform_boot_clock())
      guard left > 0 else { return }
      rest(left, forAll: false, scheduler)
    }
  }

  /// Waits until every lane of a cycle has finished, or that is over. Called and left with the lock held.
  ///
  /// The owner says when that is: a handler that works on behind its deadline keeps no report waiting (C5).
  func awaitEnd(of cycle: Cycle, for scheduler: Scheduler) {
    while !cycle.isEnded && cycle.lanes > 0 {
      guard case .wait? = try? progress(of: cycle, for: scheduler), let delay = cycle.owned?.delay else { return }
      let until = platform_boot_clock().adding(max(0, delay))
      while !cycle.isEnded && cycle.lanes > 0 {
        let left = until.subtracting(platform_boot_clock())
        guard left > 0 else { break }
        if scheduler.hasNews { _ = scheduler.callTeller() }
        rest(left, forAll: true, scheduler)
      }
    }
  }

  /// Something has happened here.
  @inline(__always)
  func wake() { if readerWantsAll && reader != 0 { ring() } }

  /// Who reads looks up, unless it is this thread.
  func ring() { if reader != 0 && reader != platform_thread_number() { link.ring() } }

  // MARK: The driver (L7)

  /// - Throws: as `Scheduler.openDriver`, and what the owner refuses.
  func openDriver(_ draft: DriverDraft, hasThread: Bool, for scheduler: Scheduler) throws(SeleneError) -> Driver {
    try scheduler.refuseDrained()
    let made = try Driver.make(draft, .own, hasThread: hasThread, hears: .time)
    try startHearing(scheduler)
    if hasThread { try scheduler.ensureThreads(1) }
    try asking(scheduler) { (turn) throws(SeleneError) in try link.drive(turn, draft, hasThread) }
    driver = made
    pause = Self.shortestPause
    if hasThread {
      // A thread that was free before may have begun something else.
      do throws(SeleneError) { try scheduler.ensureThreads(1) } catch {
        driver = nil
        undrive(scheduler)
        throw error
      }
      scheduler.submit(.drive(made))
    }
    // The thread that opened it looks first.
    made.poke()
    return made
  }

  /// It asks for nothing more, and what it was granted is over.
  func undrive(_ scheduler: Scheduler) {
    guard driver == nil else { return }
    try? asking(scheduler) { (turn) throws(SeleneError) in link.undrive(turn) }
  }

  /// One step: a window that was granted, or when to come again.
  func step(_ driver: Driver, for scheduler: Scheduler, at now: Instant) throws(SeleneError) -> (
    cycle: Cycle?, wakeAt: Instant
  ) {
    _ = driver.awake()
    // A thread that comes back is news.
    guard !driver.hasThread || !scheduler.isAtThreadCap else { return lookLater(driver, at: now) }
    let granted: GivenWindow
    do throws(SeleneError) {
      granted = try asking(scheduler) { (turn) throws(SeleneError) in try link.step(turn) }
    } catch {
      guard driver.hasThread else {
        driver.sleep(until: now.adding(Self.longestPause), at: now, seen: 0)
        throw error
      }
      return lookLater(driver, at: now)
    }
    guard self.driver === driver, !scheduler.isEnding else {
      if granted.cycle != 0 { end(granted.cycle, for: scheduler) }
      return (nil, now)
    }
    guard granted.cycle != 0 else {
      pause = Self.shortestPause
      driver.sleep(until: granted.delay < 0 ? Time.never : now.adding(granted.delay), at: now, seen: 0)
      return (nil, granted.until)
    }
    let cycle = cycle(
      granted.cycle, [], driven: .all, lanes: granted.lanes,
      driver.hasThread ? .pushed : driver.hasLanes ? .lanes : .pulled, isRolling: driver.terms.isRolling,
      for: scheduler, at: now)
    if driver.hasThread {
      guard (try? scheduler.ensureThreads(2)) != nil else {
        _ = endAnyway(cycle, for: scheduler, at: now)
        return lookLater(driver, at: now)
      }
      scheduler.submit(.coordinate(cycle))
      scheduler.startLane(of: cycle)
    } else {
      // There may be more.
      driver.poke()
    }
    pause = Self.shortestPause
    return (cycle, now)
  }

  /// The owner is away, or threads are refused: later again, the longer the more often.
  private func lookLater(_ driver: Driver, at now: Instant) -> (cycle: Cycle?, wakeAt: Instant) {
    driver.sleep(until: now.adding(pause), at: now, seen: 0)
    pause = min(2 * pause, Self.longestPause)
    return (nil, now.adding(pause))
  }

  // MARK: Close

  /// Nothing more begins; what is called here has a grace, in the last part of which the owner asks it to stop.
  func letFinish(within grace: Span, for scheduler: Scheduler) {
    for cycle in scheduler.cycles where grace > 0 { try? drain(cycle, grace: grace, for: scheduler) }
    scheduler.wakeAll()
  }

  /// The connection is about to be closed: what it took waits again, and its cycles are reported.
  func leave(_ scheduler: Scheduler, at now: Instant) {
    if !scheduler.cycles.isEmpty { try? asking(scheduler) { (turn) throws(SeleneError) in link.rest(turn) } }
    var open: [Run] = []
    scheduler.runs.forEach { if $0.isOpen { open.append($0) } }
    for run in open where run.isOpen {
      scheduler.tell(run, .shutdown)
      scheduler.close(run, .stopped, at: now)
      scheduler.comeBackIfDone(run)
    }
    for cycle in scheduler.cycles { _ = endAnyway(cycle, for: scheduler, at: now) }
    isOver = true
    scheduler.wakeAll()
  }
}

extension Scheduler {
  /// Asks the owner of a run that is open, if it has one; whether it has.
  package func asks(
    _ number: UInt64, _ operation: UInt32, _ words: RunWords = RunWords()
  ) throws(SeleneError) -> Bool {
    guard let owner else { return false }
    let run = try runs.find(number)
    guard run.isOpen else { return false }
    try owner.ask(run, operation, words, for: self)
    return true
  }

  /// The owner has said something: of a run, by the connection's number, that it shall stop and why; 0: where there may be
  /// something now, or that it is there again; `.max`: that it has gone. Called with the turn, without the lock.
  package func told(_ number: UInt64, _ word: Int32, isOver: Bool) {
    lock()
    if slot.scheduler === self { owner?.told(number, word, isOver: isOver, for: self) }
    unlock()
  }

  /// Something has happened: who waits looks again.
  @inline(__always)
  func wake() {
    slot.monitor.broadcast()
    owner?.wake()
  }

  /// The same of what also concerns a thread that waits only for an owner's news.
  func wakeAll() {
    slot.monitor.broadcast()
    owner?.ring()
  }
}
