// Slots in an order, each with a cost: the structure that keeps decisions flat.

/// A place in an order: by key, then by sequence.
package struct OrderKey: Comparable, Sendable {
  package let key: Int64
  package let sequence: UInt64

  package init(_ key: Int64, _ sequence: UInt64) { (self.key, self.sequence) = (key, sequence) }

  @inline(__always)
  package static func < (a: OrderKey, b: OrderKey) -> Bool {
    a.key != b.key ? a.key < b.key : a.sequence < b.sequence
  }
}

/// A slot at its place.
package struct OrderedSlot: Sendable {
  package let at: OrderKey
  package let slot: Int
  package let cost: Cost
}

/// A span in coarse steps that fits into 32 bits: a longer span never costs less.
package struct Cost: Comparable, Sendable {
  package let steps: UInt32

  package static let any = Cost(steps: .max)

  private init(steps: UInt32) { self.steps = steps }

  /// One step is 65 536 ns; more than 78 h are all the same.
  package init(_ span: Span) { steps = UInt32(clamping: max(0, span) >> 16) }

  package static func < (a: Cost, b: Cost) -> Bool { a.steps < b.steps }
}

/// Slots in the order of their keys, each with a cost.
///
/// A B+ tree whose inner nodes know a lower bound of the costs below, so that "the next one that costs at most this"
/// passes over everything dearer. Bounds are lowered at once, and raised when a search is disappointed by them.
/// Inserting behind all others fills nodes to the brim. All operations take O(log n).
///
/// Memory is freed by `removeAll` alone: the owner is a class.
package struct OrderedSlots {
  private var root: Node?
  package private(set) var count = 0
  /// A lower bound of all costs, so that a search for less needs no look.
  private var least = Cost.any

  package init() {}

  // MARK: Changing

  /// Adds a slot at a place that is free.
  @_optimize(speed)
  package mutating func insert(_ slot: Int, at place: OrderKey, cost: Cost) {
    count += 1
    least = min(least, cost)
    let root = self.root ?? Node(height: 0)
    guard let right = insert(OrderedSlot(at: place, slot: slot, cost: cost), into: root) else {
      self.root = root
      return
    }
    let grown = Node(height: root.height + 1)
    grown.append(child: root)
    grown.append(child: right)
    self.root = grown
  }

  /// Removes the slot at a place; nothing if the place is free.
  @_optimize(speed)
  package mutating func remove(at place: OrderKey) {
    guard let root, remove(place, from: root) else { return }
    count -= 1
    if count == 0 { least = .any }
    if root.height > 0 && root.count == 1 {
      self.root = root.child(0)
      root.deallocate()
    }
  }

  package mutating func removeAll() {
    if let root { Self.free(root) }
    root = nil
    (count, least) = (0, .any)
  }

  // MARK: Looking

  package var first: OrderedSlot? {
    guard count > 0, var node = root else { return nil }
    while node.height > 0 { node = node.child(0) }
    return node.entry(0)
  }

  package var last: OrderedSlot? {
    guard count > 0, var node = root else { return nil }
    while node.height > 0 { node = node.child(node.count - 1) }
    return node.entry(node.count - 1)
  }

  /// The first slot behind a place, or of all, that costs at most this.
  @_optimize(speed)
  package mutating func next(after place: OrderKey?, costing most: Cost) -> OrderedSlot? {
    guard least <= most, count > 0, let root else { return nil }
    // Most often it is the first where the place is or was.
    var node = root
    while node.height > 0 { node = node.child(place.map { node.childIndex(of: $0) } ?? 0) }
    let index = place.map { node.upperBound($0) } ?? 0
    if index < node.count, node.costs[index] <= most { return node.entry(index) }
    if let found = Self.search(root, after: place, most) { return found }
    least = root.leastCost
    return nil
  }

  /// How many stand before the first that does not precede; all behind that one do not precede either.
  package func count(where precedes: (OrderKey) -> Bool) -> Int {
    guard var node = root else { return 0 }
    var before = 0
    while true {
      // Keys of inner nodes are lower bounds: if the bound of a child precedes, all before that child do.
      var low = node.height > 0 ? 1 : 0
      var high = node.count
      while low < high {
        let middle = (low + high) / 2
        if precedes(node.key(middle)) { low = middle + 1 } else { high = middle }
      }
      guard node.height > 0 else { return before + low }
      for index in 0..<(low - 1) { before += Int(node.totals[index]) }
      node = node.child(low - 1)
    }
  }

  // MARK: On the way down

  /// Inserts below a node; answers the node's new right sibling if it had to split.
  @_optimize(speed)
  private func insert(_ new: OrderedSlot, into node: Node) -> Node? {
    guard node.height > 0 else { return node.insert(new) }
    let index = node.childIndex(of: new.at)
    if new.at < node.key(index) { node.setKey(index, new.at) }
    node.costs[index] = min(node.costs[index], new.cost)
    node.totals[index] += 1
    let child = node.child(index)
    guard let right = child.height > 0 ? insert(new, into: child) : child.insert(new) else { return nil }
    node.note(child: index)
    return node.insert(child: right, at: index + 1)
  }

  @_optimize(speed)
  private func remove(_ place: OrderKey, from node: Node) -> Bool {
    guard node.height > 0 else {
      let index = node.lowerBound(place)
      guard index < node.count, node.key(index) == place else { return false }
      node.removeEntry(index)
      return true
    }
    let index = node.childIndex(of: place)
    let child = node.child(index)
    guard remove(place, from: child) else { return false }
    node.totals[index] -= 1
    if child.count == 0 {
      node.removeChild(index)
      child.deallocate()
    } else if child.count < Node.capacity / 4 {
      if index + 1 < node.count { node.mergeIfSmall(index) } else if index > 0 { node.mergeIfSmall(index - 1) }
    }
    return true
  }

  @_optimize(speed)
  private static func search(_ node: Node, after place: OrderKey?, _ most: Cost) -> OrderedSlot? {
    let count = node.count
    guard node.height > 0 else {
      var index = place.map { node.upperBound($0) } ?? 0
      while index < count {
        if node.costs[index] <= most { return node.entry(index) }
        index += 1
      }
      return nil
    }
    var index = place.map { node.childIndex(of: $0) } ?? 0
    var place = place
    while index < count {
      if node.costs[index] <= most {
        let child = node.child(index)
        if let found = search(child, after: place, most) { return found }
        if place == nil { node.costs[index] = child.leastCost }
      }
      place = nil
      index += 1
    }
    return nil
  }

  private static func free(_ node: Node) {
    if node.height > 0 {
      for index in 0..<node.count { free(node.child(index)) }
    }
    node.deallocate()
  }
}

