// The picking seam: who was eligible when a cycle began, in which order, and who is best now (S1, S2, C2, C3).

/// What a window offers to tasks.
package struct Offer: Sendable {
  package var kinds: KindSet
  /// The constraints that are satisfied.
  package var satisfied: Constraints
  /// Handlers will be called by the library, so they must have a run function.
  package var pushes: Bool
  package var observedRange: Bool

  package init(kinds: KindSet, satisfied: Constraints, pushes: Bool, observedRange: Bool) {
    self.kinds = kinds
    self.satisfied = satisfied
    self.pushes = pushes
    self.observedRange = observedRange
  }
}

/// A choice: whose turn it is.
package struct Pick: Sendable {
  package let slot: Int
  /// Where it stands in its ranking.
  fileprivate let place: Int
  package let score: Double
  package let estimate: Span
}

/// The ranking of one cycle, frozen at its begin.
///
/// The plain rule: all eligible tasks, scored and sorted.
package struct Ranking {
  private struct Candidate {
    let slot: Int32
    let priority: UInt8
    let sequence: UInt64
    let elapsed: Span
    let numerator: UInt128

    /// Score descending, then the higher priority, then the lower sequence (S4).
    static func precedes(_ a: Candidate, _ b: Candidate) -> Bool {
      if a.numerator != b.numerator { return a.numerator > b.numerator }
      if a.priority != b.priority { return a.priority > b.priority }
      return a.sequence < b.sequence
    }
  }

  private var candidates: [Candidate] = []
  private let scale: ScoreScale
  private let stamp: UInt64
  /// How many tasks were eligible at begin.
  package let eligibleCount: Int

  /// Ranks what is eligible now.
  ///
  /// - Complexity: O(n log n) in the number of tasks.
  package init(_ table: TaskTable, _ offer: Offer, at now: Instant) {
    var priorities: ClosedRange<UInt8>?
    var ages: ClosedRange<Span>?
    var eligible: [Int] = []
    for slot in table.slots where table.isEligible(slot, offer, at: now) {
      let record = table[slot]
      let elapsed = max(0, now.subtracting(record.lastRun))
      priorities =
        priorities.map { min($0.lowerBound, record.priority)...max($0.upperBound, record.priority) }
        ?? record.priority...record.priority
      ages = ages.map { min($0.lowerBound, elapsed)...max($0.upperBound, elapsed) } ?? elapsed...elapsed
      eligible.append(slot)
    }
    let elapsed = ages ?? 0...0
    let scale =
      offer.observedRange
      ? ScoreScale(priorities: priorities ?? 0...0, elapsed: elapsed)
      : ScoreScale(greatestElapsed: elapsed.upperBound)
    self.scale = scale
    candidates = eligible.map { slot in
      let record = table[slot]
      let elapsed = max(0, now.subtracting(record.lastRun))
      return Candidate(
        slot: Int32(slot), priority: record.priority, sequence: record.sequence, elapsed: elapsed,
        numerator: scale.numerator(priority: record.priority, elapsed: elapsed))
    }
    candidates.sort(by: Candidate.precedes)
    stamp = table.stamp
    eligibleCount = candidates.count
  }

  /// A ranking of one task, whatever its earliest begin (C14).
  package init(_ table: TaskTable, only slot: Int, at now: Instant) {
    let record = table[slot]
    let elapsed = max(0, now.subtracting(record.lastRun))
    scale = ScoreScale(greatestElapsed: elapsed)
    candidates = [
      Candidate(
        slot: Int32(slot), priority: record.priority, sequence: record.sequence, elapsed: elapsed,
        numerator: scale.numerator(priority: record.priority, elapsed: elapsed))
    ]
    stamp = table.stamp
    eligibleCount = 1
  }

  /// The best-ranked task that is still eligible and whose estimate fits into the room; nil room takes any.
  package func best(in table: TaskTable, _ offer: Offer, room: Span?) -> Pick? {
    for index in candidates.indices where isStillEligible(candidates[index], table, offer) {
      let candidate = candidates[index]
      let estimate = table[Int(candidate.slot)].estimate
      if let room, estimate > room { continue }
      return Pick(
        slot: Int(candidate.slot), place: index,
        score: scale.score(priority: candidate.priority, elapsed: candidate.elapsed), estimate: estimate)
    }
    return nil
  }

  /// A pick had its turn.
  package mutating func remove(_ pick: Pick) { candidates.remove(at: pick.place) }

  /// How many ranked tasks could still run.
  package func remaining(in table: TaskTable, _ offer: Offer) -> Int {
    candidates.reduce(0) { $0 + (isStillEligible($1, table, offer) ? 1 : 0) }
  }

  /// The place of a task among the eligible, from 1, or nil.
  package func rank(of slot: Int) -> Int? {
    candidates.firstIndex { Int($0.slot) == slot }.map { $0 + 1 }
  }

  /// What a task would score among the eligible.
  package func score(of record: TaskRecord, at now: Instant) -> Double {
    let elapsed = max(0, now.subtracting(record.lastRun))
    let scale =
      eligibleCount > 0
      ? scale.including(priority: record.priority, elapsed: elapsed)
      : scale.alone(priority: record.priority, elapsed: elapsed)
    return scale.score(priority: record.priority, elapsed: elapsed)
  }

  /// Whether it did not change since begin and nothing took away what it needs.
  private func isStillEligible(_ candidate: Candidate, _ table: TaskTable, _ offer: Offer) -> Bool {
    let slot = Int(candidate.slot)
    let record = table[slot]
    return record.sequence == candidate.sequence && record.stamp <= stamp && table.isRunnable(slot, offer)
  }
}
