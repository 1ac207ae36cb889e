// What a host asks for, before anything is checked.

/// A task as a host describes it: numbers and borrowed bytes, unchecked. There is one of it, because copies cost.
package struct TaskDraft: ~Copyable {
  package var id = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Empty: the id.
  package var handler = UnsafeRawBufferPointer(start: nil, count: 0)
  package var numbers = TaskNumbers()
  package var tags: [UnsafeRawBufferPointer] = []
  /// The ids of the tasks that it comes after (W4).
  package var after: [UnsafeRawBufferPointer] = []
  /// Empty: none.
  package var group = UnsafeRawBufferPointer(start: nil, count: 0)
  /// The conditions of the host that it asks for (W2).
  package var conditions: [UnsafeRawBufferPointer] = []
  package var input = UnsafeRawBufferPointer(start: nil, count: 0)

  package init() {}
}
