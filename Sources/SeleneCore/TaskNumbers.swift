// The numbers of a task: the one list of them, from the border to the store.

/// What a task is besides its texts: as a host gives it, and after the check with what depends on the schedule (T2).
///
/// A new one is a field here and a line in `visitLater`; the border has its line in `TaskFields`.
package struct TaskNumbers: Equatable, Sendable {
  package var kind = Int32(Kind.refresh.rawValue)
  /// 0: periodic with a period, else once.
  package var schedule: Int32 = 0
  package var priority: Int32 = 3
  /// 0: by schedule.
  package var existing: Int32 = 0
  package var recurrence = Int32(Recurrence.afterCompletion.rawValue)
  /// 0: by schedule.
  package var backoff: Int32 = 0
  package var responseWindow: Int32 = 3
  package var maxAttempts: UInt32 = 0
  package var constraints: UInt32 = 0
  /// −1: not said (R8).
  package var expectedResponse: Span = -1
  package var initialDelay: Span = 0
  package var period: Span = 0
  package var flex: Span = 0
  /// After the check the effective one, within the scheduler's bounds.
  package var backoffDelay: Span = 30 * Time.second
  /// From dispatch, after which a run is asked to stop; 0: none.
  package var timeout: Span = 0
  /// `TaskDefinition.steady` (F9).
  package var flags: UInt32 = 0
  /// Without progress, after which a run is asked to stop; 0: none (W6).
  package var stallLimit: Span = 0
  /// Per mille, up to which a period or an initial delay becomes longer by chance (W11).
  package var jitter: UInt32 = 0
  /// From registration, after which it begins no more; 0: none (W9).
  package var latestBegin: Span = 0

  package init() {}

  /// These as a store has them, in which a standing task is 0, keep is 0 and no backoff is 0, and as the header has them. A
  /// number that is none stays none.
  package var asStored: TaskNumbers {
    var numbers = self
    if schedule == Schedule.standing.rawValue { numbers.schedule = 0 }
    numbers.existing &-= 1
    numbers.backoff &-= 1
    return numbers
  }

  package var fromStored: TaskNumbers {
    var numbers = self
    numbers.schedule = schedule == 0 ? Int32(Schedule.standing.rawValue) : schedule <= 2 ? schedule : -1
    numbers.existing = existing < 0 ? -1 : existing &+ 1
    numbers.backoff = backoff < 0 ? -1 : backoff &+ 1
    return numbers
  }

  /// Shows each of the first ones to a visitor, which may change it: in the order in which a store has them. Names stand
  /// behind them there, so this list is complete.
  @inline(__always)
  package mutating func visit(_ visitor: inout some TaskNumberVisitor) {
    visitor.visit(&kind)
    visitor.visit(&schedule)
    visitor.visit(&priority)
    visitor.visit(&existing)
    visitor.visit(&recurrence)
    visitor.visit(&backoff)
    visitor.visit(&responseWindow)
    visitor.visit(&maxAttempts)
    visitor.visit(&constraints)
    visitor.visit(&expectedResponse)
    visitor.visit(&initialDelay)
    visitor.visit(&period)
    visitor.visit(&flex)
    visitor.visit(&backoffDelay)
  }

  /// Shows each of those that came later, with its number in a store and its default, which a store does not keep.
  ///
  /// A new one comes last, with the next number: a number never changes, and stands for one field for ever.
  @inline(__always)
  package mutating func visitLater(_ visitor: inout some TaskNumberVisitor) {
    visitor.visit(1, &timeout, usually: 0)
    visitor.visit(2, &flags, usually: 0)
    visitor.visit(3, &stallLimit, usually: 0)
    visitor.visit(30, &jitter, usually: 0)
    visitor.visit(31, &latestBegin, usually: 0)
  }
}

/// What goes through the numbers of a task.
package protocol TaskNumberVisitor {
  /// A choice or a small count.
  mutating func visit(_ number: inout Int32)
  mutating func visit(_ number: inout UInt32)
  mutating func visit(_ number: inout Int64)
  /// One that came later.
  mutating func visit<Number: FixedWidthInteger>(_ field: UInt64, _ number: inout Number, usually: Number)
}