/// A node: a leaf holds slots, an inner node children of the next lesser height.
///
/// What it holds begins at `head`, so that taking the first moves nothing.
private struct Node {
  static let capacity = 128
  private static let header = 16
  private static let leafSize = header + capacity * 24
  private static let innerSize = header + capacity * 32

  private let base: UnsafeMutableRawPointer

  init(height: Int) {
    base = .allocate(byteCount: height == 0 ? Self.leafSize : Self.innerSize, alignment: 16)
    base.storeBytes(of: 0, as: UInt64.self)
    base.storeBytes(of: height, toByteOffset: 8, as: Int.self)
  }

  func deallocate() { base.deallocate() }

  @inline(__always)
  private func at<T>(_ offset: Int, _ type: T.Type) -> UnsafeMutablePointer<T> {
    (base + (Self.header + Self.capacity * offset)).assumingMemoryBound(to: type) + head
  }

  var count: Int {
    @inline(__always) get { Int(base.load(as: UInt32.self)) }
    nonmutating set { base.storeBytes(of: UInt32(truncatingIfNeeded: newValue), as: UInt32.self) }
  }
  /// How many places before the first are free.
  private var head: Int {
    @inline(__always) get { Int(base.load(fromByteOffset: 4, as: UInt32.self)) }
    nonmutating set {
      base.storeBytes(of: UInt32(truncatingIfNeeded: newValue), toByteOffset: 4, as: UInt32.self)
    }
  }
  /// 0 is a leaf.
  var height: Int { base.load(fromByteOffset: 8, as: Int.self) }
  /// Of inner nodes a lower bound of what is below.
  private var keys: UnsafeMutablePointer<Int64> { at(0, Int64.self) }
  private var sequences: UnsafeMutablePointer<UInt64> { at(8, UInt64.self) }
  /// Of inner nodes a lower bound of what is below.
  var costs: UnsafeMutablePointer<Cost> { at(16, Cost.self) }
  private var slots: UnsafeMutablePointer<UInt32> { at(20, UInt32.self) }
  /// How many slots are below each child.
  var totals: UnsafeMutablePointer<UInt32> { at(20, UInt32.self) }
  private var children: UnsafeMutablePointer<Node> { at(24, Node.self) }

  func key(_ index: Int) -> OrderKey { OrderKey(keys[index], sequences[index]) }
  func setKey(_ index: Int, _ key: OrderKey) { (keys[index], sequences[index]) = (key.key, key.sequence) }
  func child(_ index: Int) -> Node { children[index] }
  func entry(_ index: Int) -> OrderedSlot {
    OrderedSlot(at: key(index), slot: Int(slots[index]), cost: costs[index])
  }

  /// The first that is not before a place.
  func lowerBound(_ place: OrderKey) -> Int {
    // Most often it is the first.
    count > 0 && key(0) < place ? bound { $0 < place } : 0
  }

