// Conditions that hosts name (W2), each with a small number, so that what a task asks for is a set of bits.

/// What a task may ask for, and what is satisfied: constraints in the lower half, conditions of the host by their number in
/// the upper one.
package struct Needs: OptionSet, Sendable {
  package let rawValue: UInt64
  @inline(__always)
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  @inline(__always)
  package init(_ constraints: Constraints, host: UInt32 = 0) {
    rawValue = UInt64(constraints.rawValue) | UInt64(host) << 32
  }

  /// What fits into the traits of a record; the classes of tasks that ask for no more have fixed numbers.
  static let usual = Needs([.network, .externalPower])

  package var constraints: Constraints { Constraints(rawValue: UInt32(truncatingIfNeeded: rawValue)) }
  /// The conditions of the host, a bit for each number.
  package var host: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }
}

/// A name that has a number, as long as anything leads to it.
package final class HostCondition: Sendable {
  package let name: Bytes
  let number: Int

  fileprivate init(_ name: Bytes, _ number: Int) { (self.name, self.number) = (name, number) }

  var bit: UInt32 { 1 << UInt32(truncatingIfNeeded: number) }
}

/// The conditions of the host that a task asks for.
final class HostNeeds: Sendable {
  let members: [HostCondition]
  let mask: UInt32

  fileprivate init(_ members: [HostCondition]) {
    self.members = members
    mask = members.reduce(0) { $0 | $1.bit }
  }
}

/// The conditions of a scheduler.
///
/// A name has a number from its definition, or from the first task that asks for it, until it is not defined and nothing
/// leads to it. What is not defined is not satisfied.
package struct HostConditions {
  package static let most = 32
  private var entries: [HostCondition?] = []
  /// Those that the host has defined, and of them those that it says are satisfied.
  package private(set) var defined: UInt32 = 0
  package private(set) var satisfied: UInt32 = 0
  /// The store has to be told which are defined.
  package private(set) var isUnsaved = false

  init() {}

  /// How the logs of waits know what has a number, by its bit of `Needs`; 0 for constraints.
  func subject(_ bit: UInt64) -> UInt64 {
    let number = Int(bit) - 32
    guard number >= 0, number < entries.count, let entry = entries[number] else { return 0 }
    return WaitLog.subject(entry.name.buffer)
  }

  package func find(_ name: UnsafeRawBufferPointer) -> HostCondition? {
    for entry in entries { if let entry, entry.name.buffer.equals(name) { return entry } }
    return nil
  }

  /// The bit of a name, or 0.
  package func bit(_ name: UnsafeRawBufferPointer) -> UInt32 { find(name)?.bit ?? 0 }

  /// Gives a name a number that is free; nil if none is.
  fileprivate mutating func add(_ name: UnsafeRawBufferPointer) -> HostCondition? {
    let number = entries.firstIndex { $0 == nil } ?? entries.count
    guard number < Self.most else { return nil }
    let new = HostCondition(Bytes(copying: name), number)
    if number == entries.count { entries.append(new) } else { entries[number] = new }
    // What a store has of waits goes by numbers.
    isUnsaved = true
    return new
  }

  /// Forgets names that nobody defined and to which nothing leads.
  fileprivate mutating func sweep(but kept: UInt32 = 0) {
    for number in entries.indices where (defined | kept) >> UInt32(truncatingIfNeeded: number) & 1 == 0 {
      if isKnownUniquelyReferenced(&entries[number]) { entries[number] = nil }
    }
    while let last = entries.last, last == nil { entries.removeLast() }
  }

  fileprivate func needs(_ mask: UInt32) -> HostNeeds {
    // In an order that numbers, which a store does not keep, have no part in.
    HostNeeds(
      entries.compactMap { $0 }.filter { $0.bit & mask != 0 }
        .sorted { $0.name.buffer.lexicographicallyPrecedes($1.name.buffer) })
  }

  /// A name that has a number which is free.
  fileprivate mutating func load(_ name: UnsafeRawBufferPointer, _ number: Int, isDefined: Bool) -> Bool {
    guard (0..<Self.most).contains(number) else { return false }
    while entries.count <= number { entries.append(nil) }
    guard entries[number] == nil else { return false }
    let new = HostCondition(Bytes(copying: name), number)
    entries[number] = new
    if isDefined { defined |= new.bit }
    return true
  }

  /// Calls a body with the number and the name of each, and whether it is defined.
  package func forEach(_ body: (Int, Bytes, Bool) -> Void) {
    for case let entry? in entries { body(entry.number, entry.name, entry.bit & defined != 0) }
  }

  /// Those of a set, in the order of their numbers.
  package func names(_ mask: UInt32 = .max) -> [Bytes] {
    entries.compactMap { $0 }.filter { $0.bit & mask != 0 }.map { $0.name }
  }

  /// Says whether a condition that is defined is satisfied.
  package mutating func set(_ bit: UInt32, _ isSatisfied: Bool) {
    satisfied = isSatisfied ? satisfied | bit & defined : satisfied & ~bit
  }

  fileprivate mutating func define(_ bit: UInt32, isKept: Bool) {
    defined |= bit
    isUnsaved = isUnsaved || isKept
  }

  /// A condition is not defined any more, and so not satisfied.
  mutating func undefine(_ bit: UInt32, isKept: Bool) {
    defined &= ~bit
    satisfied &= ~bit
    isUnsaved = isUnsaved || isKept
  }

  /// Takes a definition back; what the host says of the others stays.
  mutating func restore(_ old: HostConditions) {
    let now = satisfied
    let known = defined & old.defined
    self = old
    satisfied = now & known | old.satisfied & ~known
  }

  mutating func noteSaved() { isUnsaved = false }

  static func exhausted(_ field: Literal, _ name: UnsafeRawBufferPointer) -> SeleneError {
    SeleneError(.exhausted, field, name: name, "would be the 33rd condition; 32 can be defined or asked for by tasks")
  }
}

