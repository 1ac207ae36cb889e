// What the runs of handlers took lately, over all their tasks: what is expected of a task that says nothing else (R8).

/// The last response times of the runs of one handler.
package struct HandlerTimes {
  package let name: Bytes
  private var times = InlineArray<30, Span>(repeating: 0)
  private var count = 0
  /// Where the next one goes; once there are as many as are kept, it takes the place of the oldest.
  private var next = 0
  /// The store has others.
  fileprivate var isUnsaved = false
  /// The number of its last use.
  fileprivate var usedAt: UInt64 = 0

  package init(_ name: Bytes) { self.name = name }

  /// As a store has them, oldest first; nil if it cannot have those.
  package init?(_ name: Bytes, stored times: [Span]) {
    guard (1...255).contains(name.count), (1...TaskDefinition.mostResponseTimes).contains(times.count),
      times.allSatisfy({ $0 >= 0 })
    else { return nil }
    self.name = name
    for time in times { add(time, use: 0) }
  }

  /// Oldest first.
  package var responseTimes: [Span] {
    let oldest = count < TaskDefinition.mostResponseTimes ? 0 : next
    return (0..<count).map { times[(oldest + $0) % TaskDefinition.mostResponseTimes] }
  }

  @inline(__always)
  fileprivate mutating func add(_ time: Span, use: UInt64) {
    times[next] = time
    next = next + 1 < TaskDefinition.mostResponseTimes ? next + 1 : 0
    if count < TaskDefinition.mostResponseTimes { count += 1 }
    usedAt = use
  }

  /// The mean of the last ones, rounded down; nil if none counts.
  fileprivate func mean(ofLast window: Int) -> Span? {
    let count = min(window, count)
    guard count > 0 else { return nil }
    var sum: Span = 0
    var place = next
    for _ in 0..<count {
      place = place > 0 ? place - 1 : TaskDefinition.mostResponseTimes - 1
      sum = sum.adding(times[place])
    }
    return sum / Int64(count)
  }
}

/// The times of all handlers that are known, by name: also of those that are not registered now.
package struct HandlerTimesList {
  /// How many handlers are known; then the one whose runs lie back furthest is forgotten.
  package static let capacity = 1_024

  private var entries: [HandlerTimes] = []
  private var index = TextIndex()
  private var uses: UInt64 = 0
  /// Where the times of the roster's numbers stand; −1 where that was not looked for yet.
  private var places: [Int32] = []
  /// Those that the store has to be told of, in the order in which they stand in it; some twice.
  private var unsaved: [Int] = []

  package var count: Int { entries.count }
  package subscript(place: Int) -> HandlerTimes { entries[place] }

  // MARK: Reading

  /// What a run of a definition takes by what its handler's took, or nil while it has none.
  func mean(_ definition: TaskDefinition, handler number: Int32) -> Span? {
    guard !entries.isEmpty, definition.responseWindow > 0 else { return nil }
    let known = Int(number)
    let place = places.indices.contains(known) && places[known] >= 0 ? Int(places[known]) : find(definition.handler)
    return place.flatMap { entries[$0].mean(ofLast: Int(definition.responseWindow)) }
  }

  private func find(_ name: UnsafeRawBufferPointer) -> Int? { index.find(name) { entries[$0].name.buffer } }

  // MARK: Writing

  /// A run of a handler took a time, if it is known where that one's times stand.
  @inline(__always)
  mutating func add(_ time: Span, ofKnown number: Int32) -> Bool {
    guard number >= 0, Int(number) < places.count, places[Int(number)] >= 0 else { return false }
    uses += 1
    entries[Int(places[Int(number)])].add(time, use: uses)
    return true
  }

  /// The same of any, by the definition of the task: where its times stand, and what stood there.
  ///
  /// - Parameter isKept: the store has to be told.
  @inline(never)
  mutating func add(
    _ time: Span, of definition: TaskDefinition, handler number: Int32, isKept: Bool
  ) -> (place: Int, old: HandlerTimes?) {
    uses += 1
    let found = find(definition.handler)
    let place = found ?? freePlace()
    let old = place < entries.count ? entries[place] : nil
    if found == nil { put(HandlerTimes(Bytes(copying: definition.handler)), at: place) }
    if number >= 0 {
      while places.count <= Int(number) { places.append(-1) }
      places[Int(number)] = Int32(place)
    }
    entries[place].add(time, use: uses)
    if isKept && !entries[place].isUnsaved {
      unsaved.append(place)
      entries[place].isUnsaved = true
    }
    return (place, old)
  }

  /// A new place, or that of the one whose runs lie back furthest.
  private func freePlace() -> Int {
    guard entries.count == Self.capacity else { return entries.count }
    return entries.indices.min { entries[$0].usedAt < entries[$1].usedAt } ?? 0
  }

  private mutating func put(_ times: HandlerTimes, at place: Int) {
    if place < entries.count {
      forget(place)
      entries[place] = times
    } else {
      entries.append(times)
    }
    index.set(times.name.buffer, to: place) { entries[$0].name.buffer }
  }

  /// Nothing leads to a place any more.
  private mutating func forget(_ place: Int) {
    index.remove(entries[place].name.buffer) { entries[$0].name.buffer }
    for number in places.indices where places[number] == Int32(place) { places[number] = -1 }
  }

  /// Puts back what stood in a place, or nothing, in the opposite order of the changes.
  mutating func restore(_ place: Int, _ old: HandlerTimes?) {
    guard let old else {
      forget(place)
      entries.removeLast()
      return
    }
    put(old, at: place)
  }

  /// A handler's number stands for another name from now on.
  mutating func free(_ number: Int) { if places.indices.contains(number) { places[number] = -1 } }

  /// Takes what a store has of the next place.
  ///
  /// - Returns: false if that cannot be.
  package mutating func load(_ times: HandlerTimes) -> Bool {
    guard entries.count < Self.capacity, find(times.name.buffer) == nil else { return false }
    put(times, at: entries.count)
    return true
  }

  mutating func removeAll() { self = HandlerTimesList() }

  // MARK: The store

  package var isUnsaved: Bool { !unsaved.isEmpty }

  /// The places that differ from the store.
  package var unsavedPlaces: [Int] { unsaved.filter { $0 < entries.count } }

  mutating func noteSaved() {
    guard !unsaved.isEmpty else { return }
    for place in unsaved where place < entries.count { entries[place].isUnsaved = false }
    unsaved.removeAll(keepingCapacity: true)
  }
}
