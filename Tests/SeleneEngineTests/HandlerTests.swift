// Handlers: found by name, ended exactly once, after their last use (T10).

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Handler") struct HandlerTests {
  @Test("T10 destroy is called once, when the handler is unregistered and has no run")
  func destroyed() throws {
    let host = try Host()
    let destroyed = Count()
    try host.addHandler("a", destroy: { destroyed.value += 1 })
    #expect(destroyed.value == 0)
    try host.removeHandler("a")
    #expect(destroyed.value == 1)
    #expect(refusal { try host.removeHandler("a") } == .notFound)
    try host.close()
    #expect(destroyed.value == 1)
  }

  @Test("T10 close ends every handler, once")
  func closed() throws {
    let host = try Host()
    let destroyed = Count()
    for index in 0..<20 { try host.addHandler("h\(index)", destroy: { destroyed.value += 1 }) }
    try host.close()
    #expect(destroyed.value == 20)
  }

  @Test("T10 with a run in flight, destroy waits and the name stays taken until the run is back")
  func inFlight() throws {
    let host = try Host()
    let destroyed = Count()
    try host.addHandler("a", destroy: { destroyed.value += 1 })
    try host.register(Recipe("a"))
    let cycle = try host.begin(20 * Time.second)
    let run = try host.nextRun(cycle)
    try host.removeHandler("a")
    #expect(destroyed.value == 0)
    #expect(refusal { try host.addHandler("a") } == .alreadyExists)
    try host.complete(run.token, .newData)
    #expect(destroyed.value == 1)
    #expect(try host.record("a").record.lastOutcome == .newData)
    #expect(try host.reasons("a").contains(.noHandler))
    try host.addHandler("a")
    #expect(!(try host.reasons("a").contains(.noHandler)))
  }

  @Test("T10 a run that is let go frees the name of its handler")
  func letGo() throws {
    let host = try Host()
    let destroyed = Count()
    try host.addHandler("a", destroy: { destroyed.value += 1 })
    try host.register(Recipe("a"))
    let cycle = try host.begin(20 * Time.second)
    _ = try host.nextRun(cycle)
    try host.removeHandler("a")
    _ = try host.end(cycle)
    #expect(destroyed.value == 0)
    host.now += 10 * Time.minute
    #expect(try host.state("a") == .enqueued)
    #expect(destroyed.value == 1)
  }

  @Test("T10 a second handler under a live name is refused, the first stays")
  func twice() throws {
    let host = try Host()
    try host.addHandler("a")
    #expect(refusal { try host.addHandler("a") } == .alreadyExists)
    try host.register(Recipe("a"))
    _ = try host.nextRun(try host.begin(20 * Time.second))
  }

  @Test("T10 unregistering makes its tasks ineligible at once, also in an open cycle")
  func ineligible() throws {
    let host = try Host()
    try host.addHandler("h")
    for id in ["a", "b"] { try host.register(Recipe(id) { $0.handler = "h" }) }
    let cycle = try host.begin(20 * Time.second)
    try host.complete(try host.nextRun(cycle).token, .newData)
    try host.removeHandler("h")
    guard case .done = try host.next(cycle) else { throw Differs("a task without handler ran") }
    #expect(try host.state("b") == .enqueued)
    #expect(try host.nextWakeup() == nil)
  }

  @Test("T10 a name must be an identifier", arguments: ["", "a\u{0}", String(repeating: "x", count: 256)])
  func names(name: String) throws {
    let host = try Host()
    #expect(refusal { try host.addHandler(name) } == .invalidArgument)
    #expect(refusal { try host.removeHandler(name) } == .invalidArgument)
  }

  @Test("T10 P3 a handler may unregister itself and close down nothing else, from inside its run")
  func insideItself() throws {
    let host = try Host()
    let destroyed = Count()
    var codes: [SeleneError.Code?] = []
    try host.addHandler(
      "a",
      run: { [unowned host] run in
        codes.append(refusal { try host.removeHandler("a") })
        codes.append(refusal { try host.cancel("a") })
        codes.append(refusal { try host.complete(run.token, .newData) })
        codes.append(destroyed.value == 0 ? nil : .inconsistent)
      }, destroy: { destroyed.value += 1 })
    try host.register(Recipe("a"))
    let report = try host.run(20 * Time.second) { $0.isInline = true }
    #expect(codes == [nil, nil, .staleRun, nil])
    #expect(destroyed.value == 1)
    #expect(report.runs.map(\.finalOutcome) == [.stopped])
  }
}
