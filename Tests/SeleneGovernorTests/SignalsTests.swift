// What signals are known, by whom, since when and until when (G1).

import SeleneCore
import SeleneGovernor
import Testing

@Suite("Signals") struct SignalsTests {
  private func set(
    _ signals: inout Signals, _ signal: Signal, _ value: Int64, by source: SignalSource, at now: Instant
  ) throws -> Bool { try signals.set(signal, value, by: source, at: now) }

  private func clear(_ signals: inout Signals, _ signal: Signal, by source: SignalSource, at now: Instant) -> Bool {
    signals.clear(signal, by: source, at: now)
  }

  @Test("G1 a signal that nobody knows has its stated meaning", arguments: Signal.allCases)
  func unknown(signal: Signal) {
    let reading = Signals().reading(signal, at: 5)
    #expect(!reading.isKnown)
    #expect(reading.value == signal.unknownMeans)
    #expect(reading.until == Time.never)
    #expect(signal.unknownMeans >= signal.least && signal.unknownMeans <= signal.greatest)
  }

  @Test("G1 the host goes before the probe; what is taken back uncovers the other")
  func order() throws {
    var signals = Signals()
    #expect((try set(&signals, .cpuBusy, 100, by: .probe, at: 1)))
    #expect((try set(&signals, .cpuBusy, 200, by: .host, at: 3)))
    #expect(!(try set(&signals, .cpuBusy, 300, by: .probe, at: 4)))
    #expect(!(try set(&signals, .cpuBusy, 100, by: .probe, at: 5)))
    let reading = signals.reading(.cpuBusy, at: 5)
    #expect((reading.value, reading.setAt, reading.since, reading.until) == (200, 3, 3, Time.never))
    #expect(reading.source == .host)
    #expect(clear(&signals, .cpuBusy, by: .host, at: 6))
    #expect(signals.value(.cpuBusy, at: 6) == 100)
    #expect(clear(&signals, .cpuBusy, by: .probe, at: 7))
    #expect(!clear(&signals, .cpuBusy, by: .probe, at: 8))
    #expect(!signals.reading(.cpuBusy, at: 8).isKnown)
  }

  @Test("G1 a reading ages from when it was said last, and dates from when it took its value")
  func age() throws {
    var signals = Signals()
    try signals.set(.userActive, 1, by: .host, at: 10)
    #expect(!(try set(&signals, .userActive, 1, by: .host, at: 20)))
    var reading = signals.reading(.userActive, at: 25)
    #expect((reading.setAt, reading.since) == (20, 10))
    #expect((try set(&signals, .userActive, 0, by: .host, at: 30)))
    reading = signals.reading(.userActive, at: 30)
    #expect((reading.setAt, reading.since) == (30, 30))
  }

  @Test("G1 from its end on a reading is not known, and the value dates anew when it is said again")
  func expiry() throws {
    var signals = Signals()
    try signals.set(.metered, 0, by: .probe, at: 0)
    try signals.set(.metered, 1, by: .host, at: 0, until: 100)
    try signals.set(.thermal, 2, by: .host, at: 0, until: 50)
    #expect(signals.nextExpiry(after: 0) == 50)
    #expect(signals.value(.metered, at: 99) == 1)
    #expect(signals.reading(.metered, at: 100).source == .probe)
    #expect(signals.value(.metered, at: 100) == 0)
    #expect(signals.nextExpiry(after: 50) == 100)
    #expect(signals.nextExpiry(after: 100) == Time.never)
    try signals.set(.metered, 1, by: .host, at: 200)
    #expect(signals.reading(.metered, at: 200).since == 200)
  }

  @Test("G1 values outside the range are refused and change nothing", arguments: Signal.allCases)
  func range(signal: Signal) throws {
    var signals = Signals()
    for value in [signal.least - 1, signal.greatest + 1, .min, .max] {
      #expect(throws: SeleneError.self) { try signals.set(signal, value, by: .host, at: 0) }
    }
    #expect(!signals.reading(signal, at: 0).isKnown)
    for value in [signal.least, signal.greatest] {
      try signals.set(signal, value, by: .host, at: 0)
      #expect(signals.value(signal, at: 0) == value)
    }
  }

  @Test("G1 a refused value says which signal, what was found and what is allowed")
  func text() {
    var signals = Signals()
    do throws(SeleneError) {
      try signals.set(.batteryLevel, 1001, by: .host, at: 0)
    } catch {
      #expect(
        String(decoding: error.detail.bytes, as: UTF8.self)
          == "battery_level: 1001 is out of range, allowed are 0 … 1000")
    }
  }
}
