// JSON as the vectors are read: whole numbers stay whole, and a member that nobody asked for is an error.

import Foundation

/// A JSON value.
enum Json: Decodable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case list([Json])
  case object([String: Json])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let boolean = try? value.decode(Bool.self) {
      self = .boolean(boolean)
    } else if let integer = try? value.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([Json].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: Json].self))
    }
  }

  func boolean(_ what: String) throws -> Bool {
    guard case .boolean(let boolean) = self else { throw Differs("\(what): \(self) is no boolean") }
    return boolean
  }

  func integer(_ what: String) throws -> Int64 {
    guard case .integer(let integer) = self else { throw Differs("\(what): \(self) is no integer") }
    return integer
  }

  func number(_ what: String) throws -> Double {
    if case .integer(let integer) = self { return Double(integer) }
    guard case .number(let number) = self else { throw Differs("\(what): \(self) is no number") }
    return number
  }

  func text(_ what: String) throws -> String {
    guard case .text(let text) = self else { throw Differs("\(what): \(self) is no text") }
    return text
  }

  func list(_ what: String) throws -> [Json] {
    guard case .list(let list) = self else { throw Differs("\(what): \(self) is no list") }
    return list
  }

  func object(_ what: String) throws -> JsonObject {
    guard case .object(let members) = self else { throw Differs("\(what): \(self) is no object") }
    return JsonObject(members, what)
  }

  /// An object's members in no order.
  func members(_ what: String) throws -> [String: Json] {
    guard case .object(let members) = self else { throw Differs("\(what): \(self) is no object") }
    return members
  }
}

/// An object whose members are taken out one by one.
final class JsonObject {
  private var members: [String: Json]
  private let what: String

  init(_ members: [String: Json], _ what: String) { (self.members, self.what) = (members, what) }

  /// Takes a member out; nil if there is none.
  func take(_ key: String) -> Json? { members.removeValue(forKey: key) }

  func required(_ key: String) throws -> Json {
    guard let member = take(key) else { throw Differs("\(what) has no \(key)") }
    return member
  }

  func boolean(_ key: String) throws -> Bool? { try take(key)?.boolean(key) }
  func integer(_ key: String) throws -> Int64? { try take(key)?.integer(key) }
  func text(_ key: String) throws -> String? { try take(key)?.text(key) }
  func texts(_ key: String) throws -> [String]? { try take(key)?.list(key).map { try $0.text(key) } }

  /// Takes a member out if it is null.
  func takeNull(_ key: String) -> Bool {
    guard case .null? = members[key] else { return false }
    members[key] = nil
    return true
  }

  /// Milliseconds as nanoseconds.
  func milliseconds(_ key: String) throws -> Int64? { try integer(key).map { $0 * 1_000_000 } }

  /// Nothing may be left that was not understood.
  func finish() throws {
    if let key = members.keys.min() { throw Differs("\(what): the member \(key) is not understood") }
  }
}
