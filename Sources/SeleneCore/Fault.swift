// What was wrong with a call, as data; the one place that makes a sentence of it.

/// Field, what was found in it, and what is allowed.
package final class Fault: @unchecked Sendable {  // changed only before it is thrown
  /// What the numbers count; the raw values are the header's numbers.
  package enum Unit: Int32, Sendable {
    /// There are no numbers.
    case none = 0
    case number = 1
    /// Nanoseconds.
    case duration = 2
    /// Nanoseconds since the Unix epoch.
    case instant = 3
    case bytes = 4
    /// Bits that may be set, all of them in `greatest`.
    case bits = 5
  }

  fileprivate(set) var name: Literal = ""
  fileprivate(set) var entry = -1
  /// What the field belongs to, or the range is for: a factor, a kind; may be "".
  package fileprivate(set) var subject: Literal = ""
  package fileprivate(set) var unit = Unit.none
  package fileprivate(set) var value: Int64 = 0
  package fileprivate(set) var least: Int64 = 0
  package fileprivate(set) var greatest: Int64 = 0
  /// A name or a path that was found.
  fileprivate(set) var text: Detail?
  fileprivate(set) var isPath = false
  /// What is allowed, where the two numbers do not say it.
  fileprivate(set) var words: Literal = ""
  /// Whether 0 is allowed besides the range.
  fileprivate(set) var orZero = false
  /// What was probably meant, which ends the sentence (V21).
  fileprivate(set) var hint: Detail?
  /// What is wrong; nothing for a number that is out of its range.
  package fileprivate(set) var problem: Detail?
  /// What another process says of a call that it has refused, in place of all that.
  package fileprivate(set) var told: ToldFault?

  fileprivate init() {}

  /// The parameter or field, with the entry if it is an array; "" where the fault is not in one field.
  package var field: Detail {
    guard entry >= 0 else { return "\(name)" }
    return name.isLine ? "\(name) \(entry)" : "\(name)[\(entry)]"
  }

  /// What was found as text: a number's digits, a name, a path; "" where there is nothing to show.
  package var found: Detail { text ?? (unit == .none ? "" : "\(value)") }

  /// What is allowed as text, or "".
  package var allowed: Detail {
    var text = Detail.StringInterpolation()
    if !words.isEmpty {
      text.appendInterpolation(words)
    } else if unit != .none {
      if orZero { text.appendInterpolation("0, or " as Literal) }
      append(least, to: &text)
      if greatest == .max {
        text.appendInterpolation(" or more" as Literal)
      } else if greatest != least {
        text.appendInterpolation(" … " as Literal)
        append(greatest, to: &text)
      }
      if unit == .bytes { text.appendInterpolation(" bytes" as Literal) }
    }
    return Detail(stringInterpolation: text)
  }

  private func append(_ number: Int64, to text: inout Detail.StringInterpolation) {
    if unit == .duration { text.appendInterpolation(span: number) } else { text.appendInterpolation(number) }
  }

  /// One sentence for a person.
  package var sentence: Detail {
    if let told { return told.sentence }
    var text = Detail.StringInterpolation()
    if !name.isEmpty {
      text.appendInterpolation(field)
      text.appendInterpolation(isPath ? " " : ": " as Literal)
    }
    appendFound(to: &text)
    if let problem {
      text.appendInterpolation(problem)
      return Detail(stringInterpolation: text)
    }
    text.appendInterpolation("is out of range" as Literal)
    if !subject.isEmpty {
      text.appendInterpolation(" for " as Literal)
      text.appendInterpolation(subject)
    }
    text.appendInterpolation(least == greatest ? ", allowed is " : ", allowed are " as Literal)
    text.appendInterpolation(allowed)
    if let hint { text.appendInterpolation(hint) }
    return Detail(stringInterpolation: text)
  }

  private func appendFound(to text: inout Detail.StringInterpolation) {
    if let name = self.text {
      name.bytes.withUnsafeBytes {
        if isPath { text.appendInterpolation(path: $0) } else { text.appendInterpolation(name: $0) }
      }
      text.appendInterpolation(isPath ? ": " : " " as Literal)
    } else if unit == .none || (unit == .instant && problem != nil) {
      // Of two instants the problem tells the time that is left, which says more.
      guard !subject.isEmpty else { return }
      text.appendInterpolation(subject)
      text.appendInterpolation(" " as Literal)
    } else {
      text.appendInterpolation(value)
      text.appendInterpolation(unit == .duration ? " ns " : unit == .bytes ? " bytes " : " " as Literal)
    }
  }
}

/// A fault as the process tells it that has refused the call.
package struct ToldFault: Sendable {
  /// A number of the header, which a later version may have more of.
  package let status: Int32
  package var flags: UInt32 = 0
  package var (unit, value, least, greatest): (Int32, Int64, Int64, Int64) = (0, 0, 0, 0)
  package let sentence: Detail
  /// Field, subject, found, allowed, problem.
  package let texts: [Detail]

  package init(status: Int32, sentence: Detail, texts: [Detail]) {
    (self.status, self.sentence, self.texts) = (status, sentence, texts)
  }
}

extension Literal {
  /// The entries of a text are its lines.
  fileprivate var isLine: Bool { cString[0] == CChar(UInt8(ascii: "l")) && cString[4] == 0 }
}

