import SeleneCore
import Testing

@Suite struct FaultTests {
  /// What a call that must be refused throws.
  private func refusal(_ body: () throws -> Void) throws -> SeleneError {
    do {
      try body()
    } catch let error as SeleneError {
      return error
    }
    throw Failure("it was accepted")
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  private func text(_ detail: Detail) -> String { String(decoding: detail.bytes, as: UTF8.self) }

  @Test("P7 a number out of its range is data, and the sentence is made of it")
  func number() throws {
    let error = try refusal { _ = try Recipe("a") { $0.responseWindow = 31 }.define() }
    let fault = error.fault
    #expect(error.code == .invalidArgument)
    #expect(text(fault.field) == "response_window")
    #expect(fault.unit == .number)
    #expect((fault.value, fault.least, fault.greatest) == (31, 0, 30))
    #expect(text(fault.found) == "31")
    #expect(text(fault.allowed) == "0 … 30")
    #expect(text(error.detail) == "response_window: 31 is out of range, allowed are 0 … 30")
  }

  @Test("P7 lengths of time have their unit, and ranges are told in the largest that fits")
  func duration() throws {
    let error = try refusal { _ = try Recipe("a") { $0.expectedResponse = -2 }.define() }
    #expect(error.fault.unit == .duration)
    #expect((error.fault.value, error.fault.least, error.fault.greatest) == (-2, 0, Time.day))
    #expect(text(error.detail) == "expected_response: -2 ns is out of range, allowed are 0 … 24 h")
    let shown = [
      0: "0", 1: "1 ns", 1_000_000: "1 ms", 9_500_000_000: "9500 ms", Time.second: "1 s", Time.minute: "60 s",
      Time.day: "24 h", Time.tenYears: "10 years",
    ]
    for (span, words) in shown { #expect(text("\(span: span)") == words) }
  }

  @Test("P7 a limit that another field sets is a number too, and named")
  func namedLimit() throws {
    let error = try refusal {
      _ = try Recipe("a") { ($0.schedule, $0.period, $0.flex) = (2, 5 * Time.second, 6 * Time.second) }.define()
    }
    #expect(text(error.fault.allowed) == "0 … period")
    #expect((error.fault.value, error.fault.greatest) == (6 * Time.second, 5 * Time.second))
    #expect(text(error.detail) == "flex: 6000000000 ns is out of range, allowed are 0 … period")
  }

  @Test("P7 the entry of an array is named")
  func entry() throws {
    let error = try refusal { _ = try Recipe("a") { $0.tags = ["x", ""] }.define() }
    #expect(text(error.fault.field) == "tags[1]")
    #expect(error.fault.unit == .bytes)
    #expect(text(error.detail) == "tags[1]: 0 bytes is out of range, allowed are 1 … 255 bytes")
  }

  @Test("P7 a name that is unknown is what was found")
  func name() throws {
    let desk = Desk()
    let error = try refusal { _ = try desk.cancel("upl\"oad") }
    #expect(error.code == .notFound)
    #expect(text(error.fault.found) == "upl\"oad")
    #expect(text(error.fault.field) == "id")
    #expect(error.fault.unit == .none)
    #expect(text(error.fault.allowed) == "")
    #expect(text(error.detail) == "id: \"upl\"oad\" is not registered")
  }

  @Test("P7 a limit of pending requests tells the kind and the limit")
  func limit() throws {
    let desk = Desk { $0.places = PerKind(repeating: 1) }
    _ = try desk.register(Recipe("a") { $0.schedule = 1 })
    let error = try refusal { _ = try desk.register(Recipe("b") { $0.schedule = 1 }) }
    #expect(error.code == .tooManyPending)
    #expect("\(error.fault.subject)" == "refresh")
    #expect((error.fault.value, error.fault.greatest) == (2, 1))
    #expect(
      text(error.detail)
        == "kind: 2 pending requests exceed max_pending_refresh, which is 1; with SELENE_OPTIONS_HOLD more can wait")
  }
}
