// Texts in tests: as String.

import SeleneCore

extension Bytes {
  /// The text's bytes.
  convenience init(_ text: String) { self.init(count: text.utf8.count) { $0.copyBytes(from: text.utf8) } }
}
