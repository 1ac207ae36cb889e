// Which tasks have a handler, and whose id is taken by a run that has not come back (T10, C4).

extension TaskTable {
  // MARK: Handlers

  /// Adds a handler's name; tasks that name it have a handler from now on.
  ///
  /// - Throws: `alreadyExists`.
  /// - Complexity: O(n).
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
  package func retireHandler(_ number: Int) {
    for slot in slots where records[slot].handler == Int32(number) { touch(slot) { $0.handler = -1 } }
    roster.retire(number)
  }

  package func freeHandler(_ number: Int) { roster.free(number) }

  /// The number of the handler of a definition, or −1.
  func handlerNumber(_ definition: TaskDefinition) -> Int32 { Int32(roster.find(definition.handler) ?? -1) }

  // MARK: Runs that have not come back

  /// The id of a definition is taken from now on.
  package func take(_ definition: TaskDefinition) {
    outstanding.append(definition)
    if let slot = find(definition.id) { touch(slot) { $0.isTaken = true } }
  }

  /// A run has come back, or was let go.
  package func release(_ definition: TaskDefinition) {
    guard let place = outstanding.firstIndex(where: { $0 === definition }) else { return }
    outstanding.remove(at: place)
    guard !isOutstanding(definition.id) else { return }
    if let slot = find(definition.id) { touch(slot) { $0.isTaken = false } }
  }

  func isOutstanding(_ id: UnsafeRawBufferPointer) -> Bool { outstanding.contains { $0.id.equals(id) } }
}
