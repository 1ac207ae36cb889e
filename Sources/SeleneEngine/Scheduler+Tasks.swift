// Tasks: registering, cancelling, reading, explaining.

import SeleneCore
import SeleneGovernor

extension Scheduler {
  /// Checks and registers a task.
  ///
  /// - Throws: `invalidArgument`, `tooLarge`, `notPermitted`, `unavailable`, `tooManyPending`.
  package func register(_ draft: borrowing TaskDraft, at moment: Moment) throws(SeleneError) -> Disposition {
    if !cycles.isEmpty { readFirst(Constraints(rawValue: draft.numbers.constraints), at: moment.now) }
    let definition = try TaskDefinition.checked(
      draft, units, backoff: options.policy.backoff, maxInput: options.policy.maxInput, pool: &table.terms)
    let disposition = try change(at: moment.now) { (changes) throws(SeleneError) in
      try table.register(definition, at: moment.now, enabled: enabled, &changes)
    }
    forEachDriver { $0.welcome() }
    return disposition
  }

  /// Registers many tasks in one commit.
  ///
  /// - Parameter read: writes the task at a place to a draft, or says why it is none.
  /// - Returns: a disposition, or why it was refused, for each.
  /// - Throws: a status of stores; then nothing was registered.
  package func register(
    count: Int, read: (Int, inout TaskDraft) throws(SeleneError) -> Void, at moment: Moment
  ) throws(SeleneError) -> [Result<Disposition, SeleneError>] {
    if !cycles.isEmpty {
      var asked: Constraints = []
      for index in 0..<count {
        var draft = TaskDraft()
        if (try? read(index, &draft)) != nil { asked.formUnion(Constraints(rawValue: draft.numbers.constraints)) }
      }
      readFirst(asked, at: moment.now)
    }
    let results = try change(at: moment.now) { (changes) in
      var results: [Result<Disposition, SeleneError>] = []
      results.reserveCapacity(count)
      for index in 0..<count {
        do throws(SeleneError) {
          var draft = TaskDraft()
          try read(index, &draft)
          let definition = try TaskDefinition.checked(
            draft, units, backoff: options.policy.backoff, maxInput: options.policy.maxInput, pool: &table.terms)
          results.append(.success(try table.register(definition, at: moment.now, enabled: enabled, &changes)))
        } catch {
          results.append(.failure(error))
        }
      }
      return results
    }
    forEachDriver { $0.welcome() }
    return results
  }

  /// Enqueues a failed task again.
  ///
  /// - Throws: `invalidArgument`, `notFound`, `notPermitted`, `unavailable`, `tooManyPending`.
  package func retry(_ id: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) {
    try Identifier.check(id, "id")
    try change(at: moment.now) { (changes) throws(SeleneError) in
      try table.retry(id, at: moment.now, enabled: enabled, &changes)
    }
    if hasSuspects { reviewSuspects() }
  }

  /// The same for a task and all that failed because of it; how many.
  ///
  /// - Throws: as `retry`.
  package func retryWithSuccessors(_ id: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) -> UInt64 {
    try Identifier.check(id, "id")
    return try change(at: moment.now) { (changes) throws(SeleneError) in
      try table.retryWithSuccessors(id, at: moment.now, enabled: enabled, &changes)
    }
  }

  /// The same for all failed tasks, or those that carry a tag; how many.
  ///
  /// - Throws: `invalidArgument`.
  package func retryAll(
    tag: UnsafeRawBufferPointer?, successors: Bool, at moment: Moment
  ) throws(SeleneError) -> UInt64 {
    if let tag { try Identifier.check(tag, "tag") }
    return try change(at: moment.now) {
      table.retryAll(tag: tag, successors: successors, at: moment.now, enabled: enabled, &$0)
    }
  }

  /// Cancels a task and what waits behind it.
  ///
  /// - Throws: `invalidArgument`, `notFound`.
  package func cancel(id: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) -> UInt64 {
    try Identifier.check(id, "id")
    return try change(at: moment.now) { (changes) throws(SeleneError) in
      try table.cancel(id: id, at: moment.now, &changes)
    }
  }

