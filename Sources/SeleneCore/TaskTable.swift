// All records of a scheduler and what follows from them. The rules stand in the extensions beside this file.

/// Who may run, for what limits: the part of a scheduler's options that the policy needs.
package struct Policy: Sendable {
  package var permits = Permits()
  /// Places for once and periodic tasks; nil is unlimited (T6).
  package var places = PerKind<UInt32?>(repeating: nil)
  /// Hold what finds no place instead of refusing it.
  package var holds = false
  package var backoff = BackoffBounds()
  package var maxInput: UInt64 = 10_240
  package var maxOutput: UInt64 = 1 << 20
  /// How long a task waits at least whose process ended a second time while it ran (V8).
  package var crashPause: Span = 30 * Time.second
  /// Tasks are ranked by the freshness rule (F1).
  package var freshness = false
  /// How long expedited tasks may run in 24 h; `Time.never`: no limit (W10).
  package var expeditedQuota: Span = 10 * Time.minute
  /// Entries of each log of where the time of tasks went (W8).
  package var waitLogEntries: UInt64 = 4_096

  package init() {}
}

/// All records of a scheduler; guarded by the scheduler's lock.
package final class TaskTable {
  package let policy: Policy
  package var generator: Generator
  /// Definitions share what they have in common.
  package var terms = TermsPool()
  /// What takes the present call back, and what the store does not have yet; nil while nothing is stored.
  package var journal: Journal?

  /// The records by slot; `vacant` where the slot is free.
  var records = RecordList()
  var freeSlots: [Int] = []
  /// The visible record of each id.
  var visible = TextIndex()
  /// Slots of the successors that wait behind a record, in order.
  let chains = NumberMap<[Int]>()
  /// By slot what comes after a record (W4).
  let dependents = DependentsList()
  /// Where the tasks that wait are listed.
  let index: TaskIndex
  /// Those of them that have a latest begin, and the first such instant (W9).
  var urgency: Urgency?
  package internal(set) var expiresAt = Time.never
  /// What the runs of expedited ones have used (W10).
  package var expedited: ExpeditedLedger
  /// The kinds that begin no run, everywhere or in a pool, and until when (W13).
  package var pauses = Pauses()
  var tags = TagIndex()
  /// What the handlers' runs took (R8).
  package internal(set) var handlerTimes = HandlerTimesList()
  /// Taken places.
  private var taken = PerKind<UInt32>(repeating: 0)
  private var counts = InlineArray<7, UInt64>(repeating: 0)
  /// Ended records in order of their end, and where those begin that were not looked at yet.
  var ended: [(slot: Int, sequence: UInt64, at: Instant)] = []
  var endedHead = 0
  /// Those that were kept for others (W4) and may go.
  var released: [(slot: Int, sequence: UInt64)] = []
  /// Those that may have ended their process (V7); some may be none any more.
  var suspects: [(slot: Int, sequence: UInt64)] = []
  /// How often something ended for which suspects may have waited, or which waited for a suspect.
  package internal(set) var suspectChanges: UInt64 = 0
  /// Definitions of the runs that have not come back (C4); the runs hold them.
  var outstanding: [Unmanaged<TaskDefinition>] = []
  var roster = HandlerRoster() {
    didSet { known = nil }
  }
  /// Whether a handler is stuck, and the slots of the tasks that were set aside because theirs is (R4).
  var hasStuckHandlers = false
  var aside: [Int] = []
  /// Of those the slots that go back to their lines, or stay aside.
  var returning: [Int] = []
  /// One call has set as many aside as it may, or put as many back.
  package internal(set) var isMoving = false
  /// The terms whose handler was looked for last, and what was found: most tasks of a host share a few.
  var known: (terms: TaskTerms, handler: Int32)?
  /// Where the time of its tasks goes (W8), and the present.
  package let waits: WaitLog
  package var now: Instant = 0
  /// Number of the last change.
  package private(set) var stamp: UInt64 = 0
  package internal(set) var lastSequence: UInt64 = 0
  #if DEBUG
    private var checkedStamp: UInt64 = .max
  #endif
  /// No store has a greater sequence, so that numbers never run out.
  package static let greatestSequence: UInt64 = 1 << 62

  package init(_ policy: Policy, generator: Generator) {
    self.policy = policy
    self.generator = generator
    expedited = ExpeditedLedger(quota: policy.expeditedQuota)
    waits = WaitLog(most: policy.waitLogEntries)
    index = TaskIndex(byFreshness: policy.freshness)
  }

  deinit { records.removeAll() }

  // MARK: Reading

  /// Every slot, free ones included.
  package var slots: Range<Int> { 0..<records.count }

  /// The record in a slot; a field of it is read without a copy.
  package subscript(slot: Int) -> TaskRecord { unsafeAddress { UnsafePointer(records.at(slot)) } }

  /// Looks at a record without a copy.
  @inline(__always)
  package func withRecord<R>(_ slot: Int, _ body: (UnsafePointer<TaskRecord>) -> R) -> R {
    body(UnsafePointer(records.at(slot)))
  }

  /// The number of the record in a slot; 0 if the slot is free.
  package func sequence(_ slot: Int) -> UInt64 { records[slot].sequence }

  package func isVacant(_ slot: Int) -> Bool { records[slot].sequence == 0 }

  /// What a task's next run is expected to take (S5).
  package func estimate(_ slot: Int) -> Span { records[slot].estimate }

  /// The slot of the visible record of an id.
  package func find(_ id: UnsafeRawBufferPointer) -> Int? {
    visible.find(id) { records[$0].definition.id }
  }

  func find(_ id: UnsafeRawBufferPointer, _ hash: UInt32) -> Int? {
    visible.find(id, hash) { records[$0].definition.id }
  }

  /// The slots that wait behind a record, in order.
  package func waiting(behind slot: Int) -> [Int] { chains.isEmpty ? [] : chains[UInt64(slot) + 1] ?? [] }

  /// How many records stand in a state.
  package func count(_ state: TaskState) -> UInt64 { counts[Int(state.rawValue)] }

  package func freePlaces(_ kind: Kind) -> UInt32 {
    guard let limit = policy.places[kind] else { return .max }
    return limit > taken[kind] ? limit - taken[kind] : 0
  }

  /// S1 without the time, also for what had its run of a rolling window or whose group has no room.
  package func isEligible(_ slot: Int, _ offer: Offer) -> Bool {
    guard !isStuck(handler: records[slot].handler), canRunNow(records.at(slot)) else { return false }
    let record = records.at(slot)
    return offer.kinds.contains(record.pointee.traits.kind) && record.pointee.needs.isSubset(of: offer.satisfied)
      && roster.suits(Int(record.pointee.handler), offer)
  }

  /// The same, and its group has room.
  package func isRunnable(_ slot: Int, _ offer: Offer) -> Bool {
    isEligible(slot, offer) && (group(of: slot).map { $0.isOpen } ?? true)
  }

  /// The group of a record, or nil.
  package func group(of slot: Int) -> TaskGroup? {
    records.at(slot).pointee.traits.isGrouped ? records.at(slot).pointee.definition.group : nil
  }

  // MARK: Writing: every change of a record goes through these

  /// Changes the record in a slot and derives what follows from its state; its definition stays, or `redefine` follows.
  package func modify(_ slot: Int, _ change: (inout TaskRecord) -> Void) {
    stamp += 1
    note(slot)
    leave(slot)
    let record = records.at(slot)
    let wasEnded = record.pointee.state.isTerminal
    change(&record.pointee)
    record.pointee.stamp = stamp
    enter(slot)
    if record.pointee.state.isTerminal && !wasEnded {
      noteEnd(slot)
      if !dependents.isEmpty && !holdsOthers(slot) { disconnect(slot, from: records[slot].definition.after) }
    }
  }

  /// The same; notes what that means for its waiting.
  func step(_ slot: Int, always: Bool = false, at now: Instant, _ change: (inout TaskRecord) -> Void) {
    modify(slot) { $0.step(at: now, always: always, change) }
    stampTrail(slot)
  }

  @inline(__always)
  func stampTrail(_ slot: Int) { if records.at(slot).hasTrail { records[slot].stampTrail() } }

  /// A record got another definition in place of an old one.
  func redefine(_ slot: Int, from old: TaskDefinition) { retag(slot, old, records[slot].definition, stays: true) }

  /// Changes what is not stored and does not count: whether it has a handler, whether its id is taken.
  @_optimize(speed)
  func touch(_ slot: Int, _ change: (inout TaskRecord) -> Void) {
    stamp += 1
    unlink(slot)
    change(&records[slot])
    records[slot].stamp = stamp
    link(slot)
  }

  /// Puts a new record into a free slot; it is not visible yet.
  ///
  /// - Parameter isMoved: its first begin is moved by its jitter (W11); not if it waits for another task or is over, or if
  ///   another begin takes the place of this one.
  @_optimize(speed)
  package func add(_ definition: TaskDefinition, _ state: TaskState, at now: Instant, isMoved: Bool = true) -> Int {
    journal?.note(sequence: lastSequence)
    lastSequence += 1
    var record = TaskRecord(
      definition, sequence: lastSequence, state: state, expected: expected(of: definition), at: now)
    if isMoved && definition.jitter > 0 && (state == .enqueued || state == .held) {
      record.jitterFirst(using: &generator)
    }
    return add(record)
  }

  /// Puts a record into a free slot.
  @_optimize(speed)
  func add(_ new: consuming TaskRecord) -> Int {
    stamp += 1
    new.stamp = stamp
    new.isUnsaved = journal != nil
    new.handler = handlerNumber(new.definition)
    new.isPermitted = policy.permits.permits(new.definition.id)
    if policy.freshness { new.rank(byFreshness: true) }
    let slot: Int
    if let free = freeSlots.popLast() {
      slot = free
      if records[slot].isUnsaved { journal?.note(slot, records[slot]) } else { journal?.noteNew(slot) }
      records[slot] = new
    } else {
      slot = records.count
      records.append(new)
      journal?.noteNew(slot)
    }
    if records[slot].definition.tagCount > 0 { retag(slot, nil, records[slot].definition) }
    enter(slot)
    if records[slot].state.isTerminal { noteEnd(slot) }
    return slot
  }

  /// Removes a record; its id shows nothing any more if this was the visible one.
  package func remove(_ slot: Int) {
    let definition = records[slot].definition
    if find(definition.id) == slot {
      journal?.note(.shown(slot, slot))
      visible.remove(definition.id) { records[$0].definition.id }
    }
    setWaiting(behind: slot, [])
    if !dependents.isEmpty {
      if holdsOthers(slot) { disconnect(slot, from: definition.after) }
      forgetDependents(of: slot)
    }
    note(slot)
    leave(slot)
    retag(slot, definition, nil)
    stamp += 1
    records[slot] = .vacant
    records[slot].isUnsaved = journal != nil
    freeSlots.append(slot)
  }

  /// Makes a record the visible one of its id.
  ///
  /// - Parameter hash: of the id, if it shows nothing yet.
  package func show(_ slot: Int, firstOf hash: UInt32? = nil) {
    let definition = records[slot].definition
    if !outstanding.isEmpty && isOutstanding(definition.id) { showTaken(slot) }
    var old: Int?
    if let hash {
      visible.add(hash, slot)
    } else {
      old = visible.set(definition.id, to: slot) { records[$0].definition.id }
    }
    if journal != nil { journal?.note(.shown(old, slot)) }
  }

  /// An earlier run of its id has not come back, which its instants do not tell.
  @inline(never)
  private func showTaken(_ slot: Int) {
    guard records[slot].isLive else { return touch(slot) { $0.isTaken = true } }
    step(slot, at: now) { $0.isTaken = true }
  }

  package func setWaiting(behind slot: Int, _ waiting: [Int]) {
    let old = chains[UInt64(slot) + 1]
    guard old != nil || !waiting.isEmpty else { return }
    journal?.note(.chain(slot, old))
    chains[UInt64(slot) + 1] = waiting.isEmpty ? nil : waiting
  }

  /// No stamp from now on is lower. A file may say anything: no table gets as far as the limit.
  func raiseStamp(to least: UInt64) {
    if least < 1 << 62 { stamp = max(stamp, least) }
  }

  /// Puts back what a slot had before.
  func restore(_ slot: Int, _ old: TaskRecord) {
    let definition = isVacant(slot) ? nil : records[slot].definition
    let sequence = sequence(slot)
    leave(slot)
    stamp += 1
    records[slot] = old
    records[slot].place = IndexPlace()
    records[slot].marks.subtract(.listed)
    let restored = isVacant(slot) ? nil : old.definition
    if definition !== restored { retag(slot, definition, restored, stays: sequence == old.sequence) }
    enter(slot)
  }

  /// Removes every record; numbers go on. The store was emptied before.
  package func removeAll() {
    stamp += 1
    journal?.clear()
    records.removeAll()
    index.removeAll()
    (urgency, expiresAt) = (nil, Time.never)
    tags.removeAll()
    handlerTimes.removeAll()
    chains.removeAll()
    dependents.removeAll()
    (freeSlots, ended, endedHead, released) = ([], [], 0, [])
    (aside, returning, suspects) = ([], [], [])
    visible.removeAll()
    taken = PerKind(repeating: 0)
    counts = InlineArray(repeating: 0)
    terms.groups.removeTasks()
  }

  /// Something was changed that no record shows: whoever follows the stamp looks again.
  func noteOpening() { stamp += 1 }

  /// The record in a slot is about to change.
  @inline(__always)
  private func note(_ slot: Int) { if journal != nil { noteInJournal(slot) } }

  @inline(never)
  private func noteInJournal(_ slot: Int) {
    journal?.note(slot, records[slot])
    records[slot].isUnsaved = true
  }

  // MARK: What follows from a record

  /// The record in a slot counts and waits from now on.
  private func enter(_ slot: Int) {
    count(slot, by: 1)
    link(slot)
  }

  private func leave(_ slot: Int) {
    unlink(slot)
    count(slot, by: -1)
  }

  @_optimize(speed)
  private func count(_ slot: Int, by change: Int) {
    let record = records.at(slot)
    guard record.pointee.sequence != 0 else { return }
    let state = Int(record.pointee.state.rawValue)
    counts[state] = counts[state] &+ UInt64(bitPattern: Int64(change))
    if record.pointee.traits.isGrouped { countInGroup(record, by: change) }
    guard record.holdsPlace else { return }
    let kind = record.kind
    taken[kind] = taken[kind] &+ UInt32(bitPattern: Int32(change))
  }

  @inline(never)
  private func countInGroup(_ record: UnsafeMutablePointer<TaskRecord>, by change: Int) {
    guard record.isWaiting, let group = record.pointee.definition.group else { return }
    group.waiting = group.waiting &+ UInt64(bitPattern: Int64(change))
  }

  /// The record in a slot carries the tags of another definition; of one that stays, those that both have stay, too.
  private func retag(_ slot: Int, _ old: TaskDefinition?, _ new: TaskDefinition?, stays: Bool = false) {
    let sequence = records[slot].sequence
    if let old {
      for tag in 0..<old.tagCount where !stays || new?.carries(tag: old.tag(tag)) != true { tags.remove(old.tag(tag)) }
    }
    if let new {
      for tag in 0..<new.tagCount where !stays || old?.carries(tag: new.tag(tag)) != true {
        tags.add(new.tag(tag), slot, sequence) { self.carries($0, $1, $2) }
      }
    }
  }

  private func noteEnd(_ slot: Int) {
    journal?.note(.ended(count: ended.count, head: endedHead))
    ended.append((slot, records[slot].sequence, records[slot].changedAt))
  }

  // MARK: Invariants

  /// Checks in debug builds what must hold after every call.
  package func checkInvariants() {
    #if DEBUG
      guard checkedStamp != stamp else { return }
      checkedStamp = stamp
      var places = PerKind<UInt32>(repeating: 0)
      var states = [UInt64](repeating: 0, count: 7)
      var waiting = 0
      var naming: [Int] = []
      var waitingInGroups: UInt64 = 0
      for slot in slots where !isVacant(slot) {
        // Where it is: a copy for each would make the tests wait for this.
        let record = records.at(slot)
        let state = record.pointee.state
        let standing = record.pointee.place.standing
        states[Int(state.rawValue)] += 1
        if record.holdsPlace { places[record.kind] += 1 }
        if isSuccessor(slot) { waiting += 1 }
        if holdsOthers(slot) && record.pointee.definition.afterCount > 0 { naming.append(slot) }
        assert(state != .blocked || isSuccessor(slot) || waitsFor(slot) != 0, "a blocked record waits for another")
        if record.isWaiting && record.pointee.definition.group != nil { waitingInGroups += 1 }
        assert(isSuccessor(slot) || find(record.pointee.definition.id) == slot, "each id shows one record")
        assert((record.run != 0) == (state == .running), "a run in flight is a running record")
        assert(record.pointee.sequence <= lastSequence)
        assert((standing == .held) == (state == .held), "a held task waits for a place")
        assert((standing == .due || standing == .ranked) == canRun(record), "a task that can run is in the index")
        let isLimited = record.pointee.definition.latestBegin > 0
        let (isRanked, isWaiting) = (standing == .ranked, state == .enqueued || state == .held)
        assert(record.pointee.marks.contains(.limited) == isLimited)
        assert(record.pointee.marks.contains(.expiring) == (isLimited && isWaiting), "what waits can be too late")
        assert(!record.pointee.marks.isDisjoint(with: [.ripening, .urgent]) == (isLimited && isRanked))
        let isExpedited = record.pointee.definition.isExpedited
        assert(record.pointee.marks.contains(.expedited) == isExpedited)
        assert(record.pointee.marks.contains(.ahead) == (isExpedited && (isRanked || standing == .due)))
      }
      for head in slots {
        let chain = self.waiting(behind: head)
        assert(chain.isEmpty || records[head].isLive, "only live records are waited for")
        assert(chain.allSatisfy { records[$0].state == .blocked && records[$0].kind == records[head].kind })
        waiting -= chain.count
      }
      assert(waiting == 0, "every successor waits behind another")
      var edges = 0
      for slot in naming {
        for predecessor in records[slot].definition.after {
          guard let other = find(predecessor.id), records[other].sequence == predecessor.sequence else { continue }
          assert(predecessor.sequence != records[slot].sequence, "an edge leads to another record")
          assert(dependents[other]?.all.contains { $0.slot == slot } == true, "who names a record is known")
          edges += 1
        }
      }
      dependents.forEach { edges -= $0.count }
      assert(edges == 0, "nobody else is")
      assert(terms.groups.inUse.reduce(0) { $0 + $1.waiting } == waitingInGroups, "tasks of groups that wait")
      assert(states.indices.allSatisfy { states[$0] == counts[$0] }, "counts by state")
      for kind in Kind.allCases {
        assert(places[kind] == taken[kind], "places")
        assert(freePlaces(kind) == 0 || index.bestHeld(kind) == nil, "no task is held while a place is free")
      }
    #endif
  }
}
