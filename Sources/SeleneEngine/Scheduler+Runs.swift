// Runs: dispatch, outcome, stop, and coming back (C4, C6, C8).

import SeleneCore
import SeleneGovernor

extension Scheduler {
  /// Dispatches a pick; nil if the cycle has ended before that was stored.
  ///
  /// - Throws: what the store refuses; then nothing is dispatched.
  @_optimize(speed)
  func dispatch(_ pick: Pick, in cycle: Cycle, at now: Instant) throws(SeleneError) -> Run? {
    let handlerNumber = table.withRecord(pick.slot) { Int($0.pointee.handler) }
    guard handlers.indices.contains(handlerNumber),
      let handler = handlers[handlerNumber].map({ Unmanaged.passUnretained($0) })
    else { throw SeleneError(.inconsistent, "a task that was picked has no handler") }
    let token = Token(life: life, number: runs.last + 1).rawValue
    let pace = table.policy.freshness ? table[pick.slot].turn : nil
    // While this waits for the store another member may take a run of its cycle.
    let process = cycle.member?.process
    try transaction(at: now) { dispatch(pick.slot, as: token, to: process, in: cycle, at: now) }
    guard !cycle.isEnded else {
      forgetStored(token, if: process != nil)
      if table.expedited.hasOpen {
        table.expedited.drop(token)
        governance.isUnsaved = true
        noteQuota(at: now)
      }
      table.requeue(pick.slot, .expiring, at: now)
      accept()
      return nil
    }
    table.take(pick.slot)
    spend(pick.slot, in: cycle)
    let run = Run(
      token: token, of: pick.slot, score: pick.score, in: table, handler: handler,
      cycle: cycle, stopGrace: options.stopGrace, at: now)
    runs.add(run)
    if process != nil && store.isDurable { run.isStored = true }
    if cycle.waitNumber != .max {
      table.noteDispatch(pick.slot, of: cycle.waitNumber, isFirst: cycle.dispatched == 0, at: now)
    }
    cycle.add(run, pace)
    publish(started(run, pace), at: now)
    nextDue = min(nextDue, cycle.hasExpired ? cycle.time.deadline.adding(1) : cycle.time.expiresAt)
    // In the reserve there is nothing to ask any more: the run can read it.
    if cycle.hasExpired { run.stopReason = .expiring }
    if hasSuspects { noteSuspect(run) }
    if table.expedited.hasOpen { noteQuota(at: now) }
    if run.definition.hasLimits { watchLimits(of: run) }
    if let node { noteDispatched(run, for: node) }
    return run
  }

  /// A standing task runs at most once in a rolling window, also where it runs in another one now (R1, C14).
  private func spend(_ slot: Int, in cycle: Cycle) {
    // Beside a cycle that occupies its kinds no other has them open (C12).
    guard cycle.isRolling || cycle.isOfOneTask else { return }
    let (sequence, kind, schedule) = table.withRecord(slot) {
      ($0.pointee.sequence, $0.pointee.kind, $0.pointee.definition.schedule)
    }
    guard schedule == .standing,
      let rolling = cycle.isRolling
        ? cycle
        : cycles.first(where: {
          $0.isRolling && $0.pool === cycle.pool && $0.occupied.contains(kind)
        })
    else { return }
    table.spend(slot)
    rolling.spent.append((slot, sequence))
  }

  func started(_ run: Run, _ pace: PaceTerms?) -> Change {
    let change = Change(.started, table[run.slot], run: run.token)
    change.cycle = run.cycleHandle
    change.timeAt = run.deadline
    change.pace = pace
    return change
  }

  // MARK: Outcomes

  /// Gives a run its outcome.
  ///
  /// - Parameters:
  ///   - retryDelay: a failure's own delay, or nil.
  ///   - next: when its task is due again (W7), or nil.
  ///   - message: why it failed, or nil.
  /// - Throws: `invalidArgument`, `invalidHandle`, `alreadyCompleted`, `staleRun`.
  @_optimize(speed)
  package func complete(
    _ number: UInt64, _ outcome: Int32, retryDelay: Span?, until next: Instant? = nil, because message: Bytes? = nil,
    by member: Member? = nil, at moment: Moment
  ) throws(SeleneError) {
    guard let outcome = Outcome(rawValue: outcome), outcome.mayBeGiven else {
      throw .outcome(outcome)
    }
    if owner == nil {
      if let retryDelay { try units.check("delay", retryDelay, 0, Time.tenYears) }
      if let next { try checkNext(next, at: moment.now) }
    }
    runs.takeBackLent(number)
    if let owner, runs[number] == nil { owner.tellAgain(self) }
    let run = try runs.find(number)
    guard run.mode != .member || member != nil else { throw .ofAnother }
    if let owner, owner.hears(of: run) {
      let said = Completion(outcome: outcome, retryDelay: retryDelay, next: next, message: message)
      return try owner.complete(run, said, for: self, at: moment.now)
    }
    run.wasGivenOutcome = true
    guard run.isOpen else {
      comeBackIfDone(run)
      throw run.isStale ? .stale(run.stopReason) : .completedBefore
    }
    give(run, outcome, retryDelay: retryDelay, until: next, because: message, at: moment.now)
    comeBackIfDone(run)
  }

