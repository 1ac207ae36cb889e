// Switches, conditions, handlers, the observer, and counts.

import SeleneCore

/// What a scheduler holds at a moment.
package struct Census {
  package let kinds: KindSet
  package let overrunThreads: Int
  /// The bits of `Trouble` that are on.
  package let troubles: UInt32
  package let stuckHandlers: Int
  package let dispatched: UInt64
  package let life: UInt64
  private let table: TaskTable

  fileprivate init(_ scheduler: Scheduler) {
    kinds = scheduler.enabled
    overrunThreads = scheduler.overrunThreads
    troubles = scheduler.troubles.on
    stuckHandlers = scheduler.workers.stuckHandlers
    dispatched = scheduler.runs.last
    life = scheduler.lifeNumber
    table = scheduler.table
  }

  package func count(_ state: TaskState) -> UInt64 { table.count(state) }
}

extension Scheduler {
  package var census: Census { Census(self) }

  /// Switches kinds on and all others off (C13).
  ///
  /// - Throws: `invalidArgument`.
  package func enable(_ kinds: UInt32) throws(SeleneError) {
    guard kinds & ~KindSet.all.rawValue == 0 else {
      throw .kinds("kinds", kinds, atLeastOne: false)
    }
    enabled = KindSet(rawValue: kinds)
    lookAgain()
  }

  // MARK: Conditions (C17)

  /// Lets the host set some conditions; runs in flight that lose one are stopped.
  ///
  /// - Throws: `invalidArgument`, a status of stores; then nothing has changed.
  package func setConditions(_ owned: UInt32, satisfied: UInt32, at moment: Moment) throws(SeleneError) {
    guard owned & ~Constraints.all.rawValue == 0 else {
      throw .constraints("constraints", owned)
    }
    guard satisfied & ~owned == 0 else {
      throw .range("satisfied", satisfied, 0, Int64(owned), .bits, "only bits that constraints has")
    }
    var changed = conditions
    // What is given back is not known from the host any more.
    let givenBack = changed.hostOwned.subtracting(Constraints(rawValue: owned))
    if !givenBack.isEmpty { changed.apply(Conditions.probe(givenBack)) }
    changed.set(Constraints(rawValue: owned), satisfied: Constraints(rawValue: satisfied))
    try stop(openRuns(without: changed.satisfied), .constraintLost, at: moment.now)
    conditions = changed
    lookAgain()
  }

  package func conditions(at moment: Moment) -> (satisfied: Constraints, host: Constraints) {
    (conditions.satisfied(probing: moment.probe), conditions.hostOwned)
  }

  /// What the system says becomes what picks go by.
  func apply(_ probe: Probe, at now: Instant) {
    let before = conditions.satisfied
    conditions.apply(probe)
    if !conditions.satisfied.isSubset(of: before) { lookAgainInLanes() }
    for run in openRuns(without: conditions.satisfied) { stop(run, .constraintLost, at: now) }
  }

  /// The runs in flight that need more than what is satisfied.
  func openRuns(without satisfied: Constraints) -> [Run] {
    guard !cycles.isEmpty else { return [] }
    return cycles.flatMap { cycle in
      cycle.runs.filter { $0.isOpen && !$0.definition.constraints.isSubset(of: satisfied) }
    }
  }

  // MARK: Handlers (T10)

  /// Registers a handler. The caller ends the context if this throws.
  ///
  /// - Throws: `invalidArgument`, `alreadyExists`.
  package func addHandler(
    _ name: UnsafeRawBufferPointer, run: ((Run) -> Void)?, stop: ((UInt64, StopReason) -> Void)?,
    destroy: (() -> Void)?
  ) throws(SeleneError) {
    try Identifier.check(name, "name")
    let number = try table.addHandler(name, pushes: run != nil)
    while handlers.count <= number { handlers.append(nil) }
    handlers[number] = Handler(number: number, run: run, stop: stop, destroy: destroy)
  }

  /// Unregisters a handler; its runs in flight go on.
  ///
  /// - Throws: `invalidArgument`, `notFound`.
  package func removeHandler(_ name: UnsafeRawBufferPointer) throws(SeleneError) {
    try Identifier.check(name, "name")
    guard let number = table.findHandler(name), let handler = handlers[number] else {
      throw SeleneError(.notFound, "name", name: name, "is not a registered handler")
    }
    if handler.isStuck { isFree(handler) }
    table.retireHandler(number)
    if handler.retire() { finish(handler) }
  }

  /// Ends one use of a handler.
  func endUse(of handler: Handler) { if handler.endUse() { finish(handler) } }

  /// The last use of a handler has ended.
  func finish(_ handler: Handler) {
    guard !saver.isAtWork else { return owe(.handler(handler)) }
    table.freeHandler(handler.number)
    handlers[handler.number] = nil
    outbox.add(.finish(handler))
  }

  // MARK: Events (C18)

  /// Sets the observer, or removes it.
  package func observe(_ observe: ((borrowing Event) -> Void)?, destroy: (() -> Void)?) {
    outbox.observe(observe.map { Observer(observe: $0, destroy: destroy) })
    if observe == nil, let destroy { outbox.add(.finish(Callback(destroy: destroy))) }
  }
}
