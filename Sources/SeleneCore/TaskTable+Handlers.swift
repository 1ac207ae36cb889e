// Which tasks have a handler, and whose id is taken by a run that has not come back (T10, C4).

extension TaskTable {
  // MARK: Handlers

  /// Adds a handler's name; tasks that name it have a handler from now on.
  ///
  /// - Throws: `alreadyExists`.
  /// - Complexity: O(n).
  @_optimize(size)
  package func addHandler(_ name: UnsafeRawBufferPointer, pushes: Bool) throws(SeleneError) -> Int {
    let number = try roster.add(name, pushes: pushes)
    for slot in slots where !isVacant(slot) && records[slot].definition.handler.equals(name) {
      touch(slot) { $0.handler = Int32(number) }
    }
    return number
  }

  package func findHandler(_ name: UnsafeRawBufferPointer) -> Int? { roster.find(name) }

  /// Its tasks have no handler from now on.
  ///
  /// - Complexity: O(n).
  @_optimize(size)
  package func retireHandler(_ number: Int) {
    for slot in slots where records[slot].handler == Int32(number) { touch(slot) { $0.handler = -1 } }
    roster.retire(number)
  }

  package func freeHandler(_ number: Int) { roster.free(number) }

  /// The number of the handler of a definition, or −1.
  func handlerNumber(_ definition: TaskDefinition) -> Int32 { Int32(roster.find(definition.handler) ?? -1) }

  // MARK: Runs that have not come back

  /// The id of the record in a slot is taken from now on; the record is the visible one.
  package func take(_ slot: Int) {
    outstanding.append(records.at(slot).pointee.definition)
    touch(slot) { $0.isTaken = true }
  }

  /// A run of a definition has come back, or was let go; its record was in a slot.
  package func release(_ definition: TaskDefinition, _ slot: Int) {
    guard let place = outstanding.lastIndex(where: { $0 === definition }) else { return }
    outstanding.swapAt(place, outstanding.count - 1)
    outstanding.removeLast()
    guard !isOutstanding(definition.id) else { return }
    if let slot = visibleSlot(of: definition.id, hint: slot) { touch(slot) { $0.isTaken = false } }
  }

  func isOutstanding(_ id: UnsafeRawBufferPointer) -> Bool { outstanding.contains { $0.id.equals(id) } }

  /// The slot of the visible record of an id, which most often is still where it was.
  private func visibleSlot(of id: UnsafeRawBufferPointer, hint slot: Int) -> Int? {
    if slot < records.count, records.at(slot).pointee.sequence != 0, records.at(slot).pointee.state != .blocked,
      records.at(slot).pointee.definition.id.equals(id)
    {
      return slot
    }
    return find(id)
  }
}
