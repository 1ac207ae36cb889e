// Replays traces (G9): the same governor, told the same, must decide the same.

import SeleneCore

/// A governor that is told what a trace tells, and asked again what was asked then.
package struct TraceReplay {
  package private(set) var governor = Governor()
  package private(set) var now: Instant
  package private(set) var decisions = 0
  /// The first line that was decided otherwise; 0: none.
  package private(set) var firstDifference = 0
  /// The trace as this replay would have written it.
  package var writer: TraceWriter

  package init(begin: Instant) {
    now = begin
    writer = TraceWriter(at: begin)
  }

  /// Replays a whole trace.
  ///
  /// - Throws: `invalidArgument`, naming the line.
  package static func replay(_ bytes: UnsafeRawBufferPointer) throws(SeleneError) -> TraceReplay {
    var reader = try TraceReader(bytes)
    var replay = TraceReplay(begin: reader.begin)
    while let line = try reader.next() { try replay.follow(line) }
    return replay
  }

  /// Follows one line.
  ///
  /// - Throws: `invalidArgument`, naming the line.
  package mutating func follow(_ line: TraceLine) throws(SeleneError) {
    now = now.adding(line.number(0))
    if line.letter == .decision {
      try decide(line)
      return
    }
    try tell(line)
    writer.copy(line)
  }

  private mutating func tell(_ line: TraceLine) throws(SeleneError) {
    switch line.letter {
    case .profile: governor.setProfile(try Profile(numbers: line.state), at: now)
    case .ledger: governor.ledger = try Ledger(numbers: line.state)
    case .habits: governor.prediction = try UsePrediction(numbers: line.state)
    case .signal, .clear:
      guard let signal = UInt8(exactly: line.number(1)).flatMap(Signal.init) else { throw line.fault("no such signal") }
      guard let source = UInt8(exactly: line.number(2)).flatMap(SignalSource.init), source != .unknown else {
        throw line.fault("no such source")
      }
      if line.letter == .clear {
        governor.signals.clear(signal, by: source, at: now)
      } else {
        let until = line.number(4) < 0 ? Time.never : now.adding(line.number(4))
        try governor.signals.set(signal, line.number(3), by: source, at: now, until: until)
      }
    case .begin: governor.begin(try kind(line), budget: line.number(2), at: now)
    case .end: governor.end(try kind(line), at: now)
    case .endOpen: governor.end(try kind(line), extends: true, at: now)
    case .report: governor.report(try kind(line), cpuTime: line.number(2), bytes: line.number(3), at: now)
    case .use: governor.use(from: now.subtracting(line.number(1)), to: now.subtracting(line.number(2)), at: now)
    case .run: _ = try kind(line)
    case .decision: break
    }
  }

  private mutating func decide(_ line: TraceLine) throws(SeleneError) {
    let decision = governor.decide(try kind(line), neverRan: line.number(2) != 0, at: now)
    decisions += 1
    let numbers = TraceWriter.numbers(decision, neverRan: line.number(2) != 0, step: line.number(0))
    if numbers != line.numbers && firstDifference == 0 { firstDifference = line.place }
    writer.copy(TraceLine(letter: .decision, numbers: numbers, text: [], place: line.place))
  }

  @inline(never)
  private func kind(_ line: TraceLine) throws(SeleneError) -> Kind {
    guard let kind = UInt8(exactly: line.number(1)).flatMap(Kind.init) else { throw line.fault("no such kind") }
    return kind
  }
}
