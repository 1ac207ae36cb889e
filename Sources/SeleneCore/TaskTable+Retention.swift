// How long records stay readable after their end (T9).

extension TaskTable {
  /// Removes terminal records that ended before an instant; nil: all of them.
  ///
  /// - Returns: how many.
  package func prune(endedBefore limit: Instant?) -> UInt64 {
    var count: UInt64 = 0
    if endedHead < ended.count { journal?.note(.ended(count: ended.count, head: endedHead)) }
    while endedHead < ended.count {
      let (slot, sequence) = ended[endedHead]
      let isEnded = slot < records.count && records[slot].sequence == sequence && records[slot].state.isTerminal
      if isEnded, let limit, records[slot].changedAt > limit { break }
      if isEnded {
        remove(slot)
        count += 1
      }
      endedHead += 1
    }
    return count
  }

  /// Forgets the ended records that are gone; only after a save, so that they cannot come back.
  package func compact() {
    if endedHead > 1024 && endedHead * 2 > ended.count {
      ended = Array(ended[endedHead...])
      endedHead = 0
    }
  }
}
