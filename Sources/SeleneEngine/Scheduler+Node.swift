// A scheduler whose tasks come from a fleet (N4, N21, N22): what its windows leave is offered to its node, what the node
// claims is a task here until its run is over, and the end of the run is told.

import CPlatform
import SeleneCore
import SeleneNode

extension Scheduler {
  // MARK: Open and close

  /// Opens the node of a scheduler in memory.
  ///
  /// - Throws: `invalidArgument`, `unsupported` (it has a store), `busy` (a node is open), `exhausted`.
  package func openNode(_ draft: NodeDraft, at moment: Moment) throws(SeleneError) -> SchedulerNode {
    guard node == nil else { throw SeleneError(.busy, "a node is open; close it first") }
    guard !store.isDurable else {
      throw SeleneError(
        .unsupported,
        "the scheduler has a store; one whose tasks come from a fleet, which keeps them, is opened without a path")
    }
    try Self.check(draft.schema, "schema", atMost: 63)
    try Self.check(draft.name, "name", atMost: Identifier.longest)
    for queue in draft.queues { try Identifier.check(queue, "queues") }
    for label in draft.labels { try Identifier.check(label, "labels") }
    var options = draft.options
    // Nodes that are opened at one instant do not come back at one.
    options.seed = UInt64(bitPattern: platform_wall_clock()) ^ (life << 32)
    try options.check(units)
    let machine = FleetNode(options)
    let statements = NodeStatements(
      schema: Bytes(copying: draft.schema), name: Bytes(copying: draft.name), version: Bytes(copying: draft.version),
      queues: draft.queues.map { Bytes(copying: $0) }, relaxed: options.relaxed)
    let node = SchedulerNode(
      machine, statements, labels: draft.labels.map { Bytes(copying: $0) },
      try Watch.open(clock.host == nil ? .time : .pokes))
    self.node = node
    for pool in crews.pools { pool.room = PoolRoom() }
    // Who opened it steps first.
    node.watch.poke()
    log(.info, "a node of a fleet was opened")
    return node
  }

  private static func check(
    _ text: UnsafeRawBufferPointer, _ field: Literal, atMost longest: Int
  ) throws(SeleneError) {
    try Identifier.check(text, field)
    guard text.count <= longest else { throw .range(field, text.count, 1, Int64(longest), .bytes) }
  }

  /// It takes nothing more, gives back what was not begun, and says bye once its runs have come back.
  ///
  /// - Throws: `invalidArgument`, `unsupported` without a node.
  package func leaveFleet(grace: Span, at moment: Moment) throws(SeleneError) {
    try units.check(grace: grace)
    try openedNode().machine.close(at: moment.now, grace: grace)
  }

  /// The scheduler has no node any more; what its incarnations still have, others take when the lease is over.
  package func closeNode(at now: Instant) {
    guard let node else { return }
    for task in node.claimed {
      // Nobody hears how it ends, and its task is not to be tried again here.
      if task.run != 0, let run = runs[task.run], run.isOpen { stop(run, .shutdown, at: now) }
      forget(task, at: now)
    }
    self.node = nil
    slot.keep(node.lent)
    node.lent = nil
    node.watch.poke()
    troubleEnds(.fleet, at: now)
    troubleEnds(.fleetClock, at: now)
    lookAgainInLanes()
    log(.info, "the node was closed")
  }

  /// - Throws: `unsupported` without a node.
  func openedNode() throws(SeleneError) -> SchedulerNode {
    guard let node else { throw SeleneError(.unsupported, "no node of selene_node_open is open") }
    return node
  }

  // MARK: What its driver calls

  /// The next call to make, if one is due.
  ///
  /// - Throws: `unsupported` without a node.
  package func stepNode(at moment: Moment) throws(SeleneError) -> (
    node: SchedulerNode, request: NodeRequest?, wakeAt: Instant
  ) {
    let node = try openedNode()
    if let probe = moment.probe { absorb(probe.readings, at: moment.now) }
    _ = node.watch.drain()
    // What follows from time is done first, so that a window that is over is offered no more.
    followNode(node)
    let request = node.machine.step(at: clock.last)
    followNode(node)
    node.sleep(at: clock.last)
    return (node, request, node.nextWake)
  }

