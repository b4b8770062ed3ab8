// EngineRequest: a request with its method, URI, fields and body.

public import LupineCoding
public import LupineWire

/// An HTTP request that an `Engine` executes.
public struct EngineRequest: Sendable {
  /// The request method, a token such as "GET".
  public var method: String
  /// The URI to request.
  public var uri: URI
  /// The header fields, which are sent in this order after Host.
  ///
  /// A Host field replaces the one derived from the URI. The engine derives Content-Length and Transfer-Encoding from the body, and
  /// ignores the caller's. It also ignores Proxy-Authorization and Proxy-Connection, because a proxy's credentials belong in the
  /// proxy's URL.
  ///
  /// With `Expect: 100-continue`, the engine waits for the server's `100 Continue`, at most `timeouts.awaitContinue`, before it
  /// sends the body. If the server responds with 417, the engine sends the request again without the expectation.
  public var fields: Fields
  /// The request body. Empty by default.
  ///
  /// If the request has an Upgrade field, and Connection contains `upgrade`, this property contains data of the other protocol
  /// instead. The engine sends the data unchanged once the server has switched protocols (101). The response body then contains the
  /// data that the server sends in that protocol.
  public var body: RequestBody
  /// The content coding with which the engine compresses the request body as it sends it, or nil (the default) for none. With a
  /// coding, the engine adds the Content-Encoding field and sends the body chunked. Few servers support compressed requests.
  public var bodyCoding: ContentCoding?
  /// The time limits of the exchange and its phases.
  public var timeouts: Timeouts
  /// Whether the engine decodes a response body with a Content-Encoding before it delivers the body. True by default.
  public var decodesContent = true
  /// Whether the client certificate of the engine's TLS settings is presented to a server that requests one. True by default.
  /// `RedirectRule` sets this property to false for another origin, because the certificate isn't intended for that origin.
  public var presentsIdentity = true
  /// The maximum length of the decoded response body in bytes. If the body exceeds it, the exchange fails with `.bodyTooLarge`.
  /// Unlimited by default, because the body is delivered as it arrives.
  public var bodyBytesMax = Int.max
  /// The priority of the request among those that wait for a connection, from 0 to 1. 0.5 by default. Requests with a higher
  /// priority get a connection first. Requests with equal priority get one in order of arrival. The priority doesn't affect
  /// requests that already have a connection.
  public var priority: Float = 0.5
  /// The settings of the request's connection that differ from the engine's settings. If nil (the default), none differ.
  public var connection: ConnectionSettings? {
    get { extras?.value.connection }
    set { changeExtras { $0.connection = newValue } }
  }
  /// Which client certificate the request presents to its origin, if any. Nil means that the request uses the certificate in the
  /// engine's TLS settings. `RedirectRule` sets this property to nil for another origin.
  package var identityChoice: IdentityChoice? {
    get { extras?.value.identityChoice }
    set { changeExtras { $0.identityChoice = newValue } }
  }
  /// The request's requirements for its connection. If nil, the request uses a shared connection, and the proxy credentials in the
  /// proxy settings.
  package var connectionDemand: ConnectionDemand? {
    get { extras?.value.connectionDemand }
    set { changeExtras { $0.connectionDemand = newValue } }
  }
  /// Bytes that the engine sends instead of the serialized request, on a dedicated connection. Nil for all requests except a
  /// `RawRequest`.
  var rawBytes: [UInt8]? {
    get { extras?.value.rawBytes }
    set { changeExtras { $0.rawBytes = newValue } }
  }
  /// The rarely used settings of the request, or nil if it has none. They are stored in a class instance, so that requests are
  /// cheap to copy.
  private(set) var extras: Extras?

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
  /// The settings that few requests have, such as their own TLS settings.
  final class Extras: Sendable {
    struct Value: Sendable {
      var connection: ConnectionSettings?
      var identityChoice: IdentityChoice?
      var connectionDemand: ConnectionDemand?
      var rawBytes: [UInt8]?

      /// Whether all of these settings are nil.
      var isEmpty: Bool {
        connection == nil && identityChoice == nil && connectionDemand == nil && rawBytes == nil
      }
    }

    let value: Value

    init(_ value: Value) { self.value = value }
  }

  private mutating func changeExtras(_ change: (inout Extras.Value) -> Void) {
    var value = extras?.value ?? Extras.Value()
    change(&value)
    // Doesn't allocate an object for extras that are all nil, because most calls set a property that was nil to nil.
    if value.isEmpty { extras = nil } else { extras = Extras(value) }
  }
}

/// A decision about the client certificate that a request presents to its origin.
package enum IdentityChoice: Sendable, Hashable {
  /// The request presents no client certificate.
  case anonymous
  case present(TLSIdentity)

  package var identity: TLSIdentity? {
    switch self {
    case .anonymous: nil
    case .present(let identity): identity
    }
  }
}

extension EngineRequest {
  /// Whether the method is idempotent, so that a replay has no additional effect (RFC 9110 §9.2.2).
  var isIdempotent: Bool {
    ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method)
  }
}
