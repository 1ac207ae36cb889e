// When it is worth opening the next window (C16).

/// What is known of the pace of one kind (C12, C13).
package struct Pace: Sendable {
  /// Begin of the kind's last cycle, or nil.
  package var lastBegin: Instant?
  /// Least time from begin to begin; 0 is none.
  package var interval: Span

  package init(lastBegin: Instant? = nil, interval: Span) { (self.lastBegin, self.interval) = (lastBegin, interval) }

  /// The earliest begin of the next cycle.
  package var opensAt: Instant { lastBegin.map { $0.adding(interval) } ?? .min }

  /// When a standing task that is due asks for the next cycle.
  package var standingAt: Instant {
    lastBegin.map { $0.adding(interval > 0 ? interval : Time.standingInterval) } ?? .min
  }
}

extension TaskTable {
  /// When a window's next task becomes eligible by time alone; `Time.never` if none does.
  package func nextDue(_ offer: Offer, at now: Instant) -> Instant {
    settle(at: now)
    var next = Time.never
    index.dueClasses.forEach { number in
      guard index.classes[number].isOpen(to: offer), let first = index.due(number).first else { return }
      next = min(next, first.at.key)
    }
    return next
  }

  /// The earliest instant at which a task that waits for nothing but time may run; at least now, or nil.
  ///
  /// - Parameter offer: the kinds that are switched on and not in a cycle, and the constraints satisfied.
  package func nextWakeup(_ offer: Offer, _ pace: PerKind<Pace>, at now: Instant) -> Instant? {
    settle(at: now)
    var earliest = isMoving ? now : nil
    index.rankedClasses.forEach { number in
      guard index.classes[number].isOpen(to: offer) else { return }
      let pace = pace[index.classes[number].kind]
      let ranked = index.ranked(number)
      if ranked.standing > 0 { earliest = min(earliest ?? pace.standingAt, pace.standingAt) }
      if ranked.others > 0 { earliest = min(earliest ?? pace.opensAt, pace.opensAt) }
    }
    index.dueClasses.forEach { number in
      guard index.classes[number].isOpen(to: offer), let first = index.due(number).first else { return }
      let at = max(first.at.key, pace[index.classes[number].kind].opensAt)
      earliest = min(earliest ?? at, at)
    }
    if urgency?.hasExpedited == true {
      let at = nextExpedited(offer, at: now)
      if at != Time.never { earliest = min(earliest ?? at, at) }
    }
    return earliest.map { max($0, now) }
  }
}
