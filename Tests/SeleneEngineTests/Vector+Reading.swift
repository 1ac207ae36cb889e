// The words of the vectors as the engine's values.

import SeleneCore

@testable import SeleneEngine

extension VectorPlayer {
  /// A status by its name in the header.
  static func name(_ code: SeleneError.Code) -> String {
    // tooManyPending is TOO_MANY_PENDING.
    "\(code)".reduce(into: "") { name, letter in
      if letter.isUppercase { name += "_" }
      name += letter.uppercased()
    }
  }

  static func constraints(_ names: [String]) throws -> Constraints {
    try names.reduce(into: []) { set, name in
      guard let bit = (0..<8).map({ Constraints(rawValue: 1 << $0) }).first(where: { "\($0.name ?? "")" == name })
      else {
        throw Differs("no constraint is called \(name)")
      }
      set.insert(bit)
    }
  }

  static func kinds(_ names: [String]) throws -> KindSet {
    try names.reduce(into: []) { set, name in set.insert(KindSet(try kind(name))) }
  }

  private static func kind(_ name: String) throws -> Kind {
    guard let kind = Kind.allCases.first(where: { "\($0.name)" == name }) else {
      throw Differs("no kind is called \(name)")
    }
    return kind
  }

  private static func index(_ name: String?, in names: [String]) throws -> Int32? {
    guard let name else { return nil }
    guard let index = names.firstIndex(of: name) else { throw Differs("\(name) is none of \(names)") }
    return Int32(index)
  }

  static func recipe(_ call: JsonObject) throws -> Recipe {
    var recipe = Recipe(try call.required("id").text("id"))
    recipe.handler = try call.text("handler") ?? ""
    if let kind = try call.text("kind") { recipe.kind = Int32(try Self.kind(kind).rawValue) }
    if let schedule = try index(call.text("schedule"), in: ["default", "once", "periodic", "standing"]) {
      recipe.schedule = schedule
    }
    if let priority = try call.integer("priority") { recipe.priority = Int32(priority) }
    let policies = ["default", "keep", "replace", "update", "append", "append_or_replace", "skip"]
    if let policy = try index(call.text("existing"), in: policies) { recipe.existing = policy }
    if let recurrence = try index(call.text("recurrence"), in: ["after_completion", "anchored"]) {
      recipe.recurrence = recurrence
    }
    if let backoff = try index(call.text("backoff"), in: ["default", "none", "linear", "exponential"]) {
      recipe.backoff = backoff
    }
    if let window = try call.integer("window") { recipe.responseWindow = Int32(window) }
    if let attempts = try call.integer("max_attempts") { recipe.maxAttempts = UInt32(attempts) }
    if let names = try call.texts("constraints") { recipe.constraints = try constraints(names).rawValue }
    recipe.tags = try call.texts("tags") ?? []
    recipe.after = try call.texts("after") ?? []
    if try call.boolean("after_any_end") ?? false { recipe.flags |= TaskDefinition.afterAnyEnd }
    let isNotSaid = call.takeNull("expected_ms")
    recipe.expectedResponse = isNotSaid ? -1 : try call.milliseconds("expected_ms") ?? 5 * Time.second
    recipe.initialDelay = try call.milliseconds("initial_delay_ms") ?? recipe.initialDelay
    if let expedited = try call.text("expedited") {
      recipe.flags |= TaskDefinition.expedited
      if expedited == "refuse" { recipe.flags |= TaskDefinition.refuseOutOfQuota }
    }
    recipe.stallLimit = try call.milliseconds("stall_ms") ?? recipe.stallLimit
    recipe.latestBegin = try call.milliseconds("latest_begin_ms") ?? recipe.latestBegin
    recipe.period = try call.milliseconds("period_ms") ?? recipe.period
    recipe.flex = try call.milliseconds("flex_ms") ?? recipe.flex
    recipe.group = try call.text("group") ?? ""
    recipe.conditions = try call.texts("needs") ?? []
    if let jitter = try call.integer("jitter") { recipe.jitter = UInt32(jitter) }
    recipe.backoffDelay = try call.milliseconds("backoff_ms") ?? recipe.backoffDelay
    if let size = try call.integer("input_size") { recipe.input = [UInt8](repeating: 0, count: Int(size)) }
    try call.finish()
    return recipe
  }

  static func window(_ call: JsonObject) throws -> WindowDraft {
    var draft = WindowDraft()
    draft.budget = try call.milliseconds("budget_ms") ?? draft.budget
    draft.reserve = try call.milliseconds("reserve_ms") ?? draft.reserve
    draft.kinds = try call.texts("kinds").map { try Self.kinds($0).rawValue } ?? KindSet(.refresh).rawValue
    draft.strictFit = try call.boolean("strict_fit") ?? false
    draft.isRolling = !(try call.boolean("frozen") ?? true)
    try call.finish()
    return draft
  }

  /// What a run does.
  struct Script {
    var takes: Span?
    var outcome: Outcome?
    var output: String?
    var next: Instant?
    var tells: [Span] = []
    var stops: String?
    var over: Span?
  }

  /// What each run does, by id.
  static func script(_ runs: Json?) throws -> [String: Script] {
    guard let runs else { return [:] }
    return try runs.members("runs").mapValues { list in
      let entries = try list.list("runs")
      guard entries.count == 1 else { throw Differs("runs: \(entries.count) of one id in one cycle") }
      let entry = try entries[0].object("run")
      var script = Script()
      script.takes = try entry.milliseconds("takes_ms")
      script.output = try entry.text("output")
      script.next = try entry.milliseconds("next_ms")
      script.tells = try entry.take("tells_ms")?.list("tells_ms").map { try $0.integer("tell") * 1_000_000 } ?? []
      script.stops = try entry.text("stops")
      script.over = try entry.milliseconds("over_ms")
      let outcomes = ["new_data", "no_data", "failed", "abandoned"]
      script.outcome = try index(entry.text("outcome"), in: outcomes).flatMap { Outcome(rawValue: $0) }
      try entry.finish()
      return script
    }
  }
}
