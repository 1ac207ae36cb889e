// What other processes do with a scheduler that is served: offer handlers, take runs, and end (L5, L6, L8, L9).

import CPlatform
import SeleneCore

extension Scheduler {
  /// More pools without a member are not remembered, nor more handlers that none offers.
  private static let mostEmpty = 256
  package static let mostHandlers = 4_096

  // MARK: Coming

  /// Calls a body with the scheduler of a handle and one of its members.
  ///
  /// - Throws: `invalidHandle` once it has left.
  package static func enter<R>(
    _ handle: UInt64, member number: UInt64, probing: Probing = .none, isQuestion: Bool = false,
    _ body: (Scheduler, Member, Moment) throws(SeleneError) -> R
  ) throws(SeleneError) -> R {
    try enter(handle, probing: probing, isQuestion: isQuestion) { (scheduler, moment) throws(SeleneError) in
      guard let member = scheduler.crews.members[number] else {
        throw SeleneError(.invalidHandle, "scheduler", "the connection is not a member of a pool")
      }
      member.askedAt = platform_boot_clock()
      return try body(scheduler, member, moment)
    }
  }

  /// A process joins a pool; its number.
  ///
  /// - Parameter process: as the system numbers it; 0: that is not known.
  /// - Throws: `invalidArgument`.
  package func join(_ name: UnsafeRawBufferPointer, process: Int32) throws(SeleneError) -> UInt64 {
    try Identifier.check(name, "pool")
    let pool: Pool
    if let found = crews.pools.first(where: { $0.name.buffer.equals(name) }) {
      pool = found
    } else {
      if crews.pools.count >= Self.mostEmpty, let empty = crews.pools.firstIndex(where: { $0.members == 0 }) {
        crews.pools.remove(at: empty)
      }
      pool = Pool(
        Bytes(copying: name),
        pace: PerKind(
          refresh: Pace(interval: options.intervals.refresh), processing: Pace(interval: options.intervals.processing)),
        version: crews.newVersion())
      crews.pools.append(pool)
    }
    let member = Member(
      number: crews.newMember(), pool: pool, process: ProcessMark(process), version: crews.newVersion())
    pool.members += 1
    crews.members[member.number] = member
    return member.number
  }

  /// A member offers a handler.
  ///
  /// - Throws: `invalidArgument`, `alreadyExists`, `exhausted`.
  package func offer(_ name: UnsafeRawBufferPointer, isCalled: Bool, by member: Member) throws(SeleneError) {
    try Identifier.check(name, "name")
    var number = table.findHandler(name)
    if let known = number {
      guard let handler = handlers[known], table.isCrewed(handler: known) else {
        throw SeleneError(.alreadyExists, "name", name: name, "belongs to the process that has the store open")
      }
      if let pool = handler.pool, pool !== member.pool {
        throw SeleneError(
          .alreadyExists, "name", name: name, "belongs to the processes of pool \"\(text: pool.name.buffer)\"")
      }
      guard !member.handlers.contains(known) else {
        throw SeleneError(.alreadyExists, "name", name: name, "already has a handler")
      }
    }
    guard member.handlers.count < Self.mostHandlers else {
      throw SeleneError(.exhausted, "name", "a process offers at most \(Self.mostHandlers) handlers")
    }
    if number == nil {
      forgetAbsent()
      let made = try table.addHandler(name, .crewed)
      while handlers.count <= made { handlers.append(nil) }
      handlers[made] = Handler(number: made, run: nil, stop: nil, destroy: nil)
      number = made
    }
    guard let number, let handler = handlers[number] else { return }
    handler.pool = member.pool
    handler.offers += 1
    table.set(handler: number, isAbsent: false)
    member.handlers.append(number)
    let way = isCalled ? HandlerRoster.Way.pushed : .pulled
    member.own.set(number, way, version: crews.newVersion())
    if member.pool.crew.way(number) != .pushed { set(number, way, of: member.pool) }
    arrangeCrews(of: member.pool)
    wake()
  }

