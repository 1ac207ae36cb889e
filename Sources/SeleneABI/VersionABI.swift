// Section VERSION of the header.

import CSelene
import SeleneCore

@_cdecl("selene_version_number") @implementation
public func selene_version_number() -> UInt32 { UInt32(SELENE_VERSION_NUMBER) }

@_cdecl("selene_version_string") @implementation
public func selene_version_string() -> UnsafePointer<CChar>! { ("0.2.0" as StaticString).cString }
