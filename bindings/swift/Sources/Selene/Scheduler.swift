// The scheduler.

import CSelene
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What lives as long as anything that uses it.
final class Core: Sendable {
  let handle: selene_scheduler
  private let isClosed = Atomic(false)
  /// How many copy what the library lends until the scheduler is closed.
  private let inside = Atomic(0)

  init(_ handle: selene_scheduler) { self.handle = handle }

  func enter() throws(SeleneError) {
    // In one order with the flag and the count of close: one of both sees the other.
    inside.add(1, ordering: .sequentiallyConsistent)
    if isClosed.load(ordering: .sequentiallyConsistent) {
      leave()
      throw .closed
    }
  }

  func leave() { inside.subtract(1, ordering: .sequentiallyConsistent) }

  func close(_ grace: Duration) throws(SeleneError) {
    if isClosed.exchange(true, ordering: .sequentiallyConsistent) { return }
    // A step, and perhaps a commit: soon over.
    while inside.load(ordering: .sequentiallyConsistent) != 0 { sched_yield() }
    let status = selene_scheduler_close(handle, grace.nanoseconds)
    // With these it is still open; with all others it is closed, though its last changes could not be stored.
    if status == SELENE_ERROR_INVALID_ARGUMENT || status == SELENE_ERROR_REENTRANT {
      isClosed.store(false, ordering: .sequentiallyConsistent)
    }
    try check(status)
  }
}

/// Has tasks and handlers. It may be used from anywhere, handlers too; it is closed when it goes.
public final class Scheduler: Sendable {
  private let core: Core

  /// Opens a scheduler.
  public init(_ options: Options = Options()) throws(SeleneError) { core = Core(try options.open()) }

  /// Connects to the process that has a store open and serves it (`serve`, or selened). The scheduler is used as any other:
  /// what is registered is kept there, and its windows and its driver run the tasks of its handlers.
  public init(_ connection: Connection) throws(SeleneError) { core = Core(try connection.open()) }

  deinit { try? core.close(.zero) }

  /// Lets other processes of this user connect until it is closed: at a path, or at the store's and "-sock".
  public func serve(at path: String? = nil) throws(SeleneError) {
    let lent = Lent()
    var raw = selene_server_options.empty
    raw.path = lent.text(path ?? "")
    var server: selene_server = 0
    let status = selene_server_start(handle, &raw, &server)
    withExtendedLifetime(lent) {}
    try check(status)
  }

  /// The number by which the header knows it, for calls that have no name here.
  public var handle: UInt64 { core.handle }

  /// Closes it. Runs in flight have the grace to complete, for which it blocks this thread; what is left is stopped, and its
  /// tasks wait again as before the run. A second close does nothing.
  public func close(grace: Duration = .zero) throws(SeleneError) { try core.close(grace) }

  /// The same without blocking this thread: handlers that need it, as those do that wait for the main actor, can complete.
  public func close(awaiting grace: Duration) async throws(SeleneError) {
    try await onThread { () throws(SeleneError) in try self.close(grace: grace) }
  }

  /// Lets nothing more be dispatched, and waits until nothing runs; false: something still does. It blocks this thread for
  /// the grace at most.
  public func drain(grace: Duration = .zero) throws(SeleneError) -> Bool {
    let status = selene_scheduler_drain(handle, grace.nanoseconds)
    if status == SELENE_ERROR_BUSY { return false }
    try check(status)
    return true
  }

  /// The same without blocking this thread.
  public func drain(awaiting grace: Duration) async throws(SeleneError) -> Bool {
    try await onThread { () throws(SeleneError) in try self.drain(grace: grace) }
  }

  /// Ends a drain.
  public func resume() throws(SeleneError) { try check(selene_scheduler_resume(handle)) }

  /// Scheduler time, which never goes back.
  public func now() throws(SeleneError) -> Instant {
    var now: Int64 = 0
    try check(selene_scheduler_now(handle, &now))
    return Instant(nanosecondsSinceEpoch: now)
  }

  /// Says what time it is, to a scheduler that was opened with a clock.
  public func setClock(_ now: Instant) throws(SeleneError) {
    try check(selene_clock_set(handle, now.nanosecondsSinceEpoch))
  }

