// What a host asks for, before anything is checked.

/// A task as a host describes it: numbers and borrowed bytes, unchecked.
package struct TaskDraft {
  package var id = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Empty: the id.
  package var handler = UnsafeRawBufferPointer(start: nil, count: 0)
  package var kind = Int32(Kind.refresh.rawValue)
  package var schedule = Int32(Schedule.standing.rawValue)
  package var priority: Int32 = 3
  /// −1: by schedule.
  package var existing: Int32 = -1
  package var recurrence = Int32(Recurrence.afterCompletion.rawValue)
  /// −1: by schedule.
  package var backoff: Int32 = -1
  package var responseWindow: Int32 = 3
  package var maxAttempts: UInt32 = 0
  package var constraints: UInt32 = 0
  package var tags: [UnsafeRawBufferPointer] = []
  package var expectedResponse: Span = 5 * Time.second
  package var initialDelay: Span = 0
  package var period: Span = 0
  package var flex: Span = 0
  package var backoffDelay: Span = 30 * Time.second
  package var input = UnsafeRawBufferPointer(start: nil, count: 0)

  package init() {}
}
