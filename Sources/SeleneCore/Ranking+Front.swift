// The tasks of a ranking that go before all others: those near their latest begin, then expedited ones (W9, W10).

/// Of the urgent or the expedited ones of a class the first that was not passed.
struct FrontHead {
  let taskClass: Int
  let line: Urgency.Line
  /// Of its kind the window takes expedited tasks alone.
  let isAlone: Bool
  /// Of its class, which holds it; nil is none.
  let group: Unmanaged<TaskGroup>?
  /// nil: all was passed.
  var current: OrderedSlot?
  /// `current` had its turn, or cannot have one.
  var isPassed = false

  /// What a pick names it by. Its place may be another once the pick is stored: classes that are empty then are forgotten.
  fileprivate var number: Int { -1 - (taskClass * Urgency.Line.count + line.rawValue) }

  /// Nothing of it has a turn once the quota is used up.
  fileprivate var needsQuota: Bool { line == .expedited || isAlone }

  /// Whether a record of its line is one of its tasks.
  @inline(__always)
  fileprivate func takes(_ record: UnsafeMutablePointer<TaskRecord>) -> Bool {
    !isAlone || record.pointee.marks.contains(.ahead)
  }

  /// Urgent ones go before expedited ones.
  fileprivate func goesBefore(_ other: FrontHead) -> Bool {
    guard line == other.line else { return line == .urgent }
    guard let own = current, let other = other.current else { return current != nil }
    return own.at < other.at
  }
}

extension Ranking {
  /// Takes those that are urgent now, and the expedited ones.
  @inline(never)
  func freezeFronts(_ urgency: Urgency, _ index: TaskIndex, _ offer: Offer) {
    index.rankedClasses.forEach { number in
      guard index.classes[number].suits(offer) else { return }
      freezeFront(.urgent, of: number, urgency, index, offer)
      freezeFront(.expedited, of: number, urgency, index, offer)
    }
  }

  private func freezeFront(
    _ line: Urgency.Line, of taskClass: Int, _ urgency: Urgency, _ index: TaskIndex, _ offer: Offer
  ) {
    guard let first = urgency.next(line, taskClass, after: nil, costing: .any) else { return }
    fronts.append(
      FrontHead(
        taskClass: taskClass, line: line, isAlone: offer.alone.contains(index.classes[taskClass].kind),
        group: index.classes[taskClass].group.map { Unmanaged.passUnretained($0) }, current: first))
  }

  /// Whether a record was urgent at begin, so that its turn comes before that of others or never.
  @inline(__always)
  func isAhead(_ record: UnsafeMutablePointer<TaskRecord>) -> Bool {
    record.pointee.marks.contains(.urgent) && record.pointee.urgentAt <= begin
  }

  /// Whether an expedited record had its turn among the urgent ones.
  private func goesByUrgency(_ record: UnsafeMutablePointer<TaskRecord>) -> Bool {
    isAhead(record) && fronts.contains { $0.line == .urgent && $0.taskClass == record.pointee.place.taskClass }
  }

  /// Whether the turn of a record came before that of others, or never comes.
  @inline(never)
  func hadItsTurn(_ record: UnsafeMutablePointer<TaskRecord>) -> Bool {
    if isAhead(record) { return true }
    guard record.pointee.marks.contains(.ahead),
      let front = fronts.first(where: { $0.line == .expedited && $0.taskClass == record.pointee.place.taskClass })
    else { return false }
    guard let current = front.current else { return true }
    return record.turn < current.at || (front.isPassed && !(current.at < record.turn))
  }

  /// The urgent task whose latest begin is the first, of those that are still eligible and fit; else the best expedited one,
  /// while something of the quota is left.
  @inline(never)
  func bestAhead(in table: TaskTable, _ offer: Offer, room: Room, _ most: Cost, _ passed: inout Int) -> Pick? {
    while true {
      var best: Int?
      let hasQuota = fronts.contains { $0.needsQuota } && table.hasQuota
      for place in fronts.indices where table.index.classes[fronts[place].taskClass].suits(offer) {
        guard !fronts[place].needsQuota || hasQuota, step(front: place, in: table, room: room, most) != nil,
          isOpen(fronts[place])
        else { continue }
        if let other = best, fronts[other].goesBefore(fronts[place]) { continue }
        best = place
      }
      guard let best, let entry = fronts[best].current else { return nil }
      guard table.passesStuck(entry.slot, &passed) else {
        return Pick(
          slot: entry.slot, head: fronts[best].number, score: score(of: table.records.at(entry.slot)),
          estimate: table.records.at(entry.slot).estimate)
      }
      fronts[best].isPassed = true
      if table.isMoving { return nil }
    }
  }