  /// The call of a number was answered by these rows.
  ///
  /// - Throws: `unsupported` without a node.
  package func answer(_ number: UInt64, rows: [[NodeValue]], at moment: Moment) throws(SeleneError) {
    let node = try openedNode()
    // What was said of an earlier call is not why the next one has no answer.
    node.refusal = nil
    node.machine.answered(number, rows: rows, at: moment.now)
    table.terms.ask(node.machine.constraints)
  }

  /// The call of a number has no answer.
  ///
  /// - Parameter message: what the database, or its library, said of it.
  /// - Throws: `unsupported` without a node.
  package func noAnswer(
    _ number: UInt64, _ failure: NodeFailure, _ message: UnsafeRawBufferPointer, at moment: Moment
  ) throws(SeleneError) {
    let node = try openedNode()
    node.refusal = message.count > 0 ? Bytes(copying: message) : nil
    node.machine.failed(number, failure, at: moment.now)
  }

  /// Something is due in the fleet (N28).
  ///
  /// - Throws: `unsupported` without a node.
  package func hintNode(at moment: Moment) throws(SeleneError) { try openedNode().machine.hint(at: moment.now) }

  /// - Throws: `unsupported` without a node.
  package func standingOfNode() throws(SeleneError) -> NodeStanding { try openedNode().machine.standing }

  /// Waits until a step is due, up to a timeout; whether it is.
  ///
  /// - Throws: `unsupported` without a node, also if it is closed meanwhile, `reentrant`.
  package static func awaitNode(_ handle: UInt64, timeout: Span) throws(SeleneError) -> Bool {
    let node = try enter(handle, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      if timeout > 0 { try scheduler.refuseInsideCallback("waiting for the node") }
      return try scheduler.openedNode()
    }
    guard node.watch.wait(timeout) else { return false }
    return try enter(handle, isQuestion: true) { (scheduler, _) throws(SeleneError) in
      guard scheduler.node === node else { throw SeleneError(.unsupported, "the node was closed") }
      return true
    }
  }

  // MARK: Runs

  /// What a run is in the fleet (N9).
  ///
  /// - Throws: `invalidHandle`, `alreadyCompleted`, `staleRun`, `unsupported` for a run of a task that is none of a fleet.
  package func key(_ number: UInt64) throws(SeleneError) -> RunKey {
    let (node, place) = try claimed(number)
    return node.claimed[place].key
  }

  /// The host says in a transaction of its own how a run ends (N16).
  ///
  /// - Throws: as `key`.
  package func letHostDecide(_ number: UInt64) throws(SeleneError) {
    let (node, place) = try claimed(number)
    node.claimed[place].isDecidedByHost = true
  }

  private func claimed(_ number: UInt64) throws(SeleneError) -> (node: SchedulerNode, place: Int) {
    _ = try runs.find(number)
    guard let node, let place = node.place(ofRun: number) else {
      throw SeleneError(.unsupported, "run", "its task does not belong to a fleet")
    }
    return (node, place)
  }

  /// A record was dispatched: is it one of the node's?
  func noteDispatched(_ run: Run, for node: SchedulerNode) {
    let sequence = table.sequence(run.slot)
    guard let place = node.claimed.firstIndex(where: { $0.slot == run.slot && $0.sequence == sequence }) else { return }
    node.claimed[place].run = Token(rawValue: run.token).number
    node.machine.began(node.claimed[place].key.run, at: clock.last)
  }

  /// A run has an outcome that counts.
  func noteOutcome(
    of run: Run, _ outcome: Outcome, retryDelay: Span?, because message: Bytes?, for node: SchedulerNode,
    at now: Instant
  ) {
    let number = Token(rawValue: run.token).number
    guard let place = node.place(ofRun: number) else { return }
    let response = max(0, now.subtracting(run.startedAt))
    func failed(_ why: Detail) -> NodeEnd {
      .decided(NodeDecision(failedAfter: response, because: why.bytes.withUnsafeBytes { Bytes(copying: $0) }))
    }
    guard !node.claimed[place].isDecidedByHost || !outcome.isSuccess else {
      // If that transaction stands, this is stale.
      node.claimed[place].end = failed("the transaction that was to say how it ended did not commit")
      return
    }
    do throws(SeleneError) {
      node.claimed[place].end = .decided(
        try NodeDecision(
          outcome, response: response, delay: outcome == .failed ? retryDelay : nil,
          failure: outcome.isSuccess ? nil : message, result: outcome.isSuccess ? outputs[number]?.kept : nil))
    } catch {
      node.claimed[place].end = failed(error.detail)
    }
  }