  /// A member offers a handler no more; its runs go on.
  ///
  /// - Throws: `invalidArgument`, `notFound`.
  package func withdraw(_ name: UnsafeRawBufferPointer, by member: Member) throws(SeleneError) {
    try Identifier.check(name, "name")
    guard let number = table.findHandler(name), let place = member.handlers.firstIndex(of: number) else {
      throw SeleneError(.notFound, "name", name: name, "is not a registered handler")
    }
    member.handlers.remove(at: place)
    withdraw(number, from: member)
    arrangeCrews(of: member.pool)
  }

  private func withdraw(_ number: Int, from member: Member) {
    guard let handler = handlers[number] else { return }
    member.own.set(number, nil, version: crews.newVersion())
    handler.offers -= 1
    var best: HandlerRoster.Way?
    crews.members.forEach { other in
      guard other.pool === member.pool, let way = other.own.way(number), best != .pushed else { return }
      best = way
    }
    set(number, best, of: member.pool)
    guard handler.offers == 0 else { return }
    // Its tasks stay where they are, where no window has them: who comes back finds them.
    table.set(handler: number, isAbsent: true)
    handler.pool = nil
  }

  /// The processes of a pool together offer a handler so, or not.
  private func set(_ number: Int, _ way: HandlerRoster.Way?, of pool: Pool) {
    if let name = table.handlerName(number) {
      table.waits.set(handler: name.buffer, of: pool.name.buffer, from: pool.crew.way(number), to: way, at: clock.last)
    }
    pool.crew.set(number, way, version: crews.newVersion())
  }

  private func arrangeCrews(of pool: Pool) {
    // One for all that have the same handlers.
    var known = [pool.crew]
    crews.members.forEach { member in
      guard member.pool === pool else { return }
      let same = known.first { member.own.isSame(as: $0) }
      member.crew = same ?? member.own
      if same == nil { known.append(member.own) }
    }
    crews.mustLook = true
  }

  /// Makes room for a handler where many are remembered that none offers.
  private func forgetAbsent() {
    var absent: [Handler] = []
    for case .some(let handler) in handlers where isAbsent(handler) { absent.append(handler) }
    if absent.count >= Self.mostEmpty, let first = absent.first { forget(first) }
  }

  /// Whether other processes offered a handler, and none does now.
  func isAbsent(_ handler: Handler) -> Bool {
    !handler.isRetired && handler.offers == 0 && table.isCrewed(handler: handler.number)
  }

  func forget(_ handler: Handler) {
    table.retireHandler(handler.number)
    if handler.retire() { finish(handler) }
  }

  /// Whether the handler of a record is there.
  package func hasHandler(_ record: borrowing TaskRecord) -> Bool { table.hasHandler(record) }

  /// The pool whose members run a record, or nil: it is this process's own.
  func pool(of record: borrowing TaskRecord) -> Pool? {
    let number = Int(record.handlerNumber)
    return handlers.indices.contains(number) ? handlers[number]?.pool : nil
  }

  // MARK: Cycles

  /// Begins a cycle for a member, or lets it join that of its pool (L6).
  ///
  /// - Parameter isCalled: whether its process calls the handlers.
  /// - Throws: as `begin`.
  package func begin(
    _ window: Window, isCalled: Bool = false, for member: Member, at moment: Moment
  ) throws(SeleneError) -> Cycle {
    guard isCalled || !window.isInline else { throw .inlineIsCalled }
    let open = cycles.first {
      $0.pool === member.pool && $0.kinds == window.kinds && !$0.isForgotten(at: moment.now) && !$0.isEnded
        && !$0.hasLeft
    }
    if window.task == nil, let open, share(of: member, in: open) == nil, !open.isDone, moment.now < open.time.deadline {
      try refuseSwitchedOff(window.kinds)
      member.shares.append(Share(open, lanes: window.lanes, hasLanes: window.hasLanes, isCalled: isCalled))
      return open
    }
    let window = try admit(window, of: member.pool, crew: member.crew, at: moment)
    let cycle = try begin(admitted: window, .member, for: member, isCalled: isCalled, at: moment)
    dropEnded(of: member)
    member.shares.append(Share(cycle, lanes: window.lanes, hasLanes: window.hasLanes, isCalled: isCalled))
    return cycle
  }

