// The store seam: where records outlive the process.

import SeleneCore

/// Keeps what a table holds. This one keeps nothing: the tasks live in memory.
///
/// The scheduler calls it under its lock, after a rule changed the table and before anybody hears of it.
class Store {
  /// Makes the table's changes durable.
  ///
  /// - Throws: what kept it from doing so; the caller then takes the changes back.
  func commit(_ table: TaskTable) throws(SeleneError) {}
}