  /// A run is over: its task is none of this scheduler's any more. One that was stopped is told of when it has come back, since
  /// its handler may be at work until then.
  func noteClosed(_ run: Run, _ outcome: Outcome, for node: SchedulerNode, at now: Instant) {
    guard let place = node.place(ofRun: Token(rawValue: run.token).number) else { return }
    let task = node.claimed[place]
    forget(task, at: now)
    guard outcome != .stopped else { return }
    node.claimed.remove(at: place)
    node.machine.ended(task.key.run, task.end ?? .returned, at: now)
  }

  /// The process that had taken a run has ended (L9).
  func noteInterrupted(_ run: Run, because message: Bytes, for node: SchedulerNode, at now: Instant) {
    guard let place = node.place(ofRun: Token(rawValue: run.token).number) else { return }
    node.claimed[place].end = .decided(
      NodeDecision(interruptedAfter: max(0, now.subtracting(run.startedAt)), because: message))
  }

  /// A run has come back, or was let go.
  func noteBack(_ run: Run, for node: SchedulerNode) {
    guard let place = node.place(ofRun: Token(rawValue: run.token).number) else { return }
    let task = node.claimed.remove(at: place)
    node.machine.ended(task.key.run, task.end ?? .returned, at: clock.last)
  }

  private func hasRecord(_ task: ClaimedTask) -> Bool {
    table.slots.contains(task.slot) && table.sequence(task.slot) == task.sequence
  }

  /// One that waits for a lost run of its task has no record yet.
  private func isPending(_ task: ClaimedTask) -> Bool { task.slot < 0 || (hasRecord(task) && table[task.slot].isLive) }

  private func forget(_ task: ClaimedTask, at now: Instant) {
    guard hasRecord(task) else { return }
    table.forget(task.slot, at: now)
    accept()
  }

  // MARK: What others ask of it

  /// Tasks of a fleet are registered, changed and cancelled in the fleet: here it would be lost, or come back.
  ///
  /// - Throws: `unsupported` with a node.
  package func refuseToChangeTasks() throws(SeleneError) {
    guard node == nil else {
      throw SeleneError(
        .unsupported, "task", "those here come from a fleet, where they are registered, changed and cancelled")
    }
  }

  /// Whether a record is what a task of the fleet is here.
  func isOfFleet(_ slot: Int) -> Bool {
    guard let node else { return false }
    return node.claimed.contains { $0.slot == slot && $0.sequence == table.sequence(slot) }
  }

  /// Of a fleet's tasks a scheduler knows those alone that it has claimed.
  ///
  /// - Throws: `notFound` with a node if it has none of that id.
  func refuseIfElsewhere(_ id: UnsafeRawBufferPointer) throws(SeleneError) {
    guard node != nil, table.find(id) == nil else { return }
    throw SeleneError(
      .notFound, "id", name: id,
      troubles.isOn(.fleet)
        ? "is none of the tasks that this process has of its fleet, whose database does not answer, or refuses it"
        : "is none of the tasks that this process has of its fleet; the fleet explains the others")
  }

  // MARK: Following

  /// Each call leaves with the node knowing what there is room for, and with what it wants done.
  @inline(never)
  func followNode(_ node: SchedulerNode) {
    guard !isClosing else { return }
    let now = clock.last
    let wasLooking = node.machine.isLooking
    let room = room(for: node, at: now)
    let isOther = room != node.offered
    if isOther {
      node.offered = room
      if let room { node.machine.offer(nodeRoom(room, node), at: now) } else { node.machine.withdraw(at: now) }
    }
    takeAwaiting(node, at: now)
    giveBackWhatWaits(node, isOther, at: now)
    act(for: node, at: now)
    tellTrouble(of: node, at: now)
    if wasLooking && !node.machine.isLooking { lookAgainInLanes() }
    node.follow(at: now)
  }

