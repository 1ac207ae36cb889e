// Statuses: the one place where an error becomes a number, data and a text.

import CPlatform
import CSelene
import CService
import SeleneCore
import SeleneEngine

/// Runs a body and turns what it throws into a status and this thread's fault.
@inline(__always)
func attempt(_ body: () throws(SeleneError) -> Void) -> selene_status {
  do {
    try body()
    return 0
  } catch {
    return fail(error)
  }
}

/// The same for a call that takes a callback: if it fails, its context ends first, so that the detail is of this call.
func attempt(
  ending context: UnsafeMutableRawPointer?, with destroy: selene_destroy_fn?,
  _ other: UnsafeMutableRawPointer? = nil, _ otherDestroy: selene_destroy_fn? = nil,
  _ body: () throws(SeleneError) -> Void
) -> selene_status {
  do {
    try body()
    return 0
  } catch {
    destroy?(context)
    otherDestroy?(other)
    return fail(error)
  }
}

/// The status of an error; its fault is this thread's from now on, as data and as a sentence.
@inline(never)
func fail(_ error: SeleneError) -> selene_status {
  if let told = error.fault.told { return fail(told) }
  Log.report(error)
  let fault = error.fault
  Failure.error.pointee = selene_error(
    struct_size: UInt32(MemoryLayout<selene_error>.size), flags: 0, status: error.code.rawValue,
    unit: fault.unit.rawValue, message: Failure.put(sentence: fault.sentence), field: Failure.put(fault.field, 1),
    subject: Failure.put("\(fault.subject)", 2),
    found: Failure.put(fault.found, 3), allowed: Failure.put(fault.allowed, 4),
    problem: Failure.put(fault.problem ?? "", 5), value: fault.value, least: fault.least, greatest: fault.greatest)
  return error.code.rawValue
}

/// The same of what another process has refused.
private func fail(_ told: ToldFault) -> selene_status {
  Failure.error.pointee = selene_error(
    struct_size: UInt32(MemoryLayout<selene_error>.size), flags: told.flags, status: told.status, unit: told.unit,
    message: Failure.put(sentence: told.sentence), field: Failure.put(told.texts[0], 1),
    subject: Failure.put(told.texts[1], 2), found: Failure.put(told.texts[2], 3),
    allowed: Failure.put(told.texts[3], 4), problem: Failure.put(told.texts[4], 5), value: told.value,
    least: told.least, greatest: told.greatest)
  return told.status
}

/// What this thread's last failed call left: the sentence, five texts of at most 255 bytes, and the struct.
private enum Failure {
  static let room = 256

  static var error: UnsafeMutablePointer<selene_error> {
    UnsafeMutableRawPointer(platform_detail() + Int(PLATFORM_DETAIL_SIZE) + 5 * room)
      .assumingMemoryBound(to: selene_error.self)
  }

  static func put(sentence: Detail) -> selene_text { put(sentence, 0, atMost: Int(PLATFORM_DETAIL_SIZE) - 1) }

  /// Copies a text to its place, cut between characters where it is too long.
  @discardableResult
  static func put(_ text: Detail, _ place: Int, atMost longest: Int = room - 1) -> selene_text {
    let target = platform_detail() + (place == 0 ? 0 : Int(PLATFORM_DETAIL_SIZE) + (place - 1) * room)
    var length = min(text.bytes.count, longest)
    if length < text.bytes.count {
      while length > 0 && text.bytes[length] & 0xC0 == 0x80 { length -= 1 }
    }
    for index in 0..<length { target[index] = CChar(bitPattern: text.bytes[index]) }
    target[length] = 0
    return selene_text(data: target, length: Int64(length))
  }
}

