// How far a run has come, in its own words (W6).

/// What a run told of its progress.
package final class Progress: Sendable {
  package let at: Instant
  /// May exceed the total.
  package let done: Int64
  /// 0: unknown.
  package let total: Int64
  package let text: Bytes?

  package init(at: Instant, done: Int64, total: Int64, _ text: Bytes?) {
    (self.at, self.done, self.total, self.text) = (at, done, total, text)
  }
}
