// Section HANDLER of the header.

import CSelene
import CService
import SeleneCore
import SeleneEngine

@_cdecl("selene_handler_register") @implementation
public func selene_handler_register(
  _ scheduler: selene_scheduler, _ name: UnsafePointer<CChar>!, _ name_length: Int64, _ run: selene_run_fn!,
  _ stop: selene_stop_fn!, _ context: UnsafeMutableRawPointer!, _ destroy: selene_destroy_fn!
) -> selene_status {
  guard service_is_connection(scheduler) == 0 else {
    return offer(scheduler, name, name_length, run, stop, context, destroy)
  }
  return attempt(ending: context, with: destroy) { () throws(SeleneError) in
    let name = try borrow(name, name_length, "name")
    // Optionals of their own: the implicitly unwrapped parameters may be NULL.
    let (run, stop, destroy, context) = (
      run as selene_run_fn?, stop as selene_stop_fn?, destroy as selene_destroy_fn?, context as UnsafeMutableRawPointer?
    )
    try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in
      try scheduler.addHandler(
        name,
        run: run.map { run in { current in call(run, current, context) } },
        stop: stop.map { stop in { token, reason in stop(token, reason.rawValue, context) } },
        destroy: destroy.map { destroy in { destroy(context) } })
    }
  }
}

/// The same for a connection, which offers it to the owner (L5).
private func offer(
  _ connection: selene_scheduler, _ name: UnsafePointer<CChar>?, _ name_length: Int64, _ run: selene_run_fn?,
  _ stop: selene_stop_fn?, _ context: UnsafeMutableRawPointer?, _ destroy: selene_destroy_fn?
) -> selene_status {
  var handler = service_handler(
    run: unsafeBitCast(run, to: (@convention(c) () -> Void)?.self),
    stop: unsafeBitCast(stop, to: (@convention(c) () -> Void)?.self), context: context, destroy: destroy)
  var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
  var status = attempt { () throws(SeleneError) in
    bytes = try borrow(name, name_length, "name")
    try Identifier.check(bytes, "name")
  }
  if status == 0, let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) {
    status = attempt { service_handler_add(connection, start, UInt64(bytes.count), &handler, $0) }
  }
  guard status != 0 else { return 0 }
  // Its detail stays behind what the host does in it.
  let failed = status
  if let destroy {
    destroy(context)
  }
  return failed
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
  guard service_is_connection(scheduler) == 0 else { return withdraw(scheduler, name, name_length) }
  return attempt { () throws(SeleneError) in
    let name = try borrow(name, name_length, "name")
    try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in try scheduler.removeHandler(name) }
  }
}

private func withdraw(
  _ connection: selene_scheduler, _ name: UnsafePointer<CChar>?, _ name_length: Int64
) -> selene_status {
  var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
  let status = attempt { () throws(SeleneError) in
    bytes = try borrow(name, name_length, "name")
    try Identifier.check(bytes, "name")
  }
  guard status == 0, let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return status }
  return attempt { service_handler_remove(connection, start, UInt64(bytes.count), $0) }
}