/// A status's name and what it means.
func text(_ status: selene_status) -> (name: Literal, message: Literal) {
  guard status != 0 else { return ("OK", "The call succeeded.") }
  guard let code = SeleneError.Code(rawValue: status) else {
    return ("UNKNOWN", "Not a status of this library.")
  }
  switch code {
  case .unavailable: return ("UNAVAILABLE", "The kind is switched off.")
  case .tooManyPending:
    return ("TOO_MANY_PENDING", "The limit of pending requests or of waiting successors is reached.")
  case .notPermitted: return ("NOT_PERMITTED", "The id is not among the permitted ones.")
  case .outOfQuota:
    return ("OUT_OF_QUOTA", "The quota of expedited tasks is used up.")
  case .immediateRunIneligible: return ("IMMEDIATE_RUN_INELIGIBLE", "The task cannot run now.")
  case .invalidArgument: return ("INVALID_ARGUMENT", "A parameter or a field is outside what is allowed.")
  case .invalidHandle:
    return ("INVALID_HANDLE", "The handle or token was never issued, is closed, or is of another type.")
  case .unsupportedStruct:
    return ("UNSUPPORTED_STRUCT", "struct_size is too small, or a field that this library does not know is set.")
  case .unsupported: return ("UNSUPPORTED", "The combination is not supported.")
  case .tooLarge: return ("TOO_LARGE", "The input is larger than the scheduler accepts.")
  case .notFound: return ("NOT_FOUND", "No task or handler has that name.")
  case .alreadyExists:
    return ("ALREADY_EXISTS", "A handler of that name is registered, or its last run has not returned.")
  case .alreadyCompleted: return ("ALREADY_COMPLETED", "The run was completed before; the first outcome stands.")
  case .staleRun:
    return ("STALE_RUN", "The run was stopped, has expired, or belongs to an earlier life of the scheduler.")
  case .busy: return ("BUSY", "A cycle is open, or too many threads are in handlers that overran.")
  case .tooSoon: return ("TOO_SOON", "The minimum interval of the kind has not passed.")
  case .reentrant: return ("REENTRANT", "The call is not legal inside a callback of the same scheduler.")
  case .forked: return ("FORKED", "The scheduler was opened before fork() and belongs to the parent.")
  case .exhausted: return ("EXHAUSTED", "A resource of the system or of the library ran out.")
  case .inconsistent: return ("INTERNAL", "An internal consistency check failed.")
  case .storeCannotOpen: return ("STORE_CANNOT_OPEN", "The store cannot be opened or created.")
  case .storeLocked: return ("STORE_LOCKED", "Another scheduler has the store open.")
  case .storeCorrupt: return ("STORE_CORRUPT", "The file of the store is damaged.")
  case .storeForeign: return ("STORE_FOREIGN", "The file is not a Selene store.")
  case .storeNewer: return ("STORE_NEWER", "The store was written by a newer version of this library.")
  case .storeFull: return ("STORE_FULL", "The disk or the quota is full.")
  case .storeIO: return ("STORE_IO", "Reading or writing the store failed.")
  case .outcomeUnknown:
    return ("OUTCOME_UNKNOWN", "A commit failed midway; reopen the store before using it.")
  case .storeMoved:
    return ("STORE_MOVED", "The file of the store or its log was removed or replaced while it was open.")
  case .ownerAway: return ("OWNER_AWAY", "The process that has the store open is gone, or does not answer.")
  case .refused: return ("REFUSED", "The process that has the store open does not permit this user to do so.")
  }
}

@_cdecl("selene_status_message") @implementation
public func selene_status_message(_ status: selene_status) -> UnsafePointer<CChar>! {
  text(status).message.cString
}

@_cdecl("selene_error_last") @implementation
public func selene_error_last() -> UnsafePointer<selene_error>! {
  let error = Failure.error
  if error.pointee.struct_size == 0 {
    let none = selene_text(data: platform_detail(), length: 0)
    error.pointee = selene_error(
      struct_size: UInt32(MemoryLayout<selene_error>.size), flags: 0, status: 0, unit: 0, message: none, field: none,
      subject: none, found: none, allowed: none, problem: none, value: 0, least: 0, greatest: 0)
  }
  return UnsafePointer(error)
}
