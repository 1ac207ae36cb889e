// What numbers are called: selene_name of the header.

import CSelene
import SeleneCore
import SeleneGovernor

@_cdecl("selene_name") @implementation
public func selene_name(_ names: Int32, _ number: Int64) -> UnsafePointer<CChar>! {
  (word(names, number) ?? "unknown").cString
}

/// The word of a vocabulary for a number; nil if it has none.
private func word(_ names: Int32, _ number: Int64) -> Literal? {
  switch Int(names) {
  case SELENE_NAMES_STATUS: Int32(exactly: number).map { text($0).name } ?? "UNKNOWN"
  case SELENE_NAMES_KIND: choice(number, Kind.self)?.name
  case SELENE_NAMES_SCHEDULE: choice(number, Schedule.self)?.name
  case SELENE_NAMES_PRIORITY: priority(number)
  case SELENE_NAMES_EXISTING: choice(number, ExistingPolicy.self)?.name
  case SELENE_NAMES_RECURRENCE: choice(number, Recurrence.self)?.name
  case SELENE_NAMES_BACKOFF: choice(number, BackoffPolicy.self)?.name
  case SELENE_NAMES_CONSTRAINT: UInt32(exactly: number).flatMap { Constraints(rawValue: $0).name }
  case SELENE_NAMES_STATE: choice(number, TaskState.self)?.name
  case SELENE_NAMES_DISPOSITION: Int32(exactly: number).flatMap(Disposition.init)?.name
  case SELENE_NAMES_OUTCOME: Int32(exactly: number).flatMap(Outcome.init)?.name
  case SELENE_NAMES_STOP: Int32(exactly: number).flatMap(StopReason.init)?.name
  case SELENE_NAMES_REASON: Int32(exactly: number).flatMap(Reason.init)?.name
  case SELENE_NAMES_EVENT: Int32(exactly: number).flatMap(EventType.init)?.name
  case SELENE_NAMES_TROUBLE: UInt32(exactly: number).flatMap(Trouble.init)?.name
  case SELENE_NAMES_PROFILE: choice(number, BuiltInProfile.self)?.name
  case SELENE_NAMES_SIGNAL: choice(number, Signal.self)?.name
  case SELENE_NAMES_SOURCE: choice(number, Origin.self)?.name
  case SELENE_NAMES_FACTOR: choice(number, Factor.self)?.name
  case SELENE_NAMES_VERDICT: choice(number, Verdict.self)?.name
  case SELENE_NAMES_MEASURE: choice(number, Measure.self)?.name
  default: nil
  }
}

private func choice<Choice: RawRepresentable<UInt8>>(_ number: Int64, _: Choice.Type) -> Choice? {
  UInt8(exactly: number).flatMap(Choice.init)
}

private func priority(_ number: Int64) -> Literal? {
  switch number {
  case 1: "very_low"
  case 2: "low"
  case 3: "normal"
  case 4: "high"
  case 5: "very_high"
  default: nil
  }
}
