// The rows of the error table for the layers below the engine: WireError, URIError, TLSError and CodingError.

import Foundation

@testable import Lupine
@testable import LupineURLSession
@testable import LupineCoding
@testable import LupineEngine
@testable import LupineTLS

extension ErrorTable {
  static func wireErrors() -> [ErrorRow] {
    let rows = chain(from: WireError.notHTTP(prefix: "SSH-2.0")) { error -> (name: String, next: WireError?) in
      switch error {
      case .notHTTP: ("notHTTP", .unsupportedVersion("HTTP/2.0"))
      case .unsupportedVersion: ("unsupportedVersion", .malformedStatusLine(offset: 9))
      case .malformedStatusLine: ("malformedStatusLine", .headTooLarge(limit: 65_536))
      case .headTooLarge: ("headTooLarge", .tooManyFields(limit: 256))
      case .tooManyFields: ("tooManyFields", .malformedFieldName(offset: 41))
      case .malformedFieldName: ("malformedFieldName", .spaceBeforeColon(offset: 41))
      case .spaceBeforeColon: ("spaceBeforeColon", .forbiddenByte(0, offset: 41))
      case .forbiddenByte: ("forbiddenByte", .malformedContentLength("five"))
      case .malformedContentLength: ("malformedContentLength", .conflictingContentLength("5", "7"))
      case .conflictingContentLength: ("conflictingContentLength", .unsupportedTransferCoding("br"))
      case .unsupportedTransferCoding: ("unsupportedTransferCoding", .tooManyTransferCodings(limit: 5))
      case .tooManyTransferCodings: ("tooManyTransferCodings", .tooManyInformational(limit: 16))
      case .tooManyInformational: ("tooManyInformational", .unexpectedUpgrade)
      case .unexpectedUpgrade: ("unexpectedUpgrade", .malformedChunkSize(offset: 2))
      case .malformedChunkSize: ("malformedChunkSize", .chunkSizeOverflow)
      case .chunkSizeOverflow: ("chunkSizeOverflow", .chunkLineTooLong(limit: 4_096))
      case .chunkLineTooLong: ("chunkLineTooLong", .chunkExtensionsTooLong(limit: 16_384))
      case .chunkExtensionsTooLong: ("chunkExtensionsTooLong", .missingChunkTerminator)
      case .missingChunkTerminator: ("missingChunkTerminator", .trailersTooLarge(limit: 16_384))
      case .trailersTooLarge: ("trailersTooLarge", .truncatedHead(received: 0))
      case .truncatedHead(0): ("truncatedHead (no response)", .truncatedHead(received: 17))
      case .truncatedHead: ("truncatedHead", .truncatedBody(missing: 100))
      case .truncatedBody(.some): ("truncatedBody", .truncatedBody(missing: nil))
      case .truncatedBody(nil): ("truncatedBody (chunked)", .unsolicitedBytes(count: 5))
      case .unsolicitedBytes: ("unsolicitedBytes", .invalidMethod("G T"))
      case .invalidMethod: ("invalidMethod", .invalidTarget(byte: 0x20, offset: 4))
      case .invalidTarget: ("invalidTarget", .invalidRequestFieldName("X Y"))
      case .invalidRequestFieldName: ("invalidRequestFieldName", .invalidRequestFieldValue(name: "X", byte: 10))
      case .invalidRequestFieldValue: ("invalidRequestFieldValue", .trailerNotPermitted("Content-Type"))
      case .trailerNotPermitted: ("trailerNotPermitted", .trailerNotAnnounced("X-Sum"))
      case .trailerNotAnnounced: ("trailerNotAnnounced", nil)
      }
    }
    return rows.map { ErrorRow(name: "WireError.\($0.name)", message: $0.example.description) }
  }

  static func uriErrors() throws -> [ErrorRow] {
    let rows = chain(from: URIError.missingScheme("example.org")) { error -> (name: String, next: URIError?) in
      switch error {
      case .missingScheme: ("missingScheme", .unsupportedScheme("ftp"))
      case .unsupportedScheme: ("unsupportedScheme", .malformedHost("exa mple"))
      case .malformedHost: ("malformedHost", .malformedPort("65536"))
      case .malformedPort: ("malformedPort", .forbiddenByte(10))
      case .forbiddenByte: ("forbiddenByte", .emptySocketPath)
      case .emptySocketPath: ("emptySocketPath", .malformedSocketPath("%2"))
      case .malformedSocketPath: ("malformedSocketPath", .nulInSocketPath("%00a"))
      case .nulInSocketPath: ("nulInSocketPath", .socketPathTooLong(byteCount: 200))
      case .socketPathTooLong: ("socketPathTooLong", .foreignSocket("http+unix://%2Fs"))
      case .foreignSocket: ("foreignSocket", nil)
      }
    }
    return rows.map { row in
      let code = URLError(row.example, url: URL(filePath: "/")).code
      return ErrorRow(name: "URIError.\(row.name)", code: code, message: row.example.description)
    }
  }

