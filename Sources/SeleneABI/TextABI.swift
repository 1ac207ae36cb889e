// Section TEXT OF NUMBERS of the header.

import CSelene
import SeleneCore
import SeleneGovernor

private let unknown: Literal = "unknown"

@_cdecl("selene_kind_name") @implementation
public func selene_kind_name(_ kind: Int32) -> UnsafePointer<CChar>! {
  (UInt8(exactly: kind).flatMap(Kind.init)?.name ?? unknown).cString
}

@_cdecl("selene_schedule_name") @implementation
public func selene_schedule_name(_ schedule: Int32) -> UnsafePointer<CChar>! {
  (UInt8(exactly: schedule).flatMap(Schedule.init)?.name ?? unknown).cString
}

@_cdecl("selene_state_name") @implementation
public func selene_state_name(_ state: Int32) -> UnsafePointer<CChar>! {
  (UInt8(exactly: state).flatMap(TaskState.init)?.name ?? unknown).cString
}

@_cdecl("selene_outcome_name") @implementation
public func selene_outcome_name(_ outcome: Int32) -> UnsafePointer<CChar>! {
  (Outcome(rawValue: outcome)?.name ?? unknown).cString
}

@_cdecl("selene_stop_name") @implementation
public func selene_stop_name(_ reason: Int32) -> UnsafePointer<CChar>! {
  (StopReason(rawValue: reason)?.name ?? unknown).cString
}

@_cdecl("selene_disposition_name") @implementation
public func selene_disposition_name(_ disposition: Int32) -> UnsafePointer<CChar>! {
  (Disposition(rawValue: disposition)?.name ?? unknown).cString
}

@_cdecl("selene_reason_name") @implementation
public func selene_reason_name(_ reason: Int32) -> UnsafePointer<CChar>! {
  (Reason(rawValue: reason)?.name ?? unknown).cString
}

@_cdecl("selene_event_name") @implementation
public func selene_event_name(_ type: Int32) -> UnsafePointer<CChar>! {
  (EventType(rawValue: type)?.name ?? unknown).cString
}

@_cdecl("selene_trouble_name") @implementation
public func selene_trouble_name(_ trouble: Int32) -> UnsafePointer<CChar>! {
  (Trouble(rawValue: UInt32(bitPattern: trouble))?.name ?? unknown).cString
}

@_cdecl("selene_constraint_name") @implementation
public func selene_constraint_name(_ constraint: UInt32) -> UnsafePointer<CChar>! {
  (Constraints(rawValue: constraint).name ?? unknown).cString
}

@_cdecl("selene_signal_name") @implementation
public func selene_signal_name(_ signal: Int32) -> UnsafePointer<CChar>! {
  (UInt8(exactly: signal).flatMap(Signal.init)?.name ?? unknown).cString
}

@_cdecl("selene_source_name") @implementation
public func selene_source_name(_ source: Int32) -> UnsafePointer<CChar>! {
  (UInt8(exactly: source).flatMap(Origin.init)?.name ?? unknown).cString
}

@_cdecl("selene_factor_name") @implementation
public func selene_factor_name(_ factor: Int32) -> UnsafePointer<CChar>! {
  (UInt8(exactly: factor).flatMap(Factor.init)?.name ?? unknown).cString
}

@_cdecl("selene_verdict_name") @implementation
public func selene_verdict_name(_ verdict: Int32) -> UnsafePointer<CChar>! {
  (UInt8(exactly: verdict).flatMap(Verdict.init)?.name ?? unknown).cString
}

@_cdecl("selene_measure_name") @implementation
public func selene_measure_name(_ measure: Int32) -> UnsafePointer<CChar>! {
  (UInt8(exactly: measure).flatMap(Measure.init)?.name ?? unknown).cString
}

@_cdecl("selene_profile_name") @implementation
public func selene_profile_name(_ profile: Int32) -> UnsafePointer<CChar>! {
  (UInt8(exactly: profile).flatMap(BuiltInProfile.init)?.name ?? unknown).cString
}
