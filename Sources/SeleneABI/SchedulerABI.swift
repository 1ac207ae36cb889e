// Sections OPTIONS and SCHEDULER of the header.

import CSelene
import CService
import SeleneCore
import SeleneEngine

extension selene_options: SizedStruct {
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
    draft.hasThreads = flags & UInt32(SELENE_OPTIONS_NO_THREADS) == 0
    draft.maxPendingRefresh = try Self.limit(max_pending_refresh, "max_pending_refresh")
    draft.maxPendingProcessing = try Self.limit(max_pending_processing, "max_pending_processing")
    draft.minimumBackoff = minimum_backoff
    draft.maximumBackoff = maximum_backoff
    draft.minimumIntervalRefresh = minimum_interval_refresh
    draft.minimumIntervalProcessing = minimum_interval_processing
    draft.releaseAfter = release_after
    draft.backoffJitter = backoff_jitter
    draft.maxOverrunThreads = max_overrun_threads
    draft.seed = seed
    draft.maxInputSize = max_input_size
    draft.maxOutputSize = max_output_size
    draft.crashPause = crash_pause
    draft.owner = try borrow(owner, "owner")
    draft.stopGrace = stop_grace
    draft.expeditedQuota = expedited_quota
    draft.waitLogEntries = wait_log_entries
    draft.stackSize = thread_stack_size
    draft.threadQuality = UInt32(bitPattern: thread_quality)
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

  private static func limit(_ count: Int64, _ field: Literal) throws(SeleneError) -> UInt32 {
    guard let limit = UInt32(exactly: count) else { throw .range(field, count, 0, Int64(UInt32.max)) }
    return limit
  }

  /// - Throws: `invalidArgument` for two clocks.
  func hostClock() throws(SeleneError) -> HostClock? {
    guard flags & UInt32(SELENE_OPTIONS_SET_CLOCK) == 0 else {
      guard clock == nil else {
        throw SeleneError(.invalidArgument, "clock", "cannot be combined with SELENE_OPTIONS_SET_CLOCK")
      }
      return HostClock(told: clock_start)
    }
    let (context, destroy) = (clock_context, clock_destroy)
    return clock.map { clock in
      HostClock(read: { clock(context) }, destroy: destroy.map { destroy in { destroy(context) } })
    }
  }
}

extension selene_options {
  var threadHooks: ThreadHooks? {
    guard thread_begin != nil || thread_end != nil else { return nil }
    let (context, begin, end, destroy) = (thread_context, thread_begin, thread_end, thread_destroy)
    return ThreadHooks(
      begin: begin.map { begin in { begin(context) } }, end: end.map { end in { end(context) } },
      destroy: destroy.map { destroy in { destroy(context) } })
  }
}

@_cdecl("selene_scheduler_open") @implementation
public func selene_scheduler_open(
  _ options: UnsafePointer<selene_options>!, _ out_scheduler: UnsafeMutablePointer<selene_scheduler>!
) -> selene_status {
  // What can be read of the callbacks has to be ended also when the rest is refused.
  let given = (options as UnsafePointer<selene_options>?).map { load($0) } ?? selene_options.initial
  let status = attempt(
    ending: given.clock_context, with: given.clock_destroy, given.thread_context, given.thread_destroy
  ) { () throws(SeleneError) in
    let known =
      SELENE_OPTIONS_HOLD | SELENE_OPTIONS_OBSERVED_RANGE | SELENE_OPTIONS_RELAXED | SELENE_OPTIONS_FRESHNESS
      | SELENE_OPTIONS_NO_THREADS | SELENE_OPTIONS_SET_CLOCK
    let names: Literal =
      "0, or a sum of SELENE_OPTIONS_HOLD (1), _OBSERVED_RANGE (2), _RELAXED (4), _FRESHNESS (8), _NO_THREADS (16), _SET_CLOCK (32)"
    if let options { _ = try structSize(options, flags: UInt32(known), named: names, "options") }
    let out = try require(out_scheduler, "out_scheduler")
    let path = try borrow(path: given.path, "path")
    let clock = try given.hostClock()
    out.pointee = try Scheduler.open(
      Options(given.draft(), Units(clock)), clock, given.threadHooks, path: path.count > 0 ? path : nil)
  }
  if status == 0 && given.clock == nil { given.clock_destroy?(given.clock_context) }
  if status == 0 && given.thread_begin == nil && given.thread_end == nil { given.thread_destroy?(given.thread_context) }
  return status
}

@_cdecl("selene_scheduler_close") @implementation
public func selene_scheduler_close(_ scheduler: selene_scheduler, _ grace: Int64) -> selene_status {
  if service_is_connection(scheduler) != 0 {
    return attempt { () throws(SeleneError) in try disconnect(scheduler, grace: grace) }
  }
  return attempt { () throws(SeleneError) in
    guard scheduler != 0 else { return }
    try Scheduler.checkClose(scheduler, grace: grace)
    try Scheduler.close(
      scheduler, grace: grace, serve: { service_serve(scheduler, $0) != 0 }, endServers: { service_end(scheduler) })
  }
}

