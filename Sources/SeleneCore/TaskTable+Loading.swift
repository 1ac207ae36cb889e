// Taking over what a store has.

extension TaskTable {
  /// Takes a record from the store; those that wait behind another come after it, in the order of their sequence.
  ///
  /// - Returns: false if it does not fit to those that were taken before.
  package func load(_ record: TaskRecord) -> Bool {
    guard record.sequence > lastSequence else { return false }
    lastSequence = record.sequence
    let head = find(record.definition.id)
    let after = record.definition.after
    guard after.allSatisfy({ $0.sequence < record.sequence }) else { return false }
    guard record.state == .blocked && after.isEmpty else {
      // A successor that took its predecessor's place has the later number, but the predecessor is gone.
      guard head == nil else { return false }
      show(add(record))
      return true
    }
    guard let head, records[head].isLive else { return false }
    let slot = add(record)
    setWaiting(behind: head, waiting(behind: head) + [slot])
    return true
  }

  /// Takes the times of the next handler from the store.
  ///
  /// - Returns: false if that cannot be.
  package func load(_ times: HandlerTimes) -> Bool { handlerTimes.load(times) }

  /// Every record was taken: those that ended are looked at in the order of their end.
  package func finishLoading() {
    connectAll()
    var order = ended.map { Ordered(records[$0.slot].changedAt, $0.slot) }
    Ordered.sort(&order)
    ended = order.map { ($0.slot, records[$0.slot].sequence) }
  }

  /// No record has a greater number than this.
  package func raiseSequence(to sequence: UInt64) { lastSequence = max(lastSequence, sequence) }
}
