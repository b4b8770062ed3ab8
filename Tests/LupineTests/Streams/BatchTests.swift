// What gathers for the session's queue between two deliveries.

import Foundation
import Testing

@testable import Lupine

@Suite("A batch of what came")
struct BatchTests {
  private func pieces(_ counts: [Int], joiningAll: Bool = false) -> [Int] {
    var batch = Transfer.Batch()
    var sent: [UInt8] = []
    for (index, count) in counts.enumerated() {
      let bytes = [UInt8](repeating: UInt8(index), count: count)
      batch.append(body: bytes.span, joiningAll: joiningAll)
      sent += bytes
    }
    var taken: [Data] = []
    while case .body = batch.step { taken.append(batch.takePiece()) }
    #expect([UInt8](taken.joined()) == sent)
    return taken.map(\.count)
  }

  @Test("small pieces are handed over as one, up to 64 KiB, and large ones as they came")
  func joining() {
    #expect(pieces([1, 2, 3]) == [6])
    #expect(pieces([65_535, 1, 1]) == [65_536, 1])
    #expect(pieces([262_144, 65_536, 10, 20]) == [262_144, 65_536, 30])
    #expect(pieces([]) == [])
  }

  @Test("whoever wants all of a body gets it as one")
  func joiningAll() {
    #expect(pieces([262_144, 65_536, 10], joiningAll: true) == [327_690])
  }
}
