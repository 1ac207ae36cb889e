// The freshness rule as its words have it, from a diary of all runs: what the index is compared with (F2 to F7).

import SeleneCore

/// What happened to each task, by the number of its record.
struct PlainFreshness {
  private struct Life {
    var freshSince: Instant
    var outcomes: [Outcome] = []
    var times: [Span] = []
  }

  private var lives: [UInt64: Life] = [:]

  private func life(_ record: TaskRecord) -> Life {
    lives[record.sequence] ?? Life(freshSince: record.registeredAt)
  }

  /// A run of a record ended with an outcome.
  mutating func note(_ record: TaskRecord, _ outcome: Outcome, took time: Span, at now: Instant) {
    var life = life(record)
    life.outcomes.append(outcome)
    life.times.append(time)
    switch outcome {
    case .newData, .noData: life.freshSince = now
    default: life.freshSince += (now - life.freshSince) / 4
    }
    lives[record.sequence] = life
  }

  /// F4: the mean of the last twenty, at least 2^20 ns; of what is unknown at most 5 s.
  func cost(_ record: TaskRecord) -> Span {
    let declared = record.definition.expectedResponse
    let times = life(record).times.suffix(20)
    var cost = times.isEmpty ? min(declared, 5_000_000_000) : times.reduce(0, +) / Int64(times.count)
    if record.definition.responseWindow == 0 { cost = declared }
    return max(1_048_576, cost)
  }

  /// F5: of the last twenty the j-th longest.
  func estimate(_ record: TaskRecord) -> Span {
    let times = life(record).times.suffix(20).sorted(by: >)
    guard !times.isEmpty, record.definition.responseWindow > 0 else { return record.definition.expectedResponse }
    return times[max(1, (times.count + 1) / 5) - 1]
  }

  /// F3 and F6, by counting doublings.
  func pace(_ record: TaskRecord) -> Int {
    let known = record.definition.isSteady ? [] : life(record).outcomes.suffix(16)
    let news = known.count { $0 == .newData }
    let x = UInt128(cost(record)) * UInt128(known.count + 1) / UInt128(Int(record.priority) * (news + 1))
    var (y, doublings) = (x * x, 0)
    while y > 1 { (y, doublings) = (y / 2, doublings + 1) }
    return min(63, max(0, doublings + Int(min(record.attempts, 8)) - 36))
  }

  /// F7.
  func index(_ record: TaskRecord, at now: Instant) -> UInt128 {
    let roots: [UInt128] = [1_099_511_627_776, 924_575_386_326, 777_472_127_993, 653_773_525_389]
    let pace = pace(record)
    var weight = roots[pace % 4]
    for _ in 0..<(pace / 4) { weight /= 2 }
    return UInt128(max(0, now - life(record).freshSince)) * weight
  }
}
