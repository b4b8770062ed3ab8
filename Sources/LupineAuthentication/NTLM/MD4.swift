// MD4: the hash function of NTLM's password hashes (RFC 1320). OpenSSL 3 has MD4 only in its legacy provider, which may be
// missing. MD4 is insecure, so only NTLM uses it.

enum MD4 {
  /// Returns the MD4 hash of the bytes, which has 16 bytes.
  static func hash(_ bytes: [UInt8]) -> [UInt8] {
    // Padding: a 1 bit, zeros until the length is 56 bytes modulo 64, then the message's length in bits (§3.1, §3.2).
    var message = bytes + [0x80]
    message += [UInt8](repeating: 0, count: (120 - message.count % 64) % 64)
    message.append(littleEndian: UInt64(bytes.count) * 8)
    var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
    for start in stride(from: 0, to: message.count, by: 64) {
      let words = stride(from: start, to: start + 64, by: 4).map { message.littleEndianWord(at: $0) }
      let before = state
      mix(words, into: &state)
      for index in state.indices { state[index] &+= before[index] }
    }
    var output: [UInt8] = []
    for word in state { output.append(littleEndian: word) }
    return output
  }

  /// One of MD4's three rounds (RFC 1320 §3.4): its function, its constant, the order in which it reads the block's words, and its
  /// rotations in bits.
  private struct Round {
    let function: @Sendable (UInt32, UInt32, UInt32) -> UInt32
    let constant: UInt32
    let order: [Int]
    let shifts: [UInt32]
  }

  private static let rounds = [
    Round(
      function: { ($0 & $1) | (~$0 & $2) }, constant: 0,
      order: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], shifts: [3, 7, 11, 19]),
    Round(
      function: { ($0 & $1) | ($0 & $2) | ($1 & $2) }, constant: 0x5A82_7999,
      order: [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15], shifts: [3, 5, 9, 13]),
    Round(
      function: { $0 ^ $1 ^ $2 }, constant: 0x6ED9_EBA1,
      order: [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15], shifts: [3, 9, 11, 15]),
  ]

  private static func mix(_ words: [UInt32], into state: inout [UInt32]) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    for round in rounds {
      for (step, word) in round.order.enumerated() {
        let sum = a &+ round.function(b, c, d) &+ words[word] &+ round.constant
        let shift = round.shifts[step % 4]
        (a, b, c, d) = (d, sum << shift | sum >> (32 - shift), b, c)
      }
    }
    state = [a, b, c, d]
  }
}
