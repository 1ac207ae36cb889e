// What of the logs outlives the process: numbers that are written with commits that happen anyway (W8).

/// What a store gets of the logs, and keeps as one row.
package struct KeptWaits: Sendable {
  package var words: [Int64]
  /// It is all there is, in place of all rows before.
  package var isWhole: Bool
  package var place: Int64
}

extension TaskTable {
  /// All rows of the logs are read, and all records, in the order of their sequences.
  package func finishLoadingWaits() {
    waits.finishLoading { sequence in
      var (low, high) = (0, self.slots.count)
      while low < high {
        let middle = (low + high) / 2
        if self.sequence(middle) < sequence { low = middle + 1 } else { high = middle }
      }
      return low < self.slots.count && self.sequence(low) == sequence ? low : nil
    }
  }
}

extension WaitLog {
  /// They are written no more often than this, and when the store is closed.
  private static var pause: Span { 10 * Time.second }
  /// With so many rows all are written anew as one.
  private static var mostRows: Int64 { 64 }

  private enum Word {
    static let life: Int64 = 1
    static let cause: Int64 = 2
    static let window: Int64 = 3
    static let dispatch: Int64 = 4
    static let known: Int64 = 5
    static let pool: Int64 = 6
    /// A window of a pool.
    static let pooled: Int64 = 7
    /// A cause of a group or a handler; as `cause`, their names had numbers of 32 bits, which may have been another's.
    static let named: Int64 = 8
  }

  /// The numbers of the rings behind those of the conditions.
  private static var rings: Int { 64 }
  private static var ofWindows: Int { 80 }

  private func forEachCause(_ body: (Int, WaitRing<WaitCause>) -> Void) {
    for bit in conditions.indices { if let ring = conditions[bit] { body(bit, ring) } }
    for (number, ring)
      in [states, refusals.refresh, refusals.processing, groups, handlers, quota, pauses, suspects].enumerated()
    {
      body(Self.rings + number, ring)
    }
  }

  private static func isNamed(_ ring: Int) -> Bool { ring == rings + 3 || ring == rings + 4 }

  private func ring(_ number: Int) -> WaitRing<WaitCause>? {
    switch number {
    case 0..<Self.rings:
      return ring(ofCondition: number)
    case Self.rings: return states
    case Self.rings + 1: return refusals.refresh
    case Self.rings + 2: return refusals.processing
    case Self.rings + 3: return groups
    case Self.rings + 4: return handlers
    case Self.rings + 5: return quota
    case Self.rings + 6: return pauses
    case Self.rings + 7: return suspects
    default: return nil
    }
  }

  // MARK: Writing

  /// What the store does not have yet, if it is time to write it; `noteKept` when it has it.
  ///
  /// - Parameter isLast: the store is closed with it.
  package func pack(at now: Instant, isLast: Bool) -> KeptWaits? {
    guard isKept, isLast || now.subtracting(keptAt) >= Self.pause, let life = lives.last else { return nil }
    let isWhole = place >= Self.mostRows
    var words: [Int64] = []
    if isWhole {
      for place in 0..<max(0, lives.count - 1) {
        words += [Word.life, lives[place].at, lives[place].end, lives[place].wasClosed ? 1 : 0]
      }
    }
    words += [Word.life, life.at, now, isLast ? 1 : 0]
    for pool in pools[(isWhole ? 0 : storedPools)...] { words += [Word.pool, Int64(bitPattern: pool)] }
    givenPools = pools.count
    forEachCause { number, ring in
      let first = ring.firstToKeep(isWhole)
      if (isWhole || first.isBroken) && ring.knownSince != .min {
        words += [Word.known | Int64(number) << 8, ring.knownSince]
      }
      for place in first.place..<ring.count {
        let cause = ring[place]
        let word = Self.isNamed(number) ? Word.named : Word.cause
        words += [
          word | Int64(number) << 8 | Int64(cause.old) << 16 | Int64(cause.new) << 32, cause.at,
          Int64(bitPattern: cause.subject),
        ]
      }
      ring.seal()
    }
    let first = windows.firstToKeep(isWhole)
    if (isWhole || first.isBroken) && windows.knownSince != .min {
      words += [Word.known | Int64(Self.ofWindows) << 8, windows.knownSince]
    }
    pack(windows: first.place, into: &words)
    // One that is open is written again.
    windows.seal(openWindow)
    for place in dispatches.firstToKeep(isWhole).place..<dispatches.count {
      let dispatch = dispatches[place]
      words += [
        Word.dispatch | Int64(dispatch.window) << 32, dispatch.at, Int64(bitPattern: dispatch.sequence),
      ]
    }
    dispatches.seal()
    packedAt = now
    return KeptWaits(words: words, isWhole: isWhole, place: isWhole ? 1 : place + 1)
  }

  private func pack(windows first: Int, into words: inout [Int64]) {
    for place in first..<windows.count {
      let window = windows[place]
      let flags =
        (window.isStrict ? 1 : 0) | (window.isRolling ? 2 : 0) | (window.pushes ? 4 : 0) as Int64 | Int64(window.early)
        << 3 | Int64(window.paused) << 5
      words += [
        (window.pool == 0 ? Word.window : Word.pooled) | Int64(window.kinds) << 8 | flags << 16 | Int64(window.veto)
          << 32,
        Int64(bitPattern: windows.dropped + UInt64(place)), window.at, window.end, window.expiresAt, window.firstAt,
        window.vetoedAt, window.opensAt.0, window.opensAt.1, Int64(bitPattern: window.stamp),
        Int64(bitPattern: window.lastSequence), Int64(bitPattern: window.satisfied),
      ]
      if window.pool != 0 { words.append(Int64(bitPattern: window.pool)) }
    }
  }

