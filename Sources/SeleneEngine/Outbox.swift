// What the host is to be told, and asked, once the lock is free (C18, C8).

import SeleneCore

/// What waits to be delivered to the host without a lock; any thread delivers it, in no order.
enum Delivery {
  /// Asks a run to stop.
  case stop(Run, StopReason)
  /// Ends a host object.
  case finish(Callback)
  /// Hands over a report.
  case report(HandedReport)
}

/// A report for one who waits for it. An object, so that every delivery is as small.
final class HandedReport {
  let receiver: ReportReceiver
  let report: Report

  init(_ report: Report, to receiver: ReportReceiver) { (self.receiver, self.report) = (receiver, report) }
}

/// What waits for an observer, in order.
struct Notice {
  let observer: Observer
  /// What it is told; nil: it is ended. An enum of both would be marked by spare bits of the event, which an end has not.
  let event: Event?
}

/// The outbox of a scheduler. Guarded by its lock.
struct Outbox {
  private var observer: Observer?
  /// Where hosts read events without being called.
  var queue: EventQueue?
  /// Where servers read events for their clients.
  var taps: [(server: UInt64, queue: EventQueue)] = []
  /// The number of the last event.
  private var lastEvent: UInt64 = 0
  /// What happened at open, for the first observer or the queue.
  private var early: (changes: [Change], at: Instant) = ([], 0)
  /// Events, of which one is delivered at a time.
  private var notices = Queue<Notice>()
  private var isNotifying = false
  /// Events that found no room since the observer fell behind.
  private var lost: UInt64 = 0
  /// Who waits for a report does not wait for a stop function.
  private var reports = Queue<Delivery>()
  private var deliveries = Queue<(number: UInt64, Delivery)>()
  /// The number of the last of them.
  private(set) var lastDelivery: UInt64 = 0
  /// The last one that was there when the present call began.
  private(set) var lastBefore: UInt64 = 0

  /// What was taken and is being delivered.
  var underWay: [(number: UInt64, delivery: Delivery)] = []
  /// Threads that deliver, and will go on until nothing is left.
  var deliverers = 0
  /// How many deliveries were taken, so that who stands by sees whether others get on.
  private(set) var taken: UInt64 = 0

  /// So many events wait for an observer that is being told of another, at most.
  private static let room = 65_536

  /// Whether anybody hears of changes.
  var isObserved: Bool { observer != nil || queue != nil || !taps.isEmpty }
  /// Whether there is nothing that this thread could deliver.
  var isEmpty: Bool { @inline(__always) get { !hasDeliveries && !hasNotices } }
  var hasNotices: Bool { !notices.isEmpty && !isNotifying }
  var hasDeliveries: Bool { !deliveries.isEmpty || !reports.isEmpty }
  /// Whether the present call has caused a stop or an end that is not delivered.
  var hasOwn: Bool { lastDelivery > lastBefore && !deliveries.isEmpty }

  // MARK: Filling

  /// A call begins: what is added from here on is its own.
  mutating func beginCall() { lastBefore = lastDelivery }

  mutating func add(_ delivery: Delivery) {
    if case .report = delivery { return reports.append(delivery) }
    lastDelivery += 1
    deliveries.append((lastDelivery, delivery))
  }

  /// An event for the observer, if there is one.
  ///
  /// - Returns: whether it is the first that finds no room; those that follow it are lost as well, until `catchUp`.
  mutating func tell(_ change: Change, at now: Instant) -> Bool {
    guard isObserved else { return false }
    lastEvent += 1
    queueUp(change, at: now)
    guard let observer else { return false }
    guard lost == 0 && (notices.count < Self.room || !isNotifying) else {
      lost += 1
      return lost == 1
    }
    notices.append(Notice(observer: observer, event: Event(number: lastEvent, time: now, change: change)))
    return false
  }

  /// An event that says that others are lost: it has room.
  mutating func tellOfLoss(_ change: Change, at now: Instant) {
    guard let observer else { return }
    // The first that found no room comes behind it.
    notices.append(Notice(observer: observer, event: Event(number: lastEvent, time: now, change: change)))
    lastEvent += 1
    queueUp(change, at: now)
  }

  /// For those that read events.
  private func queueUp(_ change: Change, at now: Instant) {
    queue?.add(Event(number: lastEvent, time: now, change: change))
    for tap in taps { tap.queue.add(Event(number: lastEvent, time: now, change: change)) }
  }

  /// How many events were lost, once the observer is no longer behind.
  mutating func catchUp() -> UInt64? {
    guard lost > 0, notices.count < Self.room / 2 else { return nil }
    defer { lost = 0 }
    return lost
  }

  /// What happened before there could be an observer.
  mutating func keep(_ changes: [Change], at now: Instant) { early = (changes, now) }

  /// Another observer hears what comes from now on; the one before ends behind what is queued for it.
  mutating func observe(_ other: Observer?) {
    if let observer { notices.append(Notice(observer: observer, event: nil)) }
    observer = other
    if other != nil { tellEarly() }
  }

  /// The queue has what comes from now on.
  mutating func open(_ queue: EventQueue) {
    self.queue = queue
    tellEarly()
  }

  /// The first that is told anything is told also what happened at open.
  private mutating func tellEarly() {
    for change in early.changes { _ = tell(change, at: early.at) }
    early.changes = []
  }

  // MARK: Emptying

  /// The next delivery.
  mutating func takeDelivery() -> Delivery? {
    guard let next = reports.popFirst() ?? deliveries.popFirst()?.1 else { return nil }
    taken += 1
    return next
  }

  /// The next of those of a call.
  mutating func takeDelivery(of call: ClosedRange<UInt64>) -> Delivery? {
    guard let next = deliveries.popFirst(where: { call.contains($0.number) })?.1 else { return nil }
    taken += 1
    return next
  }

  /// The next event, for the one thread that tells the observer of it and says when it has; nil while another does.
  mutating func takeNotice() -> Notice? {
    guard !isNotifying, let next = notices.popFirst() else { return nil }
    isNotifying = true
    return next
  }

  mutating func noticeIsDelivered() { isNotifying = false }
}
