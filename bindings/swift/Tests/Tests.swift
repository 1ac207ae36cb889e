// The package's own tests.

import Foundation
import Selene
import Synchronization
import Testing

/// Until something that must happen counts as failed.
let long = Duration.seconds(600)

func opened(_ options: Options = Options()) throws -> Scheduler {
  let scheduler = try Scheduler(options)
  try scheduler.setConditions(.all, satisfied: .all)
  return scheduler
}

func pulled(_ start: Instant = Instant(nanosecondsSinceEpoch: 0)) throws -> Scheduler {
  var options = Options()
  (options.clock, options.noThreads) = (start, true)
  let scheduler = try opened(options)
  try scheduler.pull("a")
  return scheduler
}

func told(_ start: Instant) throws -> Scheduler {
  var options = Options()
  options.clock = start
  return try opened(options)
}

func refused(_ status: Status, _ call: () throws -> Void) throws {
  let error = try #require(throws: SeleneError.self) { try call() }
  #expect(error.status == status)
}

/// Which a handler and a test share.
final class Log: Sendable {
  private let lines = Mutex<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }

  func until(_ line: String) async throws {
    while !all.contains(line) { try await Task.sleep(for: .milliseconds(1)) }
  }
}

/// What no stop ends: who waits there goes on when it is opened.
final class Gate: Sendable {
  private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>([])

  func passed() async {
    await withCheckedContinuation { continuation in
      let isOpen = waiting.withLock {
        $0?.append(continuation)
        return $0 == nil
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let passing = waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting ?? []
    }
    passing.forEach { $0.resume() }
  }
}

/// Memory of this process, in pages.
func resident() throws -> Int {
  let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
  return Int(words[1]) ?? 0
}

/// A folder of its own, which goes with the test.
final class Folder {
  let path = "/tmp/selene-swift-\(UInt64.random(in: 0...UInt64.max))"
  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }
  deinit { try? FileManager.default.removeItem(atPath: path) }
}

let inFlight = ["computes", "fails", "sleeps", "stores"]

struct Broken: Error, CustomStringConvertible { let description: String }

