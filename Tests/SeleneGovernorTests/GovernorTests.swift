// Decisions: each factor × kind × profile, and when asking again is worth it (G3, G6).

import SeleneCore
import SeleneGovernor
import Testing

@Suite("Governor") struct GovernorTests {
  static let noon: Instant = 20_000 * Time.day + 12 * Time.hour

  /// A governor in whose world nothing speaks against anything.
  static func calm(_ profile: BuiltInProfile) -> Governor {
    var governor = Governor(profile.profile)
    // Used at every hour: every hour is as good as any other, for both kinds.
    for day in 0..<10 {
      let begin = noon - Int64(10 - day) * Time.day
      governor.use(from: begin, to: begin + Time.day - 1, at: begin)
    }
    return governor
  }

  /// Makes one factor as bad as can be; answers when it can be better.
  static func spoil(_ governor: inout Governor, _ factor: Factor) throws -> Instant {
    switch factor {
    case .battery:
      try governor.signals.set(.discharging, 1, by: .host, at: noon)
      try governor.signals.set(.batteryLevel, 199, by: .host, at: noon, until: noon + 7 * Time.minute)
      return noon + 7 * Time.minute
    case .budget:
      for kind in Kind.allCases {
        governor.begin(kind, budget: 20 * Time.hour, at: noon - 21 * Time.hour)
        governor.end(kind, at: noon - Time.hour)
      }
      return -1
    case .rate:
      for kind in Kind.allCases {
        governor.begin(kind, budget: 1, at: noon - Time.minute)
        governor.end(kind, at: noon - Time.minute + 1)
      }
      return noon + 14 * Time.minute
    case .usePrediction:
      governor.prediction = UsePrediction()
      return noon
    case .recentUse:
      governor.prediction = UsePrediction()
      governor.use(from: noon - 8 * Time.day, to: noon - 7 * Time.day - 1, at: noon - 7 * Time.day)
      return Time.never
    default:
      let signal = try #require(factor.signal)
      try governor.signals.set(
        signal, factor.wantsAtLeast ? 0 : signal.greatest, by: .host, at: noon, until: noon + Time.hour)
      return noon + Time.hour
    }
  }

  /// A factor's bit in `standing`.
  static func bit(_ factor: Factor) -> UInt32 { 1 << UInt32(factor.rawValue) }

