// Cancelling by id, by tag, all; and what waits behind (T8).

extension TaskTable {
  /// Cancels a live record and all that wait behind it or for it.
  ///
  /// - Returns: how many became cancelled.
  package func cancel(_ head: Int, _ reason: StopReason, at now: Instant, _ changes: inout Changes) -> UInt64 {
    cancelAlone(head, reason, at: now, &changes) + settleDependents(of: head, at: now, &changes)
  }

  private func cancelAlone(_ head: Int, _ reason: StopReason, at now: Instant, _ changes: inout Changes) -> UInt64 {
    cancelWaiting(behind: head, from: 0, at: now, &changes) + cancelOne(head, reason, at: now, &changes)
  }

  /// Cancels the task of an id.
  ///
  /// - Throws: `notFound`.
  package func cancel(id: UnsafeRawBufferPointer, at now: Instant, _ changes: inout Changes) throws(SeleneError)
    -> UInt64
  {
    guard let slot = find(id) else { throw .noTask(id) }
    guard self[slot].isLive else { return 0 }
    let count = cancel(slot, .cancelled, at: now, &changes)
    promote(&changes)
    return count
  }

  /// Cancels every live record that carries a tag, waiting ones included, and what waits behind them.
  package func cancel(tag: UnsafeRawBufferPointer, at now: Instant, _ changes: inout Changes) -> UInt64 {
    var count: UInt64 = 0
    var cancelled: [Int] = []
    for slot in slots(carrying: tag) where carries(slot, self[slot].sequence, tag) && self[slot].isLive {
      if !isSuccessor(slot) {
        count += cancelAlone(slot, .cancelled, at: now, &changes)
        cancelled.append(slot)
      } else if let head = find(self[slot].definition.id),
        let first = waiting(behind: head).firstIndex(where: { self[$0].definition.carries(tag: tag) })
      {
        count += cancelWaiting(behind: head, from: first, at: now, &changes)
      }
    }
    // Behind all of them, so that none starts that goes itself.
    for slot in cancelled { count += settleDependents(of: slot, at: now, &changes) }
    promote(&changes)
    return count
  }

  /// Cancels every live record.
  package func cancelAll(at now: Instant, _ changes: inout Changes) -> UInt64 {
    var count: UInt64 = 0
    for slot in slots where !isVacant(slot) && self[slot].isLive && !isSuccessor(slot) {
      count += cancelAlone(slot, .cancelled, at: now, &changes)
    }
    return count
  }

  private func cancelOne(_ slot: Int, _ reason: StopReason, at now: Instant, _ changes: inout Changes) -> UInt64 {
    let run = self[slot].run
    if run != 0 { changes.stops.append((run, reason)) }
    let isPlain = records[slot].state == .enqueued && !records.at(slot).hasTrail && !records[slot].isTaken
    let end: (inout TaskRecord) -> Void = {
      $0.end(as: .cancelled, at: now)
      if run != 0 { ($0.stopReason, $0.lastOutcome) = (reason, .stopped) }
    }
    if isPlain { modify(slot, end) } else { step(slot, at: now, end) }
    changes.add(Change(.cancelled, self[slot], run: run))
    return 1
  }

  func cancelWaiting(
    behind head: Int, from first: Int, at now: Instant, _ changes: inout Changes
  ) -> UInt64 {
    let waiting = waiting(behind: head)
    guard first < waiting.count else { return 0 }
    setWaiting(behind: head, Array(waiting[..<first]))
    for slot in waiting[first...] {
      modify(slot) { $0.end(as: .cancelled, at: now) }
      changes.add(Change(.cancelled, self[slot]))
      remove(slot)
    }
    return UInt64(waiting.count - first)
  }
}

extension SeleneError {
  package static func noTask(_ id: UnsafeRawBufferPointer, _ field: Literal = "id") -> SeleneError {
    SeleneError(.notFound, field, name: id, "is not registered")
  }
}