// One after another: memory is that of the process.
@Suite("Selene for Swift", .serialized) struct Tests {
  @Test("what is thrown is a failure with its text") func failures() async throws {
    let scheduler = try opened()
    let handlers: [String: Handler] = [
      "throws": { _ in throw Broken(description: "no such wood") },
      "nul": { _ in throw Failure("a\0b") },
      "late": { _ in throw Failure("later", retryAfter: .seconds(7200)) },
      "never": { _ in throw Failure.abandoned("of no use") },
      "wrong": { _ in throw Failure("before", retryAfter: .nanoseconds(-1)) },
      "outcome": { _ in Outcome(rawValue: 77) },
    ]
    for (name, handler) in handlers {
      try scheduler.handle(name, with: handler)
      try scheduler.register(.once(name))
    }
    let report = try await scheduler.run(Window(budget: long, lanes: 2))
    #expect(report.failed == 5)
    #expect(report.abandoned == 1)
    let said = ["throws": "no such wood", "nul": "a\u{FFFD}b", "late": "later", "never": "of no use"]
    for (id, failure) in said { #expect(try scheduler.task(id).failure == failure) }
    #expect(try scheduler.task("wrong").failure.hasPrefix("what the handler gave was refused: delay"))
    #expect(try scheduler.task("outcome").failure.hasPrefix("what the handler gave was refused: outcome"))
    let late = try scheduler.task("late")
    #expect(late.earliestBegin == late.failedAt?.advanced(by: .seconds(7200)))
    #expect(try scheduler.ids(in: .failed) == ["never"])
  }

  @Test("what a handler returns is the outcome and what it leaves is kept") func outcomes() async throws {
    let scheduler = try opened()
    try scheduler.handle("news") { run in
      try run.setOutput([1, 0, 2])
      return .newData
    }
    try scheduler.handle("none") { _ in .noData }
    try scheduler.register(.standing("news"))
    try scheduler.register(.standing("none"))
    let report = try await scheduler.run(Window(budget: long))
    #expect(report.result == .newData)
    #expect(try scheduler.task("none").lastOutcome == .noData)
    #expect(try scheduler.output(of: "news") == [1, 0, 2])
    #expect(try scheduler.output(of: "none") == [])
  }

  @Test("a stop cancels the handler's task") func stops() async throws {
    let scheduler = try opened()
    let log = Log()
    try scheduler.handle("a") { run in
      log.add("begun")
      do { try await Task.sleep(for: long) } catch {
        log.add(run.stopReason == .cancelled || run.stopReason == .shutdown ? "cancelled" : "\(run.stopReason)")
        log.add("stopped")
        throw error
      }
      return .newData
    }
    try scheduler.register(.once("a"))
    async let report = scheduler.run(Window(budget: long))
    try await log.until("begun")
    #expect(try scheduler.cancel("a") == 1)
    #expect(try await report.stopped == 1)
    #expect(try scheduler.task("a").state == .cancelled)
    // A cancelled run is over, and reported, whether its handler has seen it yet or not.
    try await log.until("stopped")
    #expect(log.all == ["begun", "cancelled", "stopped"])
    let scheduler2 = try opened()
    try scheduler2.handle("a") { _ in
      try await Task.sleep(for: long)
      return .newData
    }
    try scheduler2.register(.once("a"))
    // A slow machine begins nothing in a short time.
    var (failed, time): (UInt64, Duration) = (0, .milliseconds(50))
    while failed == 0 {
      failed = try await scheduler2.run(Window(budget: long + time, reserve: long)).failed
      time *= 2
    }
    #expect(try scheduler2.task("a").failure == "stopped: expiring")
  }

  @Test("a window ends by its deadline and a close at once, whatever a handler does") func leftBehind() async throws {
    var options = Options()
    options.stopGrace = .zero
    let scheduler = try opened(options)
    let (log, over) = (Log(), Gate())
    let hangs: Handler = { _ in
      log.add("called")
      await over.passed()
      log.add("returned")
      return .newData
    }
    try scheduler.handle("times out", with: hangs)
    try scheduler.handle("hangs", with: hangs)
    try scheduler.handle("quick") { _ in .newData }
    var task = TaskRequest.once("times out")
    (task.priority, task.timeout, task.maxAttempts) = (.veryHigh, .milliseconds(20), 1)
    try scheduler.register(task)
    for number in 0..<5 { try scheduler.register(.once("\(number)", handler: "quick")) }
    var report = try await scheduler.run(Window(budget: long))
    #expect(report.expired == 1)
    #expect(report.newData == 5)
    #expect(try scheduler.task("times out").failure == "timed out")
    // Where nothing ends the run before, the window's deadline does. A slow machine begins nothing in a short one.
    try scheduler.register(.once("hangs"))
    var budget = Duration.milliseconds(50)
    repeat {
      budget *= 2
      report = try await scheduler.run(Window(budget: budget))
    } while report.runs.isEmpty
    #expect(report.expired == 1 && report.runs.first?.outcome == .expired)
    #expect((.zero ..< .seconds(60)).contains(report.deadline.duration(to: report.endedAt)))
    #expect(try scheduler.task("hangs").state == .enqueued)
    while log.all.filter({ $0 == "called" }).count < 2 { try await Task.sleep(for: .milliseconds(1)) }
    try scheduler.close()
    #expect(!log.all.contains("returned"))
    // What they give then comes too late, and disturbs nobody.
    over.open()
    while log.all.filter({ $0 == "returned" }).count < 2 { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test("a window ends with its task") func windows() async throws {
    let scheduler = try opened()
    let log = Log()
    try scheduler.handle("long") { _ in
      log.add("long")
      try await Task.sleep(for: long)
      return .newData
    }
    try scheduler.register(.once("long"))
    let window = Task { try await scheduler.run(Window(budget: long)) }
    try await log.until("long")
    window.cancel()
    #expect(try await window.value.runs.count == 1)
    #expect(try scheduler.task("long").state == .enqueued)
  }

  @Test("what is refused is an error that says what is allowed") func refusals() async throws {
    let scheduler = try opened()
    var task = TaskRequest.standing("a")
    task.responseWindow = 31
    let error = try #require(throws: SeleneError.self) { try scheduler.register(task) }
    #expect([error.field, error.found, error.allowed] == ["response_window", "31", "0 … 30"])
    try refused(.notFound) { try scheduler.cancel("nobody") }
    try refused(.invalidArgument) { _ = try scheduler.events(capacity: 0) }
    try scheduler.pull("a")
    try refused(.alreadyExists) { try scheduler.handle("a") { _ in .newData } }
    try refused(.storeCannotOpen) { _ = try Scheduler(Options(path: "/nowhere/store")) }
    try refused(.invalidArgument) { _ = try Scheduler(Options(path: "")) }
    task.responseWindow = -1
    try refused(.invalidArgument) { try scheduler.register(task) }
    task.responseWindow = 3
    task.expectedResponse = .nanoseconds(-1)
    try refused(.invalidArgument) { try scheduler.register(task) }
    try refused(.invalidArgument) { _ = try scheduler.plan(Window(lanes: 0)) }
    await #expect(throws: SeleneError.self) { try await scheduler.run(Window(budget: .zero)) }
  }

  @Test("a use after close is refused, whatever the order") func closed() async throws {
    let scheduler = try pulled()
    var task = TaskRequest.standing("a")
    task.input = [1, 0, 2]
    try scheduler.register(task)
    let events = try scheduler.events()
    let cycle = try scheduler.begin()
    guard case .run(let run) = try cycle.next() else { throw Broken(description: "no run") }
    try scheduler.close()
    try scheduler.close()
    try refused(.invalidHandle) { _ = try scheduler.now() }
    try refused(.invalidHandle) { _ = try cycle.next() }
    try refused(.invalidHandle) { try cycle.end() }
    var types: [EventType] = []
    for await event in events { types.append(event.type) }
    #expect(types.prefix(2) == [.cycleBegun, .started])
    #expect(throws: SeleneError.self) { try run.complete(.newData) }
    #expect(run.stopReason == .shutdown)
    #expect(run.remaining == .zero)
    #expect(run.id + run.handler == "aa" && run.input == [1, 0, 2])
    await #expect(throws: SeleneError.self) { try await scheduler.run() }
  }

  @Test("a test's clock says what is due and why; progress is told and a stalled run asked to stop") func clock() throws
  {
    let start = Instant(nanosecondsSinceEpoch: 3_600_000_000_000_000)
    let scheduler = try pulled(start)
    var task = TaskRequest.once("a")
    (task.initialDelay, task.stallLimit) = (.seconds(3600), .seconds(60))
    try scheduler.register(task)
    let at = start.advanced(by: .seconds(3600))
    #expect(try scheduler.nextWakeup() == at)
    #expect(try scheduler.explain("a").missing.map(\.mayChangeAt) == [at])
    try scheduler.setClock(start.advanced(by: .seconds(1800)))
    let waits = try scheduler.waits("a")
    #expect(
      waits.since == start && waits.parts.first?.reason == .notDue && waits.parts.first?.duration == .seconds(1800))
    try scheduler.setClock(at)
    #expect(try scheduler.plan().runs.map(\.id) == ["a"])
    let cycle = try scheduler.begin(Window(budget: long))
    guard case .run(let run) = try cycle.next() else { throw Broken(description: "no run") }
    try run.progress(3, of: 10, "three")
    let told = try #require(try scheduler.task("a").progress)
    #expect(told.done == 3 && told.total == 10 && told.text == "three" && told.at == at)
    #expect(run.stopReason == .none)
    try scheduler.setClock(at.advanced(by: .seconds(60)))
    #expect(run.stopReason == .stalled)
    try run.complete(.newData)
    try refused(.alreadyCompleted) { try run.complete(.newData) }
    #expect(try cycle.end().newData == 1)
  }

  @MainActor
  @Test("a nightly job's week passes on a clock of a test, also for handlers that need the main actor") func week()
    async throws
  {
    let midnight = Instant(nanosecondsSinceEpoch: 1_767_225_600_000_000_000)
    let scheduler = try told(midnight)
    let log = Log()
    let day = Duration.seconds(24 * 3600)
    try scheduler.handle("backup") { run in
      let slept = try await run.sleep(.seconds(4))
      await MainActor.run { log.add("\(run.startedAt) \(slept)") }
      return .newData
    }
    var task = TaskRequest.periodic("backup", every: day)
    task.initialDelay = .seconds(3 * 3600)
    try scheduler.register(task)
    try scheduler.startDriver()
    #expect(try await scheduler.advance(to: midnight) == midnight.advanced(by: .seconds(3 * 3600)))
    try await scheduler.advance(to: midnight.advanced(by: day * 7))
    // A period counts from the end of the run before.
    let nights = (0..<7).map { night in midnight.advanced(by: .seconds(3 * 3600) + (day + .seconds(4)) * night) }
    #expect(log.all == nights.map { "\($0) true" })
    #expect(try scheduler.now() == midnight.advanced(by: day * 7))
    try await scheduler.close(awaiting: long)
  }

  @Test("on a clock of a test a run is asked to stop, and is over, at its exact instant") func deadline() async throws {
    let start = Instant(nanosecondsSinceEpoch: 3_600_000_000_000_000)
    let scheduler = try told(start)
    let log = Log()
    let gate = Gate()
    try scheduler.handle("deaf") { run in
      log.add("\(try await run.sleep(.seconds(10))) \(start.duration(to: try scheduler.now()))")
      log.add("\(try await run.sleep(long)) \(start.duration(to: try scheduler.now())) \(run.stopReason)")
      await gate.passed()
      log.add("\(try await run.sleep(long))")
      return .newData
    }
    try scheduler.register(.once("deaf"))
    let window = Task { try await scheduler.run(Window(budget: .seconds(60), reserve: .seconds(5))) }
    while try scheduler.task("deaf").state != .running { await Task.yield() }
    func after(_ seconds: Int, _ nanoseconds: Int64 = 0) -> Instant {
      start.advanced(by: .seconds(seconds) + .nanoseconds(nanoseconds))
    }
    #expect(try await scheduler.advance(to: after(10, -1)) == after(10))
    #expect(log.all == [])
    #expect(try await scheduler.advance(to: after(10)) == after(55))
    #expect(log.all == ["true 10.0 seconds"])
    try await scheduler.advance(to: after(55, -1))
    #expect(log.all.count == 1)
    try scheduler.setClock(after(55))
    try await log.until("false 55.0 seconds expiring")
    let busy = await #expect(throws: SeleneError.self) {
      try await scheduler.advance(to: after(60), patience: .milliseconds(5))
    }
    #expect(busy?.status == .busy && busy?.detail == "still at work: \"deaf\" in the handler \"deaf\"")
    #expect(try scheduler.now() == after(55))
    // Its deadline leaves it behind a nanosecond later.
    try scheduler.setClock(after(60))
    #expect(try scheduler.task("deaf").state == .running)
    try scheduler.setClock(after(60, 1))
    #expect(try await window.value.expired == 1)
    gate.open()
    try await log.until("false")
    try scheduler.cancelAll()
    #expect(try await scheduler.advance(to: nil) == nil)
    try scheduler.close()
  }

  @Test("any number of runs wait for time, which passes for all of them; wrong calls are refused") func sleeps()
    async throws
  {
    let start = Instant(nanosecondsSinceEpoch: 3_600_000_000_000_000)
    let scheduler = try told(start)
    let log = Log()
    try scheduler.handle("a") { run in
      let refusal = await #expect(throws: SeleneError.self) { try await run.sleep(.nanoseconds(-1)) }
      #expect(refusal?.status == .invalidArgument)
      for _ in 0..<3 { try await run.sleep(.seconds(3600)) }
      log.add("\(start.duration(to: try scheduler.now()))")
      return .newData
    }
    for number in 0..<50 { try scheduler.register(.once("\(number)", handler: "a")) }
    try scheduler.startDriver(Driver(lanes: 50))
    #expect(try await scheduler.advance(to: nil) == nil)
    #expect(log.all == Array(repeating: "10800.0 seconds", count: 50))
    let other = try opened()
    for (scheduler, patience, status) in [
      (other, Duration.zero, Status.unsupported), (scheduler, .seconds(-1), .invalidArgument),
    ] {
      let refusal = await #expect(throws: SeleneError.self) {
        try await scheduler.advance(to: start, patience: patience)
      }
      #expect(refusal?.status == status)
    }
    try scheduler.close()
    let refusal = await #expect(throws: SeleneError.self) { try await scheduler.advance(to: start) }
    #expect(refusal?.status == .invalidHandle)
  }

