// EngineRequest: a request with its method, URI, fields and body.

public import LupineCoding
public import LupineWire

/// A request for an `Engine` to execute.
public struct EngineRequest: Sendable {
  /// The method, a token such as "GET".
  public var method: String
  /// The URI to request.
  public var uri: URI
  /// The header fields, sent in this order after Host.
  ///
  /// A Host field replaces the one derived from the URI. The engine derives Content-Length and Transfer-Encoding from the body,
  /// and ignores these fields here. It also ignores Proxy-Authorization and Proxy-Connection, because a proxy's credentials
  /// belong in the proxy's URL.
  ///
  /// With `Expect: 100-continue`, the engine waits for the server's `100 Continue`, at most `timeouts.awaitContinue`, before it
  /// sends the body. If the server responds with 417, the engine sends the request again without the expectation.
  public var fields: Fields
  /// The body. Empty by default.
  ///
  /// If the request has an Upgrade field and `upgrade` in Connection, the body isn't part of the request. It is sent unchanged
  /// once the server has switched protocols (101). The response's body then contains the server's bytes in that protocol.
  public var body: RequestBody
  /// The coding with which the body is compressed while it is sent, or nil, the default, for none. The engine adds the
  /// Content-Encoding field and sends the body chunked. Few servers support coded requests.
  public var bodyCoding: ContentCoding?
  /// The time limits of the exchange.
  public var timeouts: Timeouts
  /// Whether a response body with a Content-Encoding is decoded before it is delivered. True by default.
  public var decodesContent = true
  /// Whether the client certificate of the engine's TLS settings is presented to a server that requests one. True by default.
  /// `RedirectRule` sets it to false for another origin, for which the certificate isn't intended.
  public var presentsIdentity = true
  /// The maximum length of the decoded response body in bytes. If the body exceeds it, the exchange fails with `.bodyTooLarge`.
  /// Unlimited by default, because the body is delivered as it arrives.
  public var bodyBytesMax = Int.max
  /// Bytes to send instead of the serialized request, on a dedicated connection.
  var rawBytes: [UInt8]?

  /// Creates a request. User information in the URI becomes Basic credentials, unless `fields` contains Authorization.
  public init(
    method: String = "GET", uri: URI, fields: Fields = Fields(), body: RequestBody = RequestBody(),
    timeouts: Timeouts = Timeouts()
  ) {
    self.method = method
    self.uri = uri
    self.fields = fields
    self.body = body
    self.timeouts = timeouts
    if let userInfo = uri.userInfo, !userInfo.isEmpty, !fields.contains("Authorization") {
      // user-pass = user-id ":" password (RFC 7617 §2). The colon is needed even if the URI has no password.
      let credentials = PercentCoding.decode(userInfo.utf8.contains(UInt8(ascii: ":")) ? userInfo : userInfo + ":")
      self.fields.append(name: "Authorization", value: BasicCredentials.fieldValue(userPass: credentials))
    }
  }
}

extension EngineRequest {
  /// Whether the method is idempotent, so that a replay has no additional effect (RFC 9110 §9.2.2).
  var isIdempotent: Bool {
    ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method)
  }
}
