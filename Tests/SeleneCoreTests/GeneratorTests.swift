// The named generator gives the numbers of its publication (C10).

import SeleneCore
import Testing

@Suite("Generator") struct GeneratorTests {
  @Test("C10 SplitMix64 gives its published numbers")
  func published() {
    var zero = Generator(seed: 0)
    #expect(zero.next() == 0xE220_A839_7B1D_CDAF)
    #expect(zero.next() == 0x6E78_9E6A_A1B9_65F4)
    #expect(zero.next() == 0x06C4_5D18_8009_454F)
    var other = Generator(seed: 1_234_567)
    #expect(
      (0..<5).map { _ in other.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
      ])
  }

  @Test("C10 its state is one stored number from which it goes on")
  func stored() {
    var first = Generator(seed: Seed.value)
    for _ in 0..<10 { _ = first.next() }
    var second = Generator(seed: first.state)
    #expect((0..<10).map { _ in first.next() } == (0..<10).map { _ in second.next() }, "SELENE_SEED=\(Seed.value)")
  }

  @Test("C10 u reaches 0 and 1000 and everything between")
  func range() {
    var generator = Generator(seed: 3)
    var seen: Set<UInt64> = []
    for _ in 0..<20_000 { seen.insert(generator.upTo(1_000)) }
    #expect(seen == Set(0...1_000))
    #expect(generator.upTo(0) == 0)
  }
}
