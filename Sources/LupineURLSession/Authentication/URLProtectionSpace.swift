// URLProtectionSpace: the part of a server, or the proxy, that one credential is for (RFC 9110 §11.5).

public import Foundation

/// The scope of a credential: a server or a proxy, a realm, and an authentication method.
///
/// Two spaces are equal if all of these are equal; the case of hosts is ignored.
public final class URLProtectionSpace: NSObject, Sendable {
  /// The host of the server or proxy, as passed to the initializer.
  public let host: String
  /// The port of the server or proxy. If 0 was passed for a server, the protocol's default port.
  public let port: Int
  /// The server's protocol, such as `https`; nil for a proxy.
  public let `protocol`: String?
  /// The type of the proxy, such as ``NSURLProtectionSpaceHTTPProxy``; nil for a server.
  public let proxyType: String?
  /// The realm; nil if there is none.
  public let realm: String?
  /// The authentication method, such as ``NSURLAuthenticationMethodHTTPBasic``.
  public let authenticationMethod: String

  /// Creates a protection space of a server.
  ///
  /// - Parameters:
  ///   - host: The server's name or address; an IPv6 address has no brackets.
  ///   - port: The server's port; 0 for the protocol's default port, 80 or 443.
  ///   - protocol: The server's protocol, such as `https`, in any case.
  ///   - realm: The realm that the server names. If it names none, sessions use the host.
  ///   - authenticationMethod: The authentication method; ``NSURLAuthenticationMethodDefault`` if nil.
  public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
    self.host = host
    self.protocol = `protocol`
    self.port = port == 0 ? `protocol`.flatMap(Self.defaultPort) ?? port : port
    proxyType = nil
    self.realm = realm
    self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodDefault
  }

  /// Creates a protection space of a proxy.
  ///
  /// - Parameters:
  ///   - proxyHost: The proxy's name or address; an IPv6 address has no brackets.
  ///   - port: The proxy's port.
  ///   - type: The type of the proxy; ``NSURLProtectionSpaceHTTPProxy`` if nil.
  ///   - realm: The realm that the proxy names.
  ///   - authenticationMethod: The authentication method; ``NSURLAuthenticationMethodDefault`` if nil.
  public init(proxyHost: String, port: Int, type: String?, realm: String?, authenticationMethod: String?) {
    host = proxyHost
    self.port = port
    self.protocol = nil
    // Without a type, the space of a proxy would look like that of a server.
    proxyType = type ?? NSURLProtectionSpaceHTTPProxy
    self.realm = realm
    self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodDefault
  }

  /// Whether the space is that of a proxy.
  public override func isProxy() -> Bool { proxyType != nil }

  /// Whether the password can't be read on the network: the server's protocol is https, or the method doesn't send the password.
  ///
  /// The connection to a proxy isn't encrypted, even for https requests, because the tunnel encrypts only the bytes for the
  /// server.
  public var receivesCredentialSecurely: Bool {
    if `protocol`?.lowercased() == NSURLProtectionSpaceHTTPS { return true }
    let methods = [
      NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ]
    return methods.contains(authenticationMethod)
  }

  /// The host, port, realm and authentication method.
  public override var description: String {
    let kind = proxyType.map { "\($0) proxy " } ?? `protocol`.map { "\($0) " } ?? ""
    return "URLProtectionSpace(\(kind)\(host):\(port), realm: \(realm ?? "none"), \(authenticationMethod))"
  }

  /// Returns whether the object is a space of the same server or proxy, realm and authentication method.
  public override func isEqual(_ object: Any?) -> Bool { (object as? URLProtectionSpace)?.key == key }

  /// A hash of the properties that `isEqual` compares.
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

/// The protocol of a server over http.
public let NSURLProtectionSpaceHTTP = "http"
/// The protocol of a server over https.
public let NSURLProtectionSpaceHTTPS = "https"
/// The type of an HTTP proxy for http requests.
public let NSURLProtectionSpaceHTTPProxy = "http"
/// The type of an HTTP proxy for https requests.
public let NSURLProtectionSpaceHTTPSProxy = "https"
/// The type of a SOCKS proxy.
public let NSURLProtectionSpaceSOCKSProxy = "SOCKS"

/// The protocol's default authentication method.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// A form on a web page. No challenge has this method, because the form is part of the page's content.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// The Basic scheme (RFC 7617), the only one that sessions answer.
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// The Digest scheme (RFC 7616). Delegates receive its challenge, but no answer sends a credential: the 401 is the response.
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// The NTLM scheme. Delegates receive its challenge, but no answer sends a credential: the 401 is the response.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// The Negotiate scheme (RFC 4559). Delegates receive its challenge, but no answer sends a credential: the 401 is the response.
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
