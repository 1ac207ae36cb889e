// What comes after what (W4): tasks wait until others have ended, start then, or end with them.
//
// An edge leads from a record to an older one, so there is no circle: it is made with the newer record and never moves. It
// stands in the definition of the newer one, which keeps the number of the older one's record; what is derived from that
// is who waits for a record.

extension TaskTable {
  /// What becomes of a task by those that it comes after.
  enum Admission {
    /// All have ended as they should.
    case starts
    case waits
    /// This one has not.
    case ends(TaskState, with: Predecessor)
  }

  /// Where the record is that a task comes after; nil if it is gone, and so was over when it went.
  func slot(of predecessor: Predecessor) -> Int? {
    guard predecessor.sequence != 0, let slot = find(predecessor.id), records[slot].sequence == predecessor.sequence
    else { return nil }
    return slot
  }

  func admission(of task: TaskDefinition) -> Admission {
    var admission = Admission.starts
    for predecessor in task.after {
      guard let slot = slot(of: predecessor) else { continue }
      let state = records[slot].state
      if !state.isTerminal {
        admission = .waits
      } else if state != .succeeded && !task.startsAfterAnyEnd {
        return .ends(state, with: predecessor)
      }
    }
    return admission
  }

  /// Whether a task waits for a record that it comes after: one that is not over, or, once it was enqueued again, one that
  /// has not succeeded (V10).
  func isWaitedFor(_ other: Int, by task: TaskDefinition) -> Bool {
    records[other].isLive || records[other].state != .succeeded && !task.startsAfterAnyEnd
  }

  /// Which of those that a record comes after it still waits for: a bit for each.
  package func waitsFor(_ slot: Int) -> UInt32 {
    guard records[slot].state == .blocked else { return 0 }
    let definition = records[slot].definition
    var bits: UInt32 = 0
    for (index, predecessor) in definition.after.enumerated() {
      if let other = self.slot(of: predecessor), isWaitedFor(other, by: definition) { bits |= 1 << UInt32(index) }
    }
    return bits
  }

  /// Whether a record waits behind another of its id (T5), and not for others.
  @inline(__always)
  package func isSuccessor(_ slot: Int) -> Bool {
    records[slot].state == .blocked && records[slot].definition.afterCount == 0
  }

  /// The same definition with the records that its ids show now.
  ///
  /// - Throws: `notFound`, `invalidArgument` (one that never ends).
  func resolve(_ new: TaskDefinition) throws(SeleneError) -> TaskDefinition {
    var found: [Predecessor] = []
    for (index, predecessor) in new.after.enumerated() {
      guard let slot = find(predecessor.id) else { throw SeleneError.noTask(predecessor.id, "after").entry(index) }
      let schedule = records[slot].definition.schedule
      guard schedule == .once else {
        throw SeleneError(
          .invalidArgument, "after", name: predecessor.id,
          schedule == .standing
            ? "is a standing task, which never ends; a task comes after once tasks"
            : "is a periodic task, which never ends; a task comes after once tasks"
        ).entry(index)
      }
      found.append(Predecessor(id: predecessor.id, sequence: records[slot].sequence))
    }
    return new.after(found)
  }

  /// The definition of an update, which comes after what the task comes after, and after any end if that did. The ids may
  /// come in any order; none at all leaves them as they are.
  ///
  /// - Throws: `invalidArgument` if it names others, or wants another end of them.
  func keepAfter(of old: TaskDefinition, in new: TaskDefinition) throws(SeleneError) -> TaskDefinition {
    guard old.afterCount > 0 || new.afterCount > 0 else { return new }
    let (kept, named) = (old.after, new.after)
    guard
      named.isEmpty
        || named.count == kept.count && named.allSatisfy({ one in kept.contains { $0.id.equals(one.id) } })
    else { throw SeleneError(.invalidArgument, "after", "cannot change in an update; use SELENE_EXISTING_REPLACE") }
    guard new.startsAfterAnyEnd == old.startsAfterAnyEnd || named.isEmpty && !new.startsAfterAnyEnd else {
      throw SeleneError(
        .invalidArgument, "flags", "AFTER_ANY_END cannot change in an update; use SELENE_EXISTING_REPLACE")
    }
    return new.after(kept, anyEnd: old.startsAfterAnyEnd)
  }

  // MARK: Who waits for whom

  /// A new record names others; it waits for them, or has failed with one of them.
  func connect(_ slot: Int, at now: Instant) {
    guard holdsOthers(slot) else { return }
    connect(slot)
    guard records[slot].state == .failed, case .ends(_, let predecessor) = admission(of: records[slot].definition)
    else { return }
    modify(slot) { $0.failure = LastFailure(at: now, attempt: 0, LastFailure.message(after: predecessor.id)) }
  }

  /// Whether a record holds those that it names (V9): it is not over, or has failed and may be enqueued again.
  @inline(__always)
  func holdsOthers(_ slot: Int) -> Bool { records[slot].isLive || records[slot].state == .failed }

  /// A record that holds others names them from now on.
  func connect(_ slot: Int) {
    let sequence = records[slot].sequence
    for predecessor in records[slot].definition.after {
      guard let other = self.slot(of: predecessor) else { continue }
      journal?.noteGraph()
      let known = dependents[other]
      let list = known ?? Dependents()
      if known == nil { dependents[other] = list }
      list.add(slot, sequence)
    }
  }

