// The database as N9 to N15 describe it, in the plainest way: what the simulation's nodes talk to. It knows nothing of them.

import SeleneCore
import SeleneNode

/// The rules of the database that the simulation can do without, to show that it notices.
struct FleetRules: OptionSet {
  let rawValue: Int

  /// N9: a decision counts only under the number of the run that goes on.
  static let fence = FleetRules(rawValue: 1)
  /// N10: the number of an incarnation is never used again.
  static let freshNumbers = FleetRules(rawValue: 2)
  /// N10: what the dead ran is taken back.
  static let takingBack = FleetRules(rawValue: 4)
  /// N11: who has been away judges nobody.
  static let steadiness = FleetRules(rawValue: 8)
  /// N12: clocks that differ begin steadiness anew, and beats from the future count from now.
  static let jumps = FleetRules(rawValue: 16)

  /// N13: a node believes in its lease for less than the database waits for it.
  static let belief = FleetRules(rawValue: 32)

  /// N34: after a crash numbers go on far behind those that may be lost.
  static let farNumbers = FleetRules(rawValue: 64)
  /// N34: of what a worker had before a crash it keeps what it says it holds.
  static let keeping = FleetRules(rawValue: 128)
  /// N34: nobody is given anything before all have said what they hold.
  static let asking = FleetRules(rawValue: 256)

  static let all = FleetRules(rawValue: 511)
}

/// What happened to a run in the database.
enum RunEnding: Equatable { case counted, returned, taken, cancelled }

/// One fleet.
final class FleetModel {
  private struct Worker {
    var beaten: Instant
    var expires: Instant
    /// It was asked to leave (N37).
    var isDraining = false
    /// It has beaten without a gap since then.
    var steady: Instant
    let lease: Span
    /// The crash up to which it has said what it holds (N34).
    var crashes = 0
  }

  private struct Task {
    enum State { case waiting, running }
    var state = State.waiting
    var due: Instant = .min
    /// It has joined its line, when somebody looked among what is due.
    var isReady = true
    var lastRun: Instant = .min
    var run: Int64 = 0
    var worker: Int64 = 0
    var isSuspect = false
    /// The last run that was decided.
    var decided: Int64 = 0
    /// A run that was cancelled and has not come back: until then the id is taken, but no longer than that (C4, N25).
    var stray: (run: Int64, worker: Int64, until: Instant)?
  }

  let rules: FleetRules
  /// The time of the database's clock.
  var now: Instant = 0
  /// D3 has 30 s at least, a whole lease here, which would hide runs that were taken too early.
  let interruptedPause: Span
  /// For how long an id is taken by a run that does not come back: N25 has 10 min.
  let strayPause: Span
  /// How long a task waits after a decision.
  var nextPause: () -> Span = { 0 }
  /// How long a claim takes it.
  var nextTook: () -> Span = { 0 }
  /// Whether somebody's transaction is at a record that is to be given back.
  var isKept: () -> Bool = { false }
  /// Each run that ends, in whatever way.
  var onEnding: (_ run: Int64, RunEnding) -> Void = { _, _ in }

  /// What a crash may lose.
  private struct Records {
    var workers: [Int64: Worker] = [:]
    var lastWorker: Int64 = 0
    var lastRun: Int64 = 0
    var tasks: [Task]
    /// All runs that were decided.
    var history: Set<Int64> = []
  }

  private var records: Records
  /// What is on the disk, and since when.
  private var saved: Records
  private var savedAt: Instant = .min
  /// How often the server has crashed, and the last number of a run before it did so for the last time.
  private var crashes = 0
  private var lastLost: Int64 = 0
  /// Each time that all is on the disk, and each crash.
  var onSave: () -> Void = {}
  var onCrash: () -> Void = {}

