// EngineRequest: a request with its method, URI, fields and body.

public import LupineCoding
public import LupineWire

/// An HTTP request that an `Engine` executes.
public struct EngineRequest: Sendable {
  // The accessors of large properties yield, so that reading a part of a property doesn't copy the rest.

  /// The request method, a token. "GET" by default.
  public var method: String {
    _read { yield storage.parts.method }
    _modify { yield &parts.method }
  }
  /// The URI to request.
  public var uri: URI {
    _read { yield storage.parts.uri }
    _modify { yield &parts.uri }
  }
  /// The header fields, which are sent in this order after Host. None by default.
  ///
  /// A Host field replaces the one derived from the URI. The engine derives Content-Length and Transfer-Encoding from the body, and
  /// ignores the caller's. It also ignores Proxy-Authorization and Proxy-Connection, because a proxy's credentials belong in the
  /// proxy's URL.
  ///
  /// With `Expect: 100-continue`, the engine waits for the server's `100 Continue`, at most `timeouts.awaitContinue`, before it
  /// sends the body. If the server responds with 417, the engine sends the request again without the expectation.
  public var fields: Fields {
    _read { yield storage.parts.fields }
    _modify { yield &parts.fields }
  }
  /// The request body. Empty by default.
  ///
  /// If the request has an Upgrade field, and Connection contains `upgrade`, this property contains data of the other protocol
  /// instead. The engine sends the data unchanged once the server has switched protocols (101). The response body then contains the
  /// data that the server sends in that protocol.
  public var body: RequestBody {
    _read { yield storage.parts.body }
    _modify { yield &parts.body }
  }
  /// The content coding with which the engine compresses the request body as it sends it, or nil (the default) for none. With a
  /// coding, the engine adds the Content-Encoding field and sends the body chunked. Few servers support compressed requests.
  public var bodyCoding: ContentCoding? {
    get { storage.parts.bodyCoding }
    _modify { yield &parts.bodyCoding }
  }
  /// The time limits of the exchange and its phases. By default, those of `Timeouts()`.
  public var timeouts: Timeouts {
    // Other modules would allocate memory for a copy to yield. Getting a copy only copies bytes.
    get { storage.parts.timeouts }
    _modify { yield &parts.timeouts }
  }
  /// Whether the engine decodes a response body with a Content-Encoding before it delivers the body. True by default.
  public var decodesContent: Bool {
    get { storage.parts.decodesContent }
    _modify { yield &parts.decodesContent }
  }
  /// Whether the client certificate of the engine's TLS settings is presented to a server that requests one. True by default.
  /// `RedirectRule` sets this property to false for another origin, because the certificate isn't intended for that origin.
  public var presentsIdentity: Bool {
    get { storage.parts.presentsIdentity }
    _modify { yield &parts.presentsIdentity }
  }
  /// The maximum length of the decoded response body in bytes. Unlimited by default, because the body is delivered as it arrives.
  /// If the body exceeds the limit, the exchange fails with `.bodyTooLarge`. A body that isn't decoded fails the exchange as soon
  /// as the response head has arrived, if its Content-Length exceeds the limit. This doesn't apply to a redirect, a challenge or a
  /// 416, whose body the caller may not want.
  public var bodyBytesMax: Int {
    get { storage.parts.bodyBytesMax }
    _modify { yield &parts.bodyBytesMax }
  }
  /// The priority of the request among those that wait for a connection, from 0 to 1. 0.5 by default. Requests with a higher
  /// priority get a connection first. Requests with equal priority get one in order of arrival. The priority doesn't affect
  /// requests that already have a connection.
  public var priority: Float {
    get { storage.parts.priority }
    _modify { yield &parts.priority }
  }
  /// The settings of the request's connection that differ from the engine's settings. If nil (the default), none differ.
  public var connection: ConnectionSettings? {
    get { extras?.value.connection }
    set { changeExtras(\.connection, to: newValue) }
  }
  /// The template of the URI's path, such as "/users/{id}", under which LupineObservability groups requests to many URIs. Nil by
  /// default. Redirected requests have none.
  ///
  /// A template must not contain values that identify users or are secret. Use only a limited number of different templates.
  public var urlTemplate: String? {
    get { extras?.value.urlTemplate }
    set { changeExtras(\.urlTemplate, to: newValue) }
  }
  /// The observer of the call to which the request belongs, or nil if the call isn't observed.
  package var callObserver: (any CallObserver)? {
    get { storage.parts.callObserver }
    set { parts.callObserver = newValue }
  }
  /// Which client certificate the request presents to its origin, if any. Nil means that the request uses the certificate in the
  /// engine's TLS settings. `RedirectRule` sets this property to nil for another origin.
  package var identityChoice: IdentityChoice? {
    get { extras?.value.identityChoice }
    set { changeExtras(\.identityChoice, to: newValue) }
  }
  /// The request's requirements for its connection. If nil, the request uses a shared connection, and the proxy credentials in the
  /// proxy settings.
  package var connectionDemand: ConnectionDemand? {
    get { extras?.value.connectionDemand }
    set { changeExtras(\.connectionDemand, to: newValue) }
  }
  /// The channel of the WebSocket that the request opens, or nil if it opens none. When the connection has switched protocols, the
  /// engine passes the server's bytes to the channel, on the loop's thread. The request's sink doesn't receive them.
  package internal(set) var webSocket: WebSocketChannel? {
    get { extras?.value.webSocket }
    set { changeExtras(\.webSocket, to: newValue) }
  }
  /// Whether an HTTP proxy must open a tunnel to the origin even for http: it doesn't forward the bytes of a WebSocket (RFC 6455
  /// §4.1).
  package var needsTunnel: Bool { extras?.value.webSocket != nil }
  /// A closure that the engine calls on the loop's thread each time it begins to send the request, with the measurements so far,
  /// which contain the connection. Nil by default.
  package var onBegin: (@Sendable (ExchangeMetrics) -> Void)? {
    get { extras?.value.onBegin }
    set { changeExtras(\.onBegin, to: newValue) }
  }
  /// Bytes that the engine sends instead of the serialized request, on a dedicated connection. Nil for all requests except a
  /// `RawRequest`.
  var rawBytes: [UInt8]? {
    get { extras?.value.rawBytes }
    set { changeExtras(\.rawBytes, to: newValue) }
  }
  /// The receiver of a raw stream's events. Nil for all requests except those of `Engine.openStream`, which send no head.
  var streamSink: (any StreamSink)? {
    get { extras?.value.streamSink }
    set { changeExtras(\.streamSink, to: newValue) }
  }
  /// The rarely used settings of the request, or nil if it has none. They are stored in a separate object, so that the storage of
  /// all other requests stays small.
  var extras: Extras? { storage.parts.extras }

