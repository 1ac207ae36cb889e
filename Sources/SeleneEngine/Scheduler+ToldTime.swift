// Threads that wait on a clock that the host sets, and moving it from one instant at which something is due to the next (B3).

import CPlatform
import SeleneCore

/// Threads that wait for scheduler time. Guarded by the scheduler's lock.
struct Sleepers {
  /// The instants that they wait for, where the host sets the clock.
  fileprivate(set) var instants: [Instant] = []
  /// Runs for which a thread waits in `selene_run_sleep`; one for each such thread.
  fileprivate(set) var runs: [UInt64] = []
  /// Threads of the host in calls that wait for time.
  var calls = 0

  fileprivate mutating func end(_ instant: Instant) {
    if let place = instants.firstIndex(where: { $0 == instant }) { instants.remove(at: place) }
  }
  fileprivate mutating func end(run: UInt64) {
    if let place = runs.firstIndex(where: { $0 == run }) { runs.remove(at: place) }
  }
}

/// What `advanceClock` waits for besides the library's own threads; each includes the one before.
package enum AwaitedHost {
  case nothing
  /// Handlers, except those that wait for time or are left behind, the step of a driver, and lanes.
  case handlers
  /// Runs whose handler has returned without an outcome.
  case runs
}

/// When a grace ends: by the system's clock, or, on a clock that the host sets, by the earlier of the two, so that a host that
/// sets it no more does not keep a close waiting.
struct EndOfGrace {
  fileprivate let wall: Instant
  fileprivate let told: Instant

  func earlier(by span: Span) -> EndOfGrace {
    EndOfGrace(wall: wall.subtracting(span), told: told == Time.never ? told : told.subtracting(span))
  }

  /// How much of it is left by the system's clock; 0 once the host's clock has reached its end.
  func left(_ clock: Clock) -> Span {
    clock.last >= told ? 0 : max(0, wall.subtracting(platform_boot_clock()))
  }
}

extension Scheduler {
  func end(of grace: Span) -> EndOfGrace {
    EndOfGrace(
      wall: platform_boot_clock().adding(grace), told: clock.isTold ? clock.last.adding(grace) : Time.never)
  }

  /// Waits for a broadcast, at most until an instant; on a clock that the host sets, until that has set it. Called and left
  /// with the lock held.
  func pause(until: Instant, at now: Instant) {
    // Nothing wakes a thread at an instant that has passed: it only lets others have the lock.
    guard clock.isTold && until > now else { return slot.monitor.wait(until.subtracting(now)) }
    sleepers.instants.append(until)
    slot.monitor.waitForChange()
    sleepers.end(until)
  }

  /// Waits for a broadcast, at most until the end of a grace.
  func pause(_ span: Span, _ end: EndOfGrace) {
    if let owner { return owner.rest(span, forAll: true, self) }
    guard clock.isTold else { return slot.monitor.wait(span) }
    sleepers.instants.append(end.told)
    slot.monitor.wait(span, isOwn: true)
    sleepers.end(end.told)
  }

  // MARK: Sleep

  /// Lets a handler wait for scheduler time, until its run is asked to stop or is over; whether it waited for all of it.
  ///
  /// - Throws: as `stopping`; `unsupported` with a clock that is asked; `reentrant` in callbacks but handlers, which hold up
  ///   those that come after them.
  package static func sleep(_ token: UInt64, _ time: Span) throws(SeleneError) -> Bool {
    guard time >= 0 else { throw .range("nanoseconds", time, 0, .max, .duration) }
    let (scheduler, run, until) = try enter(run: token) { (scheduler, number, moment) throws(SeleneError) in
      let call = platform_frame_kind(scheduler.life)
      guard call == HostCall.Kind.none || call == HostCall.Kind.run.rawValue else {
        throw SeleneError(.reentrant, "waiting for time is possible in handlers, not in other callbacks")
      }
      let run = try scheduler.runs.find(number)
      guard scheduler.owner == nil else {
        throw SeleneError(
          .unsupported, "run", "taken through a connection; only runs of the own scheduler can wait for time")
      }
      guard scheduler.clock.wakes else {
        throw SeleneError(.unsupported, "with a host clock that is asked no thread can wait for time")
      }
      return (scheduler, run, moment.now.adding(time))
    }
    scheduler.lock()
    return try scheduler.leaving { () throws(SeleneError) in
      scheduler.sleepers.calls += 1
      scheduler.sleepers.runs.append(run.token)
      defer {
        scheduler.sleepers.calls -= 1
        scheduler.sleepers.end(run: run.token)
      }
      while run.isOpen && run.stopReason == .none {
        let now = scheduler.tick()
        scheduler.advance(to: now)
        guard run.isOpen && run.stopReason == .none else { break }
        guard now < until else { return true }
        if try scheduler.settleDeliveries() { continue }
        scheduler.pause(until: scheduler.clock.isTold ? until : min(until, scheduler.nextDue), at: now)
      }
      // Another thread completed it, and its handler has not returned.
      guard run.stopReason != .none else { throw .completedBefore }
      return false
    }
  }

  /// Wakes the threads that wait in `selene_run_sleep`: a run is asked to stop, or is over.
  func wakeSleepers() {
    if !sleepers.runs.isEmpty { wake() }
  }

  // MARK: Advance

