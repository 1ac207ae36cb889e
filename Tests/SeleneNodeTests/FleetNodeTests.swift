// One node: what it calls, begins, stops and gives back, rule by rule.

import SeleneCore
import Testing

@testable import SeleneNode

@Suite("A node") struct FleetNodeTests {
  // MARK: Leases

  @Test("N10 it beats every third of its lease, with what its clock ran since the last one was sent and what it runs")
  func beats() throws {
    let desk = try NodeDesk.working(1, lanes: 2)
    let joined = desk.now
    desk.now = joined + NodeDesk.lease / 3 - 1
    #expect(desk.call()?.words == "classes")
    desk.now += 1
    desk.answer(.classes([]))
    let first = try desk.beat(1)
    #expect(first.elapsed == NodeDesk.lease / 3)
    #expect(first.held == [1])
    #expect(desk.node.nextWake <= desk.now + NodeDesk.lease / 3)
    desk.now += NodeDesk.lease / 3 + 5
    #expect(try desk.beat(1).elapsed == NodeDesk.lease / 3 + 5)
  }

  @Test("N12 an incarnation of which a beat was not answered judges nobody any more")
  func judges() throws {
    let desk = try NodeDesk.working(1, lanes: 1)
    desk.now += NodeDesk.lease / 3
    #expect(desk.call()?.words == "beat 1")
    desk.fail(.maybeSent)
    desk.now = desk.node.nextWake
    #expect(try desk.beat(1).elapsed == nil)
    try desk.join(2)
    for _ in 0..<3 {
      desk.now += NodeDesk.lease / 3
      #expect(try desk.beat(1).elapsed == nil)
      #expect(try desk.beat(2).elapsed != nil)
    }
  }

  @Test("N13 belief ends 0.8 of the lease after the last beat that was answered was sent; what runs then is to stop")
  func belief() throws {
    let desk = try NodeDesk.working(1, lanes: 1)
    desk.now += NodeDesk.lease / 3
    #expect(desk.call()?.words == "beat 1")
    let sent = desk.now
    desk.now += Time.second
    desk.renew()
    // The database is away.
    while desk.now < sent + NodeDesk.lease * 4 / 5 {
      #expect(desk.stopped.isEmpty)
      desk.now = min(desk.node.nextWake, sent + NodeDesk.lease * 4 / 5)
      if desk.call() != nil { desk.fail(.notSent) }
    }
    #expect(desk.stopped == [1: .leaseLost])
  }

  @Test("N13 of an incarnation that is over nothing is begun, and what it still reports is offered")
  func over() throws {
    let desk = try NodeDesk.working(1, lanes: 1)
    try desk.finish(1)
    // The process was away meanwhile: whatever the answer says comes too late.
    let turn = try desk.turn()
    desk.now += NodeDesk.lease
    desk.answer(.turn(desk.given(1, to: turn)))
    #expect(desk.begun == [1])
    var calls: [String] = []
    while calls.last != "bye 1", calls.count < 9 {
      desk.now = max(desk.now, desk.node.nextWake)
      let call = desk.call()
      calls.append(call?.words ?? "none")
      switch call {
      case .fate(let asked): desk.answer(.fate(asked.map { RunFate(run: $0.key.run, fate: .open) }))
      case .turn(let turn): desk.answer(.turn(desk.given(0, to: turn)))
      case .hello: desk.answer(.hello(worker: 2, now: desk.now))
      case .beat:
        desk.renew()
      case .classes: desk.answer(.classes([]))
      default: desk.answer(.bye)
      }
    }
    #expect(calls == ["beat 1", "hello", "fate", "classes", "turn", "bye 1"])
    #expect(desk.decided == [1: true])
  }

  @Test("N10 an incarnation that the database does not know is over: its runs stop, and hello is said anew")
  func forgotten() throws {
    for refuses in [false, true] {
      let desk = try NodeDesk.working(1, lanes: 2)
      if refuses {
        _ = try desk.turn()
        desk.fail(.refused(.overIncarnation))
      } else {
        desk.now += NodeDesk.lease / 3
        _ = try desk.beat(1) { $0.expires = nil }
      }
      #expect(desk.stopped == [1: .leaseLost])
      try desk.join(2)
      try desk.finish(1)
      #expect(desk.node.incarnations.map(\.worker) == [2])
    }
  }

  // MARK: No answer

  @Test("N14 a turn that is not answered: hello anew, what became of its decisions is asked, open ones are sent again")
  func unanswered() throws {
    let desk = try NodeDesk.working(1, lanes: 2)
    try desk.claim(1)
    try desk.finish(1)
    try desk.finish(2)
    let lost = try desk.turn()
    #expect(lost.decisions.map(\.key.run) == [2, 1])
    #expect(lost.claim != nil)
    let number = desk.current
    desk.now += NodeDesk.lease / 10
    #expect(desk.call() == nil)
    try desk.join(2)
    // An answer that comes now is none.
    desk.answer(.turn(desk.given(2, to: lost)), to: number)
    #expect(desk.begun == [1, 2])
    guard case .fate(let asked) = desk.call() else { throw Differs("no question for fates") }
    #expect(asked.map(\.key.run) == [1, 2])
    desk.answer(.fate([RunFate(run: 1, fate: .open), RunFate(run: 2, fate: .decided)]))
    #expect(desk.decided == [2: true])
    try desk.learn()
    let turn = try desk.turn()
    #expect(turn.worker == 2)
    #expect(turn.decisions.map(\.key.run) == [1])
    desk.answer(.turn(desk.given(0, to: turn)))
    #expect(desk.decided == [1: true, 2: true])
    // What the lost answer gave goes back, once what was said meanwhile is heard.
    _ = try desk.beat(1)
    #expect(desk.call()?.words == "bye 1")
    desk.answer(.bye)
    #expect(desk.node.incarnations.map(\.worker) == [2])
  }

