// What a run leaves (W5).

/// What a run leaves for those who read it, if it succeeds.
package struct RunOutput {
  /// What is kept, never empty.
  package var kept: Bytes?
  /// How many bytes it left which were too many to be kept (V11).
  package var lost: UInt64

  package init(_ kept: Bytes? = nil, lost: UInt64 = 0) { (self.kept, self.lost) = (kept, lost) }
}
