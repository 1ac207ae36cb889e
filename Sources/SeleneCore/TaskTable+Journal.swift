// Taking a call back that the store refused (D2).

extension TaskTable {
  /// Takes the present call back.
  @_optimize(size)
  package func rollBack() {
    guard var journal else { return }
    self.journal = nil
    for step in journal.takeSteps() {
      switch step {
      case .record(let slot, let old):
        let wasVacant = isVacant(slot)
        restore(slot, old)
        // Steps are taken back in the opposite order, so it is the slot that was freed last.
        if wasVacant && !isVacant(slot) { freeSlots.removeLast() }
        if !wasVacant && isVacant(slot) { freeSlots.append(slot) }
      case .shown(let slot, let definition):
        if let slot {
          visible.set(definition.id, to: slot) { records[$0].definition.id }
        } else {
          visible.remove(definition.id) { records[$0].definition.id }
        }
      case .chain(let slot, let old): chains[UInt64(slot) + 1] = old
      case .sequence(let old): lastSequence = old
      case .ended(let count, let head):
        ended.removeLast(ended.count - count)
        endedHead = head
      }
    }
    self.journal = journal
  }

  /// The present call stands; the next save makes it durable.
  package func accept() { journal?.accept() }

  /// The store has everything.
  package func noteSaved() {
    guard let journal else { return }
    for (slot, _) in journal.stored where slot < records.count { records[slot].isUnsaved = false }
    self.journal?.clear()
  }
}
