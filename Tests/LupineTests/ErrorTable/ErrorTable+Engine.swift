// The rows of the error table for the engine's errors: EngineError and ProxyError.

import Foundation

@testable import Lupine
@testable import LupineURLSession
@testable import LupineCoding
@testable import LupineEngine
@testable import LupineTLS

extension ErrorTable {
  private static let origin = Origin(scheme: .https, host: "example.org", port: 443)

  static func engineErrors() -> [ErrorRow] {
    EngineError.Code.allCases.flatMap { code in
      examples(of: code).map { detail, error in
        let name = detail.isEmpty ? code.rawValue : "\(code.rawValue) (\(detail))"
        let code = URLError(error, url: nil, isOffline: { false }).code
        return ErrorRow(name: "EngineError.Code.\(name)", code: code, message: error.description)
      }
    }
  }

  /// Returns an example of each error message that the code can have. `detail` distinguishes the examples of one code.
  private static func examples(of code: EngineError.Code) -> [(detail: String, error: EngineError)] {
    func one(_ phase: Phase, _ cause: EngineError.Cause? = nil) -> [(detail: String, error: EngineError)] {
      [("", EngineError(code, phase, origin, cause: cause))]
    }
    func system(_ call: String, _ number: Int32) -> EngineError.Cause { .system(SystemError(call: call, code: number)) }
    return switch code {
    case .invalidRequest: one(.setup, .wire(.invalidMethod("G T")))
    case .hostNotFound: one(.resolve)
    case .resolveFailed: one(.resolve, .resolve(ResolveError(.temporary, "Temporary failure in name resolution")))
    case .addressRefused:
      [
        ("host", SocketAddress(numeric: "169.254.169.254", port: 443)),
        ("socket", SocketAddress(socketPath: "/run/docker.sock")),
      ].map { ($0, EngineError(code, .resolve, origin, cause: .refusal(.addresses([$1].compactMap(\.self))))) }
        + [
          ("proxy", EngineError(code, .resolve, origin, cause: .refusal(.proxy))),
          (
            "cellular",
            EngineError(
              code, .resolve, origin,
              cause: .refusal(.cellular([SocketAddress(numeric: "192.0.2.1", port: 443)].compactMap(\.self))))
          ),
        ]
    case .connectionRefused: one(.connect)
    case .connectFailed:
      [
        ("no network", EngineError(code, .connect, origin, cause: system("connect", ENETUNREACH))),
        ("host", EngineError(code, .connect, origin, cause: system("connect", EHOSTUNREACH))),
      ]
    case .proxyFailed: one(.proxy, .proxy(ProxyError(.refused(status: 403), "http://proxy.example:1080")))
    case .tlsFailed: one(.tls, .tls(.closed(peer: "example.org")))
    case .timedOut:
      Phase.allCases.map { ($0.rawValue, EngineError(code, $0, origin, cause: .limit(.seconds(10)))) }
        + [
          ("total", EngineError(code, .receive, origin, cause: .totalLimit(.seconds(60)))),
          ("no time", EngineError(code, .setup, origin, cause: .totalLimit(.zero))),
        ]
    case .cancelled: one(.firstByte)
    case .connectionLost:
      [
        ("system", EngineError(code, .receive, origin, cause: system("recv", ECONNRESET))),
        ("truncation", EngineError(code, .receive, origin, cause: .wire(.truncatedBody(missing: 100)))),
      ]
    case .malformedResponse:
      [
        ("response", EngineError(code, .receive, origin, cause: .wire(.conflictingContentLength("5", "7")))),
        ("redirect", EngineError(code, .receive, origin, cause: .uri(.unsupportedScheme("gopher")))),
      ]
    case .decodingFailed: one(.receive, .coding(CodingError(.truncated, coding: .gzip, codedOffset: 512)))
    case .tooManyRedirects: one(.receive, .maximum(20))
    case .redirectRefused: one(.receive)
    case .bodyTooLarge: one(.receive, .maximum(1_000_000))
    case .bodyUnreadable:
      [
        ("file", EngineError(code, .send, origin, cause: system("open /folder/file", EACCES))),
        ("producer", EngineError(code, .send, origin, cause: .producer(URLError(.requestBodyStreamExhausted)))),
        ("length", EngineError(code, .send, origin, cause: .bodyLength(declared: 100, produced: 90))),
      ]
    case .bodyNotReplayable: one(.receive)
    case .outOfResources:
      [
        ("connection", EngineError(code, .connect, origin, cause: system("socket", ENOMEM))),
        (
          "lookup",
          EngineError(
            code, .resolve, origin, cause: .resolve(ResolveError(.outOfResources, "Memory allocation failure")))
        ),
      ]
    case .tooManyWaiting: one(.poolWait, .maximum(100_000))
    case .shutDown: one(.setup)
    }
  }