  @Test("N14 a decision that was sent twice and is stale may have counted the first time: that is asked")
  func lateDecision() throws {
    for fate in [RunFate.Fate.decided, .lost] {
      let desk = try NodeDesk.working(1, lanes: 1)
      try desk.finish(1)
      _ = try desk.turn()
      desk.fail(.maybeSent)
      try desk.join(2)
      #expect(desk.call()?.words == "fate")
      desk.answer(.fate([RunFate(run: 1, fate: .open)]))
      try desk.learn()
      _ = try desk.turn()
      var answer = TurnAnswer()
      answer.decided = [DecidedRun(run: 1, counts: false)]
      desk.answer(.turn(answer))
      #expect(desk.decided.isEmpty)
      #expect(desk.call()?.words == "fate")
      desk.answer(.fate([RunFate(run: 1, fate: fate)]))
      #expect(desk.decided == [1: fate == .decided])
    }
  }

  @Test("N14 it goes on beating the old incarnation until its runs are decided")
  func oldIncarnation() throws {
    let desk = try NodeDesk.working(1, lanes: 2)
    _ = try desk.turn()
    desk.fail(.maybeSent)
    try desk.join(2)
    try desk.learn()
    for _ in 0..<4 {
      desk.now += NodeDesk.lease / 3
      #expect(try desk.beat(1).held == [1])
      #expect(try desk.beat(2).held == [])
    }
    #expect(desk.stopped.isEmpty)
    try desk.finish(1)
    try desk.learn()
    let turn = try desk.turn()
    #expect(turn.decisions.map(\.key.run) == [1])
    desk.answer(.turn(desk.given(0, to: turn)))
    #expect(desk.call()?.words == "bye 1")
  }

  @Test("N14 an incarnation that takes nothing more says with its beats that what it does not hold is nobody's")
  func holdsAll() throws {
    let desk = try NodeDesk.working(1, lanes: 2)
    desk.now += NodeDesk.lease / 3
    #expect(try !desk.beat(1).holdsAll)
    #expect(desk.call()?.words == "classes")
    desk.fail(.maybeSent)
    try desk.join(2)
    try desk.learn()
    try desk.claim(0)
    let first = try desk.beat(1)
    #expect(first.held == [1] && first.holdsAll)
    // A fleet of an earlier release does not know the word.
    desk.now += NodeDesk.lease / 3
    guard case .beat = desk.call() else { throw Differs("no beat") }
    desk.fail(.refused(SQLState("42883")))
    desk.now = desk.node.nextWake
    #expect(try !desk.beat(1).holdsAll)
    // What is asked to stop since belief has ended may be at work yet.
    let other = try NodeDesk.working(1, lanes: 2)
    other.now += NodeDesk.lease / 5 * 4
    #expect(try !other.beat(1).holdsAll)
    #expect(other.stopped.count == 1)
  }

  @Test("N29 what somebody keeps from being given back is said again a poll later, and keeps nothing else")
  func keptBack() throws {
    let desk = try NodeDesk.joined(horizon: 10 * Time.second)
    try desk.open(lanes: 1)
    try desk.claim(1)
    try desk.claim(1)
    #expect(desk.begun == [1])
    desk.change { $0.withdraw(at: desk.now) }
    desk.change { $0.ended(1, .returned, at: desk.now) }
    let turn = try desk.turn()
    #expect(turn.back.map(\.run).sorted() == [1, 2])
    var answer = desk.given(0, to: turn)
    answer.kept = [1]
    desk.answer(.turn(answer))
    #expect(desk.call() == nil)
    #expect(desk.node.nextWake == desk.now + Time.second)
    desk.offer(lanes: 1)
    let claim = try desk.claim(0)
    #expect(claim.back.isEmpty && claim.claim != nil)
    desk.change { $0.withdraw(at: desk.now) }
    desk.now += Time.second
    let again = try desk.turn()
    #expect(again.back.map(\.run) == [1])
    desk.answer(.turn(desk.given(0, to: again)))
    #expect(desk.call() == nil)
  }

  @Test("N29 an incarnation whose bye is refused beats on, and keeps no other from its calls")
  func refusedBye() throws {
    let desk = try NodeDesk.joined()
    desk.now += NodeDesk.lease / 3
    #expect(desk.call()?.words == "beat 1")
    desk.fail(.notSent)
    var calls: [String] = []
    let end = desk.now + 2 * NodeDesk.lease
    while calls.last != "bye 1" || desk.now < end {
      desk.now = max(desk.now, desk.node.nextWake)
      let call = desk.call()
      calls.append(call?.words ?? "none")
      switch call {
      case .hello: desk.answer(.hello(worker: 2, now: desk.now))
      case .beat: desk.renew()
      default: if desk.now < end { desk.fail(.refused(SQLState("55P03"))) } else { desk.answer(.bye) }
      }
      guard calls.count < 500 else { throw Differs("no bye at the end") }
    }
    #expect(calls.filter { $0 == "hello" }.count == 1)
    #expect(calls.filter { $0 == "beat 1" }.count >= 5)
    #expect(calls.filter { $0 == "beat 2" }.count >= 5)
    #expect((20...70).contains(calls.filter { $0 == "bye 1" }.count))
    #expect(desk.node.standing.worker == 2)
  }

  @Test("N28 a hint that comes while a call is under way is not lost with its answer")
  func hintMeanwhile() throws {
    let desk = try NodeDesk.joined()
    try desk.open(lanes: 1)
    let turn = try desk.turn()
    desk.change { $0.hint(at: desk.now) }
    desk.answer(.turn(desk.given(0, to: turn)))
    try desk.learn()
    try desk.claim(0)
    #expect(desk.call() == nil)
    // The same where it asks for classes.
    desk.change { $0.hint(at: desk.now) }
    guard case .classes = desk.call() else { throw Differs("no question for classes") }
    desk.change { $0.hint(at: desk.now) }
    desk.answer(.classes([]))
    try desk.learn()
    try desk.claim(0)
    #expect(desk.call() == nil)
    #expect(desk.node.nextWake == desk.now + Time.second)
  }

  @Test("N28 what is due and was not given, since somebody is at it, is asked for again a poll later")
  func keptDue() throws {
    let desk = try NodeDesk.joined()
    try desk.open(lanes: 1)
    let due = desk.now
    for wait in [Time.second / 100, Time.second, Time.second] {
      let turn = try desk.turn()
      var answer = desk.given(0, to: turn)
      answer.nextDue = due
      desk.answer(.turn(answer))
      // Classes are asked for once a second, too.
      #expect(abs(desk.node.nextWake - desk.now - wait) <= Time.second / 100)
      desk.now += wait
      if wait == Time.second { try desk.learn() }
    }
  }

