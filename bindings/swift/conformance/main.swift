// Plays commands of Tests/conformance through the package.

import Dispatch
import Selene

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

func decode(_ text: some StringProtocol) -> String {
  var bytes: [UInt8] = []
  var rest = Substring(text).utf8[...]
  while let first = rest.popFirst() {
    if first == UInt8(ascii: "%") {
      bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    } else {
      bytes.append(first)
    }
  }
  return String(decoding: bytes, as: UTF8.self)
}

func encode(_ text: String) -> String {
  text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
}

func nanoseconds(_ span: Duration) -> Int64 {
  span.components.seconds * 1_000_000_000 + span.components.attoseconds / 1_000_000_000
}

/// The words of a command.
struct Words {
  var word = ""
  var fields: [String: String] = [:]

  func number(_ key: String) -> Int64? { fields[key].flatMap { Int64($0) } }
  func small(_ key: String) -> Int32? { number(key).map { Int32(truncatingIfNeeded: $0) } }
  func count(_ key: String) -> UInt32? { number(key).map { UInt32(truncatingIfNeeded: $0) } }
  func span(_ key: String) -> Duration? { number(key).map { .nanoseconds($0) } }
  func list(_ key: String) -> [String]? { fields[key]?.split(separator: ",").map { decode($0) } }
  func isSet(_ key: String) -> Bool { number(key) ?? 0 != 0 }

  var task: TaskRequest {
    var task = TaskRequest.standing(decode(fields["id"] ?? ""), handler: fields["handler"].map { decode($0) })
    if let number = small("kind") { task.kind = Kind(rawValue: number) }
    if let number = small("schedule") { task.schedule = Schedule(rawValue: number) }
    if let number = small("priority") { task.priority = Priority(rawValue: number) }
    if let number = small("existing") { task.existing = Existing(rawValue: number) }
    if let number = small("recurrence") { task.recurrence = Recurrence(rawValue: number) }
    if let number = small("backoff") { task.backoff = Backoff(rawValue: number) }
    if let span = span("backoff_delay") { task.backoffDelay = span }
    if let number = small("response_window") { task.responseWindow = number }
    if let number = count("max_attempts") { task.maxAttempts = number }
    if let bits = count("constraints") { task.constraints = Constraints(rawValue: bits) }
    (task.tags, task.conditions, task.after) = (list("tags") ?? [], list("conditions") ?? [], list("after") ?? [])
    if let span = span("expected_response"), span != .nanoseconds(-1) { task.expectedResponse = span }
    task.initialDelay = span("initial_delay") ?? .zero
    (task.period, task.flex) = (span("period") ?? .zero, span("flex") ?? .zero)
    (task.timeout, task.latestBegin) = (span("timeout") ?? .zero, span("latest_begin") ?? .zero)
    task.stallLimit = span("stall_limit") ?? .zero
    task.jitter = count("jitter") ?? 0
    task.group = fields["group"].map { decode($0) }
    task.input = [UInt8](repeating: 0, count: Int(number("input_size") ?? 0))
    let flags = number("flags") ?? 0
    (task.afterAnyEnd, task.expedited, task.refuseOutOfQuota) = (flags & 2 != 0, flags & 4 != 0, flags & 8 != 0)
    return task
  }

  var window: Window {
    var window = Window(reserve: span("reserve"))
    if let span = span("budget") { window.budget = span }
    if let bits = count("kinds") { window.kinds = Kinds(rawValue: bits) }
    (window.strictFit, window.frozen) = (isSet("strict"), isSet("frozen"))
    return window
  }
}

/// The handler of a case of ends.
final class Work: Sendable {
  let answer: String
  let begun = DispatchSemaphore(value: 0)
  private let released: AsyncStream<Void>
  private let releasing: AsyncStream<Void>.Continuation

  init(_ answer: String) {
    self.answer = answer
    (released, releasing) = AsyncStream.makeStream()
  }

  func release() { releasing.finish() }

