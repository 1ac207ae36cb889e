// Section GOVERNOR of the header: traces.

import CSelene
import SeleneCore
import SeleneEngine

@_cdecl("selene_trace_record") @implementation
public func selene_trace_record(
  _ scheduler: selene_scheduler, _ path: UnsafePointer<CChar>!, _ path_length: Int64
) -> selene_status {
  attempt { () throws(SeleneError) in
    guard let path else {
      return try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in scheduler.stopTrace() }
    }
    let file = try borrow(path: selene_text(data: path, length: path_length), "path")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.startTrace(file, at: moment)
    }
  }
}

@_cdecl("selene_trace_replay") @implementation
public func selene_trace_replay(
  _ path: UnsafePointer<CChar>!, _ path_length: Int64, _ out_decisions: UnsafeMutablePointer<UInt64>!,
  _ out_first_difference: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let path = try borrow(path: selene_text(data: path, length: path_length), "path")
    let replay = try TraceFile.replay(path)
    out_decisions?.pointee = UInt64(replay.decisions)
    out_first_difference?.pointee = UInt64(replay.firstDifference)
  }
}