  /// Begins a cycle whose handlers the process of a member calls, while it waits or later.
  ///
  /// - Throws: as `start` and `startAsync`.
  package func call(
    _ window: Window, isAsync: Bool, for member: Member, at moment: Moment
  ) throws(SeleneError) -> Cycle {
    guard !isAsync || !window.isInline else { throw .inlineIsBlocking }
    try refuseLanes(window)
    if !window.isInline { try refuseThreadsOfHostClock() }
    return try begin(window, isCalled: true, for: member, at: moment)
  }

  /// Of cycles that have ended a member has the reports that its host waits for, and not many.
  func dropEnded(of member: Member) {
    member.shares.removeAll { $0.cycle.isEnded && !$0.hasLanes }
    let kept = member.shares.filter { $0.cycle.isEnded }
    guard kept.count > Self.mostReported else { return }
    let oldest = kept[0].cycle
    member.shares.removeAll { $0.cycle === oldest }
  }

  func share(of member: Member, in cycle: Cycle) -> Int? {
    member.shares.firstIndex { $0.cycle === cycle }
  }

  /// A cycle that a member is in; also one that time has ended, if its host waits for the report.
  ///
  /// - Throws: `invalidHandle`.
  package func cycle(_ handle: UInt64, of member: Member) throws(SeleneError) -> Cycle {
    guard let share = member.shares.first(where: { $0.cycle.handle == handle }) else { throw .closedHandle }
    guard !share.cycle.isEnded || share.hasLanes else {
      dropEnded(of: member)
      throw .closedHandle
    }
    return share.cycle
  }

  /// The next run of a member; never blocks.
  package func next(_ cycle: Cycle, for member: Member, at moment: Moment) throws(SeleneError) -> Step {
    let step = try nextStep(in: cycle, for: member, at: moment)
    if case .done = step { member.doneStamp = table.stamp }
    if case .wait = step, let place = share(of: member, in: cycle) {
      member.shares[place].seen = CycleView(cycle, table)
    }
    return step
  }

  private func nextStep(in cycle: Cycle, for member: Member, at moment: Moment) throws(SeleneError) -> Step {
    guard let place = share(of: member, in: cycle) else { throw .closedHandle }
    guard !cycle.isEnded else {
      // An outcome that came with this is durable as one that came before another run.
      try save(at: moment.now)
      return .done
    }
    (member.shares[place].calledAt, member.shares[place].tookAt) = (nil, nil)
    let open = member.openCount(of: cycle)
    guard member.shares[place].ending == nil else {
      try save(at: moment.now)
      return open > 0 ? .wait(until: nextExpiry(of: cycle, after: moment.now)) : .done
    }
    guard open + carried(by: member, beside: cycle) < member.shares[place].lanes else {
      try save(at: moment.now)
      return .wait(until: nextExpiry(of: cycle, after: moment.now))
    }
    let callsThere = cycle.callsThere
    (cycle.crew, cycle.callsThere, cycle.member) = (member.crew, member.shares[place].isCalled, member)
    defer { (cycle.crew, cycle.callsThere, cycle.member) = (member.pool.crew, callsThere, nil) }
    let step = try advance(cycle, at: moment.now)
    if case .run(let run) = step {
      if member.runs.count > Self.mostHandlers { sweepRuns(of: member) }
      member.runs[Token(rawValue: run.token).number] = run
      member.shares[place].tookAt = platform_boot_clock()
      return step
    }
    if case .wait(let until) = step, until > moment.now { foundNothing(member, in: member.shares[place]) }
    if case .wait = step, open == 0, !cycle.isRolling, !cycle.isHeldBack,
      awaitsGroup(cycle, at: moment.now) == nil
    {
      // What others of the pool run is theirs.
      return .done
    }
    return step
  }

  /// The runs of a member in windows of its driver that pick no more, which take from its lanes in this one (V1).
  private func carried(by member: Member, beside cycle: Cycle) -> Int {
    cycle.isOpenEnded && cycles.count > 1 ? carried(cycle.driven, by: member) : 0
  }

  /// How many runs of some kinds are in flight in windows of a driver that pick no more: of a member, or of this process.
  func carried(_ kinds: KindSet, by member: Member?) -> Int {
    guard let member else { return carried(kinds, of: nil) }
    var count = 0
    member.runs.forEach { run in
      if run.isOpen, let cycle = run.cycle, cycle.hasLeft, !cycle.driven.isDisjoint(with: kinds) { count += 1 }
    }
    return count
  }

