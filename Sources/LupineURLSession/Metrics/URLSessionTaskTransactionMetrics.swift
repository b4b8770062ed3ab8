// URLSessionTaskTransactionMetrics: the times, sizes and addresses of one request and its response within a task.

public import Foundation

/// The metrics of one request that a task sent, and of the response: times, sizes and addresses.
///
/// The start date of a phase is nil if the phase didn't begin, and its end date is nil if the phase didn't end.
public final class URLSessionTaskTransactionMetrics: NSObject, Sendable {
  /// The request that was sent. After a redirect, this is the request to the redirect's target.
  public let request: URLRequest

  /// The response to the request, or nil if none was received.
  public let response: URLResponse?

  /// The time when the task started to perform the request.
  public let fetchStartDate: Date?

  /// The time when the lookup of the host name began. Nil if the connection was reused.
  public let domainLookupStartDate: Date?

  /// The time when the lookup of the host name ended. Nil if the connection was reused.
  public let domainLookupEndDate: Date?

  /// The time when the client began to open the connection. Nil if the connection was reused.
  public let connectStartDate: Date?

  /// The time when the connection was open and its TLS handshake, if any, had ended. Nil if the connection was reused.
  public let connectEndDate: Date?

  /// The time when the TLS handshake began. Nil if the connection was reused or doesn't use TLS.
  public let secureConnectionStartDate: Date?

  /// The time when the TLS handshake ended. Nil if the connection was reused or doesn't use TLS.
  public let secureConnectionEndDate: Date?

  /// The time when the client wrote the first byte of the request. Nil if no byte was written.
  public let requestStartDate: Date?

  /// The time when the client wrote the last byte of the request. Nil if the request wasn't written completely.
  public let requestEndDate: Date?

  /// The time when the client received the first byte of the response. Nil if no byte was received.
  public let responseStartDate: Date?

  /// The time when the client received the last byte of the response. Nil if the response wasn't received completely.
  public let responseEndDate: Date?

  /// The ALPN name of the protocol (RFC 7301 §6), such as `http/1.1`. Nil if no response was received.
  public let networkProtocolName: String?

  /// Whether the connection was reused: it had served an earlier request, or was idle after it had been opened for another request.
  public let isReusedConnection: Bool

  /// Whether the request was sent through a proxy.
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

  /// The number of bytes of the request line and the header section that were sent.
  public let countOfRequestHeaderBytesSent: Int64

  /// The number of bytes of the request's body that were sent, without the framing of the chunked transfer coding.
  public let countOfRequestBodyBytesSent: Int64

  /// The number of bytes of the request's body that were sent, counted before encoding. It always equals
  /// ``countOfRequestBodyBytesSent``, because sessions don't encode request bodies.
  public let countOfRequestBodyBytesBeforeEncoding: Int64

  /// The number of bytes of the status line and the header section that were received.
  public let countOfResponseHeaderBytesReceived: Int64

  /// The number of bytes of the response's body that were received, before content decoding and without the framing of the chunked
  /// transfer coding.
  public let countOfResponseBodyBytesReceived: Int64

  /// The number of bytes of the response's body after content decoding.
  public let countOfResponseBodyBytesAfterDecoding: Int64

  /// The source of the response: the cache if no connection was used, and otherwise the network. `unknown` if there is no response,
  /// and for a `file:` or `data:` URL.
  public let resourceFetchType: URLSessionTaskMetrics.ResourceFetchType

  /// The DNS transport protocol with which the host name was looked up. Always `unknown`, because getaddrinfo doesn't report it.
  public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }

  /// Whether the connection used a cellular network. Always false, because the network interface of a connection isn't recorded.
  public var isCellular: Bool { false }

  /// Whether the connection used an expensive network. Always false, because the network interface of a connection isn't recorded.
  public var isExpensive: Bool { false }

  /// Whether the connection used a network in low data mode. Always false, because Linux has no low data mode.
  public var isConstrained: Bool { false }

  /// Whether the connection used several network paths (MPTCP, RFC 8684). Always false, because connections use TCP or Unix
  /// sockets.
  public var isMultipath: Bool { false }

  /// A textual description of the request's metrics: the connection, the duration of each phase, and the numbers of bytes sent and
  /// received.
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
    countOfRequestBodyBytesBeforeEncoding = countOfRequestBodyBytesSent
    self.countOfResponseHeaderBytesReceived = countOfResponseHeaderBytesReceived
    self.countOfResponseBodyBytesReceived = countOfResponseBodyBytesReceived
    self.countOfResponseBodyBytesAfterDecoding = countOfResponseBodyBytesAfterDecoding
  }
}