  static func proxyErrors() -> [ErrorRow] {
    let rows = chain(from: ProxyError.Cause.malformedHost) { cause -> (name: String, next: ProxyError.Cause?) in
      switch cause {
      case .malformedHost: ("malformedHost", .malformedPort)
      case .malformedPort: ("malformedPort", .unsupportedScheme("socks4"))
      case .unsupportedScheme("socks4"): ("unsupportedScheme (SOCKS 4)", .unsupportedScheme("ftp"))
      case .unsupportedScheme: ("unsupportedScheme", .malformedCredentials)
      case .malformedCredentials: ("malformedCredentials", .colonInUser)
      case .colonInUser: ("colonInUser", .credentialsLength)
      case .credentialsLength: ("credentialsLength", .notSOCKS4(version: 0x48))
      case .notSOCKS4: ("notSOCKS4", .refusedBySOCKS4(91))
      case .refusedBySOCKS4(91): ("refusedBySOCKS4 (in general)", .refusedBySOCKS4(92))
      case .refusedBySOCKS4: ("refusedBySOCKS4 (user name)", .noIPv6)
      case .noIPv6: ("noIPv6", .hostNameHasNUL)
      case .hostNameHasNUL: ("hostNameHasNUL", .hostNameTooLong(300))
      case .hostNameTooLong: ("hostNameTooLong", .notSOCKS5(version: 0x48))
      case .notSOCKS5: ("notSOCKS5", .noAcceptableMethod(hasCredentials: false))
      case .noAcceptableMethod(hasCredentials: false):
        ("noAcceptableMethod (without credentials)", .noAcceptableMethod(hasCredentials: true))
      case .noAcceptableMethod: ("noAcceptableMethod", .unexpectedMethod(1))
      case .unexpectedMethod: ("unexpectedMethod", .unexpectedAuthenticationVersion(5))
      case .unexpectedAuthenticationVersion: ("unexpectedAuthenticationVersion", .credentialsRefused(status: 1))
      case .credentialsRefused: ("credentialsRefused", .refusedBySOCKS(.generalFailure))
      case .refusedBySOCKS(let refusal): socks(refusal)
      case .unexpectedAddressType:
        ("unexpectedAddressType", .credentialsRequired(schemes: ["Bearer"], hadCredentials: false))
      case .credentialsRequired(["Bearer"], _):
        ("credentialsRequired (unknown scheme)", .credentialsRequired(schemes: ["Basic"], hadCredentials: false))
      case .credentialsRequired(_, hadCredentials: false):
        ("credentialsRequired", .credentialsRequired(schemes: ["Basic"], hadCredentials: true))
      case .credentialsRequired: ("credentialsRequired (refused)", .refused(status: 403))
      case .refused: ("refused", .identityUnproven)
      case .identityUnproven: ("identityUnproven", .wire(.malformedStatusLine(offset: 9)))
      case .wire: ("wire", .truncated(received: 3))
      case .truncated: ("truncated", nil)
      }
    }
    return rows.map { row in
      let error = ProxyError(row.example, "http://proxy.example:1080")
      return ErrorRow(name: "ProxyError.Cause.\(row.name)", message: error.description)
    }
  }

  private static func socks(_ refusal: SOCKS5Refusal) -> (name: String, next: ProxyError.Cause?) {
    let (name, next): (String, SOCKS5Refusal?) =
      switch refusal {
      case .generalFailure: ("generalFailure", .notAllowed)
      case .notAllowed: ("notAllowed", .networkUnreachable)
      case .networkUnreachable: ("networkUnreachable", .hostUnreachable)
      case .hostUnreachable: ("hostUnreachable", .connectionRefused)
      case .connectionRefused: ("connectionRefused", .timeToLiveExpired)
      case .timeToLiveExpired: ("timeToLiveExpired", .commandNotSupported)
      case .commandNotSupported: ("commandNotSupported", .addressTypeNotSupported)
      case .addressTypeNotSupported: ("addressTypeNotSupported", .unassigned(9))
      case .unassigned: ("unassigned", nil)
      }
    return ("refusedBySOCKS(.\(name))", next.map { .refusedBySOCKS($0) } ?? .unexpectedAddressType(9))
  }
}