  private var workers: [Int64: Worker] {
    get { records.workers }
    _modify { yield &records.workers }
  }
  private var lastWorker: Int64 {
    get { records.lastWorker }
    _modify { yield &records.lastWorker }
  }
  private var lastRun: Int64 {
    get { records.lastRun }
    _modify { yield &records.lastRun }
  }
  private var tasks: [Task] {
    get { records.tasks }
    _modify { yield &records.tasks }
  }
  private var history: Set<Int64> {
    get { records.history }
    _modify { yield &records.history }
  }

  init(tasks count: Int, interruptedPause: Span, strayPause: Span, rules: FleetRules = .all) {
    records = Records(tasks: Array(repeating: Task(), count: count))
    saved = records
    (self.interruptedPause, self.strayPause) = (interruptedPause, strayPause)
    self.rules = rules
  }

  // MARK: The disk

  private func save() {
    (saved, savedAt) = (records, now)
    onSave()
  }

  /// The server loses what was not on its disk, and goes on (N34). All workers are relaxed.
  func crash() {
    let last = lastRun
    records = saved
    if rules.contains(.farNumbers) { lastRun = last + 1 }
    lastLost = last
    crashes += 1
    onCrash()
  }

  /// Of what it had before a crash a worker keeps what it says it holds; it is done with once it holds nothing that it has lost.
  private func keepOnly(_ held: [Int64], of number: Int64) {
    if rules.contains(.keeping) {
      for task in tasks where task.state == .running && task.worker == number && task.run <= lastLost {
        guard !held.contains(task.run), let place = tasks.firstIndex(where: { $0.run == task.run }) else { continue }
        giveBack(RunKey(run: task.run, task: Int64(place)))
      }
    }
    if lost(held, of: number).isEmpty { workers[number]?.crashes = crashes }
  }

  private var isAsking: Bool {
    rules.contains(.asking) && workers.values.contains { $0.crashes < crashes }
  }

  /// The runs that go on.
  var running: [Int64] { tasks.filter { $0.state == .running }.map(\.run) }

  /// The last decided run of each task.
  var decided: [Int64] { tasks.map(\.decided) }

  /// Whatever a clock that jumped back made wait, waits no longer: due times follow the clock.
  func letDue() {
    for place in tasks.indices { tasks[place].stray?.until = now + strayPause }
    for place in tasks.indices where tasks[place].state == .waiting {
      (tasks[place].due, tasks[place].isReady) = (.min, true)
    }
  }

  /// Somebody cancels a task and registers it again (N25).
  func cancel(_ place: Int) {
    guard tasks[place].state == .running else { return }
    onEnding(tasks[place].run, .cancelled)
    tasks[place].stray = (tasks[place].run, tasks[place].worker, now + strayPause)
    (tasks[place].state, tasks[place].due, tasks[place].isSuspect) = (.waiting, now, false)
    tasks[place].isReady = true
  }

  // MARK: The functions

  /// - Returns: the answer, or the state with which the call is refused.
  func call(_ call: NodeCall, lease: Span) -> Result<NodeAnswer, Refused> {
    // A turn does not wait for the disk, whatever else is called does; what is committed is on it a moment later in any case.
    if now >= savedAt + Time.second / 2 || now < savedAt { save() }
    defer { if case .turn = call {} else { save() } }
    return make(call, lease: lease)
  }

  private func make(_ call: NodeCall, lease: Span) -> Result<NodeAnswer, Refused> {
    switch call {
    case .hello: .success(.hello(worker: hello(lease), now: now))
    case .beat(let beat): .success(.beat(self.beat(beat)))
    case .classes:
      .success(
        .classes([FleetClass(1, .refresh, [], labels: [], handler: Bytes("h"))]))
    case .turn(let turn): self.turn(turn)
    case .fate(let decisions): .success(.fate(decisions.map { RunFate(run: $0.key.run, fate: fate(of: $0.key)) }))
    case .bye(let worker): bye(worker)
    }
  }

