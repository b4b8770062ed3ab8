// One request and its response within a task: when each phase began and ended, how many bytes went and came, and where.

public import Foundation

/// What was measured of one request and its response.
///
/// A date is nil if its phase was not entered, or not left.
public final class URLSessionTaskTransactionMetrics: NSObject, Sendable {
  /// The request as it was sent, redirects applied.
  public let request: URLRequest

  /// The response, or nil if none came.
  public let response: URLResponse?

  /// When work on the request began.
  public let fetchStartDate: Date?

  /// When resolving the host's name began; nil on a reused connection.
  public let domainLookupStartDate: Date?

  /// When the host's addresses were known; nil on a reused connection.
  public let domainLookupEndDate: Date?

  /// When connecting began; nil on a reused connection.
  public let connectStartDate: Date?

  /// When the connection was ready, TLS included; nil on a reused connection.
  public let connectEndDate: Date?

  /// When the TLS handshake began; nil without one.
  public let secureConnectionStartDate: Date?

  /// When the TLS handshake was done; nil without one.
  public let secureConnectionEndDate: Date?

  /// When the request's first byte was written.
  public let requestStartDate: Date?

  /// When the request's last byte was written.
  public let requestEndDate: Date?

  /// When the response's first byte came.
  public let responseStartDate: Date?

  /// When the response's last byte came.
  public let responseEndDate: Date?

  /// The protocol by its ALPN name (RFC 7301 §6), such as `http/1.1`.
  public let networkProtocolName: String?

  /// Whether the connection was there already: it had served a request, or had been idle since one had it opened.
  public let isReusedConnection: Bool

  /// Whether the request went through a proxy.
  public let isProxyConnection: Bool

  /// This end's IP address.
  public let localAddress: String?

  /// This end's port.
  public let localPort: Int?

  /// The peer's IP address.
  public let remoteAddress: String?

  /// The peer's port.
  public let remotePort: Int?

  /// The version of TLS, or nil without TLS.
  public let negotiatedTLSProtocolVersion: tls_protocol_version_t?

  /// The cipher suite, or nil without TLS.
  public let negotiatedTLSCipherSuite: tls_ciphersuite_t?

  /// Bytes of the request's line and header section that were written.
  public let countOfRequestHeaderBytesSent: Int64

  /// Bytes of the request's body that were written, transfer coding included.
  public let countOfRequestBodyBytesSent: Int64

  /// Bytes of the request's body as it was handed over.
  public let countOfRequestBodyBytesBeforeEncoding: Int64

  /// Bytes of the response's line and header section that came.
  public let countOfResponseHeaderBytesReceived: Int64

  /// Bytes of the response's body that came, transfer coding included.
  public let countOfResponseBodyBytesReceived: Int64

  /// Bytes of the response's body after its codings were taken off.
  public let countOfResponseBodyBytesAfterDecoding: Int64

  /// Where the response came from: the network, or unknown if none came, or if a `file:` or `data:` URL was read.
  public var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType {
    response is HTTPURLResponse ? .networkLoad : .unknown
  }

  /// How the host's name was looked up: always unknown, since getaddrinfo asks whom it likes and doesn't say whom.
  public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }

  /// Whether the interface is known to be a cellular one: never, as Linux doesn't tell a modem's interface from others.
  public var isCellular: Bool { false }

  /// Whether the network is known to cost by the byte: never, as the kernel knows nothing of costs.
  public var isExpensive: Bool { false }

  /// Whether the network is known to be one that the user wants to be spared: never, as Linux has no such setting.
  public var isConstrained: Bool { false }

  /// Whether the connection used several paths at once: never, as its socket is one of TCP (or a Unix socket), not of
  /// MPTCP (RFC 8684).
  public var isMultipath: Bool { false }

  /// The request, its connection, the duration of each phase that was entered, and the bytes sent and received.
  public override var description: String { summary }

  init(
    request: URLRequest,
    response: URLResponse? = nil,
    fetchStartDate: Date? = nil,
    domainLookupStartDate: Date? = nil,
    domainLookupEndDate: Date? = nil,
    connectStartDate: Date? = nil,
    connectEndDate: Date? = nil,
    secureConnectionStartDate: Date? = nil,
    secureConnectionEndDate: Date? = nil,
    requestStartDate: Date? = nil,
    requestEndDate: Date? = nil,
    responseStartDate: Date? = nil,
    responseEndDate: Date? = nil,
    networkProtocolName: String? = nil,
    isReusedConnection: Bool = false,
    isProxyConnection: Bool = false,
    localAddress: String? = nil,
    localPort: Int? = nil,
    remoteAddress: String? = nil,
    remotePort: Int? = nil,
    negotiatedTLSProtocolVersion: tls_protocol_version_t? = nil,
    negotiatedTLSCipherSuite: tls_ciphersuite_t? = nil,
    countOfRequestHeaderBytesSent: Int64 = 0,
    countOfRequestBodyBytesSent: Int64 = 0,
    countOfRequestBodyBytesBeforeEncoding: Int64 = 0,
    countOfResponseHeaderBytesReceived: Int64 = 0,
    countOfResponseBodyBytesReceived: Int64 = 0,
    countOfResponseBodyBytesAfterDecoding: Int64 = 0
  ) {
    self.request = request
    self.response = response
    self.fetchStartDate = fetchStartDate
    self.domainLookupStartDate = domainLookupStartDate
    self.domainLookupEndDate = domainLookupEndDate
    self.connectStartDate = connectStartDate
    self.connectEndDate = connectEndDate
    self.secureConnectionStartDate = secureConnectionStartDate
    self.secureConnectionEndDate = secureConnectionEndDate
    self.requestStartDate = requestStartDate
    self.requestEndDate = requestEndDate
    self.responseStartDate = responseStartDate
    self.responseEndDate = responseEndDate
    self.networkProtocolName = networkProtocolName
    self.isReusedConnection = isReusedConnection
    self.isProxyConnection = isProxyConnection
    self.localAddress = localAddress
    self.localPort = localPort
    self.remoteAddress = remoteAddress
    self.remotePort = remotePort
    self.negotiatedTLSProtocolVersion = negotiatedTLSProtocolVersion
    self.negotiatedTLSCipherSuite = negotiatedTLSCipherSuite
    self.countOfRequestHeaderBytesSent = countOfRequestHeaderBytesSent
    self.countOfRequestBodyBytesSent = countOfRequestBodyBytesSent
    self.countOfRequestBodyBytesBeforeEncoding = countOfRequestBodyBytesBeforeEncoding
    self.countOfResponseHeaderBytesReceived = countOfResponseHeaderBytesReceived
    self.countOfResponseBodyBytesReceived = countOfResponseBodyBytesReceived
    self.countOfResponseBodyBytesAfterDecoding = countOfResponseBodyBytesAfterDecoding
  }
}
