// Windows: pulled, and awaited.

import CSelene
import Synchronization

/// What `Cycle.next` found.
public enum Step: Sendable {
  /// Work on it, and complete it before or after the next.
  case run(Run)
  /// Ask again after a completion, or at this time; nil: only after a completion.
  case wait(until: Instant?)
  /// There is nothing more to do.
  case done
}

/// A window whose runs are pulled: for loops of one's own, and for tests. One that was not ended ends when it goes.
public final class Cycle: Sendable {
  private let core: Core
  private let handle: selene_cycle
  private let hasEnded = Atomic(false)

  init(_ core: Core, _ handle: selene_cycle) { (self.core, self.handle) = (core, handle) }

  deinit { if !hasEnded.load(ordering: .relaxed) { selene_cycle_end(handle, nil) } }

  /// The next run, if there is one now. Never waits.
  public func next() throws(SeleneError) -> Step {
    // Texts of a run are lent until the scheduler is closed, which waits for those that copy them.
    try core.enter()
    defer { core.leave() }
    var info = selene_run_info()
    info.struct_size = UInt32(MemoryLayout<selene_run_info>.size)
    var step: Int32 = 0
    var wakeAt: Int64 = SELENE_NEVER
    try check(selene_cycle_next(handle, &step, &info, &wakeAt))
    switch step {
    case Int32(SELENE_STEP_RUN): return .run(Run(info))
    case Int32(SELENE_STEP_WAIT): return .wait(until: Instant(maybe: wakeAt))
    default: return .done
    }
  }

  /// Ends it; runs that are open are stopped. If the store refuses, it stays open and can be ended again.
  @discardableResult
  public func end() throws(SeleneError) -> Report {
    var raw: UnsafeMutablePointer<selene_report>?
    try check(selene_cycle_end(handle, &raw))
    hasEnded.store(true, ordering: .relaxed)
    defer { selene_free(raw) }
    guard let raw else { throw .closed }
    return Report(raw.pointee)
  }
}

/// Who waits for the report of a window on threads of the library: the context of its callback.
final class Waiter: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Report, any Error>?
    var cycle: selene_cycle = 0
    var isCancelled = false
    /// The call that takes it has returned, and with success.
    var hasBegun = false
    var isReleased = false
  }

  private let state = Mutex(State())

  func begin(_ continuation: CheckedContinuation<Report, any Error>) {
    state.withLock { $0.continuation = continuation }
  }

  func begun(_ cycle: selene_cycle) {
    let (isCancelled, isReleased) = state.withLock { state in
      (state.cycle, state.hasBegun) = (cycle, true)
      return (state.isCancelled, state.isReleased)
    }
    if isReleased { unreported() }
    if isCancelled { selene_cycle_end(cycle, nil) }
  }

  /// After the report, if there was one, or after the call failed, before it returns.
  func released() {
    let hasBegun = state.withLock { state in
      state.isReleased = true
      return state.hasBegun
    }
    if hasBegun { unreported() }
  }

  private func unreported() {
    let detail = "the window ended without a report: the store refused it"
    finish(.failure(SeleneError(status: .storeIo, detail: detail, field: "", found: "", allowed: "")))
  }

  func cancel() {
    let cycle = state.withLock { state in
      state.isCancelled = true
      return state.cycle
    }
    if cycle != 0 { selene_cycle_end(cycle, nil) }
  }

  func finish(_ result: Result<Report, any Error>) {
    let waiting = state.withLock { state in
      defer { state.continuation = nil }
      return state.continuation
    }
    waiting?.resume(with: result)
  }

  static func waiter(_ context: UnsafeMutableRawPointer?) -> Waiter? {
    context.map { Unmanaged<Waiter>.fromOpaque($0).takeUnretainedValue() }
  }
}

func reportWindow(report: UnsafePointer<selene_report>?, context: UnsafeMutableRawPointer?) {
  guard let report else { return }
  Waiter.waiter(context)?.finish(.success(Report(report.pointee)))
}

func releaseWaiter(_ context: UnsafeMutableRawPointer?) {
  if let context { Unmanaged<Waiter>.fromOpaque(context).takeRetainedValue().released() }
}
