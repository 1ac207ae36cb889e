// No cycle exceeds its budget on the virtual clock unless a run overruns (C1, C2, C3, C7).

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Cycle budget") struct CycleBudgetTests {
  /// One run that is in flight.
  private struct Flight {
    let run: Run
    let endsAt: Instant
  }

  /// Plays a whole cycle on several lanes; `duration` says how long each run takes.
  private func play(
    _ host: Host, _ draft: WindowDraft, duration: (Run) -> Span
  ) throws -> (runs: [(run: Run, time: Span)], report: Report) {
    let cycle = try host.begin(draft.budget) { $0 = draft }
    var flights: [Flight] = []
    var runs: [(run: Run, time: Span)] = []
    while true {
      switch try host.next(cycle) {
      case .run(let run):
        let time = duration(run)
        runs.append((run, time))
        flights.append(Flight(run: run, endsAt: run.startedAt + time))
      case .wait:
        guard let first = flights.min(by: { $0.endsAt < $1.endsAt }) else { throw Differs("waits for nothing") }
        flights.removeAll { $0.run === first.run }
        host.now = max(host.now, min(first.endsAt, first.run.deadline + 1))
        _ = refusal { try host.complete(first.run.token, .newData) }
      case .done:
        // What is left has expired; its host comes back late.
        for flight in flights {
          try verify(host.now > flight.run.deadline, "done while a run is in flight")
          try verify(refusal { try host.complete(flight.run.token, .newData) } == .staleRun, "an expired run completed")
        }
        return (runs, try host.end(cycle))
      }
    }
  }

  private func populate(_ host: Host, _ chance: inout Chance) throws {
    for index in 0..<1 + chance.below(25) {
      let id = "t\(index)"
      try host.addHandler(id)
      try host.register(
        Recipe(id, priority: Int32(1 + chance.below(5))) {
          $0.expectedResponse = chance.pick([0, 1, Time.second, 7 * Time.second, 20 * Time.second, 60 * Time.second])
          $0.responseWindow = chance.pick([0, 3])
        })
    }
    host.now += Time.minute
  }

  private func window(_ chance: inout Chance) -> WindowDraft {
    var draft = Host.window(0)
    draft.budget = chance.pick([1, Time.second, 30 * Time.second, 10 * Time.minute])
    draft.reserve = chance.pick([-1, 0, draft.budget / 3])
    draft.lanes = chance.pick([1, 1, 2, 4])
    draft.strictFit = chance.once(in: 3)
    return draft
  }

  @Test("C1 when no run takes longer than its estimate, all but the first end before the reserve")
  func exactEstimates() throws {
    var chance = Chance("C1 exact")
    for round in 0..<150 {
      let host = try Host()
      try populate(host, &chance)
      for cycle in 0..<3 {
        let draft = window(&chance)
        let (runs, report) = try play(host, draft) { chance.once(in: 3) ? chance.span(0...$0.estimate) : $0.estimate }
        let what = "round \(round), cycle \(cycle)"
        for (index, (run, time)) in runs.enumerated() where index > 0 || draft.strictFit {
          try verify(run.startedAt + time <= report.time.expiresAt, "\(what): run \(index) ends in the reserve")
          try verify(
            report.runs[index].finalOutcome == .newData, "\(what): run \(index) \(report.runs[index].finalOutcome)")
        }
        try verify(report.endedAt <= report.time.deadline, "\(what) ended late")
        let isLate = runs.first.map { $0.run.startedAt + $0.time > report.time.expiresAt } ?? false
        try verify(isLate || report.endedAt <= report.time.expiresAt, "\(what) ended in the reserve")
        host.now = max(host.now, report.time.deadline) + Time.minute
      }
    }
  }

  @Test("C7 whatever runs do, a cycle ends by its deadline and runs that overran are expired")
  func overruns() throws {
    var chance = Chance("C7 overruns")
    for round in 0..<150 {
      let host = try Host()
      try populate(host, &chance)
      let (runs, report) = try play(host, window(&chance)) { chance.anySpan(upTo: 3 * $0.estimate + Time.second) }
      try verify(report.endedAt <= report.time.deadline, "round \(round) ended late")
      for (index, (run, time)) in runs.enumerated() {
        let isExpired = run.startedAt + time > report.time.deadline
        let entry = report.runs[index]
        try verify(
          entry.finalOutcome == (isExpired ? .expired : .newData),
          "round \(round): run \(index) is \(entry.finalOutcome)")
        let expected = isExpired ? report.time.deadline - run.startedAt : time
        try verify(entry.responseTime == expected, "round \(round): run \(index) took \(entry.responseTime)")
        try verify(
          index == 0 || run.estimate <= report.time.expiresAt - run.startedAt,
          "round \(round): run \(index) did not fit")
      }
    }
  }

  @Test("C1 C2 with exact estimates and one lane the picks are those of the plan")
  func planIsKept() throws {
    var chance = Chance("C15 plan")
    for round in 0..<100 {
      let host = try Host()
      try populate(host, &chance)
      let draft = window(&chance)
      let plan = try host.plan(draft.budget) {
        $0 = draft
        $0.lanes = 1
      }
      var oneLane = draft
      oneLane.lanes = 1
      let (runs, _) = try play(host, oneLane) { $0.estimate }
      try verify(
        runs.map { $0.run.definition.id.text } == plan.entries.map { $0.definition.id.text },
        "round \(round): other picks")
      try verify(runs.map(\.run.startedAt) == plan.entries.map(\.startsAt), "round \(round): other times")
    }
  }

  @Test("C2 an early finish gives room to a task that was skipped, an overrun takes it away")
  func roomIsWhatIsLeft() throws {
    for (time, expected) in [(1, ["long", "mid", "short"]), (10, ["long", "short"]), (27, ["long"])] {
      let host = try Host()
      for (id, priority, seconds) in [("long", 5, 10), ("mid", 4, 25), ("short", 3, 4)] as [(String, Int32, Int64)] {
        try host.addHandler(id)
        try host.register(Recipe(id, priority: priority) { $0.expectedResponse = seconds * Time.second })
      }
      host.now += Time.minute
      var draft = Host.window(30 * Time.second)
      draft.reserve = 0
      let (runs, _) = try play(host, draft) { run in
        run.definition.id.text == "long" ? Int64(time) * Time.second : Time.second
      }
      #expect(runs.map { $0.run.definition.id.text } == expected)
    }
  }
}