  /// Decides an open run by what its host says of it; a run that was asked to stop may have been stopped by that (V4, V6).
  func give(
    _ run: Run, _ outcome: Outcome, retryDelay: Span?, until next: Instant? = nil, because message: Bytes? = nil,
    at now: Instant
  ) {
    switch run.meaning(of: outcome) {
    case .stopped:
      decide(run, .stopped, retryDelay: nil, at: now)
      publish(stopped(run), at: now)
    case .failed:
      let why = message ?? (outcome == .stopped && run.stopReason == .none ? LastFailure.notAsked : run.whyFailed)
      decide(run, .failed, retryDelay: retryDelay, until: next, because: why, at: now)
    case let other: decide(run, other, retryDelay: retryDelay, until: next, because: message, at: now)
    }
  }

  /// What an open run leaves if it succeeds, in place of what it said before (W5).
  ///
  /// - Throws: `tooLarge`, which the task tells if the run succeeds (V11), `invalidHandle`, `alreadyCompleted`, `staleRun`.
  package func setOutput(
    _ number: UInt64, _ output: UnsafeRawBufferPointer, by member: Member? = nil
  ) throws(SeleneError) {
    let run = try runs.find(number)
    guard run.mode != .member || member != nil else { throw .ofAnother }
    guard run.isOpen else { throw run.isStale ? .stale(run.stopReason) : .completedBefore }
    guard output.count <= options.policy.maxOutput else {
      outputs[number] = RunOutput(lost: UInt64(output.count))
      throw outputTooLarge(UInt64(output.count))
    }
    outputs[number] = output.count > 0 ? RunOutput(Bytes(copying: output)) : nil
  }

  func outputTooLarge(_ count: UInt64) -> SeleneError {
    SeleneError.range("output", Int64(clamping: count), 0, Int64(clamping: options.policy.maxOutput), .bytes)
      .code(.tooLarge)
  }

  /// Gives a run the outcome of a failure, and says why.
  ///
  /// - Throws: as `complete`.
  package func fail(
    _ number: UInt64, _ outcome: Int32, retryDelay: Span?, because message: Bytes?, by member: Member? = nil,
    at moment: Moment
  ) throws(SeleneError) {
    guard outcome == Outcome.failed.rawValue || outcome == Outcome.abandoned.rawValue else {
      throw .range("outcome", outcome, 2, 3, .number, "2 (failed) or 3 (abandoned)")
    }
    try complete(number, outcome, retryDelay: retryDelay, because: message, by: member, at: moment)
  }

  /// Whether a run should stop, and how long it has until then.
  ///
  /// - Throws: `invalidHandle`, `alreadyCompleted`, `staleRun` once it has come back.
  package func stopping(_ number: UInt64, at moment: Moment) throws(SeleneError) -> (
    reason: StopReason, remaining: Span
  ) {
    let run = try runs.find(number)
    let until = min(run.expiresAt, stallsAt(run))
    let remaining = !run.isOpen ? 0 : until == Time.never ? Time.never : max(0, until.subtracting(moment.now))
    return (run.stopReason, run.stopReason == .none ? remaining : 0)
  }

  /// Sets what the host has for a run that has not come back; nil: nothing.
  ///
  /// - Throws: as `stopping`.
  package func setUser(_ number: UInt64, _ user: UnsafeMutableRawPointer?) throws(SeleneError) {
    _ = try runs.find(number)
    users[number] = user
  }

  /// What the host has set for a run that has not come back, or nil.
  ///
  /// - Throws: as `stopping`.
  package func user(_ number: UInt64) throws(SeleneError) -> UnsafeMutableRawPointer? {
    _ = try runs.find(number)
    return users.isEmpty ? nil : users[number]
  }

  /// A run that has not come back.
  ///
  /// - Throws: as `stopping`.
  package func run(_ number: UInt64) throws(SeleneError) -> Run { try runs.find(number) }

