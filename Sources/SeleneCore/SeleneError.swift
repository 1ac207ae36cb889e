// The one error of the engine: a code that the border maps to a status, and a text for a person.

/// Why a call was refused, and exactly what was wrong.
package struct SeleneError: Error {
  /// The kinds of refusal; the raw values are the header's status numbers.
  package enum Code: Int32, Sendable {
    case unavailable = 1
    case tooManyPending = 2
    case notPermitted = 3
    case immediateRunIneligible = 4
    case outOfQuota = 5
    case invalidArgument = 16
    case invalidHandle = 17
    case unsupportedStruct = 18
    case unsupported = 19
    case tooLarge = 20
    case notFound = 21
    case alreadyExists = 22
    case alreadyCompleted = 23
    case staleRun = 24
    case busy = 25
    case tooSoon = 26
    case reentrant = 27
    case forked = 28
    case exhausted = 29
    case inconsistent = 30
    case storeCannotOpen = 48
    case storeLocked = 49
    case storeCorrupt = 50
    case storeForeign = 51
    case storeNewer = 52
    case storeFull = 53
    case storeIO = 54
    case outcomeUnknown = 55
    case storeMoved = 56
    case ownerAway = 57
    case refused = 58
  }

  package let code: Code
  /// Which field, what was found, what is allowed.
  package let fault: Fault

  init(_ code: Code, _ fault: Fault) { (self.code, self.fault) = (code, fault) }

  /// The fault in one sentence.
  package var detail: Detail { fault.sentence }
}
