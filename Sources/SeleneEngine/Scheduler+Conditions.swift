// Conditions that the host names: which there are, and which are satisfied (W2).

import SeleneCore

extension Scheduler {
  /// A name is a condition of the host from now on; it is not satisfied before the host says so.
  ///
  /// - Throws: `invalidArgument`, `exhausted`, a status of stores; then nothing has changed.
  package func define(condition name: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) {
    try Identifier.check(name, "name")
    // What others change meanwhile is seen from here on.
    awaitStore()
    guard bit(ofDefined: name) == 0 else { return }
    try transaction(at: moment.now) { () throws(SeleneError) in try table.define(condition: name) }
  }

  /// It is none any more, and so not satisfied.
  ///
  /// - Throws: `invalidArgument`, `notFound`, a status of stores; then nothing has changed.
  package func undefine(condition name: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) {
    try Identifier.check(name, "name")
    awaitStore()
    let bit = try defined(name)
    let wasSatisfied = table.terms.conditions.satisfied & bit != 0
    let stopping = openRuns(without: satisfied(without: bit))
    try transaction(at: moment.now) {
      requeue(stopping, .constraintLost, at: moment.now)
      table.undefine(condition: name)
    }
    for run in stopping { stop(run, .constraintLost, at: moment.now) }
    if wasSatisfied { tell(condition: name, false, at: moment.now) }
  }

  /// Says whether a condition is satisfied; runs in flight that lose it are stopped.
  ///
  /// - Throws: `invalidArgument`, `notFound`, a status of stores; then nothing has changed.
  package func set(
    condition name: UnsafeRawBufferPointer, _ isSatisfied: Bool, at moment: Moment
  ) throws(SeleneError) {
    try Identifier.check(name, "name")
    let bit = try defined(name)
    guard (table.terms.conditions.satisfied & bit != 0) != isSatisfied else { return }
    if !isSatisfied { try stop(openRuns(without: satisfied(without: bit)), .constraintLost, at: moment.now) }
    table.terms.conditions.set(bit, isSatisfied)
    tell(condition: name, isSatisfied, at: moment.now)
  }

  private func tell(condition name: UnsafeRawBufferPointer, _ isSatisfied: Bool, at now: Instant) {
    let change = Change(isSatisfied ? .conditionMet : .conditionLost)
    change.message = Bytes(copying: name)
    noteSatisfied(at: now)
    publish(change, at: now)
    lookAgain()
  }

  /// What was satisfied if one were not.
  private func satisfied(without bit: UInt32) -> Needs { satisfied.subtracting(Needs([], host: bit)) }

  /// The bit of a condition that is defined, or 0.
  private func bit(ofDefined name: UnsafeRawBufferPointer) -> UInt32 {
    table.terms.conditions.bit(name) & table.terms.conditions.defined
  }

  private func defined(_ name: UnsafeRawBufferPointer) throws(SeleneError) -> UInt32 {
    let bit = bit(ofDefined: name)
    guard bit != 0 else { throw SeleneError(.notFound, "name", name: name, "is not a condition that is defined") }
    return bit
  }

  /// Whether a condition is defined, and whether it is satisfied.
  ///
  /// - Throws: `invalidArgument`, `notFound` if it is neither defined nor asked for by a task.
  package func condition(
    _ name: UnsafeRawBufferPointer
  ) throws(SeleneError) -> (isDefined: Bool, isSatisfied: Bool) {
    try Identifier.check(name, "name")
    table.terms.sweepConditions()
    let (conditions, bit) = (table.terms.conditions, table.terms.conditions.bit(name))
    guard bit != 0 else {
      throw SeleneError(.notFound, "name", name: name, "is neither defined nor asked for by a task")
    }
    return (conditions.defined & bit != 0, conditions.satisfied & bit != 0)
  }

  /// The names of all conditions that are defined, or that a task asks for, in the order of their bytes.
  package var conditionNames: [Bytes] {
    table.terms.sweepConditions()
    return Self.sorted(table.terms.conditions.names())
  }

  /// The names of those that a task asks for and that are not satisfied.
  ///
  /// - Throws: `invalidArgument`, `notFound`.
  package func missingConditions(_ id: UnsafeRawBufferPointer) throws(SeleneError) -> [Bytes] {
    let slot = try visibleSlot(id, "id")
    return Self.sorted(table.terms.conditions.names(table[slot].definition.needs.subtracting(satisfied).host))
  }

  private static func sorted(_ names: [Bytes]) -> [Bytes] {
    names.sorted { $0.buffer.lexicographicallyPrecedes($1.buffer) }
  }
}
