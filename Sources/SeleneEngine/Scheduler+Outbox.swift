// Telling the host: what changed is put into the outbox under the lock, and delivered without it.

import CPlatform
import SeleneCore

extension Scheduler {
  // MARK: After a rule changed something

  func newChanges() -> Changes { Changes(isObserved: outbox.isObserved) }

  @inline(__always)
  func publish(_ changes: Changes, at now: Instant) {
    if !changes.isEmpty { carryOut(changes, at: now) }
  }

  @inline(never)
  private func carryOut(_ changes: Changes, at now: Instant) {
    for (token, reason) in changes.stops {
      if let run = runs[Token(rawValue: token).number] { stop(run, reason, at: now) }
    }
    for change in changes.list { tell(change, at: now) }
  }

  @inline(__always)
  func publish(_ change: @autoclosure () -> Change, at now: Instant) {
    if outbox.isObserved { tell(change(), at: now) }
  }

  private func tell(_ change: Change, at now: Instant) {
    if outbox.tell(change, at: now) { observerFellBehind(at: now) }
  }

  /// Delivers what ended its last use.
  func finishIfLast(_ isLast: Bool, _ callback: Callback) {
    if isLast { outbox.add(.finish(callback)) }
  }

  // MARK: Delivering

  /// How long a thread that stands by lets a function of the host take before it delivers what waits behind it.
  private static let moment = 5 * Time.second / 1000

  /// Delivers what waits, or lets a thread of the library do it. Called and left with the lock held.
  ///
  /// A call delivers the stops and ends that it causes itself. The rest comes on threads of the library, where there are any.
  ///
  /// - Parameter handsOver: whether this thread has something to do that does not wait for the host at all.
  /// - Throws: `forked`, as `leave`.
  func emptyOutbox(handsOver: Bool) throws(SeleneError) {
    guard hasTellers else { return try deliver { $0.outbox.takeDelivery() } }
    if !handsOver && outbox.hasOwn && !isWorkingForCycle {
      let own = (outbox.lastBefore + 1)...outbox.lastDelivery
      try deliver { $0.isRoomForCall ? $0.outbox.takeDelivery(of: own) : nil }
    }
    if !callTeller() { try deliver { $0.outbox.takeDelivery() } }
  }

  /// Whether there is something to tell the host, lines of the log among it.
  var hasNews: Bool { !outbox.isEmpty || Log.isWaiting }

  /// Whether threads of the library deliver what calls cause. The call that closes does it itself.
  var hasTellers: Bool { workers.tell && workers.alive > 0 && (!isClosing || isLibraryThread) }

  /// Whether this is a thread of the library, not in a function of the host.
  private var isWorkingForCycle: Bool { isLibraryThread && !isInsideCallback }

  /// Lets a thread of the library deliver what waits: none of the host's functions keeps another from being called (C18).
  ///
  /// - Returns: whether one does, or is kept from it by the cap alone.
  func callTeller() -> Bool {
    guard !workers.isStopping else { return false }
    guard !workers.isTellerCalled, isWorkForTeller else { return true }
    guard (try? ensureThreads(1)) != nil else { return false }
    workers.isTellerCalled = true
    slot.monitor.call(workers.line)
    return true
  }

  /// Whether there is something that a thread of the library may deliver. Besides the observer's, so many are in functions of
  /// the host at a time; those that do not come back count for the cap.
  private var isWorkForTeller: Bool { Log.isWaiting || outbox.hasNotices || (outbox.hasDeliveries && isRoomForCall) }

  private var isRoomForCall: Bool {
    workers.calls.count < Int(options.maxOverrunThreads) + 1 + cycles.reduce(0) { $0 + $1.openRuns }
  }

  /// On a thread of the library that was called: stands by while others deliver and get on, else takes part. Called and left
  /// with the lock held.
  func standBy() throws(SeleneError) {
    while isWorkForTeller {
      let (seen, until) = (outbox.taken, platform_boot_clock().adding(Self.moment))
      while !Log.isWaiting && !outbox.hasNotices && outbox.hasDeliveries && outbox.deliverers > 0
        && outbox.taken == seen
      {
        let left = until.subtracting(platform_boot_clock())
        guard left > 0 else { break }
        slot.monitor.wait(left)
      }
      guard Log.isWaiting || outbox.hasNotices || outbox.deliverers == 0 || outbox.taken == seen else { continue }
      try deliver { $0.isRoomForCall ? $0.outbox.takeDelivery() : nil }
    }
  }

  /// Delivers what it takes, and events unless another thread of the library does. Called and left with the lock held.
  private func deliver(_ take: (Scheduler) -> Delivery?) throws(SeleneError) {
    outbox.deliverers += 1
    while true {
      if let delivery = take(self) {
        try deliver(delivery)
      } else if !(hasTellers && !isWorkingForCycle && callTeller()), let notice = outbox.takeNotice() {
        try deliver(notice)
      } else if isWorkingForCycle && Log.isWaiting {
        workers.lastCall += 1
        try outsideForCall(workers.lastCall) { () throws(SeleneError) in try Log.deliver() }
      } else {
        break
      }
    }
    outbox.deliverers -= 1
  }

  private func deliver(_ delivery: Delivery) throws(SeleneError) {
    // If this one takes its time, another thread goes on.
    if hasNews && workers.tell && workers.alive > 0 { _ = callTeller() }
    workers.lastCall += 1
    let call = HostCall(kind: .delivery, number: workers.lastCall)
    outbox.underWay.append((call.number, delivery))
    try outsideForCall(call.number) { () throws(SeleneError) in
      switch delivery {
      case .stop(let run, let reason):
        if let stop = run.handler.stop { try callHost(life, call) { stop(run.token, reason) } }
      case .finish(let callback): try callback.finish(life, call)
      case .report(let handed):
        if let receive = handed.receiver.receive { try callHost(life, call) { receive(handed.report) } }
      }
    }
    isDelivered(call.number)
  }

  /// A delivery has come to its end.
  func isDelivered(_ number: UInt64) {
    guard let place = outbox.underWay.lastIndex(where: { $0.number == number }) else { return }
    switch outbox.underWay.remove(at: place).delivery {
    case .stop(let run, _): endUse(of: run.handler)
    case .finish: break
    case .report(let handed):
      _ = handed.receiver.retire()
      finishIfLast(handed.receiver.endUse(), handed.receiver)
    }
  }

  private func deliver(_ notice: Notice) throws(SeleneError) {
    workers.lastCall += 1
    let call = HostCall(kind: .notice, number: workers.lastCall)
    try outsideForCall(call.number) { () throws(SeleneError) in
      if let event = notice.event {
        try callHost(life, call) { notice.observer.observe(event) }
      } else {
        try notice.observer.finish(life, call)
      }
    }
    noticeIsDelivered()
  }

  func noticeIsDelivered() {
    outbox.noticeIsDelivered()
    if let lost = outbox.catchUp() { observerCaughtUp(lost) }
  }

  /// As `outside`; on a thread of the library it counts for the cap if it takes long.
  private func outsideForCall(_ number: UInt64, _ body: () throws(SeleneError) -> Void) throws(SeleneError) {
    guard isWorkingForCycle else { return try outside(body) }
    workers.calls.append((number, tick()))
    try outside(body)
    callIsOver(number)
  }

  func callIsOver(_ number: UInt64) {
    workers.calls.removeAll { $0.number == number }
    threadIsFree()
  }
}
