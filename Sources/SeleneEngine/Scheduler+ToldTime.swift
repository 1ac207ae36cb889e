// Threads that wait for a clock that is told, and letting it go on from one thing that is due to the next (B3).

import CPlatform
import SeleneCore

/// Until when threads wait. Guarded by the scheduler's lock.
struct Sleepers {
  fileprivate(set) var instants: [Instant] = []
  /// Handlers that wait for time by `selene_run_sleep`.
  fileprivate(set) var handlers = 0
  /// Threads of the host in calls that wait for time.
  var calls = 0

  fileprivate mutating func end(_ instant: Instant) {
    if let place = instants.firstIndex(where: { $0 == instant }) { instants.remove(at: place) }
  }
}

/// When a grace is over: by the system's clock, or, if it is told, by either, so that nobody waits for what is never told.
struct EndOfGrace {
  fileprivate let wall: Instant
  fileprivate let told: Instant

  func earlier(by span: Span) -> EndOfGrace {
    EndOfGrace(wall: wall.subtracting(span), told: told == Time.never ? told : told.subtracting(span))
  }

  /// How much of it is left; of a told one, 0 or what the system's clock says.
  func left(_ clock: Clock) -> Span {
    clock.last >= told ? 0 : max(0, wall.subtracting(platform_boot_clock()))
  }
}

/// What a clock came to.
package struct Advance {
  package let now: Instant
  /// When something is due next, as far as is known.
  package let next: Instant
  /// At how many instants something was due.
  package let steps: Int
  /// Handlers that are at work, and do not wait for time.
  package let atWork: Int
}

extension Scheduler {
  func end(of grace: Span) -> EndOfGrace {
    EndOfGrace(
      wall: platform_boot_clock().adding(grace), told: clock.isTold ? clock.last.adding(grace) : Time.never)
  }

  /// Waits for a broadcast, at most until an instant. Called and left with the lock held.
  func pause(until: Instant, at now: Instant) {
    guard clock.isTold else { return slot.monitor.wait(until.subtracting(now)) }
    sleepers.instants.append(until)
    slot.monitor.waitForChange()
    sleepers.end(until)
  }

  /// Waits for a broadcast, at most until the end of a grace.
  func pause(_ span: Span, _ end: EndOfGrace) {
    guard clock.isTold else { return slot.monitor.wait(span) }
    sleepers.instants.append(end.told)
    slot.monitor.wait(span, isOwn: true)
    sleepers.end(end.told)
  }

  // MARK: Sleep

  /// Lets a handler wait for time, until its run is asked to stop or is over; whether it waited for all of it.
  ///
  /// - Throws: as `stopping`; `unsupported` with a clock that is asked.
  package static func sleep(_ token: UInt64, _ time: Span) throws(SeleneError) -> Bool {
    guard time >= 0 else { throw .range("nanoseconds", time, 0, .max, .duration) }
    let (scheduler, run, until) = try enter(run: token) { (scheduler, number, moment) throws(SeleneError) in
      guard scheduler.clock.wakes else {
        throw SeleneError(.unsupported, "with a host clock that is asked no thread can wait for time")
      }
      guard let run = scheduler.runs[number] else { throw .earlierLife }
      return (scheduler, run, moment.now.adding(time))
    }
    scheduler.lock()
    return try scheduler.leaving { () throws(SeleneError) in
      scheduler.sleepers.calls += 1
      defer { scheduler.sleepers.calls -= 1 }
      while run.isOpen && run.stopReason == .none {
        let now = scheduler.tick()
        scheduler.advance(to: now)
        guard now < until else { return true }
        guard run.isOpen && run.stopReason == .none else { break }
        if try scheduler.settleDeliveries() { continue }
        let isHandler = run.isInHandler && !run.isLeftBehind
        if isHandler { scheduler.sleepers.handlers += 1 }
        scheduler.pause(until: scheduler.clock.isTold ? until : min(until, scheduler.nextDue), at: now)
        if isHandler { scheduler.sleepers.handlers -= 1 }
      }
      return false
    }
  }

  // MARK: Advance

