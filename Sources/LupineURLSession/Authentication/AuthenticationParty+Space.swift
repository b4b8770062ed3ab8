// AuthenticationParty+Space: the protection spaces of an origin or a proxy, and Foundation's names of the authentication schemes.

import Foundation
import LupineAuthentication
import LupineEngine
import LupineLogin

extension AuthenticationParty {
  /// Returns the protection space for a realm of this origin or proxy. If `realm` is nil, the host of the origin or proxy serves as
  /// the realm. `method` is Foundation's name of the authentication method, such as `NSURLAuthenticationMethodHTTPBasic`.
  func space(realm: String?, method: String) -> URLProtectionSpace {
    switch self {
    case .origin(let origin): URLProtectionSpace(origin, realm: realm, method: method)
    case .proxy(let proxy):
      URLProtectionSpace(
        proxyHost: proxy.host, port: Int(proxy.port),
        type: proxy.isEncrypted ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy,
        realm: realm ?? proxy.host, authenticationMethod: method)
    }
  }
}

extension Login {
  /// The protection space in which the credential is valid.
  var space: URLProtectionSpace { party.space(realm: realm, method: scheme.authenticationMethod) }
}

extension AuthenticationOffer.Scheme {
  /// Foundation's name of this authentication scheme, such as `NSURLAuthenticationMethodHTTPBasic`.
  var authenticationMethod: String {
    switch self {
    case .basic: NSURLAuthenticationMethodHTTPBasic
    case .digest: NSURLAuthenticationMethodHTTPDigest
    case .ntlm: NSURLAuthenticationMethodNTLM
    case .negotiate: NSURLAuthenticationMethodNegotiate
    }
  }
}
