// What a record keeps, what follows from it, and what a dispatch and a stop do to it (T3, T4, S5, C8).

import SeleneCore
import Testing

@Suite("TaskRecord") struct TaskRecordTests {
  static let start: Instant = 5_000

  private func record(_ recipe: Recipe, _ state: TaskState = .enqueued) throws -> TaskRecord {
    TaskRecord(try recipe.define(), sequence: 9, state: state, at: Self.start)
  }

  @Test("T4 a new record counts from its registration")
  func fresh() throws {
    let fresh = try record(Recipe("a", .once) { $0.initialDelay = 70 })
    #expect(fresh.registeredAt == 5_000)
    #expect(fresh.lastRun == 5_000)
    #expect(fresh.earliestBegin == 5_070)
    #expect(fresh.anchor == 5_070)
    #expect(fresh.attempts == 0)
    #expect(fresh.generation == 0)
    #expect(fresh.responseTimes.isEmpty)
    #expect(fresh.lastOutcome == nil)
    #expect(fresh.stopReason == .none)
    #expect(fresh.run == 0)
  }

  @Test(
    "T3 succeeded, failed and cancelled are terminal, the others live",
    arguments: [
      (TaskState.enqueued, false), (.held, false), (.blocked, false), (.running, false), (.succeeded, true),
      (.failed, true), (.cancelled, true),
    ])
  func terminal(state: TaskState, isTerminal: Bool) throws {
    #expect(state.isTerminal == isTerminal)
    #expect(try record(Recipe("a", .once), state).isLive == !isTerminal)
  }

  @Test("T6 once and periodic tasks take a place while they are enqueued or running")
  func places() throws {
    for schedule in [Schedule.standing, .once, .periodic] {
      for raw: UInt8 in 0...6 {
        let state = try #require(TaskState(rawValue: raw))
        let takes = schedule != .standing && (state == .enqueued || state == .running)
        #expect(try record(Recipe("a", schedule), state).holdsPlace == takes, "\(schedule) \(state)")
      }
    }
  }

  // MARK: Estimate

  @Test("S5 the estimate is the declared response while there is none, or if the window is 0")
  func declaredEstimate() throws {
    var record = try record(Recipe("a") { $0.expectedResponse = 77 })
    #expect(record.estimate == 77)
    record.responseTimes = [5]
    #expect(record.estimate == 5)
    var generator = Generator(seed: 1)
    let other = try Recipe("a", { ($0.expectedResponse, $0.responseWindow) = (88, 0) }).define()
    record.update(other, at: record.lastRun, using: &generator)
    #expect(record.estimate == 88)
  }

  @Test(
    "S5 the estimate is the mean of the last n response times, rounded down",
    arguments: [(1, 100), (2, 55), (3, 40), (4, 30), (5, 24), (30, 24)])
  func meanEstimate(window: Int32, expected: Span) throws {
    var record = try record(Recipe("a") { $0.responseWindow = window })
    record.responseTimes = [1, 0, 11, 10, 100]
    #expect(record.estimate == expected)
  }

  @Test("S5 thirty response times of 24 h have a mean of 24 h")
  func longEstimate() throws {
    var record = try record(Recipe("a") { $0.responseWindow = 30 })
    record.responseTimes = [Span](repeating: 24 * Time.hour, count: 30)
    #expect(record.estimate == 24 * Time.hour)
  }

  @Test("S5 random response times have the exact mean")
  func randomEstimate() throws {
    var chance = Chance("S5")
    for _ in 0..<500 {
      let window = chance.below(31)
      let times = (0..<chance.below(31)).map { _ in chance.anySpan(upTo: Time.day) }
      var record = try record(Recipe("a") { ($0.responseWindow, $0.expectedResponse) = (Int32(window), 12) })
      record.responseTimes = times
      let sample = times.suffix(window).map { Int128($0) }
      let mean = sample.isEmpty ? 12 : sample.reduce(0, +) / Int128(sample.count)
      try verify(Int128(record.estimate) == mean, "mean of the last \(window) of \(times): \(record.estimate)")
    }
  }

  // MARK: Dispatch and stop

  @Test("C9 a dispatch is one attempt more", arguments: [0, 1, 41, UInt32.max] as [UInt32])
  func dispatch(attempts: UInt32) throws {
    var record = try record(Recipe("a"))
    record.attempts = attempts
    record.dispatch(as: 3, at: record.lastRun)
    #expect(record.state == .running)
    #expect(record.run == 3)
    #expect(record.attempts == (attempts == .max ? .max : attempts + 1))
  }

  @Test(
    "C8 a stop that is not the task's fault leaves attempts, last run and earliest begin as before the run",
    arguments: [StopReason.constraintLost, .preempted, .shutdown])
  func requeue(reason: StopReason) throws {
    var record = try record(Recipe("a", .once))
    (record.attempts, record.earliestBegin, record.lastRun, record.responseTimes) = (2, 6_000, 5_500, [8, 9])
    record.dispatch(as: 3, at: record.lastRun)
    record.requeue(reason, at: record.lastRun)
    #expect(record.state == .enqueued)
    #expect(record.attempts == 2)
    #expect(record.earliestBegin == 6_000)
    #expect(record.lastRun == 5_500)
    #expect(record.responseTimes == [8, 9])
    #expect(record.run == 0)
    #expect(record.stopReason == reason)
    #expect(record.lastOutcome == .stopped)
  }

  @Test("T3 the last thirty response times are kept, whatever the window")
  func thirtyResponseTimes() throws {
    var record = try record(Recipe("a") { $0.responseWindow = 2 })
    var generator = Generator(seed: 1)
    for time in 1...33 {
      record.dispatch(as: UInt64(time), at: record.lastRun)
      record.complete(
        .newData, at: 6_000, responseTime: Span(time), retryDelay: nil, bounds: BackoffBounds(), using: &generator)
    }
    #expect(record.responseTimes == Array(4...33))
    #expect(record.estimate == 32)
  }
}