  @Test("N14 a hello that is refused for what passes is said again after a pause, not a third of the lease later")
  func helloAgain() throws {
    let states: [(StaticString, Bool)] = [
      ("55P03", true), ("53300", true), ("40001", true), ("25006", true), ("SE019", false), ("28P01", false),
    ]
    for (state, isSoon) in states {
      let desk = try NodeDesk()
      #expect(desk.call()?.words == "hello")
      desk.fail(.refused(SQLState(state)))
      #expect((desk.node.nextWake < desk.now + 3 * Time.second) == isSoon)
      #expect(desk.node.nextWake <= desk.now + NodeDesk.lease / 3)
    }
  }

  @Test("N34 a beat says every run whose end the database may not know: it keeps these, and no others, of what it lost")
  func heldIsAll() throws {
    let desk = try NodeDesk.working(3, lanes: 3)
    try desk.finish(1)
    _ = try desk.turn()
    desk.fail(.maybeSent)
    try desk.join(2)
    desk.now += NodeDesk.lease / 3
    #expect(try desk.beat(1).held.sorted() == [1, 2, 3])
    // What is to stop since its lease cannot be believed in is nobody's.
    desk.now += NodeDesk.lease / 5 * 4
    #expect(try desk.beat(1).held == [1])
    #expect(desk.stopped.count == 2)
  }

  @Test("N34 a relaxed node that was told of a run that it has lost says at once that it knows")
  func relaxedSays() throws {
    for relaxed in [false, true] {
      let desk = try NodeDesk.working(1, lanes: 1, relaxed: relaxed)
      desk.now += NodeDesk.lease / 3
      #expect(try desk.beat(1) { $0.lost = [LostRun(run: 1, reason: .interrupted)] }.held == [1])
      guard relaxed else {
        #expect(desk.call() == nil)
        continue
      }
      #expect(try desk.beat(1).held == [])
      #expect(desk.call() == nil)
    }
  }

  @Test("N37 that it is to leave is heard, though the incarnation that was asked has lost its connection")
  func drainedMeanwhile() throws {
    let desk = try NodeDesk.joined()
    try desk.open(lanes: 1)
    _ = try desk.turn()
    desk.fail(.notSent)
    try desk.join(2)
    try desk.learn()
    try desk.claim(0)
    _ = try desk.beat(1) { $0.isDraining = true }
    #expect(desk.node.isLeaving)
    for worker in 1...2 {
      #expect(desk.call()?.words == "bye \(worker)")
      desk.answer(.bye)
    }
    #expect(desk.node.isClosed)
  }

  @Test("N34 hello says that a node is relaxed, and else nothing new", arguments: [false, true])
  func relaxedIsSaid(_ relaxed: Bool) {
    let statements = NodeStatements(
      schema: Bytes("selene"), name: Bytes("n"), version: Bytes("1"), queues: [], relaxed: relaxed)
    let hello = statements.statement(of: .hello, lease: 1)
    #expect(String(decoding: hello.sql.buffer, as: UTF8.self).hasSuffix("$4::int[], relaxed => true)") == relaxed)
    #expect(hello.values.count == 4)
  }

  @Test("N34 after a lost connection hello is said before anything is claimed, whatever call it was lost in")
  func reconnects() throws {
    for failure in [NodeFailure.notSent, .maybeSent, .refused(SQLState("57P01")), .refused(SQLState("08006"))] {
      let desk = try NodeDesk.joined()
      desk.now += NodeDesk.lease / 3
      #expect(desk.call()?.words == "beat 1")
      desk.fail(failure)
      desk.now = desk.node.nextWake
      _ = try desk.beat(1)
      #expect(desk.call()?.words == "bye 1")
      desk.answer(.bye)
      try desk.join(2)
    }
  }

  @Test("a call that fails is made again after a pause that doubles, at most a twelfth of the lease")
  func pauses() throws {
    let desk = try NodeDesk()
    var last = desk.now
    for round in 0..<12 {
      desk.now = desk.node.nextWake == .min ? desk.now : desk.node.nextWake
      #expect(desk.now - last <= NodeDesk.lease / 12)
      if round > 9 { #expect(desk.now - last >= NodeDesk.lease / 24) }
      last = desk.now
      #expect(desk.call()?.words == "hello")
      desk.fail(.notSent)
      #expect(desk.node.nextWake > desk.now)
    }
  }

  @Test("N14 that a turn is refused is over when one is answered, not when a beat is, or when there is none to make")
  func refusedTurn() throws {
    let desk = try NodeDesk.working(1, lanes: 1)
    let full = NodeFailure.refused(SQLState("53100"))
    try desk.finish(1)
    _ = try desk.turn()
    desk.fail(full)
    desk.now += NodeDesk.lease / 3
    _ = try desk.beat(1)
    #expect(desk.node.trouble == full)
    try desk.learn()
    #expect(desk.node.trouble == full)
    _ = try desk.turn()
    desk.fail(full)
    desk.now = desk.node.nextWake
    try desk.claim(0)
    #expect(desk.node.trouble == nil)
    desk.now += Time.second
    while case .classes? = desk.call() {
      desk.answer(.classes(desk.node.classes))
      desk.now = desk.node.nextWake
    }
    desk.fail(full)
    #expect(desk.node.trouble == full)
    desk.change { $0.withdraw(at: desk.now) }
    desk.now = desk.node.nextWake
    _ = try desk.beat(1)
    #expect(desk.node.trouble == nil)
  }

  @Test("N33 a node that the fleet refuses takes nothing, says so, and asks again later")
  func refused() throws {
    let desk = try NodeDesk()
    _ = desk.call()
    desk.fail(.refused(SQLState("SE019")))
    #expect(
      desk.takeActions().contains { if case .refused(let state) = $0 { state == SQLState("SE019") } else { false } })
    #expect(desk.node.nextWake == desk.now + NodeDesk.lease / 3)
    try desk.join(1)
  }

