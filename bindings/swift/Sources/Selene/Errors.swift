// What is refused, and what a handler throws.

import CSelene

/// A call that was refused, or failed; nothing has changed.
public struct SeleneError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Why.
  public let status: Status
  /// The whole sentence.
  public let detail: String
  /// The parameter or field, by its name in the header; empty where the call as a whole is refused.
  public let field: String
  /// What was found there, and what is allowed; may be empty.
  public let found, allowed: String

  /// Status and sentence.
  public var description: String { "\(status): \(detail)" }

  static var closed: SeleneError {
    SeleneError(status: .invalidHandle, detail: "the scheduler is closed", field: "", found: "", allowed: "")
  }

  static var noThread: SeleneError {
    SeleneError(
      status: .exhausted, detail: "the system refused to start a thread", field: "", found: "", allowed: "")
  }
}

/// Throws what the last call, on this thread, was refused for.
func check(_ status: selene_status) throws(SeleneError) {
  guard status != SELENE_OK else { return }
  let fault = selene_error_last().pointee
  throw SeleneError(
    status: Status(rawValue: status), detail: fault.message.string, field: fault.field.string,
    found: fault.found.string, allowed: fault.allowed.string)
}

/// What a handler throws to say more of a failure than its text.
public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is kept with the task.
  public let description: String
  /// Until it is tried again; nil: the backoff of its task.
  public let retryAfter: Duration?
  /// Whether it is not tried again.
  public let isFinal: Bool

  /// A failure whose task is tried again, after its backoff or this time.
  public init(_ why: String, retryAfter: Duration? = nil) {
    (description, self.retryAfter, isFinal) = (why, retryAfter, false)
  }

  private init(abandoned why: String) { (description, retryAfter, isFinal) = (why, nil, true) }

  /// One whose task is not tried again.
  public static func abandoned(_ why: String) -> Failure { Failure(abandoned: why) }
}
