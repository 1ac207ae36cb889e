// Switches, handlers, the observer, and counts.

import CPlatform
import SeleneCore

/// What a scheduler holds at a moment.
package struct Census {
  package let kinds: KindSet
  package let overrunThreads: Int
  /// The bits of `Trouble` that are on.
  package let troubles: UInt32
  package let stuckHandlers: Int
  package let dispatched: UInt64
  package let life: UInt64
  package let expeditedLeft: Span
  package let expeditedFreeAt: Instant
  private let table: TaskTable

  fileprivate init(_ scheduler: Scheduler, at now: Instant) {
    kinds = scheduler.enabled
    overrunThreads = scheduler.overrunThreads
    troubles = scheduler.troubles.on
    stuckHandlers = scheduler.workers.stuckHandlers
    dispatched = scheduler.runs.last
    life = scheduler.lifeNumber
    expeditedLeft = scheduler.table.expedited.left(at: now)
    expeditedFreeAt = expeditedLeft > 0 ? 0 : scheduler.table.expedited.freeAt(now)
    table = scheduler.table
  }

  package func count(_ state: TaskState) -> UInt64 { table.count(state) }
}

extension Scheduler {
  package var census: Census { Census(self, at: clock.last) }

  /// Switches kinds on and all others off (C13).
  ///
  /// - Throws: `invalidArgument`.
  package func enable(_ kinds: UInt32) throws(SeleneError) {
    guard kinds & ~KindSet.all.rawValue == 0 else {
      throw .kinds("kinds", kinds, atLeastOne: false)
    }
    enabled = KindSet(rawValue: kinds)
    lookAgain()
  }

  // MARK: Handlers (T10)

  /// Registers a handler. The caller ends the context if this throws.
  ///
  /// - Throws: `invalidArgument`, `alreadyExists`.
  package func addHandler(
    _ name: UnsafeRawBufferPointer, run: ((Run) -> Void)?, stop: ((UInt64, StopReason) -> Void)?,
    destroy: (() -> Void)?
  ) throws(SeleneError) {
    try Identifier.check(name, "name")
    // What other processes offered, and none does now, is free for this one.
    if let known = table.findHandler(name), let handler = handlers[known], isAbsent(handler) { forget(handler) }
    let number = try table.addHandler(name, pushes: run != nil)
    while handlers.count <= number { handlers.append(nil) }
    let made = Handler(number: number, run: run, stop: stop, destroy: destroy)
    handlers[number] = made
    guard let owner else { return }
    do throws(SeleneError) {
      try owner.offer(name, isCalled: run != nil, hasStop: stop != nil, for: self)
      // Another thread has unregistered it meanwhile, and found nothing at the owner.
      if made.isRetired { owner.withdraw(name, for: self) }
    } catch {
      guard !made.isRetired else { return }
      // It never was one: its context is the host's as before.
      table.retireHandler(number)
      table.freeHandler(number)
      handlers[number] = nil
      throw error
    }
  }

  /// Unregisters a handler; its runs in flight go on.
  ///
  /// - Throws: `invalidArgument`, `notFound`.
  package func removeHandler(_ name: UnsafeRawBufferPointer) throws(SeleneError) {
    try Identifier.check(name, "name")
    guard let number = table.findHandler(name), let handler = handlers[number], !table.isCrewed(handler: number) else {
      throw SeleneError(.notFound, "name", name: name, "is not a registered handler")
    }
    owner?.withdraw(name, for: self)
    guard handlers[number] === handler, !handler.isRetired else { return }
    if handler.isStuck { isFree(handler) }
    table.retireHandler(number)
    if handler.retire() { finish(handler) }
  }

  /// Ends one use of a handler.
  func endUse(of handler: Handler) { if handler.endUse() { finish(handler) } }

  /// The last use of a handler has ended.
  func finish(_ handler: Handler) {
    guard !saver.isAtWork else { return owe(.handler(handler)) }
    table.freeHandler(handler.number)
    handlers[handler.number] = nil
    outbox.add(.finish(handler))
  }

  // MARK: Events (C18)

