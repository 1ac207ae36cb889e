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
  /// Mode, preemption and weight in one number, then the requirement; factor by factor, refresh first.
  var cells: [Int64] {
    didSet { marks = Self.marks(of: cells) }
  }
  /// Mode and preemption of all rules together: opening a window asks for them.
  private var marks: Int64
  package internal(set) var quotas: [Quota]

  init(threshold: Int64, cells: [Int64], quotas: [Quota]) {
    (self.threshold, self.cells, self.quotas) = (threshold, cells, quotas)
    marks = Self.marks(of: cells)
  }

  static func place(_ factor: Factor, _ kind: Kind) -> Int { ((Int(factor.rawValue) - 1) * 2 + kind.index) * 2 }

  package func rule(_ factor: Factor, _ kind: Kind) -> Rule { Self.unpack(cells, Self.place(factor, kind)) }

  private static func marks(of cells: [Int64]) -> Int64 {
    var marks: Int64 = 0
    for place in 0..<ruleCount { marks |= cells[place * 2] & 7 }
    return marks
  }

  /// Whether a new veto can stop runs in flight.
  package var preempts: Bool { marks & 4 != 0 }

  /// Whether it demands anything, so that windows are booked.
  package var demands: Bool { !quotas.isEmpty || marks & 3 != 0 }

  static func unpack(_ cells: [Int64], _ place: Int) -> Rule {
    var rule = Rule()
    rule.mode = RuleMode(rawValue: UInt8(truncatingIfNeeded: cells[place] & 3)) ?? .ignored
    rule.preempts = cells[place] & 4 != 0
    rule.weight = cells[place] >> 3
    rule.required = cells[place + 1]
    return rule
  }

  static func pack(_ rule: Rule, into cells: inout [Int64], _ place: Int) {
    cells[place] = Int64(rule.mode.rawValue) | (rule.preempts ? 4 : 0) | rule.weight << 3
    cells[place + 1] = rule.required
  }

  /// The profile as numbers, for traces and stores.
  package var numbers: [Int64] {
    var numbers = [threshold] + cells
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
    var profile = Profile(threshold: numbers[0], cells: [Int64](repeating: 0, count: Self.ruleCount * 2), quotas: [])
    try profile.checkThreshold()
    for place in 0..<Self.ruleCount {
      let cell = numbers[1 + place * 2]
      try profile.take(
        RuleDraft(
          factor: Int32(place / 2 + 1), kinds: UInt32(place % 2 + 1), mode: Int32(truncatingIfNeeded: cell & 3),
          preempts: cell & 4 != 0, weight: cell >> 3, required: numbers[1 + place * 2 + 1]))
    }
    var place = head
    while place < numbers.count {
      guard numbers[place] == 1 || numbers[place] == 2 else { throw .range("kinds", numbers[place], 1, 2) }
      try profile.take(
        QuotaDraft(
          kinds: UInt32(numbers[place]), measure: Int32(exactly: numbers[place + 1]) ?? 0, limit: numbers[place + 2],
          period: numbers[place + 3]))
      place += 4
    }
    self = profile
  }
}
