// Finds things by numbers that are given out one after the other.

/// Values under numbers from 1.
///
/// Open addressing with linear probing and backward-shift deletion. A number is its own hash: such as follow one another
/// never meet.
package struct NumberMap<Value> {
  private var numbers: [UInt64] = []
  private var values: [Value?] = []
  package private(set) var count = 0

  package init() {}

  package var isEmpty: Bool { count == 0 }

  package subscript(number: UInt64) -> Value? {
    get { find(number).flatMap { values[$0] } }
    set {
      guard let newValue else { return remove(number) }
      if let place = find(number) { values[place] = newValue } else { insert(number, newValue) }
    }
  }

  /// Calls a body with every value, in no order.
  package func forEach(_ body: (Value) -> Void) {
    for value in values { if let value { body(value) } }
  }

  private func find(_ number: UInt64) -> Int? {
    guard count > 0 else { return nil }
    let mask = numbers.count - 1
    var place = Int(truncatingIfNeeded: number) & mask
    while numbers[place] != 0 {
      if numbers[place] == number { return place }
      place = (place + 1) & mask
    }
    return nil
  }

  private mutating func insert(_ number: UInt64, _ value: Value) {
    if (count + 1) * 2 > numbers.count { grow() }
    let mask = numbers.count - 1
    var place = Int(truncatingIfNeeded: number) & mask
    while numbers[place] != 0 { place = (place + 1) & mask }
    numbers[place] = number
    values[place] = value
    count += 1
  }

  private mutating func remove(_ number: UInt64) {
    guard var hole = find(number) else { return }
    let mask = numbers.count - 1
    var next = (hole + 1) & mask
    while numbers[next] != 0 {
      let home = Int(truncatingIfNeeded: numbers[next]) & mask
      if (next - home) & mask >= (next - hole) & mask {
        numbers[hole] = numbers[next]
        values.swapAt(hole, next)
        hole = next
      }
      next = (next + 1) & mask
    }
    numbers[hole] = 0
    values[hole] = nil
    count -= 1
  }

  private mutating func grow() {
    let (oldNumbers, oldValues) = (numbers, values)
    numbers = [UInt64](repeating: 0, count: max(8, oldNumbers.count * 2))
    values = [Value?](repeating: nil, count: numbers.count)
    count = 0
    for (place, number) in oldNumbers.enumerated() where number != 0 {
      if let value = oldValues[place] { insert(number, value) }
    }
  }
}