  /// A pick of those that go before others had its turn.
  @inline(never)
  func removeAhead(_ pick: Pick) {
    if let place = fronts.firstIndex(where: { $0.number == pick.head }) { fronts[place].isPassed = true }
  }

  private func isOpen(_ front: FrontHead) -> Bool { front.group?._withUnsafeGuaranteedRef { $0.isOpen } ?? true }

  /// Goes to the next of a line that can still be picked and fits.
  private func step(front place: Int, in table: TaskTable, room: Room, _ most: Cost) -> OrderedSlot? {
    let line = fronts[place].line
    while let entry = fronts[place].current {
      let record = table.records.at(entry.slot)
      if !fronts[place].isPassed, entry.cost <= most, record.pointee.sequence == entry.at.sequence,
        line == .urgent ? isAhead(record) : record.pointee.marks.contains(.ahead) && !goesByUrgency(record),
        fronts[place].takes(record), frozen.pointee.has(record), room.takes(record)
      {
        return entry
      }
      fronts[place].current = table.urgency?.next(line, fronts[place].taskClass, after: entry.at, costing: most)
      fronts[place].isPassed = false
    }
    return nil
  }

  /// The same as `forEachAwaited`, of urgent and expedited tasks.
  func forEachAwaitedAhead(
    in table: TaskTable, _ offer: Offer, room: Room, _ most: Cost, _ body: (TaskGroup) -> Void
  ) {
    for place in fronts.indices where table.index.classes[fronts[place].taskClass].suits(offer) {
      guard let group = fronts[place].group?.takeUnretainedValue(), group.isFull, !group.isPaused,
        !fronts[place].needsQuota || table.hasQuota, step(front: place, in: table, room: room, most) != nil
      else { continue }
      body(group)
    }
  }

  /// How many expedited tasks of kinds of which nothing else may run could still run.
  @inline(never)
  func countAlone(in table: TaskTable, _ offer: Offer, inOpenGroups: Bool) -> Int {
    guard table.hasQuota else { return 0 }
    var count = 0
    for front in fronts where front.line == .expedited {
      let taskClass = table.index.classes[front.taskClass]
      guard offer.alone.contains(taskClass.kind), inOpenGroups ? taskClass.isOpen(to: offer) : taskClass.suits(offer)
      else { continue }
      forEach(front, in: table) { if frozen.pointee.has($0) { count += 1 } }
    }
    return count
  }

  private func forEach(_ front: FrontHead, in table: TaskTable, _ body: (UnsafeMutablePointer<TaskRecord>) -> Void) {
    var next = table.urgency?.next(front.line, front.taskClass, after: nil, costing: .any)
    while let entry = next {
      if front.takes(table.records.at(entry.slot)) { body(table.records.at(entry.slot)) }
      next = table.urgency?.next(front.line, front.taskClass, after: entry.at, costing: .any)
    }
  }

  /// How many tasks go before a record that goes before others, too; nil if it does not.
  ///
  /// - Complexity: O(n) of the expedited ones, for an expedited record.
  func countAhead(of record: UnsafeMutablePointer<TaskRecord>, in table: TaskTable) -> Int? {
    guard !fronts.isEmpty, let urgency = table.urgency else { return nil }
    // One whose class the window does not take is nowhere in it.
    let own = record.pointee.place.taskClass
    guard fronts.contains(where: { $0.taskClass == own }) else { return nil }
    let isUrgent = isAhead(record)
    guard isUrgent || (record.pointee.marks.contains(.ahead) && table.hasQuota) else { return nil }
    let place = OrderKey(record.pointee.latestAt, record.pointee.sequence)
    var before = 0
    for front in fronts where front.line == .urgent {
      let line = urgency.list(.urgent, front.taskClass)
      before += isUrgent ? line.count { $0 < place } : line.count
    }
    guard !isUrgent else { return before }
    for front in fronts where front.line == .expedited {
      forEach(front, in: table) { if !isAhead($0) && $0.turn < record.turn { before += 1 } }
    }
    return before
  }

  /// How many tasks go before one that does not go before others, though by age and priority they would not.
  ///
  /// - Complexity: O(n) of those that go before others.
  func countAhead(in table: TaskTable, whereNot precedes: (UnsafeMutablePointer<TaskRecord>) -> Bool) -> Int {
    var ahead = 0
    let hasQuota = table.hasQuota
    for front in fronts where front.line == .urgent || hasQuota {
      forEach(front, in: table) {
        if front.line == .expedited && isAhead($0) { return }
        if !precedes($0) { ahead += 1 }
      }
    }
    return ahead
  }
}
