// SplitMix64+Mutation: random changes of bytes.

// Tests that draw random numbers import only this target.
@_exported public import LupineRandom

extension SplitMix64 {
  /// Returns the bytes with one to four random changes. About half of the inserted bytes are taken from `telling`.
  package mutating func mutation(of original: [UInt8], inserting telling: [UInt8]) -> [UInt8] {
    var bytes = original
    for _ in 0..<Int.random(in: 1...4, using: &self) {
      let position = Int.random(in: 0...bytes.count, using: &self)
      let noise =
        Bool.random(using: &self)
        ? telling[Int.random(in: telling.indices, using: &self)] : UInt8.random(in: .min ... .max, using: &self)
      let end = min(bytes.count, position + Int.random(in: 1...12, using: &self))
      switch Int.random(in: 0..<6, using: &self) {
      case 0 where position < bytes.count: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &self)
      case 1 where position < bytes.count: bytes[position] = noise
      case 2: bytes.insert(noise, at: position)
      case 3: bytes.removeSubrange(position..<end)
      case 4: bytes.insert(contentsOf: bytes[position..<end], at: position)
      default: bytes.removeSubrange(position...)
      }
    }
    return bytes
  }
}
