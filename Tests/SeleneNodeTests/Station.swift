// A process of the simulation: a node, handlers that take their time, and a link on which anything gets lost or comes late.

import SeleneCore

@testable import SeleneNode

/// One process.
final class Station {
  /// A handler at work.
  private struct Work {
    let task: Int64
    let isSuspect: Bool
    var isStopped = false
  }

  let number: Int
  private(set) var isAlive = true
  private var node: FleetNode
  private unowned let simulation: Simulation
  /// By run.
  private var works: [Int64: Work] = [:]
  /// Runs whose decision the node has, and has not told what became of it.
  private(set) var owed: Set<Int64> = []
  private var lanes = 0
  private var isClosing = false
  /// It is stopped, as by SIGSTOP, until this moment, and looks at nothing before it has come back.
  private var pausedUntil: Span = 0
  private var isPaused = false
  private var cutUntil: Span = 0
  /// When something happened to it, or to a message of its own, for the last time.
  private var disturbedAt: Span
  private var wakeAt = Span.max

  /// Its own clock begins anywhere, and runs by up to 0.2 % too fast or too slow.
  private let clockBegin: Span
  private let clockRate: Span
  private let born: Span

  init(_ number: Int, in simulation: Simulation) {
    self.number = number
    self.simulation = simulation
    clockBegin = simulation.chance.span(0...1_000_000 * Time.second)
    clockRate = simulation.chance.span(-2_000...2_000)
    (born, disturbedAt) = (simulation.time, simulation.time - 10 * Simulation.lease)
    var options = NodeOptions()
    options.lease = Simulation.lease
    options.poll = 7 * Time.second
    options.horizon = simulation.chance.pick([Time.second / 4, 0, 2 * Time.second])
    options.seed = UInt64(number)
    options.relaxed = simulation.isRelaxed
    node = FleetNode(options)
    simulation.after(simulation.chance.span(0...5 * Time.second)) { [weak self] in self?.openWindow() }
  }

  private var clock: Instant {
    let ran = simulation.time - born
    return clockBegin + ran + ran / 1_000_000 * clockRate
  }

  // MARK: Faults

  func pause(_ span: Span) {
    guard !isPaused else { return }
    (isPaused, pausedUntil) = (true, simulation.time + span)
    disturbedAt = pausedUntil
    wake(at: pausedUntil)
  }

  func cut(_ span: Span) {
    cutUntil = max(cutUntil, simulation.time + span)
    disturbedAt = max(disturbedAt, cutUntil)
  }

  func calm() {
    if isPaused { pause(over: ()) }
    cutUntil = 0
    if isAlive && !isClosing { openWindow() }
  }

  func kill() { isAlive = false }

  /// Ends in order.
  func close() {
    isClosing = true
    whenAwake { [self] in
      node.close(at: clock, grace: 3 * Simulation.lease)
      for run in works.keys.sorted() { finish(run, within: 5 * Time.second) }
      go()
    }
  }

  /// Asks the database to let it leave, if it knows of it.
  func drain() { simulation.fleet.drain(node.standing.worker) }

  private func pause(over: Void) {
    isPaused = false
    go()
    checkDoubles()
  }

  /// Now, or when the process has come back.
  private func whenAwake(_ body: @escaping () -> Void) {
    guard isAlive else { return }
    guard isPaused else { return body() }
    simulation.after(pausedUntil - simulation.time + 1) { [weak self] in self?.whenAwake(body) }
  }

  // MARK: Going on

  /// Does what the node asks for, and calls it again when it wants.
  private func go() {
    guard isAlive, !isPaused else { return }
    let request = node.step(at: clock)
    for action in node.takeActions() { act(action) }
    if let request { send(request) }
    if node.isClosed {
      isAlive = false
      if !isClosing { simulation.fail("a node closed by itself") }
      return
    }
    let wake = node.nextWake
    guard wake < Time.never else { return }
    if wake <= clock { return simulation.fail("node \(number) has nothing to do and wants to be called at once") }
    // A clock that is too slow reaches its instant later.
    let span = wake - clock
    self.wake(at: simulation.time + span + span / 1_000_000 * max(0, -clockRate) + span / 10_000 + 1)
  }

  private func wake(at moment: Span) {
    guard moment < wakeAt || wakeAt <= simulation.time else { return }
    wakeAt = moment
    simulation.after(moment - simulation.time) { [weak self] in
      guard let self, isAlive, wakeAt == moment else { return }
      wakeAt = .max
      guard isPaused else { return go() }
      if simulation.time >= pausedUntil { pause(over: ()) } else { wake(at: pausedUntil) }
    }
  }

  private func openWindow() {
    guard isAlive, !isClosing else { return }
    whenAwake { [self] in
      guard !isClosing else { return }
      lanes = simulation.chance.pick([1, 2, 4])
      let length = simulation.isCalm ? Time.hour : simulation.chance.span(Time.second...100 * Time.second)
      node.offer(NodeRoom(lanes: lanes, until: clock + length) { _ in true }, at: clock)
      if !simulation.isCalm {
        simulation.after(length + simulation.chance.span(0...10 * Time.second)) { [weak self] in self?.openWindow() }
      }
      go()
    }
  }

  // MARK: Runs

