// TransferBatchTests: the pieces of a body that await delivery on the session's queue.

import Foundation
import Testing

@testable import LupineURLSession

@Suite("The merging of a response body's received parts")
struct TransferBatchTests {
  private func pieces(_ counts: [Int], in memory: PieceMemory? = PieceMemory(unusedMax: 2)) -> [Int] {
    var batch = TransferBatch()
    var sent: [UInt8] = []
    for (index, count) in counts.enumerated() {
      let bytes = [UInt8](repeating: UInt8(index), count: count)
      batch.append(body: bytes.span, in: memory)
      sent += bytes
    }
    var taken: [Data] = []
    while case .piece = batch.nextPart { taken.append(batch.takePiece()) }
    #expect(taken.reduce(Data(), +) == Data(sent))
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
    #expect(pieces([262_144, 65_536, 10], in: nil) == [327_690])
  }

  @Test("the memory of a long part is reused after the part has been released, and not before")
  func reuse() {
    let memory = PieceMemory(unusedMax: 2)
    var kept: [Data] = [1, 2, 3].map { piece(of: $0, in: memory) }
    #expect(memory.unusedCount == 0)
    #expect(kept.map { $0[99_999] } == [1, 2, 3])
    kept.removeFirst()
    #expect(memory.unusedCount == 1)
    kept.append(piece(of: 4, in: memory))
    #expect(memory.unusedCount == 0)
    #expect(kept.map { $0[99_999] } == [2, 3, 4])
    kept = []
    // The third block is freed.
    #expect(memory.unusedCount == 2)
  }

  @Test("a part that a program extends or changes shows no bytes of an earlier part")
  func growth() {
    let memory = PieceMemory(unusedMax: 2)
    _ = piece(of: 1, count: 200_000, in: memory)
    var part = piece(of: 2, in: memory)
    let copy = part
    part.count = 150_000
    part[0] = 3
    #expect(part.prefix(100_000) == Data([3]) + Data(repeating: 2, count: 99_999))
    #expect(part.suffix(50_000) == Data(count: 50_000))
    #expect(copy == Data(repeating: 2, count: 100_000))
  }

  @Test("short parts, and the parts of a body that arrives all at once, use no shared memory")
  func short() {
    let memory = PieceMemory(unusedMax: 2)
    _ = piece(of: 1, count: 32_767, in: memory)
    _ = piece(of: 1, count: 262_145, in: memory)
    #expect(memory.unusedCount == 0)
    _ = piece(of: 1, count: 32_768, in: memory)
    #expect(memory.unusedCount == 1)
  }

  /// Returns a part of a body with `count` times the byte `byte`.
  private func piece(of byte: UInt8, count: Int = 100_000, in memory: PieceMemory) -> Data {
    let bytes = [UInt8](repeating: byte, count: count)
    var batch = TransferBatch()
    batch.append(body: bytes.span, in: memory)
    return batch.takePiece()
  }
}