  @Test("a driver runs what is registered until it is stopped; events tell it, and lost ones are counted") func driver()
    async throws
  {
    let scheduler = try opened()
    let log = Log()
    try scheduler.handle("a") { run in
      log.add(run.id)
      return .newData
    }
    try scheduler.startDriver(Driver(lanes: 2, ungoverned: true))
    try refused(.busy) { try scheduler.startDriver() }
    try scheduler.register(.once("a"))
    try await log.until("a")
    // What is stopped with the driver before its outcome is stored waits again.
    #expect(try scheduler.drain(grace: long))
    try scheduler.stopDriver(grace: long)
    #expect(try scheduler.task("a").state == .succeeded)
    // Without threads of the library each is told before the call returns.
    let quiet = try pulled()
    let events = try quiet.events(capacity: 2)
    for id in ["b", "c", "d"] { try quiet.register(.once(id)) }
    #expect(await events.next()?.id == "b")
    #expect(events.poll()?.id == "c")
    let reader = Task { await events.next() }
    try quiet.register(.once("e"))
    let next = try #require(await reader.value)
    #expect(next.id == "e" && next.lost == 1)
    let cancelled = Task { await events.next() }
    cancelled.cancel()
    #expect(await cancelled.value == nil)
  }

  @MainActor
  @Test("on the main actor a close waits for handlers that need it (V5)") func closeOnMainActor() async throws {
    let folder = try Folder()
    let options = Options(path: folder.path + "/store")
    for end in ["close", "stopDriver", "drain"] {
      let scheduler = try opened(options)
      let log = Log()
      try scheduler.handle("a") { _ in
        log.add("begun")
        try await log.until("ends")
        await MainActor.run { log.add("was here") }
        return .newData
      }
      try scheduler.startDriver(Driver(ungoverned: true))
      try scheduler.register(.once(end, handler: "a"))
      try await log.until("begun")
      log.add("ends")
      switch end {
      case "drain": #expect(try await scheduler.drain(awaiting: long))
      case "stopDriver": try await scheduler.stopDriver(awaiting: long)
      default: break
      }
      try await scheduler.close(awaiting: long)
      #expect(log.all == ["begun", "ends", "was here"])
      let again = try opened(options)
      #expect(try again.task(end).state == .succeeded)
      try again.close()
    }
    withExtendedLifetime(folder) {}
  }

