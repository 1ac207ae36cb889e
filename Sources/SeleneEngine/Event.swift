// What an observer is told (C18).

import SeleneCore

/// A change with its number.
package struct Event {
  package let number: UInt64
  package let time: Instant
  package let change: Change
}

/// What waits to be delivered to the host without a lock.
enum Delivery {
  /// Asks a run to stop.
  case stop(Run, StopReason)
  /// Ends a host object.
  case finish(Callback)
  /// Hands over a report.
  case report(ReportReceiver, Report)

  var isReport: Bool {
    if case .report = self { true } else { false }
  }
}

/// What waits for the observer, in order.
enum Notice {
  case event(Observer, Event)
  case end(Observer)
}
