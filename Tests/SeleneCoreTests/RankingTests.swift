// Picks of whole cycles against a model that sorts and scans (S1 to S5, C1 to C4).

import SeleneCore
import Testing

@Suite("Ranking") struct RankingTests {
  /// The window's time as the rules say it.
  private struct Window {
    let begin: Instant
    let deadline: Instant
    let reserve: Span
    let strictFit: Bool

    /// Whether a task may be picked now (C1, C3, V17).
    func fits(_ subject: Subject, at now: Instant, isFirst: Bool) -> Bool {
      guard now < deadline else { return false }
      if (isFirst || subject.isUnknown) && !strictFit && now < deadline - reserve { return true }
      return subject.estimate <= (deadline - reserve) - now && (strictFit || !subject.isUnknown)
    }
  }

  /// A model of one cycle: who was eligible at begin, best first, and not picked yet.
  private struct ModelCycle {
    var waiting: [(id: String, score: Fraction)]

    init(_ population: Population, _ offer: Offer) {
      let eligible = population.subjects.filter { $0.isEligible(offer, at: population.now) }.map(\.entrant)
      waiting = Oracle.ranked(eligible, observedRange: offer.observedRange, at: population.now)
        .map { ($0.entrant.id, $0.score) }
    }

    /// Those that could still run.
    func remaining(_ population: Population, _ offer: Offer) -> [(id: String, score: Fraction)] {
      waiting.filter { candidate in
        population.subjects.contains { $0.id == candidate.id && !$0.isNew && $0.isEligible(offer, at: nil) }
      }
    }

    mutating func pick(
      _ population: Population, _ offer: Offer, fits: (Subject) -> Bool
    ) -> (id: String, score: Fraction)? {
      let pick = remaining(population, offer).first { candidate in
        population.subjects.contains { $0.id == candidate.id && fits($0) }
      }
      if let pick { waiting.removeAll { $0.id == pick.id } }
      return pick
    }
  }

  /// Plays one random cycle on both and compares every pick.
  private func play(_ population: Population, _ round: Int, _ chance: inout Chance) throws {
    var offer = Offer(
      kinds: chance.pick([.all, KindSet(.refresh), KindSet(.processing)]),
      satisfied: Needs(chance.pick([.all, .all, .network, .externalPower, []])), pushes: chance.once(in: 3),
      observedRange: chance.once(in: 2))
    let length = chance.pick([10, 60, 5 * Time.second, 30 * Time.minute])
    let window = Window(
      begin: population.now, deadline: population.now + length,
      reserve: chance.pick([0, length / 20, length / 2, length]),
      strictFit: chance.once(in: 3))
    let budget = Budget(begin: window.begin, budget: length, reserve: window.reserve)
    let ranking = population.table.openRanking(offer, at: population.now)
    defer { population.table.close(ranking) }
    var model = ModelCycle(population, offer)
    try verify(ranking.eligibleCount == model.waiting.count, "round \(round): \(ranking.eligibleCount) eligible")
    for (index, candidate) in model.waiting.enumerated() {
      let slot = population.index(candidate.id).flatMap { population.slot($0) }
      try verify(
        slot.flatMap { ranking.rank(of: $0, in: population.table) } == index + 1,
        "round \(round): rank of \(candidate.id)")
    }

    var now = population.now
    var picks = 0
    var inFlight: [Int] = []
    while picks < 400 {
      let context = "round \(round), pick \(picks + 1) of \(population.subjects.count) tasks"
      let isFirst = picks == 0
      let expected = model.pick(population, offer) { window.fits($0, at: now, isFirst: isFirst) }
      let room = budget.room(at: now, isFirst: isFirst, strictFit: window.strictFit)
      let pick = room.flatMap { ranking.best(in: population.table, offer, room: $0) }
      if let pick { ranking.remove(pick) }
      try verify(
        pick.map { population.table[$0.slot].definition.id.text } == expected?.id,
        "\(context): \(expected?.id ?? "nothing") expected")
      let picked = expected.flatMap { population.index($0.id) }
      if let picked { population.dispatch(picked) }
      let remaining = model.remaining(population, offer).count
      try verify(ranking.remaining(in: population.table, offer) == remaining, "\(context): \(remaining) remain")
      guard let pick, let expected, let index = picked else { break }
      try verify(pick.estimate == population.subjects[index].estimate, "\(context): estimate \(pick.estimate)")
      try verify(abs(pick.score - expected.score.value) < 1e-9, "\(context): score \(pick.score)")
      inFlight.append(index)
      picks += 1
      now += chance.once(in: 2) ? chance.pick([0, 1, 3]) : chance.anySpan(upTo: max(1, pick.estimate))
      if chance.once(in: 2) { population.complete(inFlight.remove(at: chance.below(inFlight.count)), at: now) }
      try interfere(population, &offer, &chance)
    }
  }

