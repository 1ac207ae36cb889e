// What an answer changes, and what it means that there is none (N9 to N14, N34).

import SeleneCore

extension FleetNode {
  /// An answer to the call that was under way.
  func take(_ answer: NodeAnswer, to call: CallUnderWay) {
    switch (call.call, answer) {
    case (_, .hello(let worker, let database)):
      var one = Incarnation(worker, sent: call.sent, options)
      one.takes = closesAt == nil
      incarnations.append(one)
      clockDifference = database.subtracting(now)
      (claimAt, classesAt) = (.min, .min)
    case (.beat(let beat), .beat(let answer)): take(answer, to: beat, sent: call.sent)
    case (_, .classes(let found)):
      classes = found
      lookAtClasses()
      classesAt = now.adding(options.poll)
    case (.turn(let turn), .turn(let answer)): take(answer, to: turn, sent: call.sent)
    case (_, .fate(let fates)):
      tell(decisions.settle(fates, at: now))
      if !decisions.unknown.isEmpty { fateAt = now.adding(options.poll) }
    case (.bye(let worker), _): forget(worker)
    default: break
    }
  }

  private func take(_ answer: BeatAnswer, to beat: NodeBeat, sent: Instant) {
    times.settle()
    if let difference = answer.difference {
      actions.append(.clocksDiffer(difference))
      isClockOff = true
    } else if isClockOff && beat.elapsed != nil {
      // A beat that says no time compares none.
      actions.append(.clocksAgree)
      isClockOff = false
    }
    if answer.tookBack > 0 { actions.append(.tookBack(answer.tookBack)) }
    if answer.isDraining && closesAt == nil {
      actions.append(.draining)
      leave(at: Time.never)
    }
    guard let expires = answer.expires else { return end(beat.worker) }
    clockDifference = expires.subtracting(options.lease).subtracting(now)
    for place in incarnations.indices where incarnations[place].worker == beat.worker {
      // Belief counts from when the beat was sent: it may have taken its time (N13).
      // Others are given what this node has lost once the database has heard that it knows (N34).
      incarnations[place].isUnheard = options.relaxed && answer.lost.contains { isBelieved($0.run) }
      incarnations[place].beatSent = sent
      incarnations[place].nextBeat = sent.adding(options.beatInterval)
    }
    answer.lost.forEach { lose($0) }
  }

  private func take(_ answer: TurnAnswer, to turn: NodeTurn, sent: Instant) {
    let (known, isAnyLeft) = decisions.settle(answer.decided)
    tell(known)
    // Who is at a record may be for long: it is not asked all the time.
    if isAnyLeft { fateAt = now.adding(options.poll) }
    returned.removeAll { one in turn.back.contains(one.key) && !answer.kept.contains(one.key.run) }
    if !answer.kept.isEmpty { returnAt = now.adding(options.poll) }
    answer.lost.forEach { lose($0) }
    if !turn.held.isEmpty { askedAt = now }
    for run in working where turn.started?.contains(run.key.run) == true { run.isSaid = true }
    guard let claim = turn.claim else { return }
    for (place, run) in answer.claimed.enumerated() {
      run.worker = turn.worker
      run.isSaid = turn.started == nil || place < turn.lanes
      accept(run)
    }
    if claim.isFirst && !answer.claimed.isEmpty { room?.isFresh = false }
    marks.note(
      answer.claimed, of: claim, at: now, took: answer.took, began: clockDifference.map { sent.adding($0) },
      nextDue: answer.nextDue)
    guard !answer.claimed.isEmpty else {
      // What is due and yet waits somebody is at: who asks all the time does not get it sooner.
      let isKept = answer.nextDue != nil && answer.nextDue == nextDue
      nextDue = answer.nextDue
      // Other lines may have something, if they may be looked at.
      guard claim.isOfAllLines || !marks.usable(at: now, for: options.poll).isEmpty else { return claimAt = .min }
      // Nothing is there: look when something may be (N28).
      var due = nextDue.flatMap { due in clockDifference.map { due.subtracting($0) } } ?? Time.never
      if isKept && due <= now { due = Time.never }
      claimAt = min(now.adding(options.poll), max(due, now.adding(NodeOptions.polls.lowerBound)))
      return
    }
    nextDue = nil
    let sum: Span = answer.claimed.reduce(0) { $0.adding($1.estimate) }
    meanEstimate = sum / Span(answer.claimed.count)
    claimAt = .min
  }

  private func tell(_ decided: [DecidedRun]) {
    for one in decided { actions.append(.decided(run: one.run, counts: one.counts)) }
  }

  // MARK: No answer

  /// The call that was under way has none.
  func fail(_ failure: NodeFailure) {
    guard let call = underWay?.call else { return }
    (underWay, trouble) = (nil, failure == .refused(.overIncarnation) ? trouble : failure)
    pause.begin(at: now)
    isTurnRefused = false
    var failure = failure
    if case .refused(let state) = failure {
      if state.leavesOpen {
        failure = .maybeSent
      } else if state != .overIncarnation {
        actions.append(.refused(state))
      }
    }
    switch call {
    case .beat(let beat) where failure == .maybeSent:
      times.settle()
      for place in incarnations.indices where incarnations[place].worker == beat.worker {
        incarnations[place].judges = false
      }
    case .beat(let beat):
      times.takeBack()
      if beat.holdsAll && failure == .refused(.undefinedFunction) { saysAll = false }
    case .turn(let turn): fail(turn, failure)
    case .hello:
      // What refuses a node for what it is does not change in a moment.
      if case .refused(let state) = failure, state.isOfNode { helloAt = now.adding(options.beatInterval) }
    case .bye(let worker):
      // Other incarnations go on meanwhile.
      for place in incarnations.indices where incarnations[place].worker == worker {
        incarnations[place].byeAt = now.adding(options.poll)
      }
    default: break
    }
    if case .refused = failure { return }
    // What a claim took whose answer was lost nobody knows, and the server may be another one now: this incarnation takes
    // nothing more, and the next one is told the timeline (N14, N34).
    for place in incarnations.indices {
      incarnations[place].takes = false
      incarnations[place].isUnheard = true
    }
  }

  private func fail(_ turn: NodeTurn, _ failure: NodeFailure) {
    if !turn.held.isEmpty { askAt = now }
    if case .refused = failure { isTurnRefused = true }
    if turn.started != nil && failure == .refused(.undefinedFunction) {
      saysBegun = false
      pause.end()
    }
    switch failure {
    case .maybeSent:
      decisions.lose()
      fateAt = .min
    case .notSent: decisions.takeBack(at: now)
    case .refused(.overIncarnation):
      decisions.takeBack(at: now)
      end(turn.worker)
    case .refused(let state) where state.isOfValues:
      guard let hopeless = decisions.refuse(at: now) else { return }
      // It is given back with what its incarnation leaves.
      actions.append(.decided(run: hopeless.key.run, counts: false))
      for place in incarnations.indices { incarnations[place].takes = false }
    case .refused: decisions.takeBack(at: now)
    }
  }
}