  /// Takes back a run of a member with its outcome, if it is given one, and gives it the next (C20). An outcome that comes too
  /// late, or second, changes nothing.
  ///
  /// - Parameter last: the number of that run, or 0.
  /// - Throws: a status of stores; then nothing was dispatched.
  package func take(
    _ cycle: Cycle, for member: Member, after last: UInt64, _ outcome: Outcome?, at moment: Moment
  ) throws(SeleneError) -> Step {
    if let outcome, let run = member.runs[last] {
      run.wasGivenOutcome = true
      if run.isOpen { give(run, outcome, retryDelay: nil, at: moment.now) }
      comeBackIfDone(run)
      forget(last, of: member)
    }
    let step = try next(cycle, for: member, at: moment)
    guard let place = share(of: member, in: cycle) else { return step }
    if case .done = step { member.shares[place].isDone = true }
    return step
  }

  /// Whether nothing of a cycle is left for a member, or when to look again.
  package func progress(of cycle: Cycle, for member: Member, at moment: Moment) throws(SeleneError) -> Step {
    guard let place = share(of: member, in: cycle) else { throw .closedHandle }
    member.shares[place].calledAt = nil
    guard !cycle.isEnded, moment.now <= cycle.time.deadline else { return .done }
    if (member.shares[place].isDone || cycle.isDone) && member.openRuns(of: cycle).isEmpty { return .done }
    member.shares[place].seen = CycleView(cycle, table)
    return .wait(until: nextExpiry(of: cycle, after: moment.now))
  }

  /// How long until an instant; −1 where waiting is of no use, since only the host's clock lets time pass.
  package func delay(until: Instant, at moment: Moment) -> Span {
    clock.host == nil ? max(0, until.subtracting(moment.now)) : clock.isTold ? Time.hour : -1
  }

  private func sweepRuns(of member: Member) {
    var gone: [UInt64] = []
    member.runs.forEach { if $0.isBack { gone.append(Token(rawValue: $0.token).number) } }
    for number in gone { member.runs.remove(number) }
  }

  /// A member leaves a cycle, which ends with the last of them.
  ///
  /// - Throws: a status of stores; then it is still in it.
  package func end(_ cycle: Cycle, for member: Member, at moment: Moment) throws(SeleneError) -> Report {
    if let report = cycle.report {
      member.shares.removeAll { $0.cycle === cycle }
      return report
    }
    let isShared = isShared(cycle, by: member)
    let report: Report
    if isShared {
      try endRuns(member.openRuns(of: cycle), of: cycle, at: moment.now)
      try save(at: moment.now)
      report = Report(cycle, didNotFit: 0, isStored: cycle.failure == nil, at: moment.now)
    } else {
      report = try end(cycle, at: moment)
    }
    member.shares.removeAll { $0.cycle === cycle }
    return report
  }

  /// Starts nothing more for a member in a cycle; its runs have a grace. What others run there goes on.
  ///
  /// - Throws: as `drain`.
  package func drain(_ cycle: Cycle, for member: Member, grace: Span, at moment: Moment) throws(SeleneError) {
    guard !cycle.isEnded, isShared(cycle, by: member), let place = share(of: member, in: cycle) else {
      return try drain(cycle, grace: grace, at: moment)
    }
    try units.check(grace: grace)
    if grace == 0 { try endRuns(member.openRuns(of: cycle), of: cycle, at: moment.now) }
    let over = min(cycle.time.deadline, moment.now.adding(grace))
    let old = member.shares[place].ending
    let asksAt = over.subtracting(Self.lastPart(of: grace))
    member.shares[place].ending = (min(asksAt, old?.asksAt ?? .max), min(over, old?.at ?? .max))
    member.shares[place].isDone = true
    crews.endsAt = min(crews.endsAt, max(asksAt, moment.now))
    nextDue = min(nextDue, crews.endsAt)
    member.call(to: .windows)
    wake()
  }