  @Test("a store can be closed and opened again, groups and conditions too") func stores() throws {
    let folder = try Folder()
    let path = folder.path + "/store"
    let options = Options(path: path, owner: "org.example.tests")
    var scheduler: Scheduler? = try opened(options)
    var task = TaskRequest.once("ä")
    (task.input, task.tags, task.group, task.conditions) = ([1, 0, 2], ["tag"], "uploads", ["vpn"])
    try scheduler?.defineCondition("vpn")
    try scheduler?.limitGroup("uploads", to: 1)
    try scheduler?.register(task)
    try refused(.storeLocked) { _ = try Scheduler(options) }
    // It is closed when it goes.
    scheduler = nil
    for _ in 0..<3 {
      let scheduler = try opened(options)
      #expect(try scheduler.ids(tag: "tag") == ["ä"])
      #expect(try scheduler.task("ä").input == [1, 0, 2])
      #expect(try scheduler.missingConditions(of: "ä") == ["vpn"])
      #expect(try scheduler.group("uploads").limit == 1)
      try scheduler.close()
    }
    try refused(.storeForeign) { _ = try Scheduler(Options(path: path, owner: "org.example.others")) }
    withExtendedLifetime(folder) {}
  }

  @Test("a periodic task is due again after its period, and a run knows its times") func times() throws {
    let start = Instant(nanosecondsSinceEpoch: 3_600_000_000_000_000)
    let scheduler = try pulled(start)
    try scheduler.register(.periodic("a", every: .seconds(3600)))
    try scheduler.defineCondition("vpn")
    #expect(try scheduler.conditionNames() == ["vpn"])
    #expect(try scheduler.condition("vpn") == .unsatisfied)
    try scheduler.limitGroup("uploads", to: 1)
    #expect(try scheduler.groups() == ["uploads"])
    for now in [start, start.advanced(by: .seconds(3600))] {
      try scheduler.setClock(now)
      #expect(try scheduler.drain())
      try scheduler.resume()
      let cycle = try scheduler.begin()
      guard case .run(let run) = try cycle.next() else {
        Issue.record("no run")
        return
      }
      #expect(run.startedAt == now && run.deadline == now.advanced(by: .seconds(30)))
      #expect(run.expiresAt == now.advanced(by: .milliseconds(28_500)))
      try run.complete(.newData)
      _ = try cycle.end()
      #expect(try scheduler.task("a").earliestBegin == now.advanced(by: .seconds(3600)))
    }
  }

