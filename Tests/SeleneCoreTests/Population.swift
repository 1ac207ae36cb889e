// Random populations of tasks: as records of a table, and as the test's own model of them.

import SeleneCore

/// A task as the model knows it; nothing here is read from a record.
struct Subject {
  let id: String
  var kind: Kind
  var schedule: Schedule
  var priority: Int
  let sequence: UInt64
  var state: TaskState
  var lastRun: Instant
  var earliestBegin: Instant
  var constraints: Constraints
  var handler: Population.HandlerSort
  var isPermitted: Bool
  var isTaken: Bool
  var times: [Span]
  var window: Int
  var declared: Span
  /// Became what it is after the ranking was made.
  var isNew = false

  var entrant: Entrant { Entrant(id: id, priority: priority, sequence: sequence, lastRun: lastRun) }
  var estimate: Span { Oracle.estimate(times, window: window, declared: declared < 0 ? 5 * Time.second : declared) }
  /// Nobody knows what it takes (V17).
  var isUnknown: Bool { declared < 0 && (times.isEmpty || window == 0) }

  /// S1 but for what concerns a cycle.
  func isEligible(_ offer: Offer, at now: Instant?) -> Bool {
    state == .enqueued && offer.kinds.contains(kind) && handler != .missing && (!offer.pushes || handler == .pushed)
      && (now.map { earliestBegin <= $0 } ?? true) && Needs(constraints).isSubset(of: offer.satisfied) && isPermitted
      && !isTaken
  }
}

/// A table and the model of its tasks.
final class Population {
  /// What stands under the handler's name of a task.
  enum HandlerSort: String, CaseIterable {
    case pushed, pulled, missing
  }

  let table: TaskTable
  let now: Instant
  private(set) var subjects: [Subject] = []
  private var definitions: [TaskDefinition] = []
  private var runs: UInt64 = 0
  private let pushedHandler: Int

  init(_ count: Int, at now: Instant, _ chance: inout Chance) throws {
    var policy = Policy()
    policy.places = PerKind(repeating: nil)
    let entry = Bytes("ok.*")
    policy.permits = try withExtendedLifetime(entry) { try Permits([entry.buffer]) }
    let table = TaskTable(policy, generator: Generator(seed: 1))
    self.table = table
    self.now = now
    pushedHandler = try HandlerSort.pushed.rawValue.withBytes { try table.addHandler($0, pushes: true) }
    _ = try HandlerSort.pulled.rawValue.withBytes { try table.addHandler($0, pushes: false) }
    // Few different ages and estimates make many ties.
    let ages = (0..<1 + chance.below(12)).map { _ in chance.anySpan(upTo: chance.pick([60, Time.hour, Time.tenYears])) }
    for _ in 0..<count { try add(isNew: false, age: chance.pick(ages), &chance) }
  }

  /// Adds a random task; most are eligible.
  func add(isNew: Bool, age: Span, _ chance: inout Chance) throws {
    var subject = Subject(
      id: chance.once(in: 40) ? "no.\(subjects.count)" : "ok.\(subjects.count)", kind: chance.pick(Kind.allCases),
      schedule: chance.pick([.standing, .once, .periodic]), priority: 1 + chance.below(5),
      sequence: table.lastSequence + 1, state: .enqueued, lastRun: now.subtracting(age),
      earliestBegin: chance.once(in: 6) ? now.adding(chance.pick([-1, 0, 1, Time.hour])) : now.subtracting(age),
      constraints: chance.pick([[], [], [], .network, .externalPower, .all]),
      handler: chance.once(in: 20) ? .missing : chance.once(in: 10) ? .pulled : .pushed, isPermitted: true,
      isTaken: false,
      times: [], window: chance.below(6), declared: chance.pick([-1, 0, 1, 7, 10, Time.second, Time.hour]), isNew: isNew
    )
    subject.isPermitted = subject.id.hasPrefix("ok.")
    subject.times = (0..<chance.pick([0, 0, 1, 3, 30])).map { _ in chance.pick([0, 1, 5, 9, 20, Time.second]) }
    let recipe = Recipe(subject.id, subject.schedule, kind: subject.kind, priority: Int32(subject.priority)) {
      $0.handler = subject.handler.rawValue
      $0.constraints = subject.constraints.rawValue
      $0.expectedResponse = subject.declared
      $0.responseWindow = Int32(subject.window)
    }
    let slot = table.add(try recipe.define(), .enqueued, at: now.subtracting(age))
    table.show(slot)
    table.modify(slot) {
      $0.lastRun = subject.lastRun
      $0.earliestBegin = subject.earliestBegin
      $0.responseTimes = subject.times
    }
    subjects.append(subject)
    definitions.append(table[slot].definition)
    let index = subjects.count - 1
    switch chance.below(25) {
    case 0: dispatch(index)
    case 1: try cancel(index)
    case 2:
      table.take(slot)
      subjects[index].isTaken = true
    default: break
    }
  }

  func slot(_ index: Int) -> Int? { subjects[index].id.withBytes { table.find($0) } }

  func index(_ id: String) -> Int? { subjects.firstIndex { $0.id == id } }

  // MARK: What happens in a cycle, to the table and to the model

  func dispatch(_ index: Int) {
    guard let slot = slot(index) else { return }
    runs += 1
    table.dispatch(slot, as: runs, at: now)
    table.take(slot)
    (subjects[index].state, subjects[index].isTaken) = (.running, true)
  }

  func complete(_ index: Int, at now: Instant) {
    guard let slot = slot(index), subjects[index].state == .running else { return }
    var changes = Changes(isObserved: false)
    table.complete(slot, .newData, at: now, responseTime: 5, retryDelay: nil, &changes)
    subjects[index].state = subjects[index].schedule == .once ? .succeeded : .enqueued
    subjects[index].isNew = true
    release(index)
  }

  func release(_ index: Int) {
    table.release(definitions[index], 0)
    (subjects[index].isTaken, subjects[index].isNew) = (false, true)
  }

  func cancel(_ index: Int) throws {
    var changes = Changes(isObserved: false)
    _ = try subjects[index].id.withBytes { try table.cancel(id: $0, at: now, &changes) }
    if !subjects[index].state.isTerminal { subjects[index].state = .cancelled }
  }

  /// An update that makes it the best and cheapest of all, from the next cycle on.
  func update(_ index: Int) throws {
    let subject = subjects[index]
    guard subject.isPermitted, !subject.state.isTerminal else { return }
    let recipe = Recipe(subject.id, subject.schedule, kind: subject.kind, priority: 5, existing: .update) {
      $0.handler = subject.handler.rawValue
      ($0.expectedResponse, $0.responseWindow) = (0, 0)
    }
    var changes = Changes(isObserved: false)
    _ = try table.register(recipe.define(), at: now, enabled: .all, &changes)
    (subjects[index].priority, subjects[index].constraints, subjects[index].isNew) = (5, [], true)
    (subjects[index].declared, subjects[index].window) = (0, 0)
  }

  func retireHandler() {
    table.retireHandler(pushedHandler)
    for index in subjects.indices where subjects[index].handler == .pushed { subjects[index].handler = .missing }
  }
}
