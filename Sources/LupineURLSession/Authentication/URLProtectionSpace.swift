// The part of a server, or the proxy, that one credential opens (RFC 9110 §11.5).

public import Foundation

/// Where a credential is valid: a server or a proxy, a realm of it, and a method of authentication.
///
/// Two are equal if all of that is; hosts are compared without case.
public final class URLProtectionSpace: NSObject, Sendable {
  /// The server's or the proxy's host, as it was given.
  public let host: String
  /// The server's or the proxy's port; the protocol's own, if 0 was given for a server.
  public let port: Int
  /// The protocol by which the server is asked, such as `https`; nil for a proxy.
  public let `protocol`: String?
  /// What kind of proxy it is, such as ``NSURLProtectionSpaceHTTPProxy``; nil for a server.
  public let proxyType: String?
  /// The realm's name, or nil if it has none.
  public let realm: String?
  /// How a credential is shown, such as ``NSURLAuthenticationMethodHTTPBasic``.
  public let authenticationMethod: String

  /// Creates a space of a server.
  ///
  /// - Parameters:
  ///   - host: the server's name or address, an IPv6 one without brackets.
  ///   - port: its port; 0 stands for the protocol's own, 80 or 443.
  ///   - protocol: the protocol by which it is asked, such as `https`, in any case.
  ///   - realm: the realm that the server names; for one that names none, sessions take the host.
  ///   - authenticationMethod: ``NSURLAuthenticationMethodDefault`` if nil.
  public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
    self.host = host
    self.protocol = `protocol`
    self.port = port == 0 ? `protocol`.flatMap(Self.defaultPort) ?? port : port
    proxyType = nil
    self.realm = realm
    self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodDefault
  }

  /// Creates a space of a proxy.
  ///
  /// - Parameters:
  ///   - proxyHost: the proxy's name or address, an IPv6 one without brackets.
  ///   - port: its port.
  ///   - type: what kind of proxy it is, such as ``NSURLProtectionSpaceHTTPProxy``, which nil stands for.
  ///   - realm: the realm that the proxy names.
  ///   - authenticationMethod: ``NSURLAuthenticationMethodDefault`` if nil.
  public init(proxyHost: String, port: Int, type: String?, realm: String?, authenticationMethod: String?) {
    host = proxyHost
    self.port = port
    self.protocol = nil
    // A space of a proxy's without a type would look like a server's.
    proxyType = type ?? NSURLProtectionSpaceHTTPProxy
    self.realm = realm
    self.authenticationMethod = authenticationMethod ?? NSURLAuthenticationMethodDefault
  }

  /// Whether it is a proxy's.
  public override func isProxy() -> Bool { proxyType != nil }

  /// Whether nobody on the way could read the password: over TLS, or by a method that doesn't send it.
  ///
  /// A proxy is spoken to in clear, one for https too: its tunnel hides what is said to the server alone.
  public var receivesCredentialSecurely: Bool {
    if `protocol`?.lowercased() == NSURLProtectionSpaceHTTPS { return true }
    let methods = [
      NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ]
    return methods.contains(authenticationMethod)
  }

  /// Host, port, realm and method.
  public override var description: String {
    let kind = proxyType.map { "\($0) proxy " } ?? `protocol`.map { "\($0) " } ?? ""
    return "URLProtectionSpace(\(kind)\(host):\(port), realm: \(realm ?? "none"), \(authenticationMethod))"
  }

  /// Whether the other one is a space of the same server or proxy, realm and method.
  public override func isEqual(_ object: Any?) -> Bool { (object as? URLProtectionSpace)?.key == key }

  /// Hashes what `isEqual` compares.
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

/// A server that is asked by http.
public let NSURLProtectionSpaceHTTP = "http"
/// A server that is asked by https.
public let NSURLProtectionSpaceHTTPS = "https"
/// A proxy for http.
public let NSURLProtectionSpaceHTTPProxy = "http"
/// A proxy for https.
public let NSURLProtectionSpaceHTTPSProxy = "https"
/// A SOCKS proxy.
public let NSURLProtectionSpaceSOCKSProxy = "SOCKS"

/// The method that a protocol uses if nothing else is said.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// A form on a web page. No challenge asks for it, since a form is a page like another.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// The Basic scheme (RFC 7617), the one that sessions answer.
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// The Digest scheme (RFC 7616). Delegates receive its challenge, but no answer sends a credential: the 401 is the response.
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// The NTLM scheme. Delegates receive its challenge, but no answer sends a credential: the 401 is the response.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// The Negotiate scheme (RFC 4559). Delegates receive its challenge, but no answer sends a credential: the 401 is the response.
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
