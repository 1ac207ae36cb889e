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

  /// A line for each factor; apple, server, strict, of each refresh and processing: ignored `-`, veto `v`, veto that
  /// preempts `V`, weight `w`. The profile open ignores all.
  private static let table: StaticString = """
    V- -- VV battery
    -- -- -- external power
    V- -- VV low power mode
    -- -- VV thermal
    -V -- VV user active
    -- -- -- display on
    VV -- VV unlocked
    -- -- -- network
    -- -- -- metered
    -- -- -- airplane
    VV -- VV background switch
    VV -- VV host presence
    -- wv vv CPU busy
    -- wv vv CPU pressure
    -- wv vv memory pressure
    -- -V VV memory stalled
    -- -- -- IO pressure
    -- wv vv IO stalled
    -- wV VV storage free
    v- vv vv budget
    vv -- vv rate
    ww -- ww use prediction
    -v -- vv recent use
    """

  private static let usualWeight: Int64 = 100
  private static let threshold: Int64 = 500

  private static func rule(_ mark: UInt8, _ factor: Factor) -> Rule {
    var rule = Rule()
    guard mark != UInt8(ascii: "-") else { return rule }
    rule.mode = mark == UInt8(ascii: "w") ? .weight : .veto
    rule.weight = rule.mode == .weight ? usualWeight : 0
    rule.preempts = mark == UInt8(ascii: "V")
    rule.required = factor.usualRequirement
    return rule
  }

  /// Its budgets.
  private var quotas: [Quota] {
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

  package var profile: Profile {
    var profile = Profile(threshold: Self.threshold)
    profile.quotas = quotas
    profile.rationsTime = self == .apple || self == .strict
    guard self != .open else { return profile }
    var line = Self.table.utf8Start
    var number: UInt8 = 1
    while let factor = Factor(rawValue: number) {
      for kind in Kind.allCases {
        profile.set(Self.rule(line[(Int(rawValue) - 1) * 3 + kind.index], factor), factor, kind)
      }
      while line[0] != UInt8(ascii: "\n") && number < Factor.count { line += 1 }
      (line, number) = (line + 1, number + 1)
    }
    return profile
  }
}
