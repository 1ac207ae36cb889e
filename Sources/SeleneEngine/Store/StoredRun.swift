// A run that another process has, as the store keeps it: so the next owner knows whom to wait for (L10).

import CPlatform
import SeleneCore

/// A process that may run something after the owner has ended.
struct ProcessMark: Equatable {
  let process: Int64
  let started: Int64
  let boot: Int64
  let numbering: Int64

  /// Nil where too little is known of it to find it again.
  init?(_ process: Int32) {
    var facts = platform_process_facts()
    guard platform_process_mark(process, &facts) == 1 else { return nil }
    self.process = Int64(process)
    (started, boot, numbering) = (facts.started, facts.boot, facts.numbering)
  }

  init(process: Int64, started: Int64, boot: Int64, numbering: Int64) {
    (self.process, self.started, self.boot, self.numbering) = (process, started, boot, numbering)
  }

  /// Whether it ran on the machine as it is now, which has not gone down since.
  var isOfThisBoot: Bool {
    var facts = platform_process_facts()
    _ = platform_process_mark(Int32(truncatingIfNeeded: process), &facts)
    return facts.boot == boot || facts.boot == 0 || boot == 0
  }

  /// Whether it may still be there: only a process that is known to have ended is not.
  var mayLive: Bool {
    var facts = platform_process_facts()
    let found = platform_process_mark(Int32(truncatingIfNeeded: process), &facts)
    guard facts.boot == boot || facts.boot == 0 else { return false }
    // In another container its number says nothing.
    guard facts.numbering == numbering else { return true }
    return found < 0 || (found == 1 && facts.started == started)
  }
}

/// A run of a member.
struct StoredRun {
  /// As the member was told at its dispatch.
  let token: UInt64
  /// The record that it runs.
  let sequence: UInt64
  let process: ProcessMark
  var startedAt: Instant
  /// The times of its cycle, as they stood at its dispatch.
  var beganAt: Instant
  var expiresAt: Instant
  var deadline: Instant

  var words: [Int64] {
    [
      Int64(bitPattern: sequence), process.process, process.started, process.boot, process.numbering, startedAt,
      beganAt, expiresAt, deadline,
    ]
  }

  init(
    token: UInt64, sequence: UInt64, process: ProcessMark, startedAt: Instant, beganAt: Instant, expiresAt: Instant,
    deadline: Instant
  ) {
    (self.token, self.sequence, self.process) = (token, sequence, process)
    (self.startedAt, self.beganAt, self.expiresAt, self.deadline) = (startedAt, beganAt, expiresAt, deadline)
  }

  /// Not a run, but the process that has the store open: so the next one knows whether the machine went down with it (V7).
  init(owner process: ProcessMark) {
    self.init(
      token: Self.ownerToken, sequence: 0, process: process, startedAt: 0, beganAt: 0, expiresAt: 0, deadline: 0)
  }

  /// No run has it: their numbers begin at 1.
  static let ownerToken = Token(life: 1, number: 0).rawValue

  /// Nil if no run has these.
  init?(token: Int64, _ words: [Int64]) {
    guard words.count == 9, token > 0, words[6] <= words[7], words[7] <= words[8] else { return nil }
    self.init(
      token: UInt64(bitPattern: token), sequence: UInt64(bitPattern: words[0]),
      process: ProcessMark(process: words[1], started: words[2], boot: words[3], numbering: words[4]),
      startedAt: words[5], beganAt: words[6], expiresAt: words[7], deadline: words[8])
  }

  /// The clock was set back by more than is believable.
  mutating func shift(by span: Span) {
    startedAt = startedAt.adding(span)
    beganAt = beganAt.adding(span)
    expiresAt = expiresAt.adding(span)
    deadline = deadline.adding(span)
  }

  /// The checksum of its row.
  static func checksum(_ words: [Int64], of token: Int64) -> Int64 { KeptWaits.checksum(words, at: token) }
}

/// What a save does with the row of a run.
struct StoredRunChange {
  let token: UInt64
  /// Nil: the row goes.
  let run: StoredRun?
}
