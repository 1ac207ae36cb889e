// Enqueueing failed tasks again (R7, V10).

extension TaskTable {
  /// Enqueues a failed task again, as if it were registered with what it was, and lets it begin at once; it waits again for
  /// those of its predecessors that have not succeeded. Its record keeps its number, so what comes after it still does.
  ///
  /// - Throws: `notFound`, `invalidArgument` (it has not failed; it comes after one that was cancelled, or that waits for
  ///   it), `notPermitted`, `unavailable`, `tooManyPending`.
  package func retry(
    _ id: UnsafeRawBufferPointer, at now: Instant, enabled: KindSet, _ changes: inout Changes
  ) throws(SeleneError) {
    guard let slot = find(id) else { throw .noTask(id) }
    try retry(slot, at: now, enabled: enabled, &changes)
  }

  /// The same for a task and all that failed because of it, or because of those.
  ///
  /// - Returns: how many; of those that failed because of it the ones that are refused stay as they are.
  /// - Throws: as `retry`, for the task itself.
  package func retryWithSuccessors(
    _ id: UnsafeRawBufferPointer, at now: Instant, enabled: KindSet, _ changes: inout Changes
  ) throws(SeleneError) -> UInt64 {
    guard let slot = find(id) else { throw .noTask(id) }
    let chosen = withSuccessors([slot])
    try retry(slot, at: now, enabled: enabled, &changes)
    return 1 + retry(chosen.filter { $0 != slot }, at: now, enabled: enabled, &changes)
  }

  /// The same for all tasks that have failed, or those of them that carry a tag.
  ///
  /// - Returns: how many; those that are refused stay as they are.
  package func retryAll(
    tag: UnsafeRawBufferPointer?, successors: Bool, at now: Instant, enabled: KindSet, _ changes: inout Changes
  ) -> UInt64 {
    let all = tag.map { slots(carrying: $0) } ?? Array(slots)
    var chosen = all.filter { !isVacant($0) && records[$0].state == .failed }
    if let tag { chosen = chosen.filter { carries($0, records[$0].sequence, tag) } }
    if successors { chosen = withSuccessors(chosen) }
    return retry(chosen, at: now, enabled: enabled, &changes)
  }

  private func retry(
    _ chosen: [Int], at now: Instant, enabled: KindSet, _ changes: inout Changes
  ) -> UInt64 {
    var order = chosen.map { Ordered(Int64(records[$0].sequence), $0) }
    Ordered.sort(&order)
    var count: UInt64 = 0
    for one in order where (try? retry(one.slot, at: now, enabled: enabled, &changes)) != nil { count += 1 }
    return count
  }

  private func retry(
    _ slot: Int, at now: Instant, enabled: KindSet, _ changes: inout Changes
  ) throws(SeleneError) {
    let failed = self[slot]
    guard failed.state == .failed else {
      throw SeleneError(
        .invalidArgument, "id", name: failed.definition.id, "is \(failed.state.name); only a failed task can be retried"
      )
    }
    try refuse(failed.definition, unlessIn: enabled)
    let again = try resolveAgain(failed.definition, slot)
    let isBlocked = again.after.contains { self.slot(of: $0).map { isWaitedFor($0, by: again) } ?? false }
    let state = isBlocked ? TaskState.blocked : try place(again, freeing: nil)
    let expected = expected(of: again)
    let handler = handlerNumber(again)
    let namesOthers = again.after.map { $0.sequence } != failed.definition.after.map { $0.sequence }
    if namesOthers { disconnect(slot, from: failed.definition.after) }
    modify(slot) {
      $0.startAgain(as: state, again, expected: expected, at: now)
      $0.handler = handler
    }
    if namesOthers { connect(slot) }
    noteSuspect(slot)
    changes.add(
      Change(.registered, self[slot], detail: (state == .held ? Disposition.held : .added).rawValue))
    if state == .held { changes.add(Change(.held, self[slot])) }
  }

  /// What a failed task comes after: the records that its ids show now.
  ///
  /// - Throws: `invalidArgument`, if it could never start.
  private func resolveAgain(_ failed: TaskDefinition, _ slot: Int) throws(SeleneError) -> TaskDefinition {
    guard failed.afterCount > 0 else { return failed }
    var found: [Predecessor] = []
    for (index, predecessor) in failed.after.enumerated() {
      guard let other = find(predecessor.id), records[other].definition.schedule == .once else {
        found.append(Predecessor(id: predecessor.id, sequence: 0))
        continue
      }
      if isWaitedFor(other, by: failed) {
        guard records[other].state != .cancelled else {
          throw SeleneError(
            .invalidArgument, "after", name: predecessor.id, "was cancelled; a task that comes after it cannot start"
          ).entry(index)
        }
        guard !leads(from: other, to: slot) else {
          throw SeleneError(
            .invalidArgument, "after", name: predecessor.id, "waits for this task, which cannot wait for it"
          ).entry(index)
        }
      }
      found.append(Predecessor(id: predecessor.id, sequence: records[other].sequence))
    }
    return failed.after(found)
  }

  /// Whether a record waits for another, or for one that does, and so on.
  private func leads(from slot: Int, to target: Int) -> Bool {
    var seen = [Bool](repeating: false, count: records.count)
    var open = [slot]
    while let next = open.popLast() {
      guard records[next].state == .blocked, !seen[next] else { continue }
      seen[next] = true
      for predecessor in records[next].definition.after {
        guard let other = self.slot(of: predecessor) else { continue }
        if other == target { return true }
        open.append(other)
      }
    }
    return false
  }

  /// Records, and those that failed without a run because one of them did, and so on.
  private func withSuccessors(_ chosen: [Int]) -> [Int] {
    var isChosen = [Bool](repeating: false, count: records.count)
    for slot in chosen { isChosen[slot] = true }
    var all = chosen
    var candidates = slots.filter {
      !isVacant($0) && records[$0].state == .failed && records[$0].definition.afterCount > 0
        && records[$0].failure?.attempt == 0 && !isChosen[$0]
    }
    var grows = true
    while grows {
      grows = false
      candidates.removeAll { candidate in
        let follows = records[candidate].definition.after.contains { find($0.id).map { isChosen[$0] } ?? false }
        if follows {
          isChosen[candidate] = true
          all.append(candidate)
          grows = true
        }
        return follows
      }
    }
    return all
  }
}
