// The memory of the records, which are looked at where they are.

/// Records at places that stay: it grows by pieces, so that nothing is moved and little is taken in advance.
struct RecordList {
  private typealias Piece = UnsafeMutablePointer<TaskRecord>

  /// Records of a piece, as a power of two.
  private static let shift = 7
  private static let mask = 1 << shift - 1

  private var pieces: UnsafeMutablePointer<Piece>?
  /// How many pieces there are, and how many `pieces` has room for.
  private var (made, room) = (0, 0)
  private(set) var count = 0

  @inline(__always)
  subscript(slot: Int) -> TaskRecord {
    unsafeAddress { UnsafePointer(at(slot)) }
    nonmutating unsafeMutableAddress { at(slot) }
  }

  /// The record itself.
  @inline(__always)
  func at(_ slot: Int) -> UnsafeMutablePointer<TaskRecord> {
    // A slot is always one that was given out by `append`.
    pieces.unsafelyUnwrapped[slot >> Self.shift] + (slot & Self.mask)
  }

  mutating func append(_ record: consuming TaskRecord) {
    if count >> Self.shift == made { grow() }
    at(count).initialize(to: record)
    count += 1
  }

  private mutating func grow() {
    if made == room {
      let wider = max(8, room * 2)
      let new = UnsafeMutablePointer<Piece>.allocate(capacity: wider)
      if let pieces {
        new.moveInitialize(from: pieces, count: made)
        pieces.deallocate()
      }
      (pieces, room) = (new, wider)
    }
    (pieces.unsafelyUnwrapped + made).initialize(to: .allocate(capacity: 1 << Self.shift))
    made += 1
  }

  mutating func removeAll() {
    for slot in 0..<count { at(slot).deinitialize(count: 1) }
    for piece in 0..<made { pieces?[piece].deallocate() }
    pieces?.deallocate()
    (pieces, made, room, count) = (nil, 0, 0, 0)
  }
}
