// Cycles, runs and time as the design's words have it (C1 to C14).

import SeleneCore

@testable import SeleneEngine

extension Model {
  // MARK: Begin

  /// A begin that is not refused ends first what was forgotten of its kinds (C5).
  private func endForgotten(_ kinds: KindSet) {
    for cycle in cycles where now > cycle.deadline && !cycle.serves.isDisjoint(with: kinds) {
      end(cycle.handle).map(renew)
    }
  }

  /// Whether a window of these kinds may begin; the order of refusals is the design's.
  func refuse(_ kinds: KindSet) throws {
    guard kinds.isSubset(of: enabled) else { throw Refused(.unavailable) }
    guard cycles.allSatisfy({ $0.kinds.isDisjoint(with: kinds) || now > $0.deadline }) else { throw Refused(.busy) }
    for kind in Kind.allCases where kinds.contains(kind) {
      if isEarly(kind) && !hasExpedited(kind) { throw Refused(.tooSoon) }
    }
  }

  private func isEarly(_ kind: Kind) -> Bool { lastBegin[kind].map { $0 + intervals[kind] > now } ?? false }

  /// Those of some tasks that a window takes of its kinds.
  private func taken(_ candidates: Ranked, alone: KindSet) -> Ranked {
    candidates.filter { candidate in
      guard let sight = records[candidate.sequence], alone.contains(sight.kind) else { return true }
      return sight.definition.isExpedited && hasQuota
    }
  }

  func begin(_ handle: UInt64, _ window: WindowDraft, task: String?) {
    let serves = task.flatMap { self[$0] }.map { KindSet($0.definition.kind) } ?? KindSet(rawValue: window.kinds)
    endForgotten(serves)
    _ = prune(endedBy: now - Time.day)
    let reserve = window.reserve == -1 ? window.budget / 20 : window.reserve
    let kinds = KindSet(rawValue: window.kinds)
    var candidates = task == nil ? rankedAlike(kinds) : []
    if let task, let sight = self[task] { candidates = ranked([sight]) }
    var alone: KindSet = []
    if task == nil {
      for kind in Kind.allCases where kinds.contains(kind) && isEarly(kind) { alone.formUnion(KindSet(kind)) }
    }
    let urgent = candidates.map(\.sequence).filter { records[$0]?.isUrgent(at: now) == true }
    candidates.removeAll { candidate in
      guard let sight = records[candidate.sequence] else { return true }
      return alone.contains(sight.kind) && !sight.definition.isExpedited
    }
    let eligible = taken(candidates, alone: alone).count
    cycles.append(
      ModelCycle(
        handle: handle, kinds: task == nil ? kinds : [], serves: serves, lanes: Int(window.lanes), begin: now,
        expiresAt: now + window.budget - reserve, deadline: now + window.budget, strictFit: window.strictFit,
        isRolling: window.isRolling && task == nil, isOfOneTask: task != nil, candidates: candidates,
        eligible: eligible, alone: alone, urgent: Set(urgent)))
    guard task == nil else { return }
    for kind in Kind.allCases where kinds.contains(kind) && !alone.contains(kind) { lastBegin[kind] = now }
  }

  /// Whether a window of this one task may begin (C14).
  func refuseNow(_ id: String) throws {
    guard let sight = self[id] else { throw Refused(.notFound) }
    guard isRunnable(sight, kinds: enabled) else { throw Refused(.immediateRunIneligible) }
  }

  // MARK: Next

  enum Step: Equatable {
    case run(UInt64)
    case wait(until: Instant)
    case done
  }

