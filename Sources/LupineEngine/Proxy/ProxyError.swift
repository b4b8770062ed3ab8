// ProxyError: the errors of proxies, each with its cause, place and remedy.

public import LupineWire

/// A proxy error: the proxy's settings are wrong, or the proxy has failed or has refused the request.
public struct ProxyError: Error, Sendable, Hashable {
  /// The cause of a proxy error.
  public enum Cause: Sendable, Hashable {
    // The proxy's URL.
    /// The host in the proxy's URL is malformed.
    case malformedHost
    /// The port in the proxy's URL isn't a number from 1 to 65535, or there is a colon without a port.
    case malformedPort
    /// The scheme of the proxy's URL isn't http, https, socks4a, socks5 or socks5h.
    case unsupportedScheme(String)
    /// The user name or password in the proxy's URL isn't UTF-8 after percent-decoding, or has a NUL, which SOCKS 4A can't send.
    case malformedCredentials
    /// The user name for the proxy has a colon, which Basic credentials can't contain (RFC 7617 §2).
    case colonInUser
    /// The user name for a SOCKS 5 proxy is empty, or the user name or password has more than 255 bytes (RFC 1929 §2).
    case credentialsLength

    // SOCKS 4A.
    /// The SOCKS 4A proxy's reply starts with a version other than 0.
    case notSOCKS4(version: UInt8)
    /// The SOCKS 4A proxy refused to open the connection. The associated value is its reply code. 91 is a general refusal; 92 and
    /// 93 refuse the user name.
    case refusedBySOCKS4(UInt8)
    /// The destination is an IPv6 address, which SOCKS 4A can't send.
    case noIPv6
    /// The destination's host name contains a NUL, which ends the name in SOCKS 4A.
    case hostNameHasNUL

    // SOCKS 5.
    /// The destination's host name has more than 255 bytes, the maximum of SOCKS. The associated value is the length of the name in
    /// bytes.
    case hostNameTooLong(Int)
    /// The SOCKS 5 proxy's reply starts with a version other than 5.
    case notSOCKS5(version: UInt8)
    /// The SOCKS 5 proxy accepts none of the offered authentication methods (RFC 1928 §3). `hasCredentials` is true if the client
    /// offered a user name and password.
    case noAcceptableMethod(hasCredentials: Bool)
    /// The SOCKS 5 proxy chose an authentication method that wasn't offered. The associated value is this method.
    case unexpectedMethod(UInt8)
    /// The SOCKS 5 proxy's reply to the credentials starts with a version other than 1.
    case unexpectedAuthenticationVersion(UInt8)
    /// The SOCKS 5 proxy refused the credentials with this status (RFC 1929 §2).
    case credentialsRefused(status: UInt8)
    /// The SOCKS 5 proxy refused to open the connection.
    case refusedBySOCKS(SOCKS5Refusal)
    /// The SOCKS 5 proxy's reply has an address of a type unknown to RFC 1928 §5.
    case unexpectedAddressType(UInt8)

    // HTTP CONNECT.
    /// The proxy responded to CONNECT with 407. `schemes` contains the names of the authentication schemes that the proxy offered.
    /// `hadCredentials` is true if the client has sent credentials to the proxy.
    case credentialsRequired(schemes: [String], hadCredentials: Bool)
    /// The proxy responded to CONNECT with a status other than 2xx and 407.
    case refused(status: Int)
    /// The proxy accepted the client's Negotiate credentials, but didn't send the proof of its identity that Negotiate requires.
    case identityUnproven
    /// The proxy's response to CONNECT is malformed, or the CONNECT request can't be serialized.
    case wire(WireError)

    // SOCKS 5 or HTTP CONNECT.
    /// The proxy closed the connection before the tunnel was open, after it had sent `received` bytes.
    case truncated(received: Int)
  }

  /// The cause of the error: a fault in the proxy's settings, or a failure or refusal of the proxy.
  public let cause: Cause
  /// The place of the error: the proxy's URL without credentials, or the name of the environment variable that specifies the proxy.
  public let place: String
  /// The authentication challenges of a proxy's 407 response. Empty for any other error.
  package internal(set) var challenges: [Challenge] = []

