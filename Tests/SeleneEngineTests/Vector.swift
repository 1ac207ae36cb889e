// Plays one conformance scenario through the engine; what the steps mean stands in Tests/vectors/README.md.

import Foundation
import SeleneCore
import Testing

@testable import SeleneEngine

/// A scenario of the conformance vectors.
struct Vector: Sendable, CustomTestStringConvertible {
  let name: String
  let scenario: Json
  var testDescription: String { name }

  /// The scenarios of a file, named by their rules.
  static func read(_ file: String) throws -> [Vector] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let data = try Data(contentsOf: folder.appending(path: "vectors/\(file).json"))
    let root = try JSONDecoder().decode(Json.self, from: data).object(file)
    let scenarios = try root.required("scenarios").list("scenarios").map { scenario in
      let object = try scenario.object("scenario")
      let rules = try object.texts("rules") ?? []
      return Vector(
        name: (rules + [try object.required("name").text("name")]).joined(separator: " "), scenario: scenario)
    }
    try root.finish()
    return scenarios
  }

  /// All scenarios; one that fails if the files cannot be read.
  static let all: [Vector] = {
    do {
      return try read("scenarios") + read("mixed")
    } catch {
      return [Vector(name: "the vectors cannot be read: \(error)", scenario: .null)]
    }
  }()
}

/// A number that callbacks count up.
final class Count {
  var value = 0
}

/// The state of one scenario that is played.
final class VectorPlayer {
  let host: Host
  private let allHandlers: Bool
  private var handlers: Set<String> = []
  private let destroyed = Count()

  /// Plays all steps of a scenario.
  static func play(_ scenario: Json) throws {
    let object = try scenario.object("scenario")
    _ = (object.take("name"), object.take("rules"))
    let player = try VectorPlayer(object.required("options").object("options"), handlers: object.texts("handlers"))
    for (index, step) in try object.required("steps").list("steps").enumerated() {
      do {
        try player.play(step.object("step"))
      } catch {
        throw Differs("step \(index): \(error)")
      }
    }
    try object.finish()
    try player.host.close()
    try verify(player.destroyed.value == player.handlers.count, "\(player.destroyed.value) handlers were destroyed")
  }

  private init(_ options: JsonObject, handlers names: [String]?) throws {
    allHandlers = names == nil
    let permitted = try options.texts("permitted").map { $0.map { Array($0.utf8) } }
    let joined = (permitted ?? []).flatMap { $0 }
    host = try joined.withUnsafeBytes { all in
      var failure: (any Error)?
      let host = try Host(at: 0) { draft in
        do {
          var end = 0
          draft.permitted = permitted?.map { text in
            defer { end += text.count }
            return UnsafeRawBufferPointer(rebasing: all[end..<end + text.count])
          }
          draft.holds = try options.boolean("hold") ?? false
          draft.observedRange = try options.boolean("observed_range") ?? false
          draft.maxPendingRefresh = try Self.limit(options.take("max_pending_refresh")) ?? 1
          draft.maxPendingProcessing = try Self.limit(options.take("max_pending_processing")) ?? 10
          draft.minimumIntervalRefresh = try options.milliseconds("minimum_interval_refresh_ms") ?? 0
          draft.minimumIntervalProcessing = try options.milliseconds("minimum_interval_processing_ms") ?? 0
          draft.expeditedQuota = try options.milliseconds("expedited_quota_ms") ?? draft.expeditedQuota
          draft.seed = UInt64(try options.integer("seed") ?? 0)
          try options.finish()
        } catch {
          failure = error
        }
      }
      if let failure { throw failure }
      return host
    }
    for name in names ?? [] { try addHandler(name) }
  }

  private static func limit(_ value: Json?) throws -> UInt32? {
    guard let value else { return nil }
    if case .text("unlimited") = value { return .max }
    return UInt32(try value.integer("limit"))
  }

  private func addHandler(_ name: String) throws {
    guard handlers.insert(name).inserted else { return }
    try host.addHandler(name, destroy: { [destroyed] in destroyed.value += 1 })
  }

  // MARK: Steps

