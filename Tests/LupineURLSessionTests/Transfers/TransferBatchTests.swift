// TransferBatchTests: the pieces of a body that await delivery on the session's queue.

import Foundation
import Testing

@testable import LupineURLSession

@Suite("The merging of a response body's received parts")
struct TransferBatchTests {
  private func pieces(_ counts: [Int], windowBytes: Int? = 1_000_000) -> [Int] {
    var batch = TransferBatch()
    var sent: [UInt8] = []
    for (index, count) in counts.enumerated() {
      let bytes = [UInt8](repeating: UInt8(index), count: count)
      batch.append(body: bytes.span, windowBytes: windowBytes)
      sent += bytes
    }
    var taken: [Data] = []
    while case .piece = batch.nextPart { taken.append(batch.takePiece()) }
    #expect([UInt8](taken.joined()) == sent)
    return taken.map(\.count)
  }

  @Test("a session merges the received parts of a body into parts of up to 256 KiB")
  func joining() {
    #expect(pieces([1, 2, 3]) == [6])
    #expect(pieces([262_143, 1, 1]) == [262_144, 1])
    #expect(pieces([262_144, 65_536, 10, 20]) == [262_144, 65_566])
    #expect(pieces([100_000, 100_000, 100_000, 300_000, 1]) == [200_000, 100_000, 300_000, 1])
    #expect(pieces([]) == [])
  }

  @Test("a session without a receive window merges the parts of a body that arrive before their delivery")
  func joiningAll() {
    #expect(pieces([262_144, 65_536, 10], windowBytes: nil) == [327_690])
  }
}
