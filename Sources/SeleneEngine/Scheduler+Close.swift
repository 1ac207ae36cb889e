// The end of a scheduler (P3).

import CPlatform
import SeleneCore

extension Units {
  /// - Throws: `invalidArgument`.
  package func check(grace: Span) throws(SeleneError) { try check("grace", grace, 0, Time.day) }
}

extension Scheduler {
  // MARK: Drain (R6)

  /// The kinds of which something may be dispatched.
  var offered: KindSet { isDrained ? [] : enabled }

  /// The kinds of which a task of a pool may be dispatched, or one of this process's own.
  @inline(__always)
  func offered(to pool: Pool?) -> KindSet {
    table.pauses.isEmpty ? offered : offered.subtracting(table.pauses.kinds(of: pool?.name, at: clock.last))
  }

  func refuseDrained() throws(SeleneError) {
    guard !isDrained else {
      throw SeleneError(
        .unavailable, isLeaving ? "it is being closed" : "drained; selene_scheduler_resume lets it dispatch again")
    }
  }

  /// Lets nothing more be dispatched, and waits up to a grace until nothing runs; with a host clock it does not wait.
  ///
  /// - Parameter serve: serves for a while, so that runs of other processes come to their end; whether this thread is to, where
  ///   that is 0.
  /// - Throws: `invalidArgument`, `invalidHandle`, `forked`, `reentrant`, `busy` when something still runs, a status of
  ///   stores when outcomes are not durable.
  package static func drain(
    _ handle: UInt64, grace: Span, serve: (Span) -> Bool = { _ in false }
  ) throws(SeleneError) {
    let (scheduler, end) = try enter(handle) { scheduler, _ throws(SeleneError) in
      try scheduler.units.check(grace: grace)
      if grace > 0 { try scheduler.refuseInsideCallback("waiting for runs") }
      let end = scheduler.end(of: grace)
      scheduler.dispatches(false)
      return (scheduler, end)
    }
    scheduler.lock()
    try scheduler.leaving { () throws(SeleneError) in
      try scheduler.awaitRuns(until: end, serve) { $0.runsAtWork > 0 }
      try scheduler.save(at: scheduler.clock.last)
      let count = scheduler.runsAtWork
      guard count == 0 else {
        throw SeleneError(.busy, "\(count) runs are in flight, or their handlers have not returned")
      }
    }
  }

  /// Lets a drained scheduler dispatch again.
  ///
  /// - Throws: `unavailable` while it is being closed.
  package func resume() throws(SeleneError) {
    guard !isLeaving else { throw SeleneError(.unavailable, "it is being closed") }
    dispatches(true)
  }

  private func dispatches(_ mayDispatch: Bool) {
    isDrained = !mayDispatch
    lookAgain()
    wake()
  }

  /// Runs that are open, or whose threads are still in their handlers and were not left behind.
  private var runsAtWork: Int {
    var count = 0
    runs.forEach { if $0.isAtWork { count += 1 } }
    return count
  }

  /// Waits while runs are at work, at most until the end of a grace. Called and left with the lock held.
  ///
  /// - Throws: `invalidHandle` if it was closed meanwhile, `forked`.
  private func awaitRuns(
    until end: EndOfGrace, _ serve: (Span) -> Bool, while areAtWork: (Scheduler) -> Bool
  ) throws(SeleneError) {
    let thread = platform_thread_number()
    sleepers.calls += 1
    defer { sleepers.calls -= 1 }
    while true {
      guard !isEnding, slot.scheduler === self else { throw .closedHandle }
      // A clock that is told goes on while threads are at work that another thread may tell.
      guard clock.host == nil || (clock.isTold && waitsForThreads(on: thread)) else { return }
      let now = tick()
      advance(to: now)
      let left = end.left(clock)
      guard areAtWork(self), left > 0 else { return }
      guard try !settleDeliveries() else { continue }
      let span = clock.isTold ? left : min(left, nextDue.subtracting(now))
      guard serve(0) else {
        pause(span, end)
        continue
      }
      // Meanwhile it waits for other processes, not for time.
      sleepers.calls -= 1
      unlock()
      let hasServed = serve(max(1, span))
      lock()
      if !hasServed { slot.monitor.wait(min(span, Time.second / 100)) }
      sleepers.calls += 1
    }
  }