  /// What the next step must be; for a run the number of its record.
  func next(_ handle: UInt64) -> Step {
    guard let cycle = cycles.first(where: { $0.handle == handle }) else { return .done }
    let open = cycle.runs.filter { runs[$0]?.isOpen == true }.count
    let expiry = min(now < cycle.expiresAt ? cycle.expiresAt : cycle.deadline + 1, nextTimeout(cycle))
    let wait = Step.wait(until: cycle.isRolling ? min(expiry, nextDue(cycle)) : expiry)
    if open >= cycle.lanes { return wait }
    let atWork = runs.values.filter(\.isOpen)
    let (pick, isHeldBack) = pick(cycle, beside: Set(atWork.map { suspicionOfRuns[$0.token] ?? 0 }))
    if let pick { return .run(pick) }
    if open > 0 { return wait }
    var awaited = awaited(cycle)
    if awaited.isEmpty && isHeldBack {
      awaited = atWork.map { min(now < $0.expiresAt ? $0.expiresAt : $0.deadline + 1, nextTimeout($0)) }
    }
    guard !awaited.isEmpty, case .wait(let until) = wait else { return .done }
    return .wait(until: awaited.reduce(until) { min($0, $1) })
  }

  /// When time may end the runs for which a task of a cycle waits that fits: those of its group, which is full (W3).
  private func awaited(_ cycle: ModelCycle) -> [Instant] {
    let kinds = cycle.isOfOneTask ? enabled : cycle.kinds.intersection(enabled)
    let groups = candidates(cycle).compactMap { records[$0.sequence] }
      .filter { isEligible($0, kinds: kinds) && fits($0, in: cycle) }.compactMap(\.definition.groupName)
      .filter { isFull($0) && self.groups[$0]?.isPaused != true }
    return runs.values.filter { $0.isOpen && groups.contains($0.definition.groupName ?? "") }
      .map { min(now < $0.expiresAt ? $0.expiresAt : $0.deadline + 1, nextTimeout($0)) }
  }

  /// When time asks a run of a cycle to stop, or ends it, by its own timeout (R3).
  private func nextTimeout(_ cycle: ModelCycle) -> Instant {
    cycle.runs.compactMap { runs[$0] }.filter(\.isOpen).map(nextTimeout).min() ?? Time.never
  }

  private func nextTimeout(_ run: ModelRun) -> Instant {
    if run.timesOutAt == Time.never { return Time.never }
    return run.reason == .timedOut ? run.isOverAt + 1 : run.timesOutAt
  }

  /// When the next task of a cycle becomes eligible by time alone (R1).
  private func nextDue(_ cycle: ModelCycle) -> Instant {
    let kinds = cycle.kinds.intersection(enabled)
    return records.values
      .filter { $0.earliestBegin > now && isRunnable($0, kinds: kinds) && !spent.contains($0.sequence) }
      .map(\.earliestBegin).min() ?? Time.never
  }

  /// Who may be picked now, best first.
  func candidates(_ cycle: ModelCycle) -> [(sequence: UInt64, score: Fraction)] {
    if cycle.isRolling { return taken(ranked(cycle.kinds.intersection(enabled), of: cycle), alone: cycle.alone) }
    guard !cycle.isOfOneTask else { return cycle.candidates }
    return taken(inFront(cycle.candidates, isUrgent: cycle.urgent.contains), alone: cycle.alone)
  }

  /// Whose turn it is, and whether somebody's is who waits for what runs: what is to blame runs alone, and of what is
  /// quarantined one at a time (V7).
  private func pick(_ cycle: ModelCycle, beside running: Set<Int>) -> (sequence: UInt64?, isHeldBack: Bool) {
    let kinds = cycle.isOfOneTask ? enabled : cycle.kinds.intersection(enabled)
    var isHeldBack = false
    for candidate in candidates(cycle) {
      guard let sight = records[candidate.sequence], isRunnable(sight, kinds: kinds), fits(sight, in: cycle)
      else {
        continue
      }
      let suspicion = suspicion[candidate.sequence] ?? 0
      if clearing(isFor: candidate.sequence) || running.contains(2) { return (nil, true) }
      if suspicion == 2 && !running.isEmpty {
        if let clears, now >= clears.since + 30 * Time.second, now < clears.since + 330 * Time.second {
          isHeldBack = true
          continue
        }
        if clears.map({ now >= $0.since + 330 * Time.second }) ?? true {
          clears = (cycle.handle, candidate.sequence, now)
        }
        return (nil, true)
      }
      if suspicion == 1 && running.contains(1) {
        isHeldBack = true
        continue
      }
      if suspicion == 2 { clears = nil }
      return (candidate.sequence, false)
    }
    return (nil, isHeldBack)
  }

