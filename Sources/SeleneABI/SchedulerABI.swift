// Sections OPTIONS and SCHEDULER of the header.

import CSelene
import SeleneCore
import SeleneEngine

extension selene_options: SizedStruct {
  static var initial: selene_options {
    let defaults = OptionsDraft()
    var options = selene_options()
    options.struct_size = UInt32(MemoryLayout<selene_options>.size)
    options.max_pending_refresh = defaults.maxPendingRefresh
    options.max_pending_processing = defaults.maxPendingProcessing
    options.minimum_backoff = defaults.minimumBackoff
    options.maximum_backoff = defaults.maximumBackoff
    options.release_after = defaults.releaseAfter
    options.max_overrun_threads = defaults.maxOverrunThreads
    options.max_input_size = defaults.maxInputSize
    options.stop_grace = defaults.stopGrace
    options.max_overrun_per_handler = defaults.maxOverrunPerHandler
    return options
  }

  /// The fields for the engine.
  func draft() throws(SeleneError) -> OptionsDraft {
    var draft = OptionsDraft()
    if permitted != nil || permitted_count > 0 {
      draft.permitted = try borrow(permitted, count: permitted_count, atMost: 65_536, "permitted")
    }
    draft.holds = flags & UInt32(SELENE_OPTIONS_HOLD) != 0
    draft.observedRange = flags & UInt32(SELENE_OPTIONS_OBSERVED_RANGE) != 0
    draft.isRelaxed = flags & UInt32(SELENE_OPTIONS_RELAXED) != 0
    draft.freshness = flags & UInt32(SELENE_OPTIONS_FRESHNESS) != 0
    draft.maxPendingRefresh = max_pending_refresh
    draft.maxPendingProcessing = max_pending_processing
    draft.minimumBackoff = minimum_backoff
    draft.maximumBackoff = maximum_backoff
    draft.minimumIntervalRefresh = minimum_interval_refresh
    draft.minimumIntervalProcessing = minimum_interval_processing
    draft.releaseAfter = release_after
    draft.backoffJitter = backoff_jitter
    draft.maxOverrunThreads = max_overrun_threads
    draft.seed = seed
    draft.maxInputSize = max_input_size
    draft.owner = try borrow(owner, "owner")
    draft.stopGrace = stop_grace
    draft.maxOverrunPerHandler = max_overrun_per_handler
    guard blocked_signal_count <= 64 else {
      throw .range("blocked_signal_count", blocked_signal_count, 0, 64)
    }
    if let blocked_signals {
      draft.blockedSignals = [Int32](UnsafeBufferPointer(start: blocked_signals, count: Int(blocked_signal_count)))
    } else if blocked_signal_count > 0 {
      throw .null("blocked_signals")
    }
    return draft
  }

  var hostClock: HostClock? {
    let (context, destroy) = (clock_context, clock_destroy)
    return clock.map { clock in
      HostClock(read: { clock(context) }, destroy: destroy.map { destroy in { destroy(context) } })
    }
  }
}

@_cdecl("selene_options_init") @implementation
public func selene_options_init(_ options: UnsafeMutablePointer<selene_options>!, _ struct_size: UInt32)
  -> selene_status
{
  attempt { () throws(SeleneError) in try initialize(options, struct_size, "options") }
}

@_cdecl("selene_scheduler_open") @implementation
public func selene_scheduler_open(
  _ options: UnsafePointer<selene_options>!, _ out_scheduler: UnsafeMutablePointer<selene_scheduler>!
) -> selene_status {
  // What can be read of the clock has to be ended also when the rest is refused.
  let given = (options as UnsafePointer<selene_options>?).map { load($0) } ?? selene_options.initial
  let status = attempt(ending: given.clock_context, with: given.clock_destroy) { () throws(SeleneError) in
    let known =
      SELENE_OPTIONS_HOLD | SELENE_OPTIONS_OBSERVED_RANGE | SELENE_OPTIONS_RELAXED | SELENE_OPTIONS_FRESHNESS
    let names: Literal = "0, or a sum of SELENE_OPTIONS_HOLD (1), _OBSERVED_RANGE (2), _RELAXED (4), _FRESHNESS (8)"
    if let options { _ = try structSize(options, flags: UInt32(known), named: names, "options") }
    let out = try require(out_scheduler, "out_scheduler")
    let path = try borrow(path: given.path, "path")
    out.pointee = try Scheduler.open(
      Options(given.draft()), given.hostClock, path: path.count > 0 ? path : nil)
  }
  if status == 0 && given.clock == nil { given.clock_destroy?(given.clock_context) }
  return status
}