  static func codingErrors() -> [ErrorRow] {
    let rows = chain(from: CodingError.Cause.unknownCoding("lz4")) {
      cause -> (name: String, next: CodingError.Cause?) in
      switch cause {
      case .unknownCoding: ("unknownCoding", .tooManyLayers(max: 5))
      case .tooManyLayers: ("tooManyLayers", .tooManyBrotliLayers(max: 1))
      case .tooManyBrotliLayers: ("tooManyBrotliLayers", .tooManyZstdLayers(max: 1))
      case .tooManyZstdLayers: ("tooManyZstdLayers", .corrupt("invalid block type"))
      case .corrupt: ("corrupt", .checksum("incorrect data check"))
      case .checksum: ("checksum", .truncated)
      case .truncated: ("truncated", .trailingBytes)
      case .trailingBytes: ("trailingBytes", .decodedBytesMax(1_000_000))
      case .decodedBytesMax: ("decodedBytesMax", .expansionRatioMax(1_100))
      case .expansionRatioMax: ("expansionRatioMax", .outOfMemory)
      case .outOfMemory: ("outOfMemory", .internalFailure("inflate returned -2"))
      case .internalFailure: ("internalFailure", nil)
      }
    }
    return rows.map { row in
      let isOfField =
        switch row.example {
        case .unknownCoding, .tooManyLayers, .tooManyBrotliLayers, .tooManyZstdLayers: true
        default: false
        }
      let error = CodingError(row.example, coding: isOfField ? nil : .gzip, codedOffset: isOfField ? nil : 512)
      return ErrorRow(name: "CodingError.Cause.\(row.name)", message: error.description)
    }
  }

  static func tlsErrors() -> [ErrorRow] {
    let rows = chain(from: rejected(10)) { error -> (name: String, next: TLSError?) in
      switch error.code {
      case .certificateExpired: ("certificateExpired", rejected(9))
      case .certificateNotYetValid: ("certificateNotYetValid", rejected(62))
      case .hostMismatch: ("hostMismatch", rejected(18))
      case .selfSigned: ("selfSigned", rejected(20))
      case .unknownAuthority: ("unknownAuthority", rejected(26))
      case .certificateInvalid: ("certificateInvalid", .refusedByVerifier(host: "localhost", reason: "not pinned"))
      case .refusedByVerifier: ("refusedByVerifier", .ocsp(.missing, "localhost", "the configuration requires one"))
      case .ocsp(let problem): ocsp(problem)
      case .protocolVersion: ("protocolVersion", .refused(40, handshake))
      case .alert: ("alert", .truncated(established))
      case .truncated: ("truncated", .notTLS(handshake))
      case .notTLS: ("notTLS", .failed("no protocols available", handshake))
      case .handshakeFailed: ("handshakeFailed", .failed("bad record mac", established))
      case .protocolViolation: ("protocolViolation", .closed(peer: "localhost"))
      case .closed: ("closed", .configuration("The list of key exchange groups is empty. Name at least one group."))
      case .configuration: ("configuration", nil)
      }
    }
    return rows.map { row in
      let engineError = EngineError(.tlsFailed, .tls, origin, cause: .tls(row.example))
      let code = URLError(engineError, url: nil).code
      return ErrorRow(name: "TLSError.Code.\(row.name)", code: code, message: row.example.description)
    }
  }

  private static func ocsp(_ problem: TLSError.OCSPProblem) -> (name: String, next: TLSError?) {
    let host = "localhost"
    return switch problem {
    case .missing: ("ocsp(.missing)", .ocsp(.malformed, host, "it isn't an OCSP response in DER"))
    case .malformed:
      ("ocsp(.malformed)", .ocsp(.refused(status: 3), host, "the responder returned status 3 (trylater)"))
    case .refused:
      ("ocsp(.refused)", .ocsp(.untrusted, host, "its signer isn't authorized by the certificate's issuer"))
    case .untrusted: ("ocsp(.untrusted)", .ocsp(.otherCertificate, host, "it is about another certificate"))
    case .otherCertificate:
      ("ocsp(.otherCertificate)", .ocsp(.revoked, host, "the certificate was revoked on 2026-01-31 23:59:59 UTC"))
    case .revoked: ("ocsp(.revoked)", .ocsp(.unknownCertificate, host, "the responder doesn't know the certificate"))
    case .unknownCertificate:
      (
        "ocsp(.unknownCertificate)",
        .ocsp(.notYetValid, host, "it isn't valid yet (thisUpdate 2026-01-31 23:59:59 UTC)")
      )
    case .notYetValid:
      ("ocsp(.notYetValid)", .ocsp(.expired, host, "it has expired (nextUpdate 2026-01-31 23:59:59 UTC)"))
    case .expired: ("ocsp(.expired)", .noCommonVersion(handshake))
    }
  }

  private static let origin = Origin(scheme: .https, host: "localhost", port: 443)
  private static let handshake = FailureContext(
    host: "localhost", wasEstablished: false, opening: OpeningBytes(), refusal: nil)
  private static let established = FailureContext(
    host: "localhost", wasEstablished: true, opening: OpeningBytes(), refusal: nil)

  /// Returns the TLSError for a certificate that OpenSSL rejects with this `X509_V_ERR` code.
  private static func rejected(_ verifyCode: Int32) -> TLSError {
    let rejection = CertificateRejection(
      verifyCode: verifyCode, depth: 0, subject: "CN=wrong.example", issuer: "CN=Example CA",
      notBefore: "2026-01-31 00:00:00 UTC", notAfter: "2026-01-31 23:59:59 UTC", names: ["wrong.example"])
    return TLSError(rejection, host: "localhost")
  }
}
