// What an observer is told (C18).

import SeleneCore

/// A change with its number.
package struct Event {
  package let number: UInt64
  package let time: Instant
  package let change: Change
}