  /// How long a task waits here for a window that nobody has opened.
  private static let patience = 10 * Time.second

  /// What open windows leave, and a lane for what a driver would open one for: it asks for a window only when it has something
  /// to run, so one task is claimed before.
  private func room(for node: SchedulerNode, at now: Instant) -> OfferedRoom? {
    node.looksAt = Time.never
    guard !isDrained, !isLeaving, !node.machine.isLeaving else { return nil }
    var room = OfferedRoom(until: .min, satisfied: satisfied.constraints, handlers: table.handlerChanges)
    forEachRoom(of: node) { $0.clear() }
    // Runs of windows that pick no more are counted by the node, and take no lane of these.
    var carriedOn = 0
    for cycle in cycles where !cycle.isEnded {
      if cycle.hasLeft {
        carriedOn += cycle.openRuns
        continue
      }
      let own = self.room(of: cycle.pool, node)
      own.driven.formUnion(cycle.driven)
      guard !cycle.isOfOneTask else { continue }
      own.open.formUnion(cycle.kinds)
      let kinds = cycle.kinds.subtracting(cycle.preempted).intersection(offered(to: cycle.pool))
      guard cycle.isRolling, !cycle.isDone, now < min(cycle.time.expiresAt, cycle.picksUntil), !kinds.isEmpty else {
        continue
      }
      own.kinds.formUnion(kinds)
      let carried = cycle.isOpenEnded ? carried(cycle.driven, of: cycle.pool) : 0
      room.lanes += max(0, cycle.laneLimit - carried)
      if cycle.openRuns + carried < cycle.laneLimit { own.free.formUnion(kinds) }
      room.until = max(room.until, cycle.time.expiresAt)
    }
    forEachDriver {
      let own = self.room(of: $0.member?.pool, node)
      let mayOpen = offered(to: $0.member?.pool).subtracting(own.open).subtracting(fullKinds(of: $0))
      own.ahead.formUnion(self.ahead(of: $0, mayOpen, own, node, at: now))
    }
    var (count, isAhead) = (0, false)
    forEachRoom(of: node) {
      $0.kinds.formUnion($0.ahead)
      if !$0.kinds.isEmpty { count += 1 }
      if !$0.ahead.isEmpty { isAhead = true }
    }
    guard count > 0 else { return nil }
    // Without a window no more than that one waits for it.
    if room.lanes == 0 { (room.until, room.isAhead) = (Time.never, true) }
    room.lanes += carriedOn
    noteWaiting(node, isShared: count > 1, at: now)
    if isAhead {
      room.lanesAhead = lanesAhead(node, isShared: count > 1)
      room.lanes += room.lanesAhead
    }
    forEachRoom(of: node) { if $0.isOther() { node.roomChanges += 1 } }
    room.rooms = node.roomChanges
    room.isWhole = count == 1 && node.room.takes == .all
    // The node counts what was stopped and has not come back, and what waits for that; neither takes a lane here.
    for task in node.claimed where task.slot < 0 || runs[task.run]?.isOpen == false { room.lanes += 1 }
    runs.forEach { run in if !run.isOpen && !run.isBack { room.takesSuspects = false } }
    return room
  }

  /// How long others wait for a driver that does not come for what was claimed for it.
  private static let driverPatience = Time.second

  /// Lanes are of windows, and windows may be of one kind: a run that takes long keeps what was claimed for another's lane. And
  /// a driver that was called may not come, for which those of other pools do not wait long (L7).
  ///
  /// - Parameter isShared: there is room in several pools.
  private func noteWaiting(_ node: SchedulerNode, isShared: Bool, at now: Instant) {
    forEachRoom(of: node) { $0.stuck.subtract($0.free.union($0.ahead)) }
    for task in node.claimed where task.run == 0 && task.slot >= 0 {
      let own = room(of: task, node)
      let isAhead = isShared && own.ahead.contains(task.kind)
      guard isAhead || (own.open.contains(task.kind) && !own.free.contains(task.kind)) else { continue }
      let until = task.since.adding(isAhead ? Self.driverPatience : node.options.patience)
      if now < until {
        node.looksAt = min(node.looksAt, until)
      } else if isAhead {
        own.late += 1
      } else {
        own.stuck.formUnion(KindSet(task.kind))
      }
    }
  }

