// Trees of files that stand for a machine's proc, sys and dev.
//
// One is a recording of a real machine (`recorded`). The others are written by hand after what the drivers of such a machine
// show: the names, attributes and values that the kernel's documentation (Documentation/ABI/testing/sysfs-class-power,
// sysfs-class-thermal, sysfs-class-net; admin-guide/iostats; accounting/psi) and the drivers named at each of them give. No
// such machine was at hand to be recorded.

import Foundation
import SeleneCore
import SeleneGovernor

@testable import SeleneEngine

/// A folder that stands for "/", gone with the object.
final class Tree: Sendable {
  let path: String
  var root: Bytes { path.withUTF8Bytes { Bytes(copying: $0) } }

  init(_ files: [String: String] = [:]) throws {
    path = NSTemporaryDirectory() + "selene-tree-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (file, text) in files { try write(file, text) }
  }

  deinit {
    chmod(path, 0o755)
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Writes a file; its last newline is added, as the kernel does.
  func write(_ file: String, _ text: String) throws {
    let whole = path + file
    let folder = (whole as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data((text + "\n").utf8).write(to: URL(fileURLWithPath: whole))
  }

  func remove(_ file: String) throws { try FileManager.default.removeItem(atPath: path + file) }

  /// Sets when a file was last read.
  func touch(_ file: String, ago: Span) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    now.tv_sec -= Int(ago / Time.second)
    utimensat(AT_FDCWD, path + file, [now, now], 0)
  }

  /// What a probe of this machine says of each signal; those that are unknown are missing.
  func signals(_ groups: SignalGroups = .all.subtracting([.storage, .place])) -> [Signal: Int64] {
    var probe = SignalProbe()
    return signals(&probe, groups)
  }

  func signals(_ probe: inout SignalProbe, _ groups: SignalGroups) -> [Signal: Int64] {
    var signals = Signals()
    _ = probe.apply(SignalReadings(groups, root: root, store: root), to: &signals, at: 0)
    var known: [Signal: Int64] = [:]
    for signal in Signal.allCases where signals.reading(signal, at: 0).isKnown {
      known[signal] = signals.value(signal, at: 0)
    }
    return known
  }

  private static func at(_ folder: String, _ files: [String: String]) -> [String: String] {
    Dictionary(uniqueKeysWithValues: files.map { (folder + "/" + $0.key, $0.value) })
  }

  private static func merge(_ parts: [String: String]...) -> [String: String] {
    parts.reduce(into: [:]) { $0.merge($1) { $1 } }
  }

  static let supplies = "/sys/class/power_supply"
  static let heading = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"

  static func calm(_ some: String = "0.00", _ full: String = "0.00") -> String {
    "some avg10=\(some) avg60=0.08 avg300=0.31 total=178921443\nfull avg10=\(full) avg60=0.00 avg300=0.01 total=51210931"
  }

  /// A recording in Tests/vectors, in the form that is described there.
  static func recorded(_ name: String) throws -> Tree {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../vectors/" + name)
    let tree = try Tree()
    for part in ("\n" + (try String(contentsOf: file, encoding: .utf8))).components(separatedBy: "\n== ").dropFirst() {
      let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let words = lines[0].split(separator: " ")
      let path = String(words[0])
      if path.hasSuffix("/") {
        try FileManager.default.createDirectory(atPath: tree.path + path, withIntermediateDirectories: true)
      } else {
        try tree.write(path, lines.count > 1 ? String(lines[1]) : "")
        if words.count > 1, let ago = Int64(words[1]) { tree.touch(path, ago: ago * Time.second) }
      }
    }
    return tree
  }

  /// A laptop that is charged through USB-C: its charger shows twice, as ACPI's AC and as UCSI's source.
  ///
  /// After ACPI's drivers `ac` and `battery` and `ucsi_acpi`, which names a supply for each port; the second port is empty.
  static func charging() throws -> Tree {
    try Tree(
      merge(
        at(supplies + "/AC", ["type": "Mains", "online": "1"]),
        at(
          supplies + "/BAT0",
          [
            "type": "Battery", "present": "1", "status": "Charging", "capacity": "64", "charge_now": "3021000",
            "charge_full": "4720000", "cycle_count": "113", "voltage_now": "12711000",
          ]),
        at(
          supplies + "/ucsi-source-psy-USBC000:001",
          ["type": "USB", "scope": "System", "online": "1", "usb_type": "C [PD] PD_PPS", "voltage_now": "20000000"]),
        at(
          supplies + "/ucsi-source-psy-USBC000:002",
          ["type": "USB", "scope": "System", "online": "0", "usb_type": "[C] PD PD_PPS", "voltage_now": "0"])))
  }

  /// A desktop with USB-C sockets at its front: UCSI shows a supply for each, and nothing is plugged in.
  static func socketed() throws -> Tree {
    let tree = try desktop()
    for port in ["001", "002"] {
      for (name, text) in ["type": "USB", "scope": "System", "online": "0", "usb_type": "[C] PD PD_PPS"] {
        try tree.write(supplies + "/ucsi-source-psy-USBC000:\(port)/" + name, text)
      }
    }
    return tree
  }

  /// A server whose way out is a VLAN over a bond of two wires, one of which is unplugged.
  ///
  /// After the drivers `bonding` and `8021q`: a VLAN whose bond has lost its last wire is lowerlayerdown, with its route.
  static func bonded() throws -> Tree {
    try Tree(
      merge(
        at("/sys/class/net/eno1", ["operstate": "up", "flags": "0x1903", "carrier": "1"]),
        at("/sys/class/net/eno2", ["operstate": "down", "flags": "0x1903", "carrier": "0"]),
        at("/sys/class/net/bond0", ["operstate": "up", "flags": "0x1403", "carrier": "1"]),
        at("/sys/class/net/bond0.100", ["operstate": "up", "flags": "0x1003", "carrier": "1"]),
        ["/proc/net/route": heading + "\nbond0.100\t00000000\t0164A8C0\t0003\t0\t0\t400\t00000000\t0\t0\t0"]))
  }

  /// A container without privileges: sysfs is the machine's, with its power; the network is a tap device that knows no link.
  ///
  /// After rootless Podman with slirp4netns.
  static func rootless() throws -> Tree {
    try Tree(
      merge(
        at(supplies + "/AC", ["type": "Mains", "online": "1"]),
        at("/sys/class/net/tap0", ["operstate": "unknown", "flags": "0x1003"]),
        at("/sys/class/net/lo", ["operstate": "unknown", "flags": "0x9"]),
        [
          "/proc/net/route": heading + "\ntap0\t00000000\t0202000A\t0003\t0\t0\t0\t00000000\t0\t0\t0",
          "/proc/stat": "cpu  1 2 3 4", "/proc/loadavg": "0.10 0.08 0.06 1/512 77",
        ]))
  }

  /// A laptop with two batteries, away from its charger, lid open, on a wireless network.
  static func laptop() throws -> Tree {
    let tree = try Tree(
      merge(
        at(supplies + "/AC", ["type": "Mains", "online": "0"]),
        at(
          supplies + "/BAT0",
          [
            "type": "Battery", "present": "1", "status": "Not charging", "capacity": "80", "energy_now": "18400000",
            "energy_full": "23000000", "capacity_level": "Normal", "technology": "Li-poly",
          ]),
        at(
          supplies + "/BAT1",
          [
            "type": "Battery", "present": "1", "status": "Discharging", "capacity": "12", "energy_now": "5800000",
            "energy_full": "47000000", "power_now": "7012000",
          ]),
        at(
          supplies + "/hidpp_battery_0",
          ["type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "5", "online": "1"]),
        at(
          supplies + "/ucsi-source-psy-USBC000:001",
          ["type": "USB", "scope": "System", "online": "0", "usb_type": "[C] PD PD_PPS"]),
        at(
          "/sys/class/thermal/thermal_zone0",
          [
            "type": "acpitz", "mode": "enabled", "temp": "61000", "trip_point_0_type": "critical",
            "trip_point_0_temp": "128000",
          ]),
        at(
          "/sys/class/thermal/thermal_zone7",
          [
            "type": "x86_pkg_temp", "temp": "71000", "trip_point_0_type": "passive", "trip_point_0_temp": "-274000",
            "trip_point_1_type": "passive", "trip_point_1_temp": "0",
          ]),
        at(
          "/sys/class/thermal/thermal_zone8",
          [
            "type": "B0D4", "mode": "enabled", "temp": "71050", "trip_point_0_type": "critical",
            "trip_point_0_temp": "105050", "trip_point_1_type": "hot", "trip_point_1_temp": "100050",
            "trip_point_2_type": "passive", "trip_point_2_temp": "95050", "trip_point_3_type": "active",
            "trip_point_3_temp": "50000",
          ]),
        at("/sys/class/thermal/cooling_device0", ["type": "Processor", "cur_state": "0"]),
        at("/sys/class/drm/card0-eDP-1", ["dpms": "On", "status": "connected", "enabled": "enabled"]),
        at("/sys/class/drm/card0-HDMI-A-1", ["dpms": "Off", "status": "disconnected"]),
        at("/sys/class/rfkill/rfkill0", ["type": "bluetooth", "soft": "1", "hard": "0", "state": "0"]),
        at("/sys/class/rfkill/rfkill1", ["type": "wlan", "soft": "0", "hard": "0", "state": "1"]),
        at("/sys/class/net/wlp0s20f3", ["operstate": "up", "flags": "0x1003"]),
        [
          "/proc/net/route": heading + "\nwlp0s20f3\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0",
          "/proc/pressure/cpu": calm("1.27"), "/proc/pressure/memory": calm(),
          "/proc/pressure/io": calm("0.36", "0.18"),
          "/proc/stat": "cpu  1203938 2394 402931 23894729 30211 0 15002 0 0 0\ncpu0 300000 500 100000 6000000",
          "/dev/tty1": "", "/dev/pts/0": "", "/dev/pts/1": "", "/dev/pts/ptmx": "", "/dev/ttyUSB0": "",
        ]))
    // In sysfs a class holds links to its devices.
    let device = "/sys/devices/LNXSYSTM:00/PNP0C0A:00/power_supply/BAT1"
    try FileManager.default.createDirectory(
      atPath: (tree.path + device as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: tree.path + supplies + "/BAT1", toPath: tree.path + device)
    try FileManager.default.createSymbolicLink(
      atPath: tree.path + supplies + "/BAT1",
      withDestinationPath: "../../devices/LNXSYSTM:00/PNP0C0A:00/power_supply/BAT1")
    tree.touch("/dev/tty1", ago: 3 * Time.hour)
    tree.touch("/dev/pts/0", ago: 2 * Time.minute)
    tree.touch("/dev/pts/1", ago: Time.hour)
    tree.touch("/dev/pts/ptmx", ago: 0)
    tree.touch("/dev/ttyUSB0", ago: 0)
    return tree
  }

  /// A desktop whose screen sleeps; it knows of a keyboard's battery only.
  static func desktop() throws -> Tree {
    let tree = try Tree(
      merge(
        at(
          supplies + "/hidpp_battery_1",
          ["type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "50"]),
        at(
          "/sys/class/thermal/thermal_zone0",
          [
            "type": "acpitz", "temp": "27800", "trip_point_0_type": "critical", "trip_point_0_temp": "119000",
          ]),
        at("/sys/class/drm/card1-DP-1", ["dpms": "Off", "status": "connected"]),
        at("/sys/class/drm/card1-HDMI-A-2", ["dpms": "On", "status": "disconnected"]),
        at("/sys/class/net/enp5s0", ["operstate": "up", "flags": "0x1003"]),
        [
          "/proc/net/route": heading + "\nenp5s0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0",
          "/proc/pressure/cpu": calm(), "/proc/pressure/memory": calm(), "/proc/pressure/io": calm(),
          "/proc/stat": "cpu  500 0 500 9000 0 0 0 0 0 0", "/dev/tty1": "", "/dev/tty2": "",
        ]))
    tree.touch("/dev/tty1", ago: Time.day)
    tree.touch("/dev/tty2", ago: 40 * Time.minute)
    return tree
  }

  /// A server that is hot, short of memory, and reports two power supplies, one of them without a cable.
  static func server() throws -> Tree {
    try Tree(
      merge(
        at(supplies + "/PS1", ["type": "Mains", "online": "1"]),
        at(supplies + "/PS2", ["type": "Mains", "online": "0"]),
        at(
          "/sys/class/thermal/thermal_zone0",
          [
            "type": "x86_pkg_temp", "temp": "84000", "trip_point_0_type": "passive", "trip_point_0_temp": "82000",
            "trip_point_1_type": "critical", "trip_point_1_temp": "101000",
          ]),
        at("/sys/class/net/eno1", ["operstate": "up", "flags": "0x1003"]),
        [
          "/proc/net/ipv6_route": "00000000000000000000000000000000 00 00000000000000000000000000000000 00 "
            + "fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eno1",
          "/proc/pressure/cpu": "some avg10=63.10 avg60=44.21 avg300=20.01 total=98327498234",
          "/proc/pressure/memory": calm("14.55", "6.02"), "/proc/pressure/io": calm("40.00", "22.40"),
          "/proc/stat": "cpu  4000 100 900 5000 0 0 0 0 0 0\ncpu0 4000 100 900 5000 0 0 0 0 0 0",
        ]))
  }

  /// A container: sysfs without power or heat, no pressure files, a network.
  static func container() throws -> Tree {
    try Tree(
      merge(
        at("/sys/class/net/eth0", ["operstate": "up", "flags": "0x1003"]),
        [
          "/proc/net/route": heading + "\neth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0",
          "/proc/stat": "cpu  1 2 3 4", "/dev/tty": "", "/dev/pts/ptmx": "",
        ]))
  }

  /// A bare virtual machine whose sysfs has empty classes.
  static func bare() throws -> Tree {
    let tree = try Tree(["/proc/net/route": heading])
    for folder in ["power_supply", "thermal", "drm", "rfkill", "net"] {
      try FileManager.default.createDirectory(
        atPath: tree.path + "/sys/class/" + folder, withIntermediateDirectories: true)
    }
    return tree
  }
}

extension String {
  /// The bytes of this text.
  func withUTF8Bytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try Array(utf8).withUnsafeBytes(body)
  }
}
