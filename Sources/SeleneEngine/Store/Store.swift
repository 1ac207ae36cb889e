// The store seam: where records outlive the process (D1, D2).

import SeleneCore

/// What a scheduler keeps besides its records.
struct StoredState: Equatable {
  var life: UInt64 = 0
  var lastSequence: UInt64 = 0
  /// Scheduler time when it was last written.
  var lastSeen: Instant = .min
  /// Begin of the last cycle of each kind.
  var lastRefresh: Instant?
  var lastProcessing: Instant?
  var generator: UInt64 = 0
}

/// What a scheduler keeps of its governor (G1, G4, G5).
struct StoredBooks {
  /// What the host said of these signals; nil: nothing.
  var backgroundSwitch: Int64?
  var hostPresence: Int64?
  /// `Ledger.numbers`.
  var ledger: [Int64]
  /// `UsePrediction.numbers`.
  var habits: [Int64]
  /// `ExpeditedLedger.numbers`.
  var expedited: [Int64] = []
}

/// Keeps what a scheduler holds. This one keeps nothing: the tasks live in memory.
///
/// The scheduler calls it under its lock, after a rule changed the table and before anybody hears of it.
package class Store {
  /// Whether anything is kept, so that changes have to be written down.
  var isDurable: Bool { false }
  /// Whether a refused commit may be tried again; not after one whose outcome is unknown.
  var canGoOn: Bool { true }
  /// What was kept before this scheduler.
  private(set) var opened = StoredState()

  package init() {}

  /// Hands over every record that was kept, in order of sequence.
  ///
  /// - Throws: `storeCorrupt`, `storeIO`.
  func load(into table: TaskTable) throws(SeleneError) {}

  /// What was kept of the governor, or nil.
  ///
  /// - Throws: `storeCorrupt`, `storeIO`.
  func loadBooks() throws(SeleneError) -> StoredBooks? { nil }

  /// Commits since it was opened.
  final var commits: UInt64 = 0

  /// Where it is kept, or nil.
  var path: Bytes? { nil }

  /// Whether a save would write something, also without books and changes of runs.
  func hasChanges(_ table: TaskTable, _ state: StoredState) -> Bool { true }

  /// Makes the differences durable in one commit.
  ///
  /// - Parameter books: those of the governor, if they are other than the store's.
  /// - Parameter isLast: write also what only the last save has to.
  /// - Throws: `storeFull`, `storeIO`, `storeCorrupt`: nothing was kept; `outcomeUnknown`: that is not known.
  func save(
    _ table: TaskTable, _ state: StoredState, _ books: StoredBooks? = nil, isLast: Bool
  ) throws(SeleneError) {}

  /// Looks whether what is committed next would be found again (D6).
  ///
  /// - Throws: `storeMoved`; a status of stores if that cannot be told.
  func look() throws(SeleneError) {}

  /// Forgets every record, in one commit.
  func erase(_ state: StoredState, _ books: StoredBooks) throws(SeleneError) {}

  /// Copies what is kept into a new file.
  func backUp(to target: Bytes) throws(SeleneError) {
    throw SeleneError(.unsupported, "this scheduler has no store; its tasks live in memory")
  }

  /// What the next save writes of the logs, and what the last one wrote (W8).
  final var waits: KeptWaits?
  final var keptWaits: KeptWaits?

  /// What the next save writes of the runs that other processes have (L10).
  final var runs: [StoredRunChange] = []

  /// The runs that other processes had when it was written last.
  ///
  /// - Throws: `storeCorrupt`, `storeIO`.
  func loadRuns() throws(SeleneError) -> [StoredRun] { [] }

  func facts() throws(SeleneError) -> StoreFacts { StoreFacts() }

  func close() {}

  final func remember(_ state: StoredState) { opened = state }
}

/// What a store tells of itself.
package struct StoreFacts {
  package var path: Bytes?
  package var sqliteVersion: Bytes?
  package var isRelaxed = false
  package var schemaVersion: Int32 = 0
  package var pageSize: UInt64 = 0
  package var pages: UInt64 = 0
  package var walSize: UInt64 = 0
  package var commits: UInt64 = 0
  /// Whose it is, or nil.
  package var owner: Bytes?
}
