// What time does by itself: expiry, ends, and letting go (C5, C7, C4).

import SeleneCore

extension Scheduler {
  /// What time does next.
  private enum Effect {
    case leave(Cycle)
    case expire(Cycle)
    case expireRuns(Cycle)
    case end(Cycle)
    case actOn(Run)
    case letGo(Run)
    case lookAtVetoes
    case lookAtConstraints
    case endPauses
    case lookAtQuota
    case lookAtAwaited
    case endShares
    case lookAtDrivers
  }

  /// Applies what fell due since the last call, in the order of its nominal instants.
  @inline(__always)
  func advance(to now: Instant) {
    if nextDue <= now { apply(until: now) }
  }

  private func apply(until now: Instant) {
    while nextDue <= now {
      guard let (at, effect) = nextEffect(), at <= now else { break }
      switch effect {
      case .leave(let cycle): leave(cycle, at: now)
      case .expire(let cycle): expire(cycle)
      case .expireRuns(let cycle): expireRuns(of: cycle)
      case .end(let cycle): _ = end(cycle, at: now)
      case .actOn(let run): actOn(run, at: at)
      case .letGo(let run): letGo(run)
      case .lookAtVetoes: lookAtVetoes(at: at)
      case .lookAtConstraints: lookAtConstraints(at: at)
      case .endPauses: endPauses(at: at)
      case .lookAtQuota: lookAtQuota(at: at)
      case .lookAtAwaited: lookAtAwaited(at: at)
      case .endShares: endShares(at: at)
      case .lookAtDrivers: lookAtDrivers()
      }
    }
  }

  /// When time does something next; what ended since the last look is not counted.
  func looksAgainAt() -> Instant {
    _ = nextEffect()
    return nextDue
  }

  /// The next thing that time does; sets when the next look is due.
  private func nextEffect() -> (at: Instant, effect: Effect)? {
    var next: (at: Instant, effect: Effect)?
    nextDue = Time.never
    func isNext(_ at: Instant) -> Bool {
      guard at < nextDue else { return false }
      nextDue = at
      return true
    }
    for cycle in cycles where !cycle.isEnded {
      if cycle.isOpenEnded && !cycle.hasLeft && isNext(cycle.picksUntil) { next = (nextDue, .leave(cycle)) }
      if cycle.origin != 0 && cycle.openRuns == 0 {
        if isNext(.min) { next = (nextDue, .end(cycle)) }
      } else if !cycle.hasExpired {
        if isNext(cycle.time.expiresAt) { next = (nextDue, .expire(cycle)) }
      } else if cycle.mode == .lanes {
        if isNext(cycle.time.deadline.adding(1)) { next = (nextDue, .end(cycle)) }
      } else if cycle.openRuns > 0 {
        // Completing is possible exactly at the deadline, so it passes one nanosecond later.
        if isNext(cycle.time.deadline.adding(1)) { next = (nextDue, .expireRuns(cycle)) }
      }
    }
    if isNext(crews.endsAt) { next = (nextDue, .endShares) }
    if isNext(crews.looksAt) { next = (nextDue, .lookAtDrivers) }
    // What changes records at once waits for the store.
    if !cycles.isEmpty && !saver.isAtWork && isNext(governance.nextLook) { next = (nextDue, .lookAtVetoes) }
    if !saver.isAtWork && isNext(conditions.changesAt) { next = (nextDue, .lookAtConstraints) }
    if !saver.isAtWork && isNext(adoption.lookAt) { next = (nextDue, .lookAtAwaited) }
    if !saver.isAtWork && isNext(table.pauses.endsAt) { next = (nextDue, .endPauses) }
    if isNext(table.expedited.changesAt) { next = (nextDue, .lookAtQuota) }
    // Of those that fall due at one instant the first number goes first, so that it is told in the same order everywhere.
    var first: (run: Run, at: Instant)?
    runs.forEach { run in
      guard !run.isBack && (run.isOpen || !saver.isAtWork) else { return }
      let at = run.isOpen ? nextInstant(of: run) : run.endedAt.adding(options.releaseAfter)
      if let best = first, best.at < at || (best.at == at && best.run.token < run.token) { return }
      first = (run, at)
    }
    if let first, isNext(first.at) { next = (nextDue, first.run.isOpen ? .actOn(first.run) : .letGo(first.run)) }
    return next
  }

  /// The reserve begins: runs in flight are asked to stop.
  private func expire(_ cycle: Cycle) {
    cycle.hasExpired = true
    let reason = cycle.isEndedByHost ? StopReason.shutdown : .expiring
    for run in cycle.runs where run.isOpen && run.stopReason == .none { ask(run, reason, at: cycle.time.expiresAt) }
  }

  /// What is next of a run: its progress is told; it has reached a limit of its task and is asked to stop, or the end of its
  /// grace and is over (R3, W6).
  private func actOn(_ run: Run, at instant: Instant) {
    guard !tellProgress(of: run, at: instant) else { return }
    guard run.isInItsGrace else { return stop(run, limitReached(by: run), at: instant) }
    expire(run, at: instant.subtracting(1))
    wake()
  }

  /// The quota of expedited tasks is used up, or something of it is left again (W10).
  private func lookAtQuota(at instant: Instant) {
    guard let at = table.expedited.settle(at: instant) else { return }
    let isUsedUp = table.expedited.isUsedUp
    table.waits.set(isOutOfQuota: isUsedUp, at: at)
    let change = Change(isUsedUp ? .quotaUsedUp : .quotaLeft)
    change.timeAt = isUsedUp ? table.expedited.freeAt(at) : at
    publish(change, at: at)
  }

  /// What a run or a reset has used or freed counts from now on.
  func noteQuota(at now: Instant) {
    table.expedited.look(from: now)
    nextDue = min(nextDue, table.expedited.changesAt)
  }

  /// The deadline has passed: open runs are over.
  func expireRuns(of cycle: Cycle) {
    for run in cycle.runs where run.isOpen { expire(run, at: cycle.time.deadline) }
    wake()
  }

  /// A run did not come back in time: its id is free, its handler may still be at work.
  private func letGo(_ run: Run) {
    if run.isInHandler && run.mode != .lanes { workers.letGo.append(run) }
    comeBack(run)
    if run.mode == .pulled { runs.lend(run) }
    let change = Change(.released)
    change.definition = run.definition
    change.state = table.find(run.definition.id).map { table[$0].state }
    change.run = run.token
    publish(change, at: run.endedAt.adding(options.releaseAfter))
  }
}