  private var storage: Storage

  /// Creates a request. User information in the URI becomes Basic credentials, unless `fields` contains Authorization.
  public init(
    method: String = "GET", uri: URI, fields: Fields = Fields(), body: RequestBody = RequestBody(),
    timeouts: Timeouts = Timeouts()
  ) {
    storage = Storage(Parts(method: method, uri: uri, fields: fields, body: body, timeouts: timeouts))
    if let userInfo = uri.userInfo, !userInfo.isEmpty, !fields.contains("Authorization") {
      // user-pass = user-id ":" password (RFC 7617 §2). The colon is needed even if the URI has no password.
      let userPass = userInfo.utf8.contains(UInt8(ascii: ":")) ? userInfo : userInfo + ":"
      let credentials = PercentEncoding.decodeLeniently(userPass.utf8)
      self.fields.append(name: "Authorization", value: BasicCredentials.fieldValue(userPass: credentials))
    }
  }
}

extension EngineRequest {
  private struct Parts: Sendable {
    var method: String
    var uri: URI
    var fields: Fields
    var body: RequestBody
    var bodyCoding: ContentCoding?
    var timeouts: Timeouts
    var decodesContent = true
    var presentsIdentity = true
    var bodyBytesMax = Int.max
    var priority: Float = 0.5
    var extras: Extras?
    // Not in the extras, which would slow an observed request down.
    var callObserver: (any CallObserver)?
  }

  // Unchecked because the properties change only while a single request refers to the storage.
  /// The storage of a request's properties. Copies of a request share it until one of them is changed.
  private final class Storage: @unchecked Sendable {
    // Access needn't be checked: the properties change only through `parts` of the only request that refers to the storage, and
    // Swift enforces exclusive access to that request.
    @exclusivity(unchecked) var parts: Parts

    init(_ parts: consuming Parts) { self.parts = parts }
  }

  /// The request's properties. A change first copies them if another request shares the storage.
  private var parts: Parts {
    get { storage.parts }
    _modify {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.parts) }
      yield &storage.parts
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
      var streamSink: (any StreamSink)?
      var webSocket: WebSocketChannel?
      var urlTemplate: String?
      var onBegin: (@Sendable (ExchangeMetrics) -> Void)?

      /// Whether all of these settings are nil.
      var isEmpty: Bool {
        connection == nil && identityChoice == nil && connectionDemand == nil && rawBytes == nil && streamSink == nil
          && webSocket == nil && urlTemplate == nil && onBegin == nil
      }
    }

    let value: Value

    init(_ value: Value) { self.value = value }
  }

  private mutating func changeExtras<Property>(
    _ property: WritableKeyPath<Extras.Value, Property?>, to newValue: Property?
  ) {
    // Most calls set a property that was nil to nil, so this case is fast and allocates nothing.
    guard newValue != nil || extras?.value[keyPath: property] != nil else { return }
    var value = extras?.value ?? Extras.Value()
    value[keyPath: property] = newValue
    parts.extras = value.isEmpty ? nil : Extras(value)
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
  /// Whether the method is idempotent, so that a replay has no additional effect (RFC 9110 §9.2.2; for QUERY, RFC 10008 §2).
  var isIdempotent: Bool {
    ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY"].contains(method)
  }
}