extension TermsPool {
  /// The bits of conditions that a task asks for, which have numbers from now on.
  ///
  /// - Throws: `exhausted`.
  @inline(never)
  mutating func mask(of names: [UnsafeRawBufferPointer]) throws(SeleneError) -> UInt32 {
    var mask: UInt32 = 0
    for name in names { mask |= try number(name, "conditions", but: mask) }
    return mask
  }

  /// The bit of a name that gets a number if it has none.
  private mutating func number(
    _ name: UnsafeRawBufferPointer, _ field: Literal, but kept: UInt32 = 0
  ) throws(SeleneError) -> UInt32 {
    if let known = conditions.find(name) { return known.bit }
    if let new = conditions.add(name) { return new.bit }
    sweepConditions(but: kept)
    guard let new = conditions.add(name) else { throw HostConditions.exhausted(field, name) }
    return new.bit
  }

  func needs(_ mask: UInt32) -> HostNeeds? { mask == 0 ? nil : conditions.needs(mask) }

  /// Forgets the names that only terms lead to which no task has.
  package mutating func sweepConditions(but kept: UInt32 = 0) {
    forgetTerms { $0.isCounted }
    conditions.sweep(but: kept)
  }

  /// - Throws: `exhausted`.
  fileprivate mutating func define(_ name: UnsafeRawBufferPointer, isKept: Bool) throws(SeleneError) {
    conditions.define(try number(name, "name"), isKept: isKept)
  }

  /// Takes over a name that a store has, with its number, before any task does.
  ///
  /// - Returns: false if that cannot be.
  package mutating func load(condition name: UnsafeRawBufferPointer, number: Int, isDefined: Bool) -> Bool {
    guard (try? Identifier.check(name, "name")) != nil, conditions.find(name) == nil else { return false }
    return conditions.load(name, number, isDefined: isDefined)
  }
}

extension TaskTable {
  /// A name is one of the host's conditions from now on.
  ///
  /// - Throws: `exhausted`.
  package func define(condition name: UnsafeRawBufferPointer) throws(SeleneError) {
    // Not after the journal has a copy, which leads to all of them.
    terms.sweepConditions()
    journal?.note(.conditions(Journal.OldConditions(terms.conditions)))
    try terms.define(name, isKept: journal != nil)
  }

  /// It is none any more.
  package func undefine(condition name: UnsafeRawBufferPointer) {
    journal?.note(.conditions(Journal.OldConditions(terms.conditions)))
    terms.conditions.undefine(terms.conditions.bit(name), isKept: journal != nil)
  }
}
