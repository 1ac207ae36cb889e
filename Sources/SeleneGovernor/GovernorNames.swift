// The names of the governor's numbers, for people: what the border's text functions answer.

import SeleneCore

extension Signal {
  package var name: Literal {
    switch self {
    case .batteryLevel: "battery_level"
    case .externalPower: "external_power"
    case .lowPowerMode: "low_power_mode"
    case .thermal: "thermal"
    case .userActive: "user_active"
    case .displayOn: "display_on"
    case .unlocked: "unlocked"
    case .network: "network"
    case .metered: "metered"
    case .airplane: "airplane"
    case .backgroundSwitch: "background_switch"
    case .hostPresence: "host_presence"
    case .cpuBusy: "cpu_busy"
    case .cpuPressure: "cpu_pressure"
    case .memoryPressure: "memory_pressure"
    case .memoryStalled: "memory_stalled"
    case .ioPressure: "io_pressure"
    case .ioStalled: "io_stalled"
    case .storageFree: "storage_free"
    case .discharging: "discharging"
    case .utcOffset: "utc_offset"
    case .roaming: "roaming"
    }
  }
}

extension Factor {
  package var name: Literal {
    switch self {
    case .battery: "battery"
    case .budget: "budget"
    case .rate: "rate"
    case .usePrediction: "use_prediction"
    case .recentUse: "recent_use"
    default: signal?.name ?? "unknown"
    }
  }
}

extension Origin {
  package var name: Literal {
    switch self {
    case .unknown: "unknown"
    case .probe: "probe"
    case .host: "host"
    case .trace: "trace"
    case .books: "books"
    }
  }
}

extension Verdict {
  package var name: Literal {
    switch self {
    case .passed: "passed"
    case .vetoed: "vetoed"
    case .weighed: "weighed"
    }
  }
}

extension BuiltInProfile {
  package var name: Literal {
    switch self {
    case .open: "open"
    case .apple: "apple"
    case .server: "server"
    case .strict: "strict"
    }
  }
}

extension Measure {
  package var name: Literal {
    switch self {
    case .windowTime: "window_time"
    case .cpuTime: "cpu_time"
    case .windows: "windows"
    case .bytes: "bytes"
    }
  }
}
