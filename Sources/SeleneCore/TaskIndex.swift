// Where every waiting task stands, so that nothing that happens often walks all tasks.

/// In which order of the index a record is.
enum Standing: UInt8 {
  case nowhere
  /// It could run but for the time.
  case due
  /// It can run.
  case ranked
  /// It waits for a place of its kind.
  case held
}

/// In which order of the index a record is, in which class, and in which line of that.
struct IndexPlace {
  /// Two bits, seven of the line, the rest of the class.
  private var bits: UInt32 = 0

  init() {}

  @inline(__always)
  init(_ standing: Standing, _ taskClass: Int, line: Int) {
    bits =
      UInt32(standing.rawValue) | UInt32(truncatingIfNeeded: line & 127) << 2
      | UInt32(truncatingIfNeeded: taskClass) << 9
  }

  var standing: Standing { @inline(__always) get { Standing(rawValue: UInt8(bits & 3)) ?? .nowhere } }
  /// The number of the class.
  var taskClass: Int { @inline(__always) get { Int(bits >> 9) } }
  var line: Int { @inline(__always) get { Int(bits >> 2 & 127) } }
}

/// Which of up to 64 places have something, so that the others need no look.
struct Filled: Sequence, IteratorProtocol {
  private var bits: UInt64 = 0

  @inline(__always)
  subscript(place: Int) -> Bool {
    get { bits >> UInt64(truncatingIfNeeded: place) & 1 != 0 }
    set {
      let bit = UInt64(1) << UInt64(truncatingIfNeeded: place)
      bits = newValue ? bits | bit : bits & ~bit
    }
  }

  var isEmpty: Bool { bits == 0 }
  var count: Int { bits.nonzeroBitCount }

  @inline(__always)
  mutating func next() -> Int? {
    guard bits != 0 else { return nil }
    let place = bits.trailingZeroBitCount
    bits &= bits &- 1
    return place
  }
}

/// The orders in which tasks wait.
///
/// Tasks that can run stand by class and line in the order of their age, which within one line is the order of the score;
/// a task that ran goes to the end. A line has the tasks of one priority, or under the freshness rule those of one pace.
/// Tasks that are not yet due stand by class in the order of their earliest begin, and become ranked when a ranking or a
/// wake-up looks. Held ones stand by kind and priority in the order of their sequence.
final class TaskIndex {
  static let priorities = 5

  /// How many lines a class has.
  private let lines: Int
  private(set) var classes = TaskClasses()
  private var ages: UnsafeMutablePointer<OrderedSlots>
  /// The same tasks in the order of their sequence: what scores 0 has that order under the observed range. Made when
  /// it is first needed.
  private var births: UnsafeMutablePointer<OrderedSlots>?
  /// The lines that have a ranked task, by class, and the classes that have one.
  private var rankedLines: UnsafeMutablePointer<Filled>
  private(set) var rankedClasses = ClassSet()
  /// No ranked task is younger; it only grows.
  private(set) var youngest = Instant.min
  private var dues: UnsafeMutablePointer<OrderedSlots>
  /// The classes that have a task that is not yet due.
  private(set) var dueClasses = ClassSet()
  private let helds: UnsafeMutablePointer<OrderedSlots>
  /// Standing tasks among the ranked of each class.
  private var standings: UnsafeMutablePointer<Int>
  /// What is not later than this is due; it only grows.
  private(set) var present = Instant.min
  /// Rankings of open cycles, and what they froze: they count what they lose.
  private var rankings: [Ranking] = []
  private var frozen: [UnsafeMutablePointer<Ranking.Frozen>] = []

  init(byFreshness: Bool) {
    lines = byFreshness ? Freshness.paces : Self.priorities
    ages = Self.filled(classes.room * lines, OrderedSlots())
    rankedLines = Self.filled(classes.room, Filled())
    dues = Self.filled(classes.room, OrderedSlots())
    helds = Self.filled(2 * Self.priorities, OrderedSlots())
    standings = Self.filled(classes.room, 0)
  }

  deinit {
    removeAll()
    ages.deallocate()
    births?.deallocate()
    rankedLines.deallocate()
    dues.deallocate()
    helds.deallocate()
    standings.deallocate()
    rankedClasses.deallocate()
    dueClasses.deallocate()
    classes.deallocate()
  }

