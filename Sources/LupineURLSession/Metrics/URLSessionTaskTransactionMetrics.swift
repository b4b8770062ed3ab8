// URLSessionTaskTransactionMetrics: the times, sizes and addresses of one request and its response within a task.

public import Foundation

/// The measurements of one request that a task sent, and of its response.
///
/// The start date of a phase is nil if the phase didn't begin, and its end date is nil if the phase didn't end.
public final class URLSessionTaskTransactionMetrics: NSObject, Sendable {
  /// The request as it was sent. After a redirect, this is the redirected request.
  public let request: URLRequest

  /// The response, or nil if no response arrived.
  public let response: URLResponse?

  /// The time when the request was started.
  public let fetchStartDate: Date?

  /// The time when the lookup of the host name began. Nil if the connection was reused.
  public let domainLookupStartDate: Date?

  /// The time when the lookup of the host name ended. Nil if the connection was reused.
  public let domainLookupEndDate: Date?

  /// The time when the client began to connect. Nil if the connection was reused.
  public let connectStartDate: Date?

  /// The time when the connection was ready, including its TLS handshake. Nil if the connection was reused.
  public let connectEndDate: Date?

  /// The time when the TLS handshake began. Nil if the connection was reused or doesn't use TLS.
  public let secureConnectionStartDate: Date?

  /// The time when the TLS handshake ended. Nil if the connection was reused or doesn't use TLS.
  public let secureConnectionEndDate: Date?

  /// The time when the first byte of the request was written, or nil if none was written.
  public let requestStartDate: Date?

  /// The time when the last byte of the request was written, or nil if it was never written.
  public let requestEndDate: Date?

  /// The time when the first byte of the response was received, or nil if none was received.
  public let responseStartDate: Date?

  /// The time when the last byte of the response was received, or nil if it was never received.
  public let responseEndDate: Date?

  /// The ALPN name of the protocol (RFC 7301 §6), such as `http/1.1`. Nil if no response was received.
  public let networkProtocolName: String?

  /// Whether the connection had served an earlier request, or had been idle after it was opened for another request.
  public let isReusedConnection: Bool

  /// Whether the request went through a proxy.
  public let isProxyConnection: Bool

  /// The connection's local IP address. Nil if the request used no connection.
  public let localAddress: String?

  /// The connection's local port. Nil if the request used no connection.
  public let localPort: Int?

  /// The IP address of the server, or of the proxy if the request used one. Nil if the request used no connection.
  public let remoteAddress: String?

  /// The port of the server, or of the proxy if the request used one. Nil if the request used no connection.
  public let remotePort: Int?

  /// The negotiated TLS version. Nil if the connection doesn't use TLS.
  public let negotiatedTLSProtocolVersion: tls_protocol_version_t?

  /// The negotiated cipher suite. Nil if the connection doesn't use TLS.
  public let negotiatedTLSCipherSuite: tls_ciphersuite_t?

  /// The length of the request line and the header section that were sent, in bytes.
  public let countOfRequestHeaderBytesSent: Int64

  /// The number of bytes of the request's body that were sent, not counting the framing of chunks.
  public let countOfRequestBodyBytesSent: Int64

  /// The number of bytes of the request's body that the application provided and that were sent. It always equals
  /// ``countOfRequestBodyBytesSent``, because sessions don't encode request bodies.
  public let countOfRequestBodyBytesBeforeEncoding: Int64

  /// The length of the received status line and header section, in bytes.
  public let countOfResponseHeaderBytesReceived: Int64

  /// The number of bytes of the response's body that were received, before content decoding and not counting the framing of chunks.
  public let countOfResponseBodyBytesReceived: Int64

  /// The number of bytes of the response's body after content decoding.
  public let countOfResponseBodyBytesAfterDecoding: Int64

  /// The source of the response: the cache if no connection was used, or else the network. `unknown` if there was no response, or
  /// for a `file:` or `data:` URL.
  public let resourceFetchType: URLSessionTaskMetrics.ResourceFetchType

  /// The protocol with which the host name was looked up. Always `unknown`, because getaddrinfo doesn't report the protocol.
  public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }

  /// Whether the connection used a cellular network interface. Always false, because the interface of a connection isn't recorded.
  public var isCellular: Bool { false }

  /// Whether the connection used an expensive network. Always false, because the interface of a connection isn't recorded.
  public var isExpensive: Bool { false }

  /// Whether the connection used a network in low data mode. Always false, because Linux has no such mode.
  public var isConstrained: Bool { false }

  /// Whether the connection used several paths. Always false, because its socket is TCP or a Unix socket, never MPTCP (RFC 8684).
  public var isMultipath: Bool { false }

  /// A textual description: the request, its connection, the duration of each phase, and the numbers of bytes sent and received.
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
    countOfResponseBodyBytesAfterDecoding: Int64 = 0,
    isServed: Bool = false
  ) {
    self.request = request
    self.response = response
    resourceFetchType = response is HTTPURLResponse ? (isServed ? .localCache : .networkLoad) : .unknown
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
