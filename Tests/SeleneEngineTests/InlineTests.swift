// Cycles whose handlers run on the caller's thread, deterministic on a host's clock (C5).

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Inline cycle") struct InlineTests {
  /// A host with handlers that each take a while and give an outcome, or none.
  private func host(_ tasks: [(id: String, takes: Span, outcome: Outcome?)]) throws -> (host: Host, ran: Ran) {
    let host = try Host()
    let ran = Ran()
    for task in tasks {
      try host.addHandler(
        task.id,
        run: { [unowned host] run in
          ran.ids.append(run.definition.id.text)
          ran.tokens.append(run.token)
          host.now += task.takes
          if let outcome = task.outcome { ran.codes.append(refusal { try host.complete(run.token, outcome) }) }
        })
      try host.register(Recipe(task.id) { $0.expectedResponse = Time.second })
    }
    return (host, ran)
  }

  private final class Ran {
    var ids: [String] = []
    var tokens: [UInt64] = []
    var codes: [SeleneError.Code?] = []
  }

  @Test("C5 handlers run one after another on the calling thread, and the report tells it")
  func oneAfterAnother() throws {
    let (host, ran) = try host([("a", 3, .newData), ("b", 5, .failed), ("c", 7, .noData)])
    let begin = host.now
    let report = try host.run(20 * Time.second) { $0.isInline = true }
    #expect(ran.ids == ["a", "b", "c"])
    #expect(ran.codes == [nil, nil, nil])
    #expect(report.runs.map(\.finalOutcome) == [.newData, .failed, .noData])
    #expect(report.runs.map(\.responseTime) == [3, 5, 7])
    #expect(report.endedAt == begin + 15)
    #expect(report.tally.result == .newData)
  }

  @Test("C5 a handler that overruns ends the cycle at its deadline; its late outcome is stale")
  func overrun() throws {
    let (host, ran) = try host([("a", Time.hour, .newData), ("b", 1, .newData)])
    let begin = host.now
    let report = try host.run(20 * Time.second) { $0.isInline = true }
    #expect(ran.ids == ["a"])
    #expect(ran.codes == [.staleRun])
    #expect(report.runs.map(\.finalOutcome) == [.expired])
    #expect(report.endedAt == begin + 20 * Time.second)
  }

  @Test("C5 with a host clock a handler that returns without an outcome ends the cycle")
  func withoutOutcome() throws {
    let (host, ran) = try host([("a", 1, nil), ("b", 1, .newData)])
    let report = try host.run(20 * Time.second) { $0.isInline = true }
    #expect(ran.ids == ["a"])
    #expect(report.runs.map(\.finalOutcome) == [.stopped])
    #expect(try host.reasons("a") == [.notDue, .stillRunning] || host.reasons("a") == [.stillRunning])
    #expect(refusal { try host.complete(ran.tokens[0], .newData) } == .staleRun)
    #expect(try host.reasons("a") == [])
  }

  @Test("C5 an inline window has one lane, pulled ones are never inline, threads need the system's clock")
  func combinations() throws {
    let (host, _) = try host([])
    #expect(
      refusal {
        try host.run(Time.second) {
          $0.isInline = true
          $0.lanes = 2
        }
      } == .invalidArgument)
    #expect(refusal { try host.begin(Time.second) { $0.isInline = true } } == .unsupported)
    #expect(refusal { try host.run(Time.second) } == .unsupported)
    #expect(refusal { try host.runAsync(Time.second) } == .unsupported)
    #expect(refusal { try host.runAsync(Time.second) { $0.isInline = true } } == .unsupported)
  }

  @Test("T10 tasks whose handler has no run function are for pulled cycles only")
  func pulledOnly() throws {
    let (host, ran) = try host([("a", 1, .newData)])
    try host.addHandler("b")
    try host.register(Recipe("b", priority: 5))
    let report = try host.run(20 * Time.second) { $0.isInline = true }
    #expect(ran.ids == ["a"])
    #expect(report.eligible == 1)
    #expect(try host.nextRun(try host.begin(20 * Time.second)).definition.id.text == "b")
  }

  @Test("P3 a blocking cycle inside a handler is REENTRANT, on another scheduler it is legal")
  func nested() throws {
    let outer = try Host()
    let (inner, ran) = try host([("a", 1, .newData)])
    var codes: [SeleneError.Code?] = []
    try outer.addHandler(
      "o",
      run: { [unowned outer] run in
        codes.append(refusal { try outer.run(Time.second) { $0.isInline = true } })
        codes.append(refusal { try outer.reset() })
        codes.append(refusal { try Scheduler.close(outer.handle, grace: 0) })
        codes.append(refusal { try inner.run(20 * Time.second) { $0.isInline = true } })
        codes.append(refusal { try outer.complete(run.token, .noData) })
      })
    try outer.register(Recipe("o"))
    let report = try outer.run(20 * Time.second) { $0.isInline = true }
    #expect(codes == [.reentrant, .reentrant, .reentrant, nil, nil])
    #expect(report.runs.map(\.finalOutcome) == [.noData])
    #expect(ran.ids == ["a"])
  }

  @Test("C5 a window of one task runs inline too")
  func oneTask() throws {
    let (host, ran) = try host([("a", 1, .newData), ("b", 1, .newData)])
    let report = try "b".withBytes { bytes in
      try host.run(20 * Time.second) {
        $0.isInline = true
        $0.task = bytes
      }
    }
    #expect(ran.ids == ["b"])
    #expect(report.kinds == [])
    #expect(report.eligible == 1)
  }
}
