// PieceMemory: the reused memory of the long pieces of streamed bodies.

import Foundation
import LupineEngine
import Synchronization

/// Provides the memory of long pieces, and reuses it after the pieces have been released.
///
/// malloc returns blocks of this length to the kernel as soon as they are freed. For each new block, the kernel then provides and
/// clears every page again, which takes longer than copying the bytes.
final class PieceMemory: Sendable {
  /// The memory that all sessions of the process share.
  static let shared = PieceMemory(unusedMax: unusedBlocksMax)
  /// The maximum number of unused blocks of `shared`: 8, which have 2 MiB.
  static let unusedBlocksMax = 8
  /// The length of a block in bytes: 256 KiB, the maximum that the engine reads at once.
  static let blockBytes = 256 * 1024

  fileprivate struct Address: @unchecked Sendable { let start: UnsafeMutableRawPointer }

  /// The maximum number of unused blocks that are kept. If more become unused, they are freed.
  let unusedMax: Int
  private let unused = Mutex<[Address]>([])

  init(unusedMax: Int) { self.unusedMax = unusedMax }

  deinit { unused.withLock { for address in $0 { address.start.deallocate() } } }

  /// The number of unused blocks that are kept.
  var unusedCount: Int { unused.withLock { $0.count } }

  /// Returns an unused block, or allocates one. The bytes of an unused block are those of an earlier piece.
  func takeBlock() -> Block {
    let known = unused.withLock { $0.popLast() }
    return Block(known ?? Address(start: .allocate(byteCount: Self.blockBytes, alignment: 16)), of: self)
  }

  private func keep(_ address: Address) {
    let isKept = unused.withLock { unused in
      guard unused.count < unusedMax else { return false }
      unused.append(address)
      return true
    }
    if !isKept { address.start.deallocate() }
  }

  /// The memory of one piece. When the last reference to the block is released, the block becomes unused.
  final class Block: Sendable {
    private let address: Address
    private let memory: PieceMemory

    fileprivate init(_ address: Address, of memory: PieceMemory) {
      self.address = address
      self.memory = memory
    }

    deinit { memory.keep(address) }

    /// Copies bytes to the block, starting at `offset`. The bytes must fit into the block. Must not be called after `data` has been
    /// called.
    func write(_ bytes: borrowing Span<UInt8>, at offset: Int) {
      precondition(offset >= 0 && bytes.count <= PieceMemory.blockBytes - offset, "the bytes don't fit into the block")
      // SAFETY: the range is within the block, and the bytes are copied before the pointer's scope ends.
      bytes.withUnsafeBytes {
        if let start = $0.baseAddress { (address.start + offset).copyMemory(from: start, byteCount: $0.count) }
      }
    }

    /// Returns the first bytes of the block as data that refers to the block without copying it. `byteCount` is the number of bytes
    /// that were written, so that the bytes of earlier pieces aren't part of the data.
    func data(byteCount: Int) -> Data {
      precondition(0...PieceMemory.blockBytes ~= byteCount, "the block is shorter")
      // SAFETY: the data retains the block, through its deallocator, for as long as it refers to the memory.
      return Data(
        bytesNoCopy: address.start, count: byteCount,
        deallocator: .custom { [self] _, _ in withExtendedLifetime(self) {} })
    }
  }
}

/// A piece of a body, to which bytes can be appended. Short pieces are ordinary `Data`. Long pieces are in a block of
/// `PieceMemory`.
struct GrowingPiece {
  private var data = Data()
  /// The memory of a long piece and the number of its bytes. Nil while the piece is short.
  private var long: (block: PieceMemory.Block, byteCount: Int)?

  init() {}

  /// Creates a piece from data.
  init(_ data: Data) { self.data = data }

  /// The minimum length, in bytes, of a piece for which a block is used: 32 KiB. A block is long enough for all bytes that may be
  /// appended to the piece, but after a shorter piece, further bytes often don't arrive soon.
  private static let longBytesMin = 32 * 1024

  var byteCount: Int { long?.byteCount ?? data.count }
  var isEmpty: Bool { byteCount == 0 }

  /// Appends bytes, and uses a block of `memory` if the piece becomes long. If the piece would become longer than a block, appends
  /// nothing and returns false, unless the piece is empty. If `memory` is nil, the piece may have any length and uses no block.
  mutating func append(_ bytes: borrowing Span<UInt8>, in memory: PieceMemory?) -> Bool {
    let oldCount = byteCount
    let newCount = oldCount + bytes.count
    let fitsBlock = newCount <= PieceMemory.blockBytes
    guard let memory, fitsBlock, newCount >= Self.longBytesMin else {
      guard memory == nil || fitsBlock || oldCount == 0 else { return false }
      data.append(copying: bytes, 0..<bytes.count)
      return true
    }
    let block = long?.block ?? memory.takeBlock()
    if long == nil {
      block.write(data.span, at: 0)
      data = Data()
    }
    block.write(bytes, at: oldCount)
    long = (block, newCount)
    return true
  }

  /// Removes and returns the bytes. The piece is empty afterward.
  mutating func take() -> Data {
    if let (block, byteCount) = long.take() { return block.data(byteCount: byteCount) }
    return exchange(&data, with: Data())
  }
}
