// What the host is to be told, and asked, once the lock is free (C18, C8).

import SeleneCore

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

  var isStop: Bool {
    if case .stop = self { true } else { false }
  }
}

/// What waits for the observer, in order.
enum Notice {
  case event(Observer, Event)
  case end(Observer)
}

/// The outbox of a scheduler. Guarded by its lock.
struct Outbox {
  private var observer: Observer?
  /// The number of the last event.
  private var lastEvent: UInt64 = 0
  /// What happened at open, for the first observer.
  private var early: (changes: [Change], at: Instant) = ([], 0)
  /// Events, which only one thread delivers at a time.
  private var notices: [Notice] = []
  private var isNotifying = false
  private var deliveries: [Delivery] = []
  /// What a library thread shall deliver.
  private var handedOver: [Delivery] = []

  /// Whether anybody hears of changes.
  var isObserved: Bool { observer != nil }
  /// Whether there is nothing that this thread could deliver.
  var isEmpty: Bool { deliveries.isEmpty && !hasNotices }
  var hasNotices: Bool { !notices.isEmpty && !isNotifying }
  var hasStops: Bool { deliveries.contains { $0.isStop } }
  var hasHandedOver: Bool { !handedOver.isEmpty }

  // MARK: Filling

  mutating func add(_ delivery: Delivery) { deliveries.append(delivery) }

  /// An event for the observer, if there is one.
  mutating func tell(_ change: Change, at now: Instant) {
    guard let observer else { return }
    lastEvent += 1
    notices.append(.event(observer, Event(number: lastEvent, time: now, change: change)))
  }

  /// What happened before there could be an observer.
  mutating func keep(_ changes: [Change], at now: Instant) { early = (changes, now) }

  /// Another observer hears what comes from now on; the one before ends behind what is queued for it.
  mutating func observe(_ other: Observer?) {
    if let observer { notices.append(.end(observer)) }
    observer = other
    guard other != nil else { return }
    for change in early.changes { tell(change, at: early.at) }
    early.changes = []
  }

  // MARK: Emptying

  /// All deliveries, in no order.
  mutating func takeDeliveries() -> [Delivery] {
    let taken = deliveries
    deliveries = []
    return taken
  }

  /// Keeps the deliveries for a library thread, which takes them back.
  mutating func handOver() { handedOver += takeDeliveries() }

  mutating func takeHandedOver() {
    deliveries += handedOver
    handedOver = []
  }

  /// The events that wait, for the one thread that delivers them until it has taken none; nil if another does.
  mutating func takeNotices(isFirst: Bool) -> [Notice]? {
    if isFirst && isNotifying { return nil }
    isNotifying = !notices.isEmpty
    guard isNotifying else { return nil }
    let taken = notices
    notices = []
    return taken
  }
}