extension SeleneError {
  /// A number out of its range; `words` say what is allowed where least and greatest do not.
  @inline(__always)
  package static func range(
    _ field: Literal, _ found: some BinaryInteger, _ least: Int64, _ greatest: Int64, _ unit: Fault.Unit = .number,
    _ words: Literal = ""
  ) -> SeleneError {
    outside(field, Int64(clamping: found), least, greatest, unit, words)
  }

  @inline(never)
  private static func outside(
    _ field: Literal, _ found: Int64, _ least: Int64, _ greatest: Int64, _ unit: Fault.Unit, _ words: Literal
  ) -> SeleneError {
    let error = SeleneError(.invalidArgument)
    (error.fault.name, error.fault.unit, error.fault.value) = (field, unit, found)
    (error.fault.least, error.fault.greatest, error.fault.words) = (least, greatest, words)
    return error
  }

  /// A duration that is too short to be meant, which is told with the constant that is missing (V21).
  @inline(never)
  static func mistaken(
    _ field: Literal, _ span: Span, from least: Span, to greatest: Span, orZero: Bool
  ) -> SeleneError {
    let error = outside(field, span, least, greatest, .duration, "")
    let unit = unit(of: span, least, greatest) ?? "SELENE_SECOND"
    error.fault.orZero = orZero
    error.fault.hint = "; durations are in nanoseconds, was \(span) * \(unit) meant?"
    return error
  }

  /// The same for an instant before `first`, which may have been a number of seconds from now on.
  @inline(never)
  static func mistaken(
    instant field: Literal, _ instant: Instant, first: Instant, from least: Instant, to greatest: Instant,
    _ words: Literal
  ) -> SeleneError {
    let error = outside(field, instant, max(least, first), greatest, .instant, words)
    if let unit = unit(of: instant, first, greatest) {
      error.fault.hint = "; instants are in nanoseconds since 1970, was \(instant) * \(unit) meant?"
    } else if let unit = unit(of: instant, Time.second, Time.tenYears) {
      error.fault.hint =
        "; instants are in nanoseconds since 1970, was selene_scheduler_now + \(instant) * \(unit) meant?"
    } else {
      error.fault.hint = "; instants are in nanoseconds since 1970, selene_scheduler_now gives the present"
    }
    return error
  }

  /// The longest unit in which a number would be within a range; nil: none.
  private static func unit(of number: Int64, _ least: Int64, _ greatest: Int64) -> Literal? {
    func fits(_ unit: Span) -> Bool {
      let (product, overflow) = number.multipliedReportingOverflow(by: unit)
      return !overflow && product >= least && product <= greatest
    }
    if fits(Time.second) { return "SELENE_SECOND" }
    if fits(Time.millisecond) { return "SELENE_MILLISECOND" }
    return fits(Time.microsecond) ? "SELENE_MICROSECOND" : nil
  }

  /// What is wrong, where it is not in one field.
  @inline(never)
  package init(_ code: Code, _ problem: Literal) {
    self.init(code)
    fault.problem = "\(problem)"
  }

  @_disfavoredOverload
  @inline(never)
  package init(_ code: Code, _ problem: Detail) {
    self.init(code)
    fault.problem = problem
  }

  /// What is wrong with a field.
  @inline(never)
  package init(_ code: Code, _ field: Literal, _ problem: Literal) {
    self.init(code, problem)
    fault.name = field
  }

  @_disfavoredOverload
  @inline(never)
  package init(_ code: Code, _ field: Literal, _ problem: Detail) {
    self.init(code, problem)
    fault.name = field
  }

  /// What is wrong with a name that a host gave.
  @inline(never)
  package init(_ code: Code, _ field: Literal, name: UnsafeRawBufferPointer, _ problem: Literal) {
    self.init(code, field, problem)
    fault.text = "\(text: name)"
  }

  @_disfavoredOverload
  @inline(never)
  package init(_ code: Code, _ field: Literal, name: UnsafeRawBufferPointer, _ problem: Detail) {
    self.init(code, field, problem)
    fault.text = "\(text: name)"
  }

  /// What is wrong with a file.
  @inline(never)
  package init(_ code: Code, _ noun: Literal, path: Bytes, _ problem: Detail) {
    self.init(code, noun, problem)
    (fault.text, fault.isPath) = ("\(text: path.buffer)", true)
  }

  private init(_ code: Code) { (self.code, fault) = (code, Fault()) }

  /// What another process has refused.
  package init(told: ToldFault) {
    self.init(Code(rawValue: told.status) ?? .inconsistent)
    fault.told = told
  }

  // MARK: What else is to be told

  /// As another code.
  @inline(never)
  package func code(_ code: Code) -> SeleneError { SeleneError(code, fault) }

  /// What the field belongs to, or the range is for.
  @inline(never)
  package func of(_ subject: Literal) -> SeleneError {
    fault.subject = subject
    return self
  }

  /// Which entry of a field that is an array, or line of a text.
  @inline(never)
  package func entry(_ entry: Int?) -> SeleneError {
    fault.entry = entry ?? -1
    return self
  }

  /// What follows the number in the sentence, if not that it is out of its range.
  @inline(never)
  package func problem(_ problem: Detail) -> SeleneError {
    fault.problem = problem
    return self
  }
}
