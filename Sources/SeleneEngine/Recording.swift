// A trace that is being recorded into a file (G9).

import CPlatform
import SeleneCore
import SeleneGovernor

/// The file of a trace, and the lines that are not yet in it.
final class Recording {
  var writer: TraceWriter
  private let descriptor: Int32

  private init(_ descriptor: Int32, at now: Instant) {
    self.descriptor = descriptor
    writer = TraceWriter(at: now)
  }

  /// Makes the file.
  ///
  /// - Throws: `alreadyExists`, `storeCannotOpen`, `storeFull`, `storeIO`.
  static func make(_ path: UnsafeRawBufferPointer, at now: Instant) throws(SeleneError) -> Recording {
    let file = try SQLiteStore.checked(path, "path")
    let opened = file.withCString { platform_append_open($0) }
    guard opened != -StoreFile.exists else {
      throw SeleneError(.alreadyExists, "path", name: path, "exists; a trace is recorded into a new file")
    }
    guard opened >= 0 else { throw StoreFile.error(-opened, file, as: "trace") }
    return Recording(opened, at: now)
  }

  /// Writes what is not yet in the file; false if the system refuses.
  func flush() -> Bool {
    let bytes = writer.take()
    return bytes.isEmpty || platform_append(descriptor, bytes, Int64(bytes.count)) == 0
  }

  deinit { platform_close(descriptor) }
}

/// Replaying a trace, which needs no scheduler.
package enum TraceFile {
  private static let longest: Int64 = 1 << 30

  /// Replays a trace.
  ///
  /// - Returns: how many decisions it holds, and the first line that would be another now; 0: none.
  /// - Throws: `invalidArgument`, `storeCannotOpen`, `storeLocked` for a store that is open, `storeIO`.
  package static func replay(
    _ path: UnsafeRawBufferPointer
  ) throws(SeleneError) -> (decisions: Int, firstDifference: Int) {
    let file = try SQLiteStore.checked(path, "path")
    let claim = try StoreClaim.take(file, isShared: true, as: "trace")
    defer { claim.release() }
    let size = file.fileSize
    guard size <= longest else { throw .range("path", size, 0, longest, .bytes) }
    var bytes = [UInt8](repeating: 0, count: max(1, Int(size)))
    let count = file.withCString { platform_read_head($0, &bytes, Int64(bytes.count)) }
    guard count >= 0 else { throw StoreFile.error(Int32(-count), file, as: "trace") }
    let replay = try bytes.withUnsafeBytes { bytes -> Result<TraceReplay, SeleneError> in
      do throws(SeleneError) {
        return .success(try TraceReplay.replay(UnsafeRawBufferPointer(rebasing: bytes[..<Int(count)])))
      } catch {
        return .failure(SeleneError(error.code, "trace", path: file, error.detail))
      }
    }.get()
    return (replay.decisions, replay.firstDifference)
  }
}
