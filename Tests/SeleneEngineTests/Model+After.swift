// What comes after what, as the design's words have it (W4).

import SeleneCore

@testable import SeleneEngine

extension Model {
  /// What becomes of a task that comes after these records.
  enum Admission: Equatable {
    case starts
    case waits
    case ends(TaskState)
  }

  private func startsAnyhow(_ definition: TaskDefinition) -> Bool { definition.terms.numbers.flags & 2 != 0 }

  func admission(of definition: TaskDefinition, after numbers: [UInt64]) -> Admission {
    let ends = numbers.compactMap { records[$0] }
    if !startsAnyhow(definition), let bad = ends.first(where: { !$0.isLive && $0.state != .succeeded }) {
      return .ends(bad.state)
    }
    return ends.contains(where: \.isLive) ? .waits : .starts
  }

  /// The records that a definition names.
  func named(_ definition: TaskDefinition) throws -> [UInt64] {
    try definition.after.map { predecessor in
      guard let sight = self[predecessor.id.text] else { throw Refused(.notFound) }
      guard sight.definition.schedule == .once else { throw Refused(.invalidArgument) }
      return sight.sequence
    }
  }

  /// Whether a task waits for a record (V10).
  func isWaitedFor(_ number: UInt64, by definition: TaskDefinition) -> Bool {
    guard let sight = records[number] else { return false }
    return sight.isLive || sight.state != .succeeded && !startsAnyhow(definition)
  }

  /// Whether a record waits for another, or for one that does, and so on.
  func leads(from number: UInt64, to target: UInt64) -> Bool {
    guard records[number]?.state == .blocked else { return false }
    return (before[number] ?? []).contains { $0 == target || leads(from: $0, to: target) }
  }

  /// For each that waits the bits of those that it waits for.
  var waits: [UInt64: UInt32] {
    var found: [UInt64: UInt32] = [:]
    for (sequence, numbers) in before where records[sequence]?.state == .blocked {
      var bits: UInt32 = 0
      guard let definition = records[sequence]?.definition else { continue }
      for (index, number) in numbers.enumerated() where isWaitedFor(number, by: definition) {
        bits |= 1 << UInt32(index)
      }
      if bits != 0 { found[sequence] = bits }
    }
    return found
  }

  /// Whether one that is not over comes after a record (V9).
  func isNeeded(_ sequence: UInt64) -> Bool {
    before.contains { $0.value.contains(sequence) && records[$0.key]?.isLive == true }
  }

  /// The same, or one that has failed and that stays itself (T9, V9): of these records, which are over, those that stay.
  func kept(among ended: Set<UInt64>) -> Set<UInt64> {
    var kept: Set<UInt64> = []
    while true {
      let more = ended.filter { number in
        before.contains { follower, numbers in
          guard numbers.contains(number), let sight = records[follower] else { return false }
          return sight.isLive || sight.state == .failed && (!ended.contains(follower) || kept.contains(follower))
        }
      }
      if more == kept { return kept }
      kept = more
    }
  }

  /// Records have ended: what comes after them starts, or ends with them; how many became cancelled.
  func spread(from ended: [UInt64], at instant: Instant) -> UInt64 {
    var ends = ended
    var reached: [UInt64] = []
    while !ends.isEmpty {
      let number = ends.removeFirst()
      for sequence in before.keys.sorted() {
        guard var sight = records[sequence], sight.state == .blocked, before[sequence]?.contains(number) == true
        else { continue }
        let state = records[number]?.state ?? .succeeded
        if startsAnyhow(sight.definition) || state == .succeeded {
          let waits = (before[sequence] ?? []).contains { isWaitedFor($0, by: sight.definition) }
          guard !waits else { continue }
          sight.state = limits[sight.kind] == nil ? .enqueued : .held
          (sight.registeredAt, sight.lastRun) = (instant, instant)
          diary?.restart(sight.sequence, at: instant)
          let said = sight.isNextSaid ? sight.earliestBegin : nil
          begin(&sight, from: instant)
          if let said { sight.earliestBegin = said }
          write(sight)
        } else {
          (sight.state, sight.endedAt) = (state, instant)
          if state == .failed { (sight.failedAt, sight.failedAttempt) = (instant, 0) }
          write(sight)
          ends.append(sequence)
          reached.append(sequence)
        }
      }
    }
    var count: UInt64 = 0
    for sequence in reached {
      guard let sight = records[sequence] else { continue }
      if sight.state == .cancelled {
        let waiting = chains.removeValue(forKey: sight.id) ?? []
        for sequence in waiting { remove(sequence) }
        count += 1 + UInt64(waiting.count)
      } else {
        settle(sight, hadPlace: false, at: instant)
      }
    }
    return count
  }
}
