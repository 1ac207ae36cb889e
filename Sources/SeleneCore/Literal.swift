// A text of the program, as one address: a StaticString is three words wherever it is handed on.

/// A string literal; its bytes end with a NUL and live for ever.
package struct Literal: ExpressibleByStringLiteral, @unchecked Sendable {  // it never changes
  package let cString: UnsafePointer<CChar>

  @inline(__always)
  package init(stringLiteral text: StaticString) { cString = text.cString }

  package var isEmpty: Bool { cString.pointee == 0 }
}
