// Finds things by numbers that are given out one after the other.

/// Values under numbers from 1.
///
/// Open addressing with linear probing and backward-shift deletion. A number is its own hash: consecutive numbers
/// never collide.
///
/// The memory is its own: `places` has `mask + 1` initialized places, a free one has number 0 and no value. Less than
/// half are taken, so that every search ends.
package final class NumberMap<Value> {
  private struct Place {
    var number: UInt64 = 0
    var value: Value?
  }

  private var places: UnsafeMutablePointer<Place>
  private var mask = 7
  package private(set) var count = 0

  package init() { places = Self.make(8) }

  deinit { Self.free(places, mask + 1) }

  package var isEmpty: Bool { count == 0 }

  package subscript(number: UInt64) -> Value? {
    get { find(number).flatMap { places[$0].value } }
    set {
      guard let newValue else { return remove(number) }
      if let place = find(number) { places[place].value = newValue } else { insert(number, newValue) }
    }
  }

  /// Calls a body with every value, in no order; the body changes nothing here.
  package func forEach(_ body: (Value) -> Void) {
    guard count > 0 else { return }
    for place in 0...mask { if let value = places[place].value { body(value) } }
  }

  package func removeAll() {
    Self.free(places, mask + 1)
    (places, mask, count) = (Self.make(8), 7, 0)
  }

  @inline(__always)
  private func find(_ number: UInt64) -> Int? {
    guard count > 0 else { return nil }
    var place = Int(truncatingIfNeeded: number) & mask
    while places[place].number != 0 {
      if places[place].number == number { return place }
      place = (place + 1) & mask
    }
    return nil
  }

  /// Adds a value under a number that has none.
  @inline(__always)
  package func insert(_ number: UInt64, _ value: Value) {
    if (count + 1) * 2 > mask { grow() }
    places[free(for: number)] = Place(number: number, value: value)
    count += 1
  }

  @inline(__always)
  private func free(for number: UInt64) -> Int {
    var place = Int(truncatingIfNeeded: number) & mask
    while places[place].number != 0 { place = (place + 1) & mask }
    return place
  }

  package func remove(_ number: UInt64) {
    guard var hole = find(number) else { return }
    var next = (hole + 1) & mask
    while places[next].number != 0 {
      let home = Int(truncatingIfNeeded: places[next].number) & mask
      if (next - home) & mask >= (next - hole) & mask {
        swap(&places[hole], &places[next])
        hole = next
      }
      next = (next + 1) & mask
    }
    places[hole] = Place()
    count -= 1
  }

  private func grow() {
    let (old, size) = (places, mask + 1)
    places = Self.make(size * 2)
    mask = size * 2 - 1
    for place in 0..<size where old[place].number != 0 { swap(&places[free(for: old[place].number)], &old[place]) }
    Self.free(old, size)
  }

  private static func make(_ size: Int) -> UnsafeMutablePointer<Place> {
    let places = UnsafeMutablePointer<Place>.allocate(capacity: size)
    places.initialize(repeating: Place(), count: size)
    return places
  }

  private static func free(_ places: UnsafeMutablePointer<Place>, _ size: Int) {
    places.deinitialize(count: size)
    places.deallocate()
  }
}
