// How a scheduler is opened.

import CPlatform
import SeleneCore

/// A scheduler's options as the host gave them, unchecked.
package struct OptionsDraft {
  package var permitted: [UnsafeRawBufferPointer]?
  package var holds = false
  package var observedRange = false
  package var freshness = false
  package var isRelaxed = false
  package var hasThreads = true
  /// `.max`: no limit (T6).
  package var maxPendingRefresh: UInt32 = .max
  package var maxPendingProcessing: UInt32 = .max
  package var minimumBackoff: Span = 10 * Time.second
  package var maximumBackoff: Span = 5 * Time.hour
  package var minimumIntervalRefresh: Span = 0
  package var minimumIntervalProcessing: Span = 0
  package var releaseAfter: Span = 10 * Time.minute
  package var backoffJitter: UInt32 = 0
  package var maxOverrunThreads: Int32 = 64
  package var stopGrace: Span = 5 * Time.second
  package var maxOverrunPerHandler: UInt32 = 16
  package var seed: UInt64 = 0
  package var maxInputSize: Int64 = 10_240
  package var maxOutputSize: Int64 = 1 << 20
  package var crashPause: Span = 30 * Time.second
  /// How long expedited tasks may run in 24 h; `Time.never`: no limit.
  package var expeditedQuota: Span = 10 * Time.minute
  /// Entries of each log of where the time of tasks went.
  package var waitLogEntries: UInt64 = 4_096
  /// Of the library's threads, in bytes; 0: at least 8 MiB.
  package var stackSize: UInt64 = 0
  /// 0: as the host's, 1: for the background.
  package var threadQuality: UInt32 = 0
  /// What the library's threads block; nil: what is sent to a process, but not what runtimes send to threads.
  package var blockedSignals: [Int32]?
  /// Empty: none.
  package var owner = UnsafeRawBufferPointer(start: nil, count: 0)

  package init() {}
}

/// A scheduler's options, checked.
package struct Options: Sendable {
  let policy: Policy
  let observedRange: Bool
  let isRelaxed: Bool
  /// The library may start threads (B2).
  let hasThreads: Bool
  let intervals: PerKind<Span>
  let releaseAfter: Span
  let maxOverrunThreads: UInt32
  /// How long a run that has timed out may still complete (R3).
  let stopGrace: Span
  let maxOverrunPerHandler: UInt32
  let seed: UInt64
  /// Of the library's threads (P5).
  let stackSize: UInt64
  let isBackground: Bool
  /// Signal n is bit n − 1 (P5).
  let blockedSignals: UInt64
  /// The name of the application, or nil.
  let owner: Bytes?

  static let stackSizes: ClosedRange<UInt64> = 1 << 16...1 << 30

  /// Checks every field.
  ///
  /// - Parameter units: of the clock that the scheduler is opened with.
  /// - Throws: `invalidArgument`, naming the first field that is out of range.
  package init(_ draft: borrowing OptionsDraft, _ units: Units) throws(SeleneError) {
    try units.check("maximum_backoff", draft.maximumBackoff, 0, Time.tenYears)
    try units.check("minimum_backoff", draft.minimumBackoff, 0, draft.maximumBackoff, "0 … maximum_backoff")
    try draft.checkRanges(units)
    try units.check(
      "expedited_quota", draft.expeditedQuota, 0, Time.day, or: Time.never, "0 … 24 h, or SELENE_NEVER for no limit")
    var policy = Policy()
    policy.expeditedQuota = draft.expeditedQuota
    policy.waitLogEntries = draft.waitLogEntries
    if let permitted = draft.permitted { policy.permits = try Permits(permitted) }
    policy.places = PerKind(
      refresh: draft.maxPendingRefresh == .max ? nil : draft.maxPendingRefresh,
      processing: draft.maxPendingProcessing == .max ? nil : draft.maxPendingProcessing)
    policy.holds = draft.holds
    policy.backoff = BackoffBounds(
      minimum: draft.minimumBackoff, maximum: draft.maximumBackoff, jitter: draft.backoffJitter)
    policy.maxInput = UInt64(draft.maxInputSize)
    policy.maxOutput = UInt64(draft.maxOutputSize)
    policy.crashPause = draft.crashPause
    guard !(draft.freshness && draft.observedRange) else {
      throw SeleneError(.invalidArgument, "flags", "OBSERVED_RANGE and FRESHNESS exclude each other")
    }
    policy.freshness = draft.freshness
    self.policy = policy
    observedRange = draft.observedRange
    isRelaxed = draft.isRelaxed
    hasThreads = draft.hasThreads
    intervals = PerKind(refresh: draft.minimumIntervalRefresh, processing: draft.minimumIntervalProcessing)
    releaseAfter = draft.releaseAfter
    maxOverrunThreads = UInt32(draft.maxOverrunThreads)
    stopGrace = draft.stopGrace
    maxOverrunPerHandler = draft.maxOverrunPerHandler
    seed = draft.seed
    guard draft.stackSize == 0 || Self.stackSizes.contains(draft.stackSize) else {
      throw .range(
        "thread_stack_size", draft.stackSize, Int64(Self.stackSizes.lowerBound), Int64(Self.stackSizes.upperBound),
        .bytes, "0, or 64 KiB … 1 GiB")
    }
    stackSize = draft.stackSize
    guard draft.threadQuality <= 1 else {
      throw .range("thread_quality", draft.threadQuality, 0, 1, .number, "0 (as the host) or 1 (background)")
    }
    isBackground = draft.threadQuality == 1
    var blocked: UInt64 = draft.blockedSignals == nil ? platform_signals_of_processes() : 0
    for signal in draft.blockedSignals ?? [] {
      guard platform_may_block(signal) != 0 else {
        throw .range(
          "blocked_signals", signal, 1, 64, .number,
          "signals that can be blocked and that no fault raises")
      }
      blocked |= 1 << UInt64(signal - 1)
    }
    blockedSignals = blocked
    if draft.owner.count > 0 { try Identifier.check(draft.owner, "owner") }
    owner = draft.owner.count > 0 ? Bytes(copying: draft.owner) : nil
  }
}
