// Runs, and what gives them to handlers.

import CSelene
import Synchronization

/// One dispatch of one task. Its facts are copies: it may outlive its window and its scheduler.
public struct Run: Sendable {
  /// The number by which the header knows it.
  public let token: UInt64
  /// Of its task; the name of its handler.
  public let id, handler: String
  /// What the task carries for it.
  public let input: [UInt8]
  /// Of its task.
  public let kind: Kind
  /// Of its task.
  public let priority: Priority
  /// 1 for the first.
  public let attempt: UInt32
  /// By which it was picked.
  public let score: Double
  /// How long it is expected to take.
  public let estimate: Duration
  /// When it was dispatched, is asked to stop at the latest, and is over at the latest.
  public let startedAt, expiresAt, deadline: Instant

  init(_ raw: borrowing selene_run_info) {
    (token, id, handler, input) = (raw.run, raw.id.string, raw.handler.string, raw.input.array)
    (kind, priority) = (Kind(rawValue: raw.kind), Priority(rawValue: raw.priority))
    (attempt, score, estimate) = (raw.attempt, raw.score, .nanoseconds(raw.estimate))
    startedAt = Instant(nanosecondsSinceEpoch: raw.started_at)
    expiresAt = Instant(nanosecondsSinceEpoch: raw.expires_at)
    deadline = Instant(nanosecondsSinceEpoch: raw.deadline)
  }

  /// Why it should stop; `none`: go on; `shutdown` for one that is over. Cheap enough for a loop.
  public var stopReason: Stop {
    var reason: Int32 = 0
    return selene_run_stopping(token, &reason) == SELENE_OK ? Stop(rawValue: reason) : .shutdown
  }

  /// How long until it is asked to stop; zero if it was, or is over.
  public var remaining: Duration {
    var left: Int64 = 0
    return selene_run_remaining(token, &left) == SELENE_OK ? .nanoseconds(left) : .zero
  }

  /// Waits for so much scheduler time, or until it should stop; whether it waited for all of it. On the clock of a test that
  /// is when the test has moved it so far (`Scheduler.advance`). The wait has a thread of its own, and blocks no other; a
  /// cancellation alone does not end it, a stop does.
  ///
  /// - Throws: `invalidArgument` for less than zero; `unsupported` for a run of another process's scheduler.
  @discardableResult
  public func sleep(_ duration: Duration) async throws(SeleneError) -> Bool {
    let token = token
    return try await onThread { () throws(SeleneError) in
      var reason: Int32 = 0
      do throws(SeleneError) { try check(selene_run_sleep(token, duration.nanoseconds, &reason)) } catch {
        // It is over.
        guard [.staleRun, .alreadyCompleted, .invalidHandle].contains(error.status) else { throw error }
        return false
      }
      return Stop(rawValue: reason) == .none
    }
  }

  /// Tells how far it has come (a total of 0: it is not known), and lets its task's stall limit begin anew.
  public func progress(_ done: Int64, of total: Int64 = 0, _ words: String = "") throws(SeleneError) {
    let lent = Lent()
    let text = lent.text(words)
    let status = selene_run_progress(token, done, total, text.data, text.length)
    withExtendedLifetime(lent) {}
    try check(status)
  }

  /// Says what it leaves if it succeeds, for those who look at its task (`Scheduler.output(of:)`) and for the handlers of
  /// those that come after it. The last call before the outcome counts.
  public func setOutput(_ output: [UInt8]) throws(SeleneError) {
    try check(selene_run_set_output(token, output, Int64(output.count)))
  }

  /// Gives the outcome of a run that was pulled, once.
  public func complete(_ outcome: Outcome) throws(SeleneError) {
    try check(selene_run_complete(token, outcome.rawValue))
  }

  /// Says that a run that was pulled failed, and why, as an error of a handler does.
  public func fail(_ why: any Error) throws(SeleneError) {
    let failure = why as? Failure
    let lent = Lent()
    // The library takes no text with a NUL in it.
    let words = lent.text(String("\(why)".map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    let outcome = failure?.isFinal == true ? Outcome.abandoned : .failed
    let delay = failure?.retryAfter?.notNegative ?? -1
    let status = selene_run_fail(token, outcome.rawValue, delay, words.data, words.length)
    withExtendedLifetime(lent) {}
    try check(status)
  }
}

/// Works on a run, on the concurrent executor; several at once where a window has lanes. It returns `newData` or `noData`;
/// what it throws is a failure whose text is kept with the task, and `Failure` says more. When the run is asked to stop, its
/// task of Swift is cancelled. A handler that does not return is left behind, and the window goes on without it.
public typealias Handler = @Sendable (Run) async throws -> Outcome

/// A handler of a scheduler: the context of its callbacks.
final class Registration: Sendable {
  private enum Work {
    case starts
    case stopped
    case runs(Task<Void, Never>)
  }

  private let handler: Handler
  private let live = Mutex<[UInt64: Work]>([:])

  init(_ handler: @escaping Handler) { self.handler = handler }

  func start(_ run: Run) {
    live.withLock { $0[run.token] = .starts }
    let task = Task { await work(on: run) }
    let isStopped = live.withLock { live in
      switch live[run.token] {
      case .starts:
        live[run.token] = .runs(task)
        return false
      case .stopped: return true
      case .runs, nil: return false
      }
    }
    // It may have been asked before anybody knew it.
    if isStopped || run.stopReason != .none { task.cancel() }
  }

  func stop(_ token: UInt64) {
    let task: Task<Void, Never>? = live.withLock { live in
      switch live[token] {
      case .starts:
        live[token] = .stopped
        return nil
      case .runs(let task): return task
      case .stopped, nil: return nil
      }
    }
    task?.cancel()
  }

  private func work(on run: Run) async {
    let result: Result<Outcome, any Error>
    do { result = .success(try await handler(run)) } catch { result = .failure(error) }
    let reason = run.stopReason
    _ = live.withLock { $0.removeValue(forKey: run.token) }
    // What comes too late is no error here.
    do throws(SeleneError) {
      switch result {
      case .success(let outcome): try run.complete(outcome)
      case .failure(is CancellationError) where reason != .none: try run.fail(Failure("stopped: \(reason)"))
      case .failure(let error): try run.fail(error)
      }
    } catch {
      guard error.status == .invalidArgument else { return }
      try? run.fail(Failure("what the handler gave was refused: \(error.detail)"))
    }
  }
}

func registration(_ context: UnsafeMutableRawPointer?) -> Registration? {
  context.map { Unmanaged<Registration>.fromOpaque($0).takeUnretainedValue() }
}

func runHandler(
  token: selene_run, info: UnsafePointer<selene_run_info>?, context: UnsafeMutableRawPointer?
) {
  guard let info, let registration = registration(context) else { return }
  registration.start(Run(info.pointee))
}

func stopHandler(token: selene_run, reason: Int32, context: UnsafeMutableRawPointer?) {
  registration(context)?.stop(token)
}

/// The destroy of a context that was retained.
func releaseContext(_ context: UnsafeMutableRawPointer?) {
  if let context { Unmanaged<AnyObject>.fromOpaque(context).release() }
}

func keep(_ object: AnyObject) -> UnsafeMutableRawPointer { Unmanaged.passRetained(object).toOpaque() }
