// Literals in tests: as String.

import SeleneCore

extension Literal: CustomStringConvertible {
  public var description: String { String(cString: cString) }
}
