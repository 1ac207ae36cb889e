// What comes in: pointers checked, texts measured, structs of any age read into the present one.

import CSelene
import SeleneCore

/// A pointer that must not be NULL.
func require<T>(_ pointer: UnsafePointer<T>?, _ field: Literal) throws(SeleneError) -> UnsafePointer<T> {
  guard let pointer else { throw .null(field) }
  return pointer
}

/// A pointer to write to that must not be NULL.
func require<T>(
  _ pointer: UnsafeMutablePointer<T>?, _ field: Literal
) throws(SeleneError) -> UnsafeMutablePointer<T> {
  guard let pointer else { throw .null(field) }
  return pointer
}

extension SeleneError {
  static func null(_ field: Literal) -> SeleneError {
    SeleneError(.invalidArgument, field, "must not be NULL")
  }
}

/// A text of pointer and length; length −1 is NUL-terminated, and read as far as it may be long. NULL is empty.
func borrow(
  _ data: UnsafePointer<CChar>?, _ length: Int64, _ field: Literal, atMost longest: Int = Identifier.longest
) throws(SeleneError) -> UnsafeRawBufferPointer {
  guard length >= -1 else {
    throw .range(field, length, -1, .max, .bytes, "-1 (NUL-terminated), or 0 or more bytes")
  }
  guard let data else {
    guard length <= 0 else {
      throw SeleneError(.invalidArgument, field, "must not be NULL with length \(length)")
    }
    return UnsafeRawBufferPointer(start: nil, count: 0)
  }
  guard length == -1 else { return UnsafeRawBufferPointer(start: data, count: Int(clamping: length)) }
  var count = 0
  while count <= longest && data[count] != 0 { count += 1 }
  return UnsafeRawBufferPointer(start: data, count: count)
}

func borrow(_ text: selene_text, _ field: Literal) throws(SeleneError) -> UnsafeRawBufferPointer {
  try borrow(text.data, text.length, field)
}

/// The same; where it is empty, what that stands for.
func borrow(
  _ text: selene_text, _ field: Literal, usual: StaticString
) throws(SeleneError) -> UnsafeRawBufferPointer {
  let given = try borrow(text, field)
  guard given.isEmpty else { return given }
  return UnsafeRawBufferPointer(start: usual.utf8Start, count: usual.utf8CodeUnitCount)
}

/// A file name, which may be longer than a name.
func borrow(path: selene_text, _ field: Literal) throws(SeleneError) -> UnsafeRawBufferPointer {
  try borrow(path.data, path.length, field, atMost: 4096)
}

/// An array of texts.
func borrow(
  _ texts: UnsafePointer<selene_text>?, count: UInt64, atMost limit: UInt64, _ field: Literal
) throws(SeleneError) -> [UnsafeRawBufferPointer] {
  guard count > 0 else { return [] }
  guard count <= limit else {
    throw .range(field, count, 0, Int64(limit))
  }
  guard let texts else { throw .null(field) }
  var borrowed: [UnsafeRawBufferPointer] = []
  for index in 0..<Int(count) { borrowed.append(try borrow(texts[index], field)) }
  return borrowed
}

/// A struct that begins with `struct_size` and `flags`.
protocol SizedStruct {
  /// All zeros.
  init()
  var struct_size: UInt32 { get set }
  var flags: UInt32 { get set }
  /// Puts what 0 stands for in its place, and 0 in that of SELENE_NONE; once.
  mutating func takeDefaults()
}

extension SizedStruct {
  /// For most structs 0 is 0.
  @inline(__always)
  mutating func takeDefaults() {}

  /// Every number at what its 0 stands for.
  static var initial: Self {
    var value = empty
    value.takeDefaults()
    return value
  }

  /// As a host initialises it.
  static var empty: Self {
    var value = Self()
    value.struct_size = UInt32(MemoryLayout<Self>.size)
    return value
  }
}

/// Puts in the place of 0 the default of a number, in that of SELENE_NONE, where that is allowed, 0.
@inline(__always)
func settle<Number: FixedWidthInteger>(_ number: inout Number, _ usual: Number, hasNone: Bool = false) {
  if number == 0 {
    number = usual
  } else if hasNone && number == ~0 {
    number = 0
  }
}