@_cdecl("selene_scheduler_close") @implementation
public func selene_scheduler_close(_ scheduler: selene_scheduler, _ grace: Int64) -> selene_status {
  attempt { () throws(SeleneError) in
    if scheduler != 0 { try Scheduler.close(scheduler, grace: grace) }
  }
}

@_cdecl("selene_scheduler_drain") @implementation
public func selene_scheduler_drain(_ scheduler: selene_scheduler, _ grace: Int64) -> selene_status {
  attempt { () throws(SeleneError) in try Scheduler.drain(scheduler, grace: grace) }
}

@_cdecl("selene_scheduler_resume") @implementation
public func selene_scheduler_resume(_ scheduler: selene_scheduler) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in scheduler.resume() }
  }
}

@_cdecl("selene_scheduler_now") @implementation
public func selene_scheduler_now(_ scheduler: selene_scheduler, _ out_now: UnsafeMutablePointer<Int64>!)
  -> selene_status
{
  attempt { () throws(SeleneError) in
    let out = try require(out_now, "out_now")
    out.pointee = try Scheduler.enter(scheduler, isQuestion: true) { (_, moment) throws(SeleneError) in moment.now }
  }
}

extension selene_scheduler_info: SizedStruct {
  static var initial: selene_scheduler_info { selene_scheduler_info() }

  init(_ census: Census) {
    self.init()
    kinds = census.kinds.rawValue
    overrun_threads = UInt32(census.overrunThreads)
    enqueued = census.count(.enqueued)
    held = census.count(.held)
    blocked = census.count(.blocked)
    running = census.count(.running)
    succeeded = census.count(.succeeded)
    failed = census.count(.failed)
    cancelled = census.count(.cancelled)
    dispatched = census.dispatched
    life = census.life
    troubles = census.troubles
    stuck_handlers = UInt32(census.stuckHandlers)
  }
}

@_cdecl("selene_scheduler_get") @implementation
public func selene_scheduler_get(
  _ scheduler: selene_scheduler, _ out_info: UnsafeMutablePointer<selene_scheduler_info>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_info, "out_info")
    let size = try structSize(out, "out_info")
    let info = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      selene_scheduler_info(scheduler.census)
    }
    write(info, to: out, size: size)
  }
}

@_cdecl("selene_scheduler_enable") @implementation
public func selene_scheduler_enable(_ scheduler: selene_scheduler, _ kinds: UInt32) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in try scheduler.enable(kinds) }
  }
}

@_cdecl("selene_scheduler_next_wakeup") @implementation
public func selene_scheduler_next_wakeup(
  _ scheduler: selene_scheduler, _ out_at: UnsafeMutablePointer<Int64>!, _ out_delay: UnsafeMutablePointer<Int64>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let (at, now) = try Scheduler.enter(scheduler, probing: true, isQuestion: true) {
      (scheduler, moment) throws(SeleneError) in
      (scheduler.nextWakeup(at: moment), moment.now)
    }
    out_at?.pointee = at ?? Time.never
    out_delay?.pointee = at.map { $0.subtracting(now) } ?? Time.never
  }
}

@_cdecl("selene_scheduler_prune") @implementation
public func selene_scheduler_prune(
  _ scheduler: selene_scheduler, _ out_count: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let count = try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.prune(at: moment)
    }
    out_count?.pointee = count
  }
}

@_cdecl("selene_scheduler_reset") @implementation
public func selene_scheduler_reset(_ scheduler: selene_scheduler) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.reset(at: moment)
    }
  }
}