  /// Whether nothing but another task may begin, which waits until it can run alone (V7).
  private func clearing(isFor sequence: UInt64) -> Bool {
    guard let clears else { return false }
    guard let cycle = cycles.first(where: { $0.handle == clears.cycle }), let sight = records[clears.sequence],
      suspicion[clears.sequence] == 2,
      isRunnable(sight, kinds: cycle.isOfOneTask ? enabled : cycle.kinds.intersection(enabled)),
      candidates(cycle).contains(where: { $0.sequence == clears.sequence }), fits(sight, in: cycle)
    else {
      self.clears = nil
      return false
    }
    return clears.sequence != sequence && now < clears.since + 30 * Time.second
  }

  private func fits(_ sight: Sight, in cycle: ModelCycle) -> Bool {
    guard now < cycle.deadline else { return false }
    if cycle.isOfOneTask { return true }
    if sight.isUnknown && !cycle.strictFit { return now < cycle.expiresAt }
    if cycle.runs.isEmpty && !cycle.strictFit && now < cycle.expiresAt { return true }
    return estimate(sight) <= cycle.expiresAt - now
  }

  /// Those that could still run and have not.
  func remaining(_ cycle: ModelCycle) -> Int {
    let kinds = cycle.isOfOneTask ? enabled : cycle.kinds.intersection(enabled)
    return candidates(cycle).filter { records[$0.sequence].map { isRunnable($0, kinds: kinds) } ?? false }.count
  }

  func dispatch(_ run: Run, of sequence: UInt64) {
    guard let index = cycles.firstIndex(where: { $0.handle == run.cycleHandle }), var sight = records[sequence] else {
      return
    }
    (sight.state, sight.attempts, sight.run) = (.running, sight.attempts + 1, run.token)
    if sight.isNextSaid { ranAsSaid.insert(sequence) } else { ranAsSaid.remove(sequence) }
    sight.isNextSaid = false
    write(sight)
    let timeout = sight.definition.timeout
    let (timesOutAt, isOverAt) = timeout > 0 ? (now + timeout, now + timeout + stopGrace) : (Time.never, Time.never)
    var made = ModelRun(
      token: run.token, sequence: sequence, definition: sight.definition, cycle: run.cycleHandle, startedAt: now,
      expiresAt: min(cycles[index].expiresAt, timesOutAt), deadline: min(cycles[index].deadline, isOverAt),
      timesOutAt: timesOutAt, isOverAt: isOverAt)
    made.isExpedited = sight.definition.isExpedited && hasQuota
    // In the reserve there is nothing to ask any more.
    if cycles[index].hasExpired { made.reason = .expiring }
    runs[run.token] = made
    suspicionOfRuns[run.token] = suspicion[sequence]
    let rolls = cycles[index].isRolling || cycles.contains { $0.isRolling && $0.kinds.contains(sight.kind) }
    if rolls && sight.definition.schedule == .standing { spent.insert(sequence) }
    cycles[index].runs.append(run.token)
  }

  // MARK: Outcomes

  func complete(_ token: UInt64, _ outcome: Outcome, retryDelay: Span?, until next: Instant?) throws {
    guard let run = runs[token] else { throw Refused(.invalidHandle) }
    defer { comeBack(token) }
    switch run.outcome {
    case nil: take(run, outcome, retryDelay: retryDelay, until: next)
    case .stopped, .expired: throw Refused(.staleRun)
    default: throw Refused(.alreadyCompleted)
    }
  }

