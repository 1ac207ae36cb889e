// Section LANE of the header.

import CSelene
import SeleneCore
import SeleneEngine

/// How long to wait; SELENE_NEVER ends with it.
func checkedTimeout(_ timeout: Int64) throws(SeleneError) -> Span {
  guard timeout >= 0 else { throw .range("timeout", timeout, 0, .max, .duration) }
  return timeout
}

/// The outcome that a lane comes back with, or nil.
func given(_ outcome: Int32) throws(SeleneError) -> Outcome? {
  guard outcome != Int32(SELENE_OUTCOME_NONE) else { return nil }
  guard let outcome = Outcome(rawValue: outcome), outcome.mayBeGiven else {
    throw .range("outcome", outcome, -1, 5, .number, "-1 (none) … 3 (abandoned), or 5 (stopped)")
  }
  return outcome
}

@_cdecl("selene_lane_open") @implementation
public func selene_lane_open(
  _ cycle: selene_cycle, _ out_lane: UnsafeMutablePointer<selene_lane>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_lane, "out_lane")
    out.pointee = try Scheduler.enter(cycle: cycle) { (scheduler, cycle, _) throws(SeleneError) in
      try scheduler.openLane(cycle).handle
    }
  }
}

@_cdecl("selene_lane_next") @implementation
public func selene_lane_next(
  _ lane: selene_lane, _ outcome: Int32, _ timeout: Int64, _ out_step: UnsafeMutablePointer<Int32>!,
  _ out_run: UnsafeMutablePointer<selene_run_info>!, _ out_wake_at: UnsafeMutablePointer<Int64>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let (outStep, outRun) = (try require(out_step, "out_step"), try require(out_run, "out_run"))
    let size = try structSize(outRun, "out_run")
    let timeout = try checkedTimeout(timeout)
    let given = try given(outcome)
    try Scheduler.enter(lane: lane, isQuestion: true) { (scheduler, lane, moment) throws(SeleneError) in
      // Under the lock, where no other thread releases the run.
      try scheduler.next(lane, given, timeout: timeout, at: moment).write(outStep, outRun, size: size, out_wake_at)
    }
  }
}

@_cdecl("selene_lane_close") @implementation
public func selene_lane_close(_ lane: selene_lane) -> selene_status {
  attempt { () throws(SeleneError) in
    try Scheduler.enter(lane: lane) { (scheduler, lane, moment) in scheduler.close(lane, at: moment) }
  }
}
