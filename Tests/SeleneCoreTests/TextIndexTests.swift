// The index that finds tasks and handlers by their text, against a dictionary.

import SeleneCore
import Testing

@Suite("TextIndex") struct TextIndexTests {
  /// The index with the owner of its texts, as a table is.
  private struct Owner {
    var index = TextIndex()
    var texts: [Bytes] = []

    func find(_ text: [UInt8]) -> Int? {
      text.withUnsafeBytes { index.find($0) { texts[$0].buffer } }
    }

    /// Adds a new owner of a text.
    mutating func add(_ text: [UInt8]) -> Int {
      text.withUnsafeBytes { bytes in
        texts.append(Bytes(copying: bytes))
        let texts = texts
        index.set(bytes, to: texts.count - 1) { texts[$0].buffer }
      }
      return texts.count - 1
    }

    mutating func remove(_ text: [UInt8]) {
      let texts = texts
      text.withUnsafeBytes { index.remove($0) { texts[$0].buffer } }
    }
  }

  @Test("T1 an empty index finds nothing and removes nothing")
  func empty() {
    var owner = Owner()
    #expect(owner.find([1]) == nil)
    owner.remove([1])
    #expect(owner.index.count == 0)
  }

  @Test("T1 a text that is set again stands for the new number")
  func setAgain() {
    var owner = Owner()
    _ = owner.add([1, 2])
    let second = owner.add([1, 2])
    #expect(owner.find([1, 2]) == second)
    #expect(owner.index.count == 1)
  }

  @Test("T1 texts that begin alike, and the empty one, are kept apart")
  func prefixes() {
    var owner = Owner()
    let texts: [[UInt8]] = [[], [0], [0, 0], [1], [1, 0], [0, 1], [UInt8](repeating: 1, count: 255)]
    let numbers = texts.map { owner.add($0) }
    #expect(texts.map { owner.find($0) } == numbers)
  }

  @Test("T1 random sets, removals and searches agree with a dictionary", arguments: [8, 60, 3_000])
  func random(distinct: Int) throws {
    var chance = Chance("TextIndex \(distinct)")
    var owner = Owner()
    var expected: [[UInt8]: Int] = [:]
    // A few lengths, so that many texts share a prefix.
    let texts = (0..<distinct).map { number in
      withUnsafeBytes(of: number.bigEndian) { Array($0) } + [UInt8](repeating: 0, count: number % 3)
    }
    for step in 0..<6_000 {
      let text = chance.pick(texts)
      switch chance.below(5) {
      case 0, 1: expected[text] = owner.add(text)
      case 2, 3:
        owner.remove(text)
        expected[text] = nil
      default: break
      }
      try verify(owner.find(text) == expected[text], "step \(step): \(text)")
      try verify(owner.index.count == expected.count, "step \(step): \(owner.index.count) texts")
      if step % 500 == 499 {
        for text in texts { try verify(owner.find(text) == expected[text], "step \(step): \(text)") }
      }
    }
    owner.index.removeAll()
    #expect(texts.allSatisfy { owner.find($0) == nil })
  }

  @Test("T1 a full index that is emptied in any order finds what is left")
  func drain() throws {
    var chance = Chance("TextIndex drain")
    var owner = Owner()
    var texts = (0..<1_500).map { Array("task \($0)".utf8) }
    for text in texts { _ = owner.add(text) }
    texts.shuffle(using: &chance)
    for (index, text) in texts.enumerated() {
      owner.remove(text)
      if index % 50 == 0 {
        for (other, text) in texts.enumerated() {
          try verify((owner.find(text) == nil) == (other <= index), "after \(index + 1) removals: text \(other)")
        }
      }
    }
    #expect(owner.index.count == 0)
  }
}
