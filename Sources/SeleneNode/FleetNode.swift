// What a worker of a fleet decides, without a connection, a clock or a thread: which call to make next, which runs to begin
// and to stop, and until when it may believe that they are its own (N8 to N15, N22, N25, N28, N34).

import SeleneCore

/// A node. Every call says the time of the node's own clock, which counts what the machine sleeps; what is to be done in the
/// process is taken with `takeActions` after each call. What calls and runs are made of are objects, whose copies cost little
/// code.
package final class FleetNode {
  package let options: NodeOptions
  var now: Instant = .min

  /// In the order in which they were said hello to; at most one takes runs.
  var incarnations: [Incarnation] = []
  var room: NodeRoom?
  /// Claimed and not begun, in the order of the claims.
  var ready: [NodeRun] = []
  /// In a lane.
  var working: [NodeRun] = []
  /// When a lane was taken or freed last.
  var movedAt: Instant = .min
  var decisions = DecisionQueue()
  var times = ClassTimes()
  var ratio = EstimateRatio()
  private var ratios: [(fleetClass: Int32, ratio: EstimateRatio)] = []
  /// To be given back as before the run.
  var returned: [ReturnedRun] = []
  /// When they are, after somebody was at a record.
  var returnAt: Instant = .min

  var classes: [FleetClass] = []
  /// Of `classes`, what the last room serves.
  var serves: [Int32] = []
  /// Of those, what is claimed now.
  var wanted: [Int32] = []
  /// Where the last claims ended.
  var marks = LineMarks()
  /// What a run of the last claim was expected to take.
  var meanEstimate: Span?
  /// How far the database's clock is before the own one: for when to look again, and nothing else (N2).
  var clockDifference: Span?
  /// The last beat that was answered found that the clocks had not run alike (N12).
  var isClockOff = false

  /// The fleet knows what an incarnation means that says it holds no more (N14); one of an earlier release does not.
  var saysAll = true
  /// It can be told which runs have begun (N58).
  var saysBegun = true

  var underWay: CallUnderWay?
  private var lastNumber: UInt64 = 0
  var pause: NodePause
  /// When hello is said again after it was refused.
  var helloAt: Instant = .min
  /// When it is asked what became of decisions that are not known of.
  var fateAt: Instant = .min
  /// When classes are asked for again.
  var classesAt: Instant = .min
  /// When a claim is made that nothing else calls for.
  var claimAt: Instant = .min
  /// It was told that something is due since the call that is under way was made, whose answer may not know of it (N28).
  private var isHinted = false
  /// When the next task was due, as the last claim that gave nothing was told.
  var nextDue: Instant?
  /// When it is asked which runs are still the own, before the next beat asks: a hint may be of one that was cancelled (N28).
  var askAt: Instant = Time.never
  /// When a turn last told that.
  var askedAt: Instant = .min
  /// When a node that closes waits no longer for the database.
  var closesAt: Instant?
  /// When what it still runs then is asked to stop, and when it goes back whether it has come back or not (V5).
  var stopsAt: Instant = Time.never
  var lastReturnAt: Instant = Time.never
  /// It makes no more calls.
  package internal(set) var isClosed = false
  /// Why the last call has no answer, or the last turn, while there is one to make; nil once it has.
  package internal(set) var trouble: NodeFailure?
  /// The last turn was refused, and no call has remained without an answer since.
  var isTurnRefused = false
  var actions: [NodeAction] = []

  /// - Parameter options: checked.
  package init(_ options: NodeOptions) {
    self.options = options
    pause = NodePause(options)
  }

  // MARK: Calls

  /// The call to make now; nil if one is under way, or none is due before `nextWake`.
  package func step(at instant: Instant) -> NodeRequest? {
    advance(to: instant)
    guard underWay == nil, !isClosed, now >= pause.until, let call = nextCall() else { return nil }
    lastNumber += 1
    isHinted = false
    if case .turn = call { decisions.send() }
    underWay = CallUnderWay(
      number: lastNumber, call: call, sent: now, deadline: now.adding(options.timeout))
    return NodeRequest(number: lastNumber, call: call, timeout: options.timeout)
  }

  /// What the call of a number answered, which is of the same name; nothing happens if the node waits for it no longer.
  package func answered(_ number: UInt64, _ answer: NodeAnswer, at instant: Instant) {
    advance(to: instant)
    guard let call = underWay, call.number == number else { return }
    underWay = nil
    if case .turn = call.call { isTurnRefused = false }
    // That other calls are answered does not make a turn that is refused any better.
    if !isTurnRefused || !isTurnWanted { trouble = nil }
    pause.end()
    take(answer, to: call)
    if isHinted { look() }
    advance(to: instant)
  }

  /// The same from the rows of its statement.
  package func answered(_ number: UInt64, rows: [[NodeValue]], at instant: Instant) {
    advance(to: instant)
    guard let call = underWay, call.number == number else { return }
    if let answer = NodeAnswer(to: call.call, rows: rows) { return answered(number, answer, at: instant) }
    actions.append(.unreadable)
    fail(.maybeSent)
    advance(to: instant)
  }

  /// The call of a number has no answer; nothing happens if the node waits for it no longer.
  package func failed(_ number: UInt64, _ failure: NodeFailure, at instant: Instant) {
    advance(to: instant)
    guard let call = underWay, call.number == number else { return }
    fail(failure)
    advance(to: instant)
  }

  /// Something is due, or was cancelled (N28).
  package func hint(at instant: Instant) {
    advance(to: instant)
    look()
    isHinted = underWay != nil
    // However many hints come, no more often than a poll.
    if !ready.isEmpty || !working.isEmpty { askAt = max(now, askedAt.adding(options.poll)) }
  }

  /// There may be something to claim, or another class.
  private func look() {
    (claimAt, classesAt) = (.min, .min)
    marks.hint()
  }

  // MARK: Runs

  /// A window is open, or another one than before: runs are begun in its lanes.
  package func offer(_ room: NodeRoom, at instant: Instant) {
    var room = room
    room.isFresh = self.room?.isFresh ?? true
    if self.room == nil { claimAt = .min }
    self.room = room
    lookAtClasses()
    if let takes = room.takes { giveBackReady { run in fleetClass(run.fleetClass).map(takes) == false } }
    advance(to: instant)
  }

  /// The window is over, or is not to begin anything more: what was not begun is given back (N22).
  package func withdraw(at instant: Instant) {
    endRoom()
    advance(to: instant)
  }

  /// A run that was to begin has begun.
  package func began(_ run: Int64, at instant: Instant) {
    now = max(now, instant)
    for one in working where one.key.run == run && one.begunAt == nil { one.begunAt = now }
  }

  /// A run that was begun has come back.
  package func ended(_ run: Int64, _ end: NodeEnd, at instant: Instant) {
    now = max(now, instant)
    guard let place = working.firstIndex(where: { $0.key.run == run }) else { return }
    let ended = working.remove(at: place)
    movedAt = now
    switch end {
    case .decided(let decision):
      if decision.outcome.isSuccess {
        times.add(decision.response, of: ended.fleetClass)
        ratio.add(decision.response, expected: ended.estimate)
        noteRatio(decision.response, of: ended)
      }
      decisions.add(OpenDecision(key: ended.key, id: ended.id, decision: decision, worker: ended.worker), at: now)
    case .returned: giveBack(ended)
    }
    advance(to: instant)
  }

  private func noteRatio(_ response: Span, of run: NodeRun) {
    var place = ratios.count
    for index in 0..<ratios.count where ratios[index].fleetClass == run.fleetClass { place = index }
    if place == ratios.count { ratios.append((run.fleetClass, EstimateRatio())) }
    ratios[place].ratio.add(response, expected: run.estimate)
  }

  /// What a run is likely to take: what it is expected to, as far as the last ones of its class here took that. A task that
  /// nobody said anything of is not kept from the last seconds of a window.
  package func likely(_ run: NodeRun) -> Span {
    for one in ratios where one.fleetClass == run.fleetClass { return one.ratio.likely(run.estimate) }
    return run.estimate
  }

  /// Takes nothing more, gives back what was not begun, and ends its incarnations once all runs have come back. In the last tenth
  /// of `grace`, at most 10 s, what it still runs is asked to stop; in the last half of that it goes back in any case (V5).
  package func close(at instant: Instant, grace: Span) {
    advance(to: instant)
    let grace = max(grace, 0)
    let last = min(grace / 10, 10 * Time.second)
    leave(at: now.adding(grace), last: last)
    advance(to: instant)
  }

  /// Takes nothing more, and waits for the database until then.
  func leave(at end: Instant, last: Span = 0) {
    endRoom()
    stopsAt = min(stopsAt, end == Time.never ? end : end.subtracting(last))
    lastReturnAt = min(lastReturnAt, end == Time.never ? end : end.subtracting(last / 2))
    // Without a grace a call's time is left to give back what is here.
    let isAnyLeft = !working.isEmpty || !returned.isEmpty
    closesAt = min(closesAt ?? Time.never, end <= now && isAnyLeft ? now.adding(options.timeout) : end)
    for place in incarnations.indices { incarnations[place].takes = false }
  }

  // MARK: Questions

  /// A class that it was told of.
  package func fleetClass(_ number: Int32) -> FleetClass? { classes.first { $0.number == number } }

  /// What any of the classes that it was told of asks for.
  package var constraints: Constraints { classes.reduce([]) { $0.union($1.constraints) } }

  /// It takes nothing more.
  package var isLeaving: Bool { closesAt != nil }

  /// Whether runs may come for the room that is offered without anything new happening: a claim is on its way, or is the next
  /// thing to be asked. Once the fleet has answered that there is nothing, it is not.
  package var isLooking: Bool {
    guard room != nil, !isClosed, closesAt == nil else { return false }
    guard ready.isEmpty else { return true }
    guard claim(of: [0]) != nil || !incarnations.contains(where: { $0.takes }) else { return false }
    if let underWay {
      switch underWay.call {
      case .hello, .classes: return true
      case .turn(let turn) where turn.claim != nil: return true
      case .beat, .turn, .fate, .bye: break
      }
    }
    guard trouble == nil else { return false }
    guard incarnations.contains(where: { $0.takes }) else { return helloAt <= now }
    return classesAt <= now || (!wanted.isEmpty && nextClaim <= now)
  }

  /// How it stands, for people.
  package var standing: NodeStanding {
    let taking = incarnations.first { $0.takes }
    return NodeStanding(
      state: isClosed ? .closed : closesAt != nil ? .leaving : taking == nil ? .joining : .working,
      worker: taking?.worker ?? 0, believesUntil: taking?.believesUntil(options) ?? .min,
      working: working.count, ready: ready.count, undecided: decisions.count)
  }

  /// What is to be done in the process, in this order.
  package func takeActions() -> [NodeAction] {
    defer { actions = [] }
    return actions
  }
}

