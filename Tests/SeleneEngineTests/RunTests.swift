// Runs: outcomes, expiry, stops, coming back (C4, C6, C7, C8).

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Run") struct RunTests {
  /// Stops that a handler heard.
  private final class Stops {
    var list: [(run: UInt64, reason: StopReason)] = []
    var reasons: [StopReason] { list.map(\.reason) }
  }

  /// A host with a standing task and its first run.
  private func running(
    _ schedule: Schedule = .standing, releaseAfter: Span = 10 * Time.minute
  ) throws -> (host: Host, cycle: UInt64, run: Run, stops: Stops) {
    let host = try Host { $0.releaseAfter = releaseAfter }
    let stops = Stops()
    try host.addHandler("a", stop: { stops.list.append(($0, $1)) })
    try host.register(Recipe("a", schedule) { $0.constraints = 1 })
    let cycle = try host.begin(20 * Time.second)
    return (host, cycle, try host.nextRun(cycle), stops)
  }

  // MARK: Outcomes

  @Test("C6 an outcome is given once; the second answers ALREADY_COMPLETED and changes nothing")
  func once() throws {
    let (host, _, run, _) = try running()
    host.now += 3 * Time.second
    try host.complete(run.token, .noData)
    let record = try host.record("a").record
    #expect(record.responseTimes == [3 * Time.second])
    host.now += Time.second
    for outcome in [Outcome.newData, .failed, .abandoned] {
      #expect(refusal { try host.complete(run.token, outcome) } == .alreadyCompleted)
    }
    #expect(try host.record("a").record.stamp == record.stamp)
  }

  @Test("C6 only outcomes that a host may give are accepted", arguments: [-1, 4, 6, 99, .max, .min] as [Int32])
  func unknownOutcome(outcome: Int32) throws {
    let (host, _, run, _) = try running()
    #expect(refusal { try host.complete(run.token, raw: outcome) } == .invalidArgument)
    #expect(try host.state("a") == .running)
  }

  @Test("C6 a failure's own delay is 0 to 10 years")
  func delayRange() throws {
    let (host, _, run, _) = try running()
    for delay in [-1, Time.tenYears + 1, .max, .min] {
      #expect(refusal { try host.complete(run.token, .failed, retryDelay: delay) } == .invalidArgument)
    }
    try host.complete(run.token, .failed, retryDelay: Time.tenYears)
    #expect(try host.record("a").record.earliestBegin == host.now + Time.tenYears)
  }

  // MARK: Expiry

  @Test("C7 at deadline - reserve a run is asked to stop, once, and may still complete, exactly at the deadline too")
  func expiring() throws {
    let (host, _, run, stops) = try running()
    host.now += 19 * Time.second - 1
    #expect(try host.stopping(run.token).reason == .none)
    #expect(try host.stopping(run.token).remaining == 1)
    host.now += 1
    #expect(try host.stopping(run.token).reason == .expiring)
    #expect(try host.stopping(run.token).remaining == 0)
    #expect(stops.reasons == [.expiring])
    host.now += Time.second
    try host.complete(run.token, .newData)
    #expect(stops.reasons == [.expiring])
    #expect(try host.record("a").record.lastOutcome == .newData)
  }

  @Test("C7 what is open after the deadline is over: failed, its time is the elapsed time, at the deadline itself")
  func expired() throws {
    let (host, cycle, run, stops) = try running(.once)
    let deadline = run.deadline
    host.now = deadline + Time.hour
    let record = try host.record("a").record
    #expect(record.state == .enqueued)
    #expect(record.lastOutcome == .expired)
    #expect(record.lastRun == deadline)
    #expect(record.responseTimes == [20 * Time.second])
    #expect(record.earliestBegin == deadline + 30 * Time.second)
    #expect(stops.reasons == [.expiring])
    #expect(refusal { try host.complete(run.token, .newData) } == .staleRun)
    #expect(refusal { try host.complete(run.token, .newData) } == .staleRun)
    let report = try host.end(cycle)
    #expect(report.endedAt == deadline)
    #expect(report.runs.map(\.finalOutcome) == [.expired])
    #expect(report.tally.result == .failed)
  }

  @Test("C7 a run dispatched in the reserve is over at the deadline all the same")
  func dispatchedInTheReserve() throws {
    let host = try Host()
    try host.addHandler("a")
    try host.register(Recipe("a") { ($0.expectedResponse, $0.responseWindow) = (0, 0) })
    let cycle = try host.begin(20 * Time.second)
    host.now += 19 * Time.second
    let run = try host.nextRun(cycle)
    #expect(try host.stopping(run.token).reason == .expiring)
    host.now += Time.second + 1
    #expect(refusal { try host.complete(run.token, .newData) } == .staleRun)
    #expect(try host.record("a").record.lastOutcome == .expired)
  }

  // MARK: Stops

  @Test(
    "C8 a cancelled run is over at once; a stronger reason after EXPIRING can be read, the stop function is not called again"
  )
  func strongerReason() throws {
    let (host, cycle, run, stops) = try running()
    host.now += 19 * Time.second
    #expect(try host.stopping(run.token).reason == .expiring)
    #expect(try host.cancel("a") == 1)
    #expect(try host.stopping(run.token).reason == .cancelled)
    #expect(stops.reasons == [.expiring])
    #expect(refusal { try host.complete(run.token, .newData) } == .staleRun)
    #expect(refusal { try host.stopping(run.token) } == .staleRun)
    let report = try host.end(cycle)
    #expect(report.runs.map(\.finalOutcome) == [.stopped])
    #expect(report.runs.map(\.stopReason) == [.cancelled])
    #expect(report.tally.result == .noData)
  }

  @Test("C8 a lost constraint enqueues the task again as before the run, without a sample")
  func constraintLost() throws {
    let (host, cycle, run, stops) = try running(.once)
    let before = try host.record("a").record
    host.now += Time.second
    try host.satisfy([])
    let record = try host.record("a").record
    #expect(record.state == .enqueued)
    #expect(record.attempts == 0)
    #expect(record.lastRun == before.lastRun)
    #expect(record.earliestBegin == before.earliestBegin)
    #expect(record.responseTimes.isEmpty)
    #expect(stops.reasons == [.constraintLost])
    #expect(try host.stopping(run.token).reason == .constraintLost)
    try host.satisfy(.all)
    #expect(refusal { try host.complete(run.token, .newData) } == .staleRun)
    // It had its run in this cycle.
    guard case .done = try host.next(cycle) else { throw Differs("the task ran twice in a cycle") }
  }

  @Test("C8 close stops runs with SHUTDOWN")
  func shutdown() throws {
    let (host, _, run, stops) = try running()
    try host.close()
    #expect(stops.list.map(\.run) == [run.token])
    #expect(stops.reasons == [.shutdown])
  }

  @Test("C8 cancelling from inside the stop function is legal and asks nobody twice")
  func cancelInsideStop() throws {
    let host = try Host()
    let stops = Stops()
    try host.addHandler(
      "a",
      stop: { [unowned host] run, reason in
        stops.list.append((run, reason))
        _ = refusal { try host.cancel("a") }
      })
    try host.register(Recipe("a"))
    let cycle = try host.begin(20 * Time.second)
    let run = try host.nextRun(cycle)
    host.now += 19 * Time.second
    // The stop function is called when this call leaves.
    #expect(try host.stopping(run.token).reason == .expiring)
    #expect(stops.reasons == [.expiring])
    #expect(try host.stopping(run.token).reason == .cancelled)
    #expect(stops.reasons == [.expiring])
    #expect(try host.state("a") == .cancelled)
  }

  // MARK: Coming back

  @Test("C4 an id stays taken after the end of its run, across cycles, until complete is called")
  func taken() throws {
    let (host, cycle, run, _) = try running()
    _ = try host.end(cycle)
    #expect(try host.reasons("a") == [.stillRunning])
    let second = try host.begin(20 * Time.second)
    guard case .done = try host.next(second) else { throw Differs("the id was not taken") }
    #expect(refusal { try host.complete(run.token, .newData) } == .staleRun)
    #expect(!(try host.reasons("a").contains(.stillRunning)))
    _ = try host.end(second)
    _ = try host.nextRun(try host.begin(20 * Time.second))
  }

  @Test("C4 an id stays taken across replacements")
  func takenByReplaced() throws {
    let (host, cycle, run, stops) = try running()
    #expect(try host.register(Recipe("a", existing: .replace)) == .replaced)
    #expect(stops.reasons == [.replaced])
    #expect(try host.reasons("a").contains(.stillRunning))
    _ = try host.end(cycle)
    #expect(refusal { try host.complete(run.token, .newData) } == .staleRun)
    #expect(try host.reasons("a") == [])
  }

  @Test("C4 what does not come back is let go after release_after, with an event, and explain says when")
  func letGo() throws {
    let (host, cycle, run, _) = try running(releaseAfter: Time.minute)
    var released: [UInt64] = []
    try host.observe { event in if event.change.type == .released { released.append(event.change.run) } }
    _ = try host.end(cycle)
    let explanation = try host.explain("a")
    #expect(explanation.entries.map(\.reason) == [.stillRunning])
    #expect(explanation.entries.map(\.mayChangeAt) == [host.now + Time.minute])
    host.now += Time.minute - 1
    #expect(try host.reasons("a") == [.stillRunning])
    host.now += 1
    #expect(try host.reasons("a") == [])
    #expect(released == [run.token])
    #expect(refusal { try host.complete(run.token, .newData) } == .staleRun)
    try host.observe(nil)
  }
}
