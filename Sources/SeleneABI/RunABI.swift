// Section RUN of the header.

import CSelene
import CService
import SeleneCore
import SeleneEngine

extension selene_run_info: SizedStruct {
  /// What a handler is told; its texts live as long as the run.
  init(_ run: Run) {
    self.init()
    struct_size = UInt32(MemoryLayout<selene_run_info>.size)
    describe(run)
  }

  /// Fills in all but the size and the flags.
  mutating func describe(_ run: Run) {
    self.run = run.token
    cycle = run.cycleHandle
    let definition = run.definition
    id = lend(definition.id)
    handler = lend(definition.handler)
    input = lend(definition.input)
    kind = Int32(definition.kind.rawValue)
    priority = Int32(definition.priority)
    attempt = run.attempt
    generation = run.generation
    score = run.score
    estimate = run.estimate
    started_at = run.startedAt
    expires_at = run.expiresAt
    deadline = run.deadline
    progress_text = lend(noText)
  }
}

@_cdecl("selene_run_complete") @implementation
public func selene_run_complete(_ run: selene_run, _ outcome: Int32) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(run: run) { (scheduler, number, moment) throws(SeleneError) in
      try scheduler.complete(number, outcome, retryDelay: nil, at: moment)
    }
  }
}

@_cdecl("selene_run_retry") @implementation
public func selene_run_retry(_ run: selene_run, _ delay: Int64) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(run: run) { (scheduler, number, moment) throws(SeleneError) in
      try scheduler.complete(number, Outcome.failed.rawValue, retryDelay: delay, at: moment)
    }
  }
}

@_cdecl("selene_run_fail") @implementation
public func selene_run_fail(
  _ run: selene_run, _ outcome: Int32, _ delay: Int64, _ message: UnsafePointer<CChar>!, _ message_length: Int64
) -> selene_status {
  attempt { () throws(SeleneError) in
    let message = try LastFailure.message(
      try borrow(message, message_length, "message", atMost: LastFailure.longestMessage))
    try Scheduler.enter(run: run) { (scheduler, number, moment) throws(SeleneError) in
      try scheduler.fail(number, outcome, retryDelay: delay == -1 ? nil : delay, because: message, at: moment)
    }
  }
}

@_cdecl("selene_run_complete_until") @implementation
public func selene_run_complete_until(_ run: selene_run, _ outcome: Int32, _ next: Int64) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(run: run) { (scheduler, number, moment) throws(SeleneError) in
      try scheduler.complete(number, outcome, retryDelay: nil, until: next, at: moment)
    }
  }
}

@_cdecl("selene_run_stopping") @implementation
public func selene_run_stopping(_ run: selene_run, _ out_reason: UnsafeMutablePointer<Int32>!) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_reason, "out_reason")
    try Scheduler.enter(run: run) { (scheduler, number, moment) throws(SeleneError) in
      guard try !scheduler.asks(number, SERVICE_RUN_STOPPING, word(out)) else { return }
      out.pointee = try scheduler.stopping(number, at: moment).reason.rawValue
    }
  }
}

@_cdecl("selene_run_remaining") @implementation
public func selene_run_remaining(_ run: selene_run, _ out_remaining: UnsafeMutablePointer<Int64>!) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_remaining, "out_remaining")
    try Scheduler.enter(run: run) { (scheduler, number, moment) throws(SeleneError) in
      guard try !scheduler.asks(number, SERVICE_RUN_REMAINING, word(out)) else { return }
      out.pointee = try scheduler.stopping(number, at: moment).remaining
    }
  }
}

@_cdecl("selene_run_sleep") @implementation
public func selene_run_sleep(_ run: selene_run, _ nanoseconds: Int64, _ out_reason: UnsafeMutablePointer<Int32>!)
  -> selene_status
{
  attempt { () throws(SeleneError) in
    let out = try require(out_reason, "out_reason")
    if try Scheduler.sleep(run, nanoseconds) {
      out.pointee = 0
    } else {
      out.pointee = try Scheduler.enter(run: run) { (scheduler, number, moment) throws(SeleneError) in
        try scheduler.stopping(number, at: moment).reason.rawValue
      }
    }
  }
}

@_cdecl("selene_run_progress") @implementation
public func selene_run_progress(
  _ run: selene_run, _ done: Int64, _ total: Int64, _ text: UnsafePointer<CChar>!, _ text_length: Int64
) -> selene_status {
  attempt { () throws(SeleneError) in
    let text = try LastFailure.message(
      try borrow(text, text_length, "text", atMost: LastFailure.longestMessage), "text")
    try Scheduler.enter(run: run) { (scheduler, number, moment) throws(SeleneError) in
      let words = text?.buffer
      guard
        try !scheduler.asks(
          number, SERVICE_RUN_PROGRESS, word(done), word(total), word(words?.baseAddress), word(words?.count ?? 0))
      else { return }
      try scheduler.progress(number, done: done, total: total, text, at: moment)
    }
  }
}

/// What a run may leave, unless that is larger than its scheduler takes.
func borrow(output: UnsafeRawPointer?, _ length: Int64) throws(SeleneError) -> UnsafeRawBufferPointer {
  guard length >= 0 else { throw .range("length", length, 0, .max, .bytes) }
  guard output != nil || length == 0 else { throw .null("output") }
  return UnsafeRawBufferPointer(start: output, count: Int(clamping: length))
}

@_cdecl("selene_run_set_output") @implementation
public func selene_run_set_output(_ run: selene_run, _ output: UnsafeRawPointer!, _ length: Int64) -> selene_status {
  attempt { () throws(SeleneError) in
    let output = try borrow(output: output, length)
    try Scheduler.enter(run: run) { (scheduler, number, _) throws(SeleneError) in
      guard try !scheduler.asks(number, SERVICE_RUN_SET_OUTPUT, word(output.baseAddress), word(output.count)) else {
        return
      }
      try scheduler.setOutput(number, output)
    }
  }
}

@_cdecl("selene_run_set_user") @implementation
public func selene_run_set_user(_ run: selene_run, _ user: UnsafeMutableRawPointer!) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(run: run) { (scheduler, number, _) throws(SeleneError) in
      try scheduler.setUser(number, user)
    }
  }
}

@_cdecl("selene_run_user") @implementation
public func selene_run_user(_ run: selene_run, _ out_user: UnsafeMutablePointer<UnsafeMutableRawPointer?>!)
  -> selene_status
{
  attempt { () throws(SeleneError) in
    let out = try require(out_user, "out_user")
    out.pointee = try Scheduler.enter(run: run) { (scheduler, number, _) throws(SeleneError) in
      try scheduler.user(number)
    }
  }
}

@_cdecl("selene_run_get") @implementation
public func selene_run_get(_ run: selene_run, _ out_info: UnsafeMutablePointer<UnsafeMutablePointer<selene_run_info>?>!)
  -> selene_status
{
  attempt { () throws(SeleneError) in
    let out = try require(out_info, "out_info")
    try Scheduler.enter(run: run) { (scheduler, number, _) throws(SeleneError) in
      let cycle = try scheduler.run(number).cycleHandle
      guard try scheduler.asks(number, SERVICE_RUN_GET, word(out)) else {
        out.pointee = try scheduler.block(ofRun: number)
        return
      }
      // The owner numbers them otherwise.
      if let info = out.pointee { (info.pointee.run, info.pointee.cycle) = (run, cycle) }
    }
  }
}
