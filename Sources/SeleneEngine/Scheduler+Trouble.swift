// Trouble is told (C19): to the observer, by explain, and in the answer when to open a window.

import CPlatform
import SeleneCore

extension Scheduler {
  /// Something could not be done because of a trouble.
  func troubleBegins(_ trouble: Trouble, _ error: SeleneError, cause: UInt64 = 0, at now: Instant) {
    if trouble == .store { isStoreMoved = error.code == .storeMoved }
    defer { noteTroubles(at: now) }
    guard troubles.begin(trouble, status: error.code.rawValue, cause: cause, at: now) else { return }
    publish(told(trouble, error), at: now)
    log(.warning, "trouble (\(trouble.name)): \(error.detail)")
  }

  /// What a trouble kept from working works again.
  func troubleEnds(_ trouble: Trouble, at now: Instant) {
    guard troubles.isOn(trouble) else { return }
    if troubles.end(trouble) {
      publish(told(trouble, nil), at: now)
      log(.warning, "the trouble (\(trouble.name)) is over")
    }
    noteTroubles(at: now)
    letDriversLook()
  }

  /// What of it keeps windows from opening (W8).
  private func noteTroubles(at now: Instant) {
    table.waits.set(.storeRefuses, troubles.isOn(.store), at: now)
    table.waits.set(.noThread, troubles.isOn(.thread) || troubles.isOn(.overrun), at: now)
  }

  private func told(_ trouble: Trouble, _ error: SeleneError?) -> Change {
    let change = Change(.trouble)
    change.detail = Int32(bitPattern: trouble.rawValue)
    if let error {
      change.status = error.code.rawValue
      change.message = error.detail.bytes.withUnsafeBytes { Bytes(copying: $0) }
    }
    return change
  }

  // MARK: What nothing announces (D6)

  /// How often it is looked at, where somebody calls.
  private static let vigilance = Time.second

  /// Looks whether the store is where it was. Called and left with the lock held, which is free meanwhile.
  @inline(never)
  func lookAround(at now: Instant) {
    looksAroundAt = now.adding(Self.vigilance)
    if clock.host == nil { lookAtClock(behindBy: now.subtracting(platform_wall_clock())) }
    guard store.isDurable && !saver.isAtWork && !isClosing else { return }
    let store = store
    do throws(SeleneError) {
      try withoutLock { () throws(SeleneError) in try store.look() }
      if isStoreMoved {
        isStoreMoved = false
        troubleEnds(.store, at: clock.last)
      }
    } catch {
      troubleBegins(.store, error, at: clock.last)
    }
    payBack()
  }

  /// What a clock may be wrong before it counts as having jumped.
  private static let tolerance = Time.minute

  /// The system's clock is so much behind scheduler time, or a host's.
  @inline(__always)
  func lookAtClock(behindBy span: Span) {
    if span.magnitude > Self.tolerance.magnitude || troubles.isOn(.clock) { judgeClock(behindBy: span) }
  }

  @inline(never)
  private func judgeClock(behindBy span: Span) {
    guard span.magnitude > Self.tolerance.magnitude else { return troubleEnds(.clock, at: clock.last) }
    let apart = Span(clamping: span.magnitude) / Time.second * Time.second
    let error =
      clock.host != nil
      ? SeleneError(
        .tooSoon, "the host's clock went back by \(span: apart), scheduler time stands still until it has caught up")
      : span > 0
        ? SeleneError(
          .tooSoon, "the system's clock was set: it is \(span: apart) behind scheduler time, which goes on as before")
        : SeleneError(
          .tooSoon, "the system's clock was set: it is \(span: apart) ahead of scheduler time, which goes on as before")
    troubleBegins(.clock, error, at: clock.last)
  }

  // MARK: An observer that is told too much

  /// The first event finds no room.
  func observerFellBehind(at now: Instant) {
    let error = SeleneError(.exhausted, "65536 events wait for the observer; further ones are lost")
    _ = troubles.begin(.observer, status: error.code.rawValue, at: now)
    outbox.tellOfLoss(told(.observer, error), at: now)
    log(.warning, "trouble (\(Trouble.observer.name)): \(error.detail)")
  }

  /// It has room again. What was lost is told each time, however often it happens.
  func observerCaughtUp(_ lost: UInt64) {
    _ = troubles.end(.observer)
    let change = told(.observer, nil)
    change.message = SeleneError(.exhausted, "\(lost) events were lost").detail.bytes.withUnsafeBytes {
      Bytes(copying: $0)
    }
    publish(change, at: clock.last)
    log(.warning, "the trouble (\(Trouble.observer.name)) is over: \(lost) events were lost")
  }

  // MARK: Threads left behind (C19)

  /// From here on a library thread in a stop function, an observer, a report or a destroy counts as left behind.
  private static let patience = Time.second

  /// Threads in functions of the host that should have returned.
  var overrunThreads: Int {
    let now = clock.last
    return workers.leftBehind + workers.calls.reduce(0) { $0 + ($1.since.adding(Self.patience) <= now ? 1 : 0) }
  }

