// Slots that are sorted once in a while.

/// A slot with what orders it: one sort for all, because each type that is sorted has its own code.
package struct Ordered {
  package let key: Int64
  package let slot: Int

  package init(_ key: Int64, _ slot: Int) { (self.key, self.slot) = (key, slot) }

  package static func sort(_ items: inout [Ordered]) { items.sort { $0.key < $1.key } }
}
