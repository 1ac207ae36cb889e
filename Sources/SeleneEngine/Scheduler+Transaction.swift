// One transaction: what a call changes is in the store when it returns, or was never changed (D2).
//
// While the store is at work no thread holds the lock for it (D7). Other changes wait until it is done; questions do not, nor does what
// time and the outcomes of runs do at once. What that does to records is owed to them until then.
//
// A call changes records, pace, generator and what the governor keeps within a transaction; what cannot be undone, such
// as stopping a run or telling the observer, comes behind it.

import CPlatform
import SeleneCore
import SeleneGovernor

/// What makes changes durable. Guarded by the scheduler's lock.
struct Saver {
  let store: Store
  /// The store refused something that is still to be kept (D2).
  var mustSaveAgain = false
  /// The store is at work without the lock; records and journal do not change.
  var isAtWork: Bool { worker != 0 }
  /// The thread that runs the store; 0: none.
  fileprivate var worker: UInt64 = 0
  fileprivate var owed: [Owed] = []
  /// A cycle was reported whose end is not stored.
  var owesSave = false
  /// Why the last save of a closing scheduler failed.
  var closingError: SeleneError?
  /// Whether a transaction is open, and what it found of the governor if it has changed that.
  fileprivate var isOpen = false
  fileprivate var governance: Governance?
  /// The run that the open transaction counts against the quota of expedited tasks, or 0.
  fileprivate var expedited: UInt64 = 0

  init(_ store: Store) { self.store = store }

  /// Whether this thread runs the store, which means that its signal handler calls.
  @inline(__always)
  func isAtWork(here thread: @autoclosure () -> UInt64) -> Bool { isAtWork && worker == thread() }
}

/// What is done once the store is no longer at work.
enum Owed {
  /// A run was decided.
  case outcome(Run, Outcome, retryDelay: Span?, until: Instant?, because: Bytes?, at: Instant)
  /// A run may have come back.
  case comeBack(Run)
  /// The last use of a handler has ended.
  case handler(Handler)
  /// A cycle has ended.
  case books(Cycle, at: Instant)
}

/// A save that a library thread makes for one who waits for it no longer than it can.
final class HandedSave {
  /// Whether the store took it, once that is known.
  var isStored: Bool?
}

/// What a transaction found, besides the records, which the journal has, and the governor.
private struct Found {
  let pace: PerKind<Pace>
  let generator: Generator
  let writer: TraceWriter?
  /// How many changes of stored runs waited for a commit.
  let runChanges: Int
  let isUnsaved: Bool
}

extension Scheduler {
  var store: Store { saver.store }

  /// Makes durable what a body changes, together with what was accepted before; takes all of it back if the body or the
  /// store refuses.
  ///
  /// In memory nothing refuses behind a change: there a body throws before its first one.
  ///
  /// - Throws: what the body throws, or a status of stores; then nothing has changed.
  @inline(__always)
  func transaction<R>(at now: Instant, _ body: () throws(SeleneError) -> R) throws(SeleneError) -> R {
    guard saver.store.isDurable else {
      let result = try body()
      table.compact()
      return result
    }
    awaitStore()
    // Another thread has closed it meanwhile: nothing can be kept any more.
    guard !isClosing else { throw saver.closingError ?? .closedHandle }
    let found = open()
    let result: R
    do throws(SeleneError) {
      result = try body()
    } catch {
      takeBack(found, at: now)
      throw error
    }
    try write(found, at: now)
    return result
  }

  /// A transaction whose changes are told behind it, and whose stops are made.
  @inline(__always)
  func change<R>(
    at now: Instant, _ body: (inout Changes) throws(SeleneError) -> R
  ) throws(SeleneError) -> R {
    var changes = newChanges()
    let result = try transaction(at: now) { () throws(SeleneError) in try body(&changes) }
    publish(changes, at: now)
    return result
  }

  /// Makes durable what was accepted.
  ///
  /// - Throws: a status of stores, also where it was closed without having kept it.
  func save(at now: Instant) throws(SeleneError) {
    do throws(SeleneError) {
      try transaction(at: now) {}
    } catch {
      guard isClosing else { throw error }
      // The close has kept it, or says why not.
      if let refusal = saver.closingError { throw refusal }
    }
  }

