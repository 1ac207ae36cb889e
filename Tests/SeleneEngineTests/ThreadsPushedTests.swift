// Pushed cycles: library threads call real handlers, and the report comes by the deadline whatever they do (C5).

import Foundation
import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Threads: pushed cycles", .serialized, .tags(.threads)) struct ThreadsPushedTests {
  private static let millisecond: Span = 1_000_000

  private func host(_ change: (inout OptionsDraft) -> Void = { _ in }) throws -> Host {
    try Host(onSystemClock: true, change)
  }

  /// A standing task whose handler runs this.
  private func add(
    _ id: String, to host: Host, stop: (@Sendable (UInt64, StopReason) -> Void)? = nil,
    destroy: (@Sendable () -> Void)? = nil, _ run: @escaping @Sendable (Run) -> Void
  ) throws {
    try host.addHandler(id, run: run, stop: stop, destroy: destroy)
    try host.register(Recipe(id) { $0.expectedResponse = Self.millisecond })
  }

  /// Runs a cycle; with more time again where the machine was too busy to begin anything in it.
  private func run(
    _ host: Host, _ budget: Span, _ change: (inout WindowDraft) -> Void = { _ in }
  ) throws -> Report {
    for factor: Span in [1, 4, 16, 64] {
      let report = try host.run(budget * factor) {
        change(&$0)
        if $0.reserve > 0 { $0.reserve *= factor }
      }
      if !report.runs.isEmpty { return report }
    }
    throw Differs("nothing began in a window of \(64 * budget) ns")
  }

  @Test("C5 handlers of two lanes are at work at the same time, on threads that are not the caller's")
  func lanes() throws {
    let host = try host()
    let gate = Gate()
    let threads = Locked<Set<UInt>>([])
    for id in ["a", "b"] {
      try add(id, to: host) { run in
        threads.with { _ = $0.insert(UInt(pthread_self())) }
        let met = gate.meet(2)
        _ = refusal { try host.complete(run.token, met ? .newData : .failed) }
      }
    }
    let report = try host.run(30 * Time.second) { $0.lanes = 2 }
    #expect(report.runs.map(\.finalOutcome) == [.newData, .newData])
    #expect(threads.copy.count == 2)
    #expect(!threads.copy.contains(UInt(pthread_self())))
    try host.close(grace: Time.second)
  }

  @Test("C5 one lane runs handlers one after another, and a task at most once")
  func oneLane() throws {
    let host = try host()
    let inside = Locked((now: 0, most: 0, calls: 0))
    for index in 0..<20 {
      try add("t\(index)", to: host) { run in
        inside.with { ($0.now, $0.most, $0.calls) = ($0.now + 1, max($0.most, $0.now + 1), $0.calls + 1) }
        inside.with { $0.now -= 1 }
        _ = refusal { try host.complete(run.token, .noData) }
      }
    }
    let report = try host.run(30 * Time.second)
    #expect(report.runs.count == 20)
    #expect(inside.copy.most == 1)
    #expect(inside.copy.calls == 20)
    try host.close()
  }

  @Test("C5 a blocking cycle returns by its deadline though a handler never returns; its thread is left behind")
  func leftBehind() throws {
    let host = try host()
    let gate = Gate()
    let codes = Locked<[SeleneError.Code?]>([])
    try add("a", to: host) { run in
      gate.wait()
      codes.with { $0.append(refusal { try host.complete(run.token, .newData) }) }
    }
    let report = try run(host, 50 * Self.millisecond)
    #expect(report.runs.map(\.finalOutcome) == [.expired])
    #expect(report.runs.map(\.stopReason) == [.expiring])
    #expect(report.endedAt == report.time.deadline)
    #expect(codes.copy.isEmpty)
    func overrunThreads() throws -> Int { try host.enter { scheduler, _ in scheduler.census.overrunThreads } }
    #expect(try overrunThreads() == 1)
    #expect(try host.reasons("a").contains(.stillRunning))
    gate.open()
    #expect(try eventually { try overrunThreads() == 0 })
    #expect(codes.copy == [.staleRun])
    #expect(!(try host.reasons("a").contains(.stillRunning)))
    try host.close(grace: Time.second)
  }

  @Test("C5 at the cap of threads left behind begin answers BUSY, and is possible again when one returned")
  func cap() throws {
    let host = try host { $0.maxOverrunThreads = 1 }
    let gate = Gate()
    for id in ["a", "b"] {
      try add(id, to: host) { run in
        gate.wait()
        _ = refusal { try host.complete(run.token, .newData) }
      }
    }
    #expect(try run(host, 50 * Self.millisecond).runs.count == 1)
    #expect(refusal { try host.run(50 * Self.millisecond) } == .busy)
    #expect(refusal { try host.runAsync(50 * Self.millisecond) } == .busy)
    // The engine is pulled as before.
    _ = try host.end(try host.begin(Time.second))
    gate.open()
    #expect(eventually { refusal { try host.run(Time.second) } == nil })
    try host.close(grace: Time.second)
  }

  @Test("C5 a pushed begin past the deadline of a forgotten pulled cycle ends that one first")
  func forgotten() throws {
    let host = try host()
    try add("a", to: host) { run in _ = refusal { try host.complete(run.token, .newData) } }
    let forgotten = try host.begin(Self.millisecond)
    Thread.sleep(forTimeInterval: 0.003)
    #expect(try host.run(30 * Time.second).runs.count == 1)
    #expect(refusal { try host.end(forgotten) } == .invalidHandle)
    _ = try host.begin(Self.millisecond)
    Thread.sleep(forTimeInterval: 0.003)
    let reported = Gate()
    _ = try host.runAsync(Time.second, receive: { _ in reported.open() })
    #expect(reported.wait())
    try host.close()
  }

  @Test("C6 an outcome may come from another thread, before or after the handler returned", arguments: [true, false])
  func otherThread(beforeReturn: Bool) throws {
    let host = try host()
    let (given, returned) = (Gate(), Gate())
    try add("a", to: host) { run in
      let token = run.token
      Thread {
        if !beforeReturn { returned.wait() }
        _ = refusal { try host.complete(token, .newData) }
        given.open()
      }.start()
      if beforeReturn { given.wait() }
      returned.open()
    }
    let report = try host.run(30 * Time.second)
    #expect(report.runs.map(\.finalOutcome) == [.newData])
    given.wait()
    #expect(try host.reasons("a").allSatisfy { $0 != .stillRunning })
    try host.close(grace: Time.second)
  }

  @Test("C4 a handler that returned without an outcome keeps its lane until the window ends")
  func silentHandler() throws {
    let host = try host()
    let tokens = Locked<[UInt64]>([])
    for id in ["a", "b"] { try add(id, to: host) { run in tokens.with { $0.append(run.token) } } }
    let report = try run(host, 80 * Self.millisecond)
    #expect(report.runs.map(\.finalOutcome) == [.expired])
    #expect(report.didNotFit == 1)
    // Its handler may return late.
    #expect(
      try eventually {
        try !tokens.copy.isEmpty && host.enter { scheduler, _ in scheduler.census.overrunThreads } == 0
      })
    #expect(refusal { try host.complete(tokens.copy[0], .newData) } == .staleRun)
    try host.close()
  }

  @Test("C8 a cooperative handler is asked on another thread while it works, and ends in time")
  func cooperative() throws {
    let host = try host()
    let asked = Gate()
    let reasons = Locked<[StopReason]>([])
    try add(
      "a", to: host,
      stop: { _, reason in
        reasons.with { $0.append(reason) }
        asked.open()
      },
      { run in
        asked.wait()
        _ = refusal { try host.complete(run.token, .failed) }
      })
    // A short while to begin in, a long one to end in.
    let report = try run(host, 20 * Time.second + 100 * Self.millisecond) { $0.reserve = 20 * Time.second }
    #expect(reasons.copy == [.expiring])
    #expect(report.runs.map(\.finalOutcome) == [.failed])
    #expect(report.endedAt < report.time.deadline)
    try host.close(grace: Time.second)
  }

  // MARK: Asynchronous

  @Test("C12 run_async joins a cycle of exactly these kinds and gets its report and deadline")
  func join() throws {
    let host = try host { $0.minimumIntervalRefresh = Time.hour }
    let (gate, reported) = (Gate(), Gate())
    let reports = Locked<[UInt64]>([])
    let destroyed = Locked(0)
    try add("a", to: host) { run in
      gate.wait()
      _ = refusal { try host.complete(run.token, .newData) }
    }
    let receive: @Sendable (Report) -> Void = { report in
      let count = reports.with {
        $0.append(report.cycle)
        return $0.count
      }
      if count == 3 { reported.open() }
    }
    func start() throws -> (cycle: UInt64, deadline: Instant) {
      try host.runAsync(30 * Time.second, receive: receive, destroy: { destroyed.with { $0 += 1 } })
    }
    let first = try start()
    let (second, third) = (try start(), try start())
    #expect(first == second && first == third)
    #expect(refusal { try host.runAsync(Time.second) { $0.kinds = 3 } } == .busy)
    gate.open()
    reported.wait()
    #expect(reports.copy == [first.cycle, first.cycle, first.cycle])
    #expect(eventually { destroyed.copy == 3 })
    #expect(refusal { try start() } == .tooSoon)
    try host.close(grace: Time.second)
  }

  @Test("C5 an asynchronous cycle ends early at the host's word, and reports once")
  func endEarly() throws {
    let host = try host()
    let gate = Gate()
    let outcomes = Locked<[Outcome]>([])
    let began = Gate()
    try add("a", to: host) { run in
      began.open()
      gate.wait()
      _ = refusal { try host.complete(run.token, .newData) }
    }
    let (cycle, deadline) = try host.runAsync(
      Time.hour, receive: { report in outcomes.with { $0 += report.runs.map(\.finalOutcome) } })
    began.wait()
    let report = try host.end(cycle)
    #expect(report.endedAt < deadline)
    #expect(eventually { outcomes.copy == [.stopped] })
    #expect(refusal { try host.end(cycle) } == .invalidHandle)
    gate.open()
    try host.close(grace: 10 * Time.second)
  }

  // MARK: Close

  @Test("P3 close waits at most its grace; a handler's destroy follows its last return, even later")
  func closeWithoutGrace() throws {
    let host = try host()
    let (began, gate, ended) = (Gate(), Gate(), Gate())
    let destroyed = Locked(0)
    let reports = Locked<[Outcome]>([])
    try add(
      "a", to: host,
      destroy: {
        destroyed.with { $0 += 1 }
        ended.open()
      },
      { run in
        began.open()
        gate.wait()
        _ = refusal { try host.complete(run.token, .newData) }
      })
    _ = try host.runAsync(Time.hour, receive: { report in reports.with { $0 += report.runs.map(\.finalOutcome) } })
    began.wait()
    try host.close()
    #expect(reports.copy == [.stopped])
    #expect(destroyed.copy == 0)
    gate.open()
    ended.wait()
    #expect(destroyed.copy == 1)
  }

  @Test("P3 close with a grace waits for handlers that return")
  func closeWithGrace() throws {
    let host = try host()
    let (began, asked) = (Gate(), Gate())
    let destroyed = Locked(0)
    try add(
      "a", to: host, stop: { _, _ in asked.open() }, destroy: { destroyed.with { $0 += 1 } },
      { run in
        began.open()
        asked.wait()
        _ = refusal { try host.complete(run.token, .newData) }
      })
    _ = try host.runAsync(Time.hour)
    began.wait()
    try host.close(grace: 30 * Time.second)
    #expect(destroyed.copy == 1)
  }
}