  @Test("a decision that the database refuses is found and told as a bare failure; the others are told as they are")
  func refusedDecision() throws {
    let desk = try NodeDesk.working(1, lanes: 3)
    try desk.claim(2)
    let bad = Bytes("bad")
    try desk.finish(1)
    try desk.finish(2, result: bad)
    try desk.finish(3)
    var told: [Int64: Outcome] = [:]
    for _ in 0..<12 where told.count < 3 {
      desk.now = max(desk.now, desk.node.nextWake)
      switch desk.call() {
      case .turn(let turn):
        if turn.decisions.contains(where: { $0.decision.result != nil }) {
          desk.fail(.refused(SQLState("SE020")))
        } else {
          for one in turn.decisions { told[one.key.run] = one.decision.outcome }
          desk.answer(.turn(desk.given(0, to: turn)))
        }
      case .classes: desk.answer(.classes([]))
      default: throw Differs("another call")
      }
    }
    #expect(told == [1: .newData, 2: .failed, 3: .newData])
    #expect(desk.decided == [1: true, 2: true, 3: true])
  }

  @Test("N23 a beat tells what runs of each class took, once, also after one that was not made")
  func classTimes() throws {
    let desk = try NodeDesk.working(1, lanes: 2)
    try desk.claim(1)
    try desk.finish(1)
    try desk.finish(2)
    let turn = try desk.turn()
    desk.answer(.turn(desk.given(0, to: turn)))
    func beat(_ failure: NodeFailure?) throws -> [ClassTime] {
      desk.now = max(desk.now + NodeDesk.lease / 3, desk.node.nextWake)
      guard case .beat(let beat) = desk.call() else { throw Differs("no beat") }
      guard let failure else {
        desk.renew()
        return beat.times
      }
      desk.fail(failure)
      return beat.times
    }
    let both = [ClassTime(fleetClass: 1, count: 2, total: 2 * Time.second)]
    #expect(try beat(.refused(SQLState("40P01"))) == both)
    #expect(try beat(nil) == both)
    #expect(try beat(nil) == [])
  }

  @Test("a turn that the database refuses for its claim changes no decision")
  func refusedClaim() throws {
    let desk = try NodeDesk.working(1, lanes: 2)
    try desk.finish(1)
    #expect(try desk.turn().claim != nil)
    desk.fail(.refused(SQLState("22003")))
    desk.now = desk.node.nextWake
    let alone = try desk.turn()
    #expect(alone.claim == nil)
    #expect(alone.decisions.map(\.decision.outcome) == [.newData])
    desk.answer(.turn(desk.given(0, to: alone)))
    desk.now = desk.node.nextWake
    #expect(try desk.turn().claim != nil)
  }

  @Test("rows that are not those of the statement are told, and the call is as if it had no answer")
  func unreadable() throws {
    let desk = try NodeDesk()
    for rows in [[], [[.integer(1)]], [[.text(Bytes("1")), .integer(0)]], [[.null, .null]]] as [[[NodeValue]]] {
      desk.now = max(desk.now, desk.node.nextWake)
      #expect(desk.call()?.words == "hello")
      desk.change { $0.answered(desk.current, rows: rows, at: desk.now) }
      #expect(desk.takeActions().contains { if case .unreadable = $0 { true } else { false } })
    }
    desk.now = desk.node.nextWake
    #expect(desk.call()?.words == "hello")
    desk.change { $0.answered(desk.current, rows: [[.integer(7), .integer(0)]], at: desk.now) }
    #expect(desk.node.incarnations.map(\.worker) == [7])
  }

  // MARK: Claims

  @Test("N7 a claim looks from where the last ended; at all lines every second, where one is at its end, and at a hint")
  func lines() throws {
    let desk = try NodeDesk.joined()
    try desk.open(lanes: 3)
    /// One more run ends, and so many come in its place.
    func claim(_ count: Int) throws -> NodeClaim? {
      if let run = desk.begun.first(where: { desk.decided[$0] == nil }) { try desk.finish(run) }
      return try desk.claim(count).claim
    }
    #expect(try claim(1)?.classes == [1])
    let second = try desk.claim(2).claim
    #expect(second?.classes == [])
    #expect(second?.lines == [LineMark(line: 1 << 8, since: 1)])
    #expect(try claim(1)?.lines == [LineMark(line: 1 << 8, since: 3)])
    #expect(try claim(0)?.lines == [LineMark(line: 1 << 8, since: 4)])
    // That line has nothing more: all are looked at, at once.
    #expect(try desk.claim(1).claim?.classes == [1])
    #expect(try claim(1)?.lines == [LineMark(line: 1 << 8, since: 5)])
    desk.change { $0.hint(at: desk.now) }
    try desk.finish(4)
    try desk.learn()
    #expect(try desk.claim(1).claim?.classes == [1])
    // What is given back may stand before the mark.
    desk.change { $0.ended(5, .returned, at: desk.now) }
    let turn = try desk.claim(1)
    #expect(turn.back.map(\.run) == [5])
    #expect(turn.claim?.classes == [1])
    desk.now += Time.second
    try desk.finish(6)
    try desk.learn()
    #expect(try desk.claim(1).claim?.classes == [1])
  }

  @Test("N7 of what is due only that is looked for that came since the last look at all lines")
  func dueSince() throws {
    let desk = try NodeDesk.joined()
    try desk.open(lanes: 2)
    let begin = desk.now
    #expect(try desk.claim(1).claim?.dueSince == 0)
    desk.now += Time.second / 10
    // The database's clock was told with hello, and is the own one here; a second is for those whose clock is behind.
    let second = try desk.claim(1).claim
    #expect(second?.lines.count == 1)
    #expect(second?.dueSince == begin - Time.second)
  }

  @Test("N18 of very many that are due some have not joined their lines yet: the next claims look from there")
  func dueAndWaiting() throws {
    let desk = try NodeDesk.joined()
    try desk.open(lanes: 2)
    let turn = try desk.turn()
    var answer = desk.given(1, to: turn)
    answer.nextDue = desk.now - Time.minute
    desk.answer(.turn(answer))
    #expect(try desk.claim(1).claim?.dueSince == desk.now - Time.minute)
  }

