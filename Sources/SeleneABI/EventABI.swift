// Section EVENTS of the header.

import CSelene
import CService
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
var noText: UnsafeRawBufferPointer {
  UnsafeRawBufferPointer(start: ("" as StaticString).cString, count: 0)
}

extension selene_event: SizedStruct {
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
    message = lend((change.message ?? change.progress?.text)?.buffer ?? noText)
    if let progress = change.progress { (progress_done, progress_total) = (progress.done, progress.total) }
    guard let terms = change.pace else { return }
    let told = selene_pace(terms)
    (fresh_since, cost, known_runs, news_runs) = (told.fresh_since, told.cost, told.known_runs, told.news_runs)
    (pace, pace_class) = (told.pace, told.pace_class)
  }
}

@_cdecl("selene_events_open") @implementation
public func selene_events_open(
  _ scheduler: selene_scheduler, _ capacity: UInt64, _ out_fd: UnsafeMutablePointer<Int32>!
) -> selene_status {
  if service_is_connection(scheduler) != 0 {
    let status = attempt { () throws(SeleneError) in try Scheduler.checkEvents(capacity: capacity) }
    return status != 0 ? status : attempt { service_events_open(scheduler, capacity, out_fd, $0) }
  }
  return attempt { () throws(SeleneError) in
    let descriptor = try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in
      try scheduler.openEvents(capacity: capacity).descriptor
    }
    out_fd?.pointee = descriptor
  }
}

@_cdecl("selene_events_next") @implementation
public func selene_events_next(
  _ scheduler: selene_scheduler, _ timeout: Int64, _ out_event: UnsafeMutablePointer<selene_event>!,
  _ out_found: UnsafeMutablePointer<Int32>!, _ out_lost: UnsafeMutablePointer<UInt64>!
) -> selene_status {
  var (size, span) = (0, Span(0))
  let status = attempt { () throws(SeleneError) in
    _ = (try require(out_event, "out_event"), try require(out_found, "out_found"))
    size = try structSize(out_event, "out_event")
    span = try checkedTimeout(timeout)
  }
  guard status == 0 else { return status }
  if service_is_connection(scheduler) != 0 {
    return attempt { failure in
      var (found, lost) = (UnsafeRawPointer?.none, UInt64(0))
      let status = service_events_next(scheduler, span, &found, &lost, failure)
      guard status == 0 else { return status }
      if let found { write(found.load(as: selene_event.self), to: out_event, size: size) }
      out_found.pointee = found != nil ? 1 : 0
      out_lost?.pointee = lost
      return 0
    }
  }
  return attempt { () throws(SeleneError) in
    let (found, lost) = try Scheduler.nextEvent(scheduler, timeout: span) { event in
      write(selene_event(event), to: out_event, size: size)
    }
    out_found.pointee = found ? 1 : 0
    out_lost?.pointee = lost
  }
}

@_cdecl("selene_events_close") @implementation
public func selene_events_close(_ scheduler: selene_scheduler) -> selene_status {
  if service_is_connection(scheduler) != 0 { return attempt { service_events_close(scheduler, $0) } }
  return attempt { () throws(SeleneError) in
    try Scheduler.enter(scheduler) { (scheduler, _) throws(SeleneError) in scheduler.closeEvents() }
  }
}

// MARK: For the clients of a server

extension service_taps {
  /// How a server reads events.
  static var ofEvents: service_taps {
    service_taps(
      open: { scheduler, server, descriptor in
        attempt { () throws(SeleneError) in
          descriptor.pointee = try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
            try scheduler.openTap(of: server).descriptor
          }
        }
      },
      drain: { scheduler, server, each, context in
        _ = attempt { () throws(SeleneError) in
          try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
            scheduler.drainTap(of: server) { (event, lost) in
              guard let event else { return each(context, nil, lost) }
              var told = selene_event(event)
              each(context, &told, lost)
            }
          }
        }
      },
      close: { scheduler, server in
        _ = attempt { () throws(SeleneError) in
          try Scheduler.enter(scheduler, isQuestion: true) { (scheduler, _) throws(SeleneError) in
            scheduler.closeTap(of: server)
          }
        }
      })
  }
}
