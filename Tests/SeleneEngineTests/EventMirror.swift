// Who only hears the events knows the state of every task: what the events say is kept here and compared (C18).

import SeleneCore

@testable import SeleneEngine

/// The states of tasks and runs as the events tell them.
final class EventMirror {
  private(set) var count: UInt64 = 0
  /// The types heard of, each with its detail.
  private(set) var heard: Set<String> = []
  private(set) var states: [String: TaskState] = [:]
  private var waiting: [String: [ObjectIdentifier]] = [:]
  private var openRuns: [UInt64: String] = [:]
  private var startedRuns: Set<UInt64> = []
  private var askedRuns: [UInt64: StopReason] = [:]
  private var openCycles: Set<UInt64> = []
  /// Definitions seen, so that no other takes the place of one in memory.
  private var seen: [TaskDefinition] = []
  /// What was wrong first.
  private(set) var fault: String?

  init() {}

  /// Knows what is there without having heard of it.
  init(_ snapshot: Snapshot) {
    for (id, number) in snapshot.visible {
      states[id] = snapshot.sights[number]?.state
      waiting[id] = snapshot.chain(id).map { ObjectIdentifier($0.definition) }
    }
    seen = snapshot.sights.values.map(\.definition)
  }

  /// An event of what it knows.
  func skip(_ event: borrowing Event) { count = event.number }

  func hear(_ event: borrowing Event) {
    count += 1
    expect(event.number == count, "event \(event.number) came as number \(count)")
    let change = event.change
    heard.insert("\(change.type) \(change.detail)")
    switch change.type {
    case .cycleBegun:
      expect(openCycles.insert(change.cycle).inserted, "a cycle began twice")
    case .cycleEnded:
      expect(openCycles.remove(change.cycle) != nil, "a cycle ended that was not open")
    case .paused where change.definition == nil, .resumed where change.definition == nil:
      expect(change.message != nil, "a group that is \(change.type) has a name")
    case .conditionMet, .conditionLost: expect(change.message != nil, "a condition has a name")
    case .outputLost: expect(change.progress != nil, "how much was lost is told")
    case .quotaUsedUp, .quotaLeft: expect(change.timeAt >= event.time, "something is left then, or now")
    default:
      guard let definition = change.definition else { return expect(false, "\(change.type) of no task") }
      seen.append(definition)
      hear(change, definition, definition.id.text)
    }
  }

  private func hear(_ change: Change, _ definition: TaskDefinition, _ id: String) {
    switch change.type {
    case .registered where change.detail == Disposition.appended.rawValue:
      expect(change.state == .blocked, "appended as \(String(describing: change.state))")
      waiting[id, default: []].append(ObjectIdentifier(definition))
    case .registered:
      expect(change.detail != Disposition.kept.rawValue, "keeping is no change")
      states[id] = change.state
    case .held:
      expect(change.state == .held && states[id] == .held, "held as \(String(describing: states[id]))")
    case .promoted:
      expect(states[id] == .held && change.state == .enqueued, "\(id) promoted while \(String(describing: states[id]))")
      states[id] = .enqueued
    case .unblocked where states[id] == .blocked && waiting[id]?.contains(ObjectIdentifier(definition)) != true:
      // It waited for others (W4), and now for a place if those are limited.
      expect(change.state == .enqueued || change.state == .held, "unblocked as \(String(describing: change.state))")
      states[id] = change.state
    case .unblocked:
      leave(id, definition)
      expect(change.state == .enqueued || change.state == .held, "unblocked as \(String(describing: change.state))")
      states[id] = change.state
    case .started:
      expect(
        states[id] == .enqueued && change.state == .running, "\(id) started while \(String(describing: states[id]))")
      expect(startedRuns.insert(change.run).inserted, "run \(change.run) started twice")
      expect(openCycles.contains(change.cycle), "a run started outside of a cycle")
      openRuns[change.run] = id
      states[id] = .running
    case .stopped:
      hearStop(change, id)
    case .completed
    where change.run == 0 && states[id] == .blocked
      && waiting[id]?.contains(ObjectIdentifier(definition)) != true:
      expect(change.state == .failed, "failed with another as \(String(describing: change.state))")
      states[id] = .failed
    case .completed where change.run == 0 && waiting[id]?.contains(ObjectIdentifier(definition)) != true:
      expect(states[id] == .enqueued || states[id] == .held, "\(id) too late while \(String(describing: states[id]))")
      expect(change.state == .failed, "too late as \(String(describing: change.state))")
      states[id] = .failed
    case .completed where change.run == 0:
      leave(id, definition)
      expect(change.state == .failed, "born failed as \(String(describing: change.state))")
      states[id] = .failed
    case .completed:
      expect(openRuns.removeValue(forKey: change.run) == id, "run \(change.run) of \(id) completed, but is not open")
      states[id] = change.state
    case .retry:
      expect(states[id] == .enqueued && change.attempts > 0, "\(id) retries while \(String(describing: states[id]))")
    case .cancelled where waiting[id]?.contains(ObjectIdentifier(definition)) == true:
      leave(id, definition)
    case .cancelled:
      states[id] = .cancelled
    case .paused, .resumed:
      expect(change.state?.isTerminal == false, "\(id) paused while \(String(describing: change.state))")
    case .progress:
      expect(openRuns[change.run] == id, "run \(change.run) of \(id) told its progress, but is not open")
    default: break
    }
  }

  private func hearStop(_ change: Change, _ id: String) {
    if let reason = StopReason(rawValue: change.detail), reason.isRequest, change.state == .running {
      expect(openRuns[change.run] != nil, "run \(change.run) expires, but is not open")
      // Whoever was asked because the window ends may still be asked because it took too long.
      let before = askedRuns.updateValue(reason, forKey: change.run)
      return expect(before == nil || (before == .expiring && reason.isOfTask), "run \(change.run) was asked twice")
    }
    expect(openRuns.removeValue(forKey: change.run) == id, "run \(change.run) stopped, but is not open")
    // Stopped for a reason that is not its own, it waits again; else an event of its own tells what became of it.
    let reason = StopReason(rawValue: change.detail)
    if change.detail <= StopReason.constraintLost.rawValue || reason == .shutdown {
      expect(states[id] == .running, "\(id) stopped while \(String(describing: states[id]))")
      states[id] = .enqueued
    }
  }

  private func leave(_ id: String, _ definition: TaskDefinition) {
    let place = waiting[id]?.firstIndex(of: ObjectIdentifier(definition))
    expect(place != nil, "\(id) was not waiting")
    if let place { waiting[id]?.remove(at: place) }
  }

  private func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition && fault == nil { fault = "event \(count): \(what())" }
  }

  /// All tasks were removed, which no event tells.
  func forgetTasks() { (states, waiting) = ([:], [:]) }

  /// Compares with what is there.
  func check(_ snapshot: Snapshot, openRuns expectedRuns: Set<UInt64>, openCycles expectedCycles: Set<UInt64>) throws {
    if let fault { throw Differs(fault) }
    for (id, number) in snapshot.visible {
      let state = snapshot.sights[number]?.state
      if state != states[id] {
        throw Differs("\(id) is \(String(describing: state)), the events say \(String(describing: states[id]))")
      }
      let behind = snapshot.chain(id).map { ObjectIdentifier($0.definition) }
      if behind != waiting[id] ?? [] { throw Differs("behind \(id) wait others than the events say") }
    }
    if Set(openRuns.keys) != expectedRuns { throw Differs("runs \(openRuns.keys) are open by the events") }
    if openCycles != expectedCycles { throw Differs("cycles \(openCycles) are open by the events") }
  }
}