  private func hello(_ lease: Span) -> Int64 {
    lastWorker = rules.contains(.freshNumbers) ? lastWorker + 1 : Int64(workers.count + 1)
    let lease = rules.contains(.belief) ? lease : lease / 2
    workers[lastWorker] = Worker(beaten: now, expires: now + lease, steady: now, lease: lease, crashes: crashes)
    return lastWorker
  }

  func drain(_ worker: Int64) { workers[worker]?.isDraining = true }

  private func beat(_ beat: NodeBeat) -> BeatAnswer {
    var answer = BeatAnswer()
    guard var me = workers[beat.worker] else { return answer }
    let gap = now - me.beaten
    let difference = beat.elapsed.map { gap - $0 }
    if rules.contains(.jumps), difference.map({ abs($0) > me.lease / 10 }) ?? true {
      me.steady = now
      answer.difference = difference
    }
    if rules.contains(.steadiness), gap > me.lease / 2 { me.steady = now }
    (me.beaten, me.expires) = (now, now + me.lease)
    workers[beat.worker] = me
    answer.expires = me.expires
    answer.isDraining = me.isDraining
    if me.crashes < crashes { keepOnly(beat.held, of: beat.worker) }
    if beat.holdsAll {
      for place in tasks.indices where tasks[place].state == .running && tasks[place].worker == beat.worker {
        guard !beat.held.contains(tasks[place].run), !isKept() else { continue }
        giveBack(RunKey(run: tasks[place].run, task: Int64(place)))
      }
    }
    answer.lost = lost(beat.held, of: beat.worker)
    if rules.contains(.jumps) {
      for (number, worker) in workers where worker.beaten > now + worker.lease / 10 {
        workers[number]?.beaten = now
        workers[number]?.expires = now + worker.lease
      }
    }
    if rules.contains(.takingBack), !rules.contains(.steadiness) || me.steady <= now - me.lease {
      answer.tookBack = takeBack()
    }
    for place in tasks.indices { if let stray = tasks[place].stray, stray.until <= now { tasks[place].stray = nil } }
    return answer
  }

  private func isDead(_ number: Int64) -> Bool {
    guard let worker = workers[number] else { return true }
    return worker.expires < now
  }

  private func takeBack() -> Int64 {
    var taken: Int64 = 0
    for place in tasks.indices where tasks[place].state == .running && isDead(tasks[place].worker) {
      onEnding(tasks[place].run, .taken)
      (tasks[place].state, tasks[place].lastRun) = (.waiting, now)
      (tasks[place].due, tasks[place].isReady) = (now + interruptedPause, false)
      tasks[place].isSuspect = true
      taken += 1
    }
    for place in tasks.indices { if let stray = tasks[place].stray, isDead(stray.worker) { tasks[place].stray = nil } }
    for number in Array(workers.keys) where isDead(number) { workers[number] = nil }
    return taken
  }

  private func turn(_ turn: NodeTurn) -> Result<NodeAnswer, Refused> {
    guard turn.claim == nil || workers[turn.worker] != nil else { return .failure(Refused(state: SQLState("SE017"))) }
    var answer = TurnAnswer()
    for one in turn.decisions { answer.decided.append(DecidedRun(run: one.key.run, counts: decide(one.key))) }
    for key in turn.back { if isOpen(key) && isKept() { answer.kept.append(key.run) } else { giveBack(key) } }
    answer.lost = lost(turn.held, of: turn.worker)
    if let claim = turn.claim {
      answer.claimed = self.claim(claim, for: turn.worker)
      answer.took = nextTook()
    }
    answer.nextDue = tasks.filter { $0.state == .waiting && $0.due > now }.map(\.due).min()
    return .success(.turn(answer))
  }

  private func isOpen(_ key: RunKey) -> Bool {
    let task = tasks[Int(key.task)]
    return task.state == .running && (task.run == key.run || !rules.contains(.fence))
  }

  private func comeBack(_ key: RunKey) {
    if tasks[Int(key.task)].stray?.run == key.run { tasks[Int(key.task)].stray = nil }
  }

