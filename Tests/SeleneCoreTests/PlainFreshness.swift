// The freshness rule as its words have it, from a diary of all runs: what the index is compared with (F2 to F7).

import SeleneCore

/// What the rule asks of a task.
protocol PlainTask {
  var sequence: UInt64 { get }
  var registeredAt: Instant { get }
  var definition: TaskDefinition { get }
  var attempts: UInt32 { get }
}

extension TaskRecord: PlainTask {}

/// What happened to each task, by the number of its record.
struct PlainFreshness {
  private struct Life {
    var freshSince: Instant
    var outcomes: [Outcome] = []
    var times: [Span] = []
  }

  private var lives: [UInt64: Life] = [:]

  private func life(_ record: some PlainTask) -> Life {
    lives[record.sequence] ?? Life(freshSince: record.registeredAt)
  }

  /// A run of a record ended with an outcome; one whose process ended took no time that is known.
  mutating func note(_ record: some PlainTask, _ outcome: Outcome, took time: Span?, at now: Instant) {
    var life = life(record)
    life.outcomes.append(outcome)
    if let time { life.times.append(time) }
    switch outcome {
    case .newData, .noData: life.freshSince = now
    default: life.freshSince += (now - life.freshSince) / 4
    }
    lives[record.sequence] = life
  }

  /// It was given back because its window was too short (V6).
  mutating func cut(_ record: some PlainTask, at now: Instant) {
    var life = life(record)
    life.freshSince += (now - life.freshSince) / 4
    lives[record.sequence] = life
  }

  /// A new record goes on from where another was (R7).
  mutating func carry(from old: UInt64, to new: UInt64, at now: Instant) {
    lives[new] = lives[old] ?? Life(freshSince: now)
    lives[new]?.freshSince = now
  }

  /// It counts from now as if registered, though it had runs before: one that was retried waited for others (W4).
  mutating func restart(_ sequence: UInt64, at now: Instant) { lives[sequence]?.freshSince = now }

  /// F2.
  func freshSince(_ record: some PlainTask) -> Instant { life(record).freshSince }

  /// F3.
  func news(_ record: some PlainTask) -> (runs: Int, news: Int) {
    let known = record.definition.isSteady ? [] : life(record).outcomes.suffix(16)
    return (known.count, known.count { $0 == .newData })
  }

  /// What it says of itself, 5 s if nothing; what its handler's runs say (R8) is for other models.
  private func declared(_ record: some PlainTask) -> Span {
    let declared = record.definition.expectedResponse
    return declared < 0 ? 5_000_000_000 : declared
  }

  /// F4: the mean of the last twenty, at least 2^20 ns; of what is unknown at most 5 s.
  func cost(_ record: some PlainTask) -> Span {
    let declared = declared(record)
    let times = life(record).times.suffix(20)
    var cost = times.isEmpty ? min(declared, 5_000_000_000) : times.reduce(0, +) / Int64(times.count)
    if record.definition.responseWindow == 0 { cost = declared }
    return max(1_048_576, cost)
  }

  /// F5: of the last twenty the j-th longest.
  func estimate(_ record: some PlainTask) -> Span {
    let times = life(record).times.suffix(20).sorted(by: >)
    guard !times.isEmpty, record.definition.responseWindow > 0 else { return declared(record) }
    return times[max(1, (times.count + 1) / 5) - 1]
  }

  /// F3 and F6, by counting doublings.
  func pace(_ record: some PlainTask) -> Int {
    let (runs, news) = news(record)
    let x = UInt128(cost(record)) * UInt128(runs + 1) / UInt128(Int(record.definition.priority) * (news + 1))
    var (y, doublings) = (x * x, 0)
    while y > 1 { (y, doublings) = (y / 2, doublings + 1) }
    return min(63, max(0, doublings + Int(min(record.attempts, 8)) - 36))
  }

  /// F7.
  func index(_ record: some PlainTask, at now: Instant) -> UInt128 {
    let roots: [UInt128] = [1_099_511_627_776, 924_575_386_326, 777_472_127_993, 653_773_525_389]
    let pace = pace(record)
    var weight = roots[pace % 4]
    for _ in 0..<(pace / 4) { weight /= 2 }
    return UInt128(max(0, now - life(record).freshSince)) * weight
  }
}
