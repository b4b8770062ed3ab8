// URLSessionTaskTransactionMetrics: one request and its response within a task, with the times, sizes and addresses.

public import Foundation

/// The measurements of one request and its response.
///
/// A date is nil if its phase didn't begin or didn't end.
public final class URLSessionTaskTransactionMetrics: NSObject, Sendable {
  /// The request as sent, after redirects.
  public let request: URLRequest

  /// The response, or nil if none arrived.
  public let response: URLResponse?

  /// When the request was started.
  public let fetchStartDate: Date?

  /// When the lookup of the host name began; nil on a reused connection.
  public let domainLookupStartDate: Date?

  /// When the lookup of the host name ended; nil on a reused connection.
  public let domainLookupEndDate: Date?

  /// When the attempt to connect began; nil on a reused connection.
  public let connectStartDate: Date?

  /// When the connection was ready, including TLS; nil on a reused connection.
  public let connectEndDate: Date?

  /// When the TLS handshake began, or nil without TLS and on a reused connection.
  public let secureConnectionStartDate: Date?

  /// When the TLS handshake ended, or nil without TLS and on a reused connection.
  public let secureConnectionEndDate: Date?

  /// When the first byte of the request was written.
  public let requestStartDate: Date?

  /// When the last byte of the request was written.
  public let requestEndDate: Date?

  /// When the first byte of the response was received.
  public let responseStartDate: Date?

  /// When the last byte of the response was received.
  public let responseEndDate: Date?

  /// The protocol's ALPN name (RFC 7301 §6), such as `http/1.1`, or nil without a response.
  public let networkProtocolName: String?

  /// Whether the connection already existed: it had served a request, or was opened for another request and then idle.
  public let isReusedConnection: Bool

  /// Whether the request went through a proxy.
  public let isProxyConnection: Bool

  /// The local IP address.
  public let localAddress: String?

  /// The local port.
  public let localPort: Int?

  /// The remote IP address; a proxy's, if there is one.
  public let remoteAddress: String?

  /// The remote port.
  public let remotePort: Int?

  /// The TLS version, or nil without TLS.
  public let negotiatedTLSProtocolVersion: tls_protocol_version_t?

  /// The TLS cipher suite, or nil without TLS.
  public let negotiatedTLSCipherSuite: tls_ciphersuite_t?

  /// The bytes written of the request line and header section.
  public let countOfRequestHeaderBytesSent: Int64

  /// The bytes written of the request body, including the transfer coding.
  public let countOfRequestBodyBytesSent: Int64

  /// The bytes of the request body as the application provided it.
  public let countOfRequestBodyBytesBeforeEncoding: Int64

  /// The bytes received of the status line and header section.
  public let countOfResponseHeaderBytesReceived: Int64

  /// The bytes received of the response body, including the transfer coding.
  public let countOfResponseBodyBytesReceived: Int64

  /// The bytes of the response body after decoding.
  public let countOfResponseBodyBytesAfterDecoding: Int64

  /// The source of the response: the network; unknown if there was no response, or for a `file:` or `data:` URL.
  public var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType {
    response is HTTPURLResponse ? .networkLoad : .unknown
  }

  /// The protocol of the host name's lookup: always unknown, because getaddrinfo doesn't report it.
  public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }

  /// Whether the interface is cellular: always false, because Linux doesn't distinguish the interface of a modem.
  public var isCellular: Bool { false }

  /// Whether the network is metered: always false, because the kernel doesn't know costs.
  public var isExpensive: Bool { false }

  /// Whether the network is in low data mode: always false, because Linux has no such setting.
  public var isConstrained: Bool { false }

  /// Whether the connection used several paths: always false, because its socket is TCP or a Unix socket, never MPTCP (RFC 8684).
  public var isMultipath: Bool { false }

  /// The request, its connection, the duration of each phase, and the bytes sent and received.
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