  /// What a run that was asked to stop says may mean that it was stopped (V4, V6).
  private func take(_ run: ModelRun, _ outcome: Outcome, retryDelay: Span?, until next: Instant?) {
    var outcome = outcome
    let isOfTask = run.reason == .timedOut || run.reason == .stalled
    if run.reason != .none && outcome == .noData && run.definition.schedule != .standing {
      outcome = isOfTask ? .failed : .stopped
    }
    guard outcome == .stopped else { return decide(run.token, outcome, retryDelay: retryDelay, until: next, at: now) }
    let reason = run.reason
    let isLive = records[run.sequence]?.run == run.token
    stop(run.token, reason)
    // Its stop function is not called for what it says itself.
    runs[run.token]?.wasAsked = run.wasAsked
    if reason == .expiring, isLive, var sight = records[run.sequence] {
      diary?.cut(sight, at: now)
      sight.lastRun = now
      write(sight)
    }
  }

  /// What an open run leaves (W5).
  func leave(_ token: UInt64, _ output: String?) throws {
    guard let run = runs[token] else { throw Refused(.invalidHandle) }
    switch run.outcome {
    case nil: runs[token]?.output = output
    case .stopped, .expired: throw Refused(.staleRun)
    default: throw Refused(.alreadyCompleted)
    }
  }

  /// A run is decided by an outcome: rule C9.
  func decide(
    _ token: UInt64, _ outcome: Outcome, retryDelay: Span? = nil, until next: Instant? = nil, at instant: Instant
  ) {
    guard var run = runs[token] else { return }
    (run.outcome, run.endedAt) = (outcome, instant)
    if run.isExpedited { uses.append((run.startedAt, instant)) }
    if outcome == .expired {
      if run.reason == .none { run.reason = .expiring }
      run.wasAsked = true
    }
    runs[token] = run
    guard var sight = records[run.sequence], sight.run == token else { return }
    // An outcome of whatever kind ends a quarantine.
    (suspicion[run.sequence], deaths[run.sequence]) = (nil, nil)
    diary?.note(sight, outcome, took: instant - run.startedAt, at: instant)
    sight.run = 0
    sight.lastRun = instant
    sight.lastOutcome = outcome
    sight.stopReason = outcome == .expired ? run.reason : .none
    sight.responseTimes = (sight.responseTimes + [instant - run.startedAt]).suffix(30)
    (sight.failedAt, sight.failedAttempt) = outcome.isSuccess ? (nil, nil) : (instant, sight.attempts)
    if outcome.isSuccess { sight.output = run.output }
    let definition = sight.definition
    let attemptsLeft = definition.maxAttempts == 0 || sight.attempts < definition.maxAttempts
    let failed = outcome == .failed || outcome == .expired
    if let next { (sight.earliestBegin, sight.isNextSaid) = (next, true) }
    let said = sight.isNextSaid ? sight.earliestBegin : nil
    switch definition.schedule {
    case .standing where failed, .once where failed && attemptsLeft, .periodic where failed && attemptsLeft:
      sight.state = .enqueued
      sight.earliestBegin =
        instant + (outcome == .failed ? retryDelay : nil).orElse(backoff(definition, sight.attempts))
    case .standing:
      (sight.state, sight.attempts, sight.earliestBegin) = (.enqueued, 0, instant)
    case .once:
      (sight.state, sight.endedAt) = (failed || outcome == .abandoned ? .failed : .succeeded, instant)
    case .periodic:
      (sight.state, sight.attempts, sight.periodBase) = (.enqueued, 0, instant)
      sight.earliestBegin = nextPeriod(sight, after: instant)
    }
    sight.earliestBegin = told(sight, said)
    endIfTooLate(&sight, at: instant)
    write(sight)
    if sight.state.isTerminal { _ = spread(from: [sight.sequence], at: instant) }
    settle(sight, at: instant)
    promote()
  }

