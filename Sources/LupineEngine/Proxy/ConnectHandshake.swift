// A tunnel through an HTTP proxy: CONNECT and the reply to it (RFC 9110 §9.3.6, RFC 9112 §3.2.3).

internal import LupineWire

/// The request for a tunnel, and what the proxy says to it.
struct ConnectHandshake: ~Copyable {
  private let proxy: Proxy
  /// The head as it is sent.
  let opening: [UInt8]
  private var connection: ClientConnection
  private var receivedCount = 0

  /// Throws if the origin's host, which need not come from a URI, can't stand in a head.
  init(_ proxy: Proxy, to origin: Origin, limits: Limits) throws(ProxyError) {
    self.proxy = proxy
    var opening: [UInt8] = []
    do {
      try HeadSerializer.append(Self.head(proxy, to: origin), to: &opening)
    } catch {
      throw ProxyError(.wire(error), proxy.description)
    }
    self.opening = opening
    connection = ClientConnection(limits: limits)
    connection.start(method: "CONNECT", closes: false)
    connection.requestSent()
  }

  /// Host and the proxy's credentials, and nothing of the request that the tunnel is opened for: the connection isn't
  /// that request's alone, and what is meant for the origin isn't for the proxy to read.
  private static func head(_ proxy: Proxy, to origin: Origin) -> RequestHead {
    let authority = origin.authorityForm
    var fields: Fields = ["Host": authority]
    if let credentials = proxy.basicCredentials { fields.append(name: "Proxy-Authorization", value: credentials) }
    return RequestHead(method: "CONNECT", target: authority, fields: fields)
  }

  /// Reads on from `cursor` and moves it, never behind the end of the head.
  mutating func receive(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(ProxyError) -> ProxyStep {
    let start = cursor
    defer { receivedCount += cursor - start }
    while true {
      let event: ClientConnection.Event
      do {
        event = try connection.receive(bytes, at: &cursor)
      } catch {
        throw ProxyError(.wire(error), proxy.description)
      }
      switch event {
      case .informational: continue
      case .head(let head, _, _): throw ProxyError(refusal(head), proxy.description)
      // With any 2xx the bytes behind the head are the tunnel's.
      case .handedOver: return .done
      default: return .needMoreBytes
      }
    }
  }

  /// The proxy has closed the connection before the tunnel was open.
  func receiveEnd() -> ProxyError { ProxyError(.truncated(received: receivedCount), proxy.description) }

  private func refusal(_ head: ResponseHead) -> ProxyError.Cause {
    guard head.status == 407 else { return .refused(status: head.status) }
    return .credentialsRequired(
      schemes: AuthenticationSchemes.read(head.fields.list("Proxy-Authenticate") ?? ""),
      hadCredentials: proxy.credentials != nil)
  }
}

/// The names of the schemes in a list of challenges.
enum AuthenticationSchemes {
  /// How many names are kept. IANA has registered about a dozen; they only go into an error's text.
  static let countMax = 8
  /// The longest name that is kept, in bytes; of those that IANA has registered, SCRAM-SHA-256 is the longest with 13.
  static let nameBytesMax = 32

  // #challenge; challenge = auth-scheme [ 1*SP ( token68 / #auth-param ) ] (RFC 9110 §11.3). An element of the list is
  // a parameter of the challenge before it if a "=" stands behind its first token.
  static func read(_ list: String) -> [String] {
    var names: [String] = []
    for element in elements(list) {
      let name = element.prefix(while: isTokenByte)
      let rest = element.dropFirst(name.count).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      guard (1...nameBytesMax).contains(name.count), rest.first != UInt8(ascii: "=") else { continue }
      let text = String(decoding: name, as: UTF8.self)
      if names.count < countMax, !names.contains(text) { names.append(text) }
    }
    return names
  }

  /// What stands between commas outside quoted strings, without the white space in front.
  private static func elements(_ list: String) -> [[UInt8]] {
    var elements: [[UInt8]] = [[]]
    var isQuoted = false
    var isEscaped = false
    for byte in list.utf8 {
      if byte == UInt8(ascii: ","), !isQuoted {
        elements.append([])
        continue
      }
      if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
      isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
      if elements[elements.count - 1].isEmpty, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { continue }
      elements[elements.count - 1].append(byte)
    }
    return elements
  }

  // token = 1*tchar (RFC 9110 §5.6.2)
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte | 0x20 &- 0x61 < 26 || byte &- 0x30 < 10 || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