  init(_ cause: Cause, _ place: String) {
    self.cause = cause
    self.place = place
  }
}

/// The reason why a SOCKS 5 proxy opened no connection: the reply field of RFC 1928 §6.
public enum SOCKS5Refusal: Sendable, Hashable {
  /// SOCKS reply 1: the proxy had a general failure.
  case generalFailure
  /// SOCKS reply 2: the proxy's rules forbid the destination.
  case notAllowed
  /// SOCKS reply 3: the proxy can't reach the destination's network.
  case networkUnreachable
  /// SOCKS reply 4: the proxy can't reach the destination, or can't resolve the destination's name.
  case hostUnreachable
  /// SOCKS reply 5: the destination refused the proxy's connection.
  case connectionRefused
  /// SOCKS reply 6: the time to live of a packet from the proxy expired.
  case timeToLiveExpired
  /// SOCKS reply 7: the proxy doesn't support CONNECT.
  case commandNotSupported
  /// SOCKS reply 8: the proxy doesn't support this type of address.
  case addressTypeNotSupported
  /// The SOCKS reply has a code that RFC 1928 doesn't assign. The associated value is this code.
  case unassigned(UInt8)

  /// Creates the reason that a SOCKS 5 reply code states. Returns nil for 0, which means success.
  init?(code: UInt8) {
    switch code {
    case 0: return nil
    case 1: self = .generalFailure
    case 2: self = .notAllowed
    case 3: self = .networkUnreachable
    case 4: self = .hostUnreachable
    case 5: self = .connectionRefused
    case 6: self = .timeToLiveExpired
    case 7: self = .commandNotSupported
    case 8: self = .addressTypeNotSupported
    default: self = .unassigned(code)
    }
  }
}

extension ProxyError: CustomStringConvertible {
  /// One line for logs and users, which states the proxy or the environment variable, the cause of the error and the remedy.
  public var description: String { "\(place): \(explanation)" }

