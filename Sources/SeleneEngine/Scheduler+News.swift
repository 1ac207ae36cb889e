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
      if !member.isCalled { platform_ring(member.bell) }
    }
  }

  /// Wakes the members that wait for windows in which there may be something now.
  func callMembers(all: Bool = false) {
    crews.members.forEach { member in
      guard member.bell >= 0 else { return }
      for place in member.shares.indices {
        guard let seen = member.shares[place].seen, all || seen.differs(member.shares[place].cycle, table) else {
          continue
        }
        member.shares[place].seen = nil
        member.call()
      }
      member.driver?.follow(table.stamp)
    }
  }

  /// Gives a server its news: the member's number, the run that shall stop, why, and whether it is over; or 0: look again.
  package func fetchNews(bell: Int32, _ each: (UInt64, UInt64, Int32, Bool) -> Void) {
    crews.members.forEach { member in
      guard member.bell == bell else { return }
      for stop in member.stops { each(member.number, stop.run, stop.reason.rawValue, stop.isOver) }
      if member.isCalled { each(member.number, 0, 0, false) }
      member.stops.removeAll()
      member.isCalled = false
    }
  }

  /// How long nothing happens by time alone, a second at most.
  package func untilDue(at moment: Moment) -> Span {
    clock.host == nil ? min(max(0, nextDue.subtracting(moment.now)), Time.second) : Time.second
  }
}
