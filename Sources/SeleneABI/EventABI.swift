// Section EVENTS of the header.

import CSelene
import SeleneCore
import SeleneEngine

@_cdecl("selene_scheduler_observe") @implementation
public func selene_scheduler_observe(
  _ scheduler: selene_scheduler, _ observer: selene_event_fn!, _ context: UnsafeMutableRawPointer!,
  _ destroy: selene_destroy_fn!
) -> selene_status {
  attempt(ending: context, with: destroy) { () throws(SeleneError) in
    let (observer, destroy, context) = (
      observer as selene_event_fn?, destroy as selene_destroy_fn?, context as UnsafeMutableRawPointer?
    )
    try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in
      scheduler.observe(
        observer.map { observer in
          { event in
            var lent = selene_event(event)
            observer(&lent, context)
          }
        },
        destroy: destroy.map { destroy in { destroy(context) } })
    }
  }
}

/// The empty text, which ends with a NUL, too.
private var noText: UnsafeRawBufferPointer {
  UnsafeRawBufferPointer(start: ("" as StaticString).cString, count: 0)
}

extension selene_event {
  fileprivate init(_ event: borrowing Event) {
    self.init()
    let change = event.change
    struct_size = UInt32(MemoryLayout<selene_event>.size)
    number = event.number
    type = change.type.rawValue
    state = change.state.map { Int32($0.rawValue) } ?? -1
    time = event.time
    id = lend(change.definition?.id ?? noText)
    run = change.run
    cycle = change.cycle
    detail = change.detail
    attempts = change.attempts
    time_at = change.timeAt
    kinds = change.definition.map { KindSet($0.kind).rawValue } ?? change.kinds.rawValue
    status = change.status
    message = lend(change.message?.buffer ?? noText)
  }
}
