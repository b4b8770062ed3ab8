// URLSessionTaskTransactionMetrics: the times, sizes and addresses of one request and its response within a task.

public import Foundation

/// The measurements of one request and its response.
///
/// A date is nil if its phase didn't begin or didn't end.
public final class URLSessionTaskTransactionMetrics: NSObject, Sendable {
  /// The request as sent, after redirects.
  public let request: URLRequest

  /// The response, or nil if none arrived.
  public let response: URLResponse?

  /// The time when the request was started.
  public let fetchStartDate: Date?

  /// The time when the lookup of the host name began, or nil on a reused connection.
  public let domainLookupStartDate: Date?

  /// The time when the lookup of the host name ended, or nil on a reused connection.
  public let domainLookupEndDate: Date?

  /// The time when the attempt to connect began, or nil on a reused connection.
  public let connectStartDate: Date?

  /// The time when the connection was ready, including TLS, or nil on a reused connection.
  public let connectEndDate: Date?

  /// The time when the TLS handshake began, or nil without TLS and on a reused connection.
  public let secureConnectionStartDate: Date?

  /// The time when the TLS handshake ended, or nil without TLS and on a reused connection.
  public let secureConnectionEndDate: Date?

  /// The time when the first byte of the request was written.
  public let requestStartDate: Date?

  /// The time when the last byte of the request was written.
  public let requestEndDate: Date?

  /// The time when the first byte of the response was received.
  public let responseStartDate: Date?

  /// The time when the last byte of the response was received.
  public let responseEndDate: Date?

  /// The protocol's ALPN name (RFC 7301 §6), such as `http/1.1`, or nil without a response.
  public let networkProtocolName: String?

  /// Whether the connection had served an earlier request, or was opened for another request and then idle.
  public let isReusedConnection: Bool

  /// Whether the request went through a proxy.
  public let isProxyConnection: Bool

  /// The local IP address, or nil if there is none.
  public let localAddress: String?

  /// The local port, or nil if there is none.
  public let localPort: Int?

  /// The remote IP address, which is that of the proxy if there is one, or nil if there is none.
  public let remoteAddress: String?

  /// The remote port, or nil if there is none.
  public let remotePort: Int?

  /// The TLS version, or nil without TLS.
  public let negotiatedTLSProtocolVersion: tls_protocol_version_t?

  /// The TLS cipher suite, or nil without TLS.
  public let negotiatedTLSCipherSuite: tls_ciphersuite_t?

  /// The number of bytes sent of the request line and header section.
  public let countOfRequestHeaderBytesSent: Int64

  /// The number of bytes sent of the request body, including the transfer coding.
  public let countOfRequestBodyBytesSent: Int64

  /// The number of bytes in the request body as the application provided it.
  public let countOfRequestBodyBytesBeforeEncoding: Int64

  /// The number of bytes received of the status line and header section.
  public let countOfResponseHeaderBytesReceived: Int64

  /// The number of bytes received of the response body, including the transfer coding.
  public let countOfResponseBodyBytesReceived: Int64

  /// The number of bytes in the response body after decoding.
  public let countOfResponseBodyBytesAfterDecoding: Int64

  /// The source of the response, which is the network. Unknown if there was no response, or for a `file:` or `data:` URL.
  public var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType {
    response is HTTPURLResponse ? .networkLoad : .unknown
  }

  /// The protocol with which the host name was looked up. Always unknown, because getaddrinfo doesn't report it.
  public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }

  /// Whether the network interface is cellular. Always false, because Linux doesn't distinguish the interface of a modem.
  public var isCellular: Bool { false }

  /// Whether the network is metered. Always false, because the kernel doesn't know the cost of a network.
  public var isExpensive: Bool { false }

  /// Whether the network is in low data mode. Always false, because Linux has no such setting.
  public var isConstrained: Bool { false }

  /// Whether the connection used several paths. Always false, because its socket is TCP or a Unix socket, never MPTCP (RFC 8684).
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
