// Runs of other processes outlive the owner: the next one waits for these processes, and takes the runs over (L10).

import SeleneCore

/// A run whose process has not connected to this owner yet.
struct AwaitedRun {
  let stored: StoredRun
  /// Where its record is.
  let slot: Int
  /// What the record has for a run that nobody has yet: a number that no token of this life has, nor a run.
  var placeholder: UInt64 { stored.token & ~Token.numberMask }
}

/// What is known of runs across owners. Guarded by the scheduler's lock.
struct Adoption {
  fileprivate(set) var awaited: [AwaitedRun] = []
  /// When those that have not come are given up, and when to look at their processes next.
  fileprivate(set) var until: Instant = Time.never
  fileprivate(set) var lookAt: Instant = Time.never
  /// The server waits for nobody, so that who is quicker than its first look is not taken in, either.
  fileprivate(set) var isClosed = false
  /// The last that were given up, so that who comes too late is told so.
  fileprivate(set) var givenUp: [UInt64] = []
  /// What the next commit writes.
  var unsaved: [StoredRunChange] = []

  func awaits(_ token: UInt64) -> Bool { awaited.contains { $0.stored.token == token } }

  fileprivate mutating func giveUp(_ token: UInt64) {
    if givenUp.count == 1_024 { givenUp.removeFirst() }
    givenUp.append(token)
  }
}

/// What becomes of a run that a process says it has.
package enum Adopted: Equatable {
  /// It has no such run of an earlier owner: it ended, or was never known.
  case unknown
  /// It goes on under this token.
  case under(UInt64)
  /// It came too late: the task was interrupted.
  case tooLate
}

extension Scheduler {
  /// How long an owner waits for processes that had runs of the one before; one that does not serve, too, since it may yet.
  package static let usualAdoption = 10 * Time.second

  // MARK: What the store keeps

  /// A run begins; where another process has it the same commit says which.
  func dispatch(_ slot: Int, as token: UInt64, to process: ProcessMark?, in cycle: Cycle, at now: Instant) {
    if table.isExpedited(slot) { countExpedited(token, at: now) }
    table.dispatch(slot, as: token, at: now)
    guard let process, store.isDurable else { return }
    adoption.unsaved.append(
      StoredRunChange(
        token: token,
        run: StoredRun(
          token: token, sequence: table.sequence(slot), process: process, startedAt: now, beganAt: cycle.time.begin,
          expiresAt: cycle.time.expiresAt, deadline: cycle.time.deadline)))
  }

  /// The next commit removes what is stored of a run.
  func forgetStored(_ token: UInt64, if isStored: Bool = true) {
    guard isStored && store.isDurable else { return }
    adoption.unsaved.append(StoredRunChange(token: token, run: nil))
  }

  /// A run of a member is decided. The commit that says how it ended, or a later one, forgets whose it was.
  func leaveStored(_ run: Run) {
    let origin = run.cycle?.origin ?? 0
    if run.isStored { forgetStored(origin != 0 ? origin : run.token) }
    // Its cycle was for this run alone.
    if origin != 0 { nextDue = .min }
  }

  // MARK: Waiting

  /// Whether the process that had the run of a record may come for it; at opening.
  func await(_ slot: Int, among taken: [StoredRun], movedBy span: Span, at now: Instant) -> Bool {
    let sequence = table.sequence(slot)
    guard var stored = taken.first(where: { $0.sequence == sequence }), stored.process.mayLive else { return false }
    stored.shift(by: span)
    let awaited = AwaitedRun(stored: stored, slot: slot)
    adoption.awaited.append(awaited)
    table.adopt(slot, as: awaited.placeholder)
    adoption.until = now.adding(Self.usualAdoption)
    adoption.lookAt = min(adoption.until, now.adding(Time.second))
    nextDue = min(nextDue, adoption.lookAt)
    return true
  }

  /// A server is about to be opened that waits for these processes so long.
  package func prepareToAwait(for span: Span) { adoption.isClosed = span == 0 }

  /// A server has been opened, to which these processes can come from now on; it waits for them so long.
  package func awaitMembers(for span: Span, at moment: Moment) {
    guard isAwaiting else { return }
    awaitStore()
    adoption.until = moment.now.adding(span)
    adoption.lookAt = min(adoption.until, adoption.lookAt)
    nextDue = min(nextDue, adoption.lookAt)
    advance(to: moment.now)
  }

  /// When the run of a record is given up that is waited for; nil: it is not.
  func awaitedUntil(_ sequence: UInt64) -> Instant? {
    adoption.awaited.contains { $0.stored.sequence == sequence } ? adoption.until : nil
  }

  /// Whether a server has to look at the time though no process is connected.
  package var isAwaiting: Bool { !adoption.awaited.isEmpty }

  private func isStillRunning(_ awaited: AwaitedRun) -> Bool {
    table.slots.contains(awaited.slot) && table.sequence(awaited.slot) == awaited.stored.sequence
      && table[awaited.slot].state == .running && table[awaited.slot].run == awaited.placeholder
  }