  @Test("N7 while looks at all lines rest, a class that is no longer served is not claimed of, and the others are")
  func otherClasses() {
    func run(_ line: Int32) -> NodeRun {
      NodeRun(
        RunKey(run: 1, task: 1), id: Bytes("t"), handler: Bytes("h"), input: Bytes(""), fleetClass: line >> 8,
        estimate: 1, attempt: 1, generation: 0, line: line, lastRun: 5)
    }
    var marks = LineMarks()
    let all = NodeClaim(classes: [1, 2], most: 2, room: Time.hour, total: Time.never, isFirst: false)
    for now in [0, Time.second] {
      marks.note([run(1 << 8), run(2 << 8)], of: all, at: now, took: Time.minute, began: nil, nextDue: nil)
    }
    marks.serve([2, 3])
    #expect(marks.usable(at: 2 * Time.second, for: Time.second) == [LineMark(line: 2 << 8, since: 5)])
    #expect(marks.usable(at: 62 * Time.second, for: Time.second).isEmpty)
  }

  @Test("N7 looks at all lines that take the database long take a twentieth of the time at most")
  func rests() throws {
    let desk = try NodeDesk.joined()
    try desk.open(lanes: 2)
    func claim(_ count: Int, took: Span) throws -> NodeClaim? {
      let turn = try desk.turn()
      var answer = desk.given(count, to: turn)
      answer.took = took
      desk.answer(.turn(answer))
      return turn.claim
    }
    // Once is nothing.
    #expect(try claim(0, took: Time.second / 5)?.classes == [1])
    desk.now += Time.second
    try desk.learn()
    let begin = desk.now
    #expect(try claim(1, took: Time.minute)?.classes == [1])
    // It claims from where that ended, also when nothing is there any more, and when it is told that something is.
    #expect(try claim(0, took: 0)?.lines.count == 1)
    #expect(desk.call() == nil, "where nothing was there it is asked again a poll later")
    desk.change { $0.hint(at: desk.now) }
    try desk.learn()
    #expect(try claim(0, took: 0)?.lines.count == 1)
    #expect(desk.call() == nil)
    #expect(!desk.node.isLooking)
    // What has ended is told at once all the same, and every poll it claims from there.
    try desk.finish(1)
    #expect(try claim(0, took: 0)?.lines.count == 1)
    while true {
      desk.now = min(desk.node.nextWake, begin + 4 * Time.second)
      guard desk.now < begin + 4 * Time.second else { break }
      switch desk.call() {
      case .classes?: desk.answer(.classes([FleetClass(1, .refresh, [], labels: [], handler: Bytes("h"))]))
      case .turn(let turn)?:
        #expect(turn.claim?.lines.count == 1)
        desk.answer(.turn(desk.given(0, to: turn)))
      default: throw Differs("a call at \(desk.now - begin)")
      }
    }
    if case .classes? = desk.call() {
      desk.answer(.classes([FleetClass(1, .refresh, [], labels: [], handler: Bytes("h"))]))
    }
    #expect(try desk.turn().claim?.classes == [1])
  }

  @Test("N22 a horizon's worth is a full claim, too, so that the next looks from where it ended")
  func fullByTime() throws {
    for (estimate, isFull) in [(Time.second / 5, true), (Time.second / 50, false)] {
      let desk = try NodeDesk.joined(horizon: Time.second)
      try desk.open(lanes: 2)
      try desk.claim(1, of: Time.second / 10)
      // It asks for 20 that take 2 s together.
      try desk.claim(9, of: estimate)
      for run in 1...8 { try desk.finish(Int64(run)) }
      #expect(try desk.turn().claim?.lines.isEmpty == !isFull)
    }
  }

