// The tasks that may have ended their process (V7): few, and known by their slots.

extension TaskTable {
  /// Whether there may be any.
  @inline(__always)
  package var hasSuspects: Bool { !suspects.isEmpty }

  /// A record may be one of them from now on.
  package func noteSuspect(_ slot: Int) {
    let sequence = records[slot].sequence
    guard records[slot].suspicion != .none, records[slot].isLive,
      !suspects.contains(where: { $0.slot == slot && $0.sequence == sequence })
    else { return }
    suspects.append((slot, sequence))
  }

  /// Those that the store has.
  package func findSuspects() {
    for slot in slots where !isVacant(slot) { noteSuspect(slot) }
  }

  /// Something ended for which suspects may have waited, or which waited for a suspect.
  package func reviewSuspects() {
    suspectChanges &+= 1
    suspects.removeAll { slot, sequence in
      slot >= records.count || records[slot].sequence != sequence || records[slot].suspicion == .none
        || !records[slot].isLive
    }
  }
}