  /// How many lanes there are for windows that drivers may open: one, besides those for which a driver does not come.
  private func lanesAhead(_ node: SchedulerNode, isShared: Bool) -> Int {
    guard isShared else { return 1 }
    var (late, next) = (0, 0)
    forEachRoom(of: node) {
      late += $0.late
      if $0.late == 0 && !$0.ahead.isEmpty { next = 1 }
    }
    return late + next
  }

  // MARK: Pools

  /// What the windows and drivers of a pool leave, or of this process itself.
  private func room(of pool: Pool?, _ node: SchedulerNode) -> PoolRoom { pool?.room ?? node.room }

  private func room(of one: FleetClass, _ node: SchedulerNode) -> PoolRoom {
    guard !crews.pools.isEmpty, let number = table.findHandler(one.handler.buffer) else { return node.room }
    return room(of: handlers[number]?.pool, node)
  }

  private func room(of task: ClaimedTask, _ node: SchedulerNode) -> PoolRoom {
    guard !crews.pools.isEmpty else { return node.room }
    if hasRecord(task) { return room(of: pool(of: table[task.slot]), node) }
    return node.machine.fleetClass(task.fleetClass).map { room(of: $0, node) } ?? node.room
  }

  private func forEachRoom(of node: SchedulerNode, _ body: (PoolRoom) -> Void) {
    body(node.room)
    for pool in crews.pools where pool.members > 0 { body(pool.room) }
  }

  /// Whether a claimed task that a window could take waits for its run.
  func hasPending(for cycle: Cycle, _ node: SchedulerNode) -> Bool {
    let own = room(of: cycle.pool, node)
    return node.claimed.contains {
      $0.run == 0 && $0.slot >= 0 && cycle.kinds.contains($0.kind) && room(of: $0, node) === own
    }
  }

  /// The kinds among some that a driver may open a window for now.
  @inline(never)
  private func ahead(
    of driver: Driver, _ kinds: KindSet, _ room: PoolRoom, _ node: SchedulerNode, at now: Instant
  ) -> KindSet {
    var ahead: KindSet = []
    for kind in Kind.allCases where driver.terms.kinds.intersection(kinds).contains(kind) {
      let at = windowAt(kind, driver, room)
      if at <= now { ahead.formUnion(KindSet(kind)) } else { node.looksAt = min(node.looksAt, at) }
    }
    return ahead
  }

  /// When a driver may open a window for a kind: not before its pace, nor while the governor refuses it. What would make that
  /// grant one it sees only when it is asked, which it is once a minute.
  private func windowAt(_ kind: Kind, _ driver: Driver, _ room: PoolRoom) -> Instant {
    var pace = (driver.member?.pool.pace ?? pace)[kind]
    pace.interval = max(pace.interval, driver.terms.every)
    let at = max(pace.opensAt, room.aheadFrom[kind])
    guard driver.terms.isGoverned, let refusal = refusal(kind) else { return at }
    return max(at, min(refusal.askAgainAt, refusal.at.adding(Time.minute)))
  }

  private func nodeRoom(_ room: OfferedRoom, _ node: SchedulerNode) -> NodeRoom {
    let (satisfied, labels) = (room.satisfied, node.labels)
    let scheduler = Unmanaged.passUnretained(self)
    var offer = NodeRoom(
      lanes: room.lanes, lanesAhead: room.lanesAhead, until: room.until, isBare: room.isAhead,
      takesSuspects: room.takesSuspects
    ) { one in
      one.constraints.isSubset(of: satisfied) && scheduler._withUnsafeGuaranteedRef { $0.isOffered(one) }
        && one.labels.allSatisfy { label in labels.contains { $0.buffer.equals(label.buffer) } }
    }
    if !room.isWhole { offer.takes = { one in scheduler._withUnsafeGuaranteedRef { $0.isTaken(one) } } }
    return offer
  }