  @Test("N22 the first of a window is the best, whatever it takes; then one a lane, of what fits")
  func claims() throws {
    let desk = try NodeDesk.joined()
    try desk.open(lanes: 3, for: Time.minute)
    #expect(
      try desk.claim(1).claim
        == NodeClaim(
          classes: [1], most: 1, room: Time.minute, total: Time.never, isFirst: true))
    desk.now += Time.second / 2
    #expect(
      try desk.claim(2).claim
        == NodeClaim(
          classes: [], lines: [LineMark(line: 1 << 8, since: 1)], dueSince: desk.now - 3 * Time.second / 2, most: 2,
          room: Time.minute - Time.second / 2, total: Time.never, isFirst: false))
    #expect(desk.begun == [1, 2, 3])
    #expect(desk.call() == nil)
    try desk.finish(2)
    #expect(try desk.claim(0).claim?.most == 1)
    // A window in which nothing was found yet still has its first to come.
    desk.change { $0.withdraw(at: desk.now) }
    desk.change { $0.offer(NodeRoom(lanes: 3, until: .max) { _ in true }, at: desk.now) }
    #expect(try desk.turn().claim?.isFirst == true)
  }

  @Test("N22 a claim takes at most what keeps the lanes busy for the horizon, and at most 500")
  func horizon() throws {
    let desk = try NodeDesk.joined(horizon: Time.second)
    try desk.open(lanes: 2)
    try desk.claim(1, of: Time.second / 10)
    let claim = try desk.claim(20, of: Time.second / 10).claim
    #expect(claim?.most == 20)
    #expect(claim?.total == 2 * Time.second)
    #expect(desk.begun == [1, 2])
    // 1.9 s are there; it claims again when less than half of the horizon is left.
    for run in 1...10 { try desk.finish(Int64(run)) }
    #expect(desk.begun.count == 12)
    try desk.finish(11)
    #expect(try desk.claim(0).claim?.most == 12)
    let tiny = try NodeDesk.joined(horizon: Time.second)
    try tiny.open(lanes: 2)
    try tiny.claim(1, of: 1)
    #expect(try tiny.turn().claim?.most == 500)
  }

  @Test("N58 a claim says how many begin at once, and the next call which others have; what waits for a window is none")
  func begun() throws {
    let desk = try NodeDesk.joined(horizon: Time.second / 4)
    // Of three lanes one is of an open window, two of windows that a driver may open.
    desk.change { $0.offer(NodeRoom(lanes: 3, lanesAhead: 2, until: Time.never) { _ in true }, at: desk.now) }
    try desk.learn()
    let first = try desk.claim(1)
    #expect(first.lanes == 1 && first.started == [])
    let ahead = try desk.claim(2)
    #expect(ahead.lanes == 0 && ahead.started == [])
    #expect(desk.begun == [1, 2, 3])
    // The driver has opened its window for one of them.
    desk.now += Time.second / 8
    desk.change { $0.began(2, at: desk.now) }
    try desk.finish(1)
    let told = try desk.claim(0)
    #expect(told.lanes == 0 && told.started == [2])
    // Once it is known it is not said again; and without another call it is said within the horizon.
    desk.now += Time.second / 8
    desk.change { $0.began(3, at: desk.now) }
    #expect(desk.node.nextWake <= desk.now + Time.second / 4)
    desk.now += Time.second / 4
    #expect(try desk.claim(0).started == [3])
  }

  @Test("N22 what was not begun when the window ends is given back, also what comes later")
  func windowEnds() throws {
    let desk = try NodeDesk.joined(horizon: Time.second)
    try desk.open(lanes: 1, for: 2 * Time.second)
    try desk.claim(1, of: Time.second / 10)
    try desk.claim(2, of: Time.second / 10)
    try desk.finish(1)
    let late = try desk.turn()
    desk.now += 2 * Time.second
    desk.answer(.turn(desk.given(1, to: late)))
    let turn = try desk.turn()
    #expect(turn.back.map(\.run) == [3, 4])
    #expect(turn.claim == nil)
    desk.answer(.turn(TurnAnswer()))
    #expect(desk.call() == nil)
    #expect(desk.begun == [1, 2])
  }

  @Test("N22 what waits for a lane behind runs that take longer than expected is given back, until a lane moves")
  func stalls() throws {
    let desk = try NodeDesk.joined(horizon: Time.second / 4)
    try desk.open(lanes: 2)
    try desk.claim(1, of: Time.second / 10)
    try desk.claim(4, of: Time.second / 10)
    #expect(desk.begun == [1, 2])
    // One that ends lets the others wait for the next.
    desk.now += 9 * Time.second / 10
    try desk.finish(1)
    #expect(desk.begun == [1, 2, 3])
    let stalls = desk.now + Time.second
    while desk.now < stalls {
      switch desk.call() {
      case .turn(let turn):
        #expect(turn.back.isEmpty)
        desk.answer(.turn(desk.given(0, to: turn)))
      case .classes: desk.answer(.classes(desk.node.classes))
      case nil:
        #expect(desk.node.nextWake > desk.now)
        desk.now = min(desk.node.nextWake, stalls)
      case let call?: throw Differs(call.words)
      }
    }
    let turn = try desk.turn()
    #expect(turn.back.map(\.run) == [4, 5])
    #expect(turn.claim == nil)
    desk.answer(.turn(TurnAnswer()))
    // However much it could plan ahead, the lanes stand.
    desk.now += Time.second
    desk.change { $0.hint(at: desk.now) }
    let asked = try desk.turn()
    #expect(asked.claim == nil && asked.held == [2, 3])
    desk.answer(.turn(TurnAnswer()))
    desk.now += 5 * Time.second
    #expect(desk.call() == nil)
    try desk.finish(2)
    try desk.learn()
    #expect(try desk.claim(3, of: Time.second / 10).claim != nil)
    #expect(desk.begun == [1, 2, 3, 6])
  }

  @Test("C8 a run that is given back is as before, and its lane is free")
  func returned() throws {
    let desk = try NodeDesk.working(1, lanes: 1)
    desk.change { $0.ended(1, .returned, at: desk.now) }
    let turn = try desk.turn()
    #expect(turn.back.map(\.run) == [1])
    #expect(turn.decisions.isEmpty)
    // Unless it is certain that it was told, it is told again.
    desk.fail(.maybeSent)
    try desk.join(2)
    try desk.learn()
    #expect(try desk.turn().back.map(\.run) == [1])
  }

  @Test("N15 a suspect runs alone in its process, whichever incarnation claimed it, and nothing is claimed beside it")
  func suspects() throws {
    let desk = try NodeDesk.working(1, lanes: 3)
    _ = try desk.turn()
    desk.fail(.maybeSent)
    try desk.join(2)
    try desk.learn()
    try desk.claim(1, suspect: true)
    #expect(desk.begun == [1])
    _ = try desk.beat(1)
    #expect(desk.call() == nil)
    try desk.finish(1)
    #expect(desk.begun == [1, 2])
    let turn = try desk.turn()
    #expect(turn.claim == nil)
    desk.answer(.turn(desk.given(0, to: turn)))
    #expect(desk.call()?.words == "bye 1")
    desk.answer(.bye)
    try desk.finish(2)
    #expect(try desk.turn().claim?.most == 3)
  }

  @Test("N15 beside a run that is over and has not come back no suspect is claimed, and one that was goes back")
  func suspectsBesideStrays() throws {
    let desk = try NodeDesk.working(1, lanes: 3)
    _ = try desk.claim(1, suspect: true)
    #expect(desk.begun == [1])
    // The first run was stopped for good.
    desk.offer(lanes: 3, takesSuspects: false)
    let turn = try desk.turn()
    #expect(turn.back.map(\.run) == [2])
    let claim = try #require(turn.claim)
    #expect(claim.classes.isEmpty)
    #expect(claim.lines.count == 40)
    #expect(claim.lines.allSatisfy { $0.since == .min && $0.fleetClass == 1 && !$0.isOfSuspects })
    // Where these lines have nothing, it waits as after a look at all.
    desk.answer(.turn(desk.given(0, to: turn)))
    #expect(desk.call() == nil)
    desk.now += NodeOptions().poll
    try desk.learn()
    try desk.claim(1)
    #expect(desk.begun == [1, 3])
    #expect(try desk.turn().claim?.lines.contains { $0.isOfSuspects } == false)
  }

  // MARK: Changes

  @Test("N25 a run that the database gave up stops for its reason, and its end is told: its id is taken until then")
  func givenUp() throws {
    let desk = try NodeDesk.joined(horizon: Time.second)
    desk.now += NodeDesk.lease / 3 - Time.second / 2
    try desk.open(lanes: 1)
    try desk.claim(1, of: Time.second / 10)
    try desk.claim(2, of: Time.second / 10)
    desk.now += Time.second / 2
    let beat = try desk.beat(1) {
      $0.lost = [LostRun(run: 1, reason: .cancelled), LostRun(run: 3, reason: .replaced)]
    }
    #expect(beat.held.sorted() == [1, 2, 3])
    #expect(desk.stopped == [1: .taken(.cancelled)])
    try desk.finish(1)
    let turn = try desk.turn()
    #expect(turn.decisions.map(\.key.run) == [1])
    #expect(turn.back.map(\.run) == [3])
    #expect(turn.held == [2])
    var answer = TurnAnswer()
    answer.decided = [DecidedRun(run: 1, counts: false)]
    answer.lost = [LostRun(run: 2, reason: .cancelled)]
    desk.answer(.turn(answer))
    #expect(desk.decided == [1: false])
    #expect(desk.stopped[2] == .taken(.cancelled))
  }

  @Test("N28 with a free lane it looks every second, when the next task is due, and at a hint")
  func wakes() throws {
    let desk = try NodeDesk.joined()
    try desk.open(lanes: 1)
    try desk.claim(0)
    #expect(desk.node.nextWake == desk.now + Time.second)
    desk.change { $0.hint(at: desk.now) }
    try desk.learn()
    let turn = try desk.turn()
    desk.now += Time.second / 10
    var answer = desk.given(0, to: turn)
    // The database's clock was told with hello, and is the own one here.
    answer.nextDue = desk.now + Time.second / 4
    desk.answer(.turn(answer))
    #expect(desk.node.nextWake == desk.now + Time.second / 4)
    desk.now = desk.node.nextWake
    #expect(try desk.turn().claim != nil)
  }

  @Test("N28 a hint asks at once which runs are still the own, though no lane is free, and once a poll at most")
  func asksAtHint() throws {
    let desk = try NodeDesk.working(1, lanes: 1)
    #expect(desk.call() == nil)
    desk.change { $0.hint(at: desk.now) }
    let turn = try desk.turn()
    #expect(turn.held == [1])
    #expect(turn.claim == nil)
    var answer = TurnAnswer()
    answer.lost = [LostRun(run: 1, reason: .cancelled)]
    desk.answer(.turn(answer))
    #expect(desk.stopped[1] == .taken(.cancelled))
    for _ in 0..<3 { desk.change { $0.hint(at: desk.now) } }
    #expect(desk.call() == nil)
    #expect(desk.node.nextWake == desk.now + Time.second)
  }

  @Test("N28 what a hint asked is asked again after a turn that was refused")
  func asksAgain() throws {
    let desk = try NodeDesk.working(1, lanes: 1)
    desk.change { $0.hint(at: desk.now) }
    #expect(try desk.turn().held == [1])
    desk.fail(.refused(SQLState("55P03")))
    desk.now = desk.node.nextWake
    #expect(try desk.turn().held == [1])
    desk.answer(.turn(TurnAnswer()))
    #expect(desk.call() == nil)
  }

  @Test("N12 that the clocks differ is told, and once that they agree again")
  func clocks() throws {
    let desk = try NodeDesk.joined()
    var told: [Bool] = []
    for difference in [nil, Time.minute, Time.hour, nil, nil] as [Span?] {
      desk.now = desk.node.nextWake
      guard case .beat = desk.call() else { throw Differs("no beat") }
      var answer = BeatAnswer()
      (answer.expires, answer.difference) = (desk.now + NodeDesk.lease, difference)
      desk.answer(.beat(answer))
      for action in desk.takeActions() {
        if case .clocksDiffer = action { told.append(true) }
        if case .clocksAgree = action { told.append(false) }
      }
    }
    #expect(told == [true, true, false])
  }

  @Test("N12 a beat that compares no clocks does not tell that they agree")
  func clocksUncompared() throws {
    let desk = try NodeDesk.joined()
    desk.now = desk.node.nextWake
    _ = try desk.beat(1) { $0.difference = Time.hour }
    desk.now = desk.node.nextWake
    _ = desk.call()
    desk.fail(.maybeSent)
    desk.now = desk.node.nextWake
    #expect(try desk.beat(1).elapsed == nil)
    func agrees() -> Bool { desk.takeActions().contains { if case .clocksAgree = $0 { true } else { false } } }
    #expect(!agrees())
    #expect(desk.call()?.words == "bye 1")
    desk.answer(.bye)
    try desk.join(2)
    desk.now += NodeDesk.lease / 3
    _ = try desk.beat(2)
    #expect(agrees())
  }

  @Test("what is decided while more is ready waits for what ends within the horizon, else it goes at once")
  func flushes() throws {
    let desk = try NodeDesk.joined(horizon: Time.second)
    try desk.open(lanes: 1)
    try desk.claim(1, of: Time.second / 10)
    try desk.claim(9, of: Time.second / 10)
    try desk.finish(1)
    desk.now += Time.second / 2
    try desk.finish(2)
    #expect(desk.call() == nil)
    #expect(desk.node.nextWake == desk.now + Time.second / 2)
    desk.now = desk.node.nextWake
    #expect(try desk.turn().decisions.map(\.key.run) == [2, 1])
  }

  // MARK: The end

  @Test("a node that closes takes nothing, gives back what was not begun, and says bye once all has come back")
  func closes() throws {
    let desk = try NodeDesk.joined(horizon: Time.second)
    try desk.open(lanes: 1)
    try desk.claim(1, of: Time.second / 10)
    try desk.claim(2, of: Time.second / 10)
    desk.change { $0.close(at: desk.now, grace: Time.minute) }
    let turn = try desk.turn()
    #expect(turn.back.map(\.run) == [2, 3])
    desk.answer(.turn(TurnAnswer()))
    #expect(desk.call() == nil)
    desk.now += NodeDesk.lease / 3
    _ = try desk.beat(1)
    try desk.finish(1)
    let last = try desk.turn()
    desk.answer(.turn(desk.given(0, to: last)))
    #expect(desk.call()?.words == "bye 1")
    #expect(!desk.node.isClosed)
    desk.answer(.bye)
    #expect(desk.node.isClosed)
    #expect(desk.call() == nil)
    #expect(desk.node.nextWake == Time.never)
  }

  @Test("V5 a node that closes sleeps while what it asked to stop works on, and gives it back in the last twentieth")
  func closesBesideWork() throws {
    let desk = try NodeDesk.working(1, lanes: 1)
    let begun = desk.now
    desk.change { $0.close(at: desk.now, grace: 10 * Time.second) }
    func reach(_ instant: Instant) throws {
      while desk.now < instant {
        if let words = desk.call()?.words { throw Differs("\(words) at \(desk.now - begun)") }
        #expect(desk.node.nextWake > desk.now)
        desk.now = min(desk.node.nextWake, instant)
      }
    }
    try reach(begun + 9 * Time.second)
    _ = desk.call()
    #expect(desk.takeActions().contains { if case .stop(1, .leaving) = $0 { true } else { false } })
    #expect(desk.node.nextWake == begun + 9_500 * Time.millisecond)
    desk.now = desk.node.nextWake
    #expect(try desk.turn().back.map(\.run) == [1])
  }

  @Test("a node that closes without a database ends after its grace")
  func closesAlone() throws {
    let desk = try NodeDesk.joined()
    desk.change { $0.close(at: desk.now, grace: Time.second) }
    let end = desk.now + Time.second
    for _ in 0..<40 where desk.now < end {
      if desk.call() != nil { desk.fail(.notSent) }
      desk.now = desk.node.nextWake
    }
    #expect(desk.now == end)
    #expect(desk.call() == nil)
    #expect(desk.node.isClosed)
  }

  @Test("N37 a node that is asked to leave takes nothing more, ends what runs however long that takes, and says bye")
  func drains() throws {
    let desk = try NodeDesk.joined(horizon: Time.second)
    try desk.open(lanes: 1)
    try desk.claim(1, of: Time.second / 10)
    try desk.claim(1, of: Time.second / 10)
    let asked = try desk.turn()
    desk.answer(.turn(desk.given(0, to: asked)))
    desk.now += NodeDesk.lease / 3
    _ = try desk.beat(1) { $0.isDraining = true }
    #expect(desk.takeActions().contains { if case .draining = $0 { true } else { false } })
    #expect(desk.node.isLeaving)
    #expect(desk.node.standing.state == .leaving)
    #expect(!desk.node.isLooking)
    let turn = try desk.turn()
    #expect(turn.back.map(\.run) == [2])
    #expect(turn.claim == nil)
    desk.answer(.turn(TurnAnswer()))
    // What is offered once more changes nothing, nor does being asked again.
    desk.change { $0.offer(NodeRoom(lanes: 9, until: Time.never) { _ in true }, at: desk.now) }
    for _ in 0..<10_000 {
      #expect(desk.call() == nil)
      desk.now = desk.node.nextWake
      _ = try desk.beat(1) { $0.isDraining = true }
    }
    #expect(desk.takeActions().isEmpty)
    try desk.finish(1)
    let last = try desk.turn()
    #expect(last.decisions.map(\.key.run) == [1])
    desk.answer(.turn(desk.given(0, to: last)))
    #expect(desk.call()?.words == "bye 1")
    desk.answer(.bye)
    #expect(desk.node.isClosed)
    #expect(desk.node.nextWake == Time.never)
  }

  @Test(
    "N37 a node that is asked to leave and loses its lease joins no more, and one that closes meanwhile has its grace")
  func drainsAlone() throws {
    let lost = try NodeDesk.joined()
    lost.now += NodeDesk.lease / 3
    _ = try lost.beat(1) {
      $0.isDraining = true
      $0.expires = nil
    }
    #expect(lost.call() == nil)
    #expect(lost.node.isClosed)
    let desk = try NodeDesk.working(1, lanes: 1)
    desk.now += NodeDesk.lease / 3
    _ = try desk.beat(1) { $0.isDraining = true }
    desk.change { $0.close(at: desk.now, grace: Time.second) }
    desk.now += Time.second
    #expect(desk.call() == nil)
    #expect(desk.node.isClosed)
  }

  // MARK: The border

  @Test("options and decisions that the database would refuse are refused here, by name")
  func refusals() throws {
    func fault(_ body: () throws(SeleneError) -> Void) -> String? {
      do throws(SeleneError) { try body() } catch { return String(decoding: error.detail.bytes, as: UTF8.self) }
      return nil
    }
    func options(_ change: (inout NodeOptions) -> Void) -> String? {
      var options = NodeOptions()
      change(&options)
      return fault { () throws(SeleneError) in try options.check(.own) }
    }
    #expect(options { $0.lease = 1 }?.hasPrefix("lease: ") == true)
    #expect(options { $0.lease = 2 * Time.hour }?.hasPrefix("lease: ") == true)
    #expect(options { $0.horizon = -1 }?.hasPrefix("horizon: ") == true)
    #expect(options { $0.horizon = 11 * Time.second }?.hasPrefix("horizon: ") == true)
    #expect(options { $0.poll = 0 }?.hasPrefix("poll: ") == true)
    #expect(options { $0.horizon = 10 * Time.second } == nil)
    #expect(options { $0.lease = Time.second / 10 } == nil)
    func decision(
      _ outcome: Outcome = .failed, response: Span = 0, delay: Span? = nil, result: Bytes? = nil
    ) -> String? {
      fault { () throws(SeleneError) in _ = try NodeDecision(outcome, response: response, delay: delay, result: result)
      }
    }
    #expect(decision() == nil)
    #expect(decision(.stopped)?.hasPrefix("outcome: ") == true)
    #expect(decision(response: -1)?.hasPrefix("response_time: ") == true)
    #expect(decision(delay: -1)?.hasPrefix("retry_delay: ") == true)
    #expect(decision(delay: Time.tenYears + 1)?.hasPrefix("retry_delay: ") == true)
    #expect(decision(result: Bytes(count: 65_536) { _ in }) == nil)
    #expect(decision(result: Bytes(count: 65_537) { _ in })?.hasPrefix("result: ") == true)
  }
}
