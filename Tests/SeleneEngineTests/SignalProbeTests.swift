// Probes: what recorded machines say, and what damaged files do not do (G1).

import Foundation
import SeleneCore
import SeleneGovernor
import Testing

@testable import SeleneEngine

@Suite("SignalProbe") struct SignalProbeTests {
  // MARK: Machines

  @Test("G1 a laptop on battery: both batteries by what they hold, not the mouse's")
  func laptop() throws {
    #expect(
      try Tree.laptop().signals() == [
        .batteryLevel: 345, .discharging: 1, .externalPower: 0, .thermal: 0, .userActive: 1, .displayOn: 1, .network: 1,
        .airplane: 0, .cpuPressure: 12, .memoryPressure: 0, .memoryStalled: 0, .ioPressure: 3, .ioStalled: 1,
      ])
  }

  @Test("G1 a desktop: no battery of its own, screen asleep, nobody at the keyboard")
  func desktop() throws {
    #expect(
      try Tree.desktop().signals() == [
        .thermal: 0, .userActive: 0, .displayOn: 0, .network: 1, .cpuPressure: 0, .memoryPressure: 0,
        .memoryStalled: 0, .ioPressure: 0, .ioStalled: 0,
      ])
  }

  @Test("G1 a server: one supply online is enough, the passive trip is serious")
  func server() throws {
    #expect(
      try Tree.server().signals() == [
        .externalPower: 1, .thermal: 2, .network: 1, .cpuPressure: 631, .memoryPressure: 145, .memoryStalled: 60,
        .ioPressure: 400, .ioStalled: 224,
      ])
  }

  @Test("G1 a container and a bare virtual machine: nearly all unknown, and every profile works")
  func bare() throws {
    #expect(try Tree.container().signals() == [.network: 1])
    #expect(try Tree.bare().signals() == [.network: 0])
    for tree in [try Tree.container(), try Tree.bare()] {
      for profile in BuiltInProfile.allCases {
        var governor = Governor(profile.profile)
        var probe = SignalProbe()
        _ = probe.apply(
          SignalReadings(.all, root: tree.root, store: tree.root), to: &governor.signals, at: 1_000 * Time.day)
        try governor.signals.set(.storageFree, 500, by: .host, at: 0)
        for kind in Kind.allCases { #expect(governor.decide(kind, at: 1_000 * Time.day).isGranted) }
      }
    }
  }

  @Test("G1 a laptop on a charger of which the second socket is empty, and a desktop with nothing but empty sockets")
  func sockets() throws {
    #expect(try Tree.charging().signals(.power) == [.batteryLevel: 640, .discharging: 0, .externalPower: 1])
    let tree = try Tree.socketed()
    #expect(tree.signals(.power) == [:], "nobody knows what feeds it, and it is fed")
    try tree.write(Tree.supplies + "/BAT0/type", "Battery")
    #expect(tree.signals(.power) == [.externalPower: 0])
    try tree.write(Tree.supplies + "/BAT0/present", "0")
    #expect(tree.signals(.power) == [:])
  }

  @Test(
    "G1 an uplink is as good as its lower layers",
    arguments: [
      ("up", 1), ("unknown", 1), ("down", 0), ("lowerlayerdown", 0), ("notpresent", 0), ("dormant", 0), ("testing", 0),
    ])
  func uplink(state: String, reachable: Int64) throws {
    let tree = try Tree.bonded()
    #expect(tree.signals(.network) == [.network: 1], "one wire of two is enough")
    try tree.write("/sys/class/net/bond0.100/operstate", state)
    #expect(tree.signals(.network) == [.network: reachable])
  }

  @Test("G1 a container without privileges sees the machine's power and load")
  func rootless() throws {
    #expect(try Tree.rootless().signals() == [.externalPower: 1, .network: 1, .cpuBusy: 0])
  }

  @Test("G1 a recorded virtual machine that compiles: nothing but load and a network")
  func recorded() throws {
    let busy = min(1000, Int64(3000 / sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    #expect(
      try Tree.recorded("vm.tree").signals() == [
        .network: 1, .userActive: 0, .cpuPressure: 138, .memoryPressure: 0, .memoryStalled: 0, .ioPressure: 167,
        .ioStalled: 118, .cpuBusy: busy,
      ])
  }

  @Test("G1 a machine without any of these files: all unknown")
  func nothing() throws {
    #expect(try Tree().signals() == [.network: 0])
  }

  @Test("G1 this machine: every value is in its range, twice, and the place is the system's")
  func thisMachine() throws {
    let root = Bytes(count: 0) { _ in }
    let store = NSTemporaryDirectory().withUTF8Bytes { Bytes(copying: $0) }
    var probe = SignalProbe()
    var signals = Signals()
    for second: Int64 in 0..<2 {
      _ = probe.apply(SignalReadings(.all, root: root, store: store), to: &signals, at: second * Time.second)
      if second == 0 { Thread.sleep(forTimeInterval: 0.5) }
    }
    for signal in Signal.allCases {
      let reading = signals.reading(signal, at: Time.second)
      #expect(reading.value >= signal.least && reading.value <= signal.greatest, "\(signal)")
      print("G1 \(signal): \(reading.isKnown ? "\(reading.value)" : "unknown")")
    }
    #expect(signals.reading(.storageFree, at: 1).isKnown)
    #expect(signals.value(.utcOffset, at: 1) == Int64(TimeZone.current.secondsFromGMT()))
    #expect(signals.reading(.cpuBusy, at: 1).isKnown)
  }

  // MARK: One by one

  @Test("G1 the charger decides external power; discharging without one is none; a UPS is a battery")
  func power() throws {
    let tree = try Tree.laptop()
    let supplies = Tree.supplies
    try tree.write(supplies + "/AC/online", "1")
    try tree.write(supplies + "/BAT1/status", "Charging")
    #expect(tree.signals(.power) == [.batteryLevel: 345, .discharging: 0, .externalPower: 1])
    for file in ["/AC", "/ucsi-source-psy-USBC000:001"] { try tree.remove(supplies + file) }
    #expect(tree.signals(.power) == [.batteryLevel: 345, .discharging: 0])
    try tree.write(supplies + "/BAT1/status", "Discharging")
    #expect(tree.signals(.power) == [.batteryLevel: 345, .discharging: 1, .externalPower: 0])
    try tree.write(supplies + "/BAT1/present", "0")
    #expect(tree.signals(.power) == [.batteryLevel: 800, .discharging: 0])
    try tree.remove(supplies + "/BAT0")
    #expect(tree.signals(.power) == [:])
    try tree.write(supplies + "/ups/type", "UPS")
    try tree.write(supplies + "/ups/online", "1")
    try tree.write(supplies + "/ups/capacity", "130")
    #expect(tree.signals(.power) == [.batteryLevel: 1000, .discharging: 0])
  }

  @Test("G1 several batteries that do not say what they hold count alike; a charge is as good as an energy")
  func shares() throws {
    let tree = try Tree.laptop()
    for file in ["energy_now", "energy_full"] { try tree.remove(Tree.supplies + "/BAT0/" + file) }
    #expect(tree.signals(.power)[.batteryLevel] == 460)
    try tree.write(Tree.supplies + "/BAT0/charge_now", "0")
    try tree.write(Tree.supplies + "/BAT0/charge_full", "47000000")
    #expect(tree.signals(.power)[.batteryLevel] == 61)
    for file in ["BAT0/capacity", "BAT1/capacity"] { try tree.remove(Tree.supplies + "/" + file) }
    #expect(tree.signals(.power)[.batteryLevel] == 61)
    try tree.remove(Tree.supplies + "/BAT0/charge_full")
    #expect(tree.signals(.power)[.batteryLevel] == 123)
  }

  @Test(
    "G1 heat by the trips that it reaches",
    arguments: [(50_000, 0), (81_999, 0), (82_000, 2), (100_999, 2), (101_000, 3), (200_000, 3)])
  func thermal(temperature: Int, level: Int64) throws {
    let tree = try Tree.server()
    try tree.write("/sys/class/thermal/thermal_zone0/temp", "\(temperature)")
    #expect(tree.signals(.thermal) == [.thermal: level])
    try tree.write("/sys/class/thermal/thermal_zone0/mode", "disabled")
    #expect(tree.signals(.thermal) == [:])
  }

  @Test("G1 a user is active for five minutes after the newest access to a terminal")
  func people() throws {
    let tree = try Tree.desktop()
    for (ago, active) in [(0, 1), (240, 1), (301, 0), (-60, 1)] as [(Int64, Int64)] {
      tree.touch("/dev/tty2", ago: ago * Time.second)
      #expect(tree.signals(.people)[.userActive] == active, "\(ago) s ago")
    }
    tree.touch("/dev/tty2", ago: 100 * Time.second)
    var (signals, probe) = (Signals(), SignalProbe())
    _ = probe.apply(SignalReadings(.people, root: tree.root, store: tree.root), to: &signals, at: Time.day)
    let left = signals.reading(.userActive, at: Time.day).until - Time.day
    #expect(left > 140 * Time.second && left <= 201 * Time.second)
    #expect(signals.value(.userActive, at: Time.day + left) == 0)
  }

  @Test("G1 airplane mode is every wireless radio off, whatever Bluetooth does")
  func airplane() throws {
    let tree = try Tree.laptop()
    try tree.write("/sys/class/rfkill/rfkill1/soft", "1")
    #expect(tree.signals(.network)[.airplane] == 1)
    try tree.write("/sys/class/rfkill/rfkill0/soft", "0")
    #expect(tree.signals(.network)[.airplane] == 1)
    for (name, text) in [("type", "wwan"), ("soft", "0"), ("hard", "0")] {
      try tree.write("/sys/class/rfkill/rfkill2/" + name, text)
    }
    #expect(tree.signals(.network)[.airplane] == 0)
  }

  @Test("G1 CPU busy is the share of the last seconds, waiting for a disk is idle")
  func cpuBusy() throws {
    let tree = try Tree.server()
    var probe = SignalProbe()
    var signals = Signals()
    var now: Instant = 20_000 * Time.day
    func read(_ stat: String, after span: Span = Time.second) throws -> Int64? {
      try tree.write("/proc/stat", stat)
      now += span
      _ = probe.apply(SignalReadings(.load, root: tree.root, store: tree.root), to: &signals, at: now)
      let reading = signals.reading(.cpuBusy, at: now)
      return reading.isKnown ? reading.value : nil
    }
    #expect(try read("cpu  4000 100 900 5000 0 0 0 0 0 0") == nil)
    #expect(try read("cpu  4030 100 900 5070 0 0 0 0 0 0") == 300)
    let soon = Time.second / 10
    #expect(try read("cpu  4930 100 900 5070 0 0 0 0 0 0", after: soon) == 300, "too soon to say anything new")
    #expect(try read("cpu  4030 100 900 5170 900 50 40 10 5 5", after: soon) == 90, "since the last but one")
    #expect(try read("cpu  4031 100 900 5171 900 50 40 10 5 5") == nil, "too little was counted")
    #expect(try read("cpu  10 0 0 10 0 0 0 0 0 0") == nil, "counted anew")
    #expect(try read("cpu  110 0 0 10 0 0 0 0 0 0", after: 30 * Time.second) == 1000)
    #expect(try read("cpu  210 0 0 10 0 0 0 0 0 0", after: 30 * Time.second + 1) == nil, "too long ago")
    #expect(try read("cpu  210 0 0 110 0 0 0 0 0 0") == 0)
    #expect(try read("cpu  x") == nil)
    #expect(try read("intr 5") == nil)
  }

  @Test("G1 where no reading is recent the CPUs are as busy as tasks run at this moment, not as in the night")
  func cpuBusyAtOnce() throws {
    let tree = try Tree.server()
    var probe = SignalProbe()
    var signals = Signals()
    func read(_ load: String, _ stat: String, at now: Instant) throws -> Int64? {
      try tree.write("/proc/loadavg", load)
      try tree.write("/proc/stat", stat)
      _ = probe.apply(SignalReadings(.load, root: tree.root, store: tree.root), to: &signals, at: now)
      let reading = signals.reading(.cpuBusy, at: now)
      return reading.isKnown ? reading.value : nil
    }
    let most = 1 + sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let night = 10 * Time.hour
    // The first of all, at full load.
    #expect(try read("3.15 2.0 1.0 \(most)/500 77", "cpu  0 0 0 1000", at: 0) == 1000)
    #expect(try read("3.15 2.0 1.0 \(most)/500 77", "cpu  0 0 0 2000", at: Time.second) == 0, "they were idle since")
    // After an idle night at full load, and after a busy one in peace.
    #expect(try read("0.15 0.0 0.0 \(most + 9)/500 77", "cpu  500 0 0 7200000", at: night) == 1000)
    #expect(try read("9.15 9.0 9.0 1/500 77", "cpu  7200000 0 0 7200000", at: 2 * night) == 0)
    #expect(
      try read("9.15 9.0 9.0 2/500 77", "cpu  9200000 0 0 7200000", at: 3 * night) == Int64(1000 / (most - 1)),
      "one besides who reads")
    #expect(try read("9.15 9.0 9.0 0/500 77", "cpu  9200000 0 0 9200000", at: 4 * night) == 0)
    for damaged in ["", "1 2 3", "1 2 3 x/5", "1 2 3 4", "0.1 0.1 0.1 99999999999999999999/1"] {
      let value = try read(damaged, "cpu  9200000 0 0 9200000", at: .max / 2)
      #expect(value == nil || value == 1000, "\(damaged)")
      probe = SignalProbe()
    }
  }

  // MARK: Damage

  /// Every file that a probe of the laptop reads.
  private static let files: [String] = [
    Tree.supplies + "/AC/online", Tree.supplies + "/AC/type", Tree.supplies + "/BAT0/capacity",
    Tree.supplies + "/BAT0/energy_now", Tree.supplies + "/BAT0/energy_full", Tree.supplies + "/BAT0/status",
    Tree.supplies + "/hidpp_battery_0/scope", "/sys/class/thermal/thermal_zone8/temp",
    "/sys/class/thermal/thermal_zone8/trip_point_0_type", "/sys/class/thermal/thermal_zone8/trip_point_2_temp",
    "/sys/class/drm/card0-eDP-1/dpms", "/sys/class/rfkill/rfkill1/type", "/proc/net/route", "/proc/pressure/cpu",
    "/proc/pressure/io", "/proc/stat", "/proc/loadavg", "/sys/class/net/wlp0s20f3/operstate",
  ]

  @Test("G1 unreadable, malformed and huge files never crash nor block, and spoil nothing else", arguments: files)
  func damage(file: String) throws {
    var chance = Chance("probe \(file)")
    let texts: [String] =
      [
        "", "\n", "-1", "99999999999999999999999", "-99999999999999999999999", "9223372036854775807", "nan", "0x10",
        "some avg10=", "some avg10=99999.99", "cpu ", "cpu  18446744073709551615 18446744073709551615 1 1", "cpu  1",
        String(repeating: "7", count: 5_000), String(repeating: "cpu \n", count: 30_000),
        String(repeating: "\0", count: 300), "é\u{1F600}\u{7F}",
      ]
      + (0..<min(15, Effort.of(15))).map { _ in
        String(decoding: (0..<chance.below(600)).map { _ in UInt8(chance.below(256)) }, as: UTF8.self)
      }
    let tree = try Tree.laptop()
    let kept: Signal = file.contains("pressure") ? .memoryPressure : .cpuPressure
    func look(_ what: String) throws {
      let begin = Date()
      let signals = tree.signals()
      for (signal, value) in signals {
        try verify(value >= signal.least && value <= signal.greatest, "\(what): \(signal) is \(value)")
      }
      if !file.contains("cpu") { try verify(signals[kept] != nil, "\(what): \(kept) is lost") }
      try verify(Date().timeIntervalSince(begin) < 30, "\(what): it took long")
    }
    for text in texts {
      try tree.write(file, text)
      try look("\"\(text.prefix(40))\"")
    }
    try tree.remove(file)
    try look("missing")
    #expect(mkfifo(tree.path + file, 0o600) == 0)
    try look("a pipe")
    try tree.remove(file)
    try FileManager.default.createDirectory(atPath: tree.path + file, withIntermediateDirectories: false)
    try look("a folder")
    try tree.remove(file)
    for target in ["/dev/zero", "/dev/tty", "self", "../" + (file as NSString).lastPathComponent, "/nowhere"] {
      try FileManager.default.createSymbolicLink(atPath: tree.path + file, withDestinationPath: target)
      try look("a link to \(target)")
      try tree.remove(file)
    }
    try tree.write(file, "")
    #expect(truncate(tree.path + file, 1 << 40) == 0)
    try look("a file of 1 TiB")
    chmod(tree.path + file, 0)
    try look("no permission")
  }

  @Test("G1 folders with many hundreds of entries, and classes that are files")
  func folders() throws {
    let tree = try Tree.bare()
    for number in 0..<800 { try tree.write("/sys/class/thermal/thermal_zone\(number)/temp", "5") }
    for number in 0..<700 { try tree.write("/dev/pts/\(number)", "") }
    let begin = Date()
    #expect(tree.signals()[.userActive] == 1)
    #expect(Date().timeIntervalSince(begin) < 30)
    for folder in ["power_supply", "thermal", "drm", "rfkill"] {
      try tree.remove("/sys/class/" + folder)
      try tree.write("/sys/class/" + folder, "not a folder")
    }
    #expect(tree.signals() == [.network: 0, .userActive: 1])
  }

  @Test("G1 the room of a path that does not exist is unknown; a long root is none")
  func storage() throws {
    let tree = try Tree()
    let free = try #require(tree.signals(.storage)[.storageFree])
    #expect((0...1000).contains(free))
    var (probe, signals) = (SignalProbe(), Signals())
    let nowhere = "/nowhere/at/all".withUTF8Bytes { Bytes(copying: $0) }
    let long = String(repeating: "/x", count: 5_000).withUTF8Bytes { Bytes(copying: $0) }
    _ = probe.apply(SignalReadings(.all, root: long, store: nowhere), to: &signals, at: 0)
    #expect(!signals.reading(.storageFree, at: 0).isKnown)
    #expect(!signals.reading(.userActive, at: 0).isKnown)
  }

  @Test("G1 a reading says whether anything that counts is now another value")
  func changes() throws {
    let tree = try Tree.laptop()
    var (probe, signals) = (SignalProbe(), Signals())
    func read() -> Bool { probe.apply(SignalReadings(.power, root: tree.root, store: tree.root), to: &signals, at: 0) }
    #expect(read())
    #expect(!read())
    try tree.write(Tree.supplies + "/AC/online", "1")
    #expect(read())
    try signals.set(.externalPower, 1, by: .host, at: 0)
    try tree.write(Tree.supplies + "/AC/online", "0")
    #expect(!read(), "the host says otherwise")
  }
}
