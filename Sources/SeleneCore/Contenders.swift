// Whose turn is next among many lines, each in its own order: a heap of their heads.

/// What the head of a line claims: nothing in its line has a greater score.
struct Contender {
  /// The score, as it is compared.
  let numerator: UInt128
  let sequence: UInt64
  let priority: UInt8
  /// Which head it is.
  let head: Int

  /// By score, then priority, then the order of registration.
  @inline(__always)
  func precedes(_ other: Contender) -> Bool {
    if numerator != other.numerator { return numerator > other.numerator }
    if priority != other.priority { return priority > other.priority }
    return sequence < other.sequence
  }
}

/// Contenders, the first of all at hand.
///
/// When one moves the others stay, so a pick costs O(log n) of the lines, however many have a head.
///
/// Memory is freed by `free` alone: the owner is a class.
struct Contenders {
  private let base: UnsafeMutablePointer<Contender>
  private var count = 0

  /// - Parameter room: how many there may be.
  init(room: Int) { base = .allocate(capacity: room) }

  func free() { base.deallocate() }

  mutating func removeAll() { count = 0 }

  /// Adds one behind the others, in no order before `arrange`.
  @inline(__always)
  mutating func append(_ new: Contender) {
    (base + count).initialize(to: new)
    count += 1
  }

  /// Adds one at its place.
  mutating func insert(_ new: Contender) {
    append(new)
    var place = count - 1
    while place > 0, new.precedes(base[(place - 1) / 2]) {
      base[place] = base[(place - 1) / 2]
      place = (place - 1) / 2
    }
    base[place] = new
  }

  /// Puts those that were added in their order.
  mutating func arrange() {
    var place = count / 2
    while place > 0 {
      place -= 1
      sink(base[place], from: place)
    }
  }

  var first: Contender? {
    @inline(__always) get { count > 0 ? base[0] : nil }
  }

  /// The first claims less than before.
  @inline(__always)
  func replaceFirst(_ new: Contender) { sink(new, from: 0) }

  /// The first has nothing left to claim.
  mutating func removeFirst() {
    count -= 1
    if count > 0 { sink(base[count], from: 0) }
  }

  /// Puts one to a place from which it goes down past all that precede it.
  @_optimize(speed)
  private func sink(_ contender: Contender, from start: Int) {
    var place = start
    while true {
      var child = 2 * place + 1
      guard child < count else { break }
      if child + 1 < count, base[child + 1].precedes(base[child]) { child += 1 }
      guard base[child].precedes(contender) else { break }
      base[place] = base[child]
      place = child
    }
    base[place] = contender
  }
}
