// Section GOVERNOR of the header: the driver.

import CSelene
import CService
import SeleneCore
import SeleneEngine

extension selene_driver: SizedStruct {
  /// What an owner is asked for.
  init(_ draft: DriverDraft) {
    self = .empty
    (refresh_budget, processing_budget) = (draft.budgets.refresh, draft.budgets.processing)
    (refresh_lanes, processing_lanes) = (draft.lanes.refresh, draft.lanes.processing)
    (kinds, reserve, every) = (draft.kinds, said(draft.reserve, usual: -1), draft.every)
    if draft.hasLanes { flags |= UInt32(SELENE_DRIVER_LANES) }
    if draft.strictFit { flags |= UInt32(SELENE_DRIVER_STRICT_FIT) }
    if draft.together { flags |= UInt32(SELENE_DRIVER_TOGETHER) }
    if !draft.isRolling { flags |= UInt32(SELENE_DRIVER_FROZEN) }
    if !draft.isGoverned { flags |= UInt32(SELENE_DRIVER_UNGOVERNED) }
  }

  fileprivate var draft: DriverDraft {
    var draft = DriverDraft()
    draft.budgets = PerKind(refresh: refresh_budget, processing: processing_budget)
    draft.lanes = PerKind(refresh: refresh_lanes, processing: processing_lanes)
    draft.hasLanes = flags & UInt32(SELENE_DRIVER_LANES) != 0
    (draft.kinds, draft.reserve, draft.every) = (kinds, reserve, every)
    draft.strictFit = flags & UInt32(SELENE_DRIVER_STRICT_FIT) != 0
    draft.isRolling = flags & UInt32(SELENE_DRIVER_FROZEN) == 0
    draft.together = flags & UInt32(SELENE_DRIVER_TOGETHER) != 0
    draft.isGoverned = flags & UInt32(SELENE_DRIVER_UNGOVERNED) == 0
    return draft
  }
}

/// What a host describes.
func driver(_ pointer: UnsafePointer<selene_driver>?) throws(SeleneError) -> DriverDraft {
  let known = UInt32(
    SELENE_DRIVER_LANES | SELENE_DRIVER_STRICT_FIT | SELENE_DRIVER_TOGETHER | SELENE_DRIVER_FROZEN
      | SELENE_DRIVER_UNGOVERNED)
  let names: Literal =
    "0, or a sum of SELENE_DRIVER_LANES (1), _STRICT_FIT (2), _TOGETHER (4), _FROZEN (8), _UNGOVERNED (16)"
  guard let pointer else { return selene_driver.initial.draft }
  return try read(pointer, flags: known, named: names, "driver").draft
}

/// Opens a driver as a host describes it.
private func open(
  _ driver: UnsafePointer<selene_driver>?, of scheduler: selene_scheduler, hasThread: Bool
) throws(SeleneError) -> Driver {
  let draft = try SeleneABI.driver(driver)
  return try Scheduler.enter(try worker(at: scheduler)) { (scheduler, moment) throws(SeleneError) in
    try scheduler.openDriver(draft, hasThread: hasThread, at: moment)
  }
}

@_cdecl("selene_driver_start") @implementation
public func selene_driver_start(
  _ scheduler: selene_scheduler, _ driver: UnsafePointer<selene_driver>!
) -> selene_status {
  attempt { () throws(SeleneError) in _ = try open(driver, of: scheduler, hasThread: true) }
}

@_cdecl("selene_driver_open") @implementation
public func selene_driver_open(
  _ scheduler: selene_scheduler, _ driver: UnsafePointer<selene_driver>!, _ out_fd: UnsafeMutablePointer<Int32>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let driver = try open(driver, of: scheduler, hasThread: false)
    out_fd?.pointee = driver.descriptor
  }
}

@_cdecl("selene_driver_step") @implementation
public func selene_driver_step(
  _ scheduler: selene_scheduler, _ out_cycle: UnsafeMutablePointer<selene_cycle>!,
  _ out_wake_at: UnsafeMutablePointer<Int64>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_cycle, "out_cycle")
    let step = try Scheduler.step(try worker(at: scheduler))
    out.pointee = step.cycle?.handle ?? 0
    out_wake_at?.pointee = step.wakeAt
  }
}

@_cdecl("selene_driver_wait") @implementation
public func selene_driver_wait(
  _ scheduler: selene_scheduler, _ timeout: Int64, _ out_ready: UnsafeMutablePointer<Int32>!
) -> selene_status {
  attempt { () throws(SeleneError) in
    let out = try require(out_ready, "out_ready")
    out.pointee = try Scheduler.awaitStep(try worker(at: scheduler), timeout: checkedTimeout(timeout)) ? 1 : 0
  }
}

@_cdecl("selene_driver_stop") @implementation
public func selene_driver_stop(_ scheduler: selene_scheduler, _ grace: Int64) -> selene_status {
  attempt { () throws(SeleneError) in
    if service_is_connection(scheduler) != 0 { try Units.system.check(grace: grace) }
    try Scheduler.stopDriver(try worker(at: scheduler), grace: grace)
  }
}