  // MARK: Close

  /// Whether a close would be refused.
  ///
  /// - Throws: `invalidArgument`, `invalidHandle`, `forked`, `reentrant`.
  package static func checkClose(_ handle: UInt64, grace: Span) throws(SeleneError) {
    try enter(handle) { scheduler, _ throws(SeleneError) in
      try scheduler.units.check(grace: grace)
      try scheduler.refuseInsideCallback("close")
    }
  }

  /// How much of a grace is for runs that are asked to stop.
  static func lastPart(of grace: Span) -> Span { min(grace / 10, 10 * Time.second) }

  /// Closes a scheduler: drains it for the grace, stops what is left, waits for its handlers, ends its threads.
  ///
  /// - Parameters:
  ///   - serve: as of `drain`.
  ///   - endServers: what other processes run is over with that; called once it is drained, while the store is ours, and again
  ///     once the handle is closed.
  /// - Throws: `invalidArgument`, `invalidHandle`, also if another thread closed it meanwhile, `forked`, `reentrant`.
  package static func close(
    _ handle: UInt64, grace: Span, serve: (Span) -> Bool = { _ in false }, endServers: () -> Void = {}
  ) throws(SeleneError) {
    try checkClose(handle, grace: grace)
    let end = try enter(handle) { scheduler, _ throws(SeleneError) in scheduler.end(of: grace) }
    if grace > 0 { try drainForClose(handle, grace, asking: lastPart(of: grace), until: end, serve) }
    endServers()
    let scheduler = try enter(handle) { scheduler, moment throws(SeleneError) in
      try scheduler.refuseInsideCallback("close")
      scheduler.shutDown(at: moment.now)
      return scheduler
    }
    // A server that was started since then has found the scheduler open; from here on none does.
    endServers()
    try scheduler.awaitHandlers(until: end)
    if let error = try scheduler.retire() { throw error }
  }

  /// Lets nothing more be dispatched for good, and what runs complete; the last part of the time it is asked to stop (R6).
  private static func drainForClose(
    _ handle: UInt64, _ grace: Span, asking: Span, until end: EndOfGrace, _ serve: (Span) -> Bool
  ) throws(SeleneError) {
    let (scheduler, hasHostClock) = try enter(handle) { scheduler, _ throws(SeleneError) in
      try scheduler.refuseInsideCallback("close")
      scheduler.isLeaving = true
      scheduler.dispatches(false)
      scheduler.owner?.letFinish(within: grace, for: scheduler)
      return (scheduler, !scheduler.clock.wakes)
    }
    // With a host clock it does not wait, as a drain.
    guard !hasHostClock else { return }
    scheduler.lock()
    try scheduler.leaving { () throws(SeleneError) in
      let thread = platform_thread_number()
      try scheduler.awaitRuns(until: end.earlier(by: asking), serve) { $0.waitsForRuns(on: thread) }
      guard scheduler.waitsForRuns(on: thread) else { return }
      scheduler.askRunsToStop()
      try scheduler.awaitRuns(until: end, serve) { $0.waitsForRuns(on: thread) }
    }
  }

  /// Asks the runs to stop that nothing has asked before; they may still complete.
  private func askRunsToStop() {
    let now = clock.last
    runs.forEach { if $0.isOpen && $0.stopReason == .none { ask($0, .shutdown, at: now) } }
    wake()
  }

