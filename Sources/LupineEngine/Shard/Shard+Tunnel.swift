// Shard+Tunnel: opens a tunnel through a proxy with CONNECT or SOCKS, after connecting and before TLS.

internal import LupineReactor
internal import LupineWire

extension Shard {
  func beginTunnel(_ opening: Opening, _ proxy: Proxy, _ socket: any StreamSocket) {
    if opening.times.proxyStart == nil { opening.times.proxyStart = now }
    enter(opening, .proxying)
    do throws(Failure) {
      try greet(opening, proxy, Transport(socket, tls: nil))
    } catch {
      return fail(opening, error.code, cause: error.cause)
    }
    continueTunnel(opening)
  }

  private func greet(_ opening: Opening, _ proxy: Proxy, _ transport: consuming Transport) throws(Failure) {
    let greeting: [UInt8]
    do {
      let handshake = try proxy.handshake(
        to: opening.key.origin, address: opening.destination?.host, authorization: opening.proxyAuthorization,
        limits: configuration.limits)
      greeting = handshake.opening
      opening.proxyHandshake = consume handshake
    } catch {
      throw .proxy(error)
    }
    opening.transport = consume transport
    try queue(greeting, opening)
  }

  /// Continues the handshake with the proxy when the socket is readable or writable.
  func continueTunnel(_ opening: Opening) {
    var buffer = buffers.borrow()
    var unused: [UInt8] = []
    defer { buffers.giveBack(&buffer) }
    do throws(Failure) {
      try opening.transport?.flush()
      while case .proxying = opening.state {
        switch try opening.transport?.receive(into: &buffer, ciphertext: &unused) {
        case nil, .nothing, .noPlaintext: return watch(opening)
        case .end:
          if let error = opening.proxyHandshake?.receiveEnd() { throw Failure.proxy(error) }
        case .bytes(let count):
          try advanceTunnel(opening, buffer.span.extracting(0..<count))
        }
      }
    } catch {
      fail(opening, error.code, cause: error.cause)
    }
  }

  private func advanceTunnel(_ opening: Opening, _ bytes: borrowing Span<UInt8>) throws(Failure) {
    var cursor = 0
    while true {
      let step: ProxyStep?
      do {
        step = try opening.proxyHandshake?.receive(bytes, at: &cursor)
      } catch {
        throw .proxy(error)
      }
      switch step {
      case nil, .needMoreBytes: return
      case .send(let answer): try queue(answer, opening)
      case .done:
        // Bytes after the reply are refused, because the server sends no bytes before the client does, neither in TLS nor in
        // HTTP. In other protocols it may.
        if opening.key.isStream {
          opening.earlyBytes.append(copying: bytes, cursor..<bytes.count)
          cursor = bytes.count
        }
        guard cursor == bytes.count else { throw .wire(.unsolicitedBytes(count: bytes.count - cursor)) }
        opening.times.proxyEnd = now
        opening.proxyHandshake = nil
        if let proxy = opening.key.route.proxy {
          trace(.tunnelOpened(connection: UInt64(opening.id.serial), proxy: proxy))
        }
        guard let socket = opening.transport?.socket else { preconditionFailure("the tunnel has no socket") }
        opening.transport = nil
        return beginTLS(opening, socket)
      }
    }
  }

  private func queue(_ bytes: [UInt8], _ opening: Opening) throws(Failure) {
    try opening.transport?.queue(bytes)
    try opening.transport?.flush()
  }
}