  private func decide(_ key: RunKey) -> Bool {
    comeBack(key)
    guard isOpen(key) else { return false }
    onEnding(key.run, .counted)
    let place = Int(key.task)
    tasks[place].state = .waiting
    (tasks[place].due, tasks[place].isReady) = (now + nextPause(), false)
    (tasks[place].decided, tasks[place].lastRun) = (key.run, now)
    history.insert(key.run)
    tasks[place].isSuspect = false
    return true
  }

  private func giveBack(_ key: RunKey) {
    comeBack(key)
    guard isOpen(key) else { return }
    onEnding(key.run, .returned)
    tasks[Int(key.task)].state = .waiting
    (tasks[Int(key.task)].due, tasks[Int(key.task)].isReady) = (now, true)
  }

  private func claim(_ claim: NodeClaim, for worker: Int64) -> [NodeRun] {
    let mine = tasks.filter { $0.state == .running && $0.worker == worker }
    for place in tasks.indices where tasks[place].due <= now && tasks[place].due >= claim.dueSince {
      tasks[place].isReady = true
    }
    if mine.contains(where: \.isSuspect) || isAsking { return [] }
    var taken: [NodeRun] = []
    let since = claim.lines.reduce(into: [:]) { $0[$1.line] = $1.since }
    let ready = tasks.indices.filter { place in
      isReady(tasks[place])
        && (claim.lines.isEmpty || since[line(of: tasks[place])].map { $0 <= tasks[place].lastRun } ?? false)
    }
    for place in ready.sorted(by: { (tasks[$0].lastRun, $0) < (tasks[$1].lastRun, $1) }) {
      guard taken.count < (claim.isFirst ? 1 : claim.most) else { break }
      if tasks[place].isSuspect {
        if !taken.isEmpty { break }
        if !mine.isEmpty { return [] }
      }
      lastRun += 1
      tasks[place].state = .running
      (tasks[place].run, tasks[place].worker) = (lastRun, worker)
      taken.append(
        NodeRun(
          RunKey(run: lastRun, task: Int64(place)), id: Bytes("t"), handler: Bytes("h"), input: Bytes(""),
          fleetClass: 1, estimate: Time.second / 10, attempt: 1, generation: 0, line: line(of: tasks[place]),
          lastRun: tasks[place].lastRun))
      if tasks[place].isSuspect { break }
    }
    return taken
  }

  /// Odd numbers are suspects; there are two of the others, so that a claim may find one of them at its end.
  private func line(of task: Task) -> Int32 { task.isSuspect ? 1 : task.lastRun % 2 == 0 ? 2 : 4 }

  private func isReady(_ task: Task) -> Bool { task.state == .waiting && task.isReady && task.stray == nil }

  private func lost(_ held: [Int64], of worker: Int64) -> [LostRun] {
    held.filter { run in !tasks.contains { $0.state == .running && $0.run == run && $0.worker == worker } }
      .map { run in LostRun(run: run, reason: tasks.contains { $0.stray?.run == run } ? .cancelled : .interrupted) }
  }

  private func fate(of key: RunKey) -> RunFate.Fate {
    let task = tasks[Int(key.task)]
    if task.state == .running && task.run == key.run { return .open }
    return history.contains(key.run) ? .decided : .lost
  }

  private func bye(_ worker: Int64) -> Result<NodeAnswer, Refused> {
    if tasks.contains(where: { $0.state == .running && $0.worker == worker }), isKept() {
      return .failure(Refused(state: SQLState("55P03")))
    }
    for task in tasks where task.state == .running && task.worker == worker {
      giveBack(RunKey(run: task.run, task: Int64(tasks.firstIndex { $0.run == task.run } ?? 0)))
    }
    for place in tasks.indices where tasks[place].stray?.worker == worker { tasks[place].stray = nil }
    workers[worker] = nil
    return .success(.bye)
  }
}

/// The database refused a call.
struct Refused: Error {
  let state: SQLState
}