  @Test(
    "G3 calm: every profile grants both kinds, and every factor that is not ignored says so",
    arguments: BuiltInProfile.allCases)
  func calm(profile: BuiltInProfile) {
    for governor in [Governor(profile.profile), Self.calm(profile)] {
      for kind in Kind.allCases {
        let decision = governor.decide(kind, at: Self.noon)
        #expect(decision.isGranted)
        #expect(decision.askAgainAt == Self.noon)
        #expect(
          decision.findings.map(\.factor) == Factor.allCases.filter { Tables.cell(profile, $0, kind) != .ignored })
        #expect(governor.standing(kind, at: Self.noon) == 0)
      }
    }
  }

  @Test("G3 each factor × kind × profile", arguments: BuiltInProfile.allCases, Factor.allCases)
  func matrix(profile: BuiltInProfile, factor: Factor) throws {
    var governor = Self.calm(profile)
    let clearsAt = try Self.spoil(&governor, factor)
    for kind in Kind.allCases {
      let cell = Tables.cell(profile, factor, kind)
      let decision = governor.decide(kind, at: Self.noon)
      let finding = decision.findings.first { $0.factor == factor }
      switch cell {
      case .ignored:
        #expect(finding == nil)
      case .veto, .preempts:
        let finding = try #require(finding)
        #expect(finding.verdict == .vetoed, "\(kind)")
        #expect(!decision.isGranted)
        #expect(finding.preempts == (cell == .preempts))
        #expect(governor.standing(kind, at: Self.noon) == (cell == .preempts ? Self.bit(factor) : 0))
        if clearsAt >= 0 {
          #expect(finding.clearsAt == clearsAt)
          #expect(decision.askAgainAt == clearsAt)
        }
      case .weight:
        let finding = try #require(finding)
        #expect(finding.verdict == .weighed)
        #expect(finding.score == (factor == .usePrediction ? 500 : 0))
        if clearsAt > Self.noon { #expect(finding.clearsAt == clearsAt) }
        // One of the server's five weights; or the only one of the phone's, which knows nothing and grants.
        #expect(decision.score == (factor == .usePrediction ? 500 : 800))
        #expect(decision.isGranted)
      }
      // Nothing else was touched, except what stands in the same books.
      for other in decision.findings where other.factor != factor && other.verdict == .vetoed {
        Issue.record("\(other.factor) was vetoed by \(factor)")
      }
    }
  }

  @Test(
    "G3 an hour that does not suit a kind refuses it where habits are all that is weighed",
    arguments: BuiltInProfile.allCases, [0, 12])
  func unsuitable(profile: BuiltInProfile, hour: Int64) throws {
    var governor = Governor(profile.profile)
    for day: Int64 in stride(from: 20, to: 0, by: -1) {
      let begin = Self.noon - day * Time.day + (hour - 12) * Time.hour
      governor.use(from: begin, to: begin, at: begin)
    }
    // Used at noon: a good time for refresh, and none for processing. Used at midnight: the other way round.
    for kind in Kind.allCases {
      let suits = (kind == .refresh) == (hour == 12)
      let decision = governor.decide(kind, at: Self.noon)
      guard Tables.cell(profile, .usePrediction, kind) == .weight else {
        #expect(decision.isGranted)
        continue
      }
      let finding = try #require(decision.findings.first { $0.factor == .usePrediction })
      #expect(finding.verdict == .weighed)
      #expect(suits ? finding.score > 900 : finding.score < 100, "\(kind): \(finding.score)")
      #expect(decision.isGranted == suits)
      #expect(suits || decision.askAgainAt == finding.clearsAt)
      #expect(suits || (decision.askAgainAt > Self.noon && decision.askAgainAt <= Self.noon + 12 * Time.hour))
    }
  }

  @Test("G3 exactly at the requirement a veto is not raised, one beyond it is", arguments: Factor.allCases)
  func boundary(factor: Factor) throws {
    guard let signal = factor.signal else { return }
    var draft = ProfileDraft()
    draft.rules = [RuleDraft(factor: Int32(factor.rawValue), kinds: 3, mode: 1)]
    var governor = Governor(try Profile(draft, .own))
    if factor == .battery { try governor.signals.set(.discharging, 1, by: .probe, at: 0) }
    let required = factor.usualRequirement
    try governor.signals.set(signal, required, by: .probe, at: 0)
    #expect(governor.decide(.refresh, at: 0).isGranted)
    try governor.signals.set(signal, factor.wantsAtLeast ? required - 1 : required + 1, by: .probe, at: 0)
    let decision = governor.decide(.refresh, at: 0)
    #expect(!decision.isGranted)
    // Where the system announces no change, a probe is worth another look soon.
    #expect(decision.askAgainAt == (signal.lookAgain > 0 ? signal.lookAgain : Time.never))
  }

  @Test("G3 a battery that is not discharging is as good as full")
  func charging() throws {
    var governor = Governor(BuiltInProfile.apple.profile)
    try governor.signals.set(.batteryLevel, 30, by: .probe, at: 0)
    let finding = try #require(governor.decide(.refresh, at: 0).findings.first)
    #expect((finding.factor, finding.observed, finding.required) == (.battery, 1000, 200))
    #expect(finding.verdict == .passed)
  }

  @Test("G3 the score is the weighted mean of the scores, against the threshold, exactly")
  func threshold() throws {
    var draft = ProfileDraft()
    draft.rules = [
      RuleDraft(factor: Int32(Factor.metered.rawValue), kinds: 1, mode: 2, weight: 2),
      RuleDraft(factor: Int32(Factor.network.rawValue), kinds: 1, mode: 2, weight: 1),
    ]
    for (threshold, granted) in [(333, true), (334, false), (1000, false), (0, true)] as [(Int64, Bool)] {
      draft.threshold = threshold
      var governor = Governor(try Profile(draft, .own))
      try governor.signals.set(.metered, 1, by: .host, at: 0, until: 9)
      let decision = governor.decide(.refresh, at: 0)
      #expect(decision.score == 333)
      #expect(decision.isGranted == granted)
      #expect(decision.askAgainAt == (granted ? 0 : 9))
      #expect(governor.decide(.processing, at: 0).score == 1000)
    }
  }

  @Test("G3 the scores of a load are the stated table")
  func loadTable() {
    let table: [(Int64, Int64)] = [
      (0, 1000), (50, 1000), (150, 950), (250, 900), (375, 700), (500, 500), (625, 350), (750, 200), (875, 100),
      (1000, 0),
    ]
    for (observed, score) in table { #expect(Factor.cpuBusy.score(observed, 500) == score, "\(observed)") }
    #expect(Factor.cpuBusy.score(151, 500) == 949, "rounded down")
    #expect(Factor.storageFree.score(50, 50) == 500)
    #expect(Factor.storageFree.score(25, 50) == 0)
    #expect(Factor.storageFree.score(0, 50) == 0)
    #expect(Factor.storageFree.score(100, 50) == 900)
    #expect(Factor.lowPowerMode.score(1, 0) == 0)
    #expect(Factor.lowPowerMode.score(0, 0) == 1000)
    var last: Int64 = 1000
    for observed: Int64 in 0...1000 {
      let score = Factor.ioStalled.score(observed, 200)
      #expect(score <= last && score >= 0)
      last = score
    }
  }

  @Test("G3 a refusal of several vetoes ends when the last of them can")
  func severalVetoes() throws {
    var governor = Governor(BuiltInProfile.apple.profile)
    try governor.signals.set(.lowPowerMode, 1, by: .host, at: 0, until: 100)
    try governor.signals.set(.unlocked, 0, by: .host, at: 0, until: 40)
    #expect(governor.decide(.refresh, at: 0).askAgainAt == 100)
    #expect(governor.decide(.processing, at: 0).askAgainAt == 40)
    try governor.signals.set(.backgroundSwitch, 0, by: .host, at: 0)
    #expect(governor.decide(.refresh, at: 0).askAgainAt == Time.never)
  }

  @Test("G6 the user becoming active stops processing and leaves refresh alone")
  func preemption() throws {
    var governor = Governor(BuiltInProfile.apple.profile)
    for kind in Kind.allCases { governor.begin(kind, budget: Time.minute, at: 0) }
    #expect(governor.standing(.processing, at: Time.second) == 0, "an open window is no veto of its own")
    try governor.signals.set(.userActive, 1, by: .host, at: 42 * Time.second)
    #expect(governor.standing(.processing, at: 42 * Time.second) == Self.bit(.userActive))
    #expect(governor.standing(.refresh, at: 42 * Time.second) == 0)
  }

  @Test("G6 the server's own load does not preempt its processing, memory at its end does")
  func ownLoad() throws {
    var governor = Governor(BuiltInProfile.server.profile)
    for signal in [Signal.cpuBusy, .cpuPressure, .memoryPressure, .ioStalled] {
      try governor.signals.set(signal, 1000, by: .probe, at: 0)
    }
    #expect(!governor.decide(.processing, at: 0).isGranted)
    #expect(governor.standing(.processing, at: 0) == 0)
    try governor.signals.set(.memoryStalled, 51, by: .probe, at: 0)
    #expect(governor.standing(.processing, at: 0) == Self.bit(.memoryStalled))
  }

  @Test("G3 G4 a task that never ran may use the reserve of a spent budget")
  func reserve() throws {
    var governor = Governor(BuiltInProfile.apple.profile)
    governor.begin(.refresh, budget: 10 * Time.minute, at: 0)
    governor.end(.refresh, at: 10 * Time.minute)
    let now = 20 * Time.minute
    #expect(!governor.decide(.refresh, at: now).isGranted)
    let decision = governor.decide(.refresh, neverRan: true, at: now)
    #expect(decision.isGranted)
    #expect(decision.longestWindow == Time.minute)
  }

  @Test("G3 whatever is known, a decision never traps and gives itself again")
  func anything() throws {
    var chance = Chance("governor anything")
    for _ in 0..<2_000 {
      var governor = Governor(chance.pick(BuiltInProfile.allCases).profile)
      let now = chance.pick([0, .min, .max, .max - 1, Self.noon, chance.span(.min ... .max)])
      for signal in Signal.allCases where chance.once(in: 2) {
        try governor.signals.set(
          signal, chance.span(signal.least...signal.greatest), by: chance.pick([.probe, .host]), at: now,
          until: chance.pick([.max, now, now.adding(chance.anySpan(upTo: Time.day))]))
      }
      for _ in 0..<chance.below(4) {
        let begin = now.subtracting(chance.anySpan(upTo: 3 * Time.day))
        governor.use(from: begin, to: begin.adding(chance.anySpan(upTo: 30 * Time.day)), at: now)
        governor.begin(chance.pick(Kind.allCases), budget: chance.pick([-1, .max, Time.hour]), at: begin)
        if chance.once(in: 2) { governor.end(chance.pick(Kind.allCases), at: now) }
        governor.report(chance.pick(Kind.allCases), cpuTime: chance.pick([-1, .max, 5]), bytes: .max, at: begin)
      }
      for kind in Kind.allCases {
        let decision = governor.decide(kind, neverRan: chance.once(in: 2), at: now)
        try verify(decision.askAgainAt >= now, "asks again in the past")
        try verify((0...1000).contains(decision.score), "score \(decision.score)")
        for window in governor.forecast(kind, chance.below(70), at: now) {
          try verify((0...1000).contains(window.probability), "probability")
        }
      }
    }
  }
}