@_cdecl("selene_scheduler_drain") @implementation
public func selene_scheduler_drain(_ scheduler: selene_scheduler, _ grace: Int64) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.drain(scheduler, grace: grace) { service_serve(scheduler, $0) != 0 }
  }
}

@_cdecl("selene_scheduler_resume") @implementation
public func selene_scheduler_resume(_ scheduler: selene_scheduler) -> selene_status {
  attempt(scheduler, SERVICE_SCHEDULER_RESUME) { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in try scheduler.resume() }
  }
}

@_cdecl("selene_scheduler_now") @implementation
public func selene_scheduler_now(_ scheduler: selene_scheduler, _ out_now: UnsafeMutablePointer<Int64>!)
  -> selene_status
{
  attempt(scheduler, SERVICE_SCHEDULER_NOW, word(out_now)) { () throws(SeleneError) in
    let out = try require(out_now, "out_now")
    out.pointee = try Scheduler.enter(scheduler, isQuestion: true) { (_, moment) throws(SeleneError) in moment.now }
  }
}

@_cdecl("selene_clock_set") @implementation
public func selene_clock_set(_ scheduler: selene_scheduler, _ now: Int64) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      try scheduler.setClock(now)
    }
  }
}

@_cdecl("selene_clock_advance") @implementation
public func selene_clock_advance(
  _ scheduler: selene_scheduler, _ to: Int64, _ flags: UInt32, _ patience: Int64,
  _ out_next: UnsafeMutablePointer<Int64>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    guard flags <= 7 else { throw SeleneError(.invalidArgument, "flags", "is not a sum of SELENE_ADVANCE_ numbers") }
    guard patience >= 0 else { throw .range("patience", patience, 0, .max, .duration) }
    let host: AwaitedHost = flags & 4 != 0 ? .runs : flags & 1 != 0 ? .handlers : .nothing
    let next = try Scheduler.advanceClock(
      scheduler, to: to, awaiting: host, once: flags & 2 != 0, patience: patience)
    (out_next as UnsafeMutablePointer?)?.pointee = next
  }
}

extension selene_scheduler_info: SizedStruct {
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
    (expedited_left, expedited_free_at) = (census.expeditedLeft, census.expeditedFreeAt)
  }
}

@_cdecl("selene_scheduler_get") @implementation
public func selene_scheduler_get(
  _ scheduler: selene_scheduler, _ out_info: UnsafeMutablePointer<selene_scheduler_info>!
) -> selene_status {
  attempt(scheduler, SERVICE_SCHEDULER_GET, word(out_info)) { () throws(SeleneError) in
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
  attempt(scheduler, SERVICE_SCHEDULER_ENABLE, word(kinds)) { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in try scheduler.enable(kinds) }
  }
}

@_cdecl("selene_scheduler_next_wakeup") @implementation
public func selene_scheduler_next_wakeup(
  _ scheduler: selene_scheduler, _ out_at: UnsafeMutablePointer<Int64>!, _ out_delay: UnsafeMutablePointer<Int64>!
) -> selene_status {
  attempt(scheduler, SERVICE_SCHEDULER_NEXT_WAKEUP, word(out_at), word(out_delay)) { () throws(SeleneError) in
    let (at, now) = try Scheduler.enter(scheduler, probing: .asked, isQuestion: true) {
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
  attempt(scheduler, SERVICE_SCHEDULER_PRUNE, word(out_count)) { () throws(SeleneError) in
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

// MARK: Pauses

@_cdecl("selene_scheduler_pause") @implementation
public func selene_scheduler_pause(
  _ scheduler: selene_scheduler, _ kinds: UInt32, _ pool: UnsafePointer<CChar>!, _ pool_length: Int64, _ until: Int64
) -> selene_status {
  attempt(scheduler, SERVICE_SCHEDULER_PAUSE, word(kinds), word(pool), word(pool_length), word(until)) {
    () throws(SeleneError) in
    let pool = try borrow(pool, pool_length, "pool")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.pause(kinds, of: pool, until: until, at: moment)
    }
  }
}

@_cdecl("selene_pause_list") @implementation
public func selene_pause_list(
  _ scheduler: selene_scheduler, _ out_pauses: UnsafeMutablePointer<UnsafeMutablePointer<selene_pauses>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_PAUSE_LIST, word(out_pauses)) { () throws(SeleneError) in
    let out = try require(out_pauses, "out_pauses")
    let pauses = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) in scheduler.pauses }
    out.pointee = Block.make { block in
      var list = selene_pauses()
      list.struct_size = UInt32(MemoryLayout<selene_pauses>.size)
      list.count = UInt64(pauses.count)
      list.pauses = block.array(pauses.count) { index, block in
        let pause = pauses[index]
        return selene_pause(
          pool: block.text(pause.pool?.buffer ?? noText), kinds: pause.kinds.rawValue, reserved: 0, until: pause.until)
      }
      return list
    }
  }
}
