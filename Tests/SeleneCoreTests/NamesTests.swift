// The names of numbers are those of the header, and the texts of errors say what was found.

import SeleneCore
import Testing

@Suite("Names") struct NamesTests {
  /// The names of the raw values of a type, in their order.
  private func names<V: RawRepresentable>(_ numbers: ClosedRange<Int>, _ name: (V) -> Literal) -> [String]
  where V.RawValue: FixedWidthInteger {
    numbers.compactMap { V(rawValue: V.RawValue($0)) }.map { "\(name($0))" }
  }

  @Test("T2 C6 every number has its name")
  func all() {
    #expect(names(0...9) { (kind: Kind) in kind.name } == ["refresh", "processing"])
    #expect(names(0...9) { (schedule: Schedule) in schedule.name } == ["once", "periodic", "standing"])
    #expect(
      names(0...9) { (policy: ExistingPolicy) in policy.name }
        == ["keep", "replace", "update", "append", "append_or_replace", "skip"])
    #expect(
      names(0...9) { (recurrence: Recurrence) in recurrence.name } == ["after_completion", "anchored", "calendar"])
    #expect(names(0...9) { (backoff: BackoffPolicy) in backoff.name } == ["none", "linear", "exponential"])
    #expect(
      names(0...9) { (state: TaskState) in state.name }
        == ["enqueued", "held", "blocked", "running", "succeeded", "failed", "cancelled"])
    #expect(
      names(0...9) { (outcome: Outcome) in outcome.name }
        == ["new_data", "no_data", "failed", "abandoned", "expired", "stopped"])
    #expect(
      names(0...19) { (reason: StopReason) in reason.name } == [
        "none", "expiring", "preempted", "constraint_lost", "replaced", "cancelled", "shutdown", "interrupted",
        "timed_out", "stalled", "too_late", "lease_lost",
      ])
    #expect(
      names(0...9) { (disposition: Disposition) in disposition.name }
        == ["added", "replaced", "updated", "kept", "appended", "held"])
    #expect(
      names(1...15) { (reason: Reason) in reason.name } == [
        "not_due", "constraints", "no_handler", "held", "blocked", "running", "kind_off", "did_not_fit",
        "still_running", "terminal", "not_permitted", "had_its_run", "too_soon", "next_cycle", "interrupted",
      ])
    #expect(
      names(1...14) { (type: EventType) in type.name } == [
        "registered", "started", "stopped", "completed", "retry", "held", "promoted", "cancelled", "cycle_begun",
        "cycle_ended", "unblocked", "released", "interrupted", "clock_moved",
      ])
  }

  @Test("C17 a single condition has a name, a set of them has none")
  func constraints() {
    #expect(Constraints.network.name.map { "\($0)" } == "network")
    #expect(Constraints.externalPower.name.map { "\($0)" } == "external_power")
    let names = (0..<8).map { bit in Constraints(rawValue: 1 << bit).name.map { "\($0)" } ?? "none" }
    #expect(
      names == [
        "network", "external_power", "unmetered", "battery_not_low", "idle", "storage_not_low", "display_off",
        "not_roaming",
      ])
    #expect(Constraints.all.name == nil)
    #expect(Constraints().name == nil)
    #expect(Constraints(rawValue: 256).name == nil)
  }

  // MARK: Texts of errors

  private func text(_ detail: Detail) -> String { String(decoding: detail.bytes, as: UTF8.self) }

  @Test("P6 numbers in an error's text are written in full, to both ends")
  func numbers() {
    for number in TimeTests.edges { #expect(text("\(number)") == String(number)) }
    for number: UInt64 in [0, 9, 10, 99, 100, .max] { #expect(text("\(number)") == String(number)) }
    #expect(text("a \(Int32.min) b \(UInt32.max) c \(-7)") == "a -2147483648 b 4294967295 c -7")
  }

  @Test("P6 a host's name in an error's text is quoted, cut after 64 bytes and without what cannot be printed")
  func hostNames() {
    func quoted(_ name: String) -> String { name.withBytes { text("\(name: $0)") } }
    #expect(quoted("plain") == "\"plain\"")
    #expect(quoted("tab\tbell\u{7}del\u{7F}") == "\"tab?bell?del?\"")
    #expect(quoted(String(repeating: "x", count: 64)) == "\"\(String(repeating: "x", count: 64))\"")
    #expect(quoted(String(repeating: "x", count: 65)) == "\"\(String(repeating: "x", count: 64))…\"")
    #expect(quoted("größe") == "\"größe\"")
  }

  @Test("P6 a host's name in an error's text is cut between characters", arguments: ["ö", "ह", "😀"])
  func cutNames(character: String) {
    for lead in 0..<4 {
      let name = String(repeating: "x", count: lead) + String(repeating: character, count: 70)
      let detail: Detail = name.withBytes { "\(name: $0)" }
      #expect(String(validating: detail.bytes, as: UTF8.self) != nil, "\(lead) bytes before \(character)")
    }
  }

  @Test("T2 a refusal names the field, what was found and what is allowed")
  func refusalSaysWhat() throws {
    do {
      _ = try Recipe("a") { $0.priority = 6 }.define()
      Issue.record("priority 6 was accepted")
    } catch let error as SeleneError {
      #expect(text(error.detail) == "priority: 6 is out of range, allowed are 1 … 5")
    }
  }
}
