// What constraints look at: the governor's signals, and what its factors usually require of them (W1, G1).

import SeleneCore

extension Constraints {
  /// Calls a body with each of them alone.
  @inline(__always)
  package func forEach(_ body: (Constraints) -> Void) {
    var left = rawValue
    while left != 0 {
      body(Constraints(rawValue: left & (0 &- left)))
      left &= left - 1
    }
  }

  /// Calls a body with each signal that says whether they are satisfied.
  package func forEachSignal(_ body: (Signal) -> Void) {
    forEachOwnSignal(body)
    if !contains(.network) && !isDisjoint(with: [.unmetered, .notRoaming]) { body(.network) }
  }

  /// The same, but for the network that the user's own one has to be, too: those by which they are known apart.
  fileprivate func forEachOwnSignal(_ body: (Signal) -> Void) {
    if contains(.network) { body(.network) }
    if contains(.externalPower) { body(.externalPower) }
    if contains(.unmetered) { body(.metered) }
    if contains(.batteryNotLow) {
      body(.batteryLevel)
      body(.discharging)
    }
    if contains(.idle) { body(.userActive) }
    if contains(.storageNotLow) { body(.storageFree) }
    if contains(.displayOff) { body(.displayOn) }
    if contains(.notRoaming) { body(.roaming) }
  }
}

extension Constraints {
  /// What a host says of signals that only says whether some constraints are satisfied: what an unknown signal counts as, or
  /// the nearest value that takes a constraint away.
  package func words(satisfied: Constraints) -> [(signal: Signal, value: Int64?)] {
    var words: [(signal: Signal, value: Int64?)] = []
    forEach { constraint in
      let isMet = satisfied.contains(constraint)
      constraint.forEachOwnSignal { signal in
        guard !isMet else { return words.append((signal, signal.unknownMeans)) }
        switch signal {
        case .batteryLevel: words.append((signal, Factor.battery.usualRequirement - 1))
        case .storageFree: words.append((signal, Factor.storageFree.usualRequirement - 1))
        default: words.append((signal, 1 - signal.unknownMeans))
        }
      }
    }
    return words
  }

  /// The signals by which they are known apart.
  package var ownSignals: [Signal] {
    var signals: [Signal] = []
    forEachOwnSignal { signals.append($0) }
    return signals
  }
}

extension Signals {
  /// The constraints that are satisfied at an instant; an unknown signal counts as for the governor.
  package func satisfied(at now: Instant) -> Constraints {
    var satisfied: Constraints = []
    func see(_ constraint: Constraints, _ isMet: Bool) { if isMet { satisfied.insert(constraint) } }
    let isOnline = meets(.network, at: now)
    see(.network, isOnline)
    see(.externalPower, meets(.externalPower, at: now))
    see(.unmetered, isOnline && meets(.metered, at: now))
    // A battery that is not being emptied is as good as full.
    see(.batteryNotLow, value(.discharging, at: now) == 0 || meets(.battery, at: now))
    see(.idle, meets(.userActive, at: now))
    see(.storageNotLow, meets(.storageFree, at: now))
    see(.displayOff, meets(.displayOn, at: now))
    see(.notRoaming, isOnline && value(.roaming, at: now) == 0)
    return satisfied
  }

  /// Those of some constraints of which nothing is known, so that they are satisfied for want of anything else.
  package func unknown(_ constraints: Constraints, at now: Instant) -> Constraints {
    var unknown: Constraints = []
    constraints.intersection(satisfied(at: now)).forEach { constraint in
      var isKnown = false
      constraint.forEachOwnSignal {
        if said($0, by: .host, at: now) != nil || said($0, by: .probe, at: now) != nil { isKnown = true }
      }
      if !isKnown { unknown.formUnion(constraint) }
    }
    return unknown
  }

  /// Whether a factor that looks at a signal has what the built-in profiles require.
  private func meets(_ factor: Factor, at now: Instant) -> Bool {
    guard let signal = factor.signal else { return true }
    return factor.isMet(value(signal, at: now), factor.usualRequirement)
  }

  /// The constraints whose own signal the host has set.
  package func hostSet(at now: Instant) -> Constraints {
    var set: Constraints = []
    Constraints.all.forEach { constraint in
      constraint.forEachOwnSignal { if said($0, by: .host, at: now) != nil { set.formUnion(constraint) } }
    }
    return set
  }

  /// The first instant after one at which others are satisfied because something that was said for a time expires.
  package func nextChange(ofSatisfied satisfied: Constraints, after now: Instant) -> Instant {
    var at = now
    while true {
      var next = Time.never
      Constraints.all.forEachSignal { signal in
        let reading = reading(signal, at: at)
        if reading.isKnown { next = min(next, reading.until) }
      }
      guard next != Time.never, self.satisfied(at: next) == satisfied else { return next }
      at = next
    }
  }
}
