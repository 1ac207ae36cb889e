// Where a record stands in the index, and by which of its fields.

extension TaskTable {
  /// S1 without the time and what a window decides.
  func canRun(_ record: UnsafePointer<TaskRecord>) -> Bool {
    record.pointee.state == .enqueued && record.pointee.handler >= 0 && record.pointee.isPermitted
      && !record.pointee.isTaken
  }

  /// The class of a task that has a handler.
  func taskClass(of record: UnsafePointer<TaskRecord>) -> TaskClass {
    record.pointee.definition.taskClass(pushes: roster.pushes(Int(record.pointee.handler)))
  }

  /// Puts a record where it belongs.
  @inline(never)
  func link(_ slot: Int) {
    let record = records.at(slot)
    guard record.pointee.sequence != 0 else { return }
    if record.pointee.state == .held {
      index.insertHeld(slot, record)
      record.pointee.standing = .held
    } else if canRun(record) {
      let taskClass = taskClass(of: record)
      if record.pointee.earliestBegin <= index.present {
        index.insertRanked(slot, record, taskClass)
        record.pointee.standing = .ranked
      } else {
        index.insertDue(slot, record, taskClass)
        record.pointee.standing = .due
      }
    }
  }

  /// Takes a record from where it is; its fields are as they were when it was put there.
  @inline(never)
  func unlink(_ slot: Int) {
    let record = records.at(slot)
    switch record.pointee.standing {
    case .nowhere: return
    case .held: index.removeHeld(record)
    case .due: index.removeDue(record, taskClass(of: record))
    case .ranked: index.removeRanked(record, taskClass(of: record))
    }
    record.pointee.standing = .nowhere
  }

  /// Time goes on: what is registered from now on and is due ranks at once.
  package func advance(to now: Instant) { index.advance(to: now) }

  /// What is due until now becomes ranked.
  func settle(at now: Instant) {
    index.advance(to: now)
    for number in 0..<TaskClass.count {
      let taskClass = TaskClass(number: number)
      while let first = index.due(taskClass).first, first.at.key <= now {
        unlink(first.slot)
        link(first.slot)
      }
    }
  }

  /// From now on the ranked stand in the order of their sequence, too (S3).
  @_optimize(size)
  func keepBirths() {
    guard index.keepBirths() else { return }
    for slot in slots where records[slot].standing == .ranked {
      index.insertBirth(slot, records.at(slot), taskClass(of: records.at(slot)))
    }
  }

  /// The ranking of a cycle that begins now; it counts what it loses until it is closed.
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
  @_optimize(size)
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
