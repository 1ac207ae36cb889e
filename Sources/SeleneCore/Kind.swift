// The two kinds of background work, as Apple's BGTaskScheduler has them.

/// Short or long work.
package enum Kind: UInt8, CaseIterable, Sendable {
  /// Short work, seconds.
  case refresh = 1
  /// Long work, minutes.
  case processing = 2

  /// Its place in a `PerKind`.
  package var index: Int { Int(rawValue) - 1 }
}

/// Some of the kinds.
package struct KindSet: OptionSet, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }
  package init(_ kind: Kind) { rawValue = UInt32(kind.rawValue) }

  package static let all = KindSet(rawValue: 3)

  package func contains(_ kind: Kind) -> Bool { rawValue & UInt32(kind.rawValue) != 0 }
}

extension SeleneError {
  /// A number that is not a kind.
  package static func kind(_ field: Literal, _ found: Int32) -> SeleneError {
    .range(field, found, 1, 2, .number, "1 (refresh) or 2 (processing)")
  }

  /// Bits that are not kinds, or no kind where one is needed.
  package static func kinds(_ field: Literal, _ found: UInt32, atLeastOne: Bool = true) -> SeleneError {
    let words: Literal =
      atLeastOne ? "bits 1 (refresh) and 2 (processing), at least one" : "bits 1 (refresh) and 2 (processing)"
    return .range(field, found, atLeastOne ? 1 : 0, Int64(KindSet.all.rawValue), .bits, words)
  }
}

/// One value for each kind.
package struct PerKind<Value> {
  package var refresh: Value
  package var processing: Value

  package init(refresh: Value, processing: Value) {
    self.refresh = refresh
    self.processing = processing
  }

  package init(repeating value: Value) {
    self.init(refresh: value, processing: value)
  }

  package subscript(kind: Kind) -> Value {
    get { kind == .refresh ? refresh : processing }
    set { if kind == .refresh { refresh = newValue } else { processing = newValue } }
  }
}

extension PerKind: Sendable where Value: Sendable {}
extension PerKind: Equatable where Value: Equatable {}
