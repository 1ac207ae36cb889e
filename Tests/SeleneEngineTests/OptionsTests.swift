// What a scheduler and a window accept (C1, C5, T6, C10, and the header's ranges).

import SeleneCore
import Testing

@testable import SeleneEngine

@Suite("Options and windows") struct OptionsTests {
  struct Field: Sendable, CustomTestStringConvertible {
    let name: String
    let allowed: [Int64]
    let refused: [Int64]
    let set: @Sendable (inout OptionsDraft, Int64) -> Void
    var testDescription: String { name }

    static let decade: Int64 = 3_653 * 86_400 * 1_000_000_000
    static let all = [
      Field(name: "maximum_backoff", allowed: [10 * Time.second, decade], refused: [-1, 1, decade + 1, .max, .min]) {
        $0.maximumBackoff = $1
      },
      Field(name: "minimum_backoff", allowed: [0, 1, 5 * Time.hour], refused: [-1, 5 * Time.hour + 1, .max, .min]) {
        $0.minimumBackoff = $1
      },
      Field(name: "minimum_interval_refresh", allowed: [0, 1, decade], refused: [-1, decade + 1, .max]) {
        $0.minimumIntervalRefresh = $1
      },
      Field(name: "minimum_interval_processing", allowed: [0, 1, decade], refused: [-1, decade + 1, .max]) {
        $0.minimumIntervalProcessing = $1
      },
      Field(name: "release_after", allowed: [0, 1, decade], refused: [-1, decade + 1, .max]) { $0.releaseAfter = $1 },
      Field(name: "backoff_jitter", allowed: [0, 1, 1_000], refused: [1_001, 0xFFFF_FFFF]) {
        $0.backoffJitter = UInt32($1)
      },
      Field(name: "max_overrun_threads", allowed: [0, 16, 1_024], refused: [-1, 1_025]) {
        $0.maxOverrunThreads = Int32($1)
      },
      Field(name: "max_overrun_per_handler", allowed: [1, 2, 1_024], refused: [0, 1_025, 0xFFFF_FFFF]) {
        $0.maxOverrunPerHandler = UInt32($1)
      },
      Field(name: "stop_grace", allowed: [0, 1, Time.day], refused: [-1, Time.day + 1, .max]) { $0.stopGrace = $1 },
      Field(name: "max_input_size", allowed: [0, 10_240, 1 << 29], refused: [-1, 1 << 29 + 1, .max]) {
        $0.maxInputSize = $1
      },
      Field(name: "max_output_size", allowed: [0, 1 << 20, 1 << 29], refused: [-1, 1 << 29 + 1, .max]) {
        $0.maxOutputSize = $1
      },
      Field(name: "max_pending_refresh", allowed: [0, 1, 0xFFFF_FFFF], refused: []) {
        $0.maxPendingRefresh = UInt32($1)
      },
      Field(name: "max_pending_processing", allowed: [0, 10, 0xFFFF_FFFF], refused: []) {
        $0.maxPendingProcessing = UInt32($1)
      },
    ]
  }

  @Test("T6 C4 C10 C13 each option accepts its range and refuses what is outside", arguments: Field.all)
  func options(field: Field) {
    for value in field.allowed + field.refused {
      var draft = OptionsDraft()
      field.set(&draft, value)
      let code = refusal { try Options(draft, .own) }
      #expect(code == (field.allowed.contains(value) ? nil : .invalidArgument), "\(field.name) \(value)")
    }
  }

  @Test("the options' defaults are those of the header")
  func defaults() {
    let draft = OptionsDraft()
    #expect(draft.maxPendingRefresh == .max)
    #expect(draft.maxPendingProcessing == .max)
    #expect(draft.minimumBackoff == 10 * Time.second)
    #expect(draft.maximumBackoff == 5 * Time.hour)
    #expect(draft.releaseAfter == 10 * Time.minute)
    #expect(draft.maxOverrunThreads == 64)
    #expect(draft.maxInputSize == 10_240)
    #expect(draft.backoffJitter == 0)
    #expect(!draft.holds && !draft.observedRange && draft.permitted == nil)
  }

  // MARK: Windows

  private func window(_ change: (inout WindowDraft) -> Void) -> SeleneError.Code? {
    refusal {
      var draft = WindowDraft()
      change(&draft)
      _ = try Window(draft, .own, enabled: .all)
    }
  }

  @Test("C1 a window's defaults: all kinds, rolling, one lane, 30 s, reserve a twentieth, not strict")
  func windowDefaults() throws {
    let window = try Window(WindowDraft(), .own, enabled: .all)
    #expect(window.kinds == .all && !window.namesKinds && window.isRolling)
    #expect(window.lanes == 1)
    #expect(window.budget == 30 * Time.second)
    #expect(window.reserve == 1_500_000_000)
    #expect(!window.strictFit && !window.isInline)
    #expect(window.task == nil)
  }

  @Test("C1 a budget is 1 ns to 24 h", arguments: [1, Time.second, Time.day])
  func budget(budget: Span) { #expect(window { $0.budget = budget } == nil) }

  @Test("C1 other budgets are refused", arguments: [0, -1, Time.day + 1, .max, .min])
  func badBudget(budget: Span) {
    #expect(
      window {
        $0.budget = budget
        $0.reserve = 0
      } == .invalidArgument)
  }

  @Test(
    "C1 a reserve is 0 to the budget, or -1",
    arguments: [(-1, true), (0, true), (30, true), (31, false), (-2, false), (.max, false)] as [(Span, Bool)])
  func reserve(reserve: Span, isAllowed: Bool) {
    let code = window {
      $0.budget = 30
      $0.reserve = reserve
    }
    #expect((code == nil) == isAllowed)
  }

  @Test("C5 kinds, lanes and their combinations")
  func combinations() {
    for kinds: UInt32 in [0, 1, 2, 3] { #expect(window { $0.kinds = kinds } == nil) }
    for kinds: UInt32 in [4, 5, .max] { #expect(window { $0.kinds = kinds } == .invalidArgument) }
    for lanes: UInt32 in [1, 2, 64, 1_024] { #expect(window { $0.lanes = lanes } == nil) }
    for lanes: UInt32 in [0, 1_025, .max] { #expect(window { $0.lanes = lanes } == .invalidArgument) }
    "a".withBytes { id in
      #expect(window { ($0.task, $0.lanes) = (id, 2) } == .invalidArgument)
      #expect(window { ($0.task, $0.kinds) = (id, 0) } == nil)
    }
    "a\u{0}".withBytes { id in #expect(window { $0.task = id } == .invalidArgument) }
  }
}
