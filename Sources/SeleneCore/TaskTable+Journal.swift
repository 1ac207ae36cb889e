// Taking a call back that the store refused (D2).

extension TaskTable {
  /// Takes the present call back.
  package func rollBack() {
    guard var journal else { return }
    self.journal = nil
    lastSequence = journal.sequence ?? lastSequence
    while let step = journal.takeStep() {
      switch step {
      case .added(let slot): takeBack(slot, .vacant)
      case .changed(let slot, let old): takeBack(slot, old.record)
      case .shown(let old, let slot):
        // What came after this step was undone, so the slot has the record of then.
        let definition = records[slot].definition
        if let old {
          visible.set(definition.id, to: old) { records[$0].definition.id }
        } else {
          visible.remove(definition.id) { records[$0].definition.id }
        }
      case .timed(let place, let old): handlerTimes.restore(place, old?.times)
      case .grouped(let group, let old):
        let bars = group.bars
        if terms.groups.set(group, old, isKept: true) { noteOpening() }
        waits.set(group, from: bars, at: now)
      case .conditions(let old): terms.conditions.restore(old.conditions)
      case .paused(let old):
        let undone = pauses
        pauses.restore(old.pauses)
        notePauses(since: undone)
      case .chain(let slot, let old): chains[UInt64(slot) + 1] = old
      case .ended(let count, let head):
        while ended.count > count { ended.removeLast() }
        endedHead = head
      case .released(let old): released = old
      }
    }
    if journal.changedGraph { connectAll() }
    self.journal = journal
  }

  private func takeBack(_ slot: Int, _ old: TaskRecord) {
    let wasVacant = isVacant(slot)
    restore(slot, old)
    // Steps are undone in the opposite order, so it is the slot that was freed last.
    if wasVacant && !isVacant(slot) { freeSlots.removeLast() }
    if !wasVacant && isVacant(slot) { freeSlots.append(slot) }
  }

  /// The present call stands; the next save makes it durable.
  package func accept() { journal?.accept() }

  /// The store has everything.
  package func noteSaved() {
    // Not by a copy of the journal: then it would have to make its arrays anew.
    guard let count = journal?.stored.count else { return }
    for index in 0..<count {
      guard let slot = journal?.stored[index].slot, slot < records.count else { continue }
      records[slot].isUnsaved = false
    }
    handlerTimes.noteSaved()
    terms.groups.noteSaved()
    terms.conditions.noteSaved()
    pauses.noteSaved()
    journal?.clear()
    index.forgetEmptyClasses()
  }
}