  /// Sets the observer, or removes it.
  package func observe(_ observe: ((borrowing Event) -> Void)?, destroy: (() -> Void)?) {
    outbox.observe(observe.map { Observer(observe: $0, destroy: destroy) })
    if observe == nil, let destroy { outbox.add(.finish(Callback(destroy: destroy))) }
  }

  /// Opens the queue of events (B3).
  ///
  /// - Throws: `invalidArgument`, `alreadyExists`, `exhausted`.
  package func openEvents(capacity: UInt64) throws(SeleneError) -> EventQueue {
    try Self.checkEvents(capacity: capacity)
    guard outbox.queue == nil else { throw SeleneError(.alreadyExists, "the queue of events is open") }
    let queue = try EventQueue.open(capacity: Int(capacity))
    outbox.open(queue)
    return queue
  }

  /// - Throws: `invalidArgument` for a number of events that no queue can hold.
  package static func checkEvents(capacity: UInt64) throws(SeleneError) {
    guard (1...UInt64(EventQueue.mostEvents)).contains(capacity) else {
      throw .range("capacity", capacity, 1, Int64(EventQueue.mostEvents))
    }
  }

  /// Closes it; who waits for an event returns.
  package func closeEvents() {
    outbox.queue?.wake()
    outbox.queue = nil
  }

  /// Calls a body with the next event, if there is one by the end of a timeout, and says how many were lost before.
  ///
  /// - Throws: `unsupported` without a queue, `reentrant`.
  package static func nextEvent(
    _ handle: UInt64, timeout: Span, _ body: (borrowing Event) -> Void
  ) throws(SeleneError) -> (found: Bool, lost: UInt64) {
    let until = platform_boot_clock().adding(timeout)
    while true {
      let (queue, found, lost) = try enter(handle, isQuestion: true) { (scheduler, _) throws(SeleneError) in
        if timeout > 0 { try scheduler.refuseInsideCallback("waiting for an event") }
        guard let queue = scheduler.outbox.queue else { throw SeleneError(.unsupported, "no queue of events is open") }
        let lost = queue.takeLost()
        // Under the lock, where no other thread takes the next.
        guard let event = queue.next() else { return (queue, false, lost) }
        body(event)
        return (queue, true, lost)
      }
      let left = timeout == Time.never ? timeout : until.subtracting(platform_boot_clock())
      guard !found, lost == 0, left > 0, timeout > 0 else { return (found, lost) }
      queue.wait(left)
    }
  }

  /// Opens the queue that a server reads for its clients; what happened at open is left for the host.
  ///
  /// - Throws: `exhausted`.
  package func openTap(of server: UInt64) throws(SeleneError) -> EventQueue {
    let queue = try EventQueue.open(capacity: EventQueue.mostEvents)
    outbox.taps.append((server, queue))
    return queue
  }

  package func closeTap(of server: UInt64) { outbox.taps.removeAll { $0.server == server } }

  /// Takes out everything that waits for a server: each event, or nil at the end, and how many were lost before it.
  package func drainTap(of server: UInt64, _ each: (borrowing Event?, UInt64) -> Void) {
    guard let queue = outbox.taps.first(where: { $0.server == server })?.queue else { return }
    while true {
      let lost = queue.takeLost()
      let event = queue.next()
      if event != nil || lost > 0 { each(event, lost) }
      if event == nil { return }
    }
  }

  // MARK: A clock that is told (B3)

  /// Says what time it is.
  ///
  /// - Throws: `unsupported` where the clock is another.
  package func setClock(_ now: Instant) throws(SeleneError) {
    guard let host = clock.host, host.told != nil else {
      throw SeleneError(.unsupported, "the scheduler was not opened with SELENE_OPTIONS_SET_CLOCK")
    }
    host.told = now
    let now = clock.tick(now)
    table.advance(to: now)
    advance(to: now)
    forEachDriver { $0.follow(toldTime: now) }
    for cycle in cycles { cycle.watch?.follow(toldTime: now) }
    if crews.hasListeners { callMembers(all: true) }
    wake()
  }
}
