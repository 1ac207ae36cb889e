// How a scheduler is opened, a window begun, and a driver started.

import CSelene

/// A struct of the header.
protocol Sized {
  init()
  var struct_size: UInt32 { get set }
}

extension Sized {
  /// One with all defaults.
  static var empty: Self {
    var made = Self()
    made.struct_size = UInt32(MemoryLayout<Self>.size)
    return made
  }
}

extension selene_options: Sized {}
extension selene_task: Sized {}
extension selene_window: Sized {}
extension selene_driver: Sized {}
extension selene_profile: Sized {}
extension selene_server_options: Sized {}
extension selene_connect_options: Sized {}
extension selene_explanation: Sized {}
extension selene_group_info: Sized {}

/// How a scheduler is opened.
public struct Options: Sendable {
  /// The file of the store; nil: the tasks live in memory.
  public var path: String?
  /// The name of the application, as "org.example.mail"; its store opens under no other.
  public var owner: String?
  /// The ids that may be registered; one that ends in ".*" permits all that begin so. nil permits all.
  public var permitted: [String]?
  /// Once and periodic tasks that wait or run at a time; nil: no limit.
  public var maxPendingRefresh, maxPendingProcessing: UInt32?
  /// What is over a limit is held back instead of refused.
  public var hold = false
  /// What backoff delays are brought into.
  public var minimumBackoff: Duration = .seconds(10)
  /// What backoff delays are brought into.
  public var maximumBackoff: Duration = .seconds(5 * 3600)
  /// Shortens each backoff by at most so many per mille.
  public var backoffJitter: UInt32 = 0
  /// The least time from begin to begin of windows.
  public var minimumIntervalRefresh: Duration = .zero
  /// The least time from begin to begin of windows.
  public var minimumIntervalProcessing: Duration = .zero
  /// How long a run that has reached its timeout may still complete.
  public var stopGrace: Duration = .seconds(5)
  /// How long expedited tasks may run in 24 h.
  public var expeditedQuota: Duration = .seconds(600)
  /// How many bytes of input a task may carry.
  public var maxInputSize: UInt64 = 10_240
  /// How many bytes of output a run may leave.
  public var maxOutputSize: UInt64 = 1 << 20
  /// How long a task waits at least after a second run of it ended its process, each further time twice as long.
  public var crashPause: Duration = .seconds(30)
  /// Of the jitter; 0: taken from the clock.
  public var seed: UInt64 = 0
  /// Scores with the observed range.
  public var observedRange = false
  /// Ranks by the freshness rule.
  public var freshness = false
  /// A loss of power may undo the last calls.
  public var relaxed = false
  /// The library starts no thread: runs are pulled.
  public var noThreads = false
  /// The clock of a test: it stands here until `setClock` or `advance`.
  public var clock: Instant?

  /// All defaults.
  public init() {}

  /// A store.
  public init(path: String, owner: String? = nil) { (self.path, self.owner) = (path, owner) }

  func open() throws(SeleneError) -> selene_scheduler {
    let lent = Lent()
    var raw = selene_options.empty
    if let path {
      guard !path.isEmpty else {
        throw SeleneError(
          status: .invalidArgument, detail: "path: empty; a store has a name", field: "path", found: "", allowed: "")
      }
      raw.path = lent.text(path)
    }
    raw.owner = lent.text(owner ?? "")
    if let permitted {
      (raw.permitted, raw.permitted_count) = (lent.texts(permitted), UInt64(permitted.count))
    }
    raw.max_pending_refresh = maxPendingRefresh.map { said(UInt64($0)) } ?? 0
    raw.max_pending_processing = maxPendingProcessing.map { said(UInt64($0)) } ?? 0
    raw.minimum_backoff = minimumBackoff.said
    raw.maximum_backoff = maximumBackoff.said
    raw.backoff_jitter = backoffJitter
    raw.minimum_interval_refresh = minimumIntervalRefresh.nanoseconds
    raw.minimum_interval_processing = minimumIntervalProcessing.nanoseconds
    raw.stop_grace = stopGrace.said
    raw.crash_pause = crashPause.said
    raw.expedited_quota = expeditedQuota.said
    raw.max_input_size = said(maxInputSize)
    raw.max_output_size = said(maxOutputSize)
    raw.seed = seed
    let flags: [(Bool, Int)] = [
      (hold, Int(SELENE_OPTIONS_HOLD)), (observedRange, Int(SELENE_OPTIONS_OBSERVED_RANGE)),
      (freshness, Int(SELENE_OPTIONS_FRESHNESS)), (relaxed, Int(SELENE_OPTIONS_RELAXED)),
      (noThreads, Int(SELENE_OPTIONS_NO_THREADS)), (clock != nil, Int(SELENE_OPTIONS_SET_CLOCK)),
    ]
    for (isSet, flag) in flags where isSet { raw.flags |= UInt32(flag) }
    raw.clock_start = clock?.nanosecondsSinceEpoch ?? 0
    var handle: selene_scheduler = 0
    let status = selene_scheduler_open(&raw, &handle)
    withExtendedLifetime(lent) {}
    try check(status)
    return handle
  }
}

