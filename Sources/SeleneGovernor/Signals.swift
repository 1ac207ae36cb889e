// The signals of one governor (G1): what probe and host said last, each with its age.

import SeleneCore

/// The present readings; a stronger source hides the weaker ones until its value expires or is cleared.
package struct Signals: Sendable {
  private static let stride = 4
  /// Value, set at, since, until of each signal, one block for each source; nothing was said where set at is `Time.never`.
  private var cells: [Int64]

  package init() {
    cells = [Int64](repeating: Time.never, count: Int(SignalSource.host.rawValue) * Signal.count * Self.stride)
  }

  private static func place(_ signal: Signal, _ source: SignalSource) -> Int {
    ((Int(source.rawValue) - 1) * Signal.count + Int(signal.rawValue) - 1) * stride
  }

  /// Takes what a source says of a signal.
  ///
  /// - Parameter until: from then on it is not known any more.
  /// - Returns: whether what counts is now another value.
  /// - Throws: `invalidArgument` for a value outside the signal's range.
  @discardableResult
  package mutating func set(
    _ signal: Signal, _ value: Int64, by source: SignalSource, at now: Instant, until: Instant = Time.never
  ) throws(SeleneError) -> Bool {
    guard value >= signal.least && value <= signal.greatest else {
      throw .range(signal.name, value, signal.least, signal.greatest)
    }
    guard source != .unknown else { return false }
    let old = reading(signal, at: now).value
    let place = Self.place(signal, source)
    let goesOn = isValid(place, at: now) && cells[place] == value
    cells[place] = value
    cells[place + 1] = now
    if !goesOn { cells[place + 2] = now }
    cells[place + 3] = until
    return reading(signal, at: now).value != old
  }

  /// Forgets what a source said of a signal.
  ///
  /// - Returns: whether what counts is now another value.
  @discardableResult
  package mutating func clear(_ signal: Signal, by source: SignalSource, at now: Instant) -> Bool {
    guard source != .unknown else { return false }
    let old = reading(signal, at: now).value
    let place = Self.place(signal, source)
    cells[place + 1] = Time.never
    return reading(signal, at: now).value != old
  }

  /// What a source said that still holds, or nil.
  package func said(_ signal: Signal, by source: SignalSource, at now: Instant) -> Reading? {
    guard source != .unknown else { return nil }
    let place = Self.place(signal, source)
    guard isValid(place, at: now) else { return nil }
    return Reading(
      value: cells[place], source: source, setAt: cells[place + 1], since: cells[place + 2], until: cells[place + 3])
  }

  /// What counts at an instant.
  package func reading(_ signal: Signal, at now: Instant) -> Reading {
    var source = SignalSource.host
    while source != .unknown {
      if let reading = said(signal, by: source, at: now) { return reading }
      source = SignalSource(rawValue: source.rawValue - 1) ?? .unknown
    }
    return Reading(
      value: signal.unknownMeans, source: .unknown, setAt: Time.never, since: Time.never, until: Time.never)
  }

  /// The value that counts at an instant.
  package func value(_ signal: Signal, at now: Instant) -> Int64 { reading(signal, at: now).value }

  /// The next instant at which something that is known expires.
  package func nextExpiry(after now: Instant) -> Instant {
    var next = Time.never
    Signal.forEach { signal in
      let reading = reading(signal, at: now)
      if reading.isKnown { next = min(next, reading.until) }
    }
    return next
  }

  private func isValid(_ place: Int, at now: Instant) -> Bool {
    cells[place + 1] != Time.never && now < cells[place + 3]
  }
}