  /// The present call stands; the next transaction makes it durable (D2: completions, stops).
  func accept() { table.accept() }

  /// What the governor keeps is about to change.
  func keepGovernance() {
    if saver.isOpen && saver.governance == nil { saver.governance = governance }
  }

  /// A run that begins with the present transaction counts against the quota of expedited tasks (W10).
  @inline(never)
  func countExpedited(_ run: UInt64, at now: Instant) {
    table.expedited.begin(run, at: now)
    governance.isUnsaved = true
    if saver.isOpen { saver.expedited = run }
  }

  @inline(never)
  private func open() -> Found {
    assert(!saver.isOpen, "one transaction at a time")
    saver.isOpen = true
    return Found(
      pace: pace, generator: table.generator, writer: governance.recording?.writer,
      runChanges: adoption.unsaved.count, isUnsaved: governance.isUnsaved)
  }

  /// - Parameter asked: how many changes of stored runs the store was asked to keep; those behind them came while it was at work.
  @inline(never)
  private func takeBack(_ found: Found, asked: Int? = nil, at now: Instant) {
    table.rollBack()
    pace = found.pace
    table.generator = found.generator
    adoption.unsaved.removeSubrange(found.runChanges..<(asked ?? adoption.unsaved.count))
    // Expedited runs may have ended while the store was at work: of the quota only what is this transaction's is taken back.
    if saver.expedited != 0 {
      table.expedited.drop(saver.expedited)
      noteQuota(at: now)
    }
    let hasMore = asked != nil && governance.isUnsaved
    if let governance = saver.governance { self.governance = governance }
    governance.isUnsaved = found.isUnsaved || hasMore
    if let writer = found.writer { governance.recording?.writer = writer }
    close()
  }

  private func close() { (saver.isOpen, saver.governance, saver.expedited) = (false, nil, 0) }

  @inline(never)
  private func write(_ found: Found, at now: Instant) throws(SeleneError) {
    let (store, table) = (store, table)
    let commits = store.commits
    let (state, books) = (storedState(at: now), unsavedBooks(at: now))
    // Without anything to write the lock stays: who waits would be woken, and look for what nobody has changed.
    guard books != nil || !adoption.unsaved.isEmpty || store.hasChanges(table, state) else { return isWritten() }
    if table.journal?.isEmpty == false || books != nil { store.waits = table.waits.pack(at: now, isLast: false) }
    let asked = adoption.unsaved.count
    store.runs = adoption.unsaved
    // What changes while the store is at work is unsaved behind it.
    governance.isUnsaved = false
    do throws(SeleneError) {
      try withoutLock { () throws(SeleneError) in try store.save(table, state, books, isLast: false) }
    } catch {
      store.runs = []
      takeBack(found, asked: asked, at: now)
      saver.mustSaveAgain =
        table.journal?.isEmpty == false || governance.isUnsaved || !adoption.unsaved.isEmpty
      troubleBegins(.store, error, at: now)
      payBack()
      throw error
    }
    store.runs = []
    adoption.unsaved.removeFirst(asked)
    if let kept = store.keptWaits {
      table.waits.noteKept(kept)
      store.keptWaits = nil
    }
    if store.commits != commits { troubleEnds(.store, at: now) }
    isWritten()
  }

  /// The store has all there is.
  private func isWritten() {
    close()
    saver.mustSaveAgain = false
    table.noteSaved()
    table.compact()
    payBack()
  }

  /// The transaction of what removes every record: the store erases first, and the body, which nothing can take back, follows.
  ///
  /// - Throws: a status of stores; then nothing has changed.
  func erase(_ state: StoredState, _ books: StoredBooks, at now: Instant, _ body: () -> Void) throws(SeleneError) {
    guard saver.store.isDurable else { return body() }
    awaitStore()
    guard !isClosing else { throw .closedHandle }
    let store = store
    do throws(SeleneError) {
      try withoutLock { () throws(SeleneError) in try store.erase(state, books) }
    } catch {
      troubleBegins(.store, error, at: now)
      payBack()
      throw error
    }
    body()
    adoption.unsaved = []
    (saver.mustSaveAgain, governance.isUnsaved) = (false, false)
    troubleEnds(.store, at: now)
    payBack()
  }

