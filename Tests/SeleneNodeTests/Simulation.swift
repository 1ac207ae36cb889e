// A fleet of nodes on a virtual clock: processes are killed and paused, links cut, the database is away, its clock jumps.

import SeleneCore

@testable import SeleneNode

/// One play, told by a name and the seed. It ends at the first thing that must not happen.
final class Simulation {
  static let lease = 30 * Time.second
  static let stations = 3
  static let tasks = 6

  var chance: Chance
  let fleet: FleetModel
  private(set) var time: Span = 0
  private(set) var stations: [Station] = []
  private(set) var ledger = Ledger()
  /// How far the database's clock is before time.
  private(set) var jump: Span = 1_000_000 * Time.second
  /// The database cannot be reached until then.
  private(set) var awayUntil: Span = 0
  /// No fault begins any more.
  private(set) var isCalm = false
  /// The first thing that must not happen.
  private(set) var wrong: String?

  /// What has happened, in words.
  private(set) var reached: Set<String> = []

  private let name: String
  private var events = EventHeap()
  /// The database is left alone until then: after a fault of its own everybody has time to beat.
  private var databaseRestsUntil: Span = 0

  /// Whether the nodes are relaxed, and the server crashes (N34).
  let isRelaxed: Bool

  init(_ name: String, rules: FleetRules = .all, relaxed: Bool = false) {
    (self.name, isRelaxed) = (name, relaxed)
    chance = Chance(name)
    fleet = FleetModel(tasks: Self.tasks, interruptedPause: Time.second, strayPause: 2 * Self.lease, rules: rules)
    fleet.nextPause = { [unowned self] in chance.span(0...20 * Time.second) }
    // Somebody holds an old snapshot now and then: looks take their time.
    fleet.nextTook = { [unowned self] in chance.once(in: 8) ? chance.span(0...Time.second / 2) : 0 }
    fleet.isKept = { [unowned self] in chance.once(in: 4) }
    fleet.onEnding = { [unowned self] run, ending in
      if let fault = ledger.end(run, ending) { fail(fault) }
      reach("\(ending)")
      guard ending == .taken else { return }
      for station in stations { station.check(taken: run) }
    }
    fleet.onSave = { [unowned self] in ledger.save() }
    fleet.onCrash = { [unowned self] in ledger.lose() }
    for number in 0..<Self.stations { stations.append(Station(number, in: self)) }
    after(Self.lease) { [unowned self] in disturb() }
  }

  /// Plays until faults end, and on until everything must have moved again.
  func play(leases: Int) throws {
    run(until: Span(leases) * Self.lease)
    isCalm = true
    awayUntil = 0
    fleet.letDue()
    for station in stations { station.calm() }
    let (decided, running) = (fleet.decided, fleet.running)
    let owed = Set(stations.flatMap(\.owed))
    // After a crash somebody who is dead is waited for until he may be judged.
    run(until: time + (isRelaxed ? 9 : 6) * Self.lease)
    let now = fleet.decided
    for task in decided.indices where now[task] == decided[task] { fail("task \(task) was not decided any more") }
    for run in fleet.running where running.contains(run) { fail("run \(run) hangs") }
    for run in stations.filter(\.isAlive).flatMap(\.owed) where owed.contains(run) {
      fail("N14: nothing was told of the decision of \(run)")
    }
    if let wrong { throw Differs("\(name), at \(Double(time) / 1e9) s: \(wrong)") }
  }

  private func run(until end: Span) {
    while wrong == nil, let event = events.next(until: end) {
      time = event.time
      event.body()
    }
    if wrong == nil { time = end }
  }

  // MARK: What others use

  func after(_ span: Span, _ body: @escaping () -> Void) { events.add(time + max(span, 0), body) }

  func reach(_ what: String) { reached.insert(what) }

  func fail(_ what: String) { if wrong == nil { wrong = what } }

  /// The database makes a call now.
  func make(_ call: NodeCall) -> Result<NodeAnswer, Refused> {
    fleet.now = time + jump
    let answer = fleet.call(call, lease: Self.lease)
    if case .success(.turn(let turn)) = answer { for run in turn.claimed { ledger.begin(run.key.run) } }
    return answer
  }

  /// A node was told what became of a decision.
  func told(_ run: Int64, counts: Bool) { if let fault = ledger.tell(run, counts: counts) { fail(fault) } }

  // MARK: Faults

