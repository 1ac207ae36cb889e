// A profile as a host describes it, and the check that makes it one (G2).

import SeleneCore

/// One row of a host's table, unchecked.
package struct RuleDraft {
  package var factor: Int32
  /// Kind bits.
  package var kinds: UInt32
  package var mode: Int32
  package var preempts: Bool
  package var weight: Int64
  /// `usual`: what the built-in profiles require.
  package var required: Int64

  package static let usual = Int64.min

  package init(
    factor: Int32, kinds: UInt32, mode: Int32, preempts: Bool = false, weight: Int64 = 100, required: Int64 = usual
  ) {
    (self.factor, self.kinds, self.mode) = (factor, kinds, mode)
    (self.preempts, self.weight, self.required) = (preempts, weight, required)
  }
}

/// One budget, unchecked.
package struct QuotaDraft {
  /// Kind bits; each kind gets its own.
  package var kinds: UInt32
  package var measure: Int32
  package var limit: Int64
  package var period: Span

  package init(kinds: UInt32, measure: Int32, limit: Int64, period: Span = Time.day) {
    (self.kinds, self.measure, self.limit, self.period) = (kinds, measure, limit, period)
  }
}

/// A profile as a host describes it, unchecked: a built-in one, and what differs.
package struct ProfileDraft {
  /// A `BuiltInProfile`.
  package var base = Int32(BuiltInProfile.open.rawValue)
  /// −1: the base's.
  package var threshold: Int64 = -1
  package var rules: [RuleDraft] = []
  /// None: the base's; else these in place of all of the base's.
  package var quotas: [QuotaDraft] = []

  package init() {}
}

extension Profile {
  static let greatestWeight: Int64 = 1000

  /// Checks every field of a draft; later rows for the same cell win.
  ///
  /// - Parameter units: of the scheduler's clock.
  /// - Throws: `invalidArgument`, naming the first field that is out of range.
  package init(_ draft: borrowing ProfileDraft, _ units: Units) throws(SeleneError) {
    guard let base = UInt8(exactly: draft.base).flatMap(BuiltInProfile.init) else {
      throw .range("base", draft.base, 0, 3, .number, "0 (open), 1 (apple), 2 (server) or 3 (strict)")
    }
    self = base.profile
    if draft.threshold != -1 { threshold = draft.threshold }
    try checkThreshold()
    for row in draft.rules { try take(row, units) }
    if !draft.quotas.isEmpty { quotas = [] }
    for row in draft.quotas { try take(row, units) }
  }

  func checkThreshold() throws(SeleneError) {
    guard threshold >= 0 && threshold <= 1000 else {
      throw .range("threshold", threshold, 0, 1000, .number, "0 … 1000, in per mille")
    }
  }

  mutating func take(_ row: RuleDraft, _ units: Units) throws(SeleneError) {
    guard let factor = UInt8(exactly: row.factor).flatMap(Factor.init) else {
      throw .range("factor", row.factor, 1, Int64(Factor.count))
    }
    let rule = try Self.checked(row, factor, units)
    let kinds = try Self.kinds(row.kinds)
    for kind in Kind.allCases where kinds.contains(kind) { set(rule, factor, kind) }
  }

  mutating func take(_ row: QuotaDraft, _ units: Units) throws(SeleneError) {
    guard let measure = UInt8(exactly: row.measure).flatMap(Measure.init) else {
      throw .range("measure", row.measure, 1, 4, .number, "1 (window time), 2 (CPU time), 3 (windows) or 4 (bytes)")
    }
    if measure == .windowTime || measure == .cpuTime {
      try units.check("limit", row.limit, 1, .max)
    } else {
      guard row.limit > 0 else { throw .range("limit", row.limit, 1, .max) }
    }
    try units.check("period", row.period, Time.second, Time.day)
    let kinds = try Self.kinds(row.kinds)
    for kind in Kind.allCases where kinds.contains(kind) {
      var places = Self.mostQuotas
      for quota in quotas where quota.kind == kind { places -= 1 }
      guard places > 0 else { throw .range("quotas", Self.mostQuotas + 1, 0, Int64(Self.mostQuotas)).of(kind.name) }
      quotas.append(Quota(kind, measure, row.limit, in: row.period))
    }
  }

  private static func checked(_ row: RuleDraft, _ factor: Factor, _ units: Units) throws(SeleneError) -> Rule {
    guard let mode = UInt8(exactly: row.mode).flatMap(RuleMode.init) else {
      throw .range("mode", row.mode, 0, 2, .number, "0 (ignored), 1 (veto) or 2 (weight)").of(factor.name)
    }
    var rule = Rule()
    guard mode != .ignored else { return rule }
    rule.mode = mode
    rule.required = row.required == RuleDraft.usual ? factor.usualRequirement : row.required
    if factor.isDuration {
      try units.check("required", rule.required, 0, factor.greatest, of: factor.name)
    } else {
      guard rule.required >= 0 && rule.required <= factor.greatest else {
        throw .range("required", row.required, 0, factor.greatest).of(factor.name)
      }
    }
    if mode == .weight {
      guard row.weight >= 1 && row.weight <= greatestWeight else {
        throw .range("weight", row.weight, 1, greatestWeight).of(factor.name)
      }
      rule.weight = row.weight
    }
    guard !row.preempts || (mode == .veto && factor.signal != nil) else {
      throw .range(
        "flags", 1, 0, 0, .bits, "0; SELENE_RULE_PREEMPTS is for vetoes of signals, factors 1 … 19"
      ).of(factor.name)
    }
    rule.preempts = row.preempts
    return rule
  }

  private static func kinds(_ bits: UInt32) throws(SeleneError) -> KindSet {
    guard bits != 0 && bits & ~KindSet.all.rawValue == 0 else {
      throw .kinds("kinds", bits)
    }
    return KindSet(rawValue: bits)
  }
}