  /// Sometimes something else happens between two picks.
  private func interfere(_ population: Population, _ offer: inout Offer, _ chance: inout Chance) throws {
    guard chance.once(in: 3), !population.subjects.isEmpty else { return }
    let index = chance.below(population.subjects.count)
    switch chance.below(12) {
    case 0, 1: try population.cancel(index)
    case 2, 3: try population.update(index)
    case 4, 5: try population.add(isNew: true, age: Time.hour, &chance)
    case 6: offer.satisfied = Needs(chance.pick([.all, .network, .externalPower, []]))
    case 7: offer.kinds = chance.pick([.all, KindSet(.refresh), KindSet(.processing), []])
    case 8: if chance.once(in: 8) { population.retireHandler() }
    default:
      if population.subjects[index].isTaken && population.subjects[index].state != .running {
        population.release(index)
      }
    }
  }

  @Test("S1 S4 C2 C3 whole cycles of small random populations pick as the model does")
  func small() throws {
    var chance = Chance("ranking small")
    for round in 0..<400 {
      let population = try Population(chance.below(16), at: 1_000 * Time.day, &chance)
      try play(population, round, &chance)
    }
  }

  @Test("S1 S4 C2 C3 whole cycles of up to 300 random tasks pick as the model does")
  func large() throws {
    var chance = Chance("ranking large")
    for round in 0..<12 {
      let population = try Population(round == 0 ? 300 : 50 + chance.below(251), at: 4_000 * Time.day, &chance)
      try play(population, round, &chance)
    }
  }

  @Test("S4 P6 ranking does not trap at the ends of time")
  func extremes() throws {
    var chance = Chance("ranking extremes")
    for now in TimeTests.edges {
      let population = try Population(20, at: now, &chance)
      for observedRange in [false, true] {
        let offer = Offer(kinds: .all, satisfied: Needs(.all), pushes: false, observedRange: observedRange)
        let ranking = Ranking(population.table, offer, at: now)
        var picked: Set<Int> = []
        while let pick = ranking.best(in: population.table, offer, room: .any) {
          ranking.remove(pick)
          try verify(picked.insert(pick.slot).inserted, "a task was picked twice")
          try verify(pick.score >= 0 && pick.score <= 1, "score \(pick.score) at \(now)")
        }
        #expect(picked.count == ranking.eligibleCount)
      }
    }
  }

  @Test("C2 P6 what ran after what the clock says now takes part, what joins after begin does not")
  func backwards() throws {
    let desk = Desk()
    for name in ["a", "b", "c"] {
      _ = try desk.addHandler(name)
      try desk.register(Recipe(name))
    }
    // The clock went back behind these runs.
    for (name, later) in [("b", Time.hour), ("c", 1)] {
      let slot = try #require(desk.slot(name))
      desk.table.modify(slot) { $0.lastRun = desk.now + later }
    }
    let offer = Offer(kinds: .all, satisfied: Needs(.all), pushes: false, observedRange: false)
    let ranking = desk.table.openRanking(offer, at: desk.now)
    defer { desk.table.close(ranking) }
    try desk.register(Recipe("a", existing: .replace))
    var picked: [String] = []
    while let pick = ranking.best(in: desk.table, offer, room: .any) {
      ranking.remove(pick)
      picked.append(desk.table[pick.slot].definition.id.text)
    }
    #expect(picked.sorted() == ["b", "c"])
  }

  @Test("C2 what is updated, replaced, promoted or due after begin waits for the next cycle")
  func frozen() throws {
    let desk = Desk { $0.holds = true }
    for name in ["a", "b", "c", "d", "e"] { _ = try desk.addHandler(name) }
    for name in ["a", "b"] { try desk.register(Recipe(name)) }
    try desk.register(Recipe("c") { $0.initialDelay = 5 })
    try desk.register(Recipe("d", .once))
    try desk.register(Recipe("e", .once))
    let offer = Offer(kinds: .all, satisfied: Needs(.all), pushes: false, observedRange: false)
    var ranking = desk.table.openRanking(offer, at: desk.now)
    #expect(ranking.eligibleCount == 3)
    desk.now += 10
    try desk.register(Recipe("a"))
    try desk.register(Recipe("b", existing: .replace))
    _ = try desk.cancel("d")
    #expect(desk.state("e") == .enqueued)
    #expect(ranking.remaining(in: desk.table, offer) == 0)
    #expect(ranking.best(in: desk.table, offer, room: .any) == nil)
    ranking = Ranking(desk.table, offer, at: desk.now)
    #expect(ranking.eligibleCount == 4)
  }
}