  private func play(_ step: JsonObject) throws {
    let at = try step.required("at_ms").integer("at_ms") * 1_000_000
    try verify(at >= host.now, "the clock would go back")
    host.now = at
    let expect = try step.required("expect").object("expect")
    if let call = step.take("register") {
      try register(call.object("register"), expect)
    } else if let name = try step.text("handler") {
      try status(expect) { try addHandler(name) }
    } else if let satisfied = try step.texts("conditions") {
      try status(expect) { try host.satisfy(try Self.constraints(satisfied)) }
    } else if let kinds = try step.texts("enable") {
      try status(expect) { try host.enable(try Self.kinds(kinds)) }
    } else if let id = try step.text("cancel") {
      try count(expect) { try host.cancel(id) }
    } else if let tag = try step.text("cancel_tag") {
      try count(expect) { try host.cancel(tag: tag) }
    } else if let id = try step.text("pause") {
      try count(expect) { try host.pause(true, id) }
    } else if let tag = try step.text("pause_tag") {
      try count(expect) { try host.pause(true, tag: tag) }
    } else if let id = try step.text("resume") {
      try count(expect) { try host.pause(false, id) }
    } else if let tag = try step.text("resume_tag") {
      try count(expect) { try host.pause(false, tag: tag) }
    } else if let name = try step.text("define") {
      try status(expect) { try host.define(condition: name) }
    } else if let name = try step.text("undefine") {
      try status(expect) { try host.define(condition: name, false) }
    } else if let name = try step.text("meet") {
      try status(expect) { try host.set(condition: name, true) }
    } else if let name = try step.text("lose") {
      try status(expect) { try host.set(condition: name, false) }
    } else if let group = try step.text("pause_group") {
      try status(expect) { try host.pause(true, group: group) }
    } else if let group = try step.text("resume_group") {
      try status(expect) { try host.pause(false, group: group) }
    } else if try step.boolean("cancel_all") == true {
      try count(expect) { try host.cancelAll() }
    } else if let window = step.take("plan") {
      try plan(window.object("plan"), expect)
    } else if let window = step.take("cycle") {
      try cycle(window.object("cycle"), expect)
    } else if let id = try step.text("info") {
      try info(id, expect)
    } else if let id = try step.text("waits") {
      try waits(id, expect)
    } else if let id = try step.text("left") {
      try left(id, expect)
    } else if let id = try step.text("retry") {
      try status(expect) { try host.retry(id) }
    } else if let call = try step.take("set_next")?.object("set_next") {
      let (id, next) = (try call.required("id").text("id"), try call.milliseconds("to_ms") ?? -1)
      try call.finish()
      try status(expect) { try host.setNext(id, next) }
    } else if try step.boolean("next_wakeup") == true {
      try wakeup(expect)
    }
    try step.finish()
    try expect.finish()
  }

  private func register(_ call: JsonObject, _ expect: JsonObject) throws {
    let recipe = try Self.recipe(call)
    guard let disposition = try status(expect, { try host.register(recipe) }) else { return }
    try same("disposition", expect.required("disposition").text("disposition"), "\(disposition.name)")
    if allHandlers { try addHandler(recipe.handler.isEmpty ? recipe.id : recipe.handler) }
  }

  private func count(_ expect: JsonObject, _ call: () throws -> UInt64) throws {
    guard let count = try status(expect, call) else { return }
    try same("count", expect.required("count").integer("count"), Int64(count))
  }

  private func plan(_ window: JsonObject, _ expect: JsonObject) throws {
    let draft = try Self.window(window)
    guard let plan = try status(expect, { try host.plan(draft.budget) { $0 = draft } }) else { return }
    try same("plan", expect.texts("ids") ?? [], plan.entries.map { $0.definition.id.text })
    var start = host.now
    for entry in plan.entries {
      try same("start in the plan", start, entry.startsAt)
      start += entry.estimate
    }
  }

  private func info(_ id: String, _ expect: JsonObject) throws {
    guard let (record, waiting) = try status(expect, { try host.record(id) }) else { return }
    try same("state", expect.required("state").text("state"), "\(record.state.name)")
    try same("attempts", expect.integer("attempts"), Int64(record.attempts))
    let begin = try expect.integer("earliest_begin_ns") ?? expect.milliseconds("earliest_begin_ms")
    try same("earliest begin", begin, record.earliestBegin)
    try same("last run", expect.milliseconds("last_run_ms"), record.lastRun)
    try same("estimate", expect.integer("estimate_ns"), record.estimate)
    try same("generation", expect.integer("generation"), Int64(record.generation))
    try same("appended", expect.integer("appended"), Int64(waiting))
    try same("runs", expect.integer("runs"), Int64(record.responseTimes.count))
  }

  private func left(_ id: String, _ expect: JsonObject) throws {
    guard let (record, _) = try status(expect, { try host.record(id) }) else { return }
    try same("stop", expect.required("stop").text("stop"), "\(record.stopReason.name)")
    try same("failure", expect.text("failure"), record.failure?.message?.buffer.text ?? "")
    try same("output", expect.text("output"), record.output?.buffer.text ?? "")
  }

  private func waits(_ id: String, _ expect: JsonObject) throws {
    guard let told = try status(expect, { try host.waits(id) }) else { return }
    let parts = try expect.required("parts").list("parts").map { try $0.list("part") }
    try same("number of parts", parts.count, told.waits.parts.count)
    for (place, part) in parts.enumerated() {
      let got = told.waits.parts[place]
      try same("reason", part[0].text("reason"), "\(got.reason.name)")
      var about = told.partNames[place].map { $0.buffer.text }
      if got.reason == .constraints {
        about = "\(Constraints(rawValue: UInt32(truncatingIfNeeded: got.detail)).name ?? "")"
      }
      if case .null = part[1] { try same("about", nil, about) } else { try same("about", part[1].text("about"), about) }
      try same("\(got.reason.name)", part[2].integer("duration") * 1_000_000, got.duration)
      try same("times", part[3].integer("times"), Int64(got.times))
    }
    let changes = try expect.required("changes").list("changes").map { try $0.list("change") }
    try same("changes", changes.map { try $0[0].integer("at") * 1_000_000 }, told.waits.changes.map(\.at))
    try same("changes", changes.map { try $0[1].text("reason") }, told.waits.changes.map { "\($0.reason.name)" })
    try same("preferred", expect.texts("preferred") ?? [], told.preferred.map { $0.id.text })
  }

