// Host functions that the engine holds: what they are called with, and when their context ends.

import CPlatform
import SeleneCore

/// Calls into the host without a lock, so that the thread knows where it is (REENTRANT).
///
/// - Throws: `forked` when the host forked and this is the child: nothing of the parent's may be touched any more, its lock
///   neither, and the call or the thread ends (P4).
@inline(__always)
func callHost<R>(_ owner: UInt64, _ call: HostCall = .untold, _ body: () -> R) throws(SeleneError) -> R {
  let process = platform_fork_generation()
  var mark = platform_mark()
  let result = withUnsafeMutablePointer(to: &mark) { mark in
    platform_frame_push(mark, owner, call.kind.rawValue, call.number)
    defer { if platform_frame_pop(mark) == 0 { Scheduler.dropLeft(above: mark) } }
    return body()
  }
  guard platform_fork_generation() == process else { throw .forked }
  return result
}

/// What is called, so that it is known what was left by a jump, an exception or the end of the thread (A8).
struct HostCall {
  enum Kind: UInt64 {
    /// Nothing waits for its return.
    case untold = 0
    /// The handler of a run.
    case run = 1
    /// A stop function, a report, a destroy.
    case delivery = 2
    /// The observer.
    case notice = 3
    /// A thread of the library lives in this frame.
    case worker = 4
    /// The hook that a thread of the library begins with.
    case hook = 5

    /// What `platform_frame_kind` answers outside a callback.
    static let none = UInt64.max
  }
  let kind: Kind
  let number: UInt64

  static let untold = HostCall(kind: .untold, number: 0)
}

/// A host object whose `destroy` is called exactly once, after its last use.
package class Callback {
  final private let destroy: (() -> Void)?
  /// Calls in progress and runs that may still call. Guarded by the scheduler's lock.
  final private var uses = 0
  /// No new use begins. Guarded by the scheduler's lock.
  final private(set) var isRetired = false
  final private var isDestroyed = false

  init(destroy: (() -> Void)?) { self.destroy = destroy }

  final func beginUse() { uses += 1 }

  /// Ends a use. Answers whether this was the last: then the caller calls `finish` without the lock.
  final func endUse() -> Bool {
    uses -= 1
    return isFinished
  }

  /// Lets no new use begin. Answers as `endUse`.
  final func retire() -> Bool {
    isRetired = true
    return isFinished
  }

  final private var isFinished: Bool {
    guard isRetired, uses == 0, !isDestroyed else { return false }
    isDestroyed = true
    return true
  }

  /// Ends the host's context. Called once, without a lock.
  ///
  /// - Throws: `forked`.
  final func finish(_ owner: UInt64, _ call: HostCall = .untold) throws(SeleneError) {
    if let destroy { try callHost(owner, call) { destroy() } }
  }
}

/// A handler: what runs tasks, and what asks their runs to stop (T10).
final class Handler: Callback {
  let number: Int
  let run: ((Run) -> Void)?
  let stop: ((UInt64, StopReason) -> Void)?
  /// Threads that its runs have left behind. Guarded by the scheduler's lock, as what follows.
  var leftBehind = 0
  /// So many that its tasks are not eligible (R4).
  var isStuck = false
  /// The observer was told so, and when.
  var isToldStuck = false
  var toldStuckAt: Instant = .min
  /// Of a handler of other processes: whose it is while one of them offers it, and how many do (L5).
  var pool: Pool?
  var offers = 0

  init(number: Int, run: ((Run) -> Void)?, stop: ((UInt64, StopReason) -> Void)?, destroy: (() -> Void)?) {
    self.number = number
    self.run = run
    self.stop = stop
    super.init(destroy: destroy)
  }
}

/// The observer of a scheduler (C18).
final class Observer: Callback {
  let observe: (borrowing Event) -> Void

  init(observe: @escaping (borrowing Event) -> Void, destroy: (() -> Void)?) {
    self.observe = observe
    super.init(destroy: destroy)
  }
}

/// What is told of each thread of the library, on that thread (B2). Each thread is a use.
package final class ThreadHooks: Callback {
  let begin: (() -> Void)?
  let end: (() -> Void)?

  package init(begin: (() -> Void)?, end: (() -> Void)?, destroy: (() -> Void)?) {
    (self.begin, self.end) = (begin, end)
    super.init(destroy: destroy)
  }
}

/// Who waits for the report of a cycle.
final class ReportReceiver: Callback {
  let receive: ((Report) -> Void)?

  init(receive: ((Report) -> Void)?, destroy: (() -> Void)?) {
    self.receive = receive
    super.init(destroy: destroy)
  }
}