  /// Moves the clock that the host sets forward, from one instant at which something is due to the next, up to one; at each it
  /// waits until every thread of the library has done what is due and waits again.
  ///
  /// - Parameters:
  ///   - host: what of the host it waits for, too.
  ///   - once: it goes no further than to the first such instant.
  ///   - patience: how long it waits at each instant, by the system's clock.
  /// - Returns: when something is due next; `Time.never` if nothing is.
  /// - Throws: `unsupported` where the clock is another; `busy` where threads are still at work; `reentrant`.
  package static func advanceClock(
    _ handle: UInt64, to: Instant, awaiting host: AwaitedHost, once: Bool, patience: Span
  ) throws(SeleneError) -> Instant {
    // It waits for the store itself, no longer than its patience.
    let scheduler = try enter(handle, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      guard scheduler.clock.isTold else { throw Self.isNotTold }
      try scheduler.refuseInsideCallback("advancing the clock")
      return scheduler
    }
    scheduler.lock()
    return try scheduler.leaving { () throws(SeleneError) in
      var limit = platform_boot_clock().adding(patience)
      var isLast = false
      while true {
        guard !scheduler.isEnding, scheduler.slot.scheduler === scheduler else { throw .closedHandle }
        scheduler.advance(to: scheduler.clock.last)
        if scheduler.isStill(awaiting: host) {
          let (now, next) = (scheduler.clock.last, scheduler.nextDueInstant())
          if isLast { return next }
          if next <= to && next != Time.never {
            try scheduler.setClock(next)
            isLast = once
          } else if now < to && to != Time.never {
            try scheduler.setClock(to)
            isLast = true
          } else {
            return next
          }
          limit = platform_boot_clock().adding(patience)
          continue
        }
        if try scheduler.settleDeliveries() { continue }
        let left = limit.subtracting(platform_boot_clock())
        guard left > 0 else { throw SeleneError(.busy, scheduler.whatIsAtWork(host)) }
        scheduler.slot.monitor.watch(left)
      }
    }
  }

  static var isNotTold: SeleneError {
    SeleneError(.unsupported, "the scheduler was not opened with SELENE_OPTIONS_SET_CLOCK")
  }

  /// Whether nothing more happens at this instant unless the host does something.
  private func isStill(awaiting host: AwaitedHost) -> Bool {
    guard !saver.isAtWork, workers.jobs.isEmpty, !workers.isTellerCalled, !hasNews, outbox.deliverers == 0,
      let still = slot.monitor.still
    else { return false }
    let driver = governance.driver.map { $0.hasThread && $0.isAsleep } == true ? 1 : 0
    guard workers.alive - workers.inHost + sleepers.calls == still + driver else { return false }
    return host == .nothing || !isAtWork(host)
  }

  /// Whether the host has something to do at this instant, or is doing it: a run is at work, a driver waits for its step, or
  /// a cycle waits for a lane.
  private func isAtWork(_ host: AwaitedHost) -> Bool {
    var isRunning = false
    runs.forEach { if isAtWork($0, host) { isRunning = true } }
    if isRunning { return true }
    // The thread that steps the driver may be the one that works its window off; then it steps it behind that.
    if let driver = governance.driver, !driver.hasThread, !driver.isAsleep, !cycles.contains(where: { $0.isDriven }) {
      return true
    }
    return cycles.contains { cycle in
      guard cycle.mode == .lanes else { return false }
      if let watch = cycle.watch { return !watch.isAsleep }
      var (idle, isInHandler) = (0, false)
      lanes.forEach { lane in
        guard lane.cycle === cycle, !lane.isLeftBehind else { return }
        if lane.run == nil { idle += 1 } else { isInHandler = true }
      }
      // A thread between two calls of its lane is about to ask for a run.
      return (idle > cycle.waitingLanes && !cycle.isDone) || (cycle.waitingLanes == 0 && !isInHandler)
    }
  }

  /// Whether a thread is in the handler of a run and was not left behind, or, where runs are waited for, the run goes on
  /// without it; and it does not wait for time.
  private func isAtWork(_ run: Run, _ host: AwaitedHost) -> Bool {
    let goesOn = host == .runs && run.isOpen && run.mode != .pulled && run.mode != .member
    return (goesOn || run.isInHandler && !run.isLeftBehind) && !sleepers.runs.contains(run.token)
  }

  /// The runs that are at work, the first few by id and handler, or that other threads are.
  private func whatIsAtWork(_ host: AwaitedHost) -> Detail {
    var (text, count) = (Detail.StringInterpolation(), 0)
    runs.forEach { run in
      guard isAtWork(run, host) else { return }
      count += 1
      guard count <= Self.mostNamed else { return }
      text.appendLiteral(count == 1 ? "still at work: " : ", ")
      text.appendInterpolation(name: run.definition.id)
      text.appendLiteral(" in the handler ")
      text.appendInterpolation(name: run.definition.handler)
    }
    guard count > 0 else { return "threads of the library are still at work at this instant" }
    if count > Self.mostNamed {
      text.appendLiteral(" and ")
      text.appendInterpolation(count - Self.mostNamed)
      text.appendLiteral(" more")
    }
    return Detail(stringInterpolation: text)
  }

  /// How many runs the detail of `busy` names.
  private static let mostNamed = 3

  /// The next instant at which something is due, as far as is known; `Time.never` if nothing is.
  private func nextDueInstant() -> Instant {
    let now = clock.last
    var next = Time.never
    func see(_ at: Instant) { if at > now && at < next { next = at } }
    see(looksAgainAt())
    if table.expiresAt != Time.never { see(table.expiresAt.adding(1)) }
    for instant in sleepers.instants { see(instant) }
    for cycle in cycles { if let watch = cycle.watch { see(watch.sleepsUntil) } }
    forEachDriver { see($0.sleepsUntil) }
    return next
  }
}
