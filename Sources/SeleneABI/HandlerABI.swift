// Section HANDLER of the header.

import CSelene
import SeleneCore
import SeleneEngine

@_cdecl("selene_handler_register") @implementation
public func selene_handler_register(
  _ scheduler: selene_scheduler, _ name: UnsafePointer<CChar>!, _ name_length: Int64, _ run: selene_run_fn!,
  _ stop: selene_stop_fn!, _ context: UnsafeMutableRawPointer!, _ destroy: selene_destroy_fn!
) -> selene_status {
  attempt(ending: context, with: destroy) { () throws(SeleneError) in
    let name = try borrow(name, name_length, "name")
    // Optionals of their own: the implicitly unwrapped parameters may be NULL.
    let (run, stop, destroy, context) = (
      run as selene_run_fn?, stop as selene_stop_fn?, destroy as selene_destroy_fn?, context as UnsafeMutableRawPointer?
    )
    try Scheduler.enter(try worker(at: scheduler)) { (scheduler, _) throws(SeleneError) in
      try scheduler.addHandler(
        name,
        run: run.map { run in { current in call(run, current, context) } },
        stop: stop.map { stop in { token, reason in stop(token, reason.rawValue, context) } },
        destroy: destroy.map { destroy in { destroy(context) } })
    }
  }
}

/// Calls a host's run function. For speed: where code is small, filling a struct takes longer than the call.
@_optimize(speed) @inline(never)
private func call(_ run: selene_run_fn, _ current: Run, _ context: UnsafeMutableRawPointer?) {
  var info = selene_run_info(current)
  withUnsafePointer(to: &info) { info in run(current.token, info, context) }
}

@_cdecl("selene_handler_unregister") @implementation
public func selene_handler_unregister(
  _ scheduler: selene_scheduler, _ name: UnsafePointer<CChar>!, _ name_length: Int64
) -> selene_status {
  attempt { () throws(SeleneError) in
    let name = try borrow(name, name_length, "name")
    try Scheduler.enter(try worker(at: scheduler)) { (scheduler, _) throws(SeleneError) in
      try scheduler.removeHandler(name)
    }
  }
}