  func run() async throws -> Outcome {
    begun.signal()
    let released = released
    if answer == "deaf" || answer == "completes" {
      // A task of its own is not cancelled with the run's.
      await Task { for await _ in released {} }.value
      return .newData
    }
    for await _ in released {}
    if answer == "obeys" { try Task.checkCancellation() }
    if answer == "fails" { throw Failure("it was asked to stop") }
    return .newData
  }
}

/// Plays an end; false: there is none like that. A `run` that is cancelled has no grace.
func playEnd(_ way: String, _ given: Words) throws -> Bool {
  let grace = given.span("grace") ?? .zero
  if way == "wait" && grace != .zero { return false }
  var options = Options()
  options.path = given.fields["path"].map { decode($0) }
  let scheduler = try Scheduler(options)
  let work = Work(given.fields["answer"] ?? "")
  try scheduler.handle("work") { _ in try await work.run() }
  let ended = DispatchSemaphore(value: 0)
  var running: Task<Void, Never>?
  if way == "wait" {
    running = Task.detached {
      var window = Window()
      window.kinds = .all
      _ = try? await scheduler.run(window)
      ended.signal()
    }
  } else {
    try scheduler.startDriver(Driver(ungoverned: true))
  }
  if work.answer != "idle" { work.begun.wait() }
  let isReleased = DispatchSemaphore(value: 0)
  Task.detached {
    if work.answer == "completes" { work.release() }
    isReleased.signal()
  }
  switch way {
  case "exit": exit(0)
  case "shutdown": try scheduler.stopDriver(grace: grace)
  case "close": try scheduler.close(grace: grace)
  default:
    running?.cancel()
    ended.wait()
  }
  isReleased.wait()
  work.release()
  try scheduler.close()
  return true
}

/// What a player has at a time. Events are read as they come: the stream has them when a call returns.
struct Player {
  var now = Instant(nanosecondsSinceEpoch: 0)
  var opened: Scheduler?
  var events: Events?
  var cycle: Cycle?
  var run: Run?

  struct Missing: Error {}
  /// What the language does not have.
  struct Without: Error { let why: String }

  func scheduler() throws -> Scheduler {
    guard let opened else { throw Missing() }
    return opened
  }

  mutating func open(_ given: Words) throws {
    try opened?.close()
    var options = Options()
    (options.clock, options.noThreads) = (now, true)
    options.path = given.fields["path"].map { decode($0) }
    options.permitted = given.list("permitted")
    (options.hold, options.observedRange) = (given.isSet("hold"), given.isSet("observed_range"))
    options.maxPendingRefresh = given.count("max_pending_refresh") ?? 1
    options.maxPendingProcessing = given.count("max_pending_processing") ?? 10
    if let span = given.span("minimum_interval_refresh") { options.minimumIntervalRefresh = span }
    if let span = given.span("expedited_quota") { options.expeditedQuota = span }
    options.seed = UInt64(given.number("seed") ?? 0)
    let made = try Scheduler(options)
    opened = made
    try made.setConditions(.all, satisfied: .all)
    events = try made.events(capacity: 65536)
  }

