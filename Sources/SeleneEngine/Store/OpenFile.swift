// A file that is open: looked at and cut by its descriptor, whatever its name leads to meanwhile.

import CPlatform
import SeleneCore

/// A descriptor, and the name by which messages call it.
struct OpenFile: ~Copyable {
  let path: Bytes
  private let descriptor: Int32

  /// Opens a file; nil if there is none.
  ///
  /// - Throws: `storeCannotOpen`, `storeIO`.
  static func open(_ path: Bytes, forWriting: Bool = false) throws(SeleneError) -> OpenFile? {
    let opened = path.withCString { platform_open($0, forWriting ? 1 : 0) }
    if opened == -StoreFile.noEntry { return nil }
    guard opened >= 0 else { throw StoreFile.error(-opened, path) }
    return OpenFile(path: path, descriptor: opened)
  }

  private init(path: Bytes, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { platform_close(descriptor) }

  /// What the file is, under whatever name.
  func facts() throws(SeleneError) -> platform_file_facts {
    var facts = platform_file_facts()
    let error = platform_look(descriptor, &facts)
    guard error == 0 else { throw StoreFile.error(error, path) }
    return facts
  }

  /// Reads a part; how many bytes, fewer only at the end.
  func read(at offset: Int64, into bytes: inout [UInt8]) throws(SeleneError) -> Int {
    let count = platform_read_at(descriptor, offset, &bytes, Int64(bytes.count))
    guard count >= 0 else { throw StoreFile.error(Int32(-count), path) }
    return Int(count)
  }

  /// Where, from an offset on, there is something that was written; nil if there is nothing.
  func data(from offset: Int64) -> Int64? {
    let found = platform_data_from(descriptor, offset)
    return found < 0 ? nil : found
  }

  /// Whether there are only zeros from an offset on.
  func isEmpty(from offset: Int64) throws(SeleneError) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    var offset = offset
    while let data = data(from: offset) {
      let count = try read(at: data, into: &chunk)
      guard count > 0 else { return true }
      guard !chunk[..<count].contains(where: { $0 != 0 }) else { return false }
      offset = data + Int64(count)
    }
    return true
  }

  /// Where the last that was written ends.
  func dataEnd() throws(SeleneError) -> Int64 {
    let end = platform_data_end(descriptor)
    guard end >= 0 else { throw StoreFile.error(Int32(-end), path) }
    return end
  }

  /// Bytes that are free on the file system.
  var freeRoom: Int64 { platform_free_room(descriptor) }

  /// Cuts it, durably. 0 or an errno, negative if it was the sync that failed.
  func cut(to size: Int64) -> Int32 { platform_cut(descriptor, size) }
}