  /// Decides an open run by an outcome and lets its record take the consequences; stored with the next save (D2).
  func decide(
    _ run: Run, _ outcome: Outcome, retryDelay: Span?, until next: Instant? = nil, because message: Bytes? = nil,
    at now: Instant
  ) {
    guard !saver.isAtWork else {
      owe(.outcome(run, outcome, retryDelay: retryDelay, until: next, because: message, at: now))
      return close(run, outcome, at: now)
    }
    var changes = newChanges()
    settle(run, outcome, retryDelay: retryDelay, until: next, because: message, at: now, &changes)
    accept()
    close(run, outcome, at: now)
    publish(changes, at: now)
  }

  /// The same for the record of a run that was decided while the store was at work.
  func settle(
    _ run: Run, _ outcome: Outcome, retryDelay: Span?, until next: Instant?, because message: Bytes?, at now: Instant
  ) {
    var changes = newChanges()
    settle(run, outcome, retryDelay: retryDelay, until: next, because: message, at: now, &changes)
    accept()
    publish(changes, at: now)
  }

  /// The consequences of an outcome for the record, if it is still this run's.
  private func settle(
    _ run: Run, _ outcome: Outcome, retryDelay: Span?, until next: Instant?, because message: Bytes?, at now: Instant,
    _ changes: inout Changes
  ) {
    guard table.isRunning(run.token, in: run.slot) else { return }
    guard outcome != .stopped else {
      return table.requeue(run.slot, run.stopReason, wasCut: run.stopReason == .expiring, at: now)
    }
    if let node { noteOutcome(of: run, outcome, retryDelay: retryDelay, because: message, for: node, at: now) }
    let output = outputs.isEmpty ? nil : outputs[Token(rawValue: run.token).number]
    table.complete(
      run.slot, outcome, at: now, responseTime: max(0, now.subtracting(run.startedAt)),
      retryDelay: outcome == .failed ? retryDelay : nil, until: next, because: message, leaving: output ?? RunOutput(),
      asked: run.stopReason, ran: run.definition, &changes)
  }

  @_optimize(speed)
  func close(_ run: Run, _ outcome: Outcome, at now: Instant) {
    if !progress.isEmpty { endProgress(of: run, at: now) }
    if table.expedited.hasOpen && table.expedited.end(run.token, at: now) {
      governance.isUnsaved = true
      noteQuota(at: now)
    }
    run.outcome = outcome
    run.endedAt = now
    wakeSleepers()
    if run.mode == .member {
      if !outcome.isGiven { tellMember(of: run, isOver: true) }
      leaveStored(run)
    }
    record {
      $0.run(
        run.definition.kind, started: run.startedAt, outcome, run.stopReason, id: run.definition.id, at: now)
    }
    run.leaveLane()
    if run.cycle?.hasLeft == true { lookAgain() }
    // A library thread is waited for where the run was only stopped, not where it had its grace (C4, R3).
    if outcome == .expired || (run.mode == .lanes && !outcome.isGiven) { leaveBehind(run) }
    nextDue = min(nextDue, now.adding(options.releaseAfter))
    if let node { noteClosed(run, outcome, for: node, at: now) }
    if hasSuspects { reviewSuspects() }
    wake()
  }

  /// The deadline, or the grace of its timeout, has passed: an open run is over, counted as failed (C7, R3), unless the host
  /// had asked for the end (V4).
  func expire(_ run: Run, at deadline: Instant) {
    guard run.stopReason != .shutdown, run.cycle?.isEndedByHost != true else {
      return stop(run, .shutdown, at: deadline)
    }
    if !run.wasAskedToStop { stop(run, .expiring, at: deadline) }
    decide(run, .expired, retryDelay: nil, because: run.whyExpired, at: deadline)
    comeBackIfDone(run)
  }

  /// Runs are over before their time: first what the store may refuse, then what cannot be undone.
  ///
  /// - Throws: a status of stores; then the runs are still open.
  func expire(_ runs: [Run], early over: Instant, at now: Instant) throws(SeleneError) {
    let settled = try transaction(at: now) {
      runs.map { run in
        var changes = newChanges()
        settle(run, .expired, retryDelay: nil, until: nil, because: run.whyExpired, at: over, &changes)
        return (run, changes)
      }
    }
    for (run, changes) in settled {
      // Decided while the store was at work.
      guard run.isOpen else { continue }
      if !run.wasAskedToStop { stop(run, .expiring, at: over) }
      close(run, .expired, at: over)
      publish(changes, at: over)
      comeBackIfDone(run)
    }
  }

