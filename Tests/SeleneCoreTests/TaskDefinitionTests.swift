// The fields of a definition: defaults, ranges, texts (T2, and T4's first earliest begin).

import SeleneCore
import Testing

@Suite("TaskDefinition") struct TaskDefinitionTests {
  // MARK: Defaults

  @Test("T2 a draft of an id alone has every default")
  func defaults() throws {
    let task = try Recipe("a").define()
    #expect(task.id.text == "a")
    #expect(task.handler.text == "a")
    #expect(task.kind == .refresh)
    #expect(task.schedule == .standing)
    #expect(task.priority == 3)
    #expect(TaskNumbers().expectedResponse == -1)
    #expect(task.responseWindow == 3)
    #expect(task.tagCount == 0)
    #expect(task.constraints == [])
    #expect(task.initialDelay == 0)
    #expect(task.period == 0)
    #expect(task.flex == 0)
    #expect(task.recurrence == .afterCompletion)
    #expect(task.backoffDelay == 30_000_000_000)
    #expect(task.maxAttempts == 0)
    #expect(task.input.count == 0)
  }

  @Test(
    "T2 the existing and backoff policies follow the schedule where they are not given",
    arguments: [
      (Schedule.standing, ExistingPolicy.update, BackoffPolicy.none), (.once, .keep, .exponential),
      (.periodic, .update, .exponential),
    ])
  func defaultsBySchedule(schedule: Schedule, existing: ExistingPolicy, backoff: BackoffPolicy) throws {
    let task = try Recipe("a", schedule).define()
    #expect(task.existing == existing)
    #expect(task.backoff == backoff)
  }

  @Test("T2 a given policy stands whatever the schedule", arguments: [Schedule.standing, .once, .periodic])
  func givenPolicies(schedule: Schedule) throws {
    for policy in [ExistingPolicy.keep, .replace, .update] {
      #expect(try Recipe("a", schedule, existing: policy).define().existing == policy)
    }
    for raw: Int32 in 1...3 {
      #expect(try Recipe("a", schedule, { $0.backoff = raw }).define().backoff.rawValue == UInt8(raw))
    }
  }

  // MARK: Terms

  /// Each field that is not the task's own alone: what sets it to something that is not its default.
  private static let terms: [@Sendable (inout Recipe) -> Void] = [
    { $0.kind = 2 }, { ($0.schedule, $0.period) = (1, 0) }, { $0.priority = 5 }, { $0.existing = 2 },
    { $0.recurrence = 1 },
    { $0.backoff = 2 }, { $0.responseWindow = 7 }, { $0.maxAttempts = 9 }, { $0.constraints = 3 },
    { $0.expectedResponse = 11 }, { $0.initialDelay = 13 }, { $0.period = 2 * Time.hour }, { $0.flex = 17 },
    { $0.backoffDelay = 31 * Time.second }, { $0.handler = "another" }, { $0.tags = ["one"] }, { $0.tags = ["two"] },
  ]

  @Test("tasks share their terms only where all of them are the same")
  func sharedTerms() throws {
    var pool = TermsPool()
    func define(_ id: String, _ change: (inout Recipe) -> Void) throws -> TaskDefinition {
      try Recipe(id, .periodic, change).withDraft {
        try TaskDefinition.checked($0, .own, backoff: BackoffBounds(), maxInput: 0, pool: &pool)
      }
    }
    let plain = try define("plain") { _ in }
    var different = [plain]
    for (number, change) in Self.terms.enumerated() {
      let one = try define("one.\(number)", change)
      let other = try define("other.\(number)", change)
      #expect(one.terms === other.terms, "\(number)")
      #expect(different.allSatisfy { $0.terms !== one.terms }, "\(number)")
      different.append(one)
    }
  }

  // MARK: Ranges

  struct Field: Sendable, CustomTestStringConvertible {
    let name: String
    let schedule: Schedule
    let allowed: [Int64]
    let refused: [Int64]
    let set: @Sendable (inout Recipe, Int64) -> Void
    var testDescription: String { name }

    init(
      _ name: String, of schedule: Schedule = .once, _ allowed: [Int64], not refused: [Int64],
      _ set: @escaping @Sendable (inout Recipe, Int64) -> Void
    ) {
      (self.name, self.schedule, self.allowed, self.refused, self.set) = (name, schedule, allowed, refused, set)
    }