  /// Cancels all that carry a tag.
  ///
  /// - Throws: `invalidArgument`.
  package func cancel(tag: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) -> UInt64 {
    try Identifier.check(tag, "tag")
    return try change(at: moment.now) { table.cancel(tag: tag, at: moment.now, &$0) }
  }

  package func cancelAll(at moment: Moment) throws(SeleneError) -> UInt64 {
    try change(at: moment.now) { table.cancelAll(at: moment.now, &$0) }
  }

  /// Pauses a task and what waits behind it, or lets them go on (W3).
  ///
  /// - Throws: `invalidArgument`, `notFound`.
  package func pause(
    _ isPaused: Bool, id: UnsafeRawBufferPointer, at moment: Moment
  ) throws(SeleneError) -> UInt64 {
    try Identifier.check(id, "id")
    let count = try change(at: moment.now) { (changes) throws(SeleneError) in
      try table.pause(isPaused, id: id, &changes)
    }
    if !isPaused { forEachDriver { $0.welcome() } }
    return count
  }

  /// The same for all that carry a tag.
  ///
  /// - Throws: `invalidArgument`.
  package func pause(
    _ isPaused: Bool, tag: UnsafeRawBufferPointer, at moment: Moment
  ) throws(SeleneError) -> UInt64 {
    try Identifier.check(tag, "tag")
    let count = try change(at: moment.now) { table.pause(isPaused, tag: tag, &$0) }
    if !isPaused { forEachDriver { $0.welcome() } }
    return count
  }

  /// Says when a task is due next (W7).
  ///
  /// - Throws: `invalidArgument` (also: it is over), `notFound`.
  package func setNext(_ id: UnsafeRawBufferPointer, _ next: Instant, at moment: Moment) throws(SeleneError) {
    try Identifier.check(id, "id")
    try checkNext(next, at: moment.now)
    try transaction(at: moment.now) { () throws(SeleneError) in try table.setNext(id, next) }
    forEachDriver { $0.welcome() }
  }

  func checkNext(_ next: Instant, at now: Instant) throws(SeleneError) {
    try units.check(instant: "next", next, 0, now.adding(Time.tenYears))
  }

  /// Removes terminal records.
  package func prune(at moment: Moment) throws(SeleneError) -> UInt64 {
    try transaction(at: moment.now) { table.prune(endedBefore: nil) }
  }

  /// Removes all tasks and history.
  ///
  /// - Throws: `busy` while a cycle is open, `reentrant`.
  package func reset(at moment: Moment) throws(SeleneError) {
    try refuseInsideCallback("reset")
    guard cycles.isEmpty else {
      throw SeleneError(.busy, "\(cycles.count) cycles are open; reset needs all of them ended")
    }
    var state = storedState(at: moment.now)
    (state.lastRefresh, state.lastProcessing) = (nil, nil)
    try erase(state, governance.books(at: moment.now, ledger: Ledger()), at: moment.now) {
      table.removeAll()
      noteOwner()
      governance.governor.ledger = Ledger()
      table.expedited.clear()
      noteQuota(at: clock.last)
      (pace.refresh.lastBegin, pace.processing.lastBegin) = (nil, nil)
      traces = PerKind(repeating: nil)
    }
    record { $0.ledger(governance.governor.ledger, at: moment.now) }
    letDriversLook()
  }

  /// A task's record, or that of a successor that waits behind it.
  ///
  /// - Throws: `invalidArgument`, `notFound`.
  package func record(
    _ id: UnsafeRawBufferPointer, position: UInt64
  ) throws(SeleneError) -> (record: TaskRecord, waiting: Int, waitsFor: UInt32) {
    let slot = try visibleSlot(id)
    let waiting = table.waiting(behind: slot)
    guard position > 0 else { return (table[slot], waiting.count, table.waitsFor(slot)) }
    guard position <= waiting.count else {
      throw SeleneError.range("position", position, 0, Int64(waiting.count)).code(.notFound)
        .problem("is out of range, \(waiting.count) successors wait behind this task")
    }
    return (table[waiting[Int(position) - 1]], waiting.count - Int(position), 0)
  }

