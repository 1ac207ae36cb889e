// Which store files this process has open.
//
// POSIX locks belong to a process and a file: closing any descriptor of a file drops all of the process's locks on it. So a
// file that is open here is not touched a second time, not even to look at it.

import CPlatform
import SeleneCore

/// The right of one connection to touch a file.
struct StoreClaim {
  private let device: UInt64
  private let inode: UInt64
  /// Whether it is only to keep the file from becoming a store; many may look at it then.
  private let isShared: Bool

  /// What is claimed. Guarded by the registry lock, so a forked child finds it whole.
  nonisolated(unsafe) private static var claimed: [StoreClaim] = []

  /// Claims an existing file.
  ///
  /// - Throws: `storeLocked` while somebody in this process has it open, `storeCannotOpen` if there is none.
  static func take(
    _ file: Bytes, isShared: Bool = false, as noun: StaticString = "store"
  ) throws(SeleneError) -> StoreClaim {
    var (device, inode): (UInt64, UInt64) = (0, 0)
    let error = file.withCString { platform_file_identity($0, &device, &inode) }
    guard error == 0 else { throw StoreFile.error(error, file, as: noun) }
    let claim = StoreClaim(device: device, inode: inode, isShared: isShared)
    platform_registry_lock()
    let isFree = !claimed.contains { $0.isOf(claim) && !($0.isShared && isShared) }
    if isFree { claimed.append(claim) }
    platform_registry_unlock()
    guard isFree else {
      throw SeleneError(
        .storeLocked, "\(noun) \(path: file): it is open in this process, or was when it was forked")
    }
    return claim
  }

  func release() {
    platform_registry_lock()
    if let place = Self.claimed.firstIndex(where: { $0.isOf(self) }) { Self.claimed.remove(at: place) }
    platform_registry_unlock()
  }

  private func isOf(_ other: StoreClaim) -> Bool { device == other.device && inode == other.inode }
}