  private var explanation: String {
    switch cause {
    case .malformedHost:
      "the host is neither a name nor an address. Use scheme://user:password@host:port, with user and password "
        + "percent-encoded."
    case .malformedPort: "the port isn't a number from 1 to 65535. Use scheme://user:password@host:port."
    case .unsupportedScheme(let scheme) where ["socks", "socks4"].contains(scheme):
      "SOCKS 4 without host names isn't supported. Use socks4a://, socks5:// or socks5h://."
    case .unsupportedScheme(let scheme):
      "the scheme \"\(scheme)\" isn't supported for proxies. Use http://, https://, socks4a://, socks5:// or "
        + "socks5h://."
    case .malformedCredentials:
      "the user name or password isn't valid UTF-8 after percent-decoding, or has a NUL. Percent-encode it as UTF-8, without NUL."
    case .colonInUser:
      "the user name has a colon, which Basic credentials can't contain (RFC 7617 §2). Use another name."
    case .credentialsLength:
      "SOCKS 5 requires a user name of 1 to 255 bytes and a password of at most 255 bytes (RFC 1929 §2). "
        + "Correct them, or omit both."
    case .hostNameTooLong(let count):
      "the host name has \(count) bytes, more than the 255 of SOCKS (RFC 1928 §5). Use socks5://."
    case .notSOCKS4(let version):
      "a SOCKS 4A reply starts with 0x00, but the proxy's starts with \(hex(version)). Check the proxy's scheme and port."
    case .refusedBySOCKS4(let code) where code == 92 || code == 93:
      "the proxy refused the user name (SOCKS 4 reply \(code)). Correct the user name in the proxy's URL."
    case .refusedBySOCKS4(let code):
      "the proxy refused or failed to connect (SOCKS 4 reply \(code)). Check the host name and the proxy's log."
    case .noIPv6: "SOCKS 4A can't connect to an IPv6 address. Use socks5://."
    case .hostNameHasNUL: "the host name contains a NUL, which SOCKS 4A can't send. Correct the host name."
    case .notSOCKS5(let version):
      "the reply starts with \(hex(version)) instead of SOCKS version 5. Check the proxy's scheme and port."
    case .noAcceptableMethod(hasCredentials: false):
      "the proxy requires authentication (RFC 1928 §3). Add a user name and a password to its URL."
    case .noAcceptableMethod(hasCredentials: true):
      "the proxy accepts neither unauthenticated connections nor a password (RFC 1928 §3). Check its configuration."
    case .unexpectedMethod(let method):
      "the proxy chose the authentication method \(hex(method)), which wasn't offered (RFC 1928 §3). Fix the proxy."
    case .unexpectedAuthenticationVersion(let version):
      "the reply to the credentials starts with \(hex(version)) instead of 0x01 (RFC 1929 §2). Fix the proxy."
    case .credentialsRefused: "the proxy refused the user name and password. Correct them."
    case .refusedBySOCKS(let refusal): refusal.explanation
    case .unexpectedAddressType(let type):
      "the reply has the unknown address type \(hex(type)) (RFC 1928 §5). Fix the proxy."
    case .credentialsRequired(let schemes, let hadCredentials):
      Self.explain(schemes: schemes, hadCredentials: hadCredentials)
    case .refused(let status):
      "the proxy answered CONNECT with status \(status). Check that it allows this host and port; see its log."
    case .identityUnproven:
      "the proxy accepted the credentials but didn't prove its identity (RFC 4559 §5). Check its Negotiate settings."
    case .wire(let error) where error.isCallersFault: "the CONNECT request is invalid. \(error)"
    case .wire(let error): "the response to CONNECT is invalid. \(error)"
    case .truncated(let received):
      "the proxy closed the connection after \(received) bytes of its reply. Check its scheme and port; see its log."
    }
  }

  private static func explain(schemes: [String], hadCredentials: Bool) -> String {
    let offer = schemes.isEmpty ? "names no scheme" : "offers \(schemes.joined(separator: ", "))"
    let isKnownOffered = schemes.contains { ["basic", "digest", "ntlm", "negotiate"].contains($0.lowercased()) }
    let remedy =
      if !isKnownOffered {
        "Enable Basic, Digest, NTLM or Negotiate on the proxy."
      } else if hadCredentials {
        "Correct the user name and password."
      } else {
        "Add them to the proxy's URL: http://user:password@host:port."
      }
    return hadCredentials
      ? "the proxy refused the credentials (407). It \(offer). \(remedy)"
      : "the proxy requires credentials (407). It \(offer). \(remedy)"
  }

  private func hex(_ byte: UInt8) -> String {
    "0x" + byte.hexDigits(uppercase: true)
  }
}

extension SOCKS5Refusal {
  fileprivate var explanation: String {
    switch self {
    case .generalFailure: "the proxy failed (SOCKS reply 1). Check its log."
    case .notAllowed:
      "the proxy's rules forbid this destination (SOCKS reply 2). Change them, or connect without the proxy."
    case .networkUnreachable:
      "the proxy can't reach the destination's network (SOCKS reply 3). Check the proxy's routes."
    case .hostUnreachable:
      "the proxy can't reach or resolve the host (SOCKS reply 4). Check the host name."
    case .connectionRefused: "the destination refused the proxy's connection (SOCKS reply 5). Check host and port."
    case .timeToLiveExpired: "a packet from the proxy expired on its route (SOCKS reply 6). Check the proxy's routes."
    case .commandNotSupported: "the proxy doesn't support CONNECT (SOCKS reply 7). Use another proxy."
    case .addressTypeNotSupported:
      "the proxy doesn't support this type of address (SOCKS reply 8). Try socks5h:// instead of socks5://, or vice "
        + "versa."
    case .unassigned(let code): "the proxy refused with the unassigned SOCKS reply \(code). Check its log."
    }
  }
}