  /// What a host said goes before what is computed, but for a retry before the next instant of a calendar (W7).
  private func told(_ sight: Sight, _ said: Instant?) -> Instant {
    guard let said else { return sight.earliestBegin }
    return sight.isByCalendar && sight.attempts > 0 ? min(said, sight.earliestBegin) : said
  }

  private func backoff(_ definition: TaskDefinition, _ attempt: UInt32) -> Span {
    switch definition.backoff {
    case .none: 0
    case .linear: min(bounds.maximum, definition.backoffDelay * Int64(attempt))
    case .exponential:
      attempt > 20 ? bounds.maximum : min(bounds.maximum, definition.backoffDelay << Int64(attempt - 1))
    }
  }

  /// Who waited behind an ended record starts or fails with it, each by its own policy (T5).
  func settle(_ ended: Sight, hadPlace: Bool = true, at instant: Instant) {
    guard ended.state.isTerminal, var chain = chains[ended.id], !chain.isEmpty,
      let next = records[chain.removeFirst()]
    else { return }
    chains[ended.id] = chain
    let fails = ended.state != .succeeded && next.definition.existing == .append
    remove(ended.sequence)
    var sight = next
    (sight.state, sight.registeredAt, sight.lastRun) = (fails ? .failed : .enqueued, instant, instant)
    if !fails && !hadPlace && limits[next.kind] != nil { sight.state = .held }
    if fails {
      sight.anchor = firstBegin(next.definition, from: instant)
      sight.earliestBegin = sight.anchor
    } else {
      begin(&sight, from: instant)
    }
    sight.output = ended.output
    if fails { sight.endedAt = instant }
    write(sight)
    visible[ended.id] = sight.sequence
    settle(sight, hadPlace: hadPlace, at: instant)
  }

  // MARK: Lives

  /// The host closes: what runs is stopped, and nobody's fault (D1).
  func shutDown() {
    for run in runs.values.filter(\.isOpen).sorted(by: { $0.token < $1.token }) { stop(run.token, .shutdown) }
  }

  /// The host opens its store again: what was running when it crashed counts as failed (D3).
  func restart(at instant: Instant) {
    now = instant
    (cycles, runs, spent, ranAsSaid) = ([], [:], [], [])
    (liveHandlers, retiredHandlers, enabled, satisfied) = ([], [], .all, .all)
    conditions = conditions.mapValues { _ in false }
    (suspicionOfRuns, clears) = ([:], nil)
    let running = records.values.filter { $0.state == .running }.sorted { $0.sequence < $1.sequence }
    for sight in running {
      if running.count == 1 || suspicion[sight.sequence] != nil { blame(sight) } else { quarantine(sight) }
    }
    _ = prune(endedBy: now - Time.day)
    expire()
    promote()
  }

  /// It was in flight beside others: as before the run, and apart from others like it (V7).
  private func quarantine(_ running: Sight) {
    var sight = running
    (sight.state, sight.run, sight.attempts) = (.enqueued, 0, sight.attempts - 1)
    (sight.stopReason, sight.lastOutcome) = (.interrupted, .stopped)
    if sight.isByCalendar && sight.isNextSaid { sight.earliestBegin = min(sight.earliestBegin, now) }
    deaths[sight.sequence, default: 0] += 1
    suspicion[sight.sequence] = 1
    write(sight)
  }