    static let tenYears: Int64 = 3_653 * 86_400 * 1_000_000_000
    static let hour: Int64 = 3_600_000_000_000
    static let all = [
      Field("kind", [1, 2], not: [-1, 0, 3, 99, 257, 258]) { $0.kind = Int32($1) },
      Field("schedule", [0, 1, 3], not: [-1, 4, 99, 256]) { $0.schedule = Int32($1) },
      Field("priority", [1, 2, 3, 4, 5], not: [-1, 0, 6, 99, 257]) { $0.priority = Int32($1) },
      Field("existing", [0, 1, 2, 3, 4, 5, 6], not: [-1, 7, 99, 256]) { $0.existing = Int32($1) },
      Field("recurrence", [0, 1, 2], not: [-1, 3, 99]) { $0.recurrence = Int32($1) },
      Field("backoff", [0, 1, 2, 3], not: [-1, 4, 99]) { $0.backoff = Int32($1) },
      Field("response_window", [0, 1, 3, 30], not: [-1, 31, 256]) { $0.responseWindow = Int32($1) },
      Field("max_attempts", [0, 1, 4_294_967_295], not: []) { $0.maxAttempts = UInt32($1) },
      Field("constraints", [0, 1, 2, 3, 4, 128, 255], not: [256, 257, 0x8000_0000]) { $0.constraints = UInt32($1) },
      Field("expected_response", [-1, 0, 1, 24 * hour], not: [-2, 24 * hour + 1, .max, .min]) {
        $0.expectedResponse = $1
      },
      Field("initial_delay", [0, 1, tenYears], not: [-1, tenYears + 1, .max, .min]) { $0.initialDelay = $1 },
      Field("period", of: .periodic, [1, hour, tenYears], not: [-1, 0, tenYears + 1, .max, .min]) { $0.period = $1 },
      Field("flex", of: .periodic, [0, 1, hour], not: [-1, hour + 1, .max, .min]) { $0.flex = $1 },
      Field("backoff_delay", [0, 1, .max], not: [-1, .min]) { $0.backoffDelay = $1 },
    ]
  }

  @Test("T2 each field accepts its range and refuses what is outside", arguments: Field.all)
  func range(field: Field) throws {
    for value in field.allowed {
      var recipe = Recipe("a", field.schedule)
      field.set(&recipe, value)
      #expect(refusal { try recipe.define() } == nil, "\(field.name) \(value)")
    }
    for value in field.refused {
      var recipe = Recipe("a", field.schedule)
      field.set(&recipe, value)
      let code = refusal { try recipe.define() }
      #expect(code == .invalidArgument, "\(field.name) \(value)")
    }
  }

  @Test("T2 a periodic task needs a period; others have neither period nor flex")
  func period() throws {
    #expect(refusal { try Recipe("a", .periodic, { $0.period = 0 }).define() } == .invalidArgument)
    for schedule in [Schedule.standing, .once] {
      for wrong in [1, Time.hour, -5] {
        #expect(refusal { try Recipe("a", schedule, { $0.period = wrong }).define() } == .invalidArgument)
        #expect(refusal { try Recipe("a", schedule, { $0.flex = wrong }).define() } == .invalidArgument)
      }
    }
  }

  @Test("T2 a schedule that is not said is periodic with a period, else once")
  func unsaidSchedule() throws {
    #expect(try Recipe("a", { $0.schedule = 0 }).define().schedule == .once)
    #expect(try Recipe("a", { ($0.schedule, $0.period) = (0, Time.hour) }).define().schedule == .periodic)
    #expect(refusal { try Recipe("a", { ($0.schedule, $0.flex) = (0, Time.hour) }).define() } == .invalidArgument)
  }

  @Test("T5 append is for once tasks only", arguments: [Schedule.standing, .periodic])
  func appendNeedsOnce(schedule: Schedule) {
    #expect(refusal { try Recipe("a", schedule, existing: .append).define() } == .invalidArgument)
    #expect(refusal { try Recipe("a", schedule, existing: .appendOrReplace).define() } == .invalidArgument)
  }

  @Test("T2 the input is at most as long as the scheduler allows", arguments: [0, 1, 10_240] as [UInt64])
  func inputSize(limit: UInt64) throws {
    func recipe(_ count: UInt64) -> Recipe { Recipe("a") { $0.input = [UInt8](repeating: 7, count: Int(count)) } }
    #expect(try recipe(limit).define(maxInput: limit).input.count == Int(limit))
    #expect(refusal { try recipe(limit + 1).define(maxInput: limit) } == .tooLarge)
  }

