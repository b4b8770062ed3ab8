// NTLMHandshake: the client's side of an NTLMv2 authentication on one connection (MS-NLMP 3.1.5).

/// Creates the client's NTLM messages on one connection. `start` returns the first message. `answer` returns the last message,
/// which responds to the server's challenge.
///
/// The client never sends LM, LMv2 or NTLMv1 responses. The last message has an integrity code over all three messages, so that an
/// attacker on the path can't change the first two.
package struct NTLMHandshake: Sendable {
  /// The values from which the client computes its last NTLM message, in addition to the server's challenge.
  package struct Context: Sendable {
    /// The password and the user name. The user name has the form `user`, `DOMAIN\user` or `user@domain`.
    package var credential: PasswordCredential
    /// The host of the request. The client sends the service's name `HTTP/host`, which contains it.
    package var host: String
    /// The channel binding of the TLS connection, or nil if the connection doesn't use TLS.
    package var binding: ChannelBinding?
    /// The current time in units of 100 ns since 1601. The client sends it if the server's challenge contains no time.
    package var time: UInt64
    /// The client's NTLM nonce: 8 random bytes.
    package var nonce: [UInt8]

    /// Creates the values for the client's last NTLM message. `nonce` must have 8 bytes.
    package init(
      credential: PasswordCredential, host: String, binding: ChannelBinding?, time: UInt64, nonce: [UInt8]
    ) {
      precondition(nonce.count == 8, "the client's nonce has \(nonce.count) bytes")
      self.credential = credential
      self.host = host
      self.binding = binding
      self.time = time
      self.nonce = nonce
    }
  }

  private enum State {
    case initial
    case negotiating([UInt8])
    case authenticated
  }
  private var state = State.initial

  /// Creates an NTLM handshake for one connection. It hasn't sent a message yet.
  package init() {}

  /// Returns the client's first NTLM message (NEGOTIATE_MESSAGE).
  package mutating func start() -> [UInt8] {
    let message = NTLMMessage.negotiate()
    state = .negotiating(message)
    return message
  }

  /// Returns the client's last NTLM message (AUTHENTICATE_MESSAGE), which responds to the server's challenge.
  ///
  /// - Parameter token: The server's challenge, or nil if the response contains none, which means that the server refused the
  ///   credential.
  package mutating func answer(_ token: [UInt8]?, with parameters: Context) throws(NTLMError) -> [UInt8] {
    guard case .negotiating(let first) = state else { throw .refused }
    guard let token else { throw .noChallenge }
    let challenge = try NTLMChallenge(token)
    let (domain, user) = Self.names(in: parameters.credential.user)
    let key = try NTLMResponse.key(user: user, domain: domain, password: parameters.credential.password)
    let response = try NTLMResponse(
      key: key, serverNonce: challenge.nonce, clientNonce: parameters.nonce,
      time: challenge.time ?? parameters.time, targetInformation: challenge.targetInformation(for: parameters))
    let fields = [response.bytes, NTLMMessage.utf16(domain), NTLMMessage.utf16(user)]
    guard fields.allSatisfy({ $0.count <= NTLMChallenge.bytesMax }) else { throw .tooLong }
    var message = NTLMMessage.authenticate(
      flags: NTLMMessage.flags.intersection(challenge.flags), domain: fields[1], user: fields[2], response: fields[0])
    // MIC = HMAC_MD5(ExportedSessionKey, NEGOTIATE_MESSAGE || CHALLENGE_MESSAGE || AUTHENTICATE_MESSAGE)
    let code = try NTLMResponse.code(first + challenge.message + message, key: response.sessionKey)
    let position = NTLMMessage.integrityCodePosition
    message.replaceSubrange(position..<position + code.count, with: code)
    state = .authenticated
    return message
  }

  /// Splits `DOMAIN\user` into the domain and the user. A name in the form `user@domain` isn't split, because the server does that.
  private static func names(in text: String) -> (domain: String, user: String) {
    guard let separator = text.firstIndex(of: "\\") else { return ("", text) }
    return (String(text[..<separator]), String(text[text.index(after: separator)...]))
  }
}

extension NTLMChallenge {
  /// The time in the server's challenge, in units of 100 ns since 1601, or nil if the challenge contains no time.
  fileprivate var time: UInt64? {
    attributes.first { $0.identifier == NTLMAttribute.timestamp }.map { attribute in
      UInt64(attribute.value.littleEndianWord(at: 4)) << 32 | UInt64(attribute.value.littleEndianWord(at: 0))
    }
  }

  /// Returns the attributes of the server's challenge, followed by those that the client adds (MS-NLMP 3.1.5.1.2): the flags, of
  /// which one announces the integrity code, the channel binding (zeros if the connection has none), and the name of the
  /// service.
  fileprivate func targetInformation(
    for parameters: NTLMHandshake.Context
  ) throws(NTLMError) -> [UInt8] {
    var binding = [UInt8](repeating: 0, count: 16)
    if let required = parameters.binding {
      guard let hash = required.hash else { throw .hashIsUnavailable }
      binding = hash
    }
    let service = NTLMMessage.utf16("HTTP/\(parameters.host)")
    guard service.count <= NTLMChallenge.bytesMax else { throw .tooLong }
    // The flag 2 means that the message has an integrity code. It is added to the server's flags.
    let received = attributes.first { $0.identifier == NTLMAttribute.flags && $0.value.count == 4 }
    var flags: [UInt8] = []
    flags.append(littleEndian: (received?.value.littleEndianWord(at: 0) ?? 0) | 2)
    let own = [
      NTLMAttribute(identifier: NTLMAttribute.flags, value: flags),
      NTLMAttribute(identifier: NTLMAttribute.channelBindings, value: binding),
      NTLMAttribute(identifier: NTLMAttribute.targetName, value: service),
    ]
    let replaced = Set(own.map(\.identifier))
    return NTLMAttribute.encode(attributes.filter { !replaced.contains($0.identifier) } + own)
  }
}