  // MARK: Stops

  /// Ends runs by a stop at the host's word: first what the store may refuse, then what cannot be undone.
  ///
  /// - Throws: a status of stores; then the runs go on.
  func stop(_ runs: [Run], _ reason: StopReason, at now: Instant) throws(SeleneError) {
    try transaction(at: now) { requeue(runs, reason, at: now) }
    for run in runs { stop(run, reason, at: now) }
  }

  /// The tasks of runs that are about to be stopped wait again.
  func requeue(_ runs: [Run], _ reason: StopReason, at now: Instant) {
    for run in runs where table.isRunning(run.token, in: run.slot) { table.requeue(run.slot, reason, at: now) }
  }

  /// Asks a run to stop; unless that is a request, it is over with that (C8).
  func stop(_ run: Run, _ reason: StopReason, at now: Instant) {
    guard run.isOpen else { return }
    guard !reason.isRequest else { return ask(run, reason, at: now) }
    tell(run, reason)
    if saver.isAtWork {
      owe(.outcome(run, .stopped, retryDelay: nil, until: nil, because: nil, at: now))
    } else if table.isRunning(run.token, in: run.slot) {
      table.requeue(run.slot, reason, at: now)
      accept()
    }
    close(run, .stopped, at: now)
    publish(stopped(run), at: now)
    comeBackIfDone(run)
  }

  /// Asks an open run to stop, which may still complete.
  func ask(_ run: Run, _ reason: StopReason, at now: Instant) {
    tell(run, reason)
    if run.mode == .member { tellMember(of: run, isOver: false) }
    publish(stopped(run), at: now)
  }

  /// Its stop function is called once, with the first reason.
  func tell(_ run: Run, _ reason: StopReason) {
    if reason.replaces(run.stopReason) { run.stopReason = reason }
    wakeSleepers()
    guard !run.wasAskedToStop else { return }
    run.wasAskedToStop = true
    guard run.handler.stop != nil else { return }
    run.handler.beginUse()
    outbox.add(.stop(run, run.stopReason))
  }

  private func stopped(_ run: Run) -> Change {
    let change = Change(.stopped)
    change.definition = run.definition
    if let slot = table.find(run.definition.id) {
      // One that is only asked runs until it is closed, also where what follows from its end is in the record already.
      (change.state, change.pace) = (run.isOpen ? .running : table[slot].state, table[slot].turn)
    }
    change.attempts = run.attempt
    change.run = run.token
    change.cycle = run.cycleHandle
    change.detail = run.stopReason.rawValue
    return change
  }

  // MARK: Coming back (C4)

  /// Frees the id of a run that is decided and has come back.
  ///
  /// A pushed run comes back when its outcome was given and its handler returned, a pulled one when its outcome was given.
  func comeBackIfDone(_ run: Run) {
    guard !run.isOpen, !run.isBack, run.wasGivenOutcome, !run.isInHandler else { return }
    guard !saver.isAtWork else { return owe(.comeBack(run)) }
    comeBack(run)
  }

  /// Frees the id of a run, or lets it go.
  @_optimize(speed)
  func comeBack(_ run: Run) {
    run.isBack = true
    runs.remove(run)
    if let node { noteBack(run, for: node) }
    if !outputs.isEmpty { outputs.remove(Token(rawValue: run.token).number) }
    if !users.isEmpty { users.remove(Token(rawValue: run.token).number) }
    if let owner { owner.forget(run) } else { table.release(run.definition, run.slot) }
    if hasSuspects { forgetSuspect(run) }
    if run.endUse() { finish(run.handler) }
    // The thread that is here may go on with another handler before it leaves.
    letDriversLook()
    governance.driver?.follow(table.stamp)
    if run.mode != .member && crews.hasListeners { callMembers() }
    wake()
  }
}

extension SeleneError {
  /// An outcome that a host cannot give.
  package static func outcome(_ number: Int32) -> SeleneError {
    .range(
      "outcome", number, 0, 5, .number,
      "0 (new data), 1 (no data), 2 (failed), 3 (abandoned), or 5 (stopped) after it was asked to stop")
  }

  static var completedBefore: SeleneError {
    SeleneError(.alreadyCompleted, "run", "already completed; the first outcome stands")
  }

  static var ofAnother: SeleneError {
    SeleneError(.invalidHandle, "run", "another process took it; only that one says how it ends")
  }

  static func stale(_ reason: StopReason) -> SeleneError {
    SeleneError(
      .staleRun,
      "run", reason == .expiring ? "over, its window has ended" : "over, it was stopped or has expired")
  }
}
