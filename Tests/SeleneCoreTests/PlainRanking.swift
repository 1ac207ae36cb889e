// The plain rule of LinkedIn's Selene, as an oracle: score all eligible tasks, sort them, scan for what fits.

import SeleneCore

/// A ranking that was made by sorting, with the same questions as `Ranking`.
struct PlainRanking {
  private struct Candidate {
    let slot: Int
    let sequence: UInt64
    let priority: UInt8
    let numerator: UInt128
    let score: Double
  }

  private var candidates: [Candidate]
  private let stamp: UInt64

  var eligibleCount: Int { candidates.count }

  init(_ table: TaskTable, _ offer: Offer, at now: Instant) {
    let slots = table.slots.filter { !table.isVacant($0) && table.isEligible($0, offer, at: now) }
    let ages = slots.map { now.since(table[$0].lastRun) }
    let priorities = slots.map { table[$0].priority }
    let scale: ScoreScale
    if offer.observedRange, let low = priorities.min(), let high = priorities.max(), let young = ages.min(),
      let old = ages.max()
    {
      scale = ScoreScale(priorities: low...high, elapsed: young...old)
    } else {
      scale = ScoreScale(greatestElapsed: ages.max() ?? 0)
    }
    candidates = zip(slots, ages).map { slot, age in
      let record = table[slot]
      return Candidate(
        slot: slot, sequence: record.sequence, priority: record.priority,
        numerator: scale.numerator(priority: record.priority, elapsed: age),
        score: scale.score(priority: record.priority, elapsed: age))
    }
    candidates.sort { a, b in
      if a.numerator != b.numerator { return a.numerator > b.numerator }
      if a.priority != b.priority { return a.priority > b.priority }
      return a.sequence < b.sequence
    }
    stamp = table.stamp
  }

  /// The slots in their order.
  var slots: [Int] { candidates.map(\.slot) }

  /// Takes the first that still may run and fits into the room; nil room takes any.
  mutating func take(in table: TaskTable, _ offer: Offer, room: Span?) -> (slot: Int, score: Double)? {
    let found = candidates.firstIndex { candidate in
      isLeft(candidate, table, offer) && (room.map { table.estimate(candidate.slot) <= $0 } ?? true)
    }
    guard let found else { return nil }
    let candidate = candidates.remove(at: found)
    return (candidate.slot, candidate.score)
  }

  func remaining(in table: TaskTable, _ offer: Offer) -> Int {
    candidates.reduce(0) { $0 + (isLeft($1, table, offer) ? 1 : 0) }
  }

  private func isLeft(_ candidate: Candidate, _ table: TaskTable, _ offer: Offer) -> Bool {
    let record = table[candidate.slot]
    return record.sequence == candidate.sequence && record.stamp <= stamp && table.isRunnable(candidate.slot, offer)
  }
}

extension TaskTable {
  /// All of S1; the library itself has the tasks that are due in its index.
  func isEligible(_ slot: Int, _ offer: Offer, at now: Instant) -> Bool {
    self[slot].earliestBegin <= now && isRunnable(slot, offer)
  }
}
