// Handles and tokens: stale, freed, foreign and random ones are told from those that are open (P4).

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Handle") struct HandleTests {
  private func call(_ scheduler: UInt64) -> SeleneError.Code? {
    refusal { try Scheduler.enter(scheduler) { scheduler, moment in moment.now } }
  }

  private func call(cycle: UInt64) -> SeleneError.Code? {
    refusal { try Scheduler.enter(cycle: cycle) { _, cycle, _ in cycle.handle } }
  }

  private func call(run: UInt64) -> SeleneError.Code? {
    refusal {
      try Scheduler.enter(run: run) { scheduler, number, moment throws(SeleneError) in
        try scheduler.stopping(number, at: moment).remaining
      }
    }
  }

  /// A host with one task.
  private func host() throws -> Host {
    let host = try Host()
    try host.addHandler("a")
    try host.register(Recipe("a"))
    return host
  }

  @Test(
    "P4 zero and random numbers are no handles", arguments: [0, 1, 42, .max, 1 << 63, 1 << 62, 0x8100_0000_0000_0000])
  func random(number: UInt64) {
    #expect(call(number) == .invalidHandle)
    #expect(call(cycle: number) == .invalidHandle)
    #expect(call(run: number) == .invalidHandle)
  }

  @Test("P4 thousands of random numbers are refused and nothing traps")
  func manyRandom() throws {
    var chance = Chance("P4")
    let host = try host()
    for _ in 0..<5_000 {
      // A bit of a real handle is turned, but none of its slot: there other tests have theirs.
      let bit = chance.pick(Array(0..<40) + Array(56..<64))
      let number = chance.once(in: 2) ? chance.next() : host.handle ^ (1 << UInt64(bit))
      let what = "\(number), handle \(host.handle)"
      try verify(call(number) == .invalidHandle, what)
      try verify(call(cycle: number) == .invalidHandle, what)
      try verify([.invalidHandle, .staleRun].contains(call(run: number)), what)
    }
  }

  @Test("P4 a handle of another type is refused")
  func otherType() throws {
    let host = try host()
    let cycle = try host.begin(Time.second)
    let run = try host.nextRun(cycle).token
    #expect(call(cycle: host.handle) == .invalidHandle)
    #expect(call(run: host.handle) == .invalidHandle)
    #expect(call(cycle) == .invalidHandle)
    #expect(call(run: cycle) == .invalidHandle)
    #expect(call(run) == .invalidHandle)
    #expect(call(cycle: run) == .invalidHandle)
    #expect(call(run: run) == nil)
  }

  @Test("P4 a closed scheduler's handle, and those of its cycles, are refused; its runs are stale")
  func closed() throws {
    let host = try host()
    let cycle = try host.begin(Time.second)
    let run = try host.nextRun(cycle).token
    try host.close()
    #expect(call(host.handle) == .invalidHandle)
    #expect(call(cycle: cycle) == .invalidHandle)
    #expect(call(run: run) == .staleRun)
    #expect(refusal { try Scheduler.close(host.handle, grace: 0) } == .invalidHandle)
  }

  @Test("P4 a handle stays refused when another scheduler takes its place")
  func reused() throws {
    var old: [UInt64] = []
    for _ in 0..<50 {
      let host = try host()
      #expect(!old.contains(host.handle))
      for handle in old.suffix(5) { #expect(call(handle) == .invalidHandle) }
      old.append(host.handle)
      try host.close()
    }
  }

  @Test("P4 an ended cycle's handle is refused")
  func endedCycle() throws {
    let host = try host()
    let cycle = try host.begin(Time.second)
    _ = try host.end(cycle)
    #expect(call(cycle: cycle) == .invalidHandle)
    #expect(try host.begin(Time.second) != cycle)
  }

  @Test("P4 the token of another scheduler's run belongs to that one")
  func foreignToken() throws {
    let (first, second) = (try host(), try host())
    let cycle = try first.begin(Time.second)
    let run = try first.nextRun(cycle).token
    // Both hosts complete through the same call; the token says whose it is.
    try second.complete(run, .newData)
    #expect(try first.record("a").record.responseTimes == [0])
    #expect(try second.record("a").record.responseTimes.isEmpty)
  }

  @Test("B4 handles and tokens are below 2^63, and told from each other")
  func positive() throws {
    let host = try host()
    let cycle = try host.begin(Time.second)
    let run = try host.nextRun(cycle).token
    for number in [host.handle, cycle, run] { #expect((1...UInt64(Int64.max)).contains(number)) }
    for number in [run | 1 << 63, run | 1 << 62, host.handle | 1 << 63] { #expect(call(run: number) == .invalidHandle) }
    #expect(call(run: host.handle) == .invalidHandle)
    #expect(call(run) == .invalidHandle)
  }

  @Test("P4 each opened scheduler lives a life of its own")
  func lives() throws {
    let lives = try (0..<5).map { _ in
      let host = try host()
      return try host.enter { scheduler, _ in scheduler.census.life }
    }
    #expect(Set(lives).count == 5)
    #expect(lives == lives.sorted())
  }
}
