// Events: numbered, in order, one at a time, without a lock (C18).

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Event") struct EventTests {
  /// What an observer heard.
  private final class Heard {
    var list: [(number: UInt64, type: EventType, time: Instant, detail: Int32)] = []
    var types: [EventType] { list.map(\.type) }
    var ended = 0
    func hear(_ event: borrowing Event) {
      list.append((event.number, event.change.type, event.time, event.change.detail))
    }
  }

  @Test("C18 a whole life is told in order, numbered without gaps")
  func life() throws {
    let host = try Host { ($0.holds, $0.maxPendingRefresh) = (true, 1) }
    let heard = Heard()
    try host.observe { heard.hear($0) }
    try host.addHandler("h")
    try host.register(Recipe("a", .once) { $0.handler = "h" })
    try host.register(Recipe("a", .once, existing: .append) { $0.handler = "h" })
    try host.register(Recipe("b", .once) { $0.handler = "h" })
    try host.register(Recipe("a", .once))
    var cycle = try host.begin(20 * Time.second)
    try host.complete(try host.nextRun(cycle).token, .failed)
    _ = try host.end(cycle)
    host.now += Time.minute
    cycle = try host.begin(20 * Time.second)
    try host.complete(try host.nextRun(cycle).token, .newData)
    _ = try host.end(cycle)
    _ = try host.cancel("a")
    #expect(
      heard.types == [
        .registered, .registered, .registered, .held, .cycleBegun, .started, .completed, .retry, .cycleEnded,
        .cycleBegun, .started, .completed, .unblocked, .cycleEnded, .cancelled, .promoted,
      ])
    #expect(heard.list.map(\.number) == Array(1...16))
    #expect(heard.list[8].detail == Outcome.failed.rawValue)
    #expect(heard.list[13].detail == Outcome.newData.rawValue)
  }

  @Test("C18 events carry their time in scheduler time, expiry its nominal instant")
  func times() throws {
    let host = try Host()
    let heard = Heard()
    try host.observe { heard.hear($0) }
    try host.addHandler("a")
    try host.register(Recipe("a"))
    let begin = host.now
    let cycle = try host.begin(20 * Time.second)
    _ = try host.nextRun(cycle)
    host.now += Time.minute
    _ = try host.end(cycle)
    #expect(heard.types == [.registered, .cycleBegun, .started, .stopped, .completed, .retry, .cycleEnded])
    #expect(
      heard.list.map { $0.time - begin } == [
        0, 0, 0, 19 * Time.second, 20 * Time.second, 20 * Time.second, 20 * Time.second,
      ])
  }

  @Test("C18 what an observer raises itself is queued behind the present event")
  func nested() throws {
    let host = try Host()
    var log: [String] = []
    try host.observe { [unowned host] event in
      let id = event.change.definition?.id.text ?? ""
      log.append("begin \(id)")
      if id == "a" { _ = refusal { try host.register(Recipe("b")) } }
      if id == "b" { _ = refusal { try host.register(Recipe("c")) } }
      log.append("end \(id)")
    }
    try host.register(Recipe("a"))
    #expect(log == ["begin a", "end a", "begin b", "end b", "begin c", "end c"])
    try host.observe(nil)
  }

  @Test(
    "C18 an observer ends after the events that are queued for it, exactly once; its successor hears what comes after")
  func replaced() throws {
    let host = try Host()
    let (first, second) = (Heard(), Heard())
    try host.observe({ first.hear($0) }, destroy: { first.ended += 1 })
    try host.register(Recipe("a"))
    try host.observe({ second.hear($0) }, destroy: { second.ended += 1 })
    #expect(first.ended == 1)
    try host.register(Recipe("b"))
    #expect(first.list.count == 1)
    #expect(second.list.map(\.number) == [2])
    try host.close()
    #expect(first.ended == 1)
    #expect(second.ended == 1)
  }

  @Test("C18 an observer may remove itself, and is not called again")
  func removesItself() throws {
    let host = try Host()
    let heard = Heard()
    try host.observe(
      { [unowned host] event in
        heard.hear(event)
        _ = refusal { try host.observe(nil) }
      }, destroy: { heard.ended += 1 })
    try host.register(Recipe("a"))
    try host.register(Recipe("b"))
    #expect(heard.list.count == 1)
    #expect(heard.ended == 1)
  }

  @Test("C18 without an observer nothing is counted: the first event of the first observer is number 1")
  func late() throws {
    let host = try Host()
    try host.register(Recipe("a"))
    let heard = Heard()
    try host.observe { heard.hear($0) }
    try host.register(Recipe("b"))
    #expect(heard.list.map(\.number) == [1])
  }

  @Test("C18 P3 in an observer close, reset and a blocking cycle are REENTRANT, the rest is legal")
  func reentrant() throws {
    let host = try Host()
    var codes: [SeleneError.Code?] = []
    try host.observe { [unowned host] event in
      guard event.change.definition?.id.text == "a" else { return }
      codes.append(refusal { try Scheduler.close(host.handle, grace: 0) })
      codes.append(refusal { try host.reset() })
      codes.append(refusal { try host.run(Time.second) { $0.isInline = true } })
      codes.append(refusal { try host.register(Recipe("b")) })
      codes.append(refusal { try host.end(try host.begin(Time.second)) })
      codes.append(refusal { try host.cancel("b") })
    }
    try host.register(Recipe("a"))
    #expect(codes == [.reentrant, .reentrant, .reentrant, nil, nil, nil])
    try host.observe(nil)
  }
}
