// First in, first out, in the same time however many wait.

/// A queue.
struct Queue<Element> {
  private var elements: [Element?] = []
  /// Where the first one is.
  private var head = 0

  var count: Int { elements.count - head }
  var isEmpty: Bool { elements.count == head }

  var first: Element? { head < elements.count ? elements[head] : nil }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let first = elements[head]
    elements[head] = nil
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: head <= Self.usual)
      head = 0
    } else if head > Self.usual && head * 2 > elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return first
  }

  /// The first one of which something is true.
  mutating func popFirst(where isWanted: (Element) -> Bool) -> Element? {
    for index in head..<elements.count {
      guard let element = elements[index], isWanted(element) else { continue }
      if index == head { return popFirst() }
      elements.remove(at: index)
      return element
    }
    return nil
  }

  /// Room for so many is kept.
  private static var usual: Int { 64 }
}
