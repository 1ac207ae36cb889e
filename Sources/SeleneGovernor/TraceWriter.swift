// Writes traces (G9).

import SeleneCore

/// Puts together the lines of a trace; the recording takes them from time to time.
package struct TraceWriter {
  static let heading: StaticString = "selene-trace 1 "

  private var text = Detail.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
  private var last: Instant

  /// Begins a trace.
  package init(at now: Instant) {
    last = now
    text.appendLiteral(Self.heading)
    text.appendInterpolation(now)
    text.appendLiteral("\n")
  }

  /// The bytes since they were last taken.
  package mutating func take() -> [UInt8] {
    let bytes = Detail(stringInterpolation: text).bytes
    text = Detail.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
    return bytes
  }

  private mutating func begin(_ letter: TraceLetter) {
    withUnsafeBytes(of: letter.rawValue) { text.appendInterpolation(text: $0) }
  }

  private mutating func put(_ number: Int64) {
    text.appendLiteral(" ")
    text.appendInterpolation(number)
  }

  private mutating func put(_ letter: TraceLetter, _ numbers: [Int64], _ id: UnsafeRawBufferPointer? = nil) {
    begin(letter)
    for number in numbers { put(number) }
    if let id {
      text.appendLiteral(" ")
      text.appendInterpolation(text: id)
    }
    text.appendLiteral("\n")
  }

  /// A line that happens at a time, with as many numbers as its letter asks for.
  private mutating func put(
    _ letter: TraceLetter, at now: Instant, _ first: Int64, _ second: Int64 = 0, _ third: Int64 = 0, _ fourth: Int64 = 0
  ) {
    begin(letter)
    put(step(now))
    put(first)
    let size = letter.size ?? 0
    if size > 2 { put(second) }
    if size > 3 { put(third) }
    if size > 4 { put(fourth) }
    if letter != .run { text.appendLiteral("\n") }
  }

  private mutating func step(_ now: Instant) -> Int64 {
    let delta = max(0, now.subtracting(last))
    last = max(last, now)
    return delta
  }

  /// Everything that a governor knows: a replay begins with it.
  package mutating func state(_ governor: Governor, at now: Instant) {
    profile(governor.profile, at: now)
    ledger(governor.ledger, at: now)
    put(.habits, [step(now)] + governor.prediction.numbers)
    Signal.forEach { signal in
      for source in SignalSource.allCases {
        guard let reading = governor.signals.said(signal, by: source, at: now) else { continue }
        self.signal(signal, reading.value, by: source, until: reading.until, at: now)
      }
    }
  }

  package mutating func ledger(_ ledger: Ledger, at now: Instant) { put(.ledger, [step(now)] + ledger.numbers) }

  package mutating func profile(_ profile: Profile, at now: Instant) { put(.profile, [step(now)] + profile.numbers) }

  package mutating func signal(
    _ signal: Signal, _ value: Int64, by source: SignalSource, until: Instant, at now: Instant
  ) {
    put(.signal, at: now, Int64(signal.rawValue), Int64(source.rawValue), value, Self.time(until, from: now))
  }

  package mutating func clear(_ signal: Signal, by source: SignalSource, at now: Instant) {
    put(.clear, at: now, Int64(signal.rawValue), Int64(source.rawValue))
  }

  package mutating func begin(_ kind: Kind, budget: Span, at now: Instant) {
    put(.begin, at: now, Int64(kind.rawValue), budget)
  }

  package mutating func end(_ kind: Kind, extends: Bool = false, at now: Instant) {
    put(extends ? .endOpen : .end, at: now, Int64(kind.rawValue))
  }

  package mutating func report(_ kind: Kind, cpuTime: Span, bytes: Int64, at now: Instant) {
    put(.report, at: now, Int64(kind.rawValue), cpuTime, bytes)
  }

  package mutating func use(from begin: Instant, to end: Instant, at now: Instant) {
    put(.use, at: now, now.subtracting(begin), now.subtracting(end))
  }

  package mutating func decision(_ decision: Decision, neverRan: Bool = false) {
    let step = step(decision.at)
    put(.decision, Self.numbers(decision, neverRan: neverRan, step: step))
  }

  package mutating func run(
    _ kind: Kind, started: Instant, _ outcome: Outcome, _ reason: StopReason, id: UnsafeRawBufferPointer,
    at now: Instant
  ) {
    put(
      .run, at: now, Int64(kind.rawValue), now.subtracting(started), Int64(outcome.rawValue), Int64(reason.rawValue))
    text.appendLiteral(" ")
    escape(id)
    text.appendLiteral("\n")
  }

  /// A line as it was read.
  mutating func copy(_ line: TraceLine) {
    last = last.adding(line.number(0))
    line.text.withUnsafeBytes { put(line.letter, line.numbers, line.letter == .run ? $0 : nil) }
  }

  private static func time(_ instant: Instant, from now: Instant) -> Int64 {
    instant == Time.never ? -1 : max(0, instant.subtracting(now))
  }

  static func numbers(_ decision: Decision, neverRan: Bool, step: Int64) -> [Int64] {
    let longest = decision.longestWindow == Time.never ? -1 : decision.longestWindow
    var numbers = [
      step, Int64(decision.kind.rawValue), neverRan ? 1 : 0, decision.isGranted ? 1 : 0, decision.score, longest,
      time(decision.askAgainAt, from: decision.at), Int64(decision.findings.count),
    ]
    for finding in decision.findings {
      numbers += [
        Int64(finding.factor.rawValue), Int64(finding.verdict.rawValue), Int64(finding.origin.rawValue),
        finding.observed, finding.required, finding.score, time(finding.clearsAt, from: decision.at),
      ]
    }
    return numbers
  }

  private mutating func escape(_ id: UnsafeRawBufferPointer) {
    let digits = UnsafeRawBufferPointer(start: Self.digits.utf8Start, count: 16)
    for place in id.indices {
      let byte = id[place]
      if byte > 0x20 && byte != 0x7F && byte != UInt8(ascii: "%") {
        text.appendInterpolation(text: UnsafeRawBufferPointer(rebasing: id[place...place]))
      } else {
        text.appendLiteral("%")
        for digit in [Int(byte >> 4), Int(byte & 15)] {
          text.appendInterpolation(text: UnsafeRawBufferPointer(rebasing: digits[digit...digit]))
        }
      }
    }
  }

  private static let digits: StaticString = "0123456789ABCDEF"
}
