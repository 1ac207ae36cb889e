// What runs do to the table: dispatch, completion, stops, and the successors they let start (C8, C9, T5).

extension TaskTable {
  /// A run of this record begins.
  @_optimize(speed)
  package func dispatch(_ slot: Int, as run: UInt64, at now: Instant) {
    modify(slot) { $0.dispatch(as: run, at: now) }
    stampTrail(slot)
  }

  /// A run of this record, which is running, goes on under another token (L10).
  package func adopt(_ slot: Int, as run: UInt64) { touch(slot) { $0.run = run } }

  /// The task of a run in flight had its run of a rolling window; until `renew` it is not eligible (R1).
  package func spend(_ slot: Int) {
    // A running record stands in no line, so none has to be left.
    records[slot].isSpent = true
  }

  /// The rolling window of a record is over. Nothing of the record itself changed, so it keeps its stamp: a window of
  /// this one task that is open meanwhile still has it.
  ///
  /// - Returns: whether it had its run.
  @discardableResult
  package func renew(_ slot: Int, _ sequence: UInt64) -> Bool {
    guard isSpent(slot, sequence) else { return false }
    setSpent(slot, false)
    return true
  }

  /// Takes back a `renew` that was for a question only.
  package func spendAgain(_ slot: Int) { setSpent(slot, true) }

  private func setSpent(_ slot: Int, _ isSpent: Bool) {
    unlink(slot)
    records[slot].isSpent = isSpent
    link(slot)
  }

  /// Whether a record that had its run of a rolling window is still that record, and was not renewed.
  private func isSpent(_ slot: Int, _ sequence: UInt64) -> Bool {
    slots.contains(slot) && records[slot].sequence == sequence && records[slot].isSpent
  }

  /// Whether a run is in flight for the record in a slot; not if that was cancelled, replaced or removed.
  @inline(__always)
  package func isRunning(_ run: UInt64, in slot: Int) -> Bool {
    slots.contains(slot) && run != 0 && records.at(slot).run == run
  }

  /// A run in flight is decided by an outcome.
  @_optimize(speed)
  package func complete(
    _ slot: Int, _ outcome: Outcome, at now: Instant, responseTime: Span, retryDelay: Span?,
    until next: Instant? = nil, because message: Bytes? = nil, leaving output: RunOutput = RunOutput(),
    asked reason: StopReason = .none, ran: TaskDefinition? = nil, _ changes: inout Changes
  ) {
    let record = records.at(slot)
    let run = record.run
    var generator = generator
    modify(slot) {
      $0.complete(
        outcome, at: now, responseTime: responseTime, retryDelay: retryDelay, until: next, because: message,
        leaving: output, asked: reason, bounds: policy.backoff, using: &generator)
    }
    self.generator = generator
    stampTrail(slot)
    learn(responseTime, of: slot, ran: ran)
    changes.add(Change(.completed, self[slot], detail: outcome.rawValue, run: run, message: message))
    if output.lost > 0 && outcome.isSuccess {
      changes.add(Change(.outputLost, self[slot], run: run, lost: output.lost, of: policy.maxOutput))
    }
    if record.pointee.state == .enqueued && record.pointee.attempts > 0 {
      changes.add(Change(.retry, self[slot], timeAt: self[slot].earliestBegin))
    }
    if record.pointee.state.isTerminal { _ = settleDependents(of: slot, at: now, &changes) }
    if !chains.isEmpty { settle(slot, at: now, &changes) }
    if count(.held) > 0 { promote(&changes) }
  }

  /// A process has ended while it had the runs of these records (V7). One that was the only one, or was suspected before, is
  /// to blame; the others are suspected.
  ///
  /// - Parameters:
  ///   - isAlone: nothing else ran there, no run without a record either.
  ///   - machineWentDown: nobody is to blame.
  /// - Returns: how many are to blame.
  @discardableResult
  package func processEnded(
    with slots: [Int], isAlone: Bool = true, machineWentDown: Bool = false, at now: Instant,
    because message: Bytes = LastFailure.processEnded,
    _ changes: inout Changes
  ) -> Int {
    var blamed = 0
    for slot in slots {
      if !machineWentDown && (isAlone && slots.count == 1 || self[slot].suspicion != .none) {
        interrupt(slot, at: now, because: message, &changes)
        blamed += 1
      } else {
        step(slot, always: true, at: now) { $0.interrupt(blamelessAt: now, isSuspect: !machineWentDown) }
        changes.add(
          Change(
            .interrupted, self[slot], detail: Int32(self[slot].suspicion.rawValue), timeAt: self[slot].earliestBegin,
            message: message))
        noteSuspect(slot)
      }
    }
    if count(.held) > 0 { promote(&changes) }
    return blamed
  }

  /// The process that took a run has ended, and the fleet that it came from decides what that means.
  package func lose(_ slot: Int, at now: Instant, because message: Bytes, _ changes: inout Changes) {
    interrupt(slot, at: now, because: message, &changes)
    (records[slot].suspicion, records[slot].deaths) = (.none, 0)
    if count(.held) > 0 { promote(&changes) }
  }

  /// A record was running when its process ended, and is to blame (D3, V7).
  package func interrupt(
    _ slot: Int, at now: Instant, because message: Bytes = LastFailure.processEnded, _ changes: inout Changes
  ) {
    var generator = generator
    step(slot, at: now) {
      $0.interrupt(
        at: now, because: message, pause: policy.crashPause, bounds: policy.backoff, using: &generator)
    }
    self.generator = generator
    changes.add(
      Change(
        .interrupted, self[slot], detail: Int32(self[slot].suspicion.rawValue), timeAt: self[slot].earliestBegin,
        message: message))
    noteSuspect(slot)
    if self[slot].state.isTerminal { _ = settleDependents(of: slot, at: now, &changes) }
    if !chains.isEmpty { settle(slot, at: now, &changes) }
  }

  /// A run in flight was stopped and its task waits again as before it.
  ///
  /// - Parameter wasCut: its window was too short for it, so that others go before it from now on.
  package func requeue(_ slot: Int, _ reason: StopReason, wasCut: Bool = false, at now: Instant) {
    step(slot, always: true, at: now) {
      $0.requeue(reason, at: now)
      if wasCut { $0.letOthersGoFirst(at: now) }
    }
  }

  /// Lets the successors of an ended record start, or fail with it; each by its own policy (T5).
  ///
  /// - Parameter holdsPlace: the one that ended had a place, which the next one takes.
  func settle(_ ended: Int, holdsPlace: Bool = true, at now: Instant, _ changes: inout Changes) {
    var head = ended
    let started = holdsPlace || policy.places[self[ended].kind] == nil ? TaskState.enqueued : .held
    var chain = waiting(behind: head)[...]
    while self[head].state.isTerminal, let next = chain.popFirst() {
      let fails = self[head].state != .succeeded && self[next].definition.existing == .append
      setWaiting(behind: head, [])
      let (output, lost) = (self[head].output, self[head].outputLost)
      remove(head)
      let expected = expected(of: self[next].definition)
      var generator = generator
      step(next, at: now) {
        $0.restart(as: fails ? .failed : started, at: now)
        if !fails { $0.jitterFirst(using: &generator) }
        $0.expected = expected
        ($0.output, $0.outputLost) = (output, lost)
      }
      self.generator = generator
      show(next)
      changes.add(
        fails
          ? Change(.completed, self[next], detail: Outcome.failed.rawValue)
          : Change(.unblocked, self[next]))
      setWaiting(behind: next, Array(chain))
      head = next
    }
  }
}
