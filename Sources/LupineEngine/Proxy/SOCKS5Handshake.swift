// SOCKS5Handshake: the client's side of SOCKS 5 (RFC 1928), with authentication by user name and password (RFC 1929).

/// The client's side of SOCKS 5: greeting, authentication and CONNECT. It accepts the proxy's replies in pieces of any size.
///
/// The handshake buffers at most 262 bytes. This is the length of the longest reply, whose address is a name of 255 bytes.
struct SOCKS5Handshake: ProxyHandshake {
  private enum State {
    case method
    case authentication
    case reply
    case done
  }

  private enum Method {
    static let none: UInt8 = 0x00
    static let userPassword: UInt8 = 0x02
    static let noneAcceptable: UInt8 = 0xFF
  }

  private enum AddressType {
    static let v4: UInt8 = 0x01
    static let name: UInt8 = 0x03
    static let v6: UInt8 = 0x04
  }

  private static let version: UInt8 = 0x05

  private let credentials: Proxy.Credentials?
  private let place: String
  private let request: [UInt8]
  private var state = State.method
  private var pending: [UInt8] = []  // The received bytes of the current reply.
  private var receivedCount = 0

  /// Creates a handshake for a connection to `host`: a name of at most 255 bytes or an address, without the brackets of an IPv6
  /// address.
  init(_ proxy: Proxy, host: String, port: UInt16) throws(ProxyError) {
    credentials = proxy.credentials
    place = proxy.description
    // VER CMD(CONNECT) RSV ATYP DST.ADDR DST.PORT (RFC 1928 §4)
    var request = [Self.version, 0x01, 0x00]
    if let address = IPAddress(host) {
      request.append(address.bitCount == 32 ? AddressType.v4 : AddressType.v6)
      request += address.bytes
    } else {
      guard let length = UInt8(exactly: host.utf8.count) else {
        throw ProxyError(.hostNameTooLong(host.utf8.count), place)
      }
      request += [AddressType.name, length]
      request += host.utf8
    }
    request += [UInt8(port >> 8), UInt8(port & 0xFF)]
    self.request = request
  }

  // VER NMETHODS METHODS (RFC 1928 §3)
  var opening: [UInt8] {
    credentials == nil
      ? [Self.version, 1, Method.none] : [Self.version, 2, Method.none, Method.userPassword]
  }

  /// Parses the proxy's next reply, starting at `cursor`, and moves `cursor` past the parsed bytes. Never reads beyond the end of
  /// this reply, because the bytes after it may belong to the tunnel.
  mutating func receive(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(ProxyError) -> ProxyStep {
    precondition(!isDone, "the handshake is already complete; further bytes belong to the tunnel")
    while cursor < bytes.count {
      pending.append(bytes[cursor])
      cursor += 1
      receivedCount += 1
      // Checked after every byte, so that a wrong byte is reported without waiting
      // for the remaining bytes, which may never arrive.
      if try isComplete() { return try advance() }
    }
    return .needMoreBytes
  }

  /// Returns the error for a connection that the proxy has closed before the tunnel was open.
  func receiveEnd() -> ProxyError { ProxyError(.truncated(received: receivedCount), place) }

  private var isDone: Bool {
    if case .done = state { true } else { false }
  }

  // MARK: Replies

  private func isComplete() throws(ProxyError) -> Bool {
    switch state {
    case .method, .reply:
      guard pending[0] == Self.version else { throw ProxyError(.notSOCKS5(version: pending[0]), place) }
    case .authentication:
      guard pending[0] == 0x01 else { throw ProxyError(.unexpectedAuthenticationVersion(pending[0]), place) }
    case .done: break
    }
    guard case .reply = state else { return pending.count == 2 }
    return try isReplyComplete()
  }

  // VER REP RSV ATYP BND.ADDR BND.PORT (RFC 1928 §6). RSV is ignored, because some proxies set it to other values than 0.
  private func isReplyComplete() throws(ProxyError) -> Bool {
    // A proxy that refuses may omit the rest of the reply.
    if pending.count == 2, let refusal = SOCKS5Refusal(code: pending[1]) {
      throw ProxyError(.refusedBySOCKS(refusal), place)
    }
    guard pending.count >= 4 else { return false }
    switch pending[3] {
    case AddressType.v4: return pending.count == 4 + 4 + 2
    case AddressType.v6: return pending.count == 4 + 16 + 2
    case AddressType.name: return pending.count >= 5 && pending.count == 4 + 1 + Int(pending[4]) + 2
    case let type: throw ProxyError(.unexpectedAddressType(type), place)
    }
  }

  /// Processes a complete reply and returns the next step.
  private mutating func advance() throws(ProxyError) -> ProxyStep {
    let value = pending[1]
    pending.removeAll(keepingCapacity: true)
    switch state {
    case .method:
      switch (value, credentials) {
      case (Method.none, _):
        state = .reply
        return .send(request)
      case (Method.userPassword, let credentials?):
        state = .authentication
        return .send(Self.authentication(credentials))
      case (Method.noneAcceptable, _):
        throw ProxyError(.noAcceptableMethod(hasCredentials: credentials != nil), place)
      default: throw ProxyError(.unexpectedMethod(value), place)
      }
    case .authentication:
      guard value == 0 else { throw ProxyError(.credentialsRefused(status: value), place) }
      state = .reply
      return .send(request)
    case .reply, .done:
      state = .done
      return .done
    }
  }

  // VER ULEN UNAME PLEN PASSWD (RFC 1929 §2). `Proxy` ensures that each text has at most 255 bytes.
  private static func authentication(_ credentials: Proxy.Credentials) -> [UInt8] {
    [0x01, UInt8(credentials.user.utf8.count)] + credentials.user.utf8
      + [UInt8(credentials.password.utf8.count)] + credentials.password.utf8
  }
}
