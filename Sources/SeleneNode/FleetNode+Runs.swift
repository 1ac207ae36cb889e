// Which runs are begun, stopped and given back (N13, N15, N22, N25).

import SeleneCore

extension FleetNode {
  /// Everything that follows from time alone, and then what can be begun.
  func advance(to instant: Instant) {
    now = max(now, instant)
    guard !isClosed else { return }
    if let underWay, now >= underWay.deadline { fail(.maybeSent) }
    for place in incarnations.indices where !incarnations[place].isOver {
      if now >= incarnations[place].believesUntil(options) { endBelief(at: place) }
    }
    if let room, now >= room.until { endRoom() }
    if now >= stopsAt { for place in working.indices { stop(at: place, .leaving) } }
    if now >= lastReturnAt {
      // Nobody waits for these any more, and others need not wait for the end of the lease (V4).
      for run in working { giveBack(run) }
      working = []
    }
    if let closesAt {
      let isDone = incarnations.isEmpty && decisions.isEmpty && working.isEmpty && underWay == nil
      isClosed = isDone || now >= closesAt
    }
    beginReady()
    if let stallsAt, now >= stallsAt { giveBackReady { _ in true } }
  }

  /// When what waits for a lane has waited longer than was planned, since every run takes longer than was expected: it goes back
  /// to the others then. Nil while there is a free lane.
  var stallsAt: Instant? {
    guard let room, working.count >= room.lanes else { return nil }
    return movedAt.adding(options.patience)
  }

  /// Begins what the lanes are free for. What runs alone waits until it is alone in this process, whichever incarnations claimed
  /// the others; nothing is claimed until it is over, so nothing waits behind it (N15, V7).
  private func beginReady() {
    guard let room, now < room.until else { return }
    while let next = ready.first, working.count < room.lanes {
      if next.runsAlone && !room.takesSuspects {
        // What is in its way may never come back.
        giveBack(ready.removeFirst())
        continue
      }
      guard !next.runsAlone || working.isEmpty else { return }
      ready.removeFirst()
      if !room.isBare && working.count < room.lanes - room.lanesAhead { next.begunAt = now }
      working.append(next)
      movedAt = now
      actions.append(.begin(next))
    }
  }

  /// A run that a claim gave: it is begun when a lane is free, or goes back if the window is over. A call is given up long before
  /// belief could end meanwhile.
  func accept(_ run: NodeRun) {
    if room != nil { ready.append(run) } else { giveBack(run) }
  }

  /// The task is to be as before the run. Of an incarnation that is over, the database has done that.
  func giveBack(_ run: NodeRun) {
    guard incarnations.contains(where: { $0.worker == run.worker }) else { return }
    returned.append(ReturnedRun(key: run.key, worker: run.worker))
  }

  func endRoom() {
    room = nil
    giveBackReady { _ in true }
  }

  /// What was not begun and is such is ready no more, and goes back.
  func giveBackReady(_ isSuch: (NodeRun) -> Bool) {
    var left: [NodeRun] = []
    for run in ready { if isSuch(run) { giveBack(run) } else { left.append(run) } }
    ready = left
  }

  // MARK: Losing runs

  /// An incarnation's lease can be believed in no longer: what it runs is to stop, nothing of it is begun. It goes on beating
  /// until all has come back, which counts if nobody took it (N13).
  private func endBelief(at place: Int) {
    let worker = incarnations[place].worker
    incarnations[place].isOver = true
    incarnations[place].takes = false
    giveBackReady { $0.worker == worker }
    stopWorking(of: worker)
  }

  /// The database does not know an incarnation any more: what it ran is somebody else's.
  func end(_ worker: Int64) {
    forget(worker)
    giveBackReady { $0.worker == worker }
    returned.removeAll { $0.worker == worker }
    stopWorking(of: worker)
  }

  /// It is an incarnation no more.
  @inline(never)
  func forget(_ worker: Int64) { incarnations.removeAll { $0.worker == worker } }

  @inline(never)
  private func stopWorking(of worker: Int64) {
    for place in working.indices where working[place].worker == worker { stop(at: place, .leaseLost) }
  }

  /// Whether a run is here that was not asked to stop.
  func isBelieved(_ run: Int64) -> Bool {
    ready.contains { $0.key.run == run } || working.contains { $0.key.run == run && !$0.isStopped }
  }

  /// The database has given a run up. Its end is told all the same: its id is taken until then (C4, N25).
  func lose(_ lost: LostRun) {
    if let place = working.firstIndex(where: { $0.key.run == lost.run }) {
      stop(at: place, .taken(lost.reason))
    } else if let place = ready.firstIndex(where: { $0.key.run == lost.run }) {
      giveBack(ready.remove(at: place))
    }
  }

  private func stop(at place: Int, _ why: NodeStop) {
    guard !working[place].isStopped else { return }
    working[place].isStopped = true
    actions.append(.stop(run: working[place].key.run, why))
  }
}
