// Who has a store file: one connection of one process at a time (D1, D5).
//
// SQLite's locks belong to a process and a file: closing any descriptor of a file drops all of them. So a file that is open
// here is not touched a second time, not even to look at it; and what else in the process touches it leaves the lock that
// is taken here.

import CPlatform
import SeleneCore

/// The right of one connection to touch a file.
struct StoreClaim {
  private let device: UInt64
  private let inode: UInt64
  /// Whether it is only to keep the file from becoming a store; many may look at it then.
  private let isShared: Bool
  /// Keeps other processes out, and other copies of this library in this one.
  private var lock: OpaquePointer?

  /// What is claimed. Guarded by the registry lock, so a forked child finds it whole.
  nonisolated(unsafe) private static var claimed: [StoreClaim] = []

  /// Claims an existing file.
  ///
  /// - Throws: `storeLocked` while it is open anywhere, `storeCannotOpen` if there is none.
  static func take(
    _ file: Bytes, isShared: Bool = false, as noun: Literal = "store"
  ) throws(SeleneError) -> StoreClaim {
    var facts = platform_file_facts()
    let error = file.withCString { platform_file_look($0, &facts) }
    guard error == 0 else { throw StoreFile.error(error, file, as: noun) }
    var claim = StoreClaim(device: facts.device, inode: facts.inode, isShared: isShared)
    platform_registry_lock()
    let isFree = !claimed.contains { $0.isOf(claim) && !($0.isShared && isShared) }
    if isFree { claimed.append(claim) }
    platform_registry_unlock()
    guard isFree else {
      throw SeleneError(
        .storeLocked, noun, path: file, "open in this process, or was when it forked")
    }
    guard !isShared else { return claim }
    do throws(SeleneError) {
      try claim.lock(file)
      return claim
    } catch {
      claim.release()
      throw error
    }
  }

  private mutating func lock(_ file: Bytes) throws(SeleneError) {
    var holder = platform_holder()
    let error = file.withCString { platform_lock_take($0, device, inode, &lock, &holder) }
    guard error == 0 else { throw Self.error(error, file, holder) }
  }

  /// Keeps out also a process that has only SQLite's locks. The connection has them by now.
  func complete(_ file: Bytes) throws(SeleneError) {
    let error = platform_lock_complete(lock)
    guard error == 0 else { throw Self.error(error, file, platform_holder()) }
  }

  private static func error(_ number: Int32, _ file: Bytes, _ holder: platform_holder) -> SeleneError {
    guard number == StoreFile.again else { return StoreFile.error(number, file) }
    if holder.process == 0 {
      let place: StaticString = holder.is_elsewhere == 0 ? "" : " of another container or machine"
      return SeleneError(.storeLocked, "store", path: file, "open in another process\(place)")
    }
    if holder.process == platform_process() {
      return SeleneError(
        .storeLocked, "store", path: file, "open in this process, through another copy of the library or SQLite")
    }
    return withUnsafeBytes(of: holder.name) { name in
      let name = UnsafeRawBufferPointer(rebasing: name[..<(name.firstIndex(of: 0) ?? name.count)])
      guard !name.isEmpty else {
        return SeleneError(.storeLocked, "store", path: file, "open in process \(holder.process)")
      }
      return SeleneError(
        .storeLocked, "store", path: file, "open in process \(holder.process) (\(text: name))")
    }
  }

  /// Ends the right, and all locks of this process on the file.
  func release() {
    // As long as it is claimed this process has no other locks on it.
    platform_lock_release(lock)
    platform_registry_lock()
    if let place = Self.claimed.firstIndex(where: { $0.isOf(self) }) { Self.claimed.remove(at: place) }
    platform_registry_unlock()
  }

  /// Whether a file is the one that was claimed.
  func isOf(_ facts: platform_file_facts) -> Bool { device == facts.device && inode == facts.inode }

  private func isOf(_ other: StoreClaim) -> Bool { device == other.device && inode == other.inode }
}
