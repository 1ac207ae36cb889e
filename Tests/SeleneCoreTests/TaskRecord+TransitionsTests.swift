// What an outcome makes of a record: the table of rule C9, every schedule by every outcome by every number of attempts.

import SeleneCore
import Testing

@Suite("TaskRecord transitions") struct TaskRecordTransitionsTests {
  /// A cell of the table in the design.
  enum Consequence {
    /// enqueued, attempts 0, earliest = now
    case ready
    /// enqueued, attempts stay, earliest = now + backoff
    case retry
    /// enqueued, attempts 0, next period
    case nextPeriod
    case succeeded
    case failed
  }

  /// The columns of the table, and whether attempts are left.
  struct Situation: Sendable, CustomTestStringConvertible {
    let schedule: Schedule
    let outcome: Outcome
    /// Attempts before the run.
    let before: UInt32
    let maximum: UInt32
    var testDescription: String { "\(schedule) \(outcome) after \(before) of \(maximum) attempts" }

    var consequence: Consequence {
      let attemptsLeft = maximum == 0 || before + 1 < maximum
      return switch (schedule, outcome) {
      case (.standing, .newData), (.standing, .noData): .ready
      case (.standing, .failed), (.standing, .expired): .retry
      case (.standing, _): .ready
      case (.once, .newData), (.once, .noData): .succeeded
      case (.once, .failed), (.once, .expired): attemptsLeft ? .retry : .failed
      case (.once, _): .failed
      case (.periodic, .newData), (.periodic, .noData): .nextPeriod
      case (.periodic, .failed), (.periodic, .expired): attemptsLeft ? .retry : .nextPeriod
      case (.periodic, _): .nextPeriod
      }
    }

    static let all: [Situation] = [Schedule.standing, .once, .periodic].flatMap { schedule in
      [Outcome.newData, .noData, .failed, .expired, .abandoned].flatMap { outcome in
        [UInt32(0), 1, 2, 5].flatMap { before in
          [UInt32(0), 1, 2, 3, 100].map {
            Situation(schedule: schedule, outcome: outcome, before: before, maximum: $0)
          }
        }
      }
    }
  }

  private static let dispatched: Instant = 10_000 * Time.second
  private static let completed: Instant = 10_007 * Time.second

  /// A record of this situation, after its run.
  private func complete(_ situation: Situation, retryDelay: Span? = nil, backoff: BackoffPolicy? = nil) throws
    -> TaskRecord
  {
    var recipe = Recipe("a", situation.schedule) { $0.maxAttempts = situation.maximum }
    if let backoff { recipe.backoff = Int32(backoff.rawValue) }
    var record = TaskRecord(try recipe.define(), sequence: 1, state: .enqueued, at: 9_000 * Time.second)
    record.attempts = situation.before
    record.dispatch(as: 5, at: record.lastRun)
    var generator = Generator(seed: 1)
    record.complete(
      situation.outcome, at: Self.completed, responseTime: Self.completed - Self.dispatched, retryDelay: retryDelay,
      bounds: BackoffBounds(), using: &generator)
    return record
  }

  @Test("C9 an outcome decides state, attempts and earliest begin", arguments: Situation.all)
  func table(situation: Situation) throws {
    let record = try complete(situation, backoff: .linear)
    switch situation.consequence {
    case .ready:
      #expect(record.state == .enqueued)
      #expect(record.attempts == 0)
      #expect(record.earliestBegin == Self.completed)
    case .retry:
      #expect(record.state == .enqueued)
      #expect(record.attempts == situation.before + 1)
      #expect(record.earliestBegin == Self.completed + Int64(situation.before + 1) * 30 * Time.second)
    case .nextPeriod:
      #expect(record.state == .enqueued)
      #expect(record.attempts == 0)
      #expect(record.earliestBegin == Self.completed + Time.hour)
    case .succeeded, .failed:
      #expect(record.state == (situation.consequence == .succeeded ? .succeeded : .failed))
      #expect(record.attempts == situation.before + 1)
      #expect(record.changedAt == Self.completed)
    }
  }

