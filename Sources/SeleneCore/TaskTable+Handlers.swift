// Which tasks have a handler, and whose id is taken by a run that has not come back (T10, C4).

extension TaskTable {
  // MARK: Handlers

  /// Adds a handler's name; tasks that name it have a handler from now on.
  ///
  /// - Throws: `alreadyExists`.
  /// - Complexity: O(n).
  package func addHandler(_ name: UnsafeRawBufferPointer, pushes: Bool) throws(SeleneError) -> Int {
    try addHandler(name, pushes ? .pushed : .pulled)
  }

  package func addHandler(_ name: UnsafeRawBufferPointer, _ way: HandlerRoster.Way) throws(SeleneError) -> Int {
    let number = try roster.add(name, way)
    waits.set(handler: name, from: [], to: handling(Int32(number)), at: now)
    for slot in slots where !isVacant(slot) && records[slot].definition.handler.equals(name) {
      touch(slot) { $0.handler = Int32(number) }
    }
    return number
  }

  /// Whether other processes offer a handler, or did.
  package func isCrewed(handler number: Int) -> Bool { roster.way(number) == .crewed }

  /// A handler of other processes is offered, or by none any more; its tasks stay where they are.
  package func set(handler number: Int, isAbsent: Bool) {
    let old = handling(Int32(number))
    roster.set(number, isAbsent: isAbsent)
    if let name = roster.name(number) {
      waits.set(handler: name.buffer, from: old, to: handling(Int32(number)), at: now)
    }
  }

  /// Whether a record's handler is there.
  package func hasHandler(_ record: borrowing TaskRecord) -> Bool {
    record.handlerNumber >= 0 && !roster.isAbsent(Int(record.handlerNumber))
  }

  package func handlerName(_ number: Int) -> Bytes? { roster.name(number) }

  /// Whether a task of a handler would find it now.
  package func isOffered(handler name: UnsafeRawBufferPointer) -> Bool { roster.isOffered(name) }

  /// How often anything of the handlers changed.
  package var handlerChanges: UInt64 { roster.changes }

  package func findHandler(_ name: UnsafeRawBufferPointer) -> Int? { roster.find(name) }

  /// Its tasks have no handler from now on.
  ///
  /// - Complexity: O(n).
  package func retireHandler(_ number: Int) {
    if let name = roster.name(number) {
      waits.set(handler: name.buffer, from: handling(Int32(number)), to: [], at: now)
    }
    for slot in slots where records[slot].handlerNumber == Int32(number) { touch(slot) { $0.handler = -1 } }
    roster.retire(number)
  }

  package func freeHandler(_ number: Int) {
    roster.free(number)
    handlerTimes.free(number)
  }

  /// The number of the handler of a definition, or −1.
  func handlerNumber(_ definition: TaskDefinition) -> Int32 {
    if let known, known.terms === definition.terms { return known.handler }
    let number = Int32(roster.find(definition.handler) ?? -1)
    if definition.terms.handler != nil && !definition.terms.isCounted { known = (definition.terms, number) }
    return number
  }

  // MARK: What their runs take (R8)

  /// What a run of a definition takes while its task has no response time of its own; −1: unknown.
  @inline(__always)
  func expected(of definition: TaskDefinition) -> Span {
    let said = definition.expectedResponse
    return said >= 0 ? said : learntResponse(of: definition)
  }

  @inline(never)
  private func learntResponse(of definition: TaskDefinition) -> Span {
    handlerTimes.mean(definition, handler: handlerNumber(definition)) ?? -1
  }

  /// A run of the record in a slot took a time.
  ///
  /// - Parameter ran: the definition that it was begun with; an update may have given the record another since.
  @inline(__always)
  func learn(_ responseTime: Span, of slot: Int, ran: TaskDefinition?) {
    let isKept = journal != nil
    if let ran, ran !== records.at(slot).pointee.definition { return learn(responseTime, of: ran, isKept: isKept) }
    if !isKept && handlerTimes.add(responseTime, ofKnown: records.at(slot).pointee.handler) { return }
    let changed = handlerTimes.add(
      responseTime, of: records.at(slot).pointee.definition, handler: records.at(slot).pointee.handler, isKept: isKept)
    if isKept { journal?.note(changed.place, changed.old) }
  }

  @inline(never)
  private func learn(_ responseTime: Span, of ran: TaskDefinition, isKept: Bool) {
    let changed = handlerTimes.add(responseTime, of: ran, handler: handlerNumber(ran), isKept: isKept)
    if isKept { journal?.note(changed.place, changed.old) }
  }

  // MARK: Handlers that are stuck (R4)

  /// How many tasks one call moves at most.
  private static let mostMoved = 1_024

