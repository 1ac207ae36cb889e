// What keeps a scheduler from working, and what of it was told: when it begins, becomes worse or another, and ends, never a
// flood (C19).

/// The causes; the raw values are the header's bits.
package enum Trouble: UInt32, CaseIterable, Sendable {
  /// The store refused the last commit.
  case store = 1
  /// The system refused to start a thread.
  case thread = 2
  /// As many threads as are allowed are in functions of the host that overran.
  case overrun = 4
  /// The observer does not keep up; events are lost.
  case observer = 8
  /// A handler has left as many threads behind as one may (R4).
  case handler = 16
  /// The clock has jumped (P2).
  case clock = 32
  /// The database of the fleet does not answer, or refuses what its node asks (N14).
  case fleet = 64
  /// The clocks of the fleet's database and of this machine do not run alike (N12).
  case fleetClock = 128
}

/// The troubles of one scheduler.
package struct Troubles: Sendable {
  private struct State {
    var isOn = false
    /// The observer was told of it since it began.
    var isTold = false
    /// The status and the cause that were told last, and when.
    var toldStatus: Int32 = 0
    var toldCause: UInt64 = 0
    var toldAt: Instant = .min
    /// When it last kept something from working.
    var lastAt: Instant = .min
  }

  private var states = [State](repeating: State(), count: Trouble.allCases.count)

  /// A trouble that comes and goes, or changes, is told of no more often than this.
  package static let quiet = Time.minute
  /// Trying again sooner than this after a refusal is not worth it.
  private static let pause = Time.second

  package init() {}

  private static func place(of trouble: Trouble) -> Int { trouble.rawValue.trailingZeroBitCount }

  package func isOn(_ trouble: Trouble) -> Bool { states[Self.place(of: trouble)].isOn }

  /// The bits of those that are on.
  package var on: UInt32 { Trouble.allCases.reduce(0) { $0 | (isOn($1) ? $1.rawValue : 0) } }

  /// When it is worth trying again what a trouble refused; the distant past without one.
  package func triesAgainAt(_ trouble: Trouble) -> Instant {
    let state = states[Self.place(of: trouble)]
    return state.isOn ? state.lastAt.adding(Self.pause) : .min
  }

  /// Something did not work because of it.
  ///
  /// - Parameter cause: what tells troubles of one status apart; 0: nothing, which is better than a cause.
  /// - Returns: whether to tell of it: it is new, is worse (a greater status, or a cause where there was none) than what was
  ///   told, or is not what was told.
  package mutating func begin(_ trouble: Trouble, status: Int32, cause: UInt64 = 0, at now: Instant) -> Bool {
    let place = Self.place(of: trouble)
    var state = states[place]
    let isSame = state.isOn && state.isTold && status == state.toldStatus && cause == state.toldCause
    let isQuiet = state.toldStatus != 0 && now < state.toldAt.adding(Self.quiet)
    let isWorse = status > state.toldStatus || (status == state.toldStatus && state.toldCause == 0 && cause != 0)
    let tells = isWorse || (!isSame && !isQuiet)
    state.isOn = true
    state.lastAt = now
    if tells { (state.isTold, state.toldStatus, state.toldCause, state.toldAt) = (true, status, cause, now) }
    states[place] = state
    return tells
  }

  /// It works again.
  ///
  /// - Returns: whether to tell of it: its begin was told.
  package mutating func end(_ trouble: Trouble) -> Bool {
    let place = Self.place(of: trouble)
    let tells = states[place].isOn && states[place].isTold
    (states[place].isOn, states[place].isTold) = (false, false)
    return tells
  }
}
