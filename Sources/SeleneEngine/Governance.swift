// What a scheduler keeps of its governor: the governor itself, what it last said, and the driver and recording that follow it.

import SeleneCore
import SeleneGovernor

/// The governor of a scheduler. Guarded by its lock.
struct Governance {
  var governor = Governor()
  var probe = SignalProbe()
  var recording: Recording?
  var driver: Driver?
  /// The last decision about each kind.
  var last = PerKind<Decision?>(repeating: nil)
  /// Ledger, habits or kept signals are not those of the store.
  var isUnsaved = false
  /// The vetoes that stop runs, as they stood at the last look; what is raised later is new (G6).
  private var standing = PerKind<UInt32>(repeating: 0)
  private var lookedAt: Instant = .min

  /// Looks at the vetoes that stop runs.
  ///
  /// - Returns: the kinds against which one is raised that was not at the last look.
  mutating func look(at now: Instant) -> KindSet {
    var raised: KindSet = []
    for kind in Kind.allCases {
      let vetoes = governor.standing(kind, at: now)
      if vetoes & ~standing[kind] != 0 { raised.formUnion(KindSet(kind)) }
      standing[kind] = vetoes
    }
    lookedAt = now
    return raised
  }

  /// What the system says of signals counts from now on.
  ///
  /// - Returns: whether anything that counts is now another value.
  mutating func absorb(_ readings: SignalReadings, at now: Instant) -> Bool {
    probe.apply(readings, to: &governor.signals, at: now)
  }

  /// When a signal expires that may raise such a veto.
  @inline(__always)
  var nextLook: Instant { governor.profile.preempts ? governor.signals.nextExpiry(after: lookedAt) : Time.never }

  // MARK: Storing

  /// What outlives the process.
  ///
  /// - Parameter ledger: another than the governor's, or nil.
  func books(at now: Instant, ledger: Ledger? = nil) -> StoredBooks {
    // What was said for a time ends with the process.
    func kept(_ signal: Signal) -> Int64? {
      governor.signals.said(signal, by: .host, at: now).flatMap { $0.until == Time.never ? $0.value : nil }
    }
    return StoredBooks(
      backgroundSwitch: kept(.backgroundSwitch), hostPresence: kept(.hostPresence),
      ledger: (ledger ?? governor.ledger).numbers,
      habits: governor.prediction.numbers)
  }

  /// Takes over what an earlier life left.
  ///
  /// - Parameter span: what its clock is moved by.
  /// - Throws: `storeCorrupt` for what no life leaves.
  mutating func restore(_ books: StoredBooks, movedBy span: Span = 0, at now: Instant) throws(SeleneError) {
    do throws(SeleneError) {
      governor.ledger = try Ledger(numbers: books.ledger)
      governor.prediction = try UsePrediction(numbers: books.habits)
      if span != 0 {
        governor.ledger.shift(by: span)
        governor.prediction.shift(by: span)
        isUnsaved = true
      }
      governor.ledger.mend(at: now)
      if let value = books.backgroundSwitch { try governor.signals.set(.backgroundSwitch, value, by: .host, at: now) }
      if let value = books.hostPresence { try governor.signals.set(.hostPresence, value, by: .host, at: now) }
    } catch {
      throw SeleneError(.storeCorrupt, "store", "the row of the governor is not valid: \(error.detail)")
    }
  }
}

extension Signal {
  /// Whether what the host says of it is kept in the store.
  var isKept: Bool { self == .backgroundSwitch || self == .hostPresence }
}
