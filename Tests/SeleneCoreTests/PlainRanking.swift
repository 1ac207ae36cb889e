// The plain rule of LinkedIn's Selene, as an oracle: score all eligible tasks, sort them, scan for what fits.

import SeleneCore

/// A ranking that was made by sorting, with the same questions as `Ranking`.
struct PlainRanking {
  private struct Candidate {
    let slot: Int
    let sequence: UInt64
    let score: Double
  }

  private var candidates: [Candidate]
  /// Those that were near their latest begin, the first of `candidates`.
  private var urgent: Set<UInt64> = []
  private let stamp: UInt64

  var eligibleCount: Int { candidates.count }

  init(_ table: TaskTable, _ offer: Offer, at now: Instant, _ lives: PlainFreshness? = nil) {
    let slots = table.slots.filter { !table.isVacant($0) && table.isEligible($0, offer, at: now) }
    stamp = table.stamp
    defer { moveUrgentAhead(table, at: now) }
    if let lives {
      let indices = slots.map { (slot: $0, sequence: table[$0].sequence, index: lives.index(table[$0], at: now)) }
      let greatest = indices.map(\.index).max() ?? 0
      candidates = indices.sorted { ($1.index, $0.sequence) < ($0.index, $1.sequence) }.map {
        let score = greatest == 0 ? 0 : Fraction($0.index, greatest).value
        return Candidate(slot: $0.slot, sequence: $0.sequence, score: score)
      }
      return
    }
    var places: [UInt64: Int] = [:]
    let entrants = slots.map { slot in
      let record = table[slot]
      places[record.sequence] = slot
      return Entrant(id: "", priority: Int(record.priority), sequence: record.sequence, lastRun: record.lastRun)
    }
    candidates = Oracle.ranked(entrants, observedRange: offer.observedRange, at: now).map { entrant, score in
      Candidate(slot: places[entrant.sequence] ?? -1, sequence: entrant.sequence, score: score.value)
    }
  }

  /// What is near its latest begin goes first, the earliest of these before the others (W9).
  private mutating func moveUrgentAhead(_ table: TaskTable, at now: Instant) {
    var near: [(latest: Instant, candidate: Candidate)] = []
    for candidate in candidates {
      let (record, task) = (table[candidate.slot], table[candidate.slot].definition)
      guard task.latestBegin > 0 else { continue }
      let latest = record.registeredAt + task.latestBegin
      let span = min(15 * Time.minute, (task.latestBegin - task.initialDelay) / 10)
      if latest - span <= now { near.append((latest, candidate)) }
    }
    let first = near.sorted { ($0.latest, $0.candidate.sequence) < ($1.latest, $1.candidate.sequence) }
      .map(\.candidate)
    urgent = Set(first.map(\.sequence))
    candidates = first + candidates.filter { !urgent.contains($0.sequence) }
  }

  /// What is expedited goes before the others while something of the quota is left: higher priority first (W10).
  private func ordered(_ table: TaskTable) -> [Candidate] {
    guard table.hasQuota else { return candidates }
    let first = candidates.filter { urgent.contains($0.sequence) }
    let others = candidates.filter { !urgent.contains($0.sequence) }
    let isExpedited = { (candidate: Candidate) in
      table[candidate.slot].sequence == candidate.sequence && table[candidate.slot].definition.isExpedited
    }
    return first
      + others.filter(isExpedited).sorted {
        (table[$1.slot].priority, $0.sequence) < (table[$0.slot].priority, $1.sequence)
      }
      + others.filter { !isExpedited($0) }
  }

  /// The slots in their order.
  func slots(in table: TaskTable) -> [Int] { ordered(table).map(\.slot) }

  /// Takes the first that still may run and fits into the room.
  mutating func take(in table: TaskTable, _ offer: Offer, room: Room) -> (slot: Int, score: Double)? {
    let found = ordered(table).first { candidate in
      isLeft(candidate, table, offer) && fits(table[candidate.slot], room)
    }
    guard let candidate = found else { return nil }
    candidates.removeAll { $0.slot == candidate.slot }
    return (candidate.slot, candidate.score)
  }

  /// Whether one that fits waits for a run of its group to end.
  func awaitsGroup(in table: TaskTable, _ offer: Offer, room: Room) -> Bool {
    candidates.contains { candidate in
      guard let group = table[candidate.slot].definition.group else { return false }
      return isFrozen(candidate, table) && table.isEligible(candidate.slot, offer) && group.isFull && !group.isPaused
        && fits(table[candidate.slot], room)
    }
  }

  /// A task of unknown duration fits while any time is left, unless the fit is strict (V17).
  private func fits(_ record: TaskRecord, _ room: Room) -> Bool {
    guard let left = room.span else { return true }
    return record.knownEstimate < 0 && !room.isStrict ? left > 0 : record.estimate <= left
  }

  func remaining(in table: TaskTable, _ offer: Offer) -> Int {
    candidates.reduce(0) { $0 + (isLeft($1, table, offer) ? 1 : 0) }
  }

  private func isLeft(_ candidate: Candidate, _ table: TaskTable, _ offer: Offer) -> Bool {
    isFrozen(candidate, table) && table.isRunnable(candidate.slot, offer)
  }

  private func isFrozen(_ candidate: Candidate, _ table: TaskTable) -> Bool {
    table[candidate.slot].sequence == candidate.sequence && table[candidate.slot].stamp <= stamp
  }
}

extension TaskTable {
  /// All of S1; the library itself has the tasks that are due in its index.
  func isEligible(_ slot: Int, _ offer: Offer, at now: Instant) -> Bool {
    self[slot].earliestBegin <= now && !self[slot].isSpent && isEligible(slot, offer)
  }
}