  @Test("kinds are paused until an instant, or until they are resumed") func pausesOfKinds() throws {
    let start = Instant(nanosecondsSinceEpoch: 3_600_000_000_000)
    let (until, later) = (start.advanced(by: .seconds(3600)), start.advanced(by: .seconds(7200)))
    let scheduler = try pulled(start)
    var (short, long) = (TaskRequest.once("short"), TaskRequest.once("long"))
    (short.handler, long.handler, long.kind) = ("a", "a", .processing)
    try scheduler.register(short)
    try scheduler.register(long)
    /// The id of the one run that a window gives; nil: it gives none.
    func pulledID() throws -> String? {
      let cycle = try scheduler.begin(Window(budget: .seconds(60), kinds: .all))
      var id: String?
      if case .run(let run) = try cycle.next() {
        id = run.id
        try run.complete(.newData)
      }
      _ = try cycle.end()
      return id
    }
    func expect(_ wanted: [(Kinds, String?, Instant?)], _ line: SourceLocation = #_sourceLocation) throws {
      let found = try scheduler.pauses()
      #expect(found.map(\.kinds) == wanted.map(\.0), sourceLocation: line)
      #expect(found.map(\.pool) == wanted.map(\.1), sourceLocation: line)
      #expect(found.map(\.until) == wanted.map(\.2), sourceLocation: line)
    }
    try expect([])
    try scheduler.pause(kinds: .refresh, until: until)
    let missing = try #require(try scheduler.explain("short").missing.first)
    #expect(missing.reason == .kindPaused && missing.mayChangeAt == until)
    try expect([(.refresh, nil, until)])
    #expect(try pulledID() == "long")
    #expect(try pulledID() == nil)
    #expect(try scheduler.nextWakeup() == until)
    try scheduler.setClock(until)
    try expect([])
    #expect(try pulledID() == "short")

    try scheduler.pause(kinds: .all)
    try scheduler.pause(kinds: [.refresh, .processing], pool: "mailer", until: later)
    try expect([(.all, nil, nil), (.all, "mailer", later)])
    try scheduler.unpause(kinds: .refresh)
    try scheduler.unpause(kinds: .processing, pool: "mailer")
    try expect([(.processing, nil, nil), (.refresh, "mailer", later)])
    try scheduler.unpause(kinds: .all)
    try scheduler.unpause(kinds: .all, pool: "mailer")
    try expect([])
  }

