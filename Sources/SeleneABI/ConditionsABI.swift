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
    try Scheduler.setConditions(scheduler, constraints, satisfied: satisfied)
  }
}

@_cdecl("selene_conditions_get") @implementation
public func selene_conditions_get(
  _ scheduler: selene_scheduler, _ out_satisfied: UnsafeMutablePointer<UInt32>!,
  _ out_host: UnsafeMutablePointer<UInt32>!
) -> selene_status {
  attempt(scheduler, SERVICE_CONDITIONS_GET, word(out_satisfied), word(out_host)) { () throws(SeleneError) in
    let out = try require(out_satisfied, "out_satisfied")
    let (satisfied, host) = try Scheduler.enter(scheduler, probing: .all, isQuestion: true) {
      (scheduler, moment) throws(SeleneError) in
      scheduler.conditions(at: moment)
    }
    out.pointee = satisfied.rawValue
    out_host?.pointee = host.rawValue
  }
}

@_cdecl("selene_condition_define") @implementation
public func selene_condition_define(
  _ scheduler: selene_scheduler, _ name: UnsafePointer<CChar>!, _ name_length: Int64
) -> selene_status {
  attempt(scheduler, SERVICE_CONDITION_DEFINE, word(name), word(name_length)) { () throws(SeleneError) in
    let name = try borrow(name, name_length, "name")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.define(condition: name, at: moment)
    }
  }
}

@_cdecl("selene_condition_undefine") @implementation
public func selene_condition_undefine(
  _ scheduler: selene_scheduler, _ name: UnsafePointer<CChar>!, _ name_length: Int64
) -> selene_status {
  attempt(scheduler, SERVICE_CONDITION_UNDEFINE, word(name), word(name_length)) { () throws(SeleneError) in
    let name = try borrow(name, name_length, "name")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.undefine(condition: name, at: moment)
    }
  }
}

@_cdecl("selene_condition_set") @implementation
public func selene_condition_set(
  _ scheduler: selene_scheduler, _ name: UnsafePointer<CChar>!, _ name_length: Int64, _ satisfied: Int32
) -> selene_status {
  attempt(scheduler, SERVICE_CONDITION_SET, word(name), word(name_length), word(satisfied)) {
    () throws(SeleneError) in
    let name = try borrow(name, name_length, "name")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.set(condition: name, satisfied != 0, at: moment)
    }
  }
}

@_cdecl("selene_condition_get") @implementation
public func selene_condition_get(
  _ scheduler: selene_scheduler, _ name: UnsafePointer<CChar>!, _ name_length: Int64,
  _ out_state: UnsafeMutablePointer<Int32>!
) -> selene_status {
  attempt(scheduler, SERVICE_CONDITION_GET, word(name), word(name_length), word(out_state)) {
    () throws(SeleneError) in
    let out = try require(out_state, "out_state")
    let name = try borrow(name, name_length, "name")
    let condition = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      try scheduler.condition(name)
    }
    out.pointee = condition.isSatisfied ? 2 : condition.isDefined ? 1 : 0
  }
}

@_cdecl("selene_condition_list") @implementation
public func selene_condition_list(
  _ scheduler: selene_scheduler, _ out_names: UnsafeMutablePointer<UnsafeMutablePointer<selene_task_ids>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_CONDITION_LIST, word(out_names)) { () throws(SeleneError) in
    let out = try require(out_names, "out_names")
    let names = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) in scheduler.conditionNames }
    out.pointee = list(names.count) { names[$0].buffer }
  }
}

@_cdecl("selene_condition_missing") @implementation
public func selene_condition_missing(
  _ scheduler: selene_scheduler, _ id: UnsafePointer<CChar>!, _ id_length: Int64,
  _ out_names: UnsafeMutablePointer<UnsafeMutablePointer<selene_task_ids>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_CONDITION_MISSING, word(id), word(id_length), word(out_names)) {
    () throws(SeleneError) in
    let out = try require(out_names, "out_names")
    let id = try borrow(id, id_length, "id")
    let names = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      try scheduler.missingConditions(id)
    }
    out.pointee = list(names.count) { names[$0].buffer }
  }
}