/// How a node stands.
package struct NodeStanding: Sendable {
  package enum State: Int32, Sendable {
    /// It has no lease, and asks for one.
    case joining = 0
    case working = 1
    /// It takes nothing more.
    case leaving = 2
    /// It makes no more calls.
    case closed = 3
  }

  package let state: State
  /// The incarnation that takes runs; 0: none does.
  package let worker: Int64
  package let believesUntil: Instant
  package let working: Int
  package let ready: Int
  package let undecided: Int
}

/// A run that is to be given back, and the incarnation that claimed it.
struct ReturnedRun {
  let key: RunKey
  let worker: Int64
}

/// The one call that waits for its answer.
struct CallUnderWay {
  let number: UInt64
  let call: NodeCall
  let sent: Instant
  let deadline: Instant
}

/// A pause after calls that failed: it doubles, and differs from node to node.
struct NodePause {
  private(set) var until: Instant = .min
  private var length: Span = 0
  private let longest: Span
  private var generator: Generator

  init(_ options: NodeOptions) {
    longest = options.longestPause
    generator = Generator(seed: options.seed)
  }

  mutating func begin(at now: Instant) {
    length = min(max(length * 2, longest / 64, 1), longest)
    until = now.adding(length / 2 + Span(generator.upTo(UInt64(length / 2))))
  }

  mutating func end() { (until, length) = (.min, 0) }
}
