// How long records stay readable after their end (T9).

extension TaskTable {
  /// Removes terminal records that ended before an instant; nil: all of them. Not those that others hold which stay (V9):
  /// live ones, which may read what they left, and failed ones, which may be enqueued again.
  ///
  /// - Returns: how many.
  /// - Complexity: linear in the records that ended before the instant and the edges that lead to them.
  package func prune(endedBefore limit: Instant?) -> UInt64 {
    var count: UInt64 = 0
    var going = takeEnded(before: limit)
    if !released.isEmpty { takeReleased(before: limit, into: &going) }
    while !going.isEmpty {
      let held = dependents.isEmpty ? [] : held(among: going)
      for slot in going where !isVacant(slot) {
        if !held.isEmpty && held[slot] {
          // It comes again when nothing holds it any more.
          records[slot].bars.formUnion(.kept)
        } else {
          remove(slot)
          count += 1
        }
      }
      going.removeAll()
      if !released.isEmpty { takeReleased(before: limit, into: &going) }
    }
    return count
  }

  /// The slots of those whose turn has come in the order of their end.
  private func takeEnded(before limit: Instant?) -> [Int] {
    var taken: [Int] = []
    if endedHead < ended.count { journal?.note(.ended(count: ended.count, head: endedHead)) }
    while endedHead < ended.count {
      let (slot, sequence, end) = ended[endedHead]
      // One that was enqueued again has ended since, or will.
      if isEnded(slot, sequence) && records[slot].changedAt == end {
        if let limit, end > limit { break }
        taken.append(slot)
      }
      endedHead += 1
    }
    return taken
  }

  /// The same of those that were held and are no more; the others stay on the list.
  private func takeReleased(before limit: Instant?, into taken: inout [Int]) {
    journal?.note(.released(released))
    released.removeAll { slot, sequence in
      guard isEnded(slot, sequence) else { return true }
      if let limit, records[slot].changedAt > limit { return false }
      taken.append(slot)
      return true
    }
  }

  /// By slot, which of these stay, because one holds them that is not among them, or that stays itself; empty if none do.
  private func held(among going: [Int]) -> [Bool] {
    let named = going.filter { dependents[$0] != nil }
    guard !named.isEmpty else { return [] }
    var leaves = [Bool](repeating: false, count: records.count)
    for slot in going { leaves[slot] = true }
    var held = [Bool](repeating: false, count: records.count)
    var open = named.filter { holders(of: $0).contains { !leaves[$0.slot] } }
    while let slot = open.popLast() {
      guard !held[slot] else { continue }
      held[slot] = true
      guard holdsOthers(slot) else { continue }
      for predecessor in records[slot].definition.after {
        if let other = self.slot(of: predecessor), leaves[other] { open.append(other) }
      }
    }
    return held
  }

  private func isEnded(_ slot: Int, _ sequence: UInt64) -> Bool {
    slot < records.count && records[slot].sequence == sequence && records[slot].state.isTerminal
  }

  /// Removes a record whatever its state, silently: what waits behind it, or for it, is cancelled.
  package func forget(_ slot: Int, at now: Instant) {
    var silent = Changes(isObserved: false)
    if records[slot].isLive { _ = cancel(slot, .cancelled, at: now, &silent) }
    remove(slot)
    promote(&silent)
  }

  /// Forgets the ended records that are gone, once they are most of the queue; only after a save, so that they cannot
  /// come back.
  @inline(__always)
  package func compact() { if ended.count > 1024 { dropForgotten() } }

  @inline(never)
  private func dropForgotten() {
    let present = count(.succeeded) + count(.failed) + count(.cancelled)
    guard UInt64(ended.count) > 2 * present + 1024 else { return }
    ended = ended[endedHead...].filter { isEnded($0.slot, $0.sequence) && records[$0.slot].changedAt == $0.at }
    endedHead = 0
  }
}