/// An opportunity to work.
public struct Window: Sendable {
  /// From its begin to its deadline.
  public var budget: Duration
  /// Kept free at the end, in which runs are asked to stop; nil: a twentieth of the budget.
  public var reserve: Duration?
  /// Of the tasks that it takes; none: all that may begin.
  public var kinds: Kinds
  /// Runs at a time.
  public var lanes: UInt32
  /// Nothing is picked whose estimate does not fit, not even first.
  public var strictFit = false
  /// Picks only tasks that were eligible at its begin; without it also those that become due meanwhile.
  public var frozen = false
  /// The one task that shall run now.
  public var task: String?

  /// A window; what is not said is as the library has it.
  public init(
    budget: Duration = .seconds(30), reserve: Duration? = nil, kinds: Kinds = [], lanes: UInt32 = 1
  ) {
    (self.budget, self.reserve, self.kinds, self.lanes) = (budget, reserve, kinds, lanes)
  }

  func raw(_ lent: Lent) -> selene_window {
    var raw = selene_window.empty
    raw.budget = budget.said
    if let reserve { raw.reserve = reserve.said }
    (raw.kinds, raw.lanes) = (kinds.rawValue, said(lanes))
    if strictFit { raw.flags |= UInt32(SELENE_WINDOW_STRICT_FIT) }
    if frozen { raw.flags |= UInt32(SELENE_WINDOW_FROZEN) }
    raw.task = lent.text(task ?? "")
    return raw
  }
}

/// How a driver opens windows.
public struct Driver: Sendable {
  /// Of windows for refresh work; zero: nobody has decided a deadline.
  public var refreshBudget: Duration = .zero
  /// Of windows for processing; likewise.
  public var processingBudget: Duration = .zero
  /// Runs at a time.
  public var refreshLanes, processingLanes: UInt32
  /// Of its windows.
  public var kinds: Kinds = .all
  /// Kept free at the end of each; nil: a twentieth of the budget.
  public var reserve: Duration?
  /// The least time from window to window of a kind.
  public var every: Duration = .zero
  /// Nothing is picked whose estimate does not fit.
  public var strictFit = false
  /// One window at a time, for all kinds that are due.
  public var together = false
  /// Each window picks from what was eligible at its begin.
  public var frozen = false
  /// It asks no governor: what is due has its window.
  public var ungoverned = false

  /// A driver; what is not said is as the library has it.
  public init(lanes: UInt32 = 1, ungoverned: Bool = false) {
    (refreshLanes, processingLanes, self.ungoverned) = (lanes, lanes, ungoverned)
  }

  var raw: selene_driver {
    var raw = selene_driver.empty
    (raw.refresh_budget, raw.processing_budget) = (refreshBudget.nanoseconds, processingBudget.nanoseconds)
    (raw.refresh_lanes, raw.processing_lanes, raw.kinds) = (
      said(refreshLanes), said(processingLanes), kinds.rawValue
    )
    if let reserve { raw.reserve = reserve.said }
    raw.every = every.nanoseconds
    if strictFit { raw.flags |= UInt32(SELENE_DRIVER_STRICT_FIT) }
    if together { raw.flags |= UInt32(SELENE_DRIVER_TOGETHER) }
    if frozen { raw.flags |= UInt32(SELENE_DRIVER_FROZEN) }
    if ungoverned { raw.flags |= UInt32(SELENE_DRIVER_UNGOVERNED) }
    return raw
  }
}
