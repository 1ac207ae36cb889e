// All records of a scheduler and what follows from them. The rules stand in the extensions beside this file.

/// Who may run, for what limits: the part of a scheduler's options that the policy needs.
package struct Policy: Sendable {
  package var permits = Permits()
  /// Places for once and periodic tasks; nil is unlimited (T6).
  package var places = PerKind<UInt32?>(refresh: 1, processing: 10)
  /// Hold what finds no place instead of refusing it.
  package var holds = false
  package var backoff = BackoffBounds()
  package var maxInput: UInt64 = 10_240

  package init() {}
}

/// All records of a scheduler; guarded by the scheduler's lock.
package final class TaskTable {
  package let policy: Policy
  package var generator: Generator
  /// What takes the present call back, and what the store does not have yet; nil while nothing is stored.
  package var journal: Journal?
  /// The records by slot; `vacant` where the slot is free.
  private var records: [TaskRecord] = []
  private var freeSlots: [Int] = []
  /// The visible record of each id.
  private var visible = TextIndex()
  /// Slots of the successors that wait behind a record, in order.
  private var chains: [Int: [Int]] = [:]
  /// Taken places, and the slots of those who wait for one.
  private var taken = PerKind<UInt32>(repeating: 0)
  /// Who waits for a place; some do no longer, which is found out when a place is free.
  private var held = PerKind<[(slot: Int, sequence: UInt64)]>(repeating: [])
  private var counts = [UInt64](repeating: 0, count: 7)
  /// Ended records in order of their end, and where those begin that were not looked at yet.
  private var ended: [(slot: Int, sequence: UInt64)] = []
  private var endedHead = 0
  /// Definitions of the runs that have not come back (C4).
  private var outstanding: [TaskDefinition] = []
  private var roster = HandlerRoster()
  /// Number of the last change.
  package private(set) var stamp: UInt64 = 0
  package private(set) var lastSequence: UInt64 = 0
  /// No store has a greater sequence, so that numbers never run out.
  package static let greatestSequence: UInt64 = 1 << 62

  package init(_ policy: Policy, generator: Generator) {
    self.policy = policy
    self.generator = generator
  }

  // MARK: Reading

  /// Every slot, free ones included.
  package var slots: Range<Int> { 0..<records.count }

  package subscript(slot: Int) -> TaskRecord { records[slot] }

  package func isVacant(_ slot: Int) -> Bool { records[slot].sequence == 0 }

  /// The slot of the visible record of an id.
  package func find(_ id: UnsafeRawBufferPointer) -> Int? {
    visible.find(id) { records[$0].definition.id }
  }

  /// The slots that wait behind a record, in order.
  package func waiting(behind slot: Int) -> [Int] { chains[slot] ?? [] }

  /// How many records stand in a state.
  package func count(_ state: TaskState) -> UInt64 { counts[Int(state.rawValue)] }

  package func freePlaces(_ kind: Kind) -> UInt32 {
    guard let limit = policy.places[kind] else { return .max }
    return limit > taken[kind] ? limit - taken[kind] : 0
  }

  /// The best of those who wait for a place: higher priority first, then lower sequence (T6).
  package func bestHeld(_ kind: Kind) -> Int? {
    let waiting = held[kind].filter { records[$0.slot].sequence == $0.sequence && records[$0.slot].state == .held }
    held[kind] = waiting
    return waiting.min { a, b in
      (records[b.slot].priority, a.sequence) < (records[a.slot].priority, b.sequence)
    }?.slot
  }

  /// All of S1 (C2).
  package func isEligible(_ slot: Int, _ offer: Offer, at now: Instant) -> Bool {
    records[slot].earliestBegin <= now && isRunnable(slot, offer)
  }

  /// S1 without the time.
  package func isRunnable(_ slot: Int, _ offer: Offer) -> Bool {
    let record = records[slot]
    return record.state == .enqueued && record.handler >= 0 && offer.kinds.contains(record.kind)
      && record.definition.constraints.isSubset(of: offer.satisfied) && record.isPermitted && !record.isTaken
      && (!offer.pushes || roster.pushes(Int(record.handler)))
  }

  // MARK: Writing: every change of a record goes through these

  /// Replaces the record in a slot and derives what follows from its state.
  package func write(_ slot: Int, _ record: TaskRecord) {
    stamp += 1
    journal?.note(slot, records[slot])
    uncount(slot)
    let wasHeld = records[slot].sequence == record.sequence && records[slot].state == .held
    if record.state == .held && !wasHeld { held[record.kind].append((slot, record.sequence)) }
    let wasEnded = records[slot].sequence == record.sequence && records[slot].state.isTerminal
    records[slot] = record
    records[slot].stamp = stamp
    count(slot)
    if record.state.isTerminal && !wasEnded {
      journal?.note(.ended(count: ended.count, head: endedHead))
      ended.append((slot, record.sequence))
    }
  }

  /// Changes the record in a slot.
  package func modify(_ slot: Int, _ change: (inout TaskRecord) -> Void) {
    var record = records[slot]
    change(&record)
    write(slot, record)
  }

  /// Changes what is not stored and does not count: whether it has a handler, whether its id is taken.
  private func touch(_ slot: Int, _ change: (inout TaskRecord) -> Void) {
    stamp += 1
    change(&records[slot])
    records[slot].stamp = stamp
  }

  /// Puts a new record into a free slot; it is not visible yet.
  package func add(_ definition: TaskDefinition, _ state: TaskState, at now: Instant) -> Int {
    journal?.note(.sequence(lastSequence))
    lastSequence += 1
    return add(TaskRecord(definition, sequence: lastSequence, state: state, at: now))
  }

  /// Puts a record into a free slot.
  private func add(_ new: TaskRecord) -> Int {
    var record = new
    record.handler = Int32(roster.find(record.definition.handler) ?? -1)
    record.isPermitted = policy.permits.permits(record.definition.id)
    let slot: Int
    if let free = freeSlots.popLast() {
      slot = free
    } else {
      slot = records.count
      records.append(.vacant)
    }
    write(slot, record)
    return slot
  }

  /// Removes a record; its id shows nothing any more if this was the visible one.
  package func remove(_ slot: Int) {
    let definition = records[slot].definition
    if find(definition.id) == slot {
      journal?.note(.shown(slot, definition))
      visible.remove(definition.id) { records[$0].definition.id }
    }
    setWaiting(behind: slot, [])
    journal?.note(slot, records[slot])
    uncount(slot)
    stamp += 1
    records[slot] = .vacant
    freeSlots.append(slot)
  }

  /// Makes a record the visible one of its id.
  package func show(_ slot: Int) {
    let definition = records[slot].definition
    journal?.note(.shown(find(definition.id), definition))
    records[slot].isTaken = outstanding.contains { $0.id.equals(definition.id) }
    visible.set(definition.id, to: slot) { records[$0].definition.id }
  }

  package func setWaiting(behind slot: Int, _ waiting: [Int]) {
    let old = chains[slot]
    guard old != nil || !waiting.isEmpty else { return }
    journal?.note(.chain(slot, old))
    chains[slot] = waiting.isEmpty ? nil : waiting
  }

  /// Removes every record; numbers go on. The store was emptied before.
  package func removeAll() {
    stamp += 1
    journal?.clear()
    let journal = self.journal
    self.journal = nil
    (records, freeSlots, chains, ended, endedHead) = ([], [], [:], [], 0)
    visible.removeAll()
    taken = PerKind(repeating: 0)
    held = PerKind(repeating: [])
    counts = [UInt64](repeating: 0, count: 7)
    self.journal = journal
  }

  private func count(_ slot: Int) {
    let record = records[slot]
    guard record.sequence != 0 else { return }
    counts[Int(record.state.rawValue)] += 1
    if record.holdsPlace { taken[record.kind] += 1 }
  }

  private func uncount(_ slot: Int) {
    let record = records[slot]
    guard record.sequence != 0 else { return }
    counts[Int(record.state.rawValue)] -= 1
    if record.holdsPlace { taken[record.kind] -= 1 }
  }

  // MARK: The journal

  /// Takes the present call back.
  package func rollBack() {
    guard var journal else { return }
    self.journal = nil
    for step in journal.takeSteps() {
      switch step {
      case .record(let slot, let old):
        uncount(slot)
        let wasVacant = isVacant(slot)
        stamp += 1
        records[slot] = old
        count(slot)
        if old.state == .held { held[old.kind].append((slot, old.sequence)) }
        // Steps are taken back in the opposite order, so it is the slot that was freed last.
        if wasVacant && !isVacant(slot) { freeSlots.removeLast() }
        if !wasVacant && isVacant(slot) { freeSlots.append(slot) }
      case .shown(let slot, let definition):
        if let slot {
          visible.set(definition.id, to: slot) { records[$0].definition.id }
        } else {
          visible.remove(definition.id) { records[$0].definition.id }
        }
      case .chain(let slot, let old): chains[slot] = old
      case .sequence(let old): lastSequence = old
      case .ended(let count, let head):
        ended.removeLast(ended.count - count)
        endedHead = head
      }
    }
    self.journal = journal
  }

  // MARK: Loading

  /// Takes a record from the store; those that wait behind another come after it, in the order of their sequence.
  ///
  /// - Returns: false if it does not fit to those that were taken before.
  package func load(_ record: TaskRecord) -> Bool {
    guard record.sequence > lastSequence else { return false }
    lastSequence = record.sequence
    let head = find(record.definition.id)
    guard record.state == .blocked else {
      // A successor that took its predecessor's place has the later number, but the predecessor is gone.
      guard head == nil else { return false }
      show(add(record))
      return true
    }
    guard let head, records[head].isLive else { return false }
    let slot = add(record)
    setWaiting(behind: head, waiting(behind: head) + [slot])
    return true
  }

  /// Every record was taken: those that ended are looked at in the order of their end.
  package func finishLoading() {
    ended.sort { records[$0.slot].changedAt < records[$1.slot].changedAt }
  }

  /// No record has a greater number than this.
  package func raiseSequence(to sequence: UInt64) { lastSequence = max(lastSequence, sequence) }

  // MARK: Runs that have not come back (C4)

  /// The id of a definition is taken from now on.
  package func take(_ definition: TaskDefinition) {
    outstanding.append(definition)
    if let slot = find(definition.id) { touch(slot) { $0.isTaken = true } }
  }

  /// A run has come back, or was let go.
  package func release(_ definition: TaskDefinition) {
    guard let index = outstanding.firstIndex(where: { $0 === definition }) else { return }
    outstanding.remove(at: index)
    guard !outstanding.contains(where: { $0.id.equals(definition.id) }) else { return }
    if let slot = find(definition.id) { touch(slot) { $0.isTaken = false } }
  }

  // MARK: Handlers (T10)

  /// Adds a handler's name; tasks that name it have a handler from now on.
  ///
  /// - Throws: `alreadyExists`.
  package func addHandler(_ name: UnsafeRawBufferPointer, pushes: Bool) throws(SeleneError) -> Int {
    let number = try roster.add(name, pushes: pushes)
    for slot in slots where !isVacant(slot) && records[slot].definition.handler.equals(name) {
      touch(slot) { $0.handler = Int32(number) }
    }
    return number
  }

  package func findHandler(_ name: UnsafeRawBufferPointer) -> Int? { roster.find(name) }

  /// Its tasks have no handler from now on.
  package func retireHandler(_ number: Int) {
    roster.retire(number)
    for slot in slots where records[slot].handler == Int32(number) { touch(slot) { $0.handler = -1 } }
  }

  package func freeHandler(_ number: Int) { roster.free(number) }

  package func resolveHandler(_ slot: Int) {
    records[slot].handler = Int32(roster.find(records[slot].definition.handler) ?? -1)
  }

  // MARK: Retention (T9)

  /// Removes terminal records that ended before an instant; nil: all of them.
  ///
  /// - Returns: how many.
  package func prune(endedBefore limit: Instant?) -> UInt64 {
    var count: UInt64 = 0
    if endedHead < ended.count { journal?.note(.ended(count: ended.count, head: endedHead)) }
    while endedHead < ended.count {
      let (slot, sequence) = ended[endedHead]
      let record = records.indices.contains(slot) ? records[slot] : .vacant
      let isEnded = record.sequence == sequence && record.state.isTerminal
      if isEnded, let limit, record.changedAt > limit { break }
      if isEnded {
        remove(slot)
        count += 1
      }
      endedHead += 1
    }
    return count
  }

  /// Forgets the ended records that are gone; only after a save, so that they cannot come back.
  package func compact() {
    if endedHead > 1024 && endedHead * 2 > ended.count {
      ended.removeFirst(endedHead)
      endedHead = 0
    }
  }

  // MARK: Invariants

  /// Checks in debug builds what must hold after every call.
  package func checkInvariants() {
    #if DEBUG
      var places = PerKind<UInt32>(repeating: 0)
      var states = [UInt64](repeating: 0, count: 7)
      var waiting = 0
      for slot in slots where !isVacant(slot) {
        let record = records[slot]
        states[Int(record.state.rawValue)] += 1
        if record.holdsPlace { places[record.kind] += 1 }
        if record.state == .blocked { waiting += 1 }
        assert(record.state == .blocked || find(record.definition.id) == slot, "each id shows one record")
        assert((record.run != 0) == (record.state == .running), "a run in flight is a running record")
        assert(record.responseTimes.count <= TaskDefinition.mostResponseTimes)
        assert(record.sequence <= lastSequence)
      }
      for (head, chain) in chains {
        assert(records[head].isLive, "only live records are waited for")
        assert(chain.allSatisfy { records[$0].state == .blocked && records[$0].kind == records[head].kind })
        waiting -= chain.count
      }
      assert(waiting == 0, "every blocked record waits behind another")
      assert(states == counts, "counts by state")
      for kind in Kind.allCases {
        assert(places[kind] == taken[kind], "places")
        assert(freePlaces(kind) == 0 || bestHeld(kind) == nil, "nobody is held while a place is free")
      }
    #endif
  }
}