  /// It was in flight alone, or quarantined: a failed attempt (D3, V7, V8).
  private func blame(_ running: Sight) {
    var sight = running
    diary?.note(sight, .failed, took: nil, at: now)
    (sight.run, sight.lastRun, sight.lastOutcome, sight.stopReason) = (0, now, .failed, .interrupted)
    (sight.failedAt, sight.failedAttempt) = (now, sight.attempts)
    deaths[sight.sequence, default: 0] += 1
    suspicion[sight.sequence] = 2
    let died = deaths[sight.sequence] ?? 0
    let definition = sight.definition
    let isOver = definition.maxAttempts > 0 && sight.attempts >= definition.maxAttempts
    let said = sight.isNextSaid ? sight.earliestBegin : nil
    switch definition.schedule {
    case .once where isOver:
      (sight.state, sight.endedAt) = (.failed, now)
    case .periodic where isOver:
      (sight.state, sight.attempts, sight.periodBase) = (.enqueued, 0, now)
      sight.earliestBegin = nextPeriod(sight, after: now)
    default:
      let least = 30 * Time.second
      let pause = min(max(bounds.maximum, least), died > 22 ? .max : least << Int64(max(died, 2) - 2))
      sight.state = .enqueued
      sight.earliestBegin = died == 1 ? now : now + max(backoff(definition, sight.attempts), pause)
    }
    sight.earliestBegin = told(sight, said)
    endIfTooLate(&sight, at: now)
    write(sight)
    if sight.state.isTerminal { _ = spread(from: [sight.sequence], at: now) }
    settle(sight, at: now)
  }

  // MARK: End and time

  /// Ends a cycle: what is open is stopped (V4), or has failed where the deadline has come.
  func end(_ handle: UInt64) -> ModelCycle? {
    guard let cycle = cycles.first(where: { $0.handle == handle }) else { return nil }
    for token in cycle.runs where runs[token]?.isOpen == true {
      if now < cycle.deadline { stop(token, .shutdown) } else { decide(token, .expired, at: cycle.deadline) }
    }
    let ended = cycles.first { $0.handle == handle }
    cycles.removeAll { $0.handle == handle }
    return ended
  }

  /// A rolling cycle has made its report: its standing tasks may run again.
  func renew(_ cycle: ModelCycle) {
    guard cycle.isRolling else { return }
    spent = spent.filter { records[$0].map { !cycle.kinds.contains($0.kind) } ?? false }
  }

  /// Time passes: what expires and what is let go on the way, in its order (C4, C5, C7).
  func advance(to instant: Instant) {
    while let (at, act) = nextEffect(), at <= instant {
      now = max(now, at)
      act()
    }
    now = instant
    expire()
  }

  private func nextEffect() -> (Instant, () -> Void)? {
    var effects: [(Instant, () -> Void)] = []
    for (index, cycle) in cycles.enumerated() {
      let open = cycle.runs.filter { runs[$0]?.isOpen == true }
      if !cycle.hasExpired {
        effects.append((cycle.expiresAt, { self.expire(index, open) }))
      } else if !open.isEmpty {
        effects.append((cycle.deadline + 1, { for token in open { self.decide(token, .expired, at: cycle.deadline) } }))
      }
    }
    // What falls due at one instant goes in the order of dispatch, behind what cycles do.
    for run in runs.values.sorted(by: { $0.token < $1.token }) where run.isOpen && run.timesOutAt != Time.never {
      effects.append((nextTimeout(run), { self.timeOut(run) }))
    }
    for run in runs.values where !run.isOpen && !run.isBack {
      effects.append((run.endedAt + releaseAfter, { self.comeBack(run.token) }))
    }
    return effects.min { $0.0 < $1.0 }
  }

  private func timeOut(_ run: ModelRun) {
    guard run.reason == .timedOut else {
      runs[run.token]?.reason = .timedOut
      runs[run.token]?.wasAsked = true
      return
    }
    decide(run.token, .expired, at: run.isOverAt)
  }

  private func expire(_ index: Int, _ open: [UInt64]) {
    cycles[index].hasExpired = true
    for token in open where runs[token]?.reason == StopReason.none {
      runs[token]?.reason = .expiring
      runs[token]?.wasAsked = true
    }
  }
}

extension Optional {
  fileprivate func orElse(_ other: @autoclosure () -> Wrapped) -> Wrapped { self ?? other() }
}
