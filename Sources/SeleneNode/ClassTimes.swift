// What runs of each class took since the fleet was told: tasks that do not say what they take have the mean of all nodes (N23).

import SeleneCore

/// How many runs of a class succeeded, and how long they took together.
package struct ClassTime: Equatable, Sendable {
  package let fleetClass: Int32
  package internal(set) var count: Int64
  package internal(set) var total: Span
}

/// The times that no beat has told yet.
struct ClassTimes {
  private var waiting: [ClassTime] = []
  /// Told by the beat that is under way.
  private var sent: [ClassTime] = []

  mutating func add(_ span: Span, of fleetClass: Int32, count: Int64 = 1) {
    guard let place = waiting.firstIndex(where: { $0.fleetClass == fleetClass }) else {
      return waiting.append(ClassTime(fleetClass: fleetClass, count: count, total: span))
    }
    waiting[place].count += count
    waiting[place].total = waiting[place].total.adding(span)
  }

  /// What the next beat tells.
  mutating func send() -> [ClassTime] {
    (sent, waiting) = (waiting, [])
    return sent
  }

  /// The beat was answered, or may have been made: nothing is told twice.
  mutating func settle() { sent = [] }

  /// The beat was certainly not made.
  mutating func takeBack() {
    for time in sent { add(time.total, of: time.fleetClass, count: time.count) }
    sent = []
  }
}