/// The opposite, for what goes on to an owner.
@inline(__always)
func said(_ number: Int64, usual: Int64) -> Int64 {
  number == usual ? 0 : number == 0 ? Int64(SELENE_NONE) : number
}

/// The largest struct that a header of the future may have.
private let greatestStruct: UInt32 = 65_536

/// Reads a struct of an older, equal or newer header; fields that are missing are defaults.
///
/// - Throws: `unsupportedStruct`, `invalidArgument` for unknown flags.
func read<T: SizedStruct>(
  _ pointer: UnsafePointer<T>, flags known: UInt32 = 0, named names: Literal = "0", _ field: Literal
) throws(SeleneError) -> T {
  _ = try structSize(pointer, flags: known, named: names, field)
  return load(pointer)
}

/// Copies what is there of a struct, unchecked, with defaults in their places; all defaults if its size cannot be true.
func load<T: SizedStruct>(_ pointer: UnsafePointer<T>) -> T {
  var value = copy(pointer)
  value.takeDefaults()
  return value
}

/// Copies what is there of a struct, as the host gave it.
func copy<T: SizedStruct>(_ pointer: UnsafePointer<T>) -> T {
  var value = T()
  withUnsafeMutableBytes(of: &value) { StructBytes.load(UnsafeRawPointer(pointer), into: $0) }
  return value
}

/// Writes a struct as far as the caller's header knows it.
func write<T: SizedStruct>(_ value: T, to pointer: UnsafeMutablePointer<T>, size: Int) {
  withUnsafeBytes(of: value) { StructBytes.write($0, to: UnsafeMutableRawPointer(pointer), size: size) }
}

/// The size of a struct that will be read or written.
///
/// - Parameter names: the flags that are known, for people.
/// - Throws: `unsupportedStruct`, also for fields that this library does not know; `invalidArgument` for unknown flags.
@inline(__always)
func structSize<T: SizedStruct>(
  _ pointer: UnsafePointer<T>, flags known: UInt32 = 0, named names: Literal = "0", _ field: Literal
) throws(SeleneError) -> Int {
  try StructBytes.checkedSize(UnsafeRawPointer(pointer), ours: MemoryLayout<T>.size, flags: known, names, field)
}

/// What is the same for all structs: their size, their flags, their bytes.
private enum StructBytes {
  static func load(_ source: UnsafeRawPointer, into value: UnsafeMutableRawBufferPointer) {
    let size = source.loadUnaligned(as: UInt32.self)
    guard (8...greatestStruct).contains(size) else { return }
    // Every header's struct ends on eight bytes, so what is cut shorter is a field that is missing.
    value.copyMemory(from: UnsafeRawBufferPointer(start: source, count: min(Int(size) & ~7, value.count)))
  }

  static func write(_ value: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer, size: Int) {
    let count = min(size & ~7, value.count)
    guard count > 8, let source = value.baseAddress else { return }
    // struct_size and flags stay the caller's.
    (target + 8).copyMemory(from: source + 8, byteCount: count - 8)
  }

  static func checkedSize(
    _ source: UnsafeRawPointer, ours: Int, flags known: UInt32, _ names: Literal, _ field: Literal
  ) throws(SeleneError) -> Int {
    let size = source.loadUnaligned(as: UInt32.self)
    guard (8...greatestStruct).contains(size) else {
      throw .range(
        field, size, 8, Int64(greatestStruct), .bytes
      ).code(.unsupportedStruct).problem("is out of range for struct_size; set the struct with SELENE_INIT")
    }
    for offset in ours..<max(ours, Int(size)) where source.load(fromByteOffset: offset, as: UInt8.self) != 0 {
      throw SeleneError(
        .unsupportedStruct, field, "byte \(offset) is not 0, this library knows the first \(ours) bytes")
    }
    let flags = source.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
    guard flags & ~known == 0 else { throw .range("flags", flags, 0, Int64(known), .bits, names).of(field) }
    return Int(size)
  }
}