  private static func filled<T>(_ count: Int, _ value: T) -> UnsafeMutablePointer<T> {
    let new = UnsafeMutablePointer<T>.allocate(capacity: count)
    new.initialize(repeating: value, count: count)
    return new
  }

  private static func widen<T>(_ old: inout UnsafeMutablePointer<T>, _ count: Int, to wider: Int, _ value: T) {
    let new = UnsafeMutablePointer<T>.allocate(capacity: wider)
    new.moveInitialize(from: old, count: count)
    (new + count).initialize(repeating: value, count: wider - count)
    old.deallocate()
    old = new
  }

  func removeAll() {
    for list in 0..<(classes.room * lines) {
      ages[list].removeAll()
      births?[list].removeAll()
    }
    for number in 0..<classes.room {
      dues[number].removeAll()
      standings[number] = 0
      rankedLines[number] = Filled()
    }
    for list in 0..<(2 * Self.priorities) { helds[list].removeAll() }
    rankedClasses.removeAll()
    dueClasses.removeAll()
  }

  // MARK: Classes

  /// The number of a class, which it gets if it has none.
  ///
  /// - Parameter mayComeBack: the present call may be taken back. An open ranking knows the tasks that it then gets back by
  ///   the number of their class, so classes that the call has emptied keep theirs until it stands.
  func number(of taskClass: TaskClass, mayComeBack: Bool) -> Int {
    if let known = classes.find(taskClass) { return known }
    if classes.isFull { makeRoom(keepingEmpty: mayComeBack && !rankings.isEmpty) }
    return classes.add(taskClass)
  }

  /// The present call stands: classes are freed that were kept for its sake.
  func forgetEmptyClasses() {
    if keepsEmpty { makeRoom(keepingEmpty: false) }
  }

  /// Frees the classes that are empty, and widens the lists where that gave little.
  private func makeRoom(keepingEmpty: Bool) {
    let old = classes.room
    keepsEmpty = keepingEmpty
    let freed = classes.sweep { !keepingEmpty && rankedLines[$0].isEmpty && dues[$0].count == 0 }
    if !rankings.isEmpty { for number in freed { for ranking in rankings { ranking.forget(number) } } }
    let room = classes.room
    guard room > old else { return }
    Self.widen(&ages, old * lines, to: room * lines, OrderedSlots())
    if var births {
      Self.widen(&births, old * lines, to: room * lines, OrderedSlots())
      self.births = births
    }
    Self.widen(&rankedLines, old, to: room, Filled())
    Self.widen(&dues, old, to: room, OrderedSlots())
    Self.widen(&standings, old, to: room, 0)
    rankedClasses.makeRoom(room)
    dueClasses.makeRoom(room)
  }

  // MARK: Lists

  /// The list in which a ranked record stands.
  func list(of record: TaskRecord) -> Int { record.place.taskClass * lines + record.place.line }

  private static func list(_ kind: Kind, _ priority: UInt8) -> Int { kind.index * priorities + Int(priority) - 1 }

  func aged(_ list: Int) -> OrderedSlots { ages[list] }
  func born(_ list: Int) -> OrderedSlots { births?[list] ?? ages[list] }
  /// The next in the order of a list, of ages or of sequences, that costs at most this.
  @inline(__always)
  func next(_ list: Int, bySequence: Bool, after place: OrderKey, costing most: Cost) -> OrderedSlot? {
    ((bySequence ? births : nil) ?? ages)[list].next(after: place, costing: most)
  }
  func due(_ taskClass: Int) -> OrderedSlots { dues[taskClass] }
  /// How many lists have a ranked task.
  var rankedLineCount: Int {
    var count = 0
    rankedClasses.forEach { count += rankedLines[$0].count }
    return count
  }

  /// The lists of a class that have a ranked task, in the order of their lines.
  @inline(__always)
  func forEachRanked(_ taskClass: Int, _ body: (_ list: Int, _ line: Int) -> Void) {
    for line in rankedLines[taskClass] { body(taskClass * lines + line, line) }
  }
  /// How many standing tasks and others are ranked.
  func ranked(_ taskClass: Int) -> (standing: Int, others: Int) {
    var count = 0
    forEachRanked(taskClass) { (list, _) in count += ages[list].count }
    return (standings[taskClass], count - standings[taskClass])
  }

