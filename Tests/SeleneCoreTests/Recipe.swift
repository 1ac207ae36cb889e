// Tasks as tests write them down: ordinary Swift values that become drafts and definitions.

import SeleneCore

/// A task as a test writes it down; a number that is not set has its default, those of `TaskNumbers` are set as there. What
/// runs take is said, 5 s, unless a test is about that (R8).
@dynamicMemberLookup
struct Recipe {
  var id: String
  var handler = ""
  var group = ""
  var tags: [String] = []
  /// The ids of the tasks that it comes after.
  var after: [String] = []
  /// The conditions of the host that it asks for.
  var conditions: [String] = []
  var input: [UInt8] = []
  private var numbers = TaskNumbers()

  init(
    _ id: String, _ schedule: Schedule = .standing, kind: Kind = .refresh, priority: Int32 = 3,
    existing: ExistingPolicy? = nil, _ change: (inout Recipe) -> Void = { _ in }
  ) {
    self.id = id
    numbers.schedule = Int32(schedule.rawValue)
    numbers.kind = Int32(kind.rawValue)
    numbers.priority = priority
    numbers.expectedResponse = 5 * Time.second
    if let existing { numbers.existing = Int32(existing.rawValue) }
    if schedule == .periodic { numbers.period = Time.hour }
    change(&self)
  }

  init(_ id: String, _ change: (inout Recipe) -> Void) { self.init(id, .standing, change) }

  subscript<Value>(dynamicMember field: WritableKeyPath<TaskNumbers, Value>) -> Value {
    get { numbers[keyPath: field] }
    set { numbers[keyPath: field] = newValue }
  }

  /// Lends a draft whose texts live until the body returns.
  func withDraft<R>(_ body: (borrowing TaskDraft) throws -> R) rethrows -> R {
    let parts =
      [Array(id.utf8), Array(handler.utf8), input, Array(group.utf8)]
      + (tags + after + conditions).map { Array($0.utf8) }
    return try Array(parts.joined()).withUnsafeBytes { all in
      var texts: [UnsafeRawBufferPointer] = []
      var end = 0
      for part in parts {
        texts.append(UnsafeRawBufferPointer(rebasing: all[end..<end + part.count]))
        end += part.count
      }
      var draft = TaskDraft()
      draft.numbers = numbers
      (draft.id, draft.handler, draft.input) = (texts[0], texts[1], texts[2])
      draft.group = texts[3]
      draft.tags = Array(texts[4..<4 + tags.count])
      draft.after = Array(texts[4 + tags.count..<4 + tags.count + after.count])
      draft.conditions = Array(texts[(4 + tags.count + after.count)...])
      return try body(draft)
    }
  }

  /// The checked definition.
  func define(backoff bounds: BackoffBounds = BackoffBounds(), maxInput: UInt64 = 10_240) throws -> TaskDefinition {
    var pool = TermsPool()
    return try withDraft { draft in
      try TaskDefinition.checked(draft, .own, backoff: bounds, maxInput: maxInput, pool: &pool)
    }
  }

  /// The same with the terms and groups of a table.
  func define(in table: TaskTable) throws -> TaskDefinition {
    try withDraft { draft in
      try TaskDefinition.checked(
        draft, .own, backoff: table.policy.backoff, maxInput: table.policy.maxInput, pool: &table.terms)
    }
  }
}

extension String {
  /// Lends the bytes.
  func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try Array(utf8).withUnsafeBytes(body)
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes as text.
  var text: String { String(decoding: self, as: UTF8.self) }
}

/// The code of the refusal that the body throws, or nil if it throws nothing.
func refusal<R>(_ body: () throws -> R) -> SeleneError.Code? {
  do {
    _ = try body()
    return nil
  } catch let error as SeleneError {
    return error.code
  } catch {
    return nil
  }
}
