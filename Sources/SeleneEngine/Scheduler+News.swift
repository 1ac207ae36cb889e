// What other processes are told without having asked: that a run shall stop, that there may be something to run (L8).

import CPlatform
import SeleneCore

extension Scheduler {
  /// A member wants to know; its server hears of it by a descriptor.
  package func listen(_ member: Member, bell: Int32) {
    member.bell = bell
    crews.hasListeners = true
  }

  /// One of its runs is asked to stop, or is over.
  func tellMember(of run: Run, isOver: Bool) {
    let number = Token(rawValue: run.token).number
    crews.members.forEach { member in
      guard member.bell >= 0, member.runs[number] === run else { return }
      member.stops.append((run.token, run.stopReason, isOver))
      if member.calls.isEmpty { platform_ring(member.bell) }
    }
  }

  /// Gives a server its news: the member's number, the run that shall stop, why, and whether it is over; or 0, and where there
  /// may be something for it.
  package func fetchNews(bell: Int32, _ each: (UInt64, UInt64, Int32, Bool) -> Void) {
    crews.members.forEach { member in
      guard member.bell == bell else { return }
      for stop in member.stops { each(member.number, stop.run, stop.reason.rawValue, stop.isOver) }
      if !member.calls.isEmpty { each(member.number, 0, member.calls.rawValue, false) }
      member.stops.removeAll()
      member.calls = []
    }
  }
}
