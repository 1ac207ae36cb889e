// The profiles that come with the library (G2), as tables.

import SeleneCore

/// The built-in profiles; the raw values are the header's numbers.
package enum BuiltInProfile: UInt8, CaseIterable, Sendable {
  /// Nothing but constraints.
  case open = 0
  /// What a phone's system asks for.
  case apple = 1
  /// What a machine under load asks for.
  case server = 2
  /// All of both, for both kinds.
  case strict = 3

  /// One character for each factor, refresh then processing: ignored `-`, veto `v`, veto that preempts `V`, weight `w`.
  ///
  ///     battery, external power, low power mode, thermal, user active, display on,
  ///     unlocked, network, metered, airplane, background switch, host presence,
  ///     CPU busy, CPU pressure, memory pressure, memory stalled, IO pressure, IO stalled, storage free,
  ///     budget, rate, use prediction, recent use
  private var table: StaticString {
    switch self {
    case .open: "----------------------------------------------"
    case .apple: "V-V---V---VV-------vvw-----V-V---VV--------vwv"
    case .server: "------------www--wwv---------------vvvV-vVv---"
    case .strict: "V-VVV-V---VVvvvV-vVvvwvV-VVV-V---VVvvvV-vVvvwv"
    }
  }

  private static let usualWeight: Int64 = 100

  var threshold: Int64 { 500 }

  /// The cells of its `Profile`.
  var cells: [Int64] {
    var cells = [Int64](repeating: 0, count: Profile.ruleCount * 2)
    var place = 0
    while let factor = Factor(rawValue: UInt8(place / 2 + 1)) {
      let mark = table.utf8Start[place % 2 * Factor.count + place / 2]
      var rule = Rule()
      if mark != UInt8(ascii: "-") {
        rule.mode = mark == UInt8(ascii: "w") ? .weight : .veto
        rule.weight = rule.mode == .weight ? Self.usualWeight : 0
        rule.preempts = mark == UInt8(ascii: "V")
        rule.required = factor.usualRequirement
      }
      Profile.pack(rule, into: &cells, place * 2)
      place += 1
    }
    return cells
  }

  /// Its budgets.
  var quotas: [Quota] {
    var quotas: [Quota] = []
    func add(_ kind: Kind, _ minutes: Int64, inHours hours: Int64) {
      quotas.append(Quota(kind, .windowTime, minutes * Time.minute, in: hours * Time.hour))
    }
    if self == .apple || self == .strict {
      add(.refresh, 10, inHours: 2)
      add(.refresh, 40, inHours: 24)
    }
    if self == .server { add(.refresh, 120, inHours: 24) }
    if self == .server || self == .strict { add(.processing, self == .server ? 480 : 120, inHours: 24) }
    return quotas
  }

  package var profile: Profile { Profile(threshold: threshold, cells: cells, quotas: quotas) }
}
