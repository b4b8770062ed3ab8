// URLProtectionSpace: the part of a server or proxy for which one credential is valid (RFC 9110 §11.5).

public import Foundation
import LupineEngine

// Unchecked because the class is open. All state is constant.
/// The area in which a credential is valid: a realm of a server or proxy, with an authentication method.
///
/// Comparisons ignore ``distinguishedNames`` and ``serverTrust``, and the case of hosts and protocols. An archive doesn't contain
/// ``distinguishedNames`` and ``serverTrust``.
open class URLProtectionSpace: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  private struct Content {
    var host: String
    var port: Int
    var `protocol`: String?
    var proxyType: String?
    var realm: String?
    var authenticationMethod: String
    var distinguishedNames: [Data]?
    var serverTrust: SecTrust?

    init(_ host: String, _ port: Int, protocol: String?, proxyType: String?, realm: String?, _ method: String?) {
      self.host = host
      self.port = port == 0 ? `protocol`.flatMap(URLProtectionSpace.defaultPort) ?? port : port
      self.protocol = `protocol`
      self.proxyType = proxyType
      self.realm = realm
      authenticationMethod = method ?? NSURLAuthenticationMethodDefault
    }
  }

  private let content: Content

  /// The host of the server or proxy, as passed to the initializer.
  open var host: String { content.host }
  /// The port of the server or proxy. If 0 was passed to the initializer for a server, this is the default port of the URL scheme:
  /// 80 or 443.
  open var port: Int { content.port }
  /// The URL scheme of requests to the server, such as `https`, or nil for a proxy.
  open var `protocol`: String? { content.protocol }
  /// The type of the proxy, such as ``NSURLProtectionSpaceHTTPProxy``, or nil for a server.
  open var proxyType: String? { content.proxyType }
  /// The realm of the server or proxy, or nil if the server or proxy names none.
  open var realm: String? { content.realm }
  /// The authentication method of the protection space, such as ``NSURLAuthenticationMethodHTTPBasic``.
  open var authenticationMethod: String { content.authenticationMethod }

  /// Creates the protection space of a server.
  ///
  /// - Parameters:
  ///   - host: The server's name or address. An IPv6 address has no brackets.
  ///   - port: The server's port, or 0 for the protocol's default port, 80 or 443.
  ///   - protocol: The protocol of requests to the server, such as `https`. Its case is ignored.
  ///   - realm: The realm that the server names. For a server that names none, sessions pass the host.
  ///   - authenticationMethod: The authentication method, or nil for ``NSURLAuthenticationMethodDefault``.
  public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
    content = Content(host, port, protocol: `protocol`, proxyType: nil, realm: realm, authenticationMethod)
    super.init()
  }

  /// Creates the protection space of a server or, if `proxyType` isn't nil, of a proxy. The last two arguments come from the TLS
  /// handshake: `distinguishedNames` names the authorities from which the server accepts client certificates, and `serverTrust`
  /// contains the server's certificate chain.
  init(
    host: String, port: Int, protocol: String?, proxyType: String?, realm: String?, authenticationMethod: String?,
    distinguishedNames: [Data]? = nil, serverTrust: SecTrust? = nil
  ) {
    var content = Content(
      host, port, protocol: `protocol`, proxyType: proxyType, realm: realm, authenticationMethod)
    content.distinguishedNames = distinguishedNames
    content.serverTrust = serverTrust
    self.content = content
    super.init()
  }

  /// Creates the protection space of a server trust challenge. The delegate answers that challenge to accept or refuse the
  /// certificate of a server or a proxy.
  convenience init(host: String, port: Int, isProxy: Bool, serverTrust: SecTrust) {
    self.init(
      host: host, port: port, protocol: isProxy ? nil : NSURLProtectionSpaceHTTPS,
      proxyType: isProxy ? NSURLProtectionSpaceHTTPSProxy : nil, realm: nil,
      authenticationMethod: NSURLAuthenticationMethodServerTrust, serverTrust: serverTrust)
  }

  /// Creates the protection space of a proxy.
  ///
  /// - Parameters:
  ///   - proxyHost: The proxy's name or address. An IPv6 address has no brackets.
  ///   - port: The proxy's port.
  ///   - type: The type of the proxy, or nil for ``NSURLProtectionSpaceHTTPProxy``.
  ///   - realm: The realm that the proxy names.
  ///   - authenticationMethod: The authentication method, or nil for ``NSURLAuthenticationMethodDefault``.
  public init(proxyHost: String, port: Int, type: String?, realm: String?, authenticationMethod: String?) {
    // Without a type, the protection space of a proxy would equal that of a server.
    let type = type ?? NSURLProtectionSpaceHTTPProxy
    content = Content(proxyHost, port, protocol: nil, proxyType: type, realm: realm, authenticationMethod)
    super.init()
  }

  /// Decodes an archived protection space.
  public required init?(coder: NSCoder) {
    func text(_ key: String) -> String? { coder.decodeObject(of: NSString.self, forKey: key).map { "\($0)" } }
    guard let host = text(Self.hostKey), let method = text(Self.methodKey) else { return nil }
    content = Content(
      host, coder.decodeInteger(forKey: Self.portKey), protocol: text(Self.protocolKey),
      proxyType: text(Self.proxyTypeKey), realm: text(Self.realmKey), method)
    super.init()
  }

  /// Encodes the protection space, except for ``distinguishedNames`` and ``serverTrust``.
  open func encode(with coder: NSCoder) {
    coder.encode(NSString(string: host), forKey: Self.hostKey)
    coder.encode(port, forKey: Self.portKey)
    coder.encode(`protocol`.map { NSString(string: $0) }, forKey: Self.protocolKey)
    coder.encode(proxyType.map { NSString(string: $0) }, forKey: Self.proxyTypeKey)
    coder.encode(realm.map { NSString(string: $0) }, forKey: Self.realmKey)
    coder.encode(NSString(string: authenticationMethod), forKey: Self.methodKey)
  }

  /// Always true, because `URLProtectionSpace` supports secure coding.
  open class var supportsSecureCoding: Bool { true }

  private static let hostKey = "host"
  private static let portKey = "port"
  private static let protocolKey = "protocol"
  private static let proxyTypeKey = "proxyType"
  private static let realmKey = "realm"
  private static let methodKey = "authenticationMethod"

  /// Returns this protection space itself, because protection spaces are immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns whether the protection space belongs to a proxy.
  open override func isProxy() -> Bool { proxyType != nil }

  /// Whether an eavesdropper can't read the password: either requests are sent over https, or the authentication method doesn't
  /// send the password.
  ///
  /// For Basic authentication to a proxy, this is false even if the request is https: the client sends the credential to the proxy
  /// in plain text to open the tunnel, before TLS starts in the tunnel.
  open var receivesCredentialSecurely: Bool {
    if `protocol`?.lowercased() == NSURLProtectionSpaceHTTPS { return true }
    let methods = [
      NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ]
    return methods.contains(authenticationMethod)
  }

  /// Whether a challenge for this space concerns a connection instead of a request: it asks for a client certificate, or for NTLM or
  /// Negotiate, which authenticate a connection.
  var isOfConnection: Bool {
    let methods = [
      NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ]
    return methods.contains(authenticationMethod)
  }

  /// A textual description of the protection space: the host, port, realm and authentication method.
  open override var description: String {
    let kind = proxyType.map { "\($0) proxy " } ?? `protocol`.map { "\($0) " } ?? ""
    return "URLProtectionSpace(\(kind)\(host):\(port), realm: \(realm ?? "none"), \(authenticationMethod))".printable
  }

  /// The DER-encoded distinguished names of the authorities from which the server accepts client certificates. Empty if the server
  /// names no authority. Nil unless the authentication method is ``NSURLAuthenticationMethodClientCertificate``.
  open var distinguishedNames: [Data]? { content.distinguishedNames }

  /// The server's certificate chain, which the delegate evaluates. Nil unless the authentication method is
  /// ``NSURLAuthenticationMethodServerTrust``.
  open var serverTrust: SecTrust? { content.serverTrust }

  /// Returns whether `object` is a protection space of the same server or proxy, with the same realm and authentication method.
  open override func isEqual(_ object: Any?) -> Bool { (object as? URLProtectionSpace)?.key == key }

  /// A hash of the properties that `isEqual(_:)` compares.
  open override var hash: Int { key.hashValue }

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

