// Section LOG of the header.

import CSelene
import SeleneCore
import SeleneEngine

@_cdecl("selene_log_set") @implementation
public func selene_log_set(
  _ log: selene_log_fn!, _ context: UnsafeMutableRawPointer!, _ destroy: selene_destroy_fn!
) -> selene_status {
  attempt(ending: context, with: destroy) { () throws(SeleneError) in
    let (log, destroy, context) = (
      log as selene_log_fn?, destroy as selene_destroy_fn?, context as UnsafeMutableRawPointer?
    )
    try Log.set(
      log.map { log in { level, text in log(level, text, context) } },
      destroy: destroy.map { destroy in { destroy(context) } })
  }
}
