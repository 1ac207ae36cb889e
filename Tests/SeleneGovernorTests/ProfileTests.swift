// Profiles: the built-in tables, a host's own, and what is refused (G2).

import SeleneCore
import SeleneGovernor
import Testing

/// What a cell of a table in the design says.
enum Cell: Equatable { case ignored, veto, preempts, weight }

/// The tables of the design, factor by factor: refresh, processing.
enum Tables {
  static let load: [Factor: (Cell, Cell)] = [
    .cpuBusy: (.weight, .veto), .cpuPressure: (.weight, .veto), .memoryPressure: (.weight, .veto),
    .memoryStalled: (.ignored, .preempts), .ioStalled: (.weight, .veto), .storageFree: (.weight, .preempts),
    .budget: (.veto, .veto),
  ]
  static let phone: [Factor: (Cell, Cell)] = [
    .battery: (.preempts, .ignored), .lowPowerMode: (.preempts, .ignored), .backgroundSwitch: (.preempts, .preempts),
    .hostPresence: (.preempts, .preempts), .budget: (.veto, .ignored), .rate: (.veto, .veto),
    .usePrediction: (.weight, .weight), .recentUse: (.ignored, .veto), .userActive: (.ignored, .preempts),
    .unlocked: (.preempts, .preempts),
  ]

  static func cell(_ profile: BuiltInProfile, _ factor: Factor, _ kind: Kind) -> Cell {
    func pick(_ cells: (Cell, Cell)?) -> Cell { cells.map { kind == .refresh ? $0.0 : $0.1 } ?? .ignored }
    switch profile {
    case .open: return .ignored
    case .apple: return pick(phone[factor])
    case .server: return pick(load[factor])
    case .strict:
      if factor == .thermal { return .preempts }
      // All of both for both: what either asks of any kind.
      let all = [phone[factor]?.0, phone[factor]?.1, load[factor]?.0, load[factor]?.1].compactMap { $0 }
      return all.contains(.preempts) ? .preempts : all.contains(.veto) ? .veto : all.first ?? .ignored
    }
  }
}

@Suite("Profile") struct ProfileTests {
  @Test("G2 the built-in profiles are the tables of the design", arguments: BuiltInProfile.allCases)
  func tables(profile: BuiltInProfile) {
    for factor in Factor.allCases {
      for kind in Kind.allCases {
        let rule = profile.profile.rule(factor, kind)
        let cell: Cell =
          switch rule.mode {
          case .ignored: .ignored
          case .veto: rule.preempts ? .preempts : .veto
          case .weight: .weight
          }
        #expect(cell == Tables.cell(profile, factor, kind), "\(factor) \(kind)")
        #expect(rule.required == (cell == .ignored ? 0 : factor.usualRequirement))
        #expect(rule.weight == (cell == .weight ? 100 : 0))
      }
    }
    #expect(profile.profile.threshold == 500)
  }

