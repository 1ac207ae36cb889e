// Section VERSION of the header.

import CSelene

/// SELENE_VERSION_STRING, which nodes tell their fleet.
let version: StaticString = "0.2.0"

@_cdecl("selene_version") @implementation
public func selene_version() -> UInt32 { UInt32(SELENE_VERSION_NUMBER) }
