// Callbacks that were left otherwise than by their return: by a jump, an exception, or the end of their thread (A8).

import CPlatform
import SeleneCore

extension Scheduler {
  // MARK: Finding

  /// Drops what this thread has left, before it calls. It holds no lock, and has come as far as `here` on its stack.
  @inline(never)
  static func dropLeft(from here: UInt) {
    var frame = platform_frame()
    while platform_frame_take_left(here, &frame) != 0 { drop(frame) }
  }

  /// The same of what stands above the frame of a call that has come back.
  @inline(never)
  static func dropLeft(above mark: UnsafePointer<platform_mark>) {
    var frame = platform_frame()
    while platform_frame_take_above(mark, &frame) != 0 { drop(frame) }
    _ = platform_frame_pop(mark)
  }

  /// From now on threads that end in the middle of a callback tell.
  static func followEndsOfThreads() {
    platform_on_thread_end {
      var frame = platform_frame()
      while platform_frame_take(&frame) != 0 { Scheduler.drop(frame, threadEnds: true) }
    }
  }

  @inline(never)
  private static func drop(_ frame: platform_frame, threadEnds: Bool = false) {
    guard let kind = HostCall.Kind(rawValue: frame.kind), kind != .untold else { return }
    let life = frame.owner & ~workerBit
    // A scheduler that is closed has nothing that could be set right.
    guard let slot = try? Registry.find(Token(life: life, number: 1)) else { return }
    slot.monitor.lock()
    guard let scheduler = slot.scheduler, scheduler.life == life else { return slot.monitor.unlock() }
    scheduler.wasLeft(kind, frame.number, threadEnds)
    try? scheduler.leave(handsOver: true)
  }

  // MARK: Setting right

  /// A callback was left; called with the lock held, once its frame is gone.
  private func wasLeft(_ kind: HostCall.Kind, _ number: UInt64, _ threadEnds: Bool) {
    if kind != .worker && isLibraryThread && !isInsideCallback && !(threadEnds && endsInHost()) { workers.inHost -= 1 }
    switch kind {
    case .untold, .hook: break
    case .run: handlerWasLeft(Token(rawValue: number).number)
    case .delivery:
      outbox.deliverers -= 1
      callIsOver(number)
      isDelivered(number)
    case .notice:
      outbox.deliverers -= 1
      callIsOver(number)
      noticeIsDelivered()
    case .worker: workerHasGone(number)
    }
    if !isInsideCallback && !isLibraryThread { blockingCallsWereLeft() }
    wake()
  }

  /// The run is over: failed, unless it has its outcome.
  private func handlerWasLeft(_ number: UInt64) {
    guard let run = runs[number] ?? workers.letGo.first(where: { Token(rawValue: $0.token).number == number }) else {
      return
    }
    let (now, handler) = (presentOfLeft, run.handler)
    workers.letGo.removeAll { $0 === run }
    // The worker's frame comes next, if its thread ends; its place in the cycle has been taken then.
    if run.isLeftBehind { forgetJob() }
    leaveHandler(of: run, handler)
    endUse(of: handler)
    run.wasGivenOutcome = true
    if run.isOpen { decide(run, .failed, retryDelay: nil, because: LastFailure.handlerLeft, at: now) }
    comeBackIfDone(run)
  }

  private var presentOfLeft: Instant { clock.host == nil ? tick() : clock.last }

  private func forgetJob() {
    let thread = platform_thread_number()
    guard let place = workers.serving.firstIndex(where: { $0.thread == thread }) else { return }
    workers.serving[place].job = nil
  }

  /// This thread of the library counts as in the host until it has gone, so that a close waits for that.
  private func endsInHost() -> Bool {
    let thread = platform_thread_number()
    guard let place = workers.serving.firstIndex(where: { $0.thread == thread }) else { return false }
    workers.serving[place].endsInHost = true
    return true
  }

  /// A thread of the library has ended in a callback: another does what it did.
  private func workerHasGone(_ thread: UInt64) {
    // It may also have ended behind its last job.
    guard let place = workers.serving.firstIndex(where: { $0.thread == thread }) else { return }
    let gone = workers.serving.remove(at: place)
    if gone.isIdle { workers.idle -= 1 }
    if gone.endsInHost { workers.inHost -= 1 }
    workers.alive -= 1
    if let threadHooks { finishIfLast(threadHooks.endUse(), threadHooks) }
    switch gone.job {
    case .lane(let cycle): if !cycle.isEnded { replaceThread(of: cycle) }
    case .coordinate(let cycle): if !cycle.isEnded { coordinate(cycle) }
    case .drive(let driver):
      if governance.driver === driver, (try? ensureThreads(1)) != nil {
        submit(.drive(driver))
      } else {
        driver.hasLeft = true
      }
    case .hear: if (try? ensureThreads(1)) != nil { submit(.hear) }
    case .save, nil: break
    }
  }

  private func coordinate(_ cycle: Cycle) {
    if (try? ensureThreads(1)) != nil { submit(.coordinate(cycle)) } else { _ = end(cycle, at: presentOfLeft) }
  }

  /// This thread is in no call of this scheduler any more: cycles that it saw through end, or have another thread for that.
  private func blockingCallsWereLeft() {
    let thread = platform_thread_number()
    for cycle in cycles where cycle.waiter == thread {
      cycle.waiter = 0
      if cycle.mode == .inline { _ = end(cycle, at: presentOfLeft) } else { coordinate(cycle) }
    }
  }
}