  /// The definitions of the visible records, in order of registration; of those that carry a tag, if one is given.
  /// Of those in a state, if one is given; those that are blocked are not visible.
  package func definitions(
    tag: UnsafeRawBufferPointer? = nil, state: TaskState? = nil
  ) throws(SeleneError) -> [TaskDefinition] {
    if let tag { try Identifier.check(tag, "tag") }
    var found: [Ordered] = []
    for slot in tag.map({ table.slots(carrying: $0) }) ?? Array(table.slots) {
      table.withRecord(slot) { record in
        guard record.pointee.sequence != 0, record.pointee.state == state ?? record.pointee.state,
          state == .blocked || !table.isSuccessor(slot)
        else { return }
        found.append(Ordered(Int64(record.pointee.sequence), slot))
      }
    }
    Ordered.sort(&found)
    return found.map { table[$0.slot].definition }
  }

  /// What the last success of a task left, or nil (W5).
  ///
  /// - Throws: `invalidArgument`, `notFound`, `tooLarge` (it left more than is kept, V11).
  package func output(_ id: UnsafeRawBufferPointer) throws(SeleneError) -> Bytes? {
    let slot = try visibleSlot(id)
    guard table[slot].outputLost == 0 else {
      let (lost, most) = (table[slot].outputLost, options.policy.maxOutput)
      throw SeleneError.range("output", Int64(clamping: lost), 0, Int64(clamping: most), .bytes).code(.tooLarge)
        .problem("the last success left \(lost) bytes, which are too many to be kept (max_output_size)")
    }
    return table[slot].output
  }

  /// Why a task does not run now (C15).
  ///
  /// - Throws: `invalidArgument`, `notFound`.
  package func explain(_ id: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) -> Explanation {
    try refuseIfElsewhere(id)
    let slot = try visibleSlot(id)
    let record = table[slot]
    var releaseAt: Instant?
    runs.forEach { run in
      guard !run.isOpen, !run.isBack, run.definition.id.equals(id) else { return }
      let at = run.endedAt.adding(options.releaseAfter)
      releaseAt = max(releaseAt ?? at, at)
    }
    let pool = pool(of: record)
    let renewed = renewForgotten(of: pool, at: moment.now)
    defer { spendAgain(renewed) }
    let hadItsRun = cycles.contains { cycle in !cycle.hasLeft && cycle.runs.contains { $0.definition.id.equals(id) } }
    // When what it waits for is as it needs it because readings expire.
    var constraintsAt = Time.never
    forEachGain(probing: moment, before: { constraintsAt }) { (at, then) in
      if record.definition.constraints.isSubset(of: then.constraints) { constraintsAt = at }
    }
    var explanation = table.explain(
      slot, enabled: enabled, pausedUntil: table.pauses.until(record.kind, of: pool?.name, at: moment.now),
      satisfied: satisfied(probing: moment), observedRange: options.observedRange,
      pace: pool?.pace[record.kind] ?? pace[record.kind],
      trace: pool.map { $0.traces[record.kind] } ?? traces[record.kind], hadItsRun: hadItsRun,
      runDeadline: runs[Token(rawValue: record.run).number].map { deadline(of: $0) } ?? awaitedUntil(record.sequence),
      releaseAt: releaseAt ?? Time.never, constraintsAt: constraintsAt, crew: pool?.crew, at: moment.now)
    if record.isLive && !record.definition.constraints.isEmpty {
      explanation.unknown = signals(probing: moment).unknown(record.definition.constraints, at: moment.now)
    }
    if record.state == .enqueued, let refusal = refusal(record.kind) {
      explanation.entries.append(Explanation.Entry(reason: .governor, mayChangeAt: refusal.askAgainAt))
    }
    if awaitsSuspects(record, at: moment.now) { explanation.entries.append(Explanation.Entry(reason: .quarantined)) }
    if record.state == .enqueued && isDrained { explanation.entries.append(Explanation.Entry(reason: .drained)) }
    if record.state == .enqueued { explanation.entries += troubleReasons(record.kind) }
    if record.isLive && troubles.isOn(.fleet) && isOfFleet(slot) {
      explanation.entries.append(Explanation.Entry(reason: .fleetAway))
    }
    if troubles.isOn(.clock) && explanation.entries.contains(where: { $0.reason == .notDue || $0.reason == .tooSoon }) {
      explanation.entries.append(Explanation.Entry(reason: .clock))
    }
    return explanation
  }

