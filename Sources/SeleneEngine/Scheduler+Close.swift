// The end of a scheduler (P3).

import CPlatform
import SeleneCore

extension Scheduler {
  package static let longestGrace = Time.day

  // MARK: Drain (R6)

  /// The kinds of which something may be dispatched.
  var offered: KindSet { isDrained ? [] : enabled }

  func refuseDrained() throws(SeleneError) {
    guard !isDrained else { throw SeleneError(.unavailable, "drained; selene_scheduler_resume lets it dispatch again") }
  }

  /// Lets nothing more be dispatched, and waits up to a grace until nothing runs; with a host clock it does not wait.
  ///
  /// - Throws: `invalidArgument`, `invalidHandle`, `forked`, `reentrant`, `busy` when something still runs, a status of
  ///   stores when outcomes are not durable.
  package static func drain(_ handle: UInt64, grace: Span) throws(SeleneError) {
    guard (0...longestGrace).contains(grace) else { throw .range("grace", grace, 0, longestGrace, .duration) }
    let until = platform_boot_clock().adding(grace)
    let scheduler = try enter(handle) { scheduler, _ throws(SeleneError) in
      if grace > 0 { try scheduler.refuseInsideCallback("waiting for runs") }
      scheduler.dispatches(false)
      return scheduler
    }
    scheduler.lock()
    try scheduler.leaving { () throws(SeleneError) in
      try scheduler.awaitRuns(until: until)
      try scheduler.save(at: scheduler.clock.last)
      let count = scheduler.runsAtWork
      guard count == 0 else {
        throw SeleneError(.busy, "\(count) runs are in flight, or their handlers have not returned")
      }
    }
  }

  /// Lets a drained scheduler dispatch again.
  package func resume() { dispatches(true) }

  private func dispatches(_ mayDispatch: Bool) {
    isDrained = !mayDispatch
    lookAgain()
    slot.monitor.broadcast()
  }

  /// Runs that are open, or whose threads are still in their handlers and were not left behind.
  private var runsAtWork: Int {
    var count = 0
    runs.forEach { if $0.isOpen || ($0.isInHandler && !$0.isLeftBehind) { count += 1 } }
    return count
  }

  /// Waits until nothing runs, or until an instant of the boot clock. Called and left with the lock held.
  ///
  /// - Throws: `invalidHandle` if it was closed meanwhile, `forked`.
  private func awaitRuns(until: Instant) throws(SeleneError) {
    while true {
      guard !isClosing, slot.scheduler === self else { throw .closedHandle }
      guard clock.host == nil else { return }
      let now = tick()
      advance(to: now)
      let wall = platform_boot_clock()
      guard runsAtWork > 0, wall < until else { return }
      if try !settleDeliveries() {
        slot.monitor.wait(min(until.subtracting(wall), nextDue.subtracting(now)))
      }
    }
  }

  // MARK: Close

  /// Closes a scheduler: stops its runs, waits for its handlers up to the grace, ends its threads.
  ///
  /// - Throws: `invalidArgument`, `invalidHandle`, `forked`, `reentrant`.
  package static func close(_ handle: UInt64, grace: Span) throws(SeleneError) {
    guard (0...longestGrace).contains(grace) else { throw .range("grace", grace, 0, longestGrace, .duration) }
    let scheduler = try enter(handle) { scheduler, moment throws(SeleneError) in
      try scheduler.refuseInsideCallback("close")
      scheduler.shutDown(at: moment.now)
      return scheduler
    }
    try scheduler.awaitHandlers(grace)
    try scheduler.retire()
    if let error = scheduler.saver.closingError { throw error }
  }

  /// From here on the handle is closed: runs are over, cycles reported, handlers retired.
  private func shutDown(at now: Instant) {
    letDriverGo()
    for cycle in cycles {
      for run in cycle.runs where run.isOpen { stop(run, .shutdown, at: now) }
      _ = end(cycle, at: now)
    }
    // Only here, so that the reports say whether their outcomes could be stored.
    isClosing = true
    for case .some(let handler) in handlers where !handler.isRetired {
      table.retireHandler(handler.number)
      finishIfLast(handler.retire(), handler)
    }
    observe(nil, destroy: nil)
    if let host = clock.host { finishIfLast(host.retire(), host) }
    do throws(SeleneError) {
      try store.save(table, storedState(at: now), unsavedBooks(at: now), isLast: true)
    } catch {
      saver.closingError = error
    }
    stopTrace()
    store.close()
  }

  private func awaitHandlers(_ grace: Span) throws(SeleneError) {
    lock()
    let until = platform_boot_clock().adding(grace)
    // What was handed over is called by a thread that may only be about to.
    while workers.inHost > 0 || workers.isTellerCalled || hasLanesAtWork {
      let left = until.subtracting(platform_boot_clock())
      guard left > 0 else { break }
      slot.monitor.wait(left)
    }
    try leave()
  }

  /// Lets the slot go, ends the threads that are not in a callback, and waits for them.
  private func retire() throws(SeleneError) {
    lock()
    lanes.forEach { if let run = $0.run { slot.adopt(run, ofLane: $0.handle) } }
    Registry.retire(slot)
    var left: [Run] = []
    runs.forEach { left.append($0) }
    for run in left { comeBack(run) }
    workers.isStopping = true
    slot.monitor.call()
    slot.monitor.broadcast()
    while workers.alive > workers.inHost { slot.monitor.wait(Time.second) }
    let threads = workers.threads
    let allLeft = workers.alive == 0
    try leave()
    // Which thread is in which callback is not known, so either all are joined or none.
    for thread in threads { allLeft ? platform_thread_join(thread) : platform_thread_detach(thread) }
    Registry.recycle(slot)
  }
}
