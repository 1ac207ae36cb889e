// Which call comes next, and when (N8, N10, N14, N22, N25, N28).

import SeleneCore

/// What calls there may be to make.
private enum DueCall {
  case bye(Int64)
  case beat(Incarnation)
  case hello
  case fate
  case classes
  case turn
}

extension FleetNode {
  /// When to call `step` next, if nothing else happens.
  package var nextWake: Instant {
    guard !isClosed else { return Time.never }
    var wake = closesAt ?? Time.never
    if !working.isEmpty && isLeaving { wake = min(wake, now < stopsAt ? stopsAt : lastReturnAt) }
    for one in incarnations where !one.isOver { wake = min(wake, one.believesUntil(options)) }
    if let room, !ready.isEmpty { wake = min(wake, room.until, stallsAt ?? Time.never) }
    if let underWay { return min(wake, underWay.deadline) }
    var due = Time.never
    _ = firstDue { at in
      due = min(due, at)
      return false
    }
    return min(wake, max(due, pause.until))
  }

  /// The first call that is due.
  func nextCall() -> NodeCall? {
    switch firstDue({ $0 <= now }) {
    case nil: nil
    case .bye(let worker): .bye(worker: worker)
    case .beat(let one): .beat(beat(of: one))
    case .hello: .hello
    case .fate: .fate(decisions.unknown)
    case .classes: .classes
    case .turn: .turn(turn())
    }
  }

  /// Goes through what there is to call, what matters most first, until a body takes one by when it is due.
  private func firstDue(_ isTaken: (Instant) -> Bool) -> DueCall? {
    for one in incarnations {
      if canLeave(one) && one.byeAt == .min {
        if isTaken(.min) { return .bye(one.worker) }
      } else if isTaken(one.nextBeat) {
        return .beat(one)
      }
    }
    let taking = incarnations.first { $0.takes }
    if taking == nil && closesAt == nil && isTaken(helloAt) { return .hello }
    if !decisions.unknown.isEmpty && isTaken(fateAt) { return .fate }
    let wantsRuns = taking != nil && isAnyRunWanted
    if wantsRuns && isTaken(classesAt) { return .classes }
    let asksAt = taking == nil ? Time.never : askAt
    let saidAt = taking.map { saysAt(of: $0.worker) } ?? Time.never
    if isTaken(min(flushAt, asksAt, saidAt, wantsRuns && !wanted.isEmpty ? nextClaim : Time.never)) { return .turn }
    for one in incarnations where one.isUnheard { if isTaken(.min) { return .beat(one) } }
    // What kept an incarnation from saying bye keeps nothing else.
    for one in incarnations where one.byeAt > .min && canLeave(one) {
      if isTaken(one.byeAt) { return .bye(one.worker) }
    }
    return nil
  }

  // MARK: Values

  private func beat(of one: Incarnation) -> NodeBeat {
    // Where the database lost commits it keeps these, and no others, once none of them is lost (N34).
    let held = numbers(of: ready, one.worker) + numbers(of: working, one.worker) + decisions.runs(of: one.worker)
    return NodeBeat(
      worker: one.worker, elapsed: one.judges ? now.subtracting(one.beatSent) : nil, held: held,
      holdsAll: !one.takes && !one.isOver && saysAll, serves: one.takes ? serves : [], times: times.send())
  }

  /// The runs that an incarnation has of these.
  @inline(never)
  private func numbers(of runs: [NodeRun], _ worker: Int64) -> [Int64] {
    var numbers: [Int64] = []
    for run in runs where run.worker == worker && !run.isStopped { numbers.append(run.key.run) }
    return numbers
  }

