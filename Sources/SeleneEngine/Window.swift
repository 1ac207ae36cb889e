// An opportunity to work, as the host describes it.

import SeleneCore

/// A window as the host gave it, unchecked.
package struct WindowDraft {
  /// 0: all that may begin.
  package var kinds: UInt32 = 0
  package var lanes: UInt32 = 1
  package var budget: Span = 30 * Time.second
  /// −1: a twentieth of the budget.
  package var reserve: Span = -1
  package var strictFit = false
  /// Each pick looks at what is eligible then, not at begin (R1).
  package var isRolling = true
  package var isInline = false
  package var hasLanes = false
  /// Only of a driver's: its runs have no deadline (V1).
  var isOpenEnded = false
  /// The one task that shall run now; empty for all.
  package var task = UnsafeRawBufferPointer(start: nil, count: 0)

  package init() {}
}

/// A window, checked.
package struct Window {
  /// Empty if the draft names none and an owner decides.
  package private(set) var kinds: KindSet
  /// Without named kinds, `admit` narrows it to those that may begin.
  let namesKinds: Bool
  package let lanes: Int
  package let budget: Span
  package let reserve: Span
  package let strictFit: Bool
  package let isRolling: Bool
  package let isInline: Bool
  package let hasLanes: Bool
  /// The budget bounds only how long it picks; its runs have no deadline of the window's (V1).
  let isOpenEnded: Bool
  /// It is a part of one that another pool was granted, which is charged already (L7).
  let joins: Bool
  /// The one task that shall run now, or nil; borrowed from the draft.
  package let task: UnsafeRawBufferPointer?

  static let mostLanes: UInt32 = 1_024

  /// A window of checked values.
  init(
    kinds: KindSet, lanes: Int, budget: Span, reserve: Span, strictFit: Bool, isRolling: Bool, isOpenEnded: Bool,
    joins: Bool = false, task: UnsafeRawBufferPointer?
  ) {
    (self.isOpenEnded, self.joins) = (isOpenEnded, joins)
    (self.kinds, self.lanes, self.budget, self.reserve) = (kinds, lanes, budget, reserve)
    (self.strictFit, self.isRolling, self.task) = (strictFit, isRolling && task == nil, task)
    (isInline, hasLanes, namesKinds) = (false, false, true)
  }

  /// A copy for other kinds.
  func of(_ kinds: KindSet) -> Window {
    var window = self
    window.kinds = kinds
    return window
  }

  /// Checks every field.
  ///
  /// - Parameters:
  ///   - units: of the scheduler's clock.
  ///   - enabled: the kinds that it is for if the draft names none.
  /// - Throws: `invalidArgument`, naming the first field that is out of range.
  package init(_ draft: WindowDraft, _ units: Units, enabled: KindSet) throws(SeleneError) {
    let onlyTask = draft.task.count > 0
    guard onlyTask || draft.kinds & ~KindSet.all.rawValue == 0 else {
      throw .kinds("kinds", draft.kinds, atLeastOne: false)
    }
    guard (1...Self.mostLanes).contains(draft.lanes) else {
      throw .range("lanes", draft.lanes, 1, Int64(Self.mostLanes))
    }
    guard draft.lanes == 1 || !draft.isInline else { throw .range("lanes", draft.lanes, 1, 1).of("an inline window") }
    guard draft.lanes == 1 || !onlyTask else { throw .range("lanes", draft.lanes, 1, 1).of("a window of one task") }
    try units.check("budget", draft.budget, 1, Time.longestRun)
    try units.check("reserve", draft.reserve, 0, draft.budget, or: -1, "0 … budget")
    if onlyTask { try Identifier.check(draft.task, "task") }
    namesKinds = draft.kinds != 0
    kinds = namesKinds ? KindSet(rawValue: draft.kinds) : enabled
    lanes = Int(draft.lanes)
    budget = draft.budget
    reserve = draft.reserve == -1 ? Budget.reserve(of: draft.budget) : draft.reserve
    strictFit = draft.strictFit
    // The one task of a window is picked once.
    isRolling = draft.isRolling && !onlyTask
    isInline = draft.isInline
    hasLanes = draft.hasLanes
    (isOpenEnded, joins) = (draft.isOpenEnded, false)
    task = onlyTask ? draft.task : nil
  }
}
