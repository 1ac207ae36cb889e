// Traces: a recorded day replayed decides the same, byte for byte; what is malformed says where (G9).

import Foundation
import SeleneCore
import SeleneGovernor
import Testing

@Suite("Trace") struct TraceTests {
  /// Records some time of a governor's life.
  static func record(_ chance: inout Chance, steps: Int) throws -> [UInt8] {
    var now: Instant = 20_000 * Time.day
    var governor = Governor(chance.pick(BuiltInProfile.allCases).profile)
    for day: Int64 in 1...6 {
      governor.use(from: now - day * Time.day, to: now - day * Time.day + 3 * Time.hour, at: now - day * Time.day)
    }
    for signal in Signal.allCases where chance.once(in: 2) {
      try governor.signals.set(signal, chance.span(signal.least...signal.greatest), by: .probe, at: now)
    }
    var writer = TraceWriter(at: now)
    writer.state(governor, at: now)
    var bytes: [UInt8] = []
    for _ in 0..<steps {
      now += chance.anySpan(upTo: Time.hour)
      let kind = chance.pick(Kind.allCases)
      switch chance.below(9) {
      case 0...2:
        let signal = chance.pick(Signal.allCases)
        let source = chance.pick([SignalSource.probe, .host])
        let value = chance.span(signal.least...signal.greatest)
        let until = chance.once(in: 2) ? Time.never : now + chance.anySpan(upTo: Time.hour)
        try governor.signals.set(signal, value, by: source, at: now, until: until)
        writer.signal(signal, value, by: source, until: until, at: now)
      case 3:
        let signal = chance.pick(Signal.allCases)
        governor.signals.clear(signal, by: .host, at: now)
        writer.clear(signal, by: .host, at: now)
      case 4:
        let begin = now - chance.anySpan(upTo: Time.hour)
        governor.use(from: begin, to: now, at: now)
        writer.use(from: begin, to: now, at: now)
      case 5:
        governor.report(kind, cpuTime: 5, bytes: 7, at: now)
        writer.report(kind, cpuTime: 5, bytes: 7, at: now)
      case 6:
        let profile = chance.pick(BuiltInProfile.allCases).profile
        governor.setProfile(profile, at: now)
        writer.profile(profile, at: now)
      case 7:
        governor.end(kind, at: now)
        writer.end(kind, at: now)
        let id: [UInt8] = chance.pick([Array("a task %".utf8), Array("ü".utf8), [0x7F, 0x0A]])
        id.withUnsafeBytes { writer.run(kind, started: now - 5, .newData, .preempted, id: $0, at: now) }
      default:
        let decision = governor.decide(kind, at: now)
        writer.decision(decision)
        if decision.isGranted {
          let budget = min(decision.longestWindow, Time.minute)
          governor.begin(kind, budget: budget, at: now)
          writer.begin(kind, budget: budget, at: now)
        }
      }
      if chance.once(in: 20) { bytes += writer.take() }
    }
    return bytes + writer.take()
  }

  @Test("G9 recorded days, each replayed ten times: byte-equal")
  func replay() throws {
    var chance = Chance("trace replay")
    var decisions = 0
    for _ in 0..<10 {
      let bytes = try Self.record(&chance, steps: 400)
      for _ in 0..<10 {
        var replay = try bytes.withUnsafeBytes { try TraceReplay.replay($0) }
        try verify(replay.firstDifference == 0, "line \(replay.firstDifference) was decided otherwise")
        try verify(replay.writer.take() == bytes, "the replay wrote other bytes")
        decisions += replay.decisions
      }
    }
    #expect(decisions > 1000)
  }

