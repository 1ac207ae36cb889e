// The time of one window: what fits, when runs are asked to stop, when all is over (C1, C3, C7).

/// The time of one window.
package struct Budget: Sendable {
  package let begin: Instant
  package let deadline: Instant
  /// deadline − reserve: when runs in flight are asked to stop.
  package let expiresAt: Instant

  package init(begin: Instant, budget: Span, reserve: Span) {
    self.begin = begin
    deadline = begin.adding(budget)
    expiresAt = deadline.subtracting(reserve)
  }

  /// The time of a window that nobody has set a deadline (V1).
  package init(openSince begin: Instant) { (self.begin, deadline, expiresAt) = (begin, Time.never, Time.never) }

  package var reserve: Span { deadline.subtracting(expiresAt) }

  /// The default reserve of a budget.
  package static func reserve(of budget: Span) -> Span { budget / 20 }

  /// What may be picked at an instant: nothing, anything, or what fits into the room.
  package enum Room: Sendable {
    case none
    case any
    case upTo(Span)
  }

  /// The room at an instant; the first dispatch takes any, unless the fit is strict (C3).
  package func room(at now: Instant, isFirst: Bool, strictFit: Bool) -> Room {
    guard now < deadline else { return .none }
    if isFirst && !strictFit && now < expiresAt { return .any }
    return now <= expiresAt ? .upTo(expiresAt - now) : .none
  }

  /// The next instant after now at which something expires; runs may still complete exactly at the deadline.
  package func nextExpiry(after now: Instant) -> Instant { Self.nextExpiry(expiresAt, deadline, after: now) }

  /// The same of a run, which knows the two instants alone.
  package static func nextExpiry(_ expiresAt: Instant, _ deadline: Instant, after now: Instant) -> Instant {
    now < expiresAt ? expiresAt : deadline.adding(1)
  }
}
