// Pausing tasks by id and by tag (W3).

extension TaskTable {
  /// Pauses the task of an id and all that wait behind it, or lets them go on.
  ///
  /// - Returns: how many were not as they are now.
  /// - Throws: `notFound`.
  package func pause(
    _ isPaused: Bool, id: UnsafeRawBufferPointer, _ changes: inout Changes
  ) throws(SeleneError) -> UInt64 {
    guard let head = find(id) else { throw .noTask(id) }
    var count = pause(isPaused, head, &changes)
    for slot in waiting(behind: head) { count += pause(isPaused, slot, &changes) }
    return count
  }

  /// The same for every record that carries a tag, waiting ones included.
  package func pause(_ isPaused: Bool, tag: UnsafeRawBufferPointer, _ changes: inout Changes) -> UInt64 {
    var count: UInt64 = 0
    for slot in slots(carrying: tag) { count += pause(isPaused, slot, &changes) }
    return count
  }

  private func pause(_ isPaused: Bool, _ slot: Int, _ changes: inout Changes) -> UInt64 {
    guard records[slot].isLive, records[slot].isPaused != isPaused else { return 0 }
    step(slot, always: index.hasRankings, at: now) { $0.isPaused = isPaused }
    changes.add(Change(isPaused ? .paused : .resumed, self[slot]))
    return 1
  }
}
