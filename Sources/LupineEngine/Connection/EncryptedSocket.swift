// EncryptedSocket: a socket whose bytes, requests or those of a tunnel, are encrypted in a TLS session with a proxy.

internal import LupineReactor
internal import LupineTLS

/// A socket whose bytes are encrypted in a TLS session with a proxy. Its methods send and receive the plaintext. Used only on its
/// loop's thread.
///
/// It behaves like the kernel's socket: if a receive doesn't fill its buffer, it has returned all bytes that had arrived, and the
/// poller reports later bytes. There is one exception: if the end of the data arrived together with these bytes, the poller doesn't
/// report the end separately, so `mayHoldMore` is true.
final class EncryptedSocket: StreamSocket {
  /// The maximum number of bytes that one call of `send` encrypts: 64 KiB, the amount that the shard queues at once for any
  /// connection.
  private static let queuedBytesMax = 64 * 1024

  /// The reason why the socket receives no more data after the bytes in `pending`.
  private enum Ending {
    /// The proxy has sent a TLS close_notify alert, which ends the data.
    case closed
    case failed(SystemError)
  }

  @exclusivity(unchecked) private var transport: Transport
  /// Decrypted bytes that the caller of `receive` hasn't received yet, because they didn't fit in its buffer.
  @exclusivity(unchecked) private var pending: [UInt8] = []
  @exclusivity(unchecked) private var ending: Ending?
  /// The buffers into which `fill` receives: this one for plaintext, and `ciphertext` for encrypted bytes. Each has
  /// `Buffers.byteCount` bytes, or none while the connection is idle.
  @exclusivity(unchecked) private var plaintext: [UInt8] = []
  @exclusivity(unchecked) private var ciphertext: [UInt8] = []
  /// The number of plaintext bytes that were encrypted but not yet reported to the caller of `send` as sent.
  @exclusivity(unchecked) private var unreportedCount = 0

  /// Creates the socket from a connection to the proxy whose TLS handshake is complete.
  init(_ transport: consuming Transport) { self.transport = transport }

  var number: CInt { transport.socket.number }
  var localAddress: SocketAddress? { transport.socket.localAddress }
  var peerAddress: SocketAddress? { transport.socket.peerAddress }

  func finishConnecting() throws(SystemError) { try transport.socket.finishConnecting() }

  func receive(into buffer: inout [UInt8], from offset: Int) throws(SystemError) -> Int? {
    let room = buffer.count - offset
    if pending.count < room, ending == nil {
      fill(to: room)
      // TLS produces some messages itself, such as alerts. If sending them fails, the next send reports the error.
      if transport.unsentCount > 0 { _ = try? transport.flush() }
    }
    let count = min(pending.count, room)
    guard count > 0 else {
      switch ending {
      case .failed(let error): throw error
      case .closed: return 0
      case nil: return nil
      }
    }
    buffer.replaceSubrange(offset..<offset + count, with: pending[..<count])
    // Replaced rather than emptied in place, so that its memory is freed.
    if count == pending.count { pending = [] } else { pending.removeFirst(count) }
    return count
  }

  /// Decrypts the bytes that have arrived and appends them to `pending`, until `count` bytes are pending.
  private func fill(to count: Int) {
    if plaintext.isEmpty {
      plaintext = [UInt8](repeating: 0, count: Buffers.byteCount)
      ciphertext = [UInt8](repeating: 0, count: Buffers.byteCount)
    }
    do {
      while pending.count < count {
        switch try transport.receive(into: &plaintext, ciphertext: &ciphertext) {
        case .bytes(let received): pending += plaintext[..<received]
        // If the kernel holds more ciphertext, the poller reports it.
        case .nothing, .noPlaintext: return
        case .end:
          ending = .closed
          return
        }
      }
    } catch {
      // The bytes before the error are kept, because they may be a complete response.
      ending = .failed(Self.error(error))
    }
  }

  var mayHoldMore: Bool { ending != nil || !pending.isEmpty }

  func releaseIdleMemory() {
    (plaintext, ciphertext) = ([], [])
    transport.releaseIdleMemory()
  }

  /// The capacity in bytes of all buffers of this socket for received bytes.
  var bufferedBytesCapacity: Int { plaintext.capacity + ciphertext.capacity + pending.capacity }

  func send(_ bytes: [UInt8], from offset: Int) throws(SystemError) -> Int? {
    do {
      let isNew = unreportedCount == 0
      if isNew {
        unreportedCount = min(bytes.count - offset, Self.queuedBytesMax)
        guard unreportedCount > 0 else { return 0 }
        try transport.queue(Array(bytes[offset..<offset + unreportedCount]))
      }
      if try transport.flush() == 0 {
        defer { unreportedCount = 0 }
        return unreportedCount
      }
      // Part of the bytes may have been sent, so the request counts as sent. The last byte is reported only when all bytes are
      // sent, so that the caller calls again.
      guard isNew, unreportedCount > 1 else { return nil }
      defer { unreportedCount = 1 }
      return unreportedCount - 1
    } catch {
      throw Self.error(error)
    }
  }

  /// Always throws an error, because the kernel can't encrypt a file. The caller must then read the file and send its bytes.
  func send(_ file: borrowing File, from offset: UInt64, count: Int) throws(SystemError) -> Int? {
    throw .notSupported("sendfile")
  }

  func endSending() throws(SystemError) {
    do {
      // Nothing is unsent, because `send` has reported all bytes. So the kernel lacks room for close_notify only in rare cases,
      // and the proxy then reads the end of the connection without it.
      _ = try transport.endSending()
    } catch {
      throw Self.error(error)
    }
  }

  private static func error(_ failure: Failure) -> SystemError {
    switch failure {
    case .system(let error): error
    case .tls(let error): .protocolError("TLS with the proxy (\(error.message))")
    default: .protocolError("TLS with the proxy")
    }
  }
}
