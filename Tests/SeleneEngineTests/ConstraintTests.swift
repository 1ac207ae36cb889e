// Constraints and the governor see the same on every machine that was recorded or written down (W1, G1).

import SeleneCore
import SeleneGovernor
import Testing

@testable import SeleneEngine

@Suite("Constraints") struct ConstraintTests {
  private static let now: Instant = 1_000 * Time.day

  private static let machines: [(name: String, make: @Sendable () throws -> Tree)] = [
    ("the recorded virtual machine", { try Tree.recorded("vm.tree") }), ("laptop", { try Tree.laptop() }),
    ("charging", { try Tree.charging() }), ("socketed", { try Tree.socketed() }), ("desktop", { try Tree.desktop() }),
    ("server", { try Tree.server() }), ("container", { try Tree.container() }), ("bare", { try Tree.bare() }),
    ("bonded", { try Tree.bonded() }),
  ]

  /// What a governor would have to grant for a constraint to be satisfied.
  private static let factors: [(Constraints, [Factor])] = [
    (.network, [.network]), (.externalPower, [.externalPower]), (.unmetered, [.network, .metered]),
    (.batteryNotLow, [.battery]), (.idle, [.userActive]), (.storageNotLow, [.storageFree]),
    (.displayOff, [.displayOn]), (.notRoaming, [.network]),
  ]

  private static func governor(_ factors: [Factor], _ signals: Signals) throws -> Governor {
    var draft = ProfileDraft()
    draft.rules = factors.map {
      RuleDraft(factor: Int32($0.rawValue), kinds: KindSet.all.rawValue, mode: 1, preempts: false)
    }
    var governor = Governor(try Profile(draft, .own))
    governor.signals = signals
    return governor
  }

  /// Whether tasks and the governor say the same of some signals.
  private static func check(_ signals: Signals, at now: Instant, _ what: String) throws {
    for (constraint, factors) in factors {
      var expected = try governor(factors, signals).decide(.refresh, at: now).isGranted
      // No factor looks at it.
      if constraint == .notRoaming && signals.value(.roaming, at: now) == 1 { expected = false }
      #expect(
        signals.satisfied(at: now).contains(constraint) == expected,
        "\(constraint.name.map { "\($0)" } ?? "") of \(what)")
      var hasReading = false
      let own = constraint.ownSignals
      for signal in own where signals.reading(signal, at: now).isKnown { hasReading = true }
      #expect(signals.unknown(.all, at: now).contains(constraint) == (expected && !hasReading))
    }
  }

  private static func read(_ tree: Tree) -> Signals {
    var probe = SignalProbe()
    var signals = Signals()
    _ = probe.apply(SignalReadings(.all, root: tree.root, store: tree.root), to: &signals, at: now)
    return signals
  }

  @Test("W1 tasks and the governor agree on every machine, and when a host says more")
  func agree() throws {
    var chance = Chance("W1")
    for (name, make) in Self.machines {
      let tree = try make()
      let signals = Self.read(tree)
      try Self.check(signals, at: Self.now, name)
      for round in 0..<50 {
        var said = signals
        for signal in Constraints.all.ownSignals where chance.once(in: 3) {
          try said.set(
            signal, Int64(chance.below(Int(min(signal.greatest, 299) + 1))), by: .host, at: Self.now,
            until: chance.once(in: 2) ? Time.never : Self.now + Int64(1 + chance.below(10)))
        }
        try Self.check(said, at: Self.now, "\(name), round \(round)")
        // What a reading's end changes is known before.
        let satisfied = said.satisfied(at: Self.now)
        let changesAt = said.nextChange(ofSatisfied: satisfied, after: Self.now)
        for later in Self.now..<min(changesAt, Self.now + 20) { #expect(said.satisfied(at: later) == satisfied) }
        if changesAt != Time.never {
          #expect(said.satisfied(at: changesAt) != satisfied)
          try Self.check(said, at: changesAt, "\(name), round \(round), later")
        }
      }
    }
  }

  @Test("W1 what machines say")
  func machines() throws {
    func satisfied(_ tree: Tree) -> Constraints { Self.read(tree).satisfied(at: Self.now) }
    #expect(
      satisfied(try Tree.laptop()).subtracting(.storageNotLow)
        == [.network, .unmetered, .batteryNotLow, .notRoaming], "on battery, in use, its screen on")
    let desktop = try Tree.desktop()
    #expect(satisfied(desktop).union(.storageNotLow) == .all, "asleep")
    #expect(
      Self.read(desktop).unknown(.all, at: Self.now) == [.externalPower, .unmetered, .batteryNotLow, .notRoaming])
    #expect(
      satisfied(try Tree.bare()).union(.storageNotLow)
        == Constraints.all.subtracting([.network, .unmetered, .notRoaming]), "no network")
    #expect(
      Self.read(try Tree.container()).unknown(.all, at: Self.now).subtracting(.storageNotLow)
        == [.externalPower, .unmetered, .batteryNotLow, .idle, .displayOff, .notRoaming])
    let low = try Tree.laptop()
    for battery in ["BAT0", "BAT1"] {
      try? low.remove(Tree.supplies + "/\(battery)/energy_now")
      try low.write(Tree.supplies + "/\(battery)/energy_now", "100000")
    }
    #expect(!satisfied(low).contains(.batteryNotLow))
  }
}