  /// A record holds those no more that it named.
  func disconnect(_ slot: Int, from named: [Predecessor]) {
    guard !dependents.isEmpty else { return }
    for predecessor in named {
      guard let other = self.slot(of: predecessor), let list = dependents[other] else { continue }
      journal?.noteGraph()
      list.remove { slot, sequence in records[slot].sequence == sequence && holdsOthers(slot) }
      guard list.count == 0 else { continue }
      dependents[other] = nil
      if records[other].bars.contains(.kept) {
        records[other].bars.subtract(.kept)
        released.append((other, predecessor.sequence))
      }
    }
  }

  /// A record goes; those that named it do so no more.
  func forgetDependents(of slot: Int) {
    guard dependents[slot] != nil else { return }
    journal?.noteGraph()
    dependents[slot] = nil
  }

  /// The records that hold one, so that it and what it left can still be read (T9, V9).
  func holders(of slot: Int) -> LazyFilterSequence<[(slot: Int, sequence: UInt64)]> {
    let all = dependents.isEmpty ? [] : dependents[slot]?.all ?? []
    return all.lazy.filter { [self] in records[$0.slot].sequence == $0.sequence && holdsOthers($0.slot) }
  }

  /// The first of them that is not over, or nil.
  func firstNeeding(_ slot: Int) -> Int? { holders(of: slot).first { records[$0.slot].isLive }?.slot }

  /// Derives all of it anew.
  func connectAll() {
    dependents.removeAll()
    var naming: [Ordered] = []
    for slot in slots where !isVacant(slot) && holdsOthers(slot) && records[slot].definition.afterCount > 0 {
      naming.append(Ordered(Int64(records[slot].sequence), slot))
    }
    Ordered.sort(&naming)
    for one in naming { connect(one.slot) }
  }

  // MARK: What follows from an end

  /// What waits for a record that has ended starts, or ends with it, and so on.
  ///
  /// - Returns: how many became cancelled.
  /// - Complexity: linear in the edges that lead to what ends.
  func settleDependents(of ended: Int, at now: Instant, _ changes: inout Changes) -> UInt64 {
    guard !dependents.isEmpty else { return 0 }
    var ends = [ended]
    var next = 0
    while next < ends.count {
      let slot = ends[next]
      next += 1
      guard let list = dependents[slot]?.all else { continue }
      for (waiting, sequence) in list
      where records[waiting].sequence == sequence && records[waiting].state == .blocked {
        let definition = records[waiting].definition
        let state = records[slot].state
        if state != .succeeded && !definition.startsAfterAnyEnd {
          end(waiting, as: state, with: records[slot].definition.id, at: now, &changes)
          ends.append(waiting)
        } else if waitsFor(waiting) == 0 {
          unblock(waiting, at: now, &changes)
        }
      }
    }
    // Only now, because what waits behind one of them takes its place.
    var cancelled: UInt64 = 0
    for slot in ends.dropFirst() {
      if records[slot].state == .cancelled {
        cancelled += 1 + cancelWaiting(behind: slot, from: 0, at: now, &changes)
      } else if !chains.isEmpty {
        settle(slot, holdsPlace: false, at: now, &changes)
      }
    }
    return cancelled
  }

  /// One that waited starts as if registered at this moment, in the next free place.
  private func unblock(_ slot: Int, at now: Instant, _ changes: inout Changes) {
    let isLimited = policy.places[records[slot].kind] != nil
    let expected = expected(of: records[slot].definition)
    var generator = generator
    step(slot, at: now) {
      let said = $0.isNextSaid ? $0.earliestBegin : nil
      $0.restart(as: isLimited ? .held : .enqueued, at: now)
      $0.jitterFirst(using: &generator)
      $0.expected = expected
      if let said { $0.sayNext(said) }
    }
    self.generator = generator
    changes.add(Change(.unblocked, self[slot]))
  }

  private func end(
    _ slot: Int, as state: TaskState, with predecessor: UnsafeRawBufferPointer, at now: Instant,
    _ changes: inout Changes
  ) {
    let message = state == .failed ? LastFailure.message(after: predecessor) : nil
    step(slot, at: now) {
      $0.end(as: state, at: now)
      if let message { $0.failure = LastFailure(at: now, attempt: 0, message) }
    }
    changes.add(
      state == .failed
        ? Change(.completed, self[slot], detail: Outcome.failed.rawValue, message: message)
        : Change(.cancelled, self[slot]))
  }

  /// At open: what waits for records that are lost, as a salvage may lose them, waits no more.
  package func startOrphans(at now: Instant, _ changes: inout Changes) {
    guard count(.blocked) > 0 else { return }
    for slot in slots where !isVacant(slot) && records[slot].state == .blocked && !isSuccessor(slot) {
      // What had failed when it was enqueued again is waited for (V10).
      let (definition, since) = (records[slot].definition, records[slot].registeredAt)
      let failed =
        definition.startsAfterAnyEnd
        ? nil
        : definition.after.first {
          guard let other = self.slot(of: $0), records[other].state.isTerminal, records[other].state != .succeeded
          else { return false }
          return records[other].changedAt > since
        }
      if let failed, let other = self.slot(of: failed) {
        end(slot, as: records[other].state, with: failed.id, at: now, &changes)
        _ = settleDependents(of: slot, at: now, &changes)
      } else if waitsFor(slot) == 0 {
        unblock(slot, at: now, &changes)
      }
    }
  }
}