  /// Whether a thread that closes may wait for runs that are at work: for those that it would complete itself it waits in vain.
  private func waitsForRuns(on thread: UInt64) -> Bool {
    var count = 0
    // What went on from an owner that has gone, and whose thread has returned, is told to the next one, if there is any.
    runs.forEach {
      if $0.isAtWork && $0.cycle?.taker != thread && (owner == nil || $0.isInCycle || $0.isInHandler) { count += 1 }
    }
    lanes.forEach { if let run = $0.run, run.isAtWork, $0.thread == thread, run.cycle?.taker != thread { count -= 1 } }
    return count > 0
  }

  /// Whether runs are at work on threads of the library, of lanes or of other processes.
  private func waitsForThreads(on thread: UInt64) -> Bool {
    var found = false
    runs.forEach { if $0.isAtWork && ($0.mode == .pushed || $0.mode == .member) { found = true } }
    return found || hasLanesAtWork(but: thread)
  }

  /// From here on the handle is closed: runs are over, cycles reported, handlers retired.
  private func shutDown(at now: Instant) {
    isEnding = true
    letDriverGo()
    closeNode(at: now)
    closeEvents()
    owner?.leave(self, at: now)
    // While the end of a cycle is stored the lock is free: who is in a call already goes on, and runs get their outcomes.
    while !cycles.isEmpty || saver.isAtWork {
      for cycle in cycles { stop(cycle, at: now) }
      awaitStore()
    }
    // Only here, so that the reports say whether their outcomes could be stored.
    isClosing = true
    for case .some(let handler) in handlers where !handler.isRetired {
      table.retireHandler(handler.number)
      finishIfLast(handler.retire(), handler)
    }
    observe(nil, destroy: nil)
    if let host = clock.host { finishIfLast(host.retire(), host) }
    store.waits = table.waits.pack(at: now, isLast: true)
    (store.runs, adoption.unsaved) = (adoption.unsaved, [])
    do throws(SeleneError) {
      try store.save(table, storedState(at: now), unsavedBooks(at: now), isLast: true)
    } catch {
      saver.closingError = error
    }
    stopTrace()
    store.close()
    if let error = saver.closingError {
      log(.error, "closed without its last changes: \(error.detail)")
    } else if store.isDurable {
      log(.info, "closed")
    }
  }

  /// No thread is started any more; the last that ends, or this call, ends the hooks.
  private func letHooksGo() throws(SeleneError) {
    guard let threadHooks else { return }
    lock()
    let isLast = threadHooks.retire()
    unlock()
    if isLast { try threadHooks.finish(life) }
  }

  private func awaitHandlers(until end: EndOfGrace) throws(SeleneError) {
    lock()
    let thread = platform_thread_number()
    // What was handed over is called by a thread that may only be about to.
    while workers.inHost > 0 || workers.isTellerCalled || hasLanesAtWork(but: thread) {
      let left = end.left(clock)
      guard left > 0 else { break }
      slot.monitor.wait(left)
    }
    try leave()
  }

  /// Lets the slot go, ends the threads that are not in a callback, and waits for them.
  ///
  /// - Returns: why its last changes could not be stored, or nil.
  private func retire() throws(SeleneError) -> SeleneError? {
    lock()
    lanes.forEach { if let run = $0.run { slot.adopt(run, ofLane: $0.handle) } }
    Registry.retire(slot)
    var left: [Run] = []
    runs.forEach { left.append($0) }
    for run in left { comeBack(run) }
    workers.isStopping = true
    slot.monitor.callAll(workers.line)
    wake()
    while workers.alive > workers.inHost { slot.monitor.wait(Time.second) }
    let threads = workers.threads
    let allLeft = workers.alive == 0
    let refusal = saver.closingError
    try leave()
    // Which thread is in which callback is not known, so either all are joined or none.
    for thread in threads { allLeft ? platform_thread_join(thread) : platform_thread_detach(thread) }
    try letHooksGo()
    Registry.recycle(slot)
    return refusal
  }
}