  @Test("a pause of no kind, of no pool or until what is past is refused") func wrongPauses() throws {
    let now = Instant(nanosecondsSinceEpoch: 3_600_000_000_000)
    let scheduler = try pulled(now)
    func refused(_ field: String, _ call: () throws -> Void) throws {
      let error = try #require(throws: SeleneError.self) { try call() }
      #expect(error.status == .invalidArgument && error.field == field)
    }
    try scheduler.pause(kinds: .refresh)
    for nanoseconds in [0, -1, now.nanosecondsSinceEpoch, .max - 1, .max] {
      let until = Instant(nanosecondsSinceEpoch: nanoseconds)
      try refused("until") { try scheduler.pause(kinds: .refresh, until: until) }
    }
    for pool in [nil, "mailer"] {
      try refused("kinds") { try scheduler.pause(kinds: [], pool: pool) }
      try refused("kinds") { try scheduler.pause(kinds: Kinds(rawValue: 8), pool: pool) }
      try refused("kinds") { try scheduler.unpause(kinds: [], pool: pool) }
    }
    for pool in ["", "a\0b"] {
      try refused("pool") { try scheduler.pause(kinds: .all, pool: pool) }
      try refused("pool") { try scheduler.unpause(kinds: .all, pool: pool) }
    }
    let left = try scheduler.pauses()
    #expect(left.count == 1 && left.first?.kinds == .refresh)
    try scheduler.close()
    let error = try #require(throws: SeleneError.self) { _ = try scheduler.pauses() }
    #expect(error.status == .invalidHandle)
  }

