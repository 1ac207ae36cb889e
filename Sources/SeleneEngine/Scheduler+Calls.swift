// Which processes are called because there may be something for them: of several that would find the same, one (L8, V22).
//
// A process that waits in a window is called when something may run there. A process that waits for windows is called when one
// may begin for it, or when it may take part in that of its pool: the owner finds that out here, and keeps the time for all of
// them, so that what becomes ready costs one process a request and the others nothing. Who was called and does not come is not
// waited for: then another one is.

import CPlatform
import SeleneCore

extension Scheduler {
  /// How long who was called may take to come.
  private static let patience = Time.second / 10

  /// Whether somebody was called then who may still come. Time that is told waits for him.
  private func mayCome(_ calledAt: Instant?) -> Bool {
    guard let calledAt else { return false }
    return clock.isTold || platform_boot_clock().subtracting(calledAt) < Self.patience
  }

  /// Somebody was called: whether he has come is looked at later.
  func expectCalled() {
    guard !clock.isTold else { return }
    crews.reviewAt = min(crews.reviewAt, clock.last.adding(Self.patience))
    nextDue = min(nextDue, crews.reviewAt)
  }

  /// Calls who may have something to do.
  ///
  /// - Parameter all: whoever waits in a window, whatever was seen there.
  func callMembers(all: Bool = false) {
    crews.members.forEach { member in
      guard member.bell >= 0 else { return }
      for place in member.shares.indices { call(member, toItsShare: place, anyway: all) }
    }
    guard crews.hasDrivers, all || crews.mustLook || crews.lookedStamp != table.stamp else { return }
    (crews.mustLook, crews.lookedStamp, crews.looksAt) = (false, table.stamp, Time.never)
    for pool in crews.pools where pool.members > 0 { callDrivers(of: pool, at: clock.last) }
    nextDue = min(nextDue, crews.looksAt)
    guard crews.looksAt < crews.awaitedUntil else { return }
    // Their server, which keeps the time, sleeps for longer.
    crews.awaitedUntil = Time.never
    var isRung = false
    crews.members.forEach { member in
      guard !isRung, member.driver != nil, member.bell >= 0 else { return }
      platform_ring(member.bell)
      isRung = true
    }
  }

  /// How long nothing happens by time alone, a second at most.
  package func untilDue(at moment: Moment) -> Span {
    guard clock.host == nil else { return Time.second }
    if crews.hasListeners { callMembers() }
    let span = min(max(0, nextDue.subtracting(moment.now)), Time.second)
    crews.awaitedUntil = moment.now.adding(span)
    return span
  }

  /// It is time to look who has not come, or for whom there is something by time alone.
  func reviewCalls(at now: Instant) {
    if crews.reviewAt <= now { crews.reviewAt = Time.never }
    if crews.looksAt <= now { crews.looksAt = Time.never }
    crews.mustLook = true
  }

  // MARK: Windows

  private func call(_ member: Member, toItsShare place: Int, anyway: Bool) {
    let cycle = member.shares[place].cycle
    guard let seen = member.shares[place].seen, anyway || seen.differs(cycle, table) else { return }
    guard anyway || cycle.isDone || !isAnotherCalled(to: member.shares[place], member) else { return }
    member.shares[place].seen = nil
    member.shares[place].calledAt = platform_boot_clock()
    member.call(to: .windows)
    if !cycle.isDone { expectCalled() }
  }

  /// Whether another process is on its way to a window that would find the same there.
  private func isAnotherCalled(to share: Share, _ member: Member) -> Bool {
    var isCalled = false
    crews.members.forEach { other in
      guard other !== member, other.crew === member.crew else { return }
      for its in other.shares where its.cycle === share.cycle && its.isCalled == share.isCalled {
        if mayCome(its.calledAt) { isCalled = true }
      }
    }
    return isCalled
  }

  /// A process that has a free lane found nothing in a window, as others would that wait there.
  func foundNothing(_ member: Member, in share: Share) {
    crews.members.forEach { other in
      guard other !== member, other.crew === member.crew, !share.cycle.isDone, !share.cycle.isHeldBack, !hasSuspects
      else { return }
      for place in other.shares.indices where other.shares[place].cycle === share.cycle {
        guard other.shares[place].isCalled == share.isCalled, other.shares[place].seen != nil else { continue }
        other.shares[place].seen = CycleView(share.cycle, table)
      }
    }
  }

  /// How many runs those may take at once that are in a window beside a process and have the same handlers.
  func freeLanes(in cycle: Cycle, beside member: Member) -> Int {
    var free = 0
    crews.members.forEach { other in
      guard other !== member, other.crew === member.crew, let place = share(of: other, in: cycle) else { return }
      let share = other.shares[place]
      guard !share.isDone, share.ending == nil,
        share.seen != nil || mayCome(share.calledAt) || mayCome(other.askedAt)
      else { return }
      free += max(0, share.lanes - other.openCount(of: cycle))
    }
    return free
  }

  // MARK: Drivers

  private func callDrivers(of pool: Pool, at now: Instant) {
    // One of each sort: that which asked last. Those that are on their way find the same themselves.
    var asleep: [Driver] = []
    var onTheirWay: [Driver] = []
    crews.members.forEach { member in
      guard member.pool === pool, member.bell >= 0, let driver = member.driver else { return }
      if !driver.isAsleep {
        if mayCome(driver.calledAt) { onTheirWay.append(driver) }
      } else if let place = asleep.firstIndex(where: { finds($0, theSameAs: driver, at: now) }) {
        if (asleep[place].member?.askedAt ?? 0) < member.askedAt { asleep[place] = driver }
      } else {
        asleep.append(driver)
      }
    }
    if !onTheirWay.isEmpty {
      asleep.removeAll { driver in onTheirWay.contains { finds($0, theSameAs: driver, at: now) } }
      crews.mustLook = true
      expectCalled()
    }
    for driver in asleep {
      guard let wakeAt = looksAgain(driver, at: now) else {
        driver.poke()
        expectCalled()
        continue
      }
      crews.looksAt = min(crews.looksAt, wakeAt)
    }
  }

  /// When a driver that sleeps has something to do, or nil: now.
  private func looksAgain(_ driver: Driver, at now: Instant) -> Instant? {
    guard let member = driver.member, window(toJoin: driver, of: member, at: now) == nil else { return nil }
    // What the system says it reads itself, when it is time for that or before it opens a window.
    guard case .sleep(let until) = view(driver, Hearing(read: .all), at: now).plan().step, until > now else {
      return nil
    }
    return until
  }

  /// Whether two drivers would find the same to do.
  private func finds(_ one: Driver, theSameAs other: Driver, at now: Instant) -> Bool {
    guard let first = one.member, let second = other.member, first.crew === second.crew, one.isLike(other, at: now)
    else { return false }
    return !cycles.contains {
      $0.isDriven && $0.pool === first.pool && !$0.isEnded
        && (share(of: first, in: $0) == nil) != (share(of: second, in: $0) == nil)
    }
  }
}
