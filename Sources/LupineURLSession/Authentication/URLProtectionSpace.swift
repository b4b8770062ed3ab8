// URLProtectionSpace: the part of a server or proxy for which one credential is valid (RFC 9110 §11.5).

public import Foundation

/// The area in which a credential is valid: a realm of a server or proxy, with an authentication method.
///
/// Equality ignores ``distinguishedNames``, ``serverTrust``, and the case of hosts and protocols.
public final class URLProtectionSpace: NSObject, Sendable {
  /// The host of the server or proxy, as passed to the initializer.
  public let host: String
  /// The port of the server or proxy. If the initializer of a server's space received 0, this is the protocol's default port.
  public let port: Int
  /// The protocol of requests to the server, such as `https`, or nil for a proxy.
  public let `protocol`: String?
  /// The type of the proxy, such as ``NSURLProtectionSpaceHTTPProxy``, or nil for a server.
  public let proxyType: String?
  /// The realm that the server or proxy names, or nil if there is none.
  public let realm: String?
  /// The authentication method, such as ``NSURLAuthenticationMethodHTTPBasic``.
  public let authenticationMethod: String

  /// Creates the space of a server.
  ///
  /// - Parameters:
  ///   - host: The server's name or address. An IPv6 address has no brackets.
  ///   - port: The server's port, or 0 for the protocol's default port, 80 or 443.
  ///   - protocol: The protocol of requests to the server, such as `https`. Its case is ignored.
  ///   - realm: The realm that the server names. If it names none, sessions use the host.
  ///   - authenticationMethod: The method, or nil for ``NSURLAuthenticationMethodDefault``.
  public convenience init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
    self.init(
      host: host, port: port, protocol: `protocol`, proxyType: nil, realm: realm,
      authenticationMethod: authenticationMethod)
  }

  /// Creates the space of a server or, if `proxyType` isn't nil, of a proxy. The last two parameters come from the TLS handshake:
  /// the authorities of the client certificates that the server accepts, and the server's certificate chain.
  init(
    host: String, port: Int, protocol: String?, proxyType: String?, realm: String?, authenticationMethod: String?,
    distinguishedNames: [Data]? = nil, serverTrust: SecTrust? = nil
  ) {
    self.distinguishedNames = distinguishedNames
    self.serverTrust = serverTrust
    self.host = host
    self.protocol = `protocol`
    self.port = port == 0 ? `protocol`.flatMap(Self.defaultPort) ?? port : port
    self.proxyType = proxyType
    self.realm = realm
    self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodDefault
  }

  /// Creates the space of a server trust challenge: the delegate decides whether to accept the certificate of a server or a
  /// proxy.
  convenience init(host: String, port: Int, isProxy: Bool, serverTrust: SecTrust) {
    self.init(
      host: host, port: port, protocol: isProxy ? nil : NSURLProtectionSpaceHTTPS,
      proxyType: isProxy ? NSURLProtectionSpaceHTTPSProxy : nil, realm: nil,
      authenticationMethod: NSURLAuthenticationMethodServerTrust, serverTrust: serverTrust)
  }

  /// Creates the space of a proxy.
  ///
  /// - Parameters:
  ///   - proxyHost: The proxy's name or address. An IPv6 address has no brackets.
  ///   - port: The proxy's port.
  ///   - type: The type of the proxy, or nil for ``NSURLProtectionSpaceHTTPProxy``.
  ///   - realm: The realm that the proxy names.
  ///   - authenticationMethod: The method, or nil for ``NSURLAuthenticationMethodDefault``.
  public convenience init(proxyHost: String, port: Int, type: String?, realm: String?, authenticationMethod: String?) {
    self.init(
      host: proxyHost, port: port, protocol: nil,
      // A proxy's space without a type would equal a server's.
      proxyType: type ?? NSURLProtectionSpaceHTTPProxy, realm: realm, authenticationMethod: authenticationMethod)
  }

  /// Returns whether the space belongs to a proxy.
  public override func isProxy() -> Bool { proxyType != nil }

  /// Whether the password is safe from eavesdroppers: either the protocol is `https`, or the authentication method doesn't send
  /// the password.
  ///
  /// With Basic authentication to a proxy, this is false even for https requests, because only the tunnel through the proxy is
  /// encrypted.
  public var receivesCredentialSecurely: Bool {
    if `protocol`?.lowercased() == NSURLProtectionSpaceHTTPS { return true }
    let methods = [
      NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ]
    return methods.contains(authenticationMethod)
  }

  /// A textual description: the host, port, realm and authentication method.
  public override var description: String {
    let kind = proxyType.map { "\($0) proxy " } ?? `protocol`.map { "\($0) " } ?? ""
    return "URLProtectionSpace(\(kind)\(host):\(port), realm: \(realm ?? "none"), \(authenticationMethod))"
  }

  /// The DER-encoded distinguished names of the authorities from which the server accepts client certificates. Empty if the
  /// server names none. Nil for authentication methods other than ``NSURLAuthenticationMethodClientCertificate``.
  public let distinguishedNames: [Data]?

  /// The server's certificate chain, to be evaluated. Nil for authentication methods other than
  /// ``NSURLAuthenticationMethodServerTrust``.
  public let serverTrust: SecTrust?

  /// Returns whether the object is a space of the same server or proxy, realm and method.
  public override func isEqual(_ object: Any?) -> Bool { (object as? URLProtectionSpace)?.key == key }

  /// A hash of the properties that equality compares.
  public override var hash: Int { key.hashValue }

  private struct Key: Hashable {
    let host: String
    let port: Int
    let kind: String?
    let isProxy: Bool
    let realm: String?
    let authenticationMethod: String
  }

  private var key: Key {
    Key(
      host: host.lowercased(), port: port, kind: proxyType ?? `protocol`?.lowercased(), isProxy: isProxy(),
      realm: realm, authenticationMethod: authenticationMethod)
  }

  private static func defaultPort(of protocol: String) -> Int? {
    switch `protocol`.lowercased() {
    case NSURLProtectionSpaceHTTP: 80
    case NSURLProtectionSpaceHTTPS: 443
    default: nil
    }
  }
}

/// The protocol `http` of a server.
public let NSURLProtectionSpaceHTTP = "http"
/// The protocol `https` of a server.
public let NSURLProtectionSpaceHTTPS = "https"
/// The type of an HTTP proxy without TLS, for requests of any scheme.
public let NSURLProtectionSpaceHTTPProxy = "http"
/// The type of an HTTP proxy to which sessions use TLS.
public let NSURLProtectionSpaceHTTPSProxy = "https"
/// The type of a SOCKS proxy.
public let NSURLProtectionSpaceSOCKSProxy = "SOCKS"

/// The default authentication method of a protocol.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// A form on a web page. No challenge has this method.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// The Basic scheme (RFC 7617).
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// The Digest scheme (RFC 7616). The client sends a hash that proves that it knows the password, instead of the password.
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// A client certificate, which a server requests in the TLS handshake. Answer the challenge with a ``URLCredential`` that has an
/// identity. Otherwise no certificate is sent.
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
/// The trust evaluation of the certificate of a server, or of a proxy to which sessions use TLS. The session's delegate can
/// accept or refuse the certificate during the handshake; see ``URLSessionDelegate/urlSession(_:didReceive:completionHandler:)``.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
/// The NTLM scheme, version 2. A credential with a user name authenticates a dedicated connection.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// The Negotiate scheme (RFC 4559). A credential with an empty user name authenticates a dedicated connection with the
/// Kerberos ticket of the process's user.
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