  @Test("a driver holds back what the profile refuses, and says why") func governor() async throws {
    let scheduler = try opened()
    let log = Log()
    try scheduler.handle("a") { run in
      log.add(run.id)
      return .newData
    }
    try scheduler.setProfile(.apple)
    try scheduler.setSignal(.backgroundSwitch, to: 0)
    let refusal = try scheduler.ask(.refresh)
    #expect(!refusal.isGranted)
    let because = try #require(refusal.findings.first { $0.factor == .backgroundSwitch })
    #expect(because.refuses && because.observed == 0 && because.clearsAt == nil)
    try scheduler.register(.once("a"))
    try scheduler.startDriver()
    try await Task.sleep(for: .milliseconds(50))
    #expect(log.all.isEmpty)
    try refused(.invalidArgument) { try scheduler.setSignal(.backgroundSwitch, to: 7) }
    try scheduler.clearSignal(.backgroundSwitch)
    try scheduler.setProfile(.open)
    try await log.until("a")
    let grant = try scheduler.ask(.refresh)
    #expect(grant.isGranted && grant.longestWindow == nil && grant.findings.isEmpty)
  }

  @Test("another process enqueues, looks and works for the owner of a store") func connections() async throws {
    let folder = try Folder()
    let connection = Connection(path: folder.path + "/store", pool: "tests")
    try refused(.ownerAway) { _ = try Scheduler(connection) }
    let owner = try opened(Options(path: connection.path))
    try owner.serve()
    let client = try Scheduler(connection)
    let log = Log()
    try client.handle("work") { run in
      try run.setOutput([UInt8]("by \(run.id)".utf8))
      return .newData
    }
    try client.handle("waits") { run in
      log.add("begun")
      do { try await Task.sleep(for: long) } catch {
        log.add(run.stopReason == .cancelled || run.stopReason == .shutdown ? "cancelled" : "\(run.stopReason)")
        throw error
      }
      return .newData
    }
    try refused(.alreadyExists) { try owner.handle("work") { _ in .newData } }
    try client.register(.once("a", handler: "work"))
    #expect(try owner.task("a").state == .enqueued)
    #expect(try await client.run(Window(budget: long)).newData == 1)
    #expect(try owner.output(of: "a") == [UInt8]("by a".utf8))
    // A stop of the owner's cancels the handler's task here.
    try client.startDriver(Driver(ungoverned: true))
    try owner.register(.once("waits"))
    try await log.until("begun")
    #expect(try owner.cancel("waits") == 1)
    try await log.until("cancelled")
    #expect(try client.task("waits").state == .cancelled)
    try client.stopDriver(grace: long)
    try owner.close()
    try refused(.ownerAway) { _ = try client.task("a") }
    try client.close()
    try refused(.invalidHandle) { _ = try client.now() }
    withExtendedLifetime(folder) {}
  }