  @Test("T1 a task has at most 16 tags, each an identifier")
  func tagLimits() {
    func recipe(_ count: Int) -> Recipe { Recipe("a") { $0.tags = (0..<count).map { "t\($0)" } } }
    #expect(refusal { try recipe(16).define() } == nil)
    #expect(refusal { try recipe(17).define() } == .invalidArgument)
    #expect(refusal { try Recipe("a", { $0.tags = ["good", ""] }).define() } == .invalidArgument)
    #expect(refusal { try Recipe("a", { $0.tags = ["a\u{0}b"] }).define() } == .invalidArgument)
  }

  @Test("T1 id and handler must be identifiers")
  func names() {
    #expect(refusal { try Recipe("").define() } == .invalidArgument)
    #expect(refusal { try Recipe(String(repeating: "x", count: 256)).define() } == .invalidArgument)
    #expect(refusal { try Recipe("a", { $0.handler = "b\u{0}" }).define() } == .invalidArgument)
    #expect(
      refusal { try Recipe("a", { $0.handler = String(repeating: "x", count: 256) }).define() } == .invalidArgument)
  }

  @Test("T2 the backoff delay is clamped into the scheduler's bounds")
  func backoffClamp() throws {
    func effective(_ delay: Span, _ minimum: Span, _ maximum: Span) throws -> Span {
      try Recipe("a", { $0.backoffDelay = delay }).define(backoff: BackoffBounds(minimum: minimum, maximum: maximum))
        .backoffDelay
    }
    #expect(try effective(0, 10, 100) == 10)
    #expect(try effective(9, 10, 100) == 10)
    #expect(try effective(10, 10, 100) == 10)
    #expect(try effective(55, 10, 100) == 55)
    #expect(try effective(101, 10, 100) == 100)
    #expect(try effective(.max, 10, 100) == 100)
    #expect(try Recipe("a", { $0.backoffDelay = 0 }).define().backoffDelay == 10 * Time.second)
    #expect(try Recipe("a", { $0.backoffDelay = .max }).define().backoffDelay == 5 * Time.hour)
  }

  // MARK: Texts

  @Test("T2 texts are kept byte for byte, each followed by a NUL")
  func texts() throws {
    let input: [UInt8] = [0, 1, 0xFF, 0, 7]
    let task = try Recipe("idé", { ($0.handler, $0.tags, $0.input) = ("händler", ["x", "ta g"], input) }).define()
    #expect(task.id.text == "idé")
    #expect(task.handler.text == "händler")
    #expect((0..<task.tagCount).map { task.tag($0).text } == ["x", "ta g"])
    #expect(Array(task.input) == input)
    for text in [task.id, task.handler, task.tag(0), task.tag(1), task.input] {
      #expect(text.baseAddress?.load(fromByteOffset: text.count, as: UInt8.self) == 0)
    }
  }

  @Test("T1 a repeated tag counts once")
  func repeatedTags() throws {
    let task = try Recipe("a", { $0.tags = ["x", "y", "x", "X", "y"] }).define()
    #expect((0..<task.tagCount).map { task.tag($0).text } == ["x", "y", "X"])
    #expect("X".withBytes { task.carries(tag: $0) })
    #expect(!"z".withBytes { task.carries(tag: $0) })
  }

  // MARK: The first earliest begin

  @Test("T4 the earliest begin is now + delay, and for a flex below the period also + (period - flex)")
  func firstBegin() throws {
    func begin(_ delay: Span, _ period: Span, _ flex: Span) throws -> Instant {
      try Recipe("a", .periodic, { ($0.initialDelay, $0.period, $0.flex) = (delay, period, flex) }).define()
        .firstBegin(from: 1000)
    }
    #expect(try Recipe("a", .once, { $0.initialDelay = 7 }).define().firstBegin(from: 1000) == 1007)
    #expect(try begin(0, 60, 0) == 1000)
    #expect(try begin(0, 60, 60) == 1000)
    #expect(try begin(0, 60, 15) == 1045)
    #expect(try begin(5, 60, 1) == 1064)
    #expect(try begin(5, 60, 59) == 1006)
    let far = try Recipe("a", .periodic, { ($0.initialDelay, $0.period, $0.flex) = (9, 60, 1) }).define()
    #expect(far.firstBegin(from: .max - 3) == .max)
    #expect(far.firstBegin(from: .min) == .min + 68)
  }
}
