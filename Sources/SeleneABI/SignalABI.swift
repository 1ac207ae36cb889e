// Section GOVERNOR of the header: signals.

import CSelene
import CService
import SeleneCore
import SeleneEngine
import SeleneGovernor

extension selene_signal: SizedStruct {
  fileprivate init(_ reading: Reading) {
    self.init()
    value = reading.value
    source = Int32(reading.source.rawValue)
    set_at = reading.setAt
    since = reading.since
    until = reading.until
  }
}

@_cdecl("selene_signal_set") @implementation
public func selene_signal_set(
  _ scheduler: selene_scheduler, _ signal: Int32, _ value: Int64, _ valid_for: Int64
) -> selene_status {
  attempt(scheduler, SERVICE_SIGNAL_SET, word(signal), word(value), word(valid_for)) { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, moment) throws(SeleneError) in
      try scheduler.setSignal(signal, value, validFor: valid_for, at: moment)
    }
  }
}

@_cdecl("selene_signal_clear") @implementation
public func selene_signal_clear(_ scheduler: selene_scheduler, _ signal: Int32) -> selene_status {
  attempt(scheduler, SERVICE_SIGNAL_CLEAR, word(signal)) { () throws(SeleneError) in
    try Scheduler.clearSignal(scheduler, signal)
  }
}

@_cdecl("selene_signal_get") @implementation
public func selene_signal_get(
  _ scheduler: selene_scheduler, _ signal: Int32, _ out_signal: UnsafeMutablePointer<selene_signal>!
) -> selene_status {
  attempt(scheduler, SERVICE_SIGNAL_GET, word(signal), word(out_signal)) { () throws(SeleneError) in
    let out = try require(out_signal, "out_signal")
    let size = try structSize(out, "out_signal")
    write(selene_signal(try Scheduler.signal(scheduler, signal)), to: out, size: size)
  }
}