  /// The best of the tasks that wait for a place: higher priority first, then lower sequence (T6).
  func bestHeld(_ kind: Kind) -> Int? {
    var priority = UInt8(Self.priorities)
    while priority > 0 {
      if let first = helds[Self.list(kind, priority)].first { return first.slot }
      priority -= 1
    }
    return nil
  }

  // MARK: Records come and go

  func advance(to now: Instant) { present = max(present, now) }

  func insertHeld(_ slot: Int, _ record: UnsafeMutablePointer<TaskRecord>) {
    let list = Self.list(record.kind, record.priority)
    record.pointee.place = IndexPlace(.held, 0, line: list)
    helds[list].insert(slot, at: OrderKey(0, record.pointee.sequence), cost: .any)
  }

  func insertDue(_ slot: Int, _ record: UnsafeMutablePointer<TaskRecord>, _ taskClass: Int) {
    record.pointee.place = IndexPlace(.due, taskClass, line: 0)
    dueClasses.set(taskClass, true)
    dues[taskClass].insert(slot, at: OrderKey(record.pointee.earliestBegin, record.pointee.sequence), cost: .any)
  }

  @_optimize(speed)
  func insertRanked(_ slot: Int, _ record: UnsafeMutablePointer<TaskRecord>, _ taskClass: Int) {
    let line = record.line
    let list = taskClass * lines + line
    record.pointee.place = IndexPlace(.ranked, taskClass, line: line)
    let cost = Cost(record.leastRoom)
    let since = record.agesSince
    youngest = max(youngest, since)
    ages[list].insert(slot, at: OrderKey(since, record.pointee.sequence), cost: cost)
    births?[list].insert(slot, at: OrderKey(0, record.pointee.sequence), cost: cost)
    rankedLines[taskClass][line] = true
    rankedClasses.set(taskClass, true)
    count(record, taskClass, 1)
  }

  /// Takes a record from where it is; its fields are as they were when it was put there.
  @_optimize(speed)
  func remove(_ record: UnsafeMutablePointer<TaskRecord>) {
    let place = record.pointee.place
    let taskClass = place.taskClass
    switch place.standing {
    case .nowhere: return
    case .held: helds[place.line].remove(at: OrderKey(0, record.pointee.sequence))
    case .due:
      dues[taskClass].remove(at: OrderKey(record.pointee.earliestBegin, record.pointee.sequence))
      if dues[taskClass].count == 0 { dueClasses.set(taskClass, false) }
    case .ranked:
      let list = taskClass * lines + place.line
      ages[list].remove(at: OrderKey(record.agesSince, record.pointee.sequence))
      births?[list].remove(at: OrderKey(0, record.pointee.sequence))
      if ages[list].count == 0 {
        rankedLines[taskClass][place.line] = false
        if rankedLines[taskClass].isEmpty { rankedClasses.set(taskClass, false) }
      }
      count(record, taskClass, -1)
    }
    record.pointee.place = IndexPlace()
  }

  /// A ranked record came or goes.
  @inline(__always)
  private func count(_ record: UnsafeMutablePointer<TaskRecord>, _ taskClass: Int, _ change: Int) {
    if record.pointee.traits.isStanding { standings[taskClass] += change }
    var index = frozen.count
    while index > 0 {
      index -= 1
      frozen[index].pointee.count(record, taskClass, change)
    }
  }

  /// Keeps the order of sequences from now on; answers whether the ranked must be given to `insertBirth` for that.
  func keepBirths() -> Bool {
    guard births == nil else { return false }
    births = Self.filled(classes.room * lines, OrderedSlots())
    return true
  }

  func insertBirth(_ slot: Int, _ record: UnsafeMutablePointer<TaskRecord>, _ taskClass: Int) {
    births?[taskClass * lines + record.line].insert(
      slot, at: OrderKey(0, record.pointee.sequence), cost: Cost(record.leastRoom))
  }

  // MARK: Rankings of open cycles

  /// Cycles are open.
  var hasRankings: Bool { !rankings.isEmpty }
  /// Classes that are empty were not freed when there was no room for more.
  private var keepsEmpty = false

  func open(_ ranking: Ranking) {
    rankings.append(ranking)
    frozen.append(ranking.frozen)
  }

  func close(_ ranking: Ranking) {
    guard let place = rankings.firstIndex(where: { $0 === ranking }) else { return }
    rankings.remove(at: place)
    frozen.remove(at: place)
  }
}