  // MARK: The store at work (D7)

  /// Lets the store work without the lock. The caller sees to what it answers, then pays back.
  ///
  /// - Parameter body: has its own references to the store and to what the store reads, since others change what it would find
  ///   here. Records and journal stay as they are until it is done.
  func withoutLock<R>(_ body: () throws(SeleneError) -> R) throws(SeleneError) -> R {
    // While it is opened or closed there is none that could ask.
    guard slot.scheduler === self && !isClosing else { return try body() }
    saver.worker = platform_thread_number()
    unlock()
    defer {
      lock()
      saver.worker = 0
      wake()
    }
    return try body()
  }

  /// Waits until the store is not at work: what comes now changes records. Called and left with the lock held.
  @inline(__always)
  func awaitStore() { if saver.isAtWork { awaitWork() } }

  @inline(never)
  private func awaitWork() { while saver.isAtWork { slot.monitor.wait(Time.second) } }

  func owe(_ debt: Owed) { saver.owed.append(debt) }

  /// Does what had to wait for the store.
  func payBack() {
    guard !saver.owed.isEmpty || saver.owesSave else { return }
    let debts = saver.owed
    saver.owed = []
    for debt in debts {
      switch debt {
      case .outcome(let run, let outcome, let retryDelay, let next, let message, let at):
        settle(run, outcome, retryDelay: retryDelay, until: next, because: message, at: at)
      case .comeBack(let run): comeBackIfDone(run)
      case .handler(let handler): finish(handler)
      case .books(let cycle, let at): book(endOf: cycle, at: at)
      }
    }
    // What time does to records has waited, too.
    nextDue = .min
    guard saver.owesSave else { return }
    saver.owesSave = false
    try? save(at: clock.last)
  }

  // MARK: The end of a cycle

  /// Makes durable what a cycle did. Where a library thread can do it, the cycle's report waits for it until the deadline at
  /// most (D7). Called and left with the lock held, which is free meanwhile.
  ///
  /// - Returns: whether nothing was refused by then.
  func saveEnd(of cycle: Cycle, at now: Instant) -> Bool {
    guard let handed = handOverSave(for: cycle, at: now) else { return (try? save(at: now)) != nil }
    var now = now
    while handed.isStored == nil && now <= cycle.time.deadline {
      pause(until: cycle.time.deadline.adding(1), at: now)
      now = tick()
    }
    return handed.isStored ?? true
  }

  /// Gives the save that the end of a cycle needs to a library thread; nil where there is nothing to save, or no thread for it.
  private func handOverSave(for cycle: Cycle, at now: Instant) -> HandedSave? {
    guard saver.store.isDurable, clock.wakes, options.hasThreads, !isClosing,
      table.journal?.isEmpty == false || governance.isUnsaved || saver.isAtWork,
      // Lanes are there so that a host needs no threads of the library: for them none is started before it is late.
      cycle.mode == .pushed || (cycle.mode == .lanes && (workers.alive > 0 || now > cycle.time.deadline)),
      (try? ensureThreads(1)) != nil
    else { return nil }
    let handed = HandedSave()
    submit(.save(handed))
    return handed
  }

  /// On the library thread. Called and left with the lock held.
  func save(_ handed: HandedSave) {
    handed.isStored = (try? save(at: tick())) != nil
    wake()
  }

  /// The governor's books, if the store has others.
  func unsavedBooks(at now: Instant) -> StoredBooks? {
    guard governance.isUnsaved else { return nil }
    var books = governance.books(at: now)
    books.expedited = table.expedited.numbers
    return books
  }

  func storedState(at now: Instant) -> StoredState {
    StoredState(
      life: lifeNumber, lastSequence: table.lastSequence, lastSeen: now, lastRefresh: pace.refresh.lastBegin,
      lastProcessing: pace.processing.lastBegin, generator: table.generator.state)
  }
}
