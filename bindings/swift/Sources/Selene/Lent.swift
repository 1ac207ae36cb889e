// Texts and bytes, on their way to the library and back.

import CSelene

extension selene_text {
  var bytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: data.map { UnsafeRawPointer($0).assumingMemoryBound(to: UInt8.self) }, count: Int(length))
  }

  /// A copy; what a damaged store may have made of it is mended.
  var string: String { length == 0 ? "" : String(decoding: bytes, as: UTF8.self) }

  var array: [UInt8] { Array(bytes) }
}

func strings(_ first: UnsafePointer<selene_text>?, _ count: some BinaryInteger) -> [String] {
  UnsafeBufferPointer(start: first, count: first == nil ? 0 : Int(count)).map(\.string)
}

/// Memory that a call is lent, until this goes.
final class Lent {
  private var all: [UnsafeMutableRawPointer] = []

  deinit { for one in all { one.deallocate() } }

  func bytes(_ bytes: some Collection<UInt8>) -> UnsafeMutableRawPointer {
    let room = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
    UnsafeMutableRawBufferPointer(start: room, count: bytes.count).copyBytes(from: bytes)
    all.append(room)
    return room
  }

  func text(_ string: String) -> selene_text {
    guard !string.isEmpty else { return selene_text(data: nil, length: 0) }
    let utf8 = string.utf8
    return selene_text(data: bytes(utf8).assumingMemoryBound(to: CChar.self), length: Int64(utf8.count))
  }

  /// None at all is not NULL.
  func texts(_ strings: [String]) -> UnsafePointer<selene_text> {
    let room = UnsafeMutablePointer<selene_text>.allocate(capacity: max(1, strings.count))
    for (index, string) in strings.enumerated() { (room + index).initialize(to: text(string)) }
    all.append(UnsafeMutableRawPointer(room))
    return UnsafePointer(room)
  }
}