  @Test("a process ends with its exit code with runs in flight, and the store tells them") func exits() async throws {
    let folder = try Folder()
    let path = folder.path + "/store"
    await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
      let scheduler = try opened(Options(path: path))
      let log = Log()
      try scheduler.handle("sleeps") { _ in
        log.add("begun")
        while true { try? await Task.sleep(for: long) }
      }
      try scheduler.handle("computes") { _ in
        log.add("begun")
        while true { await Task.yield() }
      }
      try scheduler.handle("stores") { run in
        log.add("begun")
        for number in Int64(0)... {
          try run.progress(number)
          var task = TaskRequest.once("made \(number % 10)")
          task.initialDelay = .seconds(86_400)
          try scheduler.register(task)
          await Task.yield()
        }
        return .newData
      }
      try scheduler.handle("fails") { _ in
        log.add("begun")
        while true {
          try refused(.notFound) { try scheduler.cancel("nobody") }
          await Task.yield()
        }
      }
      for id in inFlight { try scheduler.register(.once(id)) }
      var driver = Driver(lanes: 4, ungoverned: true)
      driver.refreshBudget = long
      try scheduler.startDriver(driver)
      while log.all.count < 4 { try await Task.sleep(for: .milliseconds(1)) }
      // Its commit has what began, too.
      try scheduler.register(.standing("last"))
      exit(7)
    }
    let scheduler = try opened(Options(path: path))
    for id in inFlight {
      let task = try scheduler.task(id)
      #expect(task.state == .enqueued && task.stopReason == .interrupted, "\(id)")
    }
    try scheduler.close()
    withExtendedLifetime(folder) {}
  }

  @Test("threads share a scheduler while one closes it") func threads() async throws {
    for _ in 0..<10 {
      let scheduler = try opened()
      let log = Log()
      try scheduler.handle("h") { run in
        if run.input.count != 99 { log.add("wrong") }
        log.add("ran")
        return .newData
      }
      for number in 0..<20 {
        var task = TaskRequest.standing("\(number)", handler: "h")
        task.input = [UInt8](repeating: 0, count: 99)
        try scheduler.register(task)
      }
      let runners = (0..<3).map { _ in
        Task {
          while true {
            do { _ = try await scheduler.run(Window(lanes: 3)) } catch let error as SeleneError {
              return error.status == .invalidHandle ? "closed" : "\(error)"
            }
          }
        }
      }
      try await log.until("ran")
      try scheduler.close()
      for runner in runners { #expect(try await runner.value == "closed") }
      #expect(!log.all.contains("wrong"))
    }
  }
  @Test("memory is flat over 40 000 lists of pauses") func memoryOfPauses() throws {
    let scheduler = try pulled()
    for number in 0..<20 { try scheduler.pause(kinds: .all, pool: "pool \(number)") }
    // In pages; a list that is kept has a quarter of one.
    var (before, grown) = (0, Int.max)
    for stretch in 0..<6 where stretch < 2 || grown >= 500 {
      for _ in 0..<20_000 where try scheduler.pauses().count != 20 { Issue.record("not all") }
      grown = try resident() - before
      before += grown
    }
    #expect(grown < 500)
  }

  @Test("memory is flat over 100 000 runs and as many failures") func memory() async throws {
    let scheduler = try opened()
    let text = String(repeating: "no ", count: 100)
    try scheduler.handle("works") { run in
      try run.setOutput(run.input)
      return .newData
    }
    try scheduler.handle("fails") { run in throw Failure("\(run.attempt): \(text)", retryAfter: .zero) }
    for number in 0..<100 {
      for handler in ["works", "fails"] {
        var task = TaskRequest.standing("\(handler) \(number)", handler: handler)
        (task.input, task.expectedResponse) = ([UInt8](repeating: 1, count: 1000), .zero)
        try scheduler.register(task)
      }
    }
    // As many runs again and again: what is lost with each run is lost in each stretch, allocators take some memory once.
    var (before, grown, windows) = (0, Int.max, 0)
    for stretch in 0..<6 where stretch < 2 || grown >= 500 {
      for _ in 0..<500 {
        let report = try await scheduler.run(Window(budget: long, lanes: 2))
        #expect(report.newData == 100 && report.failed == 100)
      }
      windows += 500
      grown = try resident() - before
      before += grown
    }
    // That is 20 bytes a run; one that is kept has ten times as much.
    #expect(grown < 500)
    #expect(try scheduler.task("fails 1").attempts == UInt32(windows))
  }

  @Test("what a driver and a window would do is refused without threads, and a handler that is removed is let go")
  func threadless() async throws {
    let quiet = try pulled()
    try refused(.unsupported) { try quiet.startDriver() }
    await #expect(throws: SeleneError.self) { try await quiet.run() }
    let scheduler = try opened()
    var log: Log? = Log()
    weak let kept = log
    try scheduler.handle("a") { [log] run in
      log?.add(run.id)
      return .noData
    }
    log = nil
    #expect(kept != nil)
    try scheduler.removeHandler("a")
    #expect(kept == nil)
    try refused(.notFound) { try scheduler.removeHandler("a") }
  }
}
