// Which ids a scheduler accepts (T7).

/// The list of permitted ids; without entries every id is permitted.
package struct Permits: Sendable {
  private var exact: [Bytes] = []
  private var exactIndex = TextIndex()
  private var prefixes: [Bytes] = []
  private let permitsAll: Bool

  /// Permits every id.
  package init() { permitsAll = true }

  /// Permits the listed ids; an entry that ends in `.*` permits the prefix before the `*`.
  ///
  /// - Throws: `invalidArgument` for an entry that is not an identifier.
  package init(_ entries: [UnsafeRawBufferPointer]) throws(SeleneError) {
    permitsAll = false
    for index in entries.indices {
      let entry = entries[index]
      try Identifier.check(entry, "permitted", entry: index)
      let isPrefix =
        entry.count >= 2 && entry[entry.count - 2] == UInt8(ascii: ".") && entry[entry.count - 1] == UInt8(ascii: "*")
      if isPrefix {
        prefixes.append(Bytes(copying: UnsafeRawBufferPointer(rebasing: entry[..<(entry.count - 1)])))
      } else {
        let bytes = Bytes(copying: entry)
        exact.append(bytes)
        exactIndex.set(bytes.buffer, to: exact.count - 1) { exact[$0].buffer }
      }
    }
  }

  @inline(__always)
  package func permits(_ id: UnsafeRawBufferPointer) -> Bool { permitsAll || lists(id) }

  private func lists(_ id: UnsafeRawBufferPointer) -> Bool {
    if exactIndex.find(id, textOf: { exact[$0].buffer }) != nil { return true }
    return prefixes.contains { prefix in
      id.count >= prefix.count && UnsafeRawBufferPointer(rebasing: id[..<prefix.count]).equals(prefix.buffer)
    }
  }
}