  private func wakeup(_ expect: JsonObject) throws {
    guard let at = try status(expect, { try host.nextWakeup() ?? Time.never }) else { return }
    let expected = try expect.required("at_ms")
    if case .null = expected {
      try same("wake-up", Time.never, at)
    } else {
      try same("wake-up", expected.integer("at_ms") * 1_000_000, at)
    }
  }

  // MARK: A whole cycle

  private func cycle(_ call: JsonObject, _ expect: JsonObject) throws {
    let script = try Self.script(call.take("runs"))
    let draft = try Self.window(call)
    let began = host.now
    let deadline = began + draft.budget
    guard let cycle = try status(expect, { try host.begin(draft.budget) { $0 = draft } }) else { return }

    var runs: [(run: Run, outcome: Outcome, time: Span)] = []
    var hasExpired = false
    while !hasExpired, case .run(let run) = try host.next(cycle) {
      try same("start of the run", host.now, run.startedAt)
      try same("deadline of the run", deadline, run.deadline)
      let own = script[run.definition.id.text]
      let takes = own?.takes ?? run.estimate / 1_000_000 * 1_000_000
      var outcome = own?.outcome ?? .newData
      if let own { try say(own, run) }
      if let own, let over = own.over {
        host.now += takes
        try same("late outcome", .staleRun, refusal { try host.complete(run.token, outcome) })
        runs.append((run, .expired, over))
        continue
      }
      if takes > deadline - host.now {
        host.now = deadline
        (outcome, hasExpired) = (.expired, true)
      } else {
        host.now += takes
        if let stops = own?.stops { try same("stops", stops, "\(host.stopping(run.token).reason.name)") }
        try host.complete(run.token, outcome)
      }
      runs.append((run, outcome, host.now - run.startedAt))
    }
    let report = try host.end(cycle)
    // The host comes back from the run that did not end in time; only so is its id free again.
    if hasExpired, let last = runs.last {
      try same("late outcome", .staleRun, refusal { try host.complete(last.run.token, .failed) })
    }

    let picked = try expect.required("picked").list("picked").map { try $0.object("pick") }
    try same("number of picks", picked.count, runs.count)
    for (pick, played) in zip(picked, runs) {
      try same("pick", pick.text("id"), played.run.definition.id.text)
      let score = try pick.required("score").number("score")
      try verify(abs(score - played.run.score) <= 1e-9, "score \(score) expected, got \(played.run.score)")
      try same("estimate", pick.integer("estimate_ns"), played.run.estimate)
      try pick.finish()
    }
    try same("outcomes", expect.texts("outcomes"), runs.map { "\($0.outcome.name)" })
    try same("result", expect.text("result"), "\(report.tally.result.name)")
    try same("ended at", expect.milliseconds("ended_at"), report.endedAt)
    try same("eligible", expect.integer("eligible"), Int64(report.eligible))
    try same("runs in the report", runs.map { $0.run.token }, report.runs.map(\.token))
    try same("outcomes in the report", runs.map(\.outcome), report.runs.map(\.finalOutcome))
    try same("response times in the report", runs.map(\.time), report.runs.map(\.responseTime))
    try same("scores in the report", runs.map { $0.run.score }, report.runs.map(\.score))
    try same("attempts in the report", runs.map { $0.run.attempt }, report.runs.map(\.attempt))
    try same("begin in the report", began, report.time.begin)
    try same("end in the report", host.now, report.endedAt)
    try verify(report.didNotFit <= report.eligible - runs.count, "\(report.didNotFit) did not fit")
  }

  /// What a run says while it is open.
  private func say(_ script: Script, _ run: Run) throws {
    let began = host.now
    if let output = script.output { try host.leave(run.token, output) }
    if let next = script.next { try host.setNext(run.definition.id.text, next) }
    for (count, tell) in script.tells.enumerated() {
      host.now = began + tell
      try host.progress(run.token, Int64(count + 1), of: Int64(script.tells.count))
    }
    host.now = began
  }

  // MARK: Comparing

  /// Compares the status of a call; what it returned, or nil if it was refused as expected.
  @discardableResult
  private func status<R>(_ expect: JsonObject, _ call: () throws -> R) throws -> R? {
    let expected = try expect.required("status").text("status")
    do {
      let result = try call()
      try same("status", expected, "OK")
      return result
    } catch let error as SeleneError {
      try same("status", expected, Self.name(error.code))
      return nil
    }
  }

  private func same<V: Equatable>(_ what: String, _ expected: V, _ got: V) throws {
    try verify(expected == got, "\(what): \(expected) expected, got \(got)")
  }
}