  /// A handler's tasks are not eligible while it is stuck.
  ///
  /// Those that stand in a line leave it when their turn comes, which is once each; afterwards they go back.
  package func set(handler number: Int, isStuck: Bool) {
    let old = handling(Int32(number))
    roster.set(number, isStuck: isStuck)
    if let name = roster.name(number) {
      waits.set(handler: name.buffer, from: old, to: handling(Int32(number)), at: now)
    }
    hasStuckHandlers = roster.hasStuck
    guard !isStuck else { return }
    returning += aside
    aside = []
    isMoving = !returning.isEmpty
  }

  package func name(ofHandler number: Int) -> Bytes? { roster.name(number) }

  package func isStuck(handler number: Int32) -> Bool { hasStuckHandlers && roster.isStuck(Int(number)) }

  /// Sets a task aside whose handler is stuck; whether it is one.
  @inline(never)
  func setAside(_ slot: Int) -> Bool {
    let handler = records[slot].handler
    guard handler >= 0, isStuck(handler: handler) else { return false }
    unlink(slot)
    records[slot].handler = TaskRecord.setAside(handler)
    aside.append(slot)
    if records[slot].marks.contains(.limited) { expect(slot, records.at(slot)) }
    return true
  }

  /// The same for the first of a line; at most `mostMoved` in one call.
  func passesStuck(_ slot: Int, _ count: inout Int) -> Bool {
    // Another look may have set it aside since this one found it.
    guard records[slot].handler >= 0 else { return true }
    guard hasStuckHandlers, setAside(slot) else { return false }
    count += 1
    isMoving = isMoving || count == Self.mostMoved
    return true
  }

  /// Lets tasks go back whose handler is not stuck any more; at most `mostMoved` in one call.
  func putBack() {
    var count = 0
    while count < Self.mostMoved, let slot = returning.popLast() {
      count += 1
      // Another record may have the slot now.
      guard records[slot].handler < -1 else { continue }
      let handler = records[slot].handlerNumber
      if isStuck(handler: handler) {
        aside.append(slot)
      } else {
        // It may wait for a place meanwhile.
        unlink(slot)
        records[slot].handler = handler
        link(slot)
      }
    }
    isMoving = !returning.isEmpty
  }

  // MARK: Runs that have not come back

  /// The id of the record in a slot is taken from now on; the record is the visible one.
  ///
  /// The definition is released before the run lets go of it.
  @_optimize(speed)
  package func take(_ slot: Int) {
    outstanding.append(Unmanaged.passUnretained(records.at(slot).pointee.definition))
    if let group = group(of: slot) {
      let bars = group.bars
      terms.groups.begin(group)
      if group.isSet { waits.set(group, from: bars, at: now) }
    }
    touch(slot) { $0.isTaken = true }
  }

  /// A run of a definition has come back, or was let go; its record was in a slot.
  @_optimize(speed)
  package func release(_ definition: TaskDefinition, _ slot: Int) {
    let address = Unmanaged.passUnretained(definition).toOpaque()
    guard let place = outstanding.lastIndex(where: { $0.toOpaque() == address }) else { return }
    let last = outstanding.removeLast()
    if place < outstanding.count { outstanding[place] = last }
    if let group = definition.group {
      let bars = group.bars
      if terms.groups.end(group) { noteOpening() }
      if group.isSet { waits.set(group, from: bars, at: now) }
    }
    guard outstanding.isEmpty || !isOutstanding(definition.id) else { return }
    guard let slot = visibleSlot(of: definition, hint: slot) else { return }
    // What comes back at once waited for nothing.
    let record = records.at(slot)
    if record.hasTrail { return comeBackToTrail(slot) }
    if now &- record.pointee.changedAt > Self.atOnce { return comeBackLate(slot) }
    touch(slot) { $0.isTaken = false }
  }

  /// The same of a task with steps of its own, the last of which may say that the run had not come back.
  @inline(never)
  private func comeBackToTrail(_ slot: Int) {
    guard let trail = records[slot].trail?.backAtOnce(since: now.subtracting(Self.atOnce)) else {
      return comeBackLate(slot)
    }
    // The store may have the step that says otherwise.
    modify(slot) { ($0.isTaken, $0.trail) = (false, trail) }
    accept()
  }

  @inline(never)
  private func comeBackLate(_ slot: Int) {
    guard records[slot].isLive else { return touch(slot) { $0.isTaken = false } }
    step(slot, at: now) { $0.isTaken = false }
    // Nothing takes that back.
    accept()
  }

  /// A run that comes back within this time is back at once (W8).
  private static let atOnce = Time.second / 1_000

  func isOutstanding(_ id: UnsafeRawBufferPointer) -> Bool {
    outstanding.contains { $0._withUnsafeGuaranteedRef { $0.id.equals(id) } }
  }

  /// The slot of the visible record of an id, which most often is still where it was.
  @inline(__always)
  private func visibleSlot(of definition: TaskDefinition, hint slot: Int) -> Int? {
    if slot < records.count, records.at(slot).pointee.definition === definition,
      records.at(slot).pointee.state != .blocked
    {
      return slot
    }
    return find(definition.id)
  }
}
