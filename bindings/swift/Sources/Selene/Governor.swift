// What the governor asks for, and what it decides.

import CSelene

/// Whether a kind of work deserves a window now, and why.
public struct Decision: Hashable, Sendable {
  /// Whether it does.
  public let isGranted: Bool
  /// When that was decided.
  public let at: Instant
  /// What budgets leave room for; nil: any.
  public let longestWindow: Duration?
  /// When asking again is worth it, unless a signal changes before; nil: only then.
  public let askAgainAt: Instant?
  /// What became of every factor that the profile asks for.
  public let findings: [Finding]

  /// What became of a factor, in its unit.
  public struct Finding: Hashable, Sendable {
    /// Which.
    public let factor: Factor
    /// Whether it alone refuses.
    public let refuses: Bool
    /// What was found, and what is asked for.
    public let observed, required: Int64
    /// When it can be better; nil: when a signal changes.
    public let clearsAt: Instant?
  }

  init(_ raw: selene_decision) {
    (isGranted, at) = (raw.granted != 0, Instant(nanosecondsSinceEpoch: raw.at))
    longestWindow = raw.longest_window == SELENE_NEVER ? nil : .nanoseconds(raw.longest_window)
    askAgainAt = Instant(maybe: raw.ask_again_at)
    findings = UnsafeBufferPointer(start: raw.findings, count: Int(raw.finding_count)).map {
      Finding(
        factor: Factor(rawValue: $0.factor), refuses: $0.verdict == SELENE_VERDICT_VETOED, observed: $0.observed,
        required: $0.required, clearsAt: Instant(maybe: $0.clears_at))
    }
  }
}

extension Scheduler {
  /// Says what the governor asks for from now on, before the driver opens a window. It is not stored.
  public func setProfile(_ profile: Profile) throws(SeleneError) {
    var raw = selene_profile.empty
    raw.base = profile.rawValue
    try check(selene_governor_set_profile(handle, &raw))
  }

  /// Sets a signal in place of what the system says, until it is cleared, or for a time (nil: it stays).
  public func setSignal(_ signal: Signal, to value: Int64, validFor: Duration? = nil) throws(SeleneError) {
    try check(selene_signal_set(handle, signal.rawValue, value, validFor?.nanoseconds ?? 0))
  }

  /// Takes that back.
  public func clearSignal(_ signal: Signal) throws(SeleneError) {
    try check(selene_signal_clear(handle, signal.rawValue))
  }

  /// Asks the governor whether a kind deserves a window now, and why.
  public func ask(_ kind: Kind) throws(SeleneError) -> Decision {
    var raw: UnsafeMutablePointer<selene_decision>?
    try check(selene_governor_ask(handle, kind.rawValue, 0, &raw))
    return try owned(raw, Decision.init)
  }
}
