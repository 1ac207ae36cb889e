// What a governor demands (G2): a table of factor × kind, and the budgets of each kind.

import SeleneCore

/// What a profile does with a factor; the raw values are the header's numbers.
package enum RuleMode: UInt8, Sendable {
  case ignored = 0
  /// An observation that does not meet the requirement refuses.
  case veto = 1
  /// The score of the observation counts with a weight.
  case weight = 2
}

/// One cell of a profile's table.
package struct Rule: Equatable, Sendable {
  package var mode = RuleMode.ignored
  /// Whether a new veto stops runs in flight (G6).
  package var preempts = false
  package var weight: Int64 = 0
  package var required: Int64 = 0

  package init() {}
}

/// What a quota counts; the raw values are the header's numbers.
package enum Measure: UInt8, Sendable {
  /// ns of open windows.
  case windowTime = 1
  /// ns of CPU time that the host reports.
  case cpuTime = 2
  case windows = 3
  /// Bytes that the host reports.
  case bytes = 4
}

/// How much of something a kind may use in any period of a length.
package struct Quota: Equatable, Sendable {
  package let kind: Kind
  package let measure: Measure
  package let limit: Int64
  package let period: Span

  package init(_ kind: Kind, _ measure: Measure, _ limit: Int64, in period: Span) {
    (self.kind, self.measure, self.limit, self.period) = (kind, measure, limit, period)
  }

  /// The share of the limit that only tasks that never ran may use, on top.
  package static let reserveDivisor: Int64 = 10

  /// The limit; with the reserve for tasks that never ran.
  package func limit(withReserve: Bool) -> Int64 { withReserve ? limit.adding(limit / Self.reserveDivisor) : limit }

  /// What must be free before a spent quota counts as free again, so that it does not flap.
  package var headroom: Int64 {
    switch measure {
    case .windowTime, .cpuTime: min(30 * Time.second, limit)
    case .windows: 1
    case .bytes: max(1, limit / 16)
    }
  }
}

/// A profile, checked.
package struct Profile: Sendable {
  package static let mostQuotas = 4
  static let ruleCount = Factor.count * 2

  /// The least weighted score that grants, per mille.
  package internal(set) var threshold: Int64
  /// Factor by factor, refresh first.
  private var rules: [Rule]
  /// Whether a new veto can stop runs in flight.
  package private(set) var preempts = false
  /// Whether a rule demands anything.
  private var isDemanding = false
  package internal(set) var quotas: [Quota] = []
  /// Whether it is one of those that ration time: a driver's windows have deadlines under it (V1).
  package internal(set) var rationsTime = false

  /// A profile that demands nothing.
  init(threshold: Int64) {
    self.threshold = threshold
    rules = [Rule](repeating: Rule(), count: Self.ruleCount)
  }

  private static func place(_ factor: Factor, _ kind: Kind) -> Int { (Int(factor.rawValue) - 1) * 2 + kind.index }

  package func rule(_ factor: Factor, _ kind: Kind) -> Rule { rules[Self.place(factor, kind)] }

  /// Sets a rule. What all of them say together is asked for whenever a window opens, and so is kept.
  mutating func set(_ rule: Rule, _ factor: Factor, _ kind: Kind) {
    rules[Self.place(factor, kind)] = rule
    (preempts, isDemanding) = (false, false)
    for rule in rules {
      preempts = preempts || rule.preempts
      isDemanding = isDemanding || rule.mode != .ignored
    }
  }

  /// Whether it demands anything, so that windows are booked.
  package var demands: Bool { !quotas.isEmpty || isDemanding }

  /// The profile as numbers, for traces and stores: of each rule mode, preemption and weight in one, then the requirement.
  package var numbers: [Int64] {
    var numbers = [threshold]
    for rule in rules {
      numbers.append(Int64(rule.mode.rawValue) | (rule.preempts ? 4 : 0) | rule.weight << 3)
      numbers.append(rule.required)
    }
    for quota in quotas {
      numbers += [Int64(quota.kind.rawValue), Int64(quota.measure.rawValue), quota.limit, quota.period]
    }
    return numbers
  }

  /// Reads what `numbers` gave, with all the checks of a draft.
  ///
  /// - Throws: `invalidArgument`.
  package init(numbers: [Int64]) throws(SeleneError) {
    let head = 1 + Self.ruleCount * 2
    guard numbers.count >= head && (numbers.count - head) % 4 == 0 else {
      throw SeleneError(
        .invalidArgument, "profile", "\(numbers.count) numbers, expected are \(head) and four for each quota")
    }
    var profile = Profile(threshold: numbers[0])
    try profile.checkThreshold()
    for place in 0..<Self.ruleCount {
      let cell = numbers[1 + place * 2]
      try profile.take(
        RuleDraft(
          factor: Int32(place / 2 + 1), kinds: UInt32(place % 2 + 1), mode: Int32(truncatingIfNeeded: cell & 3),
          preempts: cell & 4 != 0, weight: cell >> 3, required: numbers[1 + place * 2 + 1]), .own)
    }
    var place = head
    while place < numbers.count {
      guard numbers[place] == 1 || numbers[place] == 2 else { throw .range("kinds", numbers[place], 1, 2) }
      try profile.take(
        QuotaDraft(
          kinds: UInt32(numbers[place]), measure: Int32(exactly: numbers[place + 1]) ?? 0, limit: numbers[place + 2],
          period: numbers[place + 3]), .own)
      place += 4
    }
    self = profile
  }
}
