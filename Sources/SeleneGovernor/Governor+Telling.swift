// What a governor is told: each in one call, so that live and replayed governors do the same.

import SeleneCore

extension Governor {
  /// Another profile from now on; the books are judged by its budgets.
  package mutating func setProfile(_ profile: Profile, at now: Instant) {
    self.profile = profile
    ledger.judge(profile.quotas, at: now)
  }

  /// A window of a kind begins; it is charged with its whole budget.
  package mutating func begin(_ kind: Kind, budget: Span, at now: Instant) {
    ledger.begin(kind, budget: budget, profile.quotas, at: now)
  }

  /// The window of a kind ends; what it did not use is given back.
  package mutating func end(_ kind: Kind, extends: Bool = false, at now: Instant) {
    ledger.end(kind, profile.quotas, extends: extends, at: now)
  }

  /// The host says what a kind used besides time.
  package mutating func report(_ kind: Kind, cpuTime: Span, bytes: Int64, at now: Instant) {
    ledger.report(kind, cpuTime: cpuTime, bytes: bytes, profile.quotas, at: now)
  }

  /// The host was used.
  package mutating func use(from begin: Instant, to end: Instant, at now: Instant) {
    prediction.use(from: begin, to: end, offset: offset(at: now))
  }
}
