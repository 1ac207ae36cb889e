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

/// In which order of the index a record is, in which class or kind, and in which line of that.
struct IndexPlace {
  private var bits: UInt16 = 0

  init() {}

  @inline(__always)
  init(_ standing: Standing, _ group: Int, line: Int) {
    bits =
      UInt16(standing.rawValue) | UInt16(truncatingIfNeeded: group & 15) << 2 | UInt16(truncatingIfNeeded: line & 63)
      << 6
  }

  var standing: Standing { @inline(__always) get { Standing(rawValue: UInt8(bits & 3)) ?? .nowhere } }
  /// The number of the class, or of the kind of what is held.
  var group: Int { @inline(__always) get { Int(bits >> 2 & 15) } }
  var line: Int { @inline(__always) get { Int(bits >> 6 & 63) } }
}

/// Tasks that the same windows can run: of one kind, with the same constraints, all pushed or only pulled.
struct TaskClass {
  static let count = 16

  let number: Int

  init(number: Int) { self.number = number }

  init(_ kind: Kind, _ constraints: Constraints, pushes: Bool) {
    number = kind.index | Int(constraints.rawValue) << 1 | (pushes ? 8 : 0)
  }

  var kind: Kind { number & 1 == 0 ? .refresh : .processing }
  private var constraints: Constraints { Constraints(rawValue: UInt32(number >> 1 & 3)) }
  private var pushes: Bool { number & 8 != 0 }

  /// Whether a window takes its tasks.
  func isOpen(to offer: Offer) -> Bool {
    offer.kinds.contains(kind) && constraints.isSubset(of: offer.satisfied) && (pushes || !offer.pushes)
  }
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

  func union(_ other: Filled) -> Filled {
    var both = self
    both.bits |= other.bits
    return both
  }

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
  private let ages: UnsafeMutablePointer<OrderedSlots>
  /// The same tasks in the order of their sequence: what scores 0 has that order under the observed range. Made when
  /// it is first needed.
  private var births: UnsafeMutablePointer<OrderedSlots>?
  /// The lines that have a ranked task, by class, and the classes that have one.
  private var rankedLines = InlineArray<16, Filled>(repeating: Filled())
  private(set) var rankedClasses = Filled()
  /// No ranked task is younger; it only grows.
  private(set) var youngest = Instant.min
  private let dues: UnsafeMutablePointer<OrderedSlots>
  /// The classes that have a task that is not yet due.
  private(set) var dueClasses = Filled()
  private let helds: UnsafeMutablePointer<OrderedSlots>
  /// Standing tasks among the ranked of each class.
  private let standings: UnsafeMutablePointer<Int>
  /// What is not later than this is due; it only grows.
  private(set) var present = Instant.min
  /// Rankings of open cycles, and what they froze: they count what they lose.
  private var rankings: [Ranking] = []
  private var frozen: [UnsafeMutablePointer<Ranking.Frozen>] = []

  init(byFreshness: Bool) {
    lines = byFreshness ? Freshness.paces : Self.priorities
    ages = Self.lists(TaskClass.count * lines)
    dues = Self.lists(TaskClass.count)
    helds = Self.lists(2 * Self.priorities)
    standings = .allocate(capacity: TaskClass.count)
    standings.initialize(repeating: 0, count: TaskClass.count)
  }

  deinit {
    removeAll()
    ages.deallocate()
    births?.deallocate()
    dues.deallocate()
    helds.deallocate()
    standings.deallocate()
  }

  private static func lists(_ count: Int) -> UnsafeMutablePointer<OrderedSlots> {
    let lists = UnsafeMutablePointer<OrderedSlots>.allocate(capacity: count)
    lists.initialize(repeating: OrderedSlots(), count: count)
    return lists
  }

  func removeAll() {
    for list in 0..<(TaskClass.count * lines) {
      ages[list].removeAll()
      births?[list].removeAll()
    }
    for list in 0..<TaskClass.count {
      dues[list].removeAll()
      standings[list] = 0
    }
    for list in 0..<(2 * Self.priorities) { helds[list].removeAll() }
    rankedLines = InlineArray(repeating: Filled())
    (rankedClasses, dueClasses) = (Filled(), Filled())
  }

  // MARK: Lists

  /// The list in which a ranked record stands.
  func list(of record: TaskRecord) -> Int { record.place.group * lines + record.place.line }

  private static func list(_ kind: Kind, _ priority: UInt8) -> Int { kind.index * priorities + Int(priority) - 1 }