  /// Lets a clock that is told go on, from one instant at which something is due to the next, up to one; at each it waits until
  /// every thread of the library waits again, so that what was due is done.
  ///
  /// - Parameters:
  ///   - handlers: whether it waits for the host, too: for handlers, but those that wait for time or are left behind, and for who
  ///     has a descriptor that is readable.
  ///   - once: it goes no further than to the first such instant.
  ///   - patience: how long it waits at an instant, by the system's clock.
  /// - Throws: `unsupported` where the clock is another; `busy` where threads are still at work; `reentrant`.
  package static func advanceClock(
    _ handle: UInt64, to: Instant, handlers: Bool, once: Bool, patience: Span
  ) throws(SeleneError) -> Advance {
    var steps = 0
    while true {
      let limit = platform_boot_clock().adding(patience)
      let still = try awaitStillness(handle, handlers: handlers, limit: limit, steps)
      if once && steps > 0 { return still }
      guard still.next <= to, still.next != Time.never else {
        guard still.now < to, to != Time.never else { return still }
        try enter(handle, isQuestion: true) { (scheduler, _) throws(SeleneError) in try scheduler.setClock(to) }
        return try awaitStillness(handle, handlers: handlers, limit: limit, steps)
      }
      try enter(handle, isQuestion: true) { (scheduler, _) throws(SeleneError) in try scheduler.setClock(still.next) }
      steps += 1
    }
  }

  private static func awaitStillness(
    _ handle: UInt64, handlers: Bool, limit: Instant, _ steps: Int
  ) throws(SeleneError) -> Advance {
    // It waits for the store, too, but no longer than it may.
    let scheduler = try enter(handle, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      guard scheduler.clock.isTold else { throw Self.isNotTold }
      try scheduler.refuseInsideCallback("advancing the clock")
      return scheduler
    }
    scheduler.lock()
    return try scheduler.leaving { () throws(SeleneError) in
      while true {
        guard !scheduler.isClosing, scheduler.slot.scheduler === scheduler else { throw .closedHandle }
        scheduler.advance(to: scheduler.clock.last)
        if scheduler.isStill(handlers: handlers) { return scheduler.standing(steps) }
        if try scheduler.settleDeliveries() { continue }
        let left = limit.subtracting(platform_boot_clock())
        guard left > 0 else {
          throw SeleneError(
            .busy, "\(scheduler.handlersAtWork) handlers, or other threads, are still at work at this instant")
        }
        scheduler.slot.monitor.watch(left)
      }
    }
  }

  static var isNotTold: SeleneError {
    SeleneError(.unsupported, "the scheduler was not opened with SELENE_OPTIONS_SET_CLOCK")
  }

  /// Whether nothing more happens at this instant unless the host does something.
  private func isStill(handlers: Bool) -> Bool {
    guard !saver.isAtWork, workers.jobs.isEmpty, !workers.isTellerCalled, !hasNews, outbox.deliverers == 0,
      let still = slot.monitor.still
    else { return false }
    let driver = governance.driver.map { $0.hasThread && $0.isAsleep } == true ? 1 : 0
    guard workers.alive - workers.inHost + sleepers.calls == still + driver else { return false }
    return !handlers || !hostIsAtWork
  }

  /// Whether the host has something to do at this instant, or does it: a handler is at work, a driver is to be stepped, nobody
  /// has come for a cycle of lanes.
  private var hostIsAtWork: Bool {
    if handlersAtWork > 0 { return true }
    // Who steps it may be who works its window off, and comes behind that.
    if let driver = governance.driver, !driver.hasThread, !driver.isAsleep, !cycles.contains(where: { $0.isDriven }) {
      return true
    }
    return cycles.contains { cycle in
      guard cycle.mode == .lanes else { return false }
      if let watch = cycle.watch { return !watch.isAsleep }
      guard cycle.waiting == 0 else { return false }
      var isInHandler = false
      lanes.forEach { if $0.cycle === cycle && $0.run != nil && !$0.isLeftBehind { isInHandler = true } }
      return !isInHandler
    }
  }

  /// Handlers whose runs are not over, but those that wait for time.
  private var handlersAtWork: Int {
    var count = 0
    runs.forEach { if $0.isInHandler && !$0.isLeftBehind { count += 1 } }
    return count - sleepers.handlers
  }

  private func standing(_ steps: Int) -> Advance {
    let now = clock.last
    var next = Time.never
    func see(_ at: Instant) { if at > now && at < next { next = at } }
    see(looksAgainAt())
    if table.expiresAt != Time.never { see(table.expiresAt.adding(1)) }
    for instant in sleepers.instants { see(instant) }
    for cycle in cycles { if let watch = cycle.watch { see(watch.sleepsUntil) } }
    forEachDriver { see($0.sleepsUntil) }
    return Advance(now: now, next: next, steps: steps, atWork: handlersAtWork)
  }
}