  /// Lets time pass in a test, for a scheduler that was opened with a clock: from one instant at which something is due to the
  /// next, up to an instant. At each it waits until all that is due is done, also by handlers, except those that `Run.sleep`;
  /// it blocks no thread that they need.
  ///
  /// - Parameters:
  ///   - instant: where time stands then; the present: the call only waits; nil: it goes on until nothing is due, which never
  ///     comes while a driver runs a periodic task.
  ///   - patience: how long handlers may be at work at each instant, by the system's clock.
  /// - Returns: when something is due next; nil: nothing is.
  /// - Throws: `unsupported` without the option `clock`; `busy` after that time, which names the runs, as in a handler, whose
  ///   own run it waits for: time stands at that instant.
  @discardableResult
  public func advance(
    to instant: Instant?, patience: Duration = .seconds(10)
  ) async throws(SeleneError) -> Instant? {
    try await onThread { () throws(SeleneError) in
      let flags = UInt32(SELENE_ADVANCE_HANDLERS | SELENE_ADVANCE_RUNS)
      let to = instant?.nanosecondsSinceEpoch ?? SELENE_NEVER
      var next = SELENE_NEVER
      try check(selene_clock_advance(self.handle, to, flags, patience.nanoseconds, &next))
      return Instant(maybe: next)
    }
  }

  /// When the next window is worth opening; nil: when something changes.
  public func nextWakeup() throws(SeleneError) -> Instant? {
    var at = SELENE_NEVER
    try check(selene_scheduler_next_wakeup(handle, &at, nil))
    return Instant(maybe: at)
  }

  /// Says which of these constraints are satisfied, until the next call. The others are the system's.
  public func setConditions(_ of: Constraints, satisfied: Constraints) throws(SeleneError) {
    try check(selene_conditions_set(handle, of.rawValue, satisfied.rawValue))
  }

  /// Switches these kinds on, and all others off.
  public func enable(_ kinds: Kinds) throws(SeleneError) {
    try check(selene_scheduler_enable(handle, kinds.rawValue))
  }

  // MARK: handlers

  /// Registers a handler under a name.
  public func handle(_ name: String, with handler: @escaping Handler) throws(SeleneError) {
    // It releases the context also when it fails.
    let context = keep(Registration(handler))
    try named(name) { selene_handler_register(handle, $0, $1, runHandler, stopHandler, context, releaseContext) }
  }

  /// Registers a name whose runs are pulled (`begin`).
  public func pull(_ name: String) throws(SeleneError) {
    try named(name) { selene_handler_register(handle, $0, $1, nil, nil, nil, nil) }
  }

  /// Takes a handler back.
  public func removeHandler(_ name: String) throws(SeleneError) {
    try named(name) { selene_handler_unregister(handle, $0, $1) }
  }

  // MARK: windows

