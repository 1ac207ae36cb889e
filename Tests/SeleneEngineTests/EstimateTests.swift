// What is expected of tasks that do not say it: the times of their handlers' runs (R8), beside the rule as it is written.

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Estimates") struct EstimateTests {
  private static let ids = (0..<8).map { "task \($0)" }
  private static let handlers = ["a", "b", "c"]

  /// The rule by itself: all times of each handler, and what was fixed for each record.
  private struct Plain {
    var times: [String: [Span]] = [:]
    private var fixed: [String: Span] = [:]

    /// A record as it was when it was registered, updated or started; it is fixed what its handler's runs took until then.
    mutating func estimate(_ record: TaskRecord) -> Span {
      let definition = record.definition
      let window = Int(definition.responseWindow)
      let key = "\(record.sequence) \(record.generation) \(record.registeredAt)"
      let known = times[definition.handler.text] ?? []
      let learnt = Oracle.estimate(known, window: window, declared: 5 * Time.second)
      let usual = fixed[key] ?? (definition.expectedResponse < 0 ? learnt : definition.expectedResponse)
      fixed[key] = usual
      return Oracle.estimate(record.responseTimes, window: window, declared: usual)
    }
  }

  /// Every record has the estimate of the rule.
  private func compare(_ host: Host, _ plain: inout Plain) throws {
    for id in Self.ids {
      guard let (first, waiting) = try? host.record(id) else { continue }
      for position in 0...waiting {
        let record = position == 0 ? first : try host.record(id, position: UInt64(position)).record
        let estimate = plain.estimate(record)
        try verify(record.estimate == estimate, "\(id) at \(position): \(record.estimate), expected \(estimate)")
      }
    }
  }

  private func register(_ host: Host, _ chance: inout Chance) {
    let isStanding = chance.once(in: 4)
    let policies: [ExistingPolicy] = isStanding ? [.update, .replace] : [.keep, .replace, .update, .append]
    let recipe = Recipe(chance.pick(Self.ids), isStanding ? .standing : .once, existing: chance.pick(policies)) {
      $0.handler = chance.pick(Self.handlers)
      $0.expectedResponse = chance.once(in: 3) ? chance.pick([0, Time.second, Time.minute]) : -1
      $0.responseWindow = chance.pick([0, 1, 3, 3, 30])
      ($0.backoff, $0.backoffDelay) = (Int32(BackoffPolicy.linear.rawValue), 10 * Time.second)
    }
    // What is refused changes nothing.
    _ = try? host.register(recipe)
  }

  @Test(
    "R8 what is not said is what the handler's runs took, in rolling and in frozen windows", arguments: [false, true])
  func learns(isRolling: Bool) throws {
    var chance = Chance("estimates \(isRolling)")
    for _ in 0..<Effort.of(20) {
      let host = try Host { $0.maxPendingRefresh = .max }
      var plain = Plain()
      for handler in Self.handlers { try host.addHandler(handler) }
      for _ in 0..<20 {
        for _ in 0..<chance.below(4) { register(host, &chance) }
        try compare(host, &plain)
        if chance.once(in: 4) {
          // The times stay by name.
          let handler = chance.pick(Self.handlers)
          try host.removeHandler(handler)
          try host.addHandler(handler)
        }
        try playWindow(host, isRolling, &plain, &chance)
        host.now += Time.second
      }
    }
  }

  private func playWindow(_ host: Host, _ isRolling: Bool, _ plain: inout Plain, _ chance: inout Chance) throws {
    let cycle = try host.begin(2 * Time.minute) { ($0.isRolling, $0.reserve) = (isRolling, 0) }
    let end = host.now + 2 * Time.minute
    var count = 0
    while count < 20, case .run(let run) = try host.next(cycle) {
      let id = run.definition.id.text
      let estimate = plain.estimate(try host.record(id).record)
      try verify(run.estimate == estimate, "a run of \(id): \(run.estimate), expected \(estimate)")
      // A task of unknown duration fits while any time is left (V17).
      let isKnown = try host.record(id).record.knownEstimate >= 0
      try verify(count == 0 || (isKnown ? run.estimate : 1) <= end - host.now, "\(id) does not fit")
      let time = min(1 + Int64(chance.below(30_000_000_000)), end - host.now)
      guard time > 0 else { break }
      host.now += time
      // At the deadline it was asked to stop, after which *no data* is none.
      try host.complete(run.token, chance.pick([.newData, host.now < end ? .noData : .newData, .failed, .abandoned]))
      plain.times[run.definition.handler.text, default: []].append(time)
      count += 1
      try compare(host, &plain)
      if chance.once(in: 3) { register(host, &chance) }
      try compare(host, &plain)
    }
    // A run that was begun as the window ended expires with it; one that the host ends is stopped.
    let begun = try host.end(cycle).runs.dropFirst(count)
    for run in begun where run.finalOutcome == .expired {
      plain.times[run.definition.handler.text, default: []].append(run.responseTime)
    }
    for run in begun { try? host.complete(run.token, .noData) }
    try compare(host, &plain)
  }

  @Test("R8 of so many handlers those are known whose runs ended last")
  func bound() throws {
    let host = try Host { $0.maxPendingRefresh = .max }
    func run(_ name: String) throws -> Span {
      try host.addHandler(name)
      try host.register(Recipe(name, .once) { $0.expectedResponse = -1 })
      let estimate = try host.record(name).record.estimate
      let cycle = try host.begin(Time.minute)
      let run = try host.nextRun(cycle)
      host.now += Time.second
      try host.complete(run.token, .newData)
      _ = try host.end(cycle)
      _ = try host.prune()
      try host.removeHandler(name)
      return estimate
    }
    for number in 0..<HandlerTimesList.capacity { #expect(try run("\(number)") == 5 * Time.second) }
    #expect(try run("0") == Time.second)
    #expect(try run("one more") == 5 * Time.second)
    #expect(try run("0") == Time.second)
    #expect(try run("1") == 5 * Time.second)
    #expect(try run("3") == Time.second)
  }

  @Test("R8 a reset forgets what handlers' runs took")
  func reset() throws {
    let host = try Host()
    try host.addHandler("a")
    try host.register(Recipe("a", .once) { $0.expectedResponse = -1 })
    let cycle = try host.begin(Time.minute)
    host.now += Time.second
    try host.complete(try host.nextRun(cycle).token, .newData)
    _ = try host.end(cycle)
    try host.reset()
    try host.register(Recipe("a", .once) { $0.expectedResponse = -1 })
    #expect(try host.record("a").record.estimate == 5 * Time.second)
  }
}