  @Test(
    "C9 on completion last run is now and the response time is recorded, whatever the outcome", arguments: Situation.all
  )
  func always(situation: Situation) throws {
    let record = try complete(situation)
    #expect(record.lastRun == Self.completed)
    #expect(record.responseTimes == [7 * Time.second])
    #expect(record.lastOutcome == situation.outcome)
    #expect(record.stopReason == (situation.outcome == .expired ? .expiring : .none))
    #expect(record.run == 0)
    #expect(record.registeredAt == 9_000 * Time.second)
  }

  @Test("C9 a once task that failed its last attempt is failed", arguments: [1, 2, 7] as [UInt32])
  func lastAttempt(maximum: UInt32) throws {
    let desk = Desk()
    try desk.register(Recipe("a", .once) { $0.maxAttempts = maximum })
    for attempt in 1...maximum {
      try desk.run("a", .failed)
      #expect(desk.state("a") == (attempt == maximum ? .failed : .enqueued))
    }
  }

  @Test("C9 a standing task ignores its maximum of attempts")
  func standingIgnoresMaximum() throws {
    let desk = Desk()
    try desk.register(Recipe("a") { $0.maxAttempts = 2 })
    for attempt: UInt32 in 1...5 {
      try desk.run("a", .failed)
      #expect(desk.record("a")?.attempts == attempt)
      #expect(desk.state("a") == .enqueued)
    }
    try desk.run("a", .noData)
    #expect(desk.record("a")?.attempts == 0)
  }

  @Test("C9 a periodic task that used up its attempts begins the next period with none")
  func periodicUsesUp() throws {
    let desk = Desk()
    try desk.register(Recipe("a", .periodic) { $0.maxAttempts = 2 })
    try desk.run("a", .failed)
    #expect(desk.record("a")?.earliestBegin == desk.now + 30 * Time.second)
    try desk.run("a", .expired)
    #expect(desk.record("a")?.earliestBegin == desk.now + Time.hour)
    #expect(desk.record("a")?.attempts == 0)
  }

  @Test(
    "C6 a failure's own delay replaces the backoff of this attempt", arguments: [0, 1, 86_400_000_000_000] as [Span])
  func ownDelay(delay: Span) throws {
    for situation in Situation.all where situation.outcome == .failed && situation.consequence == .retry {
      let record = try complete(situation, retryDelay: delay)
      #expect(record.earliestBegin == Self.completed + delay)
      #expect(record.attempts == situation.before + 1)
    }
  }

  @Test("C6 an own delay does not save a task without attempts left")
  func ownDelayOfTheLast() throws {
    let record = try complete(Situation(schedule: .once, outcome: .failed, before: 2, maximum: 3), retryDelay: 5)
    #expect(record.state == .failed)
  }

  @Test("P6 completions at the ends of time saturate")
  func extremes() throws {
    for schedule in [Schedule.standing, .once, .periodic] {
      for outcome in [Outcome.newData, .failed, .expired, .abandoned] {
        for now in [Int64.max, .max - 1, .min, .min + 1, 0] {
          for recurrence: Int32 in 0...2 {
            let recipe = Recipe("a", schedule) { ($0.recurrence, $0.backoff) = (recurrence, 2) }
            var record = TaskRecord(try recipe.define(), sequence: 1, state: .enqueued, at: now == .min ? .max : .min)
            record.attempts = .max
            record.dispatch(as: 1, at: record.lastRun)
            var generator = Generator(seed: 1)
            record.complete(
              outcome, at: now, responseTime: 0, retryDelay: nil, bounds: BackoffBounds(), using: &generator)
            #expect(record.lastRun == now)
            #expect(record.state.isTerminal || record.earliestBegin >= now)
          }
        }
      }
    }
  }
}
