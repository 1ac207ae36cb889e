// What goes out and is owned by the caller: one block of memory, freed by selene_free.

import CSelene
import SeleneCore

/// Carves structs, arrays and texts out of one block. A first pass without memory measures, the second writes.
struct Block {
  private let base: UnsafeMutableRawPointer?
  private(set) var size = 0

  private init(base: UnsafeMutableRawPointer?) { self.base = base }

  /// Makes a block: the head, and what the body carves behind it. The body runs twice and must carve the same.
  static func make<Head>(_ body: (inout Block) -> Head) -> UnsafeMutablePointer<Head> {
    var measure = Block(base: nil)
    _ = measure.reserve(Head.self, count: 1)
    _ = body(&measure)
    let base = UnsafeMutableRawPointer.allocate(byteCount: measure.size, alignment: 16)
    var writer = Block(base: base)
    let head = base.bindMemory(to: Head.self, capacity: 1)
    _ = writer.reserve(Head.self, count: 1)
    head.initialize(to: body(&writer))
    return head
  }

  /// Copies a text, followed by a NUL.
  mutating func text(_ text: UnsafeRawBufferPointer) -> selene_text {
    let place = reserve(UInt8.self, count: text.count + 1)
    if let place {
      UnsafeMutableRawBufferPointer(start: place, count: text.count).copyMemory(from: text)
      place[text.count] = 0
    }
    return selene_text(
      data: place.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) }, length: Int64(text.count))
  }

  /// Makes an array, element by element.
  mutating func array<T>(_ count: Int, _ element: (Int, inout Block) -> T) -> UnsafePointer<T>? {
    let place = reserve(T.self, count: count)
    for index in 0..<count {
      let value = element(index, &self)
      if let place { (place + index).initialize(to: value) }
    }
    return place.map { UnsafePointer($0) }
  }

  private mutating func reserve<T>(_: T.Type, count: Int) -> UnsafeMutablePointer<T>? {
    let alignment = MemoryLayout<T>.alignment
    size = (size + alignment - 1) / alignment * alignment
    let offset = size
    size += MemoryLayout<T>.stride * count
    return base.map { ($0 + offset).bindMemory(to: T.self, capacity: count) }
  }
}

/// Borrowed text, as callbacks get it.
@inline(__always)
func lend(_ text: UnsafeRawBufferPointer) -> selene_text {
  selene_text(data: text.baseAddress?.assumingMemoryBound(to: CChar.self), length: Int64(text.count))
}

@_cdecl("selene_free") @implementation
public func selene_free(_ made: UnsafeMutableRawPointer!) {
  (made as UnsafeMutableRawPointer?)?.deallocate()
}
