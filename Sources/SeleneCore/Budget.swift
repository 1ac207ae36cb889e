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

  /// The room at an instant, nil: nothing is picked; the first dispatch takes any, unless the fit is strict (C3).
  package func room(at now: Instant, isFirst: Bool, strictFit: Bool) -> Room? {
    guard now < deadline else { return nil }
    if isFirst && !strictFit && now < expiresAt { return .any }
    return now <= expiresAt ? Room(expiresAt - now, isStrict: strictFit) : nil
  }

  /// The next instant after now at which something expires; runs may still complete exactly at the deadline.
  package func nextExpiry(after now: Instant) -> Instant { Self.nextExpiry(expiresAt, deadline, after: now) }

  /// The same of a run, which knows the two instants alone.
  package static func nextExpiry(_ expiresAt: Instant, _ deadline: Instant, after now: Instant) -> Instant {
    now < expiresAt ? expiresAt : deadline.adding(1)
  }
}

/// The time that a window has left for what is picked.
package struct Room: Sendable {
  /// nil: as much as anything takes.
  package let span: Span?
  /// A task of unknown duration must fit, too, with the duration that is planned for it (V17).
  package let isStrict: Bool

  package static let any = Room(span: nil, isStrict: false)

  private init(span: Span?, isStrict: Bool) { (self.span, self.isStrict) = (span, isStrict) }

  package init(_ span: Span, isStrict: Bool) { self.init(span: span, isStrict: isStrict) }

  /// An upper bound of what fits costs in an index.
  var most: Cost { span.map { Cost($0) } ?? .any }

  /// Whether the next run of a record fits.
  @inline(__always)
  func takes(_ record: UnsafeMutablePointer<TaskRecord>) -> Bool {
    guard let span else { return true }
    return TaskDefinition.leastRoom(for: record.knownEstimate, isStrict: isStrict) <= span
  }
}