  @Test("G2 the requirements are those of the design")
  func requirements() {
    let expected: [Factor: Int64] = [
      .battery: 200, .lowPowerMode: 0, .backgroundSwitch: 1, .hostPresence: 1, .rate: 15 * Time.minute,
      .recentUse: 7 * Time.day, .userActive: 0, .unlocked: 1, .cpuBusy: 500, .cpuPressure: 200, .memoryPressure: 100,
      .memoryStalled: 50, .ioStalled: 200, .storageFree: 50, .thermal: 1,
    ]
    for (factor, value) in expected { #expect(factor.usualRequirement == value, "\(factor)") }
  }

  @Test("G2 a host's own profile is a built-in one and what differs; the last row for a cell wins")
  func own() throws {
    var draft = ProfileDraft()
    draft.base = 1
    draft.threshold = 700
    draft.rules = [
      RuleDraft(factor: Int32(Factor.externalPower.rawValue), kinds: 2, mode: 1, preempts: true),
      RuleDraft(factor: Int32(Factor.battery.rawValue), kinds: 3, mode: 1, required: 500),
      RuleDraft(factor: Int32(Factor.battery.rawValue), kinds: 2, mode: 0),
      RuleDraft(factor: Int32(Factor.metered.rawValue), kinds: 1, mode: 2, weight: 7),
    ]
    draft.quotas = [QuotaDraft(kinds: 3, measure: 4, limit: 1_000_000, period: Time.hour)]
    let profile = try Profile(draft, .own)
    #expect(profile.threshold == 700)
    #expect(profile.rule(.externalPower, .processing).preempts)
    #expect(profile.rule(.externalPower, .processing).required == 1)
    #expect(profile.rule(.externalPower, .refresh).mode == .ignored)
    #expect(profile.rule(.battery, .refresh).required == 500)
    #expect(profile.rule(.battery, .processing) == Rule())
    #expect(profile.rule(.metered, .refresh).weight == 7)
    #expect(profile.rule(.userActive, .processing) == BuiltInProfile.apple.profile.rule(.userActive, .processing))
    #expect(profile.quotas == Kind.allCases.map { Quota($0, .bytes, 1_000_000, in: Time.hour) })
  }

  @Test("G2 a draft that changes nothing is its base; as numbers and back it is the same", arguments: 0...3)
  func roundTrip(base: Int32) throws {
    var draft = ProfileDraft()
    draft.base = base
    let profile = try Profile(draft, .own)
    let builtIn = try #require(BuiltInProfile(rawValue: UInt8(base))).profile
    #expect(profile.numbers == builtIn.numbers)
    let again = try Profile(numbers: profile.numbers)
    #expect(again.numbers == profile.numbers)
    #expect(again.quotas == profile.quotas)
  }

  private static let wrong: [(String, @Sendable (inout ProfileDraft) -> Void)] = [
    ("base", { $0.base = 4 }), ("base", { $0.base = -1 }), ("threshold", { $0.threshold = -2 }),
    ("threshold", { $0.threshold = 1001 }), ("factor", { $0.rules = [RuleDraft(factor: 0, kinds: 1, mode: 1)] }),
    ("factor", { $0.rules = [RuleDraft(factor: 24, kinds: 1, mode: 1)] }),
    ("factor", { $0.rules = [RuleDraft(factor: 257, kinds: 1, mode: 1)] }),
    ("kinds", { $0.rules = [RuleDraft(factor: 1, kinds: 0, mode: 1)] }),
    ("kinds", { $0.rules = [RuleDraft(factor: 1, kinds: 4, mode: 1)] }),
    ("mode", { $0.rules = [RuleDraft(factor: 1, kinds: 1, mode: 3)] }),
    ("weight", { $0.rules = [RuleDraft(factor: 1, kinds: 1, mode: 2, weight: 0)] }),
    ("weight", { $0.rules = [RuleDraft(factor: 1, kinds: 1, mode: 2, weight: 1001)] }),
    ("required", { $0.rules = [RuleDraft(factor: 1, kinds: 1, mode: 1, required: 1001)] }),
    ("required", { $0.rules = [RuleDraft(factor: 5, kinds: 1, mode: 1, required: -1)] }),
    ("required", { $0.rules = [RuleDraft(factor: 5, kinds: 1, mode: 1, required: 2)] }),
    ("flags", { $0.rules = [RuleDraft(factor: 21, kinds: 1, mode: 1, preempts: true)] }),
    ("flags", { $0.rules = [RuleDraft(factor: 5, kinds: 1, mode: 2, preempts: true)] }),
    ("measure", { $0.quotas = [QuotaDraft(kinds: 1, measure: 0, limit: 1)] }),
    ("limit", { $0.quotas = [QuotaDraft(kinds: 1, measure: 1, limit: 0)] }),
    ("period", { $0.quotas = [QuotaDraft(kinds: 1, measure: 1, limit: 1, period: Time.second - 1)] }),
    ("period", { $0.quotas = [QuotaDraft(kinds: 1, measure: 1, limit: 1, period: Time.day + 1)] }),
    ("kinds", { $0.quotas = [QuotaDraft(kinds: 8, measure: 1, limit: 1)] }),
    ("quotas", { $0.quotas = Array(repeating: QuotaDraft(kinds: 2, measure: 1, limit: 1), count: 5) }),
  ]

  @Test("G2 fields out of range are refused by name", arguments: wrong.indices)
  func refused(index: Int) {
    let (field, change) = Self.wrong[index]
    var draft = ProfileDraft()
    change(&draft)
    do throws(SeleneError) {
      _ = try Profile(draft, .own)
      Issue.record("\(field) was accepted")
    } catch {
      #expect(error.code == .invalidArgument)
      #expect(String(decoding: error.detail.bytes, as: UTF8.self).hasPrefix("\(field):"))
    }
  }

  @Test("G2 numbers that no profile gave are refused and never trap")
  func foreignNumbers() throws {
    var chance = Chance("foreign profile")
    let numbers = BuiltInProfile.strict.profile.numbers
    #expect(throws: SeleneError.self) { try Profile(numbers: []) }
    #expect(throws: SeleneError.self) { try Profile(numbers: Array(numbers.dropLast())) }
    for _ in 0..<5_000 {
      var broken = numbers
      for _ in 0...chance.below(3) {
        broken[chance.below(broken.count)] = chance.pick([.min, .max, -1, 0, 3, 1 << 40, chance.span(-5...2000)])
      }
      // Whatever is accepted is a profile that gives itself again.
      if let profile = try? Profile(numbers: broken) {
        try verify(try Profile(numbers: profile.numbers).numbers == profile.numbers, "\(broken)")
      }
    }
  }
}
