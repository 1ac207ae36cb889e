// Progress of runs, and the limits of their tasks (R3, W6).

import SeleneCore

/// What a run told of itself, and what follows from that. Guarded by the scheduler's lock.
final class ProgressWatch {
  /// What it told last.
  fileprivate(set) var last: Progress?
  /// When its stall limit asks it to stop.
  fileprivate var stallsAt: Instant
  /// It was asked.
  fileprivate var hasStalled = false
  /// Its next event may come then.
  fileprivate var mayTellAt: Instant = .min
  /// What it told last waits until then for its event.
  fileprivate var tellsAt: Instant = Time.never

  fileprivate init(stallsAt: Instant) { self.stallsAt = stallsAt }
}

extension Scheduler {
  /// From one event to the next.
  private static let tellingInterval = Time.second / 4

  /// A run tells its progress.
  ///
  /// - Throws: `invalidArgument`, `invalidHandle`, `alreadyCompleted`, `staleRun`.
  package func progress(
    _ number: UInt64, done: Int64, total: Int64, _ text: Bytes?, by member: Member? = nil, at moment: Moment
  ) throws(SeleneError) {
    guard done >= 0 else { throw .range("done", done, 0, .max) }
    guard total >= 0 else { throw .range("total", total, 0, .max) }
    let run = try runs.find(number)
    guard run.mode != .member || member != nil else { throw .ofAnother }
    guard run.isOpen else { throw run.isStale ? .stale(run.stopReason) : .completedBefore }
    let watch = progressWatch(of: run)
    let now = moment.now
    watch.last = Progress(at: now, done: done, total: total, text)
    if watch.stallsAt != Time.never && !watch.hasStalled { watch.stallsAt = now.adding(run.definition.stallLimit) }
    if now >= watch.mayTellAt {
      tell(watch, of: run, at: now)
    } else if watch.tellsAt == Time.never && outbox.isObserved {
      watch.tellsAt = watch.mayTellAt
      follow(run, until: watch.tellsAt)
    }
  }

  /// What an open run told last, by its token.
  package func progress(ofRun token: UInt64) -> Progress? { progress[Token(rawValue: token).number]?.last }

  private func progressWatch(of run: Run) -> ProgressWatch {
    let number = Token(rawValue: run.token).number
    if let watch = progress[number] { return watch }
    let limit = run.definition.stallLimit
    let watch = ProgressWatch(stallsAt: limit > 0 ? run.startedAt.adding(limit) : Time.never)
    progress.insert(number, watch)
    return watch
  }

  private func tell(_ watch: ProgressWatch, of run: Run, at now: Instant) {
    watch.tellsAt = Time.never
    guard outbox.isObserved, let last = watch.last else { return }
    watch.mayTellAt = now.adding(Self.tellingInterval)
    let change = Change(.progress)
    change.definition = run.definition
    change.state = .running
    change.attempts = run.attempt
    change.run = run.token
    change.cycle = run.cycleHandle
    change.progress = last
    publish(change, at: now)
  }

  // MARK: Time

  /// A run has limits of its own.
  @inline(never)
  func watchLimits(of run: Run) {
    let stallsAt = run.definition.stallLimit > 0 ? progressWatch(of: run).stallsAt : Time.never
    follow(run, until: min(run.timesOutAt, stallsAt))
  }

  /// Who waits for time to pass waits no longer than until then.
  private func follow(_ run: Run, until instant: Instant) {
    nextDue = min(nextDue, instant)
    if let cycle = run.cycle {
      cycle.hasTimedRuns = true
      cycle.watch?.poke()
    }
    wake()
  }

  /// When something happens to an open run that is its own: its progress is told, a limit asks it to stop, or ends it;
  /// completing is possible until then.
  func nextInstant(of run: Run) -> Instant {
    let watch = progress[Token(rawValue: run.token).number]
    let limit = min(run.timesOutAt, watch?.stallsAt ?? Time.never)
    let act = limit != Time.never && run.isInItsGrace ? limit.adding(options.stopGrace).adding(1) : limit
    return min(act, watch?.tellsAt ?? Time.never)
  }

  /// When the stall limit of an open run asks it to stop, if it tells no progress until then.
  func stallsAt(_ run: Run) -> Instant { progress[Token(rawValue: run.token).number]?.stallsAt ?? Time.never }

  /// When a run is over at the latest, as things stand.
  package func deadline(of run: Run) -> Instant {
    guard run.stopReason == .stalled else { return run.deadline }
    return min(run.deadline, run.isOpen ? stallsAt(run).adding(options.stopGrace) : run.endedAt)
  }

  /// Why a run is asked to stop that has reached the first of its limits.
  func limitReached(by run: Run) -> StopReason {
    guard let watch = progress[Token(rawValue: run.token).number], watch.stallsAt < run.timesOutAt else {
      return .timedOut
    }
    watch.hasStalled = true
    return .stalled
  }

  /// Tells what waited for its event; whether that is what was due.
  func tellProgress(of run: Run, at now: Instant) -> Bool {
    guard let watch = progress[Token(rawValue: run.token).number], watch.tellsAt <= now else { return false }
    tell(watch, of: run, at: now)
    return true
  }

  /// A run is over: what it told last is told now, and dropped.
  func endProgress(of run: Run, at now: Instant) {
    let number = Token(rawValue: run.token).number
    guard let watch = progress[number] else { return }
    if watch.tellsAt != Time.never { tell(watch, of: run, at: now) }
    progress.remove(number)
  }
}
