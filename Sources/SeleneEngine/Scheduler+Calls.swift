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

  /// Whether somebody was called, or asked, who may still come; by the boot clock, as time may stand still.
  private func mayCome(_ at: Instant?) -> Bool {
    guard let at else { return false }
    return platform_boot_clock().subtracting(at) < Self.patience
  }

  /// Something is left to somebody: whether he has come is looked at later.
  func expectCalled() {
    let reviewAt = platform_boot_clock().adding(Self.patience + Time.millisecond)
    crews.reviewAt = min(crews.reviewAt, reviewAt)
    wakeServer(by: crews.reviewAt)
  }

  /// The server that keeps the time for processes is not to sleep for longer.
  private func wakeServer(by instant: Instant) {
    guard instant < crews.awaitedUntil else { return }
    crews.awaitedUntil = instant
    var isRung = false
    crews.members.forEach { member in
      guard !isRung, member.bell >= 0 else { return }
      platform_ring(member.bell)
      isRung = true
    }
  }

  /// How long a server may sleep, a second at most.
  package func untilDue(at moment: Moment) -> Span {
    let now = platform_boot_clock()
    if crews.reviewAt <= now { (crews.reviewAt, crews.mustLook) = (Time.never, true) }
    if crews.hasListeners { callMembers() }
    var span = min(Time.second, max(0, crews.reviewAt.subtracting(now)))
    if clock.host == nil { span = min(span, max(0, nextDue.subtracting(moment.now))) }
    crews.awaitedUntil = now.adding(span)
    return span
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
    let now = clock.last
    for pool in crews.pools where pool.members > 0 { callDrivers(of: pool, at: now) }
    guard crews.looksAt != Time.never else { return }
    nextDue = min(nextDue, crews.looksAt)
    if clock.host == nil { wakeServer(by: platform_boot_clock().adding(crews.looksAt.subtracting(now))) }
  }

  /// By time alone there is something for a driver of a member.
  func lookAtDrivers() { (crews.looksAt, crews.mustLook) = (Time.never, true) }

  // MARK: Windows

  private func call(_ member: Member, toItsShare place: Int, anyway: Bool) {
    let cycle = member.shares[place].cycle
    guard let seen = member.shares[place].seen, anyway || seen.differs(cycle, table) else { return }
    guard anyway || cycle.isDone || !isAnotherCalled(to: member.shares[place], member) else { return expectCalled() }
    member.shares[place].seen = nil
    member.shares[place].calledAt = platform_boot_clock()
    // A host that pulls waits for its driver.
    member.call(to: member.shares[place].hasLanes ? .windows : [.windows, .driver])
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

  /// How many runs those take at once, before long, that are in a window beside a process and have the same handlers.
  func freeLanes(in cycle: Cycle, beside member: Member) -> Int {
    // What one may not run another one may (V7).
    guard !hasSuspects, !cycle.isHeldBack else { return 0 }
    var free = 0
    crews.members.forEach { other in
      guard other !== member, other.crew === member.crew, let place = share(of: other, in: cycle) else { return }
      let share = other.shares[place]
      guard !share.isDone, share.ending == nil,
        (share.seen != nil && other.bell >= 0) || mayCome(share.calledAt) || mayCome(share.tookAt)
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
    let view = view(driver, Hearing(read: .all), at: now)
    guard case .sleep(var until) = view.plan().step else { return nil }
    until = min(until, driver.readsAt)
    // What becomes due in a window whose lanes are in handlers is for who may join it.
    for cycle in cycles where cycle.isDriven && cycle.pool === member.pool && cycle.isRolling && !cycle.isDone {
      guard share(of: member, in: cycle) == nil, cycle.driven.isSubset(of: driver.terms.kinds) else { continue }
      until = min(until, view.nextDue(cycle.kinds))
    }
    return until > now ? until : nil
  }

  /// Whether two drivers would find the same to do.
  private func finds(_ one: Driver, theSameAs other: Driver, at now: Instant) -> Bool {
    guard let first = one.member, let second = other.member, first.crew === second.crew, one.isLike(other, at: now)
    else { return false }
    return !cycles.contains {
      $0.isDriven && $0.pool === first.pool && !$0.isEnded
        && ((share(of: first, in: $0) == nil) != (share(of: second, in: $0) == nil)
          || mayComeBack(first, to: $0) != mayComeBack(second, to: $0))
    }
  }
}
