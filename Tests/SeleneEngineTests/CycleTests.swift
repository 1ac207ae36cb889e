// Cycles: refusals of begin, lanes, steps, windows of one task (C4, C5, C11 to C14).

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Cycle") struct CycleTests {
  private func host(_ ids: [String] = ["a", "b", "c"], _ change: (inout OptionsDraft) -> Void = { _ in }) throws -> Host
  {
    let host = try Host(change)
    for id in ids {
      try host.addHandler(id)
      try host.register(Recipe(id))
    }
    return host
  }

  private func isDone(_ host: Host, _ cycle: UInt64) throws -> Bool {
    if case .done = try host.next(cycle) { return true }
    return false
  }

  private func wait(_ host: Host, _ cycle: UInt64) throws -> Instant? {
    if case .wait(let until) = try host.next(cycle) { return until }
    return nil
  }

  // MARK: Begin

  @Test("C13 refusals of begin come in their order: UNAVAILABLE, BUSY, TOO_SOON")
  func refusals() throws {
    let host = try host { $0.minimumIntervalRefresh = Time.hour }
    let cycle = try host.begin(Time.second)
    try host.enable([])
    #expect(refusal { try host.begin(Time.second) } == .unavailable)
    try host.enable(.all)
    #expect(refusal { try host.begin(Time.second) } == .busy)
    _ = try host.end(cycle)
    #expect(refusal { try host.begin(Time.second) } == .tooSoon)
    host.now += Time.hour - 1
    #expect(refusal { try host.begin(Time.second) } == .tooSoon)
    #expect(try host.nextWakeup() == host.now + 1)
    host.now += 1
    _ = try host.begin(Time.second)
  }

  @Test("C13 one refused kind refuses the window, and a refused begin does not count for the pace")
  func refusedKind() throws {
    let host = try host {
      $0.minimumIntervalRefresh = Time.hour
      $0.minimumIntervalProcessing = Time.hour
    }
    let cycle = try host.begin(Time.second) { $0.kinds = 2 }
    #expect(refusal { try host.begin(Time.second) { $0.kinds = 3 } } == .busy)
    _ = try host.end(cycle)
    #expect(refusal { try host.begin(Time.second) { $0.kinds = 3 } } == .tooSoon)
    _ = try host.begin(Time.second)
  }

  @Test("C12 cycles of different kinds may be open together")
  func twoKinds() throws {
    let host = try host()
    _ = try host.begin(Time.second)
    _ = try host.begin(Time.second) { $0.kinds = 2 }
    #expect(refusal { try host.begin(Time.second) { $0.kinds = 2 } } == .busy)
  }

  @Test("C5 a begin past the deadline of a forgotten pulled cycle ends that one first")
  func forgotten() throws {
    let host = try host(["a"])
    let first = try host.begin(20 * Time.second)
    let run = try host.nextRun(first)
    host.now += 20 * Time.second
    #expect(refusal { try host.begin(Time.second) } == .busy)
    host.now += 1
    let second = try host.begin(Time.second)
    #expect(refusal { try host.end(first) } == .invalidHandle)
    #expect(try host.record("a").record.lastOutcome == .expired)
    #expect(refusal { try host.complete(run.token, .newData) } == .staleRun)
    _ = try host.end(second)
  }

  @Test("C13 a kind that is switched off: nothing is picked, a run in flight goes on")
  func switchedOff() throws {
    let host = try host()
    let cycle = try host.begin(20 * Time.second)
    let run = try host.nextRun(cycle)
    try host.enable(KindSet(.processing))
    try host.complete(run.token, .newData)
    #expect(try isDone(host, cycle))
    #expect(refusal { try host.register(Recipe("d")) } == .unavailable)
    try host.enable(.all)
    _ = try host.nextRun(cycle)
  }

  // MARK: Lanes and steps

  @Test("C5 with its lanes taken a cycle waits until the next expiry; an outcome or the end frees a lane")
  func lanes() throws {
    let host = try host()
    let begin = host.now
    let cycle = try host.begin(20 * Time.second) { $0.lanes = 2 }
    let (first, second) = (try host.nextRun(cycle), try host.nextRun(cycle))
    #expect(try wait(host, cycle) == begin + 19 * Time.second)
    host.now = begin + 19 * Time.second
    #expect(try wait(host, cycle) == begin + 20 * Time.second + 1)
    host.now = begin + Time.second * 20
    try host.complete(first.token, .newData)
    #expect(try wait(host, cycle) == begin + 20 * Time.second + 1)
    host.now += 1
    #expect(try isDone(host, cycle))
    #expect(try host.end(cycle).runs.map(\.finalOutcome) == [.newData, .expired])
    #expect(refusal { try host.complete(second.token, .newData) } == .staleRun)
  }

  @Test("C4 a stopped run's lane is free at once")
  func stoppedLane() throws {
    let host = try host()
    let cycle = try host.begin(20 * Time.second)
    let run = try host.nextRun(cycle)
    #expect(try wait(host, cycle) != nil)
    _ = try host.cancel(run.definition.id.text)
    #expect(try host.nextRun(cycle).definition.id.text != run.definition.id.text)
  }

  @Test("C5 done is said again and again, and a cycle that was done may still be ended")
  func done() throws {
    let host = try host([])
    let cycle = try host.begin(Time.second)
    for _ in 0..<3 { #expect(try isDone(host, cycle)) }
    let report = try host.end(cycle)
    #expect(report.eligible == 0)
    #expect(report.tally.result == .noData)
    #expect(refusal { try host.next(cycle) } == .invalidHandle)
  }

  @Test("C11 the report counts who was eligible and who did not fit")
  func counts() throws {
    let host = try host(["a"])
    for (id, seconds) in [("big", 60), ("small", 1), ("huge", 600)] as [(String, Int64)] {
      try host.addHandler(id)
      try host.register(Recipe(id, priority: 1) { $0.expectedResponse = seconds * Time.second })
    }
    let cycle = try host.begin(20 * Time.second)
    while case .run(let run) = try host.next(cycle) {
      host.now += Time.second
      try host.complete(run.token, .noData)
    }
    let report = try host.end(cycle)
    #expect(report.eligible == 4)
    #expect(report.runs.map { $0.definition.id.text } == ["a", "small"])
    #expect(report.didNotFit == 2)
    #expect(report.endedAt == report.time.begin + 2 * Time.second)
    #expect(try host.reasons("big") == [.didNotFit])
  }

  @Test("T9 C5 reset is refused while a cycle is open")
  func reset() throws {
    let host = try host()
    let cycle = try host.begin(Time.second)
    #expect(refusal { try host.reset() } == .busy)
    _ = try host.end(cycle)
    try host.reset()
    #expect(refusal { try host.state("a") } == .notFound)
    #expect(try host.register(Recipe("a")) == .added)
    #expect(try host.record("a").record.sequence == 4)
  }

  @Test("C16 C5 a forgotten cycle keeps no kind from its wake-up, since the next begin ends it")
  func forgottenWakeup() throws {
    let host = try host()
    _ = try host.begin(30 * Time.second)
    #expect(try host.nextWakeup() == nil)
    host.now += 30 * Time.second
    #expect(try host.nextWakeup() == nil)
    host.now += 15 * Time.minute
    #expect(try host.nextWakeup() == host.now)
    _ = try host.begin(30 * Time.second)
  }

  @Test("C16 R1 a standing task that ran in a rolling window which is forgotten asks for the next one")
  func forgottenRollingWakeup() throws {
    let host = try host(["a"])
    let cycle = try host.begin(30 * Time.second) { $0.isRolling = true }
    let begin = host.now
    try host.complete(try host.nextRun(cycle).token, .newData)
    host.now += Time.minute
    #expect(try host.nextWakeup() == begin + Time.standingInterval)
    host.now += Time.hour
    #expect(try host.nextWakeup() == host.now)
    let next = try host.begin(30 * Time.second)
    #expect(try host.nextRun(next).definition.id.text == "a")
  }

  @Test("C14 R1 the window of one task keeps it when the rolling window in which it ran ends")
  func onlyAfterRolling() throws {
    let host = try host(["a"])
    let rolling = try host.begin(30 * Time.second) { $0.isRolling = true }
    try host.complete(try host.nextRun(rolling).token, .newData)
    let now = try host.beginNow("a", Time.second)
    _ = try host.end(rolling)
    #expect(try host.nextRun(now).definition.id.text == "a")
  }

  // MARK: One task (C14)

  @Test("S3 C14 alone in its window a task has the factors of a range without extent, 1")
  func aloneInRange() throws {
    let host = try host(["a"]) { $0.observedRange = true }
    host.now += 10 * Time.second
    for isNow in [true, false] {
      let cycle = try isNow ? host.beginNow("a", Time.second) : host.begin(Time.second)
      let run = try host.nextRun(cycle)
      #expect(run.score == 1)
      try host.complete(run.token, .newData)
      _ = try host.end(cycle)
      host.now += 10 * Time.second
    }
  }

  @Test("C14 one task runs now, whatever its delay, cost and pace, beside an open cycle")
  func now() throws {
    let host = try host { $0.minimumIntervalRefresh = Time.hour }
    try host.addHandler("d")
    try host.register(Recipe("d", priority: 1) { ($0.initialDelay, $0.expectedResponse) = (Time.day, Time.hour) })
    let open = try host.begin(20 * Time.second)
    let cycle = try host.beginNow("d", 10 * Time.second)
    #expect(try host.nextRun(cycle).definition.id.text == "d")
    #expect(try wait(host, cycle) == host.now + 10 * Time.second - Time.second / 2)
    _ = try host.end(cycle)
    _ = try host.nextRun(open)
  }

  @Test("C14 what cannot run now is refused: unknown, not enqueued, off, without handler or constraints, taken")
  func nowRefused() throws {
    let host = try host(["a"])
    #expect(refusal { try host.beginNow("nobody", Time.second) } == .notFound)
    try host.register(Recipe("lonely"))
    #expect(refusal { try host.beginNow("lonely", Time.second) } == .immediateRunIneligible)
    try host.enable(KindSet(.processing))
    #expect(refusal { try host.beginNow("a", Time.second) } == .immediateRunIneligible)
    try host.enable(.all)
    try host.register(Recipe("a") { $0.constraints = 1 })
    try host.satisfy([])
    #expect(refusal { try host.beginNow("a", Time.second) } == .immediateRunIneligible)
    try host.satisfy(.all)
    let cycle = try host.beginNow("a", Time.second)
    let run = try host.nextRun(cycle)
    #expect(refusal { try host.beginNow("a", Time.second) } == .immediateRunIneligible)
    _ = try host.end(cycle)
    #expect(refusal { try host.beginNow("a", Time.second) } == .immediateRunIneligible)
    _ = refusal { try host.complete(run.token, .newData) }
    _ = try host.cancel("a")
    #expect(refusal { try host.beginNow("a", Time.second) } == .immediateRunIneligible)
  }

  @Test("C14 it counts as the task's run in any open cycle")
  func nowCounts() throws {
    let host = try host(["a"])
    let open = try host.begin(20 * Time.second)
    let cycle = try host.beginNow("a", Time.second)
    try host.complete(try host.nextRun(cycle).token, .newData)
    _ = try host.end(cycle)
    #expect(try isDone(host, open))
    #expect(try host.reasons("a") == [.hadItsRun])
  }

  @Test("C14 a window of one task runs that one or none, never what took its place")
  func nowReplaced() throws {
    let host = try host(["a"])
    try host.addHandler("b")
    let cycle = try host.beginNow("a", Time.second)
    _ = try host.cancel("a")
    #expect(try host.prune() == 1)
    try host.register(Recipe("b"))
    #expect(try isDone(host, cycle))
    #expect(try host.end(cycle).runs.isEmpty)
  }
}
