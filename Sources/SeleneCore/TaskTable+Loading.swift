// Taking over what a store has.

extension TaskTable {
  /// Takes a record from the store; those that wait behind another come after it, in the order of their sequence.
  ///
  /// - Returns: false if it does not fit to those that were taken before.
  package func load(_ record: TaskRecord) -> Bool {
    guard record.sequence > lastSequence else { return false }
    lastSequence = record.sequence
    // What changes from now on comes after what this record did.
    if let stamp = record.trail?.lastStamp { raiseStamp(to: stamp) }
    let head = find(record.definition.id)
    let after = record.definition.after
    guard after.allSatisfy({ $0.sequence != record.sequence }) else { return false }
    guard record.state == .blocked && after.isEmpty else {
      // A successor that took its predecessor's place has the later number, but the predecessor is gone.
      guard head == nil else { return false }
      show(unchanged(add(record)))
      return true
    }
    guard let head, records[head].isLive else { return false }
    let slot = unchanged(add(record))
    setWaiting(behind: head, waiting(behind: head) + [slot])
    return true
  }

  /// A record that was taken is as it was before all windows of this life.
  private func unchanged(_ slot: Int) -> Int {
    records[slot].stamp = 0
    return slot
  }

  /// No earlier run is waited for any more that had not come back when the process before this one ended (W8).
  package func noteOpening(at now: Instant) {
    for slot in slots where records.at(slot).hasTrail && records[slot].isLive && !isVacant(slot) {
      guard records[slot].trail?.endsTaken ?? false else { continue }
      modify(slot) { $0.noteOpening(at: now) }
      stampTrail(slot)
    }
  }

  /// Takes the times of the next handler from the store.
  ///
  /// - Returns: false if that cannot be.
  package func load(_ times: HandlerTimes) -> Bool { handlerTimes.load(times) }

  /// Every record was taken: those that ended are looked at in the order of their end.
  package func finishLoading() {
    connectAll()
    sortEnds()
  }

  /// Ended records stand in the order of their end, each with it.
  package func sortEnds() {
    var order = ended[endedHead...].map { Ordered(records[$0.slot].changedAt, $0.slot) }
    Ordered.sort(&order)
    ended = order.map { ($0.slot, records[$0.slot].sequence, records[$0.slot].changedAt) }
    endedHead = 0
  }

  /// No record has a greater number than this.
  package func raiseSequence(to sequence: UInt64) { lastSequence = max(lastSequence, sequence) }
}
