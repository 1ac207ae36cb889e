// The memory of the records, which are looked at where they are.

/// Records at stable places until one is added.
struct RecordList {
  private var base: UnsafeMutablePointer<TaskRecord>?
  private var capacity = 0
  private(set) var count = 0

  @inline(__always)
  subscript(slot: Int) -> TaskRecord {
    // A slot is always one that was given out by `append`.
    unsafeAddress { UnsafePointer(base.unsafelyUnwrapped + slot) }
    nonmutating unsafeMutableAddress { base.unsafelyUnwrapped + slot }
  }

  /// The record itself, for as long as none is added.
  @inline(__always)
  func at(_ slot: Int) -> UnsafeMutablePointer<TaskRecord> { base.unsafelyUnwrapped + slot }

  mutating func append(_ record: consuming TaskRecord) {
    if count == capacity { grow() }
    (base.unsafelyUnwrapped + count).initialize(to: record)
    count += 1
  }

  private mutating func grow() {
    let room = max(16, capacity * 2)
    let new = UnsafeMutablePointer<TaskRecord>.allocate(capacity: room)
    if let base {
      new.moveInitialize(from: base, count: count)
      base.deallocate()
    }
    (base, capacity) = (new, room)
  }

  mutating func removeAll() {
    base?.deinitialize(count: count)
    base?.deallocate()
    (base, capacity, count) = (nil, 0, 0)
  }
}