  /// The first behind a place.
  func upperBound(_ place: OrderKey) -> Int { count > 0 && place < key(0) ? 0 : bound { !(place < $0) } }

  /// The child that a place belongs to: the last whose bound is not behind it.
  @inline(__always)
  func childIndex(of place: OrderKey) -> Int {
    let last = count - 1
    if !(place < key(last)) { return last }
    if last == 0 || place < key(1) { return 0 }
    return bound { !(place < $0) } - 1
  }

  @inline(__always)
  private func bound(_ isBefore: (OrderKey) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isBefore(key(middle)) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  var leastCost: Cost {
    var least = Cost.any
    for index in 0..<count { least = min(least, costs[index]) }
    return least
  }

  private var total: UInt32 {
    guard height > 0 else { return UInt32(count) }
    var total: UInt32 = 0
    for index in 0..<count { total += totals[index] }
    return total
  }

  // MARK: Changing

  /// Inserts into a leaf; answers its new right sibling if it was full.
  @inline(__always)
  func insert(_ new: OrderedSlot) -> Node? {
    let count = count
    guard count > 0, key(count - 1) < new.at else { return insert(new, at: lowerBound(new.at)) }
    // Most often it is the last, and there is room.
    guard head + count < Self.capacity else { return insert(new, at: count) }
    self.count = count + 1
    put(new, at: count)
    return nil
  }

  private func insert(_ new: OrderedSlot, at index: Int) -> Node? {
    let (node, place, right) = makeRoom(at: index)
    node.put(new, at: place)
    return right
  }

  @inline(__always)
  private func put(_ new: OrderedSlot, at index: Int) {
    setKey(index, new.at)
    costs[index] = new.cost
    slots[index] = UInt32(truncatingIfNeeded: new.slot)
  }

  /// Inserts a child; answers the new right sibling of this node if it was full.
  func insert(child: Node, at index: Int) -> Node? {
    let (node, place, right) = makeRoom(at: index)
    node.put(child, at: place)
    return right
  }

  func append(child: Node) {
    count += 1
    put(child, at: count - 1)
  }

  /// What is known of a child changed.
  func note(child index: Int) { put(child(index), at: index) }

  private func put(_ child: Node, at index: Int) {
    setKey(index, child.key(0))
    children[index] = child
    costs[index] = child.leastCost
    totals[index] = child.total
  }

  func removeEntry(_ index: Int) { close(at: index) }
  func removeChild(_ index: Int) { close(at: index) }

  /// Joins a child and the next one if both together fill less than half a node.
  func mergeIfSmall(_ index: Int) {
    let left = child(index)
    let right = child(index + 1)
    guard left.count + right.count <= Self.capacity / 2 else { return }
    left.slide()
    left.move(from: right, 0, to: left.count, right.count)
    left.count += right.count
    totals[index] += totals[index + 1]
    costs[index] = min(costs[index], costs[index + 1])
    close(at: index + 1)
    right.deallocate()
  }

  /// Brings the first to the first place.
  private func slide() {
    guard head > 0 else { return }
    let (gap, count) = (head, count)
    move(from: self, 0, to: -gap, count)
    head = 0
  }

  /// Opens a gap. A node without room behind slides if that gives enough, so that this is not soon done again; a full
  /// one splits: in the middle, or, where the gap is its end, into itself and an empty one.
  private func makeRoom(at index: Int) -> (node: Node, index: Int, right: Node?) {
    if head + count == Self.capacity && (head >= Self.capacity / 4 || index < count) { slide() }
    guard head + count == Self.capacity else {
      move(from: self, index, to: index + 1, count - index)
      count += 1
      return (self, index, nil)
    }
    let right = Node(height: height)
    let isAtEnd = index == count
    let kept = isAtEnd ? count : count / 2
    right.move(from: self, kept, to: 0, count - kept)
    right.count = count - kept
    count = kept
    if index <= kept && !isAtEnd {
      let (node, place, _) = makeRoom(at: index)
      return (node, place, right)
    }
    let (node, place, _) = right.makeRoom(at: index - kept)
    return (node, place, right)
  }

  private func close(at index: Int) {
    guard index > 0 else {
      head = count > 1 ? head + 1 : 0
      return count -= 1
    }
    move(from: self, index + 1, to: index, count - index - 1)
    count -= 1
  }

  private func move(from other: Node, _ source: Int, to target: Int, _ count: Int) {
    guard count > 0 else { return }
    func move<T>(_ to: UnsafeMutablePointer<T>, _ from: UnsafeMutablePointer<T>) {
      UnsafeMutableRawPointer(to + target).copyMemory(from: from + source, byteCount: count * MemoryLayout<T>.stride)
    }
    move(keys, other.keys)
    move(sequences, other.sequences)
    move(costs, other.costs)
    move(slots, other.slots)
    if height > 0 { move(children, other.children) }
  }
}
