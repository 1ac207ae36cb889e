// Slots that are sorted once in a while.

/// A slot with what orders it: one sort for all, because each type that is sorted has its own code, and the library's own
/// is larger.
package struct Ordered {
  package let key: Int64
  package let slot: Int

  package init(_ key: Int64, _ slot: Int) { (self.key, self.slot) = (key, slot) }

  /// Sorts by the keys; equal keys keep their order. What is sorted already costs O(n).
  package static func sort(_ items: inout [Ordered]) {
    var width = 1
    while width < items.count {
      for low in stride(from: 0, to: items.count - width, by: 2 * width) {
        merge(&items, low, low + width, min(low + 2 * width, items.count))
      }
      width *= 2
    }
  }

  /// Merges two neighbours that are sorted.
  private static func merge(_ items: inout [Ordered], _ low: Int, _ middle: Int, _ high: Int) {
    guard items[middle].key < items[middle - 1].key else { return }
    let left = Array(items[low..<middle])
    var (taken, next) = (0, middle)
    for place in low..<high {
      guard taken < left.count else { return }
      if next < high && items[next].key < left[taken].key {
        items[place] = items[next]
        next += 1
      } else {
        items[place] = left[taken]
        taken += 1
      }
    }
  }
}