  private func act(_ action: NodeAction) {
    switch action {
    case .begin(let run): begin(run)
    case .stop(let run, let why):
      simulation.reach("stop \(why)")
      works[run]?.isStopped = true
      // Some handlers look at it, some do not.
      if simulation.chance.below(3) > 0 { finish(run, within: 3 * Time.second) }
    case .decided(let run, let counts):
      if owed.remove(run) == nil { simulation.fail("nothing was decided of run \(run)") }
      simulation.reach("told \(counts)")
      simulation.told(run, counts: counts)
    // Somebody was at a record of a node that says bye.
    case .refused(let state): if state != SQLState("55P03") { simulation.fail("the database refused \(state)") }
    case .unreadable: simulation.fail("an answer could not be read")
    case .clocksDiffer: simulation.reach("clocks differ")
    case .clocksAgree: simulation.reach("clocks agree")
    case .tookBack: simulation.reach("took back")
    case .draining:
      simulation.reach("draining")
      isClosing = true
      for run in works.keys.sorted() { finish(run, within: 5 * Time.second) }
    }
  }

  private func begin(_ run: NodeRun) {
    if works.count >= lanes { simulation.fail("N22: more runs than lanes") }
    if run.isSuspect { simulation.reach("suspect") }
    if run.isSuspect && !works.isEmpty { simulation.fail("N15: a suspect begins beside others") }
    if works.values.contains(where: \.isSuspect) { simulation.fail("N15: a run begins beside a suspect") }
    works[run.key.run] = Work(task: run.key.task, isSuspect: run.isSuspect)
    checkDoubles()
    finish(run.key.run, within: simulation.chance.pick([1, 1, 5, 20]) * Time.second)
  }

  private func finish(_ run: Int64, within span: Span) {
    simulation.after(simulation.chance.span(0...span)) { [weak self] in
      self?.whenAwake { [weak self] in
        guard let self, works.removeValue(forKey: run) != nil else { return }
        let end: NodeEnd
        if simulation.chance.once(in: 8) {
          end = .returned
        } else {
          guard let decision = try? NodeDecision(.newData, response: Time.second) else { fatalError("it is in range") }
          end = .decided(decision)
          owed.insert(run)
        }
        node.ended(run, end, at: clock)
        go()
      }
    }
  }

  /// No task is run by two that believe.
  private func checkDoubles() {
    for (_, work) in works where !work.isStopped {
      for other in simulation.stations where other !== self && other.isAlive && !other.isPaused {
        if other.works.values.contains(where: { $0.task == work.task && !$0.isStopped }) {
          simulation.fail("N13: task \(work.task) is run by \(number) and \(other.number), and both believe")
        }
      }
    }
  }

  /// A run was taken back.
  func check(taken run: Int64) {
    guard isAlive, !isPaused, let work = works[run] else { return }
    if !work.isStopped { simulation.fail("N12: run \(run) was taken from node \(number), which believes in it") }
    if simulation.time > disturbedAt + 2 * Simulation.lease {
      simulation.fail("N11: run \(run) was taken from node \(number), which did nothing wrong")
    }
  }

  // MARK: The link

  private func send(_ request: NodeRequest) {
    let number = request.number
    simulation.reach(request.call.name)
    if simulation.time < simulation.awayUntil {
      return after(simulation.chance.span(0...Time.second)) { $0.node.failed(number, .notSent, at: $0.clock) }
    }
    // Once faults have ended none of these helps what hangs: who gets no answer begins anew.
    let (isLate, isLateBack) = (fault(in: 100), fault(in: 100))
    if isLate || isLateBack { disturbedAt = max(disturbedAt, simulation.time) }
    let there =
      simulation.chance.span(0...Time.second / 10) + (isLate ? simulation.chance.span(0...15 * Time.second) : 0)
    let back =
      simulation.chance.span(0...Time.second / 10) + (isLateBack ? simulation.chance.span(0...15 * Time.second) : 0)
    if simulation.time < cutUntil { return }
    // What is on its way arrives, whatever becomes of who sent it.
    simulation.after(there) { [unowned simulation, weak self] in
      if simulation.time < simulation.awayUntil {
        self?.after(Time.second) { $0.node.failed(number, .maybeSent, at: $0.clock) }
        return
      }
      let answer = simulation.make(request.call)
      guard let self, simulation.time >= cutUntil else { return }
      if fault(in: 200) {
        disturbedAt = max(disturbedAt, simulation.time)
        if simulation.chance.once(in: 2) {
          after(Time.second) { $0.node.failed(number, .maybeSent, at: $0.clock) }
        }
        return
      }
      after(back) { station in
        switch answer {
        case .success(let answer): station.node.answered(number, answer, at: station.clock)
        case .failure(let refused):
          station.simulation.reach("refused")
          station.node.failed(number, .refused(refused.state), at: station.clock)
        }
      }
    }
  }

  private func fault(in times: Int) -> Bool { !simulation.isCalm && simulation.chance.once(in: times) }

  /// Something reaches the process, as soon as it is awake.
  private func after(_ span: Span, _ body: @escaping (Station) -> Void) {
    simulation.after(span) { [weak self] in
      self?.whenAwake { [weak self] in
        guard let self, isAlive else { return }
        body(self)
        go()
      }
    }
  }
}
