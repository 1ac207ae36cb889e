// Which tasks the same windows can run: the classes that the index has lists for.

/// Tasks that the same windows can run: of one kind and group, that ask for the same, all pushed or only pulled, or of one
/// handler that other processes offer.
struct TaskClass {
  let kind: Kind
  let needs: Needs
  let pushes: Bool
  let group: TaskGroup?
  /// The number of a handler of other processes and 1; 0 is this process's own.
  var crewed: Int32 = 0

  /// Whether a window takes its tasks, as soon as their group has room.
  func suits(_ offer: Offer) -> Bool {
    offer.kinds.contains(kind) && needs.isSubset(of: offer.satisfied)
      && (crewed == 0 ? offer.isOwn && (pushes || !offer.pushes) : offer.has(Int(crewed) - 1))
  }

  /// Whether a window takes its tasks now.
  func isOpen(to offer: Offer) -> Bool { suits(offer) && (group.map { $0.isOpen } ?? true) }

  fileprivate func isSame(_ other: TaskClass) -> Bool {
    kind == other.kind && needs == other.needs && pushes == other.pushes && group === other.group
      && crewed == other.crewed
  }

  fileprivate var hash: Int {
    var mix = needs.rawValue << 3 ^ needs.rawValue >> 29 ^ UInt64(kind.index << 1 | (pushes ? 1 : 0))
    mix ^= UInt64(UInt32(bitPattern: crewed)) << 40
    if let group { mix ^= UInt64(UInt(bitPattern: Unmanaged.passUnretained(group).toOpaque())) << 7 }
    return Int(truncatingIfNeeded: (mix &* 0x9E37_79B9_7F4A_7C15) >> 32)
  }
}

/// The classes in use, each with a small number.
///
/// Those of tasks without a group, and that ask for no more than a network and power, have fixed numbers. The others are numbered as they come, and stay until room is needed
/// for more and they are found empty.
struct TaskClasses {
  /// Classes whose number follows from what they are.
  static let fixed = 16
  /// More do not fit into an `IndexPlace`.
  static let most = 1 << 23

  private(set) var room = fixed
  private var classes: UnsafeMutablePointer<TaskClass>
  private var isUsed: UnsafeMutablePointer<Bool>
  /// Numbers that were used are below this.
  private var next = fixed
  private var free: [Int] = []
  /// Numbers by hash, −1 where none is; twice as many as there is room.
  private var places: [Int32] = []

  init() {
    classes = .allocate(capacity: Self.fixed)
    isUsed = .allocate(capacity: Self.fixed)
    isUsed.initialize(repeating: true, count: Self.fixed)
    for number in 0..<Self.fixed {
      (classes + number).initialize(
        to: TaskClass(
          kind: number & 1 == 0 ? .refresh : .processing, needs: Needs(rawValue: UInt64(number >> 1 & 3)),
          pushes: number & 8 != 0, group: nil))
    }
  }

  func deallocate() {
    (0..<room).forEach { if isUsed[$0] { (classes + $0).deinitialize(count: 1) } }
    classes.deallocate()
    isUsed.deallocate()
  }

  subscript(number: Int) -> TaskClass { @inline(__always) unsafeAddress { UnsafePointer(classes + number) } }

  /// The number of a class without a group, of what most ask for.
  @inline(__always)
  static func number(_ kind: Kind, _ needs: Needs, pushes: Bool) -> Int {
    kind.index | Int(needs.rawValue) << 1 | (pushes ? 8 : 0)
  }

  func find(_ taskClass: TaskClass) -> Int? {
    guard !places.isEmpty else { return nil }
    var place = taskClass.hash & (places.count - 1)
    while places[place] >= 0 {
      let number = Int(places[place])
      if isUsed[number], classes[number].isSame(taskClass) { return number }
      place = (place + 1) & (places.count - 1)
    }
    return nil
  }

  var isFull: Bool { free.isEmpty && next == room }

  /// Adds a class, for which there is room.
  mutating func add(_ taskClass: TaskClass) -> Int {
    let number = free.popLast() ?? next
    if number == next { next += 1 }
    (classes + number).initialize(to: taskClass)
    isUsed[number] = true
    enter(number)
    return number
  }

  private mutating func enter(_ number: Int) {
    var place = classes[number].hash & (places.count - 1)
    while places[place] >= 0 { place = (place + 1) & (places.count - 1) }
    places[place] = Int32(truncatingIfNeeded: number)
  }

  /// Frees the numbers of classes that are empty; makes room for as many again where that gave little.
  ///
  /// - Returns: the numbers that were freed.
  mutating func sweep(isEmpty: (Int) -> Bool) -> [Int] {
    var freed: [Int] = []
    for number in Self.fixed..<next where isUsed[number] && isEmpty(number) {
      (classes + number).deinitialize(count: 1)
      isUsed[number] = false
      freed.append(number)
    }
    free.append(contentsOf: freed)
    if free.count < room / 2 { grow() }
    places = [Int32](repeating: -1, count: room * 2)
    for number in Self.fixed..<next where isUsed[number] { enter(number) }
    return freed
  }

  private mutating func grow() {
    let wider = room * 2
    let (newClasses, newUsed) = (
      UnsafeMutablePointer<TaskClass>.allocate(capacity: wider), UnsafeMutablePointer<Bool>.allocate(capacity: wider)
    )
    newUsed.initialize(repeating: false, count: wider)
    for number in 0..<next where isUsed[number] {
      (newClasses + number).moveInitialize(from: classes + number, count: 1)
      newUsed[number] = true
    }
    classes.deallocate()
    isUsed.deallocate()
    (classes, isUsed, room) = (newClasses, newUsed, wider)
  }
}

/// Some of the classes. Memory is freed by `deallocate` alone: the owner is a class.
struct ClassSet {
  private var words: UnsafeMutablePointer<UInt64>
  private var count = 1

  init() {
    words = .allocate(capacity: 1)
    words.initialize(to: 0)
  }

  func deallocate() { words.deallocate() }

  mutating func makeRoom(_ classes: Int) {
    let wider = (classes + 63) / 64
    guard wider > count else { return }
    let new = UnsafeMutablePointer<UInt64>.allocate(capacity: wider)
    new.initialize(repeating: 0, count: wider)
    new.update(from: words, count: count)
    words.deallocate()
    (words, count) = (new, wider)
  }

  func removeAll() { words.update(repeating: 0, count: count) }

  @inline(__always)
  func set(_ number: Int, _ isIn: Bool) {
    let bit = UInt64(1) << UInt64(truncatingIfNeeded: number & 63)
    words[number >> 6] = isIn ? words[number >> 6] | bit : words[number >> 6] & ~bit
  }

  /// The first from a number on.
  @inline(__always)
  func first(from number: Int) -> Int? {
    var word = number >> 6
    guard word < count else { return nil }
    let shift = UInt64(truncatingIfNeeded: number & 63)
    var bits = (words[word] >> shift) << shift
    while bits == 0 {
      word += 1
      guard word < count else { return nil }
      bits = words[word]
    }
    return word << 6 | bits.trailingZeroBitCount
  }

  /// Calls a body with each in their order; a body may take out what it is called with.
  @inline(__always)
  func forEach(_ body: (Int) -> Void) {
    var place = first(from: 0)
    while let number = place {
      body(number)
      place = first(from: number + 1)
    }
  }
}