  /// Members end their parts of cycles: their runs are asked to stop, or their grace is over.
  func endShares(at now: Instant) {
    var next = Time.never
    crews.members.forEach { member in
      for share in member.shares where !share.cycle.isEnded {
        guard let ending = share.ending else { continue }
        let open = member.openRuns(of: share.cycle)
        guard !open.isEmpty else { continue }
        if ending.at < now {
          for run in open { stop(run, .shutdown, at: now) }
        } else if ending.asksAt <= now {
          for run in open where run.stopReason == .none { ask(run, .shutdown, at: now) }
          next = min(next, ending.at.adding(1))
        } else {
          next = min(next, ending.asksAt)
        }
      }
    }
    crews.endsAt = next
  }

  private func isShared(_ cycle: Cycle, by member: Member) -> Bool {
    var isShared = false
    crews.members.forEach { other in
      if other !== member, other.shares.contains(where: { $0.cycle === cycle }) { isShared = true }
    }
    return isShared
  }

  // MARK: Runs

  /// The number of a run that a member took.
  ///
  /// - Throws: `staleRun` (of an earlier life), `invalidHandle` (of others).
  package func number(_ run: UInt64, of member: Member) throws(SeleneError) -> UInt64 {
    let token = Token(rawValue: run)
    guard !token.isHandle, token.number != 0, token.isIssued(upTo: lifeNumber) else {
      throw SeleneError(.invalidHandle, "run", "unknown run token")
    }
    guard token.life == life else { throw .earlierLife }
    guard member.runs[token.number] != nil || runs[token.number] == nil else {
      throw .ofAnother
    }
    return token.number
  }

  /// A member has said how a run ended.
  package func forget(_ number: UInt64, of member: Member) {
    if runs[number] == nil { member.runs.remove(number) }
  }

  // MARK: Wake-ups

  package func nextWakeup(for member: Member, at moment: Moment) -> Instant? {
    nextWakeup(of: member.pool, crew: member.crew, at: moment)
  }

  package func plan(_ window: Window, for member: Member, at moment: Moment) throws(SeleneError) -> Plan {
    try plan(window, of: member.pool, crew: member.crew, at: moment)
  }

  // MARK: Leaving

  /// A member is about to leave: what it has taken waits again, as before the run.
  package func rest(_ member: Member, at moment: Moment) {
    for run in member.openRuns() {
      run.wasGivenOutcome = true
      stop(run, .shutdown, at: moment.now)
    }
    wake()
  }

  /// A member leaves: what it ran waits again, as before the run if it said so, else as after a failure (L9).
  package func leave(_ member: Member, _ how: Leaving, at moment: Moment) {
    let open = member.openRuns()
    for run in open { run.wasGivenOutcome = true }
    if how == .orderly {
      for run in open { stop(run, .shutdown, at: moment.now) }
    } else if !open.isEmpty {
      interrupt(open, how, at: moment.now)
    }
    member.runs.forEach {
      guard !$0.isBack else { return }
      $0.wasGivenOutcome = true
      comeBackIfDone($0)
    }
    member.runs.removeAll()
    let shares = member.shares
    member.shares = []
    closeDriver(of: member)
    for number in member.handlers { withdraw(number, from: member) }
    member.handlers = []
    crews.members.remove(member.number)
    member.pool.members -= 1
    arrangeCrews(of: member.pool)
    for share in shares where !share.cycle.isEnded && !isShared(share.cycle, by: member) {
      _ = end(share.cycle, at: moment.now)
    }
    // What the store refuses now it is asked for again.
    try? save(at: moment.now)
    wake()
  }

  /// The process of these runs has ended (L9, V7).
  private func interrupt(_ all: [Run], _ how: Leaving, at now: Instant) {
    awaitStore()
    let open = all.filter { $0.isOpen }
    let message = how == .broken ? LastFailure.processBroke : LastFailure.processEnded
    let slots = open.filter { table.isRunning($0.token, in: $0.slot) }.map { $0.slot }
    var changes = newChanges()
    if node == nil {
      table.processEnded(with: slots, isAlone: open.count == 1, at: now, because: message, &changes)
    } else {
      for slot in slots { table.lose(slot, at: now, because: message, &changes) }
    }
    accept()
    for run in open {
      if let node { noteInterrupted(run, because: message, for: node, at: now) }
      run.stopReason = .interrupted
      run.wasAskedToStop = true
      close(run, .stopped, at: now)
    }
    publish(changes, at: now)
    for run in open { comeBackIfDone(run) }
    if hasSuspects { reviewSuspects() }
  }
}
