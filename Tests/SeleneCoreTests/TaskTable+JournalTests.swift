// Taking a call back that the store refused (D2): everything is as it was before the call.

import SeleneCore
import Testing

@Suite("TaskTable journal") struct TaskTableJournalTests {
  private static let ids = (0..<6).map { "task.\($0)" }
  private static let tags = ["red", "green"]

  /// All that can be seen of a table, for comparison.
  private func look(_ desk: Desk) -> [String] {
    let table = desk.table
    var lines = table.slots.filter { !table.isVacant($0) }.sorted { table.sequence($0) < table.sequence($1) }.map {
      let record = table[$0]
      return "\(record.sequence) \(record.definition.id.text) \(record.state) \(record.attempts) \(record.generation) "
        + "\(record.earliestBegin) \(record.lastRun) \(record.registeredAt) \(record.responseTimes) \(record.priority) "
        + "behind it \(table.waiting(behind: $0).map { table.sequence($0) })"
    }
    for id in Self.ids { lines.append("\(id) shows \(desk.record(id)?.sequence ?? 0)") }
    for tag in Self.tags {
      lines.append("\(tag): \(tag.withBytes { table.slots(carrying: $0) }.map { table.sequence($0) })")
    }
    for kind in Kind.allCases { lines.append("\(kind): \(table.freePlaces(kind)) places") }
    let offer = Offer(kinds: .all, satisfied: Needs(.all), pushes: true, observedRange: false)
    lines.append("\(Ranking(table, offer, at: desk.now).eligibleCount) of \(table.lastSequence)")
    return lines
  }

  /// One of the changes that a store may refuse.
  private func change(_ desk: Desk, _ chance: inout Chance) throws {
    let id = chance.pick(Self.ids)
    switch chance.below(8) {
    case 0...3:
      let policies: [ExistingPolicy?] = [nil, .replace, .update, .append, .appendOrReplace]
      let policy = chance.pick(policies)
      let isStanding = chance.once(in: 4) && policy?.appends != true
      _ = try? desk.register(
        Recipe(id, isStanding ? .standing : .once, priority: Int32(1 + chance.below(5)), existing: policy) {
          $0.tags = chance.once(in: 2) ? [chance.pick(Self.tags)] : []
          $0.initialDelay = chance.once(in: 4) ? Time.hour : 0
          $0.maxAttempts = 2
        })
    case 4: _ = try? desk.cancel(id)
    case 5: _ = desk.cancel(tag: chance.pick(Self.tags))
    case 6: _ = desk.table.prune(endedBefore: chance.once(in: 2) ? nil : desk.now)
    default:
      guard let slot = desk.slot(id), desk.table[slot].state == .enqueued else { return }
      let run = desk.table.lastSequence + 1
      var changes = Changes(isObserved: false)
      desk.table.dispatch(slot, as: run, at: desk.now)
      desk.table.complete(
        slot, chance.pick([.newData, .failed, .abandoned]), at: desk.now, responseTime: 5, retryDelay: nil, &changes)
    }
  }

  @Test("D2 what is taken back leaves everything as it was: records, chains, tags, places, what an id shows")
  func takenBack() throws {
    var chance = Chance("journal")
    for round in 0..<60 {
      let desk = Desk {
        $0.places = PerKind(refresh: 3, processing: 3)
        $0.holds = round % 2 == 0
      }
      desk.table.journal = Journal()
      _ = try desk.addHandler("handler")
      for id in Self.ids { _ = try desk.addHandler(id) }
      for call in 0..<60 {
        desk.now += Time.second
        let before = look(desk)
        for _ in 0...chance.below(3) { try change(desk, &chance) }
        if chance.once(in: 2) {
          desk.table.rollBack()
          desk.table.checkInvariants()
          let after = look(desk)
          try verify(after == before, "round \(round), call \(call): \(before) became \(after)")
        } else if chance.once(in: 2) {
          desk.table.accept()
        } else {
          desk.table.noteSaved()
        }
      }
      // Whatever was taken back: each that has ended goes when its time has come.
      let ended = desk.table.count(.succeeded) + desk.table.count(.failed) + desk.table.count(.cancelled)
      let pruned = desk.table.prune(endedBefore: nil)
      try verify(pruned == ended, "round \(round): \(pruned) of \(ended) ended records went")
    }
  }
}