/// The value of ``URLProtectionSpace/protocol`` for a server whose URLs start with `http:`.
public let NSURLProtectionSpaceHTTP = "http"
/// The value of ``URLProtectionSpace/protocol`` for a server whose URLs start with `https:`.
public let NSURLProtectionSpaceHTTPS = "https"
/// The value of ``URLProtectionSpace/proxyType`` for an HTTP proxy to which sessions connect without TLS, for http and https
/// requests.
public let NSURLProtectionSpaceHTTPProxy = "http"
/// The value of ``URLProtectionSpace/proxyType`` for an HTTP proxy to which sessions connect with TLS.
public let NSURLProtectionSpaceHTTPSProxy = "https"
/// The value of ``URLProtectionSpace/proxyType`` for a SOCKS proxy.
public let NSURLProtectionSpaceSOCKSProxy = "SOCKS"

/// The method of a protection space that was created without a method. Sessions never create a challenge with this method.
public let NSURLAuthenticationMethodDefault = "NSURLAuthenticationMethodDefault"
/// Authentication with a form on a web page. Sessions never create a challenge with this method.
public let NSURLAuthenticationMethodHTMLForm = "NSURLAuthenticationMethodHTMLForm"
/// Authentication with the Basic scheme (RFC 7617).
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
/// Authentication with the Digest scheme (RFC 7616). Instead of the password, the client sends a hash, which proves that it knows
/// the password.
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
/// Authentication with a client certificate, which a server requests in the TLS handshake. Answer the challenge with a
/// ``URLCredential`` that has an identity. Otherwise, the session sends no certificate.
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
/// Evaluation of the certificate of a server, or of a proxy to which sessions connect with TLS. The session's delegate can accept
/// or refuse the certificate during the handshake; see ``URLSessionDelegate/urlSession(_:didReceive:completionHandler:)``.
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
/// Authentication with the NTLM scheme, version 2, with a user name and password. NTLM authenticates a connection, not a single
/// request, so a session uses that connection only for this credential.
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
/// Authentication with the Negotiate scheme (RFC 4559), which authenticates a connection. Answer the challenge with a
/// ``URLCredential`` whose user name is empty. The session then uses the Kerberos ticket of the user that runs the process.
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"