  @Test("G9 a day that the shipped library recorded decides the same in this build, byte for byte, ten times")
  func recordedElsewhere() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../vectors/day.trace")
    let bytes = [UInt8](try Data(contentsOf: file))
    for _ in 0..<10 {
      var replay = try bytes.withUnsafeBytes { try TraceReplay.replay($0) }
      #expect((replay.decisions, replay.firstDifference) == (213, 0))
      #expect(replay.writer.take() == bytes)
    }
  }

  @Test("G9 another decision is found, with its line")
  func difference() throws {
    let now: Instant = 5
    var writer = TraceWriter(at: now)
    var governor = Governor(BuiltInProfile.apple.profile)
    writer.state(governor, at: now)
    writer.decision(governor.decide(.refresh, at: now))
    try governor.signals.set(.lowPowerMode, 1, by: .host, at: now)
    writer.decision(governor.decide(.refresh, at: now))
    let bytes = writer.take()
    let replay = try bytes.withUnsafeBytes { try TraceReplay.replay($0) }
    #expect((replay.decisions, replay.firstDifference) == (2, 6))
  }

  @Test("G9 the format is what its description says")
  func format() throws {
    var writer = TraceWriter(at: 1000)
    writer.signal(.userActive, 1, by: .host, until: 1500, at: 1200)
    writer.clear(.userActive, by: .host, at: 1300)
    writer.begin(.refresh, budget: 30, at: 1300)
    writer.report(.refresh, cpuTime: 4, bytes: 5, at: 1310)
    writer.end(.refresh, at: 1320)
    writer.use(from: 1300, to: 1400, at: 1420)
    Array("a b%".utf8).withUnsafeBytes { writer.run(.processing, started: 1400, .failed, .preempted, id: $0, at: 1421) }
    let governor = Governor(BuiltInProfile.server.profile)
    writer.decision(governor.decide(.processing, at: 1500))
    let text = String(decoding: writer.take(), as: UTF8.self)
    #expect(
      text == """
        selene-trace 1 1000
        S 200 5 2 1 300
        C 100 5 2
        B 0 1 30
        R 10 1 4 5
        E 10 1
        U 100 120 20
        T 1 2 21 2 2 a%20b%25
        D 79 2 0 1 1000 28800000000000 0 7 13 1 0 0 500 0 0 14 1 0 0 200 0 0 15 1 0 0 100 0 0 16 1 0 0 50 0 0 \
        18 1 0 0 200 0 0 19 1 0 1000 50 0 0 20 1 4 0 999 0 0

        """)
  }

  @Test(
    "G9 a malformed trace is refused with the line and what is wrong",
    arguments: [
      ("", "line 1: not a trace of version 1"), ("selene-trace 2 5\n", "line 1: not a trace of version 1"),
      ("selene-trace 1 \n", "line 1: a number was expected"), ("selene-trace 1 5", "line 1: a newline was expected"),
      ("selene-trace 1 5\nX\n", "line 2: an unknown letter at its start"),
      ("selene-trace 1 5\nE 1 1", "line 2: the trace ends in the middle of the line"),
      ("selene-trace 1 5\nE 1 ", "line 2: the trace ends in the middle of the line"),
      ("selene-trace 1 5\nE 1  1\n", "line 2: a number was expected"),
      ("selene-trace 1 5\nE 1 1 1\n", "line 2: the wrong number of values for its letter"),
      ("selene-trace 1 5\nE 1 3\n", "line 2: no such kind"),
      ("selene-trace 1 5\nE -1 1\n", "line 2: earlier than the previous line"),
      ("selene-trace 1 5\nE 01 1\n", "line 2: a number with leading zeros, or -0"),
      ("selene-trace 1 5\nE -0 1\n", "line 2: a number with leading zeros, or -0"),
      ("selene-trace 1 5\nE 1 1x\n", "line 2: a number or a newline was expected"),
      ("selene-trace 1 5\nE 1 9223372036854775808\n", "line 2: a number is too large"),
      ("selene-trace 1 5\nE 1 99999999999999999999\n", "line 2: a number is too large"),
      ("selene-trace 1 5\nE 1 1\nS 0 99 1 0 0\n", "line 3: no such signal"),
      ("selene-trace 1 5\nS 0 1 0 0 0\n", "line 2: no such source"),
      ("selene-trace 1 5\nT 0 1 5 0 0\n", "line 2: no task id"),
      ("selene-trace 1 5\nD 0 1 0 1 0 0 0 2 1 1\n", "line 2: fewer or more findings than it announces"),
      ("selene-trace 1 5\nS 0 5 1 2 -1\n", "user_active: 2 is out of range, allowed are 0 … 1"),
      ("selene-trace 1 5\nP 0 1 2\n", "profile: 2 numbers"),
      ("selene-trace 1 5\nL\n", "ledger: 0 numbers"), ("selene-trace 1 5\nH 0 1\n", "use: not a history of use"),
    ])
  func malformed(text: String, message: String) {
    do {
      _ = try Array(text.utf8).withUnsafeBytes { try TraceReplay.replay($0) }
      Issue.record("it was accepted")
    } catch let error as SeleneError {
      #expect(error.code == .invalidArgument)
      let detail = String(decoding: error.detail.bytes, as: UTF8.self)
      #expect(detail.contains(message), "\(detail)")
    } catch {
      Issue.record(error)
    }
  }

  @Test("G9 a damaged trace is refused or replayed, and never traps")
  func damaged() throws {
    var chance = Chance("trace damage")
    let whole = try Self.record(&chance, steps: 60)
    for _ in 0..<3_000 {
      var bytes = whole
      for _ in 0...chance.below(3) {
        let place = chance.below(bytes.count)
        switch chance.below(4) {
        case 0: bytes[place] = UInt8(chance.below(256))
        case 1: bytes[place] = chance.pick(Array("0123456789- \n".utf8))
        case 2: bytes.remove(at: place)
        default: bytes.insert(chance.pick(Array("0123456789- \n".utf8)), at: place)
        }
      }
      if chance.once(in: 5) { bytes.removeLast(chance.below(bytes.count)) }
      // What is accepted is written the only way there is.
      if var replay = try? bytes.withUnsafeBytes({ try TraceReplay.replay($0) }), replay.firstDifference == 0 {
        try verify(replay.writer.take() == bytes, "two ways to write the same trace")
      }
    }
  }
}