  private func disturb() {
    guard !isCalm else { return }
    let place = chance.below(stations.count)
    switch chance.below(100) {
    case 0..<28: stations[place].pause(anyFault())
    case 28..<50: stations[place].cut(anyFault())
    case 50..<58: replace(place, inOrder: false)
    case 58..<64: replace(place, inOrder: true)
    case 64..<70:
      fleet.now = time + jump
      fleet.cancel(chance.below(Self.tasks))
    case 64..<84 where isRelaxed && chance.once(in: 2):
      reach("crash")
      fleet.now = time + jump
      fleet.crash()
      // A pooler lets nobody notice that, or everybody is cut off.
      if chance.once(in: 2) { awayUntil = max(awayUntil, time + chance.span(0...3 * Time.second)) }
    case 70..<84 where time >= databaseRestsUntil:
      let length = chance.span(0...chance.pick([3, 40, 90]) * Time.second)
      awayUntil = time + length
      databaseRestsUntil = awayUntil + 2 * Self.lease
    case 84... where time >= databaseRestsUntil:
      let most = chance.pick([-3600, -20, -9, 10, 22, 29, 3600, 5]) * Time.second
      jump += most < 0 ? -chance.span(0...(-most)) : chance.span(0...most)
      databaseRestsUntil = time + 2 * Self.lease
    default: break
    }
    after(chance.span(0...20 * Time.second)) { [unowned self] in disturb() }
  }

  private func anyFault() -> Span { chance.span(0...chance.pick([5, 25, 50, 120]) * Time.second) }

  /// A process ends, by a kill, by a close, or because the fleet asks it to leave, and another one begins.
  private func replace(_ place: Int, inOrder: Bool) {
    if !inOrder {
      stations[place].kill()
    } else if chance.below(2) == 0 {
      stations[place].close()
    } else {
      stations[place].drain()
    }
    stations.append(Station(stations.count, in: self))
    stations.swapAt(place, stations.count - 1)
    // Those that close are still played; the killed are not.
    stations.removeAll { !$0.isAlive }
  }
}

/// What became of each run, as the database did it and as nodes were told.
struct Ledger {
  private var open: Set<Int64> = []
  private var counted: Set<Int64> = []
  private var told: Set<Int64> = []
  /// What the database has on its disk, and runs that a crash took back after they had counted: they may be told either way.
  private var saved: (open: Set<Int64>, counted: Set<Int64>) = ([], [])
  private var uncertain: Set<Int64> = []
  /// How many decisions counted.
  var count: Int { counted.count }

  mutating func begin(_ run: Int64) { open.insert(run) }

  mutating func save() { saved = (open, counted) }

  mutating func lose() {
    uncertain.formUnion(counted.subtracting(saved.counted))
    (open, counted) = saved
  }

  /// A run ends once, in one way.
  mutating func end(_ run: Int64, _ ending: RunEnding) -> String? {
    guard open.remove(run) != nil else { return "N9: run \(run) was \(ending) after its end" }
    if ending == .counted { counted.insert(run) }
    return nil
  }

  /// A node is told what became of a decision: the truth, once.
  mutating func tell(_ run: Int64, counts: Bool) -> String? {
    guard counted.contains(run) == counts || uncertain.contains(run) else {
      return "N14: a node was told of run \(run) that it counts: \(counts)"
    }
    return told.insert(run).inserted ? nil : "N14: a node was told twice what became of run \(run)"
  }
}

/// What happens when, in order of time.
struct EventHeap {
  private struct Event {
    let time: Span
    let order: Int
    let body: () -> Void

    static func < (a: Event, b: Event) -> Bool { a.time != b.time ? a.time < b.time : a.order < b.order }
  }

  private var events: [Event] = []
  private var added = 0

  mutating func add(_ time: Span, _ body: @escaping () -> Void) {
    added += 1
    events.append(Event(time: time, order: added, body: body))
    var place = events.count - 1
    while place > 0, events[place] < events[(place - 1) / 2] {
      events.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  /// Takes the first one, if it is not after an instant.
  mutating func next(until end: Span) -> (time: Span, body: () -> Void)? {
    guard let first = events.first, first.time <= end else { return nil }
    events.swapAt(0, events.count - 1)
    events.removeLast()
    var place = 0
    while true {
      var child = 2 * place + 1
      if child + 1 < events.count && events[child + 1] < events[child] { child += 1 }
      guard child < events.count, events[child] < events[place] else { return (first.time, first.body) }
      events.swapAt(place, child)
      place = child
    }
  }
}