  /// No window can be opened on library threads, or for lanes, until one comes back.
  var isAtThreadCap: Bool { overrunThreads > 0 && overrunThreads >= Int(options.maxOverrunThreads) }

  var threadCapError: SeleneError {
    SeleneError(
      .busy,
      "\(overrunThreads) threads are still in handlers that overran, max_overrun_threads is \(options.maxOverrunThreads)"
    )
  }

  /// - Throws: `busy`.
  func refuseAtThreadCap() throws(SeleneError) {
    guard isAtThreadCap else { return }
    tellThreadCap()
    throw threadCapError
  }

  func tellThreadCap() { if isAtThreadCap { troubleBegins(.overrun, threadCapError, at: clock.last) } }

  /// Threads are in handlers whose runs are over.
  func threadsStayBehind(_ count: Int) {
    workers.leftBehind += count
    tellThreadCap()
  }

  /// One of them has come back. Called with the lock held, maybe long after its run was let go.
  func threadCameBack() {
    workers.leftBehind -= 1
    threadIsFree()
  }

  func threadIsFree() {
    guard !isAtThreadCap else { return }
    troubleEnds(.overrun, at: clock.last)
    governance.driver?.follow(table.stamp)
  }

  // MARK: Handlers that are stuck (R4)

  /// A thread stays behind in a handler: at so many its tasks are not eligible.
  func threadStaysBehind(in handler: Handler) {
    handler.leftBehind += 1
    log(
      .warning,
      "handler \(name: nameText(of: handler)) overran: its thread was left behind, \(handler.leftBehind) in all")
    guard handler.leftBehind == Int(options.maxOverrunPerHandler), !handler.isRetired else { return }
    handler.isStuck = true
    workers.stuckHandlers += 1
    table.set(handler: handler.number, isStuck: true)
    let error = SeleneError(
      .busy, "handler", name: nameText(of: handler),
      "has left \(handler.leftBehind) threads behind, max_overrun_per_handler is \(options.maxOverrunPerHandler)")
    let now = clock.last
    _ = troubles.begin(.handler, status: error.code.rawValue, at: now)
    // Each is a cause of its own.
    guard handler.toldStuckAt == .min || now >= handler.toldStuckAt.adding(Troubles.quiet) else { return }
    (handler.isToldStuck, handler.toldStuckAt) = (true, now)
    publish(told(.handler, error), at: now)
    log(.warning, "trouble (\(Trouble.handler.name)): \(error.detail)")
  }

  private func nameText(of handler: Handler) -> UnsafeRawBufferPointer {
    table.name(ofHandler: handler.number)?.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// A thread has come back from a handler.
  func threadCameBack(from handler: Handler) {
    handler.leftBehind -= 1
    log(.info, "handler \(name: nameText(of: handler)): a thread that was left behind has returned")
    if handler.isStuck && handler.leftBehind < Int(options.maxOverrunPerHandler) { isFree(handler) }
  }

  /// A stuck handler's tasks are eligible again, or it goes.
  func isFree(_ handler: Handler) {
    handler.isStuck = false
    workers.stuckHandlers -= 1
    table.set(handler: handler.number, isStuck: false)
    if workers.stuckHandlers == 0 { _ = troubles.end(.handler) }
    if handler.isToldStuck {
      handler.isToldStuck = false
      let change = told(.handler, nil)
      change.message = table.name(ofHandler: handler.number)
      publish(change, at: clock.last)
      log(.warning, "the trouble (\(Trouble.handler.name)) is over: \(name: nameText(of: handler))")
    }
    lookAgain()
  }

  /// The kinds whose next window is one on threads, as far as is known.
  private func pushes(_ kind: Kind) -> Bool { governance.driver?.needsThreads ?? traces[kind]?.needsThreads ?? true }

  /// The kinds for which `begin` would answer that no thread is free.
  var cappedKinds: KindSet {
    guard isAtThreadCap else { return [] }
    return Kind.allCases.reduce(KindSet()) { pushes($1) ? $0.union(KindSet($1)) : $0 }
  }

  // MARK: Answers

  /// What of a task's waiting is owed to troubles.
  func troubleReasons(_ kind: Kind) -> [Explanation.Entry] {
    let triesAt = governance.driver?.delayedUntil[kind] ?? .min
    let mayChangeAt = triesAt > clock.last ? triesAt : Time.never
    var entries: [Explanation.Entry] = []
    if troubles.isOn(.store) { entries.append(Explanation.Entry(reason: .storeRefuses, mayChangeAt: mayChangeAt)) }
    if isAtThreadCap && pushes(kind) {
      entries.append(Explanation.Entry(reason: .noThread))
    } else if troubles.isOn(.thread) && pushes(kind) {
      entries.append(Explanation.Entry(reason: .noThread, mayChangeAt: mayChangeAt))
    }
    return entries
  }

  /// When a begin that was refused is worth another try.
  var beginsAgainAt: Instant { max(troubles.triesAgainAt(.store), troubles.triesAgainAt(.thread)) }
}
