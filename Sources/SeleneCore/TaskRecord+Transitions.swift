// The state machine: what a dispatch, a completion, a stop and an update do to a record (C8, C9, T5).

extension TaskRecord {
  /// A run begins: one attempt more.
  package mutating func dispatch(as run: UInt64, at now: Instant) {
    // Of what is tried again, and of what has a trail, the instants do not tell all.
    if attempts > 0 || marks.contains(.trailed) { return step(at: now) { $0.begin(run, at: now) } }
    begin(run, at: now)
  }

  @inline(__always)
  private mutating func begin(_ run: UInt64, at now: Instant) {
    state = .running
    changedAt = now
    attempts = attempts == .max ? .max : attempts + 1
    isOfNextSaid = isNextSaid
    isNextSaid = false
    begin(run: run)
  }

  /// A run is decided by an outcome (C9).
  ///
  /// - Parameters:
  ///   - outcome: anything but `stopped`.
  ///   - now: the instant of the completion.
  ///   - responseTime: from the run's dispatch to its completion.
  ///   - retryDelay: the failure's own delay, which replaces the backoff; nil for none.
  ///   - next: when the task is due again, in place of what is computed (W7); nil for that.
  ///   - message: why it failed, if it did.
  ///   - output: what it left, which counts if it succeeded (W5).
  ///   - reason: why the run was asked to stop, if it was.
  package mutating func complete(
    _ outcome: Outcome, at now: Instant, responseTime: Span, retryDelay: Span?, until next: Instant? = nil,
    because message: Bytes? = nil, leaving output: RunOutput = RunOutput(), asked reason: StopReason = .none,
    bounds: BackoffBounds, using generator: inout Generator
  ) {
    // After a success its instants tell how it came to that.
    guard !outcome.isSuccess || marks.contains(.trailed) else {
      return decide(
        outcome, at: now, responseTime: responseTime, retryDelay: retryDelay, until: next, because: message,
        leaving: output, asked: reason, bounds: bounds, using: &generator)
    }
    let old = self
    decide(
      outcome, at: now, responseTime: responseTime, retryDelay: retryDelay, until: next, because: message,
      leaving: output, asked: reason, bounds: bounds, using: &generator)
    note(from: old, at: now, isAnew: state == .enqueued && attempts == 0)
  }

  private mutating func decide(
    _ outcome: Outcome, at now: Instant, responseTime: Span, retryDelay: Span?, until next: Instant? = nil,
    because message: Bytes? = nil, leaving output: RunOutput = RunOutput(), asked reason: StopReason = .none,
    bounds: BackoffBounds, using generator: inout Generator
  ) {
    lastRun = now
    changedAt = now
    lastOutcome = outcome
    stopReason = outcome == .expired ? reason.isOfTask ? reason : .expiring : .none
    if let next { sayNext(next) }
    endRun(outcome, at: now, responseTime: responseTime)
    failure = outcome.isSuccess ? nil : LastFailure(at: now, attempt: attempts, message)
    if outcome.isSuccess { (self.output, outputLost) = (output.kept, output.lost) }

    switch traits.schedule {
    case .standing:
      if outcome.isSuccess || outcome == .abandoned {
        enqueue(at: now)
      } else {
        retry(at: now, retryDelay, bounds, &generator)
      }
    case .once:
      if outcome.isSuccess {
        end(as: .succeeded, at: now)
      } else if outcome == .abandoned || !hasAttemptsLeft {
        end(as: .failed, at: now)
      } else {
        retry(at: now, retryDelay, bounds, &generator)
        endIfTooLate(at: now)
      }
    case .periodic:
      if outcome.isSuccess || outcome == .abandoned || !hasAttemptsLeft {
        periodBase = now
        enqueue(at: nextPeriod(after: now, using: &generator))
      } else {
        retry(at: now, retryDelay, bounds, &generator)
      }
    }
  }

