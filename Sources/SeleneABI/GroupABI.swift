// Section GROUP of the header.

import CSelene
import CService
import SeleneCore
import SeleneEngine

extension selene_group_info: SizedStruct {}

@_cdecl("selene_group_set_limit") @implementation
public func selene_group_set_limit(
  _ scheduler: selene_scheduler, _ name: UnsafePointer<CChar>!, _ name_length: Int64, _ limit: UInt32
) -> selene_status {
  attempt(scheduler, SERVICE_GROUP_SET_LIMIT, word(name), word(name_length), word(limit)) { () throws(SeleneError) in
    let name = try borrow(name, name_length, "name")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.limit(group: name, to: limit, at: moment)
    }
  }
}

@_cdecl("selene_group_pause") @implementation
public func selene_group_pause(
  _ scheduler: selene_scheduler, _ name: UnsafePointer<CChar>!, _ name_length: Int64
) -> selene_status {
  attempt(scheduler, SERVICE_GROUP_PAUSE, word(name), word(name_length)) { () throws(SeleneError) in
    let name = try borrow(name, name_length, "name")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.pause(true, group: name, at: moment)
    }
  }
}

@_cdecl("selene_group_resume") @implementation
public func selene_group_resume(
  _ scheduler: selene_scheduler, _ name: UnsafePointer<CChar>!, _ name_length: Int64
) -> selene_status {
  attempt(scheduler, SERVICE_GROUP_RESUME, word(name), word(name_length)) { () throws(SeleneError) in
    let name = try borrow(name, name_length, "name")
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.pause(false, group: name, at: moment)
    }
  }
}

@_cdecl("selene_group_get") @implementation
public func selene_group_get(
  _ scheduler: selene_scheduler, _ name: UnsafePointer<CChar>!, _ name_length: Int64,
  _ out_info: UnsafeMutablePointer<selene_group_info>!
) -> selene_status {
  attempt(scheduler, SERVICE_GROUP_GET, word(name), word(name_length), word(out_info)) { () throws(SeleneError) in
    let out = try require(out_info, "out_info")
    let size = try structSize(out, "out_info")
    let name = try borrow(name, name_length, "name")
    let info = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      let group = try scheduler.group(name)
      return selene_group_info(
        struct_size: UInt32(MemoryLayout<selene_group_info>.size), flags: 0, limit: group.limit,
        paused: group.isPaused ? 1 : 0, running: UInt64(group.running), waiting: group.waiting)
    }
    write(info, to: out, size: size)
  }
}

@_cdecl("selene_group_list") @implementation
public func selene_group_list(
  _ scheduler: selene_scheduler, _ out_names: UnsafeMutablePointer<UnsafeMutablePointer<selene_task_ids>?>!
) -> selene_status {
  attempt(scheduler, SERVICE_GROUP_LIST, word(out_names)) { () throws(SeleneError) in
    let out = try require(out_names, "out_names")
    let names = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) in scheduler.groupNames }
    out.pointee = list(names.count) { names[$0].buffer }
  }
}
