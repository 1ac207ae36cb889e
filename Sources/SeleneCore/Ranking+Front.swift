// The tasks of a ranking that are near their latest begin: they go before all others (W9).

/// Of the urgent ones of a class the first that was not passed.
struct FrontHead {
  let taskClass: Int
  /// Of its class, which holds it; nil is none.
  let group: Unmanaged<TaskGroup>?
  /// nil: all was passed.
  var current: OrderedSlot?
  /// `current` had its turn, or cannot have one.
  var isPassed = false
}

extension Ranking {
  /// Takes those that are urgent now.
  @inline(never)
  func freezeFronts(_ urgency: Urgency, _ index: TaskIndex, _ offer: Offer) {
    index.rankedClasses.forEach { number in
      guard index.classes[number].suits(offer), let first = urgency.next(number, after: nil, costing: .any) else {
        return
      }
      let group = index.classes[number].group.map { Unmanaged.passUnretained($0) }
      fronts.append(FrontHead(taskClass: number, group: group, current: first))
    }
  }

  /// Whether a record was urgent at begin, so that its turn comes before that of others or never.
  @inline(__always)
  func isAhead(_ record: UnsafeMutablePointer<TaskRecord>) -> Bool {
    record.pointee.marks.contains(.urgent) && record.pointee.urgentAt <= begin
  }

  /// The urgent task whose latest begin is the first, of those that are still eligible and fit.
  @inline(never)
  func bestAhead(in table: TaskTable, _ offer: Offer, room: Span?, _ most: Cost, _ passed: inout Int) -> Pick? {
    while true {
      var best: Int?
      for place in fronts.indices where table.index.classes[fronts[place].taskClass].suits(offer) {
        guard let entry = step(front: place, in: table, room: room, most), isOpen(fronts[place]) else { continue }
        if let other = best.flatMap({ fronts[$0].current }), other.at < entry.at { continue }
        best = place
      }
      guard let best, let entry = fronts[best].current else { return nil }
      guard table.passesStuck(entry.slot, &passed) else {
        return Pick(
          slot: entry.slot, head: -1 - best, score: score(of: table.records.at(entry.slot)),
          estimate: table.records.at(entry.slot).estimate)
      }
      fronts[best].isPassed = true
      if table.isMoving { return nil }
    }
  }

  private func isOpen(_ front: FrontHead) -> Bool { front.group?._withUnsafeGuaranteedRef { $0.isOpen } ?? true }

  /// Goes to the next of a class that can still be picked and fits.
  private func step(front place: Int, in table: TaskTable, room: Span?, _ most: Cost) -> OrderedSlot? {
    while let entry = fronts[place].current {
      let record = table.records.at(entry.slot)
      if !fronts[place].isPassed, entry.cost <= most, record.pointee.sequence == entry.at.sequence, isAhead(record),
        frozen.pointee.has(record), room.map({ record.estimate <= $0 }) ?? true
      {
        return entry
      }
      fronts[place].current = table.urgency?.next(fronts[place].taskClass, after: entry.at, costing: most)
      fronts[place].isPassed = false
    }
    return nil
  }

  /// The same as `forEachAwaited`, of urgent tasks.
  func forEachAwaitedAhead(
    in table: TaskTable, _ offer: Offer, room: Span?, _ most: Cost, _ body: (TaskGroup) -> Void
  ) {
    for place in fronts.indices where table.index.classes[fronts[place].taskClass].suits(offer) {
      guard let group = fronts[place].group?.takeUnretainedValue(), group.isFull, !group.isPaused,
        step(front: place, in: table, room: room, most) != nil
      else { continue }
      body(group)
    }
  }

  /// How many urgent tasks go before a record that is urgent, too.
  func countAhead(of record: UnsafeMutablePointer<TaskRecord>, in table: TaskTable) -> Int {
    let place = OrderKey(record.pointee.latestAt, record.pointee.sequence)
    return fronts.reduce(0) { before, front in
      before + (table.urgency?.front(front.taskClass).count { $0 < place } ?? 0)
    }
  }

  /// How many urgent tasks go before one that is not, though by age and priority they would not.
  ///
  /// - Complexity: O(n) of those that are urgent.
  func countAhead(in table: TaskTable, whereNot precedes: (UnsafeMutablePointer<TaskRecord>) -> Bool) -> Int {
    var ahead = 0
    for front in fronts {
      var next = table.urgency?.next(front.taskClass, after: nil, costing: .any)
      while let entry = next {
        if !precedes(table.records.at(entry.slot)) { ahead += 1 }
        next = table.urgency?.next(front.taskClass, after: entry.at, costing: .any)
      }
    }
    return ahead
  }
}