  /// Whether what a class asks for is here.
  private func isServed(_ one: FleetClass, by node: SchedulerNode) -> Bool {
    guard let offered = node.offered else { return false }
    return one.constraints.isSubset(of: offered.satisfied) && isOffered(one)
  }

  /// Whether the handler of a class is here, and the pool to which it belongs has room for the kind (L5).
  private func isOffered(_ one: FleetClass) -> Bool {
    guard let node, table.isOffered(handler: one.handler.buffer) else { return false }
    return room(of: one, node).kinds.contains(one.kind)
  }

  /// Whether more of a class is claimed now.
  private func isTaken(_ one: FleetClass) -> Bool {
    guard let node else { return false }
    return room(of: one, node).takes.contains(one.kind)
  }

  /// What was not begun goes back when its kind has no window in its pool and is to have none, when none has come, when all lanes
  /// of its windows are taken for long, when its handler or a constraint was lost, and when the host has cancelled it.
  ///
  /// - Parameter isOther: what is offered has changed.
  private func giveBackWhatWaits(_ node: SchedulerNode, _ isOther: Bool, at now: Instant) {
    guard !node.claimed.isEmpty else { return }
    for task in node.claimed where task.run == 0 {
      let own = room(of: task, node)
      let isWanted = node.offered != nil && own.kinds.subtracting(own.stuck).contains(task.kind)
      let isHere = !isOther || node.machine.fleetClass(task.fleetClass).map { isServed($0, by: node) } == true
      let isOpen = own.open.contains(task.kind)
      let until = task.since.adding(Self.patience)
      if isWanted && isHere && isPending(task) && (isOpen || now < until) {
        if !isOpen { node.looksAt = min(node.looksAt, until) }
        continue
      }
      if isWanted && isHere && task.slot >= 0 && now >= until { own.aheadFrom[task.kind] = now.adding(Time.minute) }
      giveBack(task, node, at: now)
    }
  }

  private func giveBack(_ task: ClaimedTask, _ node: SchedulerNode, at now: Instant) {
    forget(task, at: now)
    if let place = node.place(ofFence: task.key.run) { node.claimed.remove(at: place) }
    node.machine.ended(task.key.run, .returned, at: now)
  }

  private func tellTrouble(of node: SchedulerNode, at now: Instant) {
    if node.machine.isClosed { troubleEnds(.fleetClock, at: now) }
    guard let trouble = node.machine.trouble else { return troubleEnds(.fleet, at: now) }
    var (told, cause): (Detail, UInt64) = ("the database of the fleet does not answer", 0)
    if case .refused(let state) = trouble {
      cause = state.characters
      let text = state.text
      told = withExtendedLifetime(text) {
        "the database of the fleet refuses what its node asks, SQLSTATE \(said: text.buffer)"
      }
    }
    if let refusal = node.refusal { told = "\(told): \(said: refusal.buffer)" }
    troubleBegins(.fleet, SeleneError(.unavailable, told), cause: cause, at: now)
  }

  // MARK: Actions

  private func act(for node: SchedulerNode, at now: Instant) {
    while true {
      let actions = node.machine.takeActions()
      guard !actions.isEmpty else { return }
      for action in actions {
        switch action {
        case .begin(let run): take(run, for: node, at: now)
        case .stop(let fence, let why): stop(fence, why, node, at: now)
        case .decided(let fence, let counts):
          if !counts { log(.info, "the fleet had given up run \(fence) before it heard how it ended") }
        case .clocksDiffer(let span):
          let told: Detail =
            "the clock of the fleet's database differs from this machine's by \(span: span) since the last beat"
          troubleBegins(.fleetClock, SeleneError(.tooSoon, told), at: now)
        case .clocksAgree: troubleEnds(.fleetClock, at: now)
        case .tookBack(let count): log(.info, "\(count) runs of nodes that are dead were taken back")
        case .draining: log(.info, "the fleet has asked this node to leave: it takes nothing more")
        case .refused: break
        case .unreadable:
          log(.error, "an answer of the fleet cannot be read: its schema is of a release that this one does not know")
        }
      }
    }
  }

