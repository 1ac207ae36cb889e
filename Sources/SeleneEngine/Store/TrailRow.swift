// The steps of a task's waiting in its row (W8).

import SeleneCore

extension WaitTrail {
  /// How many bytes it takes at most: seven numbers a step, four a part.
  static let mostBytes = 32 + (most + 1) * 70 + 16 * 40

  /// Numbers of seven bits a byte: since, the run before, the parts of what came before the steps, and the steps, each
  /// instant as its distance from the one before.
  var packed: [UInt8] {
    var bytes: [UInt8] = []
    var last: Instant = 0
    func add(_ at: Instant) {
      let apart = at &- last
      bytes.append(packed: UInt64(bitPattern: apart << 1 ^ apart >> 63))
      last = at
    }
    let wait = wait
    add(wait.since)
    add(wait.ranAt)
    last = wait.since
    bytes.append(packed: UInt64(wait.folded.count))
    for part in wait.folded {
      bytes.append(packed: UInt64(part.reason.rawValue))
      bytes.append(packed: UInt64(bitPattern: part.detail))
      bytes.append(packed: UInt64(part.duration))
      bytes.append(packed: part.times)
    }
    for step in wait.steps {
      bytes.append(packed: UInt64(step.state.rawValue) | UInt64(step.marks.rawValue) << 3)
      add(step.at)
      add(step.due)
      last = step.at
      bytes.append(packed: UInt64(bitPattern: step.estimate))
      bytes.append(packed: step.needs)
      bytes.append(packed: step.stamp)
    }
    return bytes
  }

  /// Reads what was packed; nil if it cannot be.
  convenience init?(_ bytes: UnsafeRawBufferPointer) {
    var position = 0
    var last: Instant = 0
    func next() -> UInt64? { bytes.unpack(&position) }
    func instant() -> Instant? {
      guard let apart = next() else { return nil }
      last = last &+ (Int64(bitPattern: apart >> 1) ^ -Int64(bitPattern: apart & 1))
      return last
    }
    guard let since = instant(), let ranAt = instant(), let count = next(), count <= 16 else { return nil }
    last = since
    var wait = Wait(steps: [], since: since, ranAt: ranAt)
    for _ in 0..<count {
      guard let reason = next().flatMap({ Int32(exactly: $0) }).flatMap(Reason.init), let detail = next(),
        let duration = next().flatMap({ Int64(exactly: $0) }), let times = next()
      else { return nil }
      wait.folded.append(
        WaitPart(reason: reason, detail: Int64(bitPattern: detail), duration: duration, times: times))
    }
    while position < bytes.count {
      guard let head = next(), let state = UInt8(exactly: head & 7).flatMap(TaskState.init), let at = instant(),
        let due = instant(), let estimate = next(), let needs = next(), let stamp = next(), wait.steps.count < Self.most
      else { return nil }
      last = at
      wait.steps.append(
        WaitStep(
          at: at, stamp: stamp, due: due, estimate: Int64(bitPattern: estimate), needs: needs, state: state,
          marks: WaitStep.Marks(rawValue: UInt8(truncatingIfNeeded: head >> 3))))
    }
    guard !wait.steps.isEmpty else { return nil }
    self.init(wait)
  }
}
