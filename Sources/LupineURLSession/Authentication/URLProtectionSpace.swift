// URLProtectionSpace: the part of a server or proxy for which one credential is valid (RFC 9110 §11.5).

public import Foundation

/// The area in which a credential is valid: a realm of a server or proxy, with an authentication method.
///
/// Two spaces are equal if all their properties are equal. Hosts and protocols are compared without regard to case.
public final class URLProtectionSpace: NSObject, Sendable {
  /// The host of the server or proxy, as passed to the initializer.
  public let host: String
  /// The port of the server or proxy. If the port of a server is 0, this is the protocol's default port.
  public let port: Int
  /// The protocol of requests to the server, such as `https`, or nil for a proxy.
  public let `protocol`: String?
  /// The type of the proxy, such as ``NSURLProtectionSpaceHTTPProxy``, or nil for a server.
  public let proxyType: String?
  /// The name of the realm, or nil if there is none.
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
  public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
    self.host = host
    self.protocol = `protocol`
    self.port = port == 0 ? `protocol`.flatMap(Self.defaultPort) ?? port : port
    proxyType = nil
    self.realm = realm
    self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodDefault
  }

  /// Creates the space of a proxy.
  ///
  /// - Parameters:
  ///   - proxyHost: The proxy's name or address. An IPv6 address has no brackets.
  ///   - port: The proxy's port.
  ///   - type: The type of the proxy, or nil for ``NSURLProtectionSpaceHTTPProxy``.
  ///   - realm: The realm that the proxy names.
  ///   - authenticationMethod: The method, or nil for ``NSURLAuthenticationMethodDefault``.
  public init(proxyHost: String, port: Int, type: String?, realm: String?, authenticationMethod: String?) {
    host = proxyHost
    self.port = port
    self.protocol = nil
    // A proxy's space without a type would equal a server's.
    proxyType = type ?? NSURLProtectionSpaceHTTPProxy
    self.realm = realm
    self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodDefault
  }

  /// Returns whether the space belongs to a proxy.
  public override func isProxy() -> Bool { proxyType != nil }

  /// Whether an attacker on the path can't read the password, because requests use TLS or the method doesn't send the password.
  ///
  /// Requests to a proxy aren't encrypted, even for https: only the tunnel through the proxy is encrypted.
  public var receivesCredentialSecurely: Bool {
    if `protocol`?.lowercased() == NSURLProtectionSpaceHTTPS { return true }
    let methods = [
      NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ]
    return methods.contains(authenticationMethod)
  }

  /// The host, port, realm and method.
  public override var description: String {
    let kind = proxyType.map { "\($0) proxy " } ?? `protocol`.map { "\($0) " } ?? ""
    return "URLProtectionSpace(\(kind)\(host):\(port), realm: \(realm ?? "none"), \(authenticationMethod))"
  }

  /// The distinguished names, in DER, of the certificate authorities from which a server accepts client certificates. Always nil,
  /// because a session's client certificate comes from its configuration, without a challenge.
  @available(*, deprecated, message: "Sessions send the configuration's client certificate without a challenge.")
  public var distinguishedNames: [Data]? { nil }

  /// Returns whether the object is a space of the same server or proxy, realm and method.
  public override func isEqual(_ object: Any?) -> Bool { (object as? URLProtectionSpace)?.key == key }

  /// A hash of the compared properties.
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
/// The type of a proxy for http.
public let NSURLProtectionSpaceHTTPProxy = "http"
/// The type of a proxy for https.
public let NSURLProtectionSpaceHTTPSProxy = "https"
/// The type of a SOCKS proxy.
public let NSURLProtectionSpaceSOCKSProxy = "SOCKS"

/// The default method of a protocol.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// A form on a web page. No challenge has this method.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// The Basic scheme (RFC 7617).
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// The Digest scheme (RFC 7616). A credential answers its challenge with a proof instead of the password.
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// The NTLM scheme. Delegates receive its challenge, but no answer sends a credential. The 401 response is delivered.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// The Negotiate scheme (RFC 4559). Delegates receive its challenge, but no answer
/// sends a credential. The 401 response is delivered.
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
