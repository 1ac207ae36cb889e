// Eight threads call everything at once for two seconds or more; meant for the thread sanitizer too (P3).

import Foundation
import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Threads: hammer", .serialized, .tags(.threads)) struct ThreadsHammerTests {
  private static let millisecond: Span = 1_000_000

  /// What happened to one context: a handler's, an observer's, a report's.
  private final class Context: @unchecked Sendable {  // every access holds the lock
    private let state = Locked((calls: 0, inside: 0, ends: 0, faults: [String]()))

    func call(_ body: () -> Void) {
      state.with {
        $0.calls += 1
        $0.inside += 1
        if $0.ends > 0 { $0.faults.append("called after its end") }
      }
      body()
      state.with { $0.inside -= 1 }
    }

    func end() {
      state.with {
        $0.ends += 1
        if $0.inside > 0 { $0.faults.append("ended while it was called") }
      }
    }

    func fault(_ what: String) { state.with { $0.faults.append(what) } }
    var calls: Int { state.copy.calls }
    var isInside: Bool { state.copy.inside > 0 }

    /// What is wrong once everything is over; nil if nothing.
    var verdict: String? {
      let state = state.copy
      if let fault = state.faults.first { return fault }
      return state.ends == 1 ? nil : "ended \(state.ends) times after \(state.calls) calls"
    }
  }

  /// All that the threads share.
  private final class Shared: @unchecked Sendable {  // every field is a constant of a shared type
    let host: Host
    let contexts = Locked<[(name: String, context: Context)]>([])
    /// Runs that somebody else will complete.
    let tokens = Locked<[UInt64]>([])
    let unexpected = Locked<Set<String>>([])
    let counts = Locked<[String: Int]>([:])
    let until = Date(timeIntervalSinceNow: 2)
    /// On a machine that is busy with others it goes on until each call went well once, so long at most.
    let limit = Date(timeIntervalSinceNow: 60)
    var isOver: Bool {
      let counts = counts.copy
      return Date() >= (ThreadsHammerTests.wanted.allSatisfy { counts[$0] != nil } ? until : limit)
    }

    init() throws { host = try Host(onSystemClock: true) { ($0.maxPendingRefresh, $0.maxOverrunThreads) = (50, 64) } }

    func context(_ name: String) -> Context {
      let context = Context()
      contexts.with { $0.append((name, context)) }
      return context
    }

    /// Calls, and keeps a refusal that is none of the expected.
    func call(_ name: String, _ expected: Set<SeleneError.Code> = [], _ body: () throws -> Void) {
      do {
        try body()
        counts.with { $0[name, default: 0] += 1 }
      } catch let error as SeleneError {
        if !expected.contains(error.code) { unexpected.with { _ = $0.insert("\(name): \(error.code)") } }
      } catch {
        unexpected.with { _ = $0.insert("\(name): \(error)") }
      }
    }
  }

  /// Calls that must have gone well.
  private static let wanted = ["register", "run", "async", "pull", "complete", "cancel", "observe", "handler"]
  private static let names = ["h0", "h1", "h2", "h3", "h4"]
  private static let ids = (0..<24).map { "t\($0)" }

  @Test("P3 eight threads call everything at once; nothing is lost, called after its end or ended twice")
  func hammer() throws {
    let shared = try Shared()
    for name in Self.names { Self.addHandler(name, shared) }
    Self.observe(shared)
    onThreads(8) { thread in
      var chance = Chance("hammer \(thread)")
      while !shared.isOver { Self.step(shared, &chance) }
    }
    try shared.host.close(grace: 30 * Time.second)
    #expect(shared.unexpected.copy.isEmpty, "SELENE_SEED=\(Seed.value)")
    #expect(eventually { shared.contexts.copy.allSatisfy { $0.context.verdict == nil } })
    for (name, context) in shared.contexts.copy {
      if let verdict = context.verdict { Issue.record("\(name): \(verdict), SELENE_SEED=\(Seed.value)") }
    }
    let counts = shared.counts.copy
    for name in Self.wanted {
      #expect(counts[name, default: 0] > 0, "\(name) never went well: \(counts), SELENE_SEED=\(Seed.value)")
    }
  }

  private static func step(_ shared: Shared, _ chance: inout Chance) {
    let host = shared.host
    let id = chance.pick(ids)
    switch chance.below(20) {
    case 0...4: register(id, shared, &chance)
    case 5: shared.call("cancel", [.notFound]) { _ = try host.cancel(id) }
    case 6: shared.call("tag") { _ = try host.cancel(tag: "tag\(chance.below(3))") }
    case 7: complete(shared)
    case 8: shared.call("conditions") { try host.satisfy(chance.pick([.all, .all, .network])) }
    case 9:
      guard chance.once(in: 10) else { return }
      shared.call("enable") { try host.enable(KindSet(.refresh)) }
      shared.call("enable") { try host.enable(.all) }
    case 10, 11:
      let lanes = UInt32(1 + chance.below(3))
      shared.call("run", [.busy, .unavailable]) {
        let report = try host.run(10 * millisecond) { $0.lanes = lanes }
        if report.endedAt > report.time.deadline { throw Differs("the report came late") }
      }
    case 12: runAsync(shared, &chance)
    case 13, 14: pull(shared, &chance)
    case 15: look(id, shared)
    case 16: shared.call("prune") { _ = try host.prune() }
    case 17: if chance.once(in: 4) { observe(shared) }
    default:
      guard chance.once(in: 8) else { return }
      let name = chance.pick(names)
      shared.call("remove", [.notFound]) { try host.removeHandler(name) }
      addHandler(name, shared)
    }
  }

  private static func register(_ id: String, _ shared: Shared, _ chance: inout Chance) {
    let schedule = chance.pick([Schedule.standing, .once, .periodic])
    let recipe = Recipe(
      id, schedule, kind: chance.pick(Kind.allCases), priority: Int32(1 + chance.below(5)),
      existing: chance.pick([.keep, .replace, .update, schedule == .once ? .append : .keep])
    ) {
      ($0.handler, $0.tags) = (chance.pick(names), ["tag\(chance.below(3))"])
      ($0.expectedResponse, $0.constraints) = (chance.pick([0, millisecond]), chance.pick([0, 0, 1, 2]))
      $0.backoff = chance.pick([-1, 0])
      if schedule == .periodic { $0.period = chance.pick([1, millisecond]) }
    }
    shared.call("register", [.invalidArgument, .tooManyPending, .unavailable]) { try shared.host.register(recipe) }
  }

  private static func complete(_ shared: Shared) {
    guard let token = shared.tokens.with({ $0.popLast() }) else { return }
    shared.call("complete", [.staleRun, .alreadyCompleted]) { try shared.host.complete(token, .newData) }
  }

  private static func runAsync(_ shared: Shared, _ chance: inout Chance) {
    let context = shared.context("report")
    let kinds = UInt32(1 + chance.below(3))
    do {
      _ = try shared.host.runAsync(10 * millisecond, { $0.kinds = kinds }) { _ in
        context.call {}
        if context.calls > 1 { context.fault("reported twice") }
      } destroy: {
        context.end()
      }
      shared.call("async") {}
    } catch {
      // The engine keeps nothing of a call that failed; the border ends the context.
      context.end()
      shared.call("async", [.busy, .unavailable]) { throw error }
    }
  }

  private static func pull(_ shared: Shared, _ chance: inout Chance) {
    let host = shared.host
    let leaves = chance.once(in: 8)
    shared.call("pull", [.busy, .unavailable]) {
      let cycle = try host.begin(5 * millisecond) { $0.kinds = 2 }
      for _ in 0..<6 {
        // Another thread's begin may have ended it as forgotten.
        guard case .run(let run)? = try? host.next(cycle) else { break }
        if leaves {
          shared.tokens.with { $0.append(run.token) }
        } else {
          shared.call("complete", [.staleRun, .alreadyCompleted]) { try host.complete(run.token, .noData) }
        }
      }
      if !leaves { _ = try? host.end(cycle) }
    }
  }

  private static func look(_ id: String, _ shared: Shared) {
    let host = shared.host
    shared.call("get", [.notFound]) { _ = try host.record(id) }
    shared.call("explain", [.notFound]) { _ = try host.explain(id) }
    shared.call("plan") { _ = try host.plan(Time.second) { $0.lanes = 2 } }
    shared.call("wake-up") { _ = try host.nextWakeup() }
    shared.call("census") { _ = try host.enter { scheduler, _ in scheduler.census.count(.enqueued) } }
  }

  private static func observe(_ shared: Shared) {
    let context = shared.context("observer")
    let last = Locked<UInt64>(0)
    shared.call("observe") {
      try shared.host.observe(
        { event in
          if context.isInside { context.fault("two events at once") }
          let number = event.number
          context.call {
            let before = last.with { before in
              defer { before = number }
              return before
            }
            if before != 0 && number != before + 1 { context.fault("event \(number) after \(before)") }
          }
        }, destroy: { context.end() })
    }
  }

  /// A handler of a sort that its name says.
  private static func addHandler(_ name: String, _ shared: Shared) {
    let context = shared.context(name)
    let host = shared.host
    func complete(_ run: UInt64, _ outcome: Outcome) {
      shared.call("complete", [.staleRun, .alreadyCompleted]) { try host.complete(run, outcome) }
    }
    let run: (Run) -> Void = { run in
      context.call {
        switch name {
        case "h0": complete(run.token, .newData)
        case "h1":
          // Overruns many a window and never looks.
          Thread.sleep(forTimeInterval: 0.004)
          complete(run.token, .failed)
          complete(run.token, .newData)
        case "h2": shared.tokens.with { $0.append(run.token) }
        case "h3":
          while (try? host.stopping(run.token).reason) == StopReason.none { Thread.sleep(forTimeInterval: 0.0005) }
          complete(run.token, .noData)
        default:
          let id = run.definition.id.text
          // A close does not wait for a run that has overrun its window.
          shared.call("inside", [.notFound, .invalidHandle]) { _ = try host.cancel(id) }
          shared.call("inside", [.invalidArgument, .tooManyPending, .unavailable, .invalidHandle]) {
            try host.register(Recipe(id) { $0.handler = "h0" })
          }
          complete(run.token, .abandoned)
        }
      }
    }
    do {
      try host.addHandler(
        name, run: run, stop: { token, _ in context.call { shared.tokens.with { $0.append(token) } } },
        destroy: { context.end() })
      shared.call("handler") {}
    } catch {
      context.end()
      shared.call("handler", [.alreadyExists]) { throw error }
    }
  }
}