  /// The first window that may still change.
  private var openWindow: UInt64 {
    var first = windows.total
    // Of each pool a window of each kind may be open, and none is for more than a day.
    for place in (0..<windows.count).reversed() {
      guard windows[place].at >= windows[windows.count - 1].at.subtracting(Time.day) else { break }
      if windows[place].end == Time.never { first = windows.dropped + UInt64(place) }
    }
    return first
  }

  /// The store has what was packed last.
  package func noteKept(_ kept: KeptWaits) {
    keptAt = packedAt
    place = kept.place
    storedPools = givenPools
    forEachCause { _, ring in ring.noteKept() }
    windows.noteKept()
    dispatches.noteKept()
  }

  // MARK: Reading

  /// Takes a row of a store.
  ///
  /// - Returns: false if that cannot be.
  package func load(_ words: [Int64], at place: Int64) -> Bool {
    guard place > self.place else { return false }
    self.place = place
    var next = 0
    func take(_ count: Int) -> ArraySlice<Int64>? {
      guard words.count - next >= count else { return nil }
      defer { next += count }
      return words[next..<next + count]
    }
    while next < words.count {
      let head = words[next]
      switch head & 0xFF {
      case Word.life:
        guard let life = take(4) else { return false }
        loadLife(at: life[life.startIndex + 1], end: life[life.startIndex + 2], wasClosed: life.last == 1)
      case Word.known:
        guard let known = take(2), let at = known.last else { return false }
        if Int(head >> 8 & 0xFF) == Self.ofWindows {
          windows.forget(before: at)
          continue
        }
        guard let ring = ring(Int(head >> 8 & 0xFF)) else { return false }
        ring.forget(before: at)
      case Word.cause, Word.named:
        let number = Int(head >> 8 & 0xFF)
        guard let cause = take(3), let subject = cause.last, let ring = ring(number) else { return false }
        // What a condition's number stood for is not known of logs that had only that.
        let hasName = Self.isNamed(number) ? head & 0xFF == Word.named : !(32..<64).contains(number) || subject != 0
        guard hasName else {
          ring.forget(before: cause[cause.startIndex + 1].adding(1))
          continue
        }
        ring.append(
          WaitCause(
            at: cause[cause.startIndex + 1], subject: UInt64(bitPattern: subject),
            old: UInt16(truncatingIfNeeded: head >> 16), new: UInt16(truncatingIfNeeded: head >> 32)))
      case Word.pool:
        guard let pool = take(2)?.last else { return false }
        note(pool: UInt64(bitPattern: pool))
      case Word.window, Word.pooled:
        guard let window = take(head & 0xFF == Word.window ? 12 : 13) else { return false }
        loadWindow(head, Array(window))
      case Word.dispatch:
        guard let dispatch = take(3), let sequence = dispatch.last else { return false }
        dispatches.append(
          WaitDispatch(
            at: dispatch[dispatch.startIndex + 1], sequence: UInt64(bitPattern: sequence), slot: .max,
            window: UInt32(truncatingIfNeeded: head >> 32)))
      default: return false
      }
    }
    return true
  }

  private func loadLife(at: Instant, end: Instant, wasClosed: Bool) {
    if lives.last?.at == at { lives.removeLast() }
    lives.append(WaitLife(at: at, end: end, wasClosed: wasClosed))
  }

  private func loadWindow(_ head: Int64, _ words: [Int64]) {
    var window = WaitWindow(
      at: words[2], expiresAt: words[4], kinds: UInt8(truncatingIfNeeded: head >> 8),
      early: UInt8(truncatingIfNeeded: head >> 19 & 3), paused: UInt8(truncatingIfNeeded: head >> 21 & 3),
      isStrict: head >> 16 & 1 != 0, isRolling: head >> 16 & 2 != 0,
      pushes: head >> 16 & 4 != 0, opensAt: (words[7], words[8]),
      stamp: UInt64(bitPattern: words[9]), lastSequence: UInt64(bitPattern: words[10]),
      satisfied: UInt64(bitPattern: words[11]), pool: words.count > 12 ? UInt64(bitPattern: words[12]) : 0)
    (window.end, window.firstAt, window.vetoedAt) = (words[3], words[5], words[6])
    window.veto = UInt16(truncatingIfNeeded: head >> 32)
    windows.put(window, at: UInt64(bitPattern: words[1]))
  }

  /// All rows are read: what was open ended with the life that ended last.
  ///
  /// - Parameter find: the slot of a sequence.
  package func finishLoading(_ find: (UInt64) -> Int?) {
    guard let end = lives.last?.end else { return }
    for place in 0..<windows.count where windows[place].end == Time.never { windows[place].end = end }
    for place in 0..<dispatches.count {
      let old = dispatches[place]
      let slot = find(old.sequence).map { UInt32(truncatingIfNeeded: $0) } ?? .max
      dispatches[place] = WaitDispatch(at: old.at, sequence: old.sequence, slot: slot, window: old.window)
    }
    forEachCause { _, ring in
      ring.seal()
      ring.noteKept()
    }
    windows.seal(nil)
    windows.noteKept()
    (storedPools, givenPools) = (pools.count, pools.count)
    dispatches.seal()
    dispatches.noteKept()
  }

  /// The last value of each subject of a log that has one.
  func lastValues(_ ring: WaitRing<WaitCause>) -> [WaitCause] {
    let seen = NumberMap<Bool>()
    var last: [WaitCause] = []
    for place in (0..<ring.count).reversed() where seen[ring[place].subject] == nil {
      seen[ring[place].subject] = true
      last.append(ring[place])
    }
    return last
  }
}
