// Scheduler time: never back, the system's or a host's own (P2).

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Clock") struct ClockTests {
  @Test("P2 scheduler time never goes back, whatever the host's clock does")
  func neverBack() throws {
    let host = try Host(at: 1_000)
    func now() throws -> Instant { try host.enter { $1.now } }
    #expect(try now() == 1_000)
    host.now = 900
    #expect(try now() == 1_000)
    host.now = 1_500
    #expect(try now() == 1_500)
    host.now = .min
    #expect(try now() == 1_500)
    host.now = .max
    #expect(try now() == .max)
  }

  @Test(
    "P2 P6 a host may begin at any instant, and its tasks live through the ends of time",
    arguments: [Int64.min, -1, 0, .max - 1, .max])
  func anyBegin(begin: Instant) throws {
    let host = try Host(at: begin)
    try host.addHandler("a")
    try host.addHandler("p")
    try host.register(Recipe("a"))
    try host.register(Recipe("p", .periodic) { ($0.initialDelay, $0.recurrence) = (Time.tenYears, 1) })
    for _ in 0..<3 {
      let cycle = try host.begin(Time.day)
      while case .run(let run) = try host.next(cycle) {
        host.now = host.now.adding(Time.hour)
        _ = refusal { try host.complete(run.token, .failed) }
      }
      _ = try host.end(cycle)
      host.now = host.now.adding(Time.tenYears)
      _ = try host.nextWakeup()
    }
    #expect(try host.state("a") == .enqueued)
  }

  @Test("P2 the system's clock begins at the wall clock and goes on")
  func system() throws {
    let host = try Host(onSystemClock: true)
    var last: Instant = 1_600_000_000 * Time.second
    for _ in 0..<1_000 {
      let now = try host.enter { $1.now }
      try verify(now >= last, "\(now) after \(last)")
      last = now
    }
  }

  @Test("P2 a host's clock may not call the library")
  func reentrant() throws {
    final class Box { var handle: UInt64 = 0 }
    let box = Box()
    var codes: [SeleneError.Code?] = []
    let destroyed = Count()
    let clock = HostClock(
      read: {
        if box.handle != 0 { codes.append(refusal { try Scheduler.enter(box.handle) { $1.now } }) }
        return 5
      }, destroy: { destroyed.value += 1 })
    let handle = try Scheduler.open(Options(OptionsDraft(), .own), clock)
    box.handle = handle
    #expect(try Scheduler.enter(handle) { $1.now } == 5)
    #expect(codes == [.reentrant])
    #expect(destroyed.value == 0)
    try Scheduler.close(handle, grace: 0)
    #expect(destroyed.value == 1)
  }
}