  /// Its process ended while it ran, and it is to blame: a failed attempt without a sample (D3, V7). The first time it
  /// waits for nothing, from the second on its backoff, and at least a pause that doubles (V8).
  package mutating func interrupt(
    at now: Instant, because message: Bytes = LastFailure.processEnded, pause: Span = 30 * Time.second,
    bounds: BackoffBounds, using generator: inout Generator
  ) {
    endInterruptedRun(at: now)
    lastRun = now
    changedAt = now
    lastOutcome = .failed
    stopReason = .interrupted
    deaths = deaths == .max ? .max : deaths + 1
    suspicion = .blamed
    failure = LastFailure(at: now, attempt: attempts, message)
    let isOver = definition.schedule != .standing && !hasAttemptsLeft
    if isOver && definition.schedule == .once {
      end(as: .failed, at: now)
    } else if isOver {
      periodBase = now
      enqueue(at: nextPeriod(after: now, using: &generator))
    } else {
      var wait: Span = 0
      if deaths > 1 {
        let own = bounds.delay(definition.backoff, base: definition.backoffDelay, attempt: attempts, using: &generator)
        let pause = BackoffBounds(minimum: 0, maximum: max(bounds.maximum, pause))
          .delay(.exponential, base: pause, attempt: UInt32(deaths) - 1, using: &generator)
        wait = max(own, pause)
      }
      state = .enqueued
      tryAgain(at: now.adding(wait))
      endIfTooLate(at: now)
    }
  }

  /// Its process ended while it ran beside others: enqueued again as before the run, and quarantined (V7).
  ///
  /// - Parameter isSuspect: it may be to blame; not if the machine itself went down.
  package mutating func interrupt(blamelessAt now: Instant, isSuspect: Bool) {
    requeue(.interrupted, at: now)
    guard isSuspect else { return }
    deaths = deaths == .max ? .max : deaths + 1
    suspicion = .quarantined
  }

  /// It waits, and its latest begin is over (W9).
  package mutating func missLatestBegin(at now: Instant) {
    failure = LastFailure(at: now, attempt: attempts == .max ? .max : attempts + 1, LastFailure.tooLate)
    stopReason = .tooLate
    end(as: .failed, at: now)
  }

  /// What could be tried again only after its latest begin has failed.
  private mutating func endIfTooLate(at now: Instant) {
    guard marks.contains(.limited), earliestBegin > latestAt else { return }
    stopReason = .tooLate
    end(as: .failed, at: now)
  }

  /// All its instants move by the same span.
  package mutating func shift(by span: Span) {
    registeredAt = registeredAt.adding(span)
    // While there is no history the anchor is the earliest begin.
    let anchor = anchor
    earliestBegin = earliestBegin.adding(span)
    self.anchor = anchor.adding(span)
    let freshSince = freshSince.adding(span)
    if periodBase != Self.onRegistration { periodBase = periodBase.adding(span) }
    lastRun = lastRun.adding(span)
    self.freshSince = freshSince
    changedAt = changedAt.adding(span)
    shiftRanDue(by: span)
    trail = trail?.shifted(by: span)
    if let old = failure { failure = LastFailure(at: old.at.adding(span), attempt: old.attempt, old.message) }
  }

  /// A run was stopped for a reason that is not the task's fault: enqueued again as before the run, no sample (C8).
  package mutating func requeue(_ reason: StopReason, at now: Instant) {
    changedAt = now
    run = 0
    state = .enqueued
    attempts -= attempts > 0 ? 1 : 0
    stopReason = reason
    lastOutcome = .stopped
    if isOfNextSaid { (isNextSaid, isOfNextSaid) = (true, false) }
    // What its calendar wanted is not done.
    if isNextSaid && isByCalendar { wait(until: min(earliestBegin, now)) }
  }