  /// A claimed run becomes a task, which is picked at once where a lane is free.
  private func take(_ run: NodeRun, for node: SchedulerNode, at now: Instant) {
    guard let fleetClass = node.machine.fleetClass(run.fleetClass), isServed(fleetClass, by: node) else {
      return node.machine.ended(run.key.run, .returned, at: now)
    }
    do throws(SeleneError) {
      var slot = -1
      if isAtWork(run) { node.awaiting.append(run) } else { slot = try register(run, fleetClass, at: now) }
      node.claimed.append(
        ClaimedTask(
          key: run.key, fleetClass, slot: slot, sequence: slot < 0 ? 0 : table.sequence(slot), since: now))
    } catch {
      // The kind was switched off meanwhile.
      guard error.code != .unavailable else { return node.machine.ended(run.key.run, .returned, at: now) }
      log(.warning, "a task of the fleet cannot run here: \(error.detail)")
      let message = error.detail.bytes.withUnsafeBytes { Bytes(copying: $0) }
      node.machine.ended(run.key.run, .decided(NodeDecision(failedAfter: 0, because: message)), at: now)
    }
  }

  /// Whether an earlier run of a task is at work here that was lost (N13): its task comes after it.
  private func isAtWork(_ run: NodeRun) -> Bool {
    if let slot = table.find(run.id.buffer), table[slot].isLive { return isOfFleet(slot) }
    // One that was stopped has no record any more, but its id until it has come back (C4).
    var isOut = false
    runs.forEach { one in if !one.isBack && one.definition.id.equals(run.id.buffer) { isOut = true } }
    return isOut
  }

  /// What waited for an earlier run of its task is one here when that is over.
  private func takeAwaiting(_ node: SchedulerNode, at now: Instant) {
    guard !node.awaiting.isEmpty else { return }
    let awaiting = node.awaiting
    node.awaiting = []
    for run in awaiting {
      guard let place = node.place(ofFence: run.key.run) else { continue }
      guard !isAtWork(run) else {
        node.awaiting.append(run)
        continue
      }
      node.claimed.remove(at: place)
      take(run, for: node, at: now)
    }
  }

  private func register(_ run: NodeRun, _ fleetClass: FleetClass, at now: Instant) throws(SeleneError) -> Int {
    if let slot = table.find(run.id.buffer), table[slot].isLive {
      throw SeleneError(.alreadyExists, "id", name: run.id.buffer, "is a task of this process, too")
    }
    var draft = TaskDraft()
    (draft.id, draft.handler, draft.input) = (run.id.buffer, run.handler.buffer, run.input.buffer)
    draft.numbers.kind = Int32(fleetClass.kind.rawValue)
    draft.numbers.schedule = Int32(Schedule.once.rawValue)
    draft.numbers.priority = run.priority
    draft.numbers.constraints = fleetClass.constraints.rawValue
    draft.numbers.expectedResponse = min(node?.machine.likely(run) ?? run.estimate, Time.longestRun)
    let definition = try TaskDefinition.checked(
      draft, .own, backoff: options.policy.backoff, maxInput: options.policy.maxInput, pool: &table.terms)
    var slot = -1
    try change(at: now) { (changes) throws(SeleneError) in
      slot = try table.receive(definition, at: now, enabled: enabled, &changes)
    }
    table.modify(slot) {
      $0.attempts = UInt32(max(run.attempt, 1)) - 1
      $0.generation = UInt32(max(run.generation, 0))
    }
    accept()
    forEachDriver { $0.welcome() }
    return slot
  }

  private func stop(_ fence: Int64, _ why: NodeStop, _ node: SchedulerNode, at now: Instant) {
    guard let task = node.place(ofFence: fence).map({ node.claimed[$0] }) else { return }
    guard task.run != 0 else { return giveBack(task, node, at: now) }
    guard let run = runs[task.run], run.isOpen else { return }
    switch why {
    case .leaseLost: ask(run, .leaseLost, at: now)
    case .leaving: stop(run, .shutdown, at: now)
    // The host's transaction has decided it, most likely, and its handler waits for the answer to the commit.
    case .taken where task.isDecidedByHost: break
    case .taken(let reason): stop(run, reason == .none || reason.isRequest ? .interrupted : reason, at: now)
    }
  }
}
