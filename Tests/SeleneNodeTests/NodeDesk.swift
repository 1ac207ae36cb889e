// A node with a clock that the test moves, and answers that the test gives.

import SeleneCore
import Testing

@testable import SeleneNode

/// One node. What it asks for is taken with `call`, and answered before the next is.
final class NodeDesk {
  private(set) var node: FleetNode
  var now: Instant = 1_000 * Time.second
  private var number: UInt64 = 0
  private var lastRun: Int64 = 0
  private(set) var actions: [NodeAction] = []

  static let lease = 30 * Time.second

  init(horizon: Span = 0, relaxed: Bool = false) throws {
    var options = NodeOptions()
    (options.lease, options.horizon, options.relaxed) = (Self.lease, horizon, relaxed)
    node = FleetNode(options)
  }

  /// One that has said hello as worker 1.
  static func joined(horizon: Span = 0, relaxed: Bool = false) throws -> NodeDesk {
    let desk = try NodeDesk(horizon: horizon, relaxed: relaxed)
    try desk.join(1)
    return desk
  }

  /// One whose window has so many lanes, and that has begun so many runs.
  static func working(_ runs: Int, lanes: Int, relaxed: Bool = false) throws -> NodeDesk {
    let desk = try joined(relaxed: relaxed)
    try desk.open(lanes: lanes)
    try desk.claim(runs)
    return desk
  }

  /// The next call, which is now under way.
  func call() -> NodeCall? {
    let request = node.step(at: now)
    number = request?.number ?? number
    collect()
    return request?.call
  }

  func answer(_ answer: NodeAnswer, to number: UInt64? = nil) {
    node.answered(number ?? self.number, answer, at: now)
    collect()
  }

  func fail(_ failure: NodeFailure) {
    node.failed(number, failure, at: now)
    collect()
  }

  /// The call that is under way.
  var current: UInt64 { number }

  func change(_ body: (inout FleetNode) -> Void) {
    body(&node)
    collect()
  }

  private func collect() { actions += node.takeActions() }

  func takeActions() -> [NodeAction] {
    collect()
    defer { actions = [] }
    return actions
  }

  // MARK: Usual answers

  /// Waits until a pause is over, and answers hello.
  func join(_ worker: Int64) throws {
    now = max(now, node.nextWake)
    guard case .hello = call() else { throw Differs("no hello") }
    answer(.hello(worker: worker, now: now))
  }

  /// A window, and its classes are known.
  func open(lanes: Int, for span: Span = Time.hour) throws {
    offer(lanes: lanes, for: span)
    try learn()
  }

  /// The same window, or another one.
  func offer(lanes: Int, for span: Span = Time.hour, takesSuspects: Bool = true) {
    let room = NodeRoom(lanes: lanes, until: now + span, takesSuspects: takesSuspects) { _ in true }
    change { $0.offer(room, at: now) }
  }

  /// Answers a question for classes.
  func learn() throws {
    guard case .classes = call() else { throw Differs("no question for classes") }
    answer(.classes([FleetClass(1, .refresh, [], labels: [], handler: Bytes("h"))]))
  }

  /// The turn that is due now.
  func turn() throws -> NodeTurn {
    let call = call()
    guard case .turn(let turn) = call else { throw Differs("no turn, but \(call?.words ?? "nothing")") }
    return turn
  }

  /// A turn that claims, answered with so many runs of so long.
  @discardableResult
  func claim(_ count: Int, of estimate: Span = Time.second, suspect: Bool = false) throws -> NodeTurn {
    let turn = try turn()
    answer(.turn(given(count, of: estimate, suspect: suspect, to: turn)))
    return turn
  }

  /// What the database answers a turn that gives so many runs, and whose decisions all count.
  func given(_ count: Int, of estimate: Span = Time.second, suspect: Bool = false, to turn: NodeTurn) -> TurnAnswer {
    var answer = TurnAnswer()
    answer.decided = turn.decisions.map { DecidedRun(run: $0.key.run, counts: true) }
    for _ in 0..<count {
      lastRun += 1
      answer.claimed.append(
        NodeRun(
          RunKey(run: lastRun, task: 100 - lastRun), id: Bytes("t"), handler: Bytes("h"), input: Bytes(""),
          fleetClass: 1, estimate: estimate, attempt: 1, generation: 0, line: 1 << 8 | (suspect ? 1 : 0),
          lastRun: lastRun))
    }
    return answer
  }

  /// Answers the beat that is due now.
  func beat(_ worker: Int64, _ change: (inout BeatAnswer) -> Void = { _ in }) throws -> NodeBeat {
    guard case .beat(let beat) = call() else { throw Differs("no beat") }
    renew(change)
    guard beat.worker == worker else { throw Differs("a beat of \(beat.worker)") }
    return beat
  }

  /// Answers a beat: the lease is whole again.
  func renew(_ change: (inout BeatAnswer) -> Void = { _ in }) {
    var answer = BeatAnswer()
    answer.expires = now + Self.lease
    change(&answer)
    self.answer(.beat(answer))
  }

  /// The runs that were begun since actions were taken.
  var begun: [Int64] { actions.compactMap { if case .begin(let run) = $0 { run.key.run } else { nil } } }

  /// Those that were asked to stop.
  var stopped: [Int64: NodeStop] {
    actions.reduce(into: [:]) { if case .stop(let run, let why) = $1 { $0[run] = why } }
  }

  /// What was told of decisions.
  var decided: [Int64: Bool] {
    actions.reduce(into: [:]) { if case .decided(let run, let counts) = $1 { $0[run] = counts } }
  }

  func finish(_ run: Int64, result: Bytes? = nil) throws {
    let decision = try NodeDecision(.newData, response: Time.second, result: result)
    change { $0.ended(run, .decided(decision), at: now) }
  }
}

extension NodeCall {
  /// Its name, with the incarnation if there may be several.
  var words: String {
    switch self {
    case .beat(let beat): "\(name) \(beat.worker)"
    case .bye(let worker): "\(name) \(worker)"
    default: name
    }
  }

  var name: String {
    switch self {
    case .hello: "hello"
    case .beat: "beat"
    case .classes: "classes"
    case .turn: "turn"
    case .fate: "fate"
    case .bye: "bye"
    }
  }
}