  mutating func perform(_ verb: String, _ given: Words) throws -> [String] {
    let word = decode(given.word)
    let number = Int64(word) ?? 0
    switch verb {
    case "clock":
      now = Instant(nanosecondsSinceEpoch: number)
      try opened?.setClock(now)
    case "open": try open(given)
    case "close":
      let closed = try scheduler()
      opened = nil
      try closed.close()
    case "ends": if try !playEnd(word, given) { throw Without(why: "a run that is cancelled has no grace") }
    case "unknown": throw Without(why: "the compiler knows the words")
    case "exit": exit(0)
    case "handler": try scheduler().pull(word)
    case "conditions":
      try scheduler().setConditions(.all, satisfied: Constraints(rawValue: UInt32(truncatingIfNeeded: number)))
    case "enable": try scheduler().enable(Kinds(rawValue: UInt32(truncatingIfNeeded: number)))
    case "register": return ["\(try scheduler().register(given.task).rawValue)"]
    case "cancel": return ["\(try scheduler().cancel(word))"]
    case "cancel_tag": return ["\(try scheduler().cancel(tag: word))"]
    case "cancel_all": return ["\(try scheduler().cancelAll())"]
    case "pause": return ["\(try scheduler().pause(word))"]
    case "pause_tag": return ["\(try scheduler().pause(tag: word))"]
    case "resume": return ["\(try scheduler().unpause(word))"]
    case "resume_tag": return ["\(try scheduler().unpause(tag: word))"]
    case "limit_group": try scheduler().limitGroup(word, to: given.count("limit") ?? 0)
    case "pause_group": try scheduler().pauseGroup(word)
    case "resume_group": try scheduler().unpauseGroup(word)
    case "define": try scheduler().defineCondition(word)
    case "undefine": try scheduler().undefineCondition(word)
    case "meet", "lose": try scheduler().setCondition(word, holds: verb == "meet")
    case "retry": try scheduler().retry(word)
    case "info":
      let info = try scheduler().task(word)
      return [
        "\(info.state.rawValue)", "\(info.attempts)", "\(info.earliestBegin?.nanosecondsSinceEpoch ?? .max)",
        "\(info.lastRun.nanosecondsSinceEpoch)", "\(nanoseconds(info.estimate))", "\(info.generation)",
        "\(info.appended)", "\(info.responseTimes.count)", encode(info.failure.isEmpty ? "-" : info.failure),
      ]
    case "waits":
      let waits = try scheduler().waits(word)
      return waits.parts.flatMap {
        ["\($0.reason)", "\($0.detail)", "\(nanoseconds($0.duration))", "\($0.times)"]
      } + ["preferred"] + waits.preferredIDs.map { encode($0) }
    case "left":
      let output = String(decoding: try scheduler().output(of: word), as: UTF8.self)
      return ["\(try scheduler().task(word).stopReason.rawValue)", "=" + encode(output)]
    case "set_next":
      try scheduler().setNext(word, Instant(nanosecondsSinceEpoch: given.number("at") ?? -1))
    case "output": try run?.setOutput(Array(word.utf8))
    case "progress": try run?.progress(number, of: given.number("total") ?? 0)
    case "wakeup": return [try scheduler().nextWakeup().map { "\($0.nanosecondsSinceEpoch)" } ?? "never"]
    case "plan": return try scheduler().plan(given.window).runs.map { encode($0.id) }
    case "begin": cycle = try scheduler().begin(given.window)
    case "next":
      switch try cycle?.next() {
      case .run(let next):
        run = next
        let estimate = nanoseconds(next.estimate)
        return ["run", encode(next.id), "\(next.score)", "\(estimate)", "\(next.attempt)"]
      case .wait: return ["wait"]
      default: return ["done"]
      }
    case "complete": try run?.complete(Outcome(rawValue: Int32(number)))
    case "fail": try run?.fail(Failure(word))
    case "stopping": return ["\(run?.stopReason.rawValue ?? 0)"]
    case "end":
      guard let report = try cycle?.end() else { throw Missing() }
      let head = ["\(report.result.rawValue)", "\(report.endedAt.nanosecondsSinceEpoch)", "\(report.eligible)"]
      return head + report.runs.map { "\($0.outcome.rawValue)" }
    case "events":
      var said: [String] = []
      while let event = events?.poll() { said.append("\(event.type.rawValue):\(encode(event.id))") }
      return said
    default: fatalError("there is no command \(verb)")
    }
    return []
  }
}

var player = Player()
while let line = readLine() {
  let parts = line.split(separator: " ")
  var given = Words()
  for part in parts.dropFirst() {
    if let sign = part.firstIndex(of: "=") {
      given.fields[String(part[..<sign])] = String(part[part.index(after: sign)...])
    } else {
      given.word = String(part)
    }
  }
  do {
    print((["ok"] + (try player.perform(String(parts[0]), given))).joined(separator: " "))
  } catch let refused as SeleneError {
    print("error \(refused.status) \(refused.detail)")
  } catch let without as Player.Without {
    print("error UNSUPPORTED \(without.why)")
  }
  fflush(nil)
}
