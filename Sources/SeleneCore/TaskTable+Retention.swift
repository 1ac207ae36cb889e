// How long records stay readable after their end (T9).

extension TaskTable {
  /// Removes terminal records that ended before an instant; nil: all of them. Not those that live ones come after, which
  /// may read what they left (W4).
  ///
  /// - Returns: how many.
  package func prune(endedBefore limit: Instant?) -> UInt64 {
    var count: UInt64 = 0
    if !released.isEmpty { count += pruneReleased(endedBefore: limit) }
    if endedHead < ended.count { journal?.note(.ended(count: ended.count, head: endedHead)) }
    while endedHead < ended.count {
      let (slot, sequence, end) = ended[endedHead]
      // One that was enqueued again has ended since, or will.
      let isEnded = isEnded(slot, sequence) && records[slot].changedAt == end
      if isEnded, let limit, records[slot].changedAt > limit { break }
      if isEnded && isNeeded(slot) {
        // It comes again when nothing needs it any more.
        records[slot].bars.formUnion(.kept)
      } else if isEnded {
        remove(slot)
        count += 1
      }
      endedHead += 1
    }
    return count
  }

  /// Of those that were kept for others the ones that are needed no more.
  private func pruneReleased(endedBefore limit: Instant?) -> UInt64 {
    var count: UInt64 = 0
    journal?.note(.released(released))
    let candidates = released
    released = []
    for (slot, sequence) in candidates where isEnded(slot, sequence) {
      if isNeeded(slot) {
        records[slot].bars.formUnion(.kept)
      } else if let limit, records[slot].changedAt > limit {
        released.append((slot, sequence))
      } else {
        remove(slot)
        count += 1
      }
    }
    return count
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