  /// What ended, what is given back, and a claim: also one that nothing else calls for now (N8).
  private func turn() -> NodeTurn {
    let taking = incarnations.first { $0.takes }
    var held = taking.map { numbers(of: working, $0.worker) } ?? []
    if let taking, askAt <= now { held += numbers(of: ready, taking.worker) }
    askAt = Time.never
    var claim = decisions.isSearching ? nil : claim(of: wanted)
    let back = returnAt <= now ? returned.map { $0.key } : []
    // What is given back may have an older last run than what was claimed since (N7).
    let lines = back.isEmpty ? marks.usable(at: now, for: options.poll) : []
    if !lines.isEmpty {
      claim?.classes = []
      claim?.lines = lines
      claim?.dueSince = marks.dueSince
    } else if now < marks.looksAgain {
      claim = nil
    }
    if room?.takesSuspects == false { passSuspects(&claim) }
    var started: [Int64] = []
    for run in working where run.isUnsaid(of: taking?.worker ?? 0) { started.append(run.key.run) }
    return NodeTurn(
      worker: taking?.worker ?? 0, decisions: decisions.next(), back: back, held: held, claim: claim,
      started: saysBegun ? started : nil, lanes: freeLanes)
  }

  /// Lanes in which what is claimed now begins as soon as it is here; none where a window is yet to be opened.
  private var freeLanes: Int {
    guard let room, !room.isBare else { return 0 }
    return max(room.lanes - room.lanesAhead - working.count - ready.count, 0)
  }

  /// When the database is told that runs have begun which were claimed ahead: with the next call, and soon if one takes longer
  /// than what ends within the horizon. What it does not know to have begun goes back as before the run if this process dies (N58).
  private func saysAt(of worker: Int64) -> Instant {
    guard saysBegun else { return Time.never }
    var at = Time.never
    for run in working where run.isUnsaid(of: worker) { at = min(at, (run.begunAt ?? at).adding(options.reach)) }
    return at
  }

  /// What is claimed has to go without suspects.
  private func passSuspects(_ claim: inout NodeClaim?) {
    claim?.lines.removeAll { $0.isOfSuspects }
    if claim?.lines.isEmpty == true { claim?.lines = LineMark.plain(of: wanted) }
    claim?.classes = []
  }

  /// When what is decided is sent: at once where a lane waits for more, else together with what ends within the horizon.
  private var flushAt: Instant {
    guard !decisions.waiting.isEmpty || !returned.isEmpty else { return Time.never }
    guard !ready.isEmpty, decisions.waiting.count < DecisionQueue.batch else {
      return decisions.waiting.isEmpty ? returnAt : .min
    }
    return decisions.since.adding(options.reach)
  }

  /// Whether there is something to make a turn for.
  var isTurnWanted: Bool { !decisions.waiting.isEmpty || !returned.isEmpty || claim(of: wanted) != nil }

  // MARK: Claims

  private var isAnyRunWanted: Bool { claim(of: [0]) != nil }

  /// When a claim is made that nothing else calls for: one that looks at all lines not before they may be looked at again.
  var nextClaim: Instant {
    max(claimAt, marks.usable(at: now, for: options.poll).isEmpty ? marks.looksAgain : .min)
  }

  /// A claim for what the room leaves. While a run is here that goes alone nothing else is claimed (N15, V7).
  func claim(of classes: [Int32]) -> NodeClaim? {
    guard let room, let taking = incarnations.first(where: { $0.takes }), now < taking.believesUntil(options),
      !working.contains(where: { $0.runsAlone }), !ready.contains(where: { $0.runsAlone })
    else { return nil }
    if let stallsAt, now >= stallsAt { return nil }
    return room.claim(
      of: classes, at: now, working: working.count,
      ready: (ready.count, ready.reduce(0) { $0.adding($1.estimate) }), mean: meanEstimate,
      horizon: ratio.expected(in: options.reach))
  }

  /// Which of the classes that are known the room serves, and which are claimed of.
  func lookAtClasses() {
    guard let room else { return }
    let before = wanted
    (serves, wanted) = ([], [])
    for one in classes where room.serves(one) {
      serves.append(one.number)
      if room.takes?(one) ?? true { wanted.append(one.number) }
    }
    if wanted != before { marks.serve(wanted) }
  }

  // MARK: Incarnations

  /// Whether an incarnation has nothing more to do than to say bye: what the database still has for it nobody here knows.
  private func canLeave(_ one: Incarnation) -> Bool {
    !one.takes && !one.isUnheard && !decisions.has(one.worker) && !ready.contains { $0.worker == one.worker }
      && !working.contains { $0.worker == one.worker } && !returned.contains { $0.worker == one.worker }
  }
}