  /// Opens a window and awaits its report, which comes by its deadline, also where handlers do not return. If a window of
  /// exactly these kinds is open, it is joined. A cancellation ends the window, whose report comes then.
  public func run(_ window: Window = Window()) async throws -> Report {
    let waiter = Waiter()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiter.begin(continuation)
        do throws(SeleneError) {
          waiter.begun(try launch(window, waiter))
        } catch {
          waiter.finish(.failure(error))
        }
      }
    } onCancel: {
      waiter.cancel()
    }
  }

  private func launch(_ window: Window, _ waiter: Waiter) throws(SeleneError) -> selene_cycle {
    let lent = Lent()
    var raw = window.raw(lent)
    var cycle: selene_cycle = 0
    // It releases the context also when it fails.
    let status = selene_cycle_run_async(handle, &raw, reportWindow, keep(waiter), releaseWaiter, &cycle, nil)
    withExtendedLifetime(lent) {}
    try check(status)
    return cycle
  }

  /// Opens a window whose runs are pulled.
  public func begin(_ window: Window = Window()) throws(SeleneError) -> Cycle {
    let lent = Lent()
    var raw = window.raw(lent)
    var cycle: selene_cycle = 0
    let status = selene_cycle_begin(handle, &raw, &cycle)
    withExtendedLifetime(lent) {}
    try check(status)
    return Cycle(core, cycle)
  }

  /// What such a window would pick now.
  public func plan(_ window: Window = Window()) throws(SeleneError) -> Plan {
    let lent = Lent()
    var raw = window.raw(lent)
    var plan: UnsafeMutablePointer<selene_plan>?
    let status = selene_cycle_plan(handle, &raw, &plan)
    withExtendedLifetime(lent) {}
    try check(status)
    return try owned(plan, Plan.init)
  }

  /// Starts a thread that opens windows whenever something can run, until `stopDriver` or `close`.
  public func startDriver(_ driver: Driver = Driver()) throws(SeleneError) {
    var raw = driver.raw
    try check(selene_driver_start(handle, &raw))
  }

  /// Stops it; runs in its windows are stopped and have the grace to return, for which it blocks this thread.
  public func stopDriver(grace: Duration = .zero) throws(SeleneError) {
    try check(selene_driver_stop(handle, grace.nanoseconds))
  }

  /// The same without blocking this thread.
  public func stopDriver(awaiting grace: Duration) async throws(SeleneError) {
    try await onThread { () throws(SeleneError) in try self.stopDriver(grace: grace) }
  }

  /// Events from now on, of which so many wait at most; those that find no room are lost, and counted. What happened at
  /// open is told first. Asking again ends the ones before.
  public func events(capacity: Int = 1024) throws(SeleneError) -> Events {
    guard capacity >= 1 else {
      throw SeleneError(
        status: .invalidArgument, detail: "capacity: \(capacity) is out of range (1 or more)", field: "capacity",
        found: "\(capacity)", allowed: "1 or more")
    }
    let events = Events(capacity)
    try check(selene_scheduler_observe(handle, tellEvent, keep(events), releaseEvents))
    return events
  }

  // MARK: tasks

  private func named(
    _ name: String, _ call: (UnsafePointer<CChar>?, Int64) -> selene_status
  ) throws(SeleneError) {
    let lent = Lent()
    let text = lent.text(name)
    let status = call(text.data, text.length)
    withExtendedLifetime(lent) {}
    try check(status)
  }

  private func counted(
    _ name: String, _ call: (UnsafePointer<CChar>?, Int64, UnsafeMutablePointer<UInt64>) -> selene_status
  ) throws(SeleneError) -> UInt64 {
    var count: UInt64 = 0
    try named(name) { call($0, $1, &count) }
    return count
  }

  /// What a call made, copied and freed.
  func owned<Raw, Made>(
    _ raw: UnsafeMutablePointer<Raw>?, _ made: (Raw) -> Made
  ) throws(SeleneError) -> Made {
    defer { selene_free(raw) }
    guard let raw else { throw .closed }
    return made(raw.pointee)
  }

  private func ids(_ raw: UnsafeMutablePointer<selene_task_ids>?) throws(SeleneError) -> [String] {
    try owned(raw) { strings($0.ids, $0.count) }
  }

  /// Registers a task; what became of it.
  @discardableResult
  public func register(_ task: TaskRequest) throws(SeleneError) -> Disposition {
    let lent = Lent()
    var raw = task.raw(lent)
    var disposition: Int32 = 0
    let status = selene_task_register(handle, &raw, &disposition)
    withExtendedLifetime(lent) {}
    try check(status)
    return Disposition(rawValue: disposition)
  }

  /// A task's record; `notFound`: there is none of that id.
  public func task(_ id: String) throws(SeleneError) -> TaskInfo {
    var raw: UnsafeMutablePointer<selene_task_info>?
    try named(id) { selene_task_get(handle, $0, $1, 0, &raw) }
    return try owned(raw, TaskInfo.init)
  }

  /// The ids of all tasks, or of those with a tag.
  public func ids(tag: String? = nil) throws(SeleneError) -> [String] {
    var raw: UnsafeMutablePointer<selene_task_ids>?
    if let tag {
      try named(tag) { selene_task_list(handle, $0, $1, &raw) }
    } else {
      try check(selene_task_list(handle, nil, 0, &raw))
    }
    return try ids(raw)
  }

  /// The ids of those in a state.
  public func ids(in state: State) throws(SeleneError) -> [String] {
    var raw: UnsafeMutablePointer<selene_task_ids>?
    try check(selene_task_list_state(handle, state.rawValue, &raw))
    return try ids(raw)
  }

  /// Cancels a task and what waits behind it; how many records.
  @discardableResult
  public func cancel(_ id: String) throws(SeleneError) -> UInt64 {
    try counted(id) { selene_task_cancel(handle, $0, $1, $2) }
  }

  /// Cancels those with a tag.
  @discardableResult
  public func cancel(tag: String) throws(SeleneError) -> UInt64 {
    try counted(tag) { selene_task_cancel_tag(handle, $0, $1, $2) }
  }

  /// Cancels all.
  @discardableResult
  public func cancelAll() throws(SeleneError) -> UInt64 {
    var count: UInt64 = 0
    try check(selene_task_cancel_all(handle, &count))
    return count
  }

  /// Pauses a task and what waits behind it: they stay as they are, and none begins.
  @discardableResult
  public func pause(_ id: String) throws(SeleneError) -> UInt64 {
    try counted(id) { selene_task_pause(handle, $0, $1, $2) }
  }

  /// Pauses those that have a tag now.
  @discardableResult
  public func pause(tag: String) throws(SeleneError) -> UInt64 {
    try counted(tag) { selene_task_pause_tag(handle, $0, $1, $2) }
  }

  /// Lets a task go on that was paused, and what waits behind it.
  @discardableResult
  public func unpause(_ id: String) throws(SeleneError) -> UInt64 {
    try counted(id) { selene_task_resume(handle, $0, $1, $2) }
  }

  /// Lets those with a tag go on.
  @discardableResult
  public func unpause(tag: String) throws(SeleneError) -> UInt64 {
    try counted(tag) { selene_task_resume_tag(handle, $0, $1, $2) }
  }

  /// Enqueues a failed task again.
  public func retry(_ id: String) throws(SeleneError) { try named(id) { selene_task_retry(handle, $0, $1) } }

  /// Enqueues a failed task again, and all that failed because of it; how many.
  @discardableResult
  public func retryWithSuccessors(_ id: String) throws(SeleneError) -> UInt64 {
    try counted(id) { selene_task_retry_successors(handle, $0, $1, $2) }
  }

  /// Says when a live task is due next, once, in place of the instant that was or will be computed.
  public func setNext(_ id: String, _ next: Instant) throws(SeleneError) {
    try named(id) { selene_task_set_next(handle, $0, $1, next.nanosecondsSinceEpoch) }
  }

  /// What the last success of a task left; empty: nothing.
  public func output(of id: String) throws(SeleneError) -> [UInt8] {
    var raw: UnsafeMutablePointer<selene_task_output>?
    try named(id) { selene_task_get_output(handle, $0, $1, &raw) }
    return try owned(raw, \.output.array)
  }

  /// Says why a task does not run now.
  public func explain(_ id: String) throws(SeleneError) -> Explanation {
    var raw = selene_explanation.empty
    try named(id) { selene_task_explain(handle, $0, $1, &raw) }
    return Explanation(raw)
  }

  /// Says where the time of a task went since it was last due, or registered.
  public func waits(_ id: String) throws(SeleneError) -> Waits {
    var raw: UnsafeMutablePointer<selene_waits>?
    try named(id) { selene_task_waits(handle, $0, $1, &raw) }
    return try owned(raw, Waits.init)
  }

  // MARK: pauses of kinds

  /// Pauses kinds, everywhere or in a pool (of the tasks whose handlers its processes offer): none of their tasks begins
  /// before an instant, at most 10 years ahead; nil: until they are resumed. Runs in flight go on. The store keeps it;
  /// pausing them again changes the end. Everywhere and in each pool they are paused apart, and a task waits while either
  /// holds.
  public func pause(kinds: Kinds, pool: String? = nil, until: Instant? = nil) throws(SeleneError) {
    // The header's 0 resumes, so that instant is refused as any that is past, and what is later than it can say as what is
    // too far ahead.
    let end = until.map { min($0.nanosecondsSinceEpoch, SELENE_NEVER - 1) } ?? SELENE_NEVER
    try setPause(kinds, pool, end == 0 ? -1 : end)
  }

  /// Lets kinds go on that were paused, everywhere or in a pool.
  public func unpause(kinds: Kinds, pool: String? = nil) throws(SeleneError) { try setPause(kinds, pool, 0) }

  private func setPause(_ kinds: Kinds, _ pool: String?, _ until: Int64) throws(SeleneError) {
    guard pool != "" else {
      throw SeleneError(
        status: .invalidArgument, detail: "pool: empty; a pool has a name", field: "pool", found: "", allowed: "")
    }
    // To the header no kind is both of a pool; without one it is refused.
    try named(kinds.isEmpty ? "" : pool ?? "") { selene_scheduler_pause(handle, kinds.rawValue, $0, $1, until) }
  }

  /// The kinds that are paused: first everywhere, then by pool.
  public func pauses() throws(SeleneError) -> [Pause] {
    var raw: UnsafeMutablePointer<selene_pauses>?
    try check(selene_pause_list(handle, &raw))
    return try owned(raw) {
      UnsafeBufferPointer(start: $0.pauses, count: Int($0.count)).map(Pause.init)
    }
  }

  // MARK: conditions of the host, and groups

  /// Defines a condition of the host's own, which tasks ask for by its name.
  public func defineCondition(_ name: String) throws(SeleneError) {
    try named(name) { selene_condition_define(handle, $0, $1) }
  }

  /// Takes the definition back; it then does not hold.
  public func undefineCondition(_ name: String) throws(SeleneError) {
    try named(name) { selene_condition_undefine(handle, $0, $1) }
  }

  /// Says whether a condition that is defined holds; runs that lose it are stopped.
  public func setCondition(_ name: String, holds: Bool) throws(SeleneError) {
    try named(name) { selene_condition_set(handle, $0, $1, holds ? 1 : 0) }
  }

  /// What a condition is; `notFound`: it is not defined and no task asks for it.
  public func condition(_ name: String) throws(SeleneError) -> ConditionState {
    var state: Int32 = 0
    try named(name) { selene_condition_get(handle, $0, $1, &state) }
    return ConditionState(rawValue: state)
  }

  /// The names of all that are defined, or that a task asks for.
  public func conditionNames() throws(SeleneError) -> [String] {
    var raw: UnsafeMutablePointer<selene_task_ids>?
    try check(selene_condition_list(handle, &raw))
    return try ids(raw)
  }

  /// The names of those that a task asks for and that do not hold.
  public func missingConditions(of id: String) throws(SeleneError) -> [String] {
    var raw: UnsafeMutablePointer<selene_task_ids>?
    try named(id) { selene_condition_missing(handle, $0, $1, &raw) }
    return try ids(raw)
  }

  /// Lets at most so many runs of a group go on at a time; 0: no limit.
  public func limitGroup(_ name: String, to limit: UInt32) throws(SeleneError) {
    try named(name) { selene_group_set_limit(handle, $0, $1, limit) }
  }

  /// Begins no more runs of a group.
  public func pauseGroup(_ name: String) throws(SeleneError) { try named(name) { selene_group_pause(handle, $0, $1) } }

  /// Lets a group go on that was paused.
  public func unpauseGroup(_ name: String) throws(SeleneError) {
    try named(name) { selene_group_resume(handle, $0, $1) }
  }

  /// A group; `notFound`: nothing of it is set, no task of it waits and none runs.
  public func group(_ name: String) throws(SeleneError) -> GroupInfo {
    var raw = selene_group_info.empty
    try named(name) { selene_group_get(handle, $0, $1, &raw) }
    return GroupInfo(limit: raw.limit, isPaused: raw.paused != 0, running: raw.running, waiting: raw.waiting)
  }

  /// The names of all groups.
  public func groups() throws(SeleneError) -> [String] {
    var raw: UnsafeMutablePointer<selene_task_ids>?
    try check(selene_group_list(handle, &raw))
    return try ids(raw)
  }
}