  /// Runs whose process has ended, or has not come in time, were interrupted (D3).
  func lookAtAwaited(at now: Instant) {
    var changes = newChanges()
    var left: [AwaitedRun] = []
    var ended: [(process: ProcessMark, slots: [Int])] = []
    var count = 0
    for awaited in adoption.awaited {
      let isRunning = isStillRunning(awaited)
      if isRunning && now < adoption.until && awaited.stored.process.mayLive {
        left.append(awaited)
        continue
      }
      forgetStored(awaited.stored.token)
      guard isRunning else { continue }
      let process = awaited.stored.process
      if let place = ended.firstIndex(where: { $0.process == process }) {
        ended[place].slots.append(awaited.slot)
      } else {
        ended.append((process, [awaited.slot]))
      }
      adoption.giveUp(awaited.stored.token)
      count += 1
    }
    var blamed = 0
    for (_, slots) in ended { blamed += table.processEnded(with: slots, at: now, &changes) }
    if hasSuspects { reviewSuspects() }
    adoption.awaited = left
    adoption.lookAt = left.isEmpty ? Time.never : min(adoption.until, now.adding(Time.second))
    accept()
    publish(changes, at: now)
    if count > 0 {
      log(
        .warning,
        "\(count) runs of processes that did not connect again were interrupted; for \(blamed) that is a failed attempt"
      )
    }
    letDriversLook()
    wake()
  }

  // MARK: Taking over

  /// A member says that it has a run of an earlier owner: it keeps it, under another token.
  ///
  /// - Parameter token: as it was told at the dispatch.
  /// - Throws: `exhausted`.
  package func adopt(_ token: UInt64, for member: Member, at moment: Moment) throws(SeleneError) -> Adopted {
    var again: Run?
    member.runs.forEach { if $0.isOpen && $0.cycle?.origin == token { again = $0 } }
    if let again { return .under(again.token) }
    guard
      let place = adoption.awaited.firstIndex(where: {
        $0.stored.token == token && $0.stored.process == member.process
      })
    else { return adoption.givenUp.contains(token) ? .tooLate : .unknown }
    guard !adoption.isClosed else { return .tooLate }
    let awaited = adoption.awaited[place]
    guard isStillRunning(awaited) else { return .unknown }
    guard let handler = try handler(ofAwaited: awaited.slot, for: member) else { return .unknown }
    adoption.awaited.remove(at: place)
    if adoption.awaited.isEmpty { adoption.lookAt = Time.never }
    takeOver(awaited, handler, for: member, at: moment.now)
    return .under(Token(life: life, number: runs.last).rawValue)
  }

  /// The handler of a record, also where the member does not offer it any more; nil: it is the owner's own, or of others.
  private func handler(ofAwaited place: Int, for member: Member) throws(SeleneError) -> Handler? {
    let number = Int(table[place].handlerNumber)
    if handlers.indices.contains(number), let handler = handlers[number], !handler.isRetired {
      return table.isCrewed(handler: number) && (handler.pool == nil || handler.pool === member.pool) ? handler : nil
    }
    let name = table[place].definition.handler
    try offer(name, isCalled: false, by: member)
    try withdraw(name, by: member)
    return table.findHandler(name).flatMap { handlers[$0] }
  }

  /// A run goes on in a cycle of its own, which has the times of the one that it was taken from, and ends with it.
  private func takeOver(_ awaited: AwaitedRun, _ handler: Handler, for member: Member, at now: Instant) {
    let stored = awaited.stored
    let time =
      stored.deadline == Time.never
      ? Budget(openSince: stored.beganAt)
      : Budget(
        begin: stored.beganAt, budget: stored.deadline.subtracting(stored.beganAt),
        reserve: stored.deadline.subtracting(stored.expiresAt))
    let cycle = Cycle(
      handle: slot.newCycle(), mode: .member, laneLimit: 1, strictFit: false, isRolling: false, kinds: [], alone: [],
      serves: KindSet(table[awaited.slot].kind), booked: [], driven: [], pool: member.pool, time: time,
      ranking: Ranking(table, only: awaited.slot, observedRange: options.observedRange, at: now))
    cycle.origin = stored.token
    cycle.isDone = true
    cycles.append(cycle)
    let token = Token(life: life, number: runs.last + 1).rawValue
    table.adopt(awaited.slot, as: token)
    table.take(awaited.slot)
    let run = Run(
      token: token, of: awaited.slot, score: 0, in: table, handler: Unmanaged.passUnretained(handler), cycle: cycle,
      stopGrace: options.stopGrace, at: stored.startedAt)
    run.isStored = true
    runs.add(run)
    if hasSuspects { noteSuspect(run) }
    cycle.add(run, nil)
    member.runs[runs.last] = run
    publish(begun(cycle), at: now)
    publish(started(run, nil), at: now)
    nextDue = min(nextDue, cycle.time.expiresAt)
    if run.definition.hasLimits { watchLimits(of: run) }
    wake()
  }
}
