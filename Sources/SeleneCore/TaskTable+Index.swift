// Where a record stands in the index, and by which of its fields.

extension TaskTable {
  /// S1 without the time and what a window decides.
  @inline(__always)
  func canRun(_ record: UnsafeMutablePointer<TaskRecord>) -> Bool {
    record.pointee.state == .enqueued && record.pointee.handler >= 0 && record.pointee.bars.isEmpty
  }

  /// The same for a window of this one task, which it may have though it had its run of another (C14).
  @inline(__always)
  func canRunNow(_ record: UnsafeMutablePointer<TaskRecord>) -> Bool {
    record.pointee.state == .enqueued && record.pointee.handler >= 0
      && record.pointee.bars.isSubset(of: .spent)
  }

  /// The number of the class of a task that has a handler.
  @inline(__always)
  func taskClass(of record: UnsafeMutablePointer<TaskRecord>) -> Int {
    let way = roster.way(Int(record.pointee.handler))
    guard record.pointee.traits.isUsual && way != .crewed else { return taskClass(ofUnusual: record, way) }
    return TaskClasses.number(record.kind, record.pointee.traits.usualNeeds, pushes: way == .pushed)
  }

  @inline(never)
  private func taskClass(ofUnusual record: UnsafeMutablePointer<TaskRecord>, _ way: HandlerRoster.Way) -> Int {
    index.number(
      of: TaskClass(
        kind: record.kind, needs: record.pointee.needs, pushes: way == .pushed,
        group: record.pointee.definition.group, crewed: way == .crewed ? record.pointee.handler + 1 : 0),
      mayComeBack: journal?.hasSteps ?? false)
  }

  /// Puts a record where it belongs.
  @inline(__always)
  func link(_ slot: Int) {
    let record = records.at(slot)
    guard record.pointee.state.rawValue <= TaskState.held.rawValue else { return }
    line(up: slot, record)
    if !record.pointee.marks.isDisjoint(with: .hurried) { expect(slot, record) }
  }

  @_optimize(speed)
  @inline(never)
  private func line(up slot: Int, _ record: UnsafeMutablePointer<TaskRecord>) {
    if record.pointee.state == .held {
      index.insertHeld(slot, record)
    } else if canRun(record) && !(hasStuckHandlers && setAside(slot)) {
      let taskClass = taskClass(of: record)
      if record.pointee.earliestBegin <= index.present {
        index.insertRanked(slot, record, taskClass)
      } else {
        index.insertDue(slot, record, taskClass)
      }
    }
  }

  /// Takes a record from where it is; its fields are as they were when it was put there.
  @inline(__always)
  func unlink(_ slot: Int) {
    let record = records.at(slot)
    if !record.pointee.marks.isDisjoint(with: .listed) { expectNoMore(record) }
    if record.pointee.place.standing != .nowhere { index.remove(record) }
  }

  /// Time goes on: what is registered from now on and is due ranks at once.
  package func advance(to now: Instant) {
    self.now = now
    index.advance(to: now)
  }

  /// What is due until now becomes ranked.
  package func settle(at now: Instant) {
    index.advance(to: now)
    if isMoving { putBack() }
    index.dueClasses.forEach { taskClass in
      while let first = index.due(taskClass).first, first.at.key <= now {
        unlink(first.slot)
        link(first.slot)
      }
    }
    urgency?.ripen(to: now, in: records)
  }

  /// From now on the ranked stand in the order of their sequence, too (S3).
  func keepBirths() {
    guard index.keepBirths() else { return }
    for slot in slots where records[slot].place.standing == .ranked {
      index.insertBirth(slot, records.at(slot), taskClass(of: records.at(slot)))
    }
  }

  /// The ranking of a cycle that begins now; it counts what it loses until it is closed, and lives until then.
  package func openRanking(_ offer: Offer, at now: Instant) -> Ranking {
    let ranking = Ranking(self, offer, at: now)
    index.open(ranking)
    return ranking
  }

  package func close(_ ranking: Ranking) { index.close(ranking) }

  // MARK: Tags

  /// Whether the record in a slot is the one of a sequence and carries a tag.
  func carries(_ slot: Int, _ sequence: UInt64, _ tag: UnsafeRawBufferPointer) -> Bool {
    slot < records.count && records[slot].sequence == sequence && records[slot].definition.carries(tag: tag)
  }

  /// The slots of the records that carry a tag, in the order of their sequence.
  package func slots(carrying tag: UnsafeRawBufferPointer) -> [Int] {
    var found: [Ordered] = []
    for member in tags.members(tag) where carries(member.slot, member.sequence, tag) {
      found.append(Ordered(Int64(member.sequence), member.slot))
    }
    Ordered.sort(&found)
    var slots: [Int] = []
    for member in found where slots.last != member.slot { slots.append(member.slot) }
    return slots
  }
}