  /// Where the time of a task went since it was last due, or registered (W8).
  ///
  /// - Throws: `invalidArgument`, `notFound`.
  package func waits(_ id: UnsafeRawBufferPointer, at moment: Moment) throws(SeleneError) -> ToldWaits {
    let slot = try visibleSlot(id)
    let waits = table.waits(of: slot, at: moment.now)
    func name(_ reason: Reason, _ detail: Int64) -> Bytes? {
      table.waitName(of: slot, reason, detail).map { Bytes(copying: $0) }
    }
    var preferred: [TaskDefinition] = []
    for task in waits.preferredTasks {
      guard task.slot < table.slots.count, table.sequence(task.slot) == task.sequence else { continue }
      preferred.append(table[task.slot].definition)
    }
    return ToldWaits(
      waits: waits, partNames: waits.parts.map { name($0.reason, $0.detail) },
      changeNames: waits.changes.map { name($0.reason, $0.detail) }, preferred: preferred)
  }

  /// When it is worth opening the next window; nil for never (C16).
  package func nextWakeup(at moment: Moment) -> Instant? { nextWakeup(of: nil, crew: nil, at: moment) }

  /// The same for the windows of a pool.
  func nextWakeup(of pool: Pool?, crew: Crew?, at moment: Moment) -> Instant? {
    let pace = pool?.pace ?? pace
    // A forgotten cycle delays no wake-up, the next begin ends it.
    let renewed = renewForgotten(of: pool, at: moment.now)
    defer { spendAgain(renewed) }
    var free = cycles.reduce(offered) {
      $1.pool !== pool || $1.isForgotten(at: moment.now) ? $0 : $0.subtracting($1.kinds)
    }
    if pool == nil { free = free.subtracting(cappedKinds) }
    let offer = Offer(
      kinds: free.subtracting(table.pauses.kinds(of: pool?.name, at: moment.now)),
      satisfied: satisfied(probing: moment), pushes: false, observedRange: options.observedRange, crew: crew)
    var earliest = table.nextWakeup(offer, pace, at: moment.now) ?? Time.never
    forEachGain(probing: moment, before: { earliest }) { (at, then) in
      var offer = offer
      offer.satisfied = then
      if let wakeAt = table.nextWakeup(offer, pace, at: moment.now) { earliest = min(earliest, max(wakeAt, at)) }
    }
    table.pauses.forEachEnd(of: pool?.name, after: moment.now) { end in
      guard end < earliest else { return }
      var offer = offer
      offer.kinds = free.subtracting(table.pauses.kinds(of: pool?.name, at: end))
      if let wakeAt = table.nextWakeup(offer, pace, at: moment.now) { earliest = min(earliest, max(wakeAt, end)) }
    }
    earliest = earliest == Time.never ? earliest : max(earliest, beginsAgainAt)
    // What is too late is told then.
    earliest = min(earliest, max(moment.now, table.tellsExpiryAt))
    return earliest == Time.never ? nil : earliest
  }

  /// Lets those fail that were not begun by their latest begin; if the store refuses that, the next call tries again (W9).
  @inline(never)
  func expireTasks(at now: Instant) {
    guard !isClosing else { return }
    do throws(SeleneError) {
      try change(at: now) { (changes) in table.expire(at: now, &changes) }
    } catch {
      // It was told where it was made.
    }
  }

  func visibleSlot(_ id: UnsafeRawBufferPointer, _ field: Literal = "id") throws(SeleneError) -> Int {
    try Identifier.check(id, field)
    guard let slot = table.find(id) else { throw .noTask(id, field) }
    return slot
  }
}

/// Where the time of a task went (W8), with the names that a host knows.
package struct ToldWaits: Sendable {
  package let waits: Waits
  /// Of parts and of changes: what they are about.
  package let partNames: [Bytes?]
  package let changeNames: [Bytes?]
  package let preferred: [TaskDefinition]
}