  /// Its run was given back because no window is long enough for it: others go before it, or it would be first in each.
  mutating func letOthersGoFirst(at now: Instant) {
    let since = Freshness.freshSince(freshSince, afterFailureAt: now)
    lastRun = now
    freshSince = since
  }

  /// Takes a new definition and keeps the history (T5); a begin that chance has moved stays as long as nothing moves it
  /// otherwise (W11).
  package mutating func update(_ new: TaskDefinition, at now: Instant, using generator: inout Generator) {
    changedAt = now
    let isTimedAsBefore = new.jitter > 0 && new.isTimed(as: definition)
    if isByCalendar && new.recurrence != .calendar { (isNextSaid, isOfNextSaid) = (false, false) }
    definition = new
    generation = generation == .max ? .max : generation + 1
    let isStandingThatRan = new.schedule == .standing && hasRun
    guard attempts == 0, !isStandingThatRan, !isNextSaid, !isTimedAsBefore else { return }
    if new.schedule == .periodic && periodBase != Self.onRegistration {
      wait(until: nextPeriod(after: periodBase, using: &generator))
    } else {
      wait(first: new.firstBegin(from: registeredAt))
      jitterFirst(using: &generator)
    }
  }

  /// Moves its first begin by chance (W11); its anchor stays, so that the grid does.
  @inline(__always)
  package mutating func jitterFirst(using generator: inout Generator) {
    if definition.jitter > 0 { wait(until: Self.later(earliestBegin, definition.firstJitter, &generator)) }
  }

  /// Up to so much later, in whole microseconds, which every language tells exactly; each as likely. What cannot move
  /// draws nothing.
  private static func later(_ begin: Instant, _ most: Span, _ generator: inout Generator) -> Instant {
    most < 1_000 ? begin : begin.adding(1_000 * Int64(generator.upTo(UInt64(most / 1_000))))
  }

  /// It is due then, once, whatever would be computed (W7).
  package mutating func sayNext(_ next: Instant) {
    wait(until: next)
    isNextSaid = true
  }

  package mutating func end(as terminal: TaskState, at now: Instant) {
    state = terminal
    run = 0
    changedAt = now
    isPaused = false
    isNextSaid = false
  }

  private var hasAttemptsLeft: Bool { definition.maxAttempts == 0 || attempts < definition.maxAttempts }

  private mutating func enqueue(at begin: Instant) {
    state = .enqueued
    attempts = 0
    waitAgain(until: begin)
  }

  private mutating func retry(at now: Instant, _ own: Span?, _ bounds: BackoffBounds, _ generator: inout Generator) {
    let delay =
      own ?? bounds.delay(definition.backoff, base: definition.backoffDelay, attempt: attempts, using: &generator)
    state = .enqueued
    tryAgain(at: now.adding(delay))
  }

  /// What a host said during the run, or with its end, goes before what is computed.
  private mutating func waitAgain(until begin: Instant) { if !isNextSaid { wait(until: begin) } }

  /// The begin of the next period, as much later as chance wants (W11).
  private func nextPeriod(after now: Instant, using generator: inout Generator) -> Instant {
    Self.later(nextPeriod(after: now), definition.periodJitter, &generator)
  }

  /// By a calendar a failed run is tried again before the next instant, or at it.
  private mutating func tryAgain(at begin: Instant) {
    guard isNextSaid && isByCalendar else { return waitAgain(until: begin) }
    wait(until: min(earliestBegin, begin))
  }

  private var isByCalendar: Bool { definition.schedule == .periodic && definition.recurrence == .calendar }

  /// now + period, or the first instant after now on the anchor's grid.
  private func nextPeriod(after now: Instant) -> Instant {
    let period = definition.period
    guard definition.recurrence == .anchored else { return now.adding(period) }
    guard now >= anchor else { return anchor }
    // now ≥ anchor, so the distance fits into 64 bits without a sign.
    let distance = UInt64(bitPattern: now &- anchor)
    return now.adding(period - Int64(distance % UInt64(period)))
  }
}
