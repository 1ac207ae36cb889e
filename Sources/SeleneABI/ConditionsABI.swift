// Section CONDITIONS of the header.

import CSelene
import CService
import SeleneCore
import SeleneEngine

@_cdecl("selene_conditions_set") @implementation
public func selene_conditions_set(
  _ scheduler: selene_scheduler, _ constraints: UInt32, _ satisfied: UInt32
) -> selene_status {
  attempt(scheduler, SERVICE_CONDITIONS_SET, word(constraints), word(satisfied)) { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.setConditions(constraints, satisfied: satisfied, at: moment)
    }
  }
}

@_cdecl("selene_conditions_get") @implementation
public func selene_conditions_get(
  _ scheduler: selene_scheduler, _ out_satisfied: UnsafeMutablePointer<UInt32>!,
  _ out_host: UnsafeMutablePointer<UInt32>!
) -> selene_status {
  attempt(scheduler, SERVICE_CONDITIONS_GET, word(out_satisfied), word(out_host)) { () throws(SeleneError) in
    let out = try require(out_satisfied, "out_satisfied")
    let (satisfied, host) = try Scheduler.enter(scheduler, probing: true, isQuestion: true) {
      (scheduler, moment) throws(SeleneError) in
      scheduler.conditions(at: moment)
    }
    out.pointee = satisfied.rawValue
    out_host?.pointee = host.rawValue
  }
}