  func aged(_ list: Int) -> OrderedSlots { ages[list] }
  func born(_ list: Int) -> OrderedSlots { births?[list] ?? ages[list] }
  /// The next in the order of a list, of ages or of sequences, that costs at most this.
  @inline(__always)
  func next(_ list: Int, bySequence: Bool, after place: OrderKey, costing most: Cost) -> OrderedSlot? {
    ((bySequence ? births : nil) ?? ages)[list].next(after: place, costing: most)
  }
  func due(_ taskClass: TaskClass) -> OrderedSlots { dues[taskClass.number] }
  /// How many lists have a ranked task.
  var rankedLineCount: Int {
    var count = 0
    for number in rankedClasses { count += rankedLines[number].count }
    return count
  }

  /// The lists of a class that have a ranked task, in the order of their lines.
  @inline(__always)
  func forEachRanked(_ taskClass: TaskClass, _ body: (_ list: Int, _ line: Int) -> Void) {
    for line in rankedLines[taskClass.number] { body(taskClass.number * lines + line, line) }
  }
  /// How many standing tasks and others are ranked.
  func ranked(_ taskClass: TaskClass) -> (standing: Int, others: Int) {
    var count = 0
    forEachRanked(taskClass) { (list, _) in count += ages[list].count }
    return (standings[taskClass.number], count - standings[taskClass.number])
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

  func insertDue(_ slot: Int, _ record: UnsafeMutablePointer<TaskRecord>, _ taskClass: TaskClass) {
    record.pointee.place = IndexPlace(.due, taskClass.number, line: 0)
    dueClasses[taskClass.number] = true
    dues[taskClass.number].insert(slot, at: OrderKey(record.pointee.earliestBegin, record.pointee.sequence), cost: .any)
  }

  @_optimize(speed)
  func insertRanked(_ slot: Int, _ record: UnsafeMutablePointer<TaskRecord>, _ taskClass: TaskClass) {
    let line = record.line
    let list = taskClass.number * lines + line
    record.pointee.place = IndexPlace(.ranked, taskClass.number, line: line)
    let cost = Cost(record.estimate)
    let since = record.agesSince
    youngest = max(youngest, since)
    ages[list].insert(slot, at: OrderKey(since, record.pointee.sequence), cost: cost)
    births?[list].insert(slot, at: OrderKey(0, record.pointee.sequence), cost: cost)
    rankedLines[taskClass.number][line] = true
    rankedClasses[taskClass.number] = true
    count(record, taskClass.number, 1)
  }

  /// Takes a record from where it is; its fields are as they were when it was put there.
  @_optimize(speed)
  func remove(_ record: UnsafeMutablePointer<TaskRecord>) {
    let place = record.pointee.place
    let group = place.group
    switch place.standing {
    case .nowhere: return
    case .held: helds[place.line].remove(at: OrderKey(0, record.pointee.sequence))
    case .due:
      dues[group].remove(at: OrderKey(record.pointee.earliestBegin, record.pointee.sequence))
      if dues[group].count == 0 { dueClasses[group] = false }
    case .ranked:
      let list = group * lines + place.line
      ages[list].remove(at: OrderKey(record.agesSince, record.pointee.sequence))
      births?[list].remove(at: OrderKey(0, record.pointee.sequence))
      if ages[list].count == 0 {
        rankedLines[group][place.line] = false
        rankedClasses[group] = !rankedLines[group].isEmpty
      }
      count(record, group, -1)
    }
    record.pointee.place = IndexPlace()
  }

  /// A ranked record came or goes.
  private func count(_ record: UnsafeMutablePointer<TaskRecord>, _ taskClass: Int, _ change: Int) {
    if record.pointee.traits.schedule == .standing { standings[taskClass] += change }
    var index = frozen.count
    while index > 0 {
      index -= 1
      frozen[index].pointee.count(record, taskClass, change)
    }
  }

  /// Keeps the order of sequences from now on; answers whether the ranked must be given to `insertBirth` for that.
  func keepBirths() -> Bool {
    guard births == nil else { return false }
    births = Self.lists(TaskClass.count * lines)
    return true
  }

  func insertBirth(_ slot: Int, _ record: UnsafeMutablePointer<TaskRecord>, _ taskClass: TaskClass) {
    births?[taskClass.number * lines + record.line].insert(
      slot, at: OrderKey(0, record.pointee.sequence), cost: Cost(record.estimate))
  }

  // MARK: Rankings of open cycles

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
