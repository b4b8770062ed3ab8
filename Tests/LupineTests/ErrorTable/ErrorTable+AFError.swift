// The rows of the error table for AFError and its reasons.

import Foundation
import LupineEngine
import LupineLoopback
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport
@testable import LupineTLS

extension ErrorTable {
  private static let file = URL(filePath: "/folder/file.bin")

  static func aferrors() throws -> [ErrorRow] {
    let rows = try chain(from: AFError.createURLRequestFailed(error: ExampleCause("The user's ID is empty."))) {
      error -> (name: String, next: AFError?) in
      switch error {
      case .createURLRequestFailed:
        ("createURLRequestFailed", .createUploadableFailed(error: ExampleCause("No such file or directory.")))
      case .createUploadableFailed:
        (
          "createUploadableFailed",
          .downloadedFileMoveFailed(
            error: ExampleCause("Permission denied."), source: file, destination: URL(filePath: "/target/file"))
        )
      case .downloadedFileMoveFailed: ("downloadedFileMoveFailed", .explicitlyCancelled)
      case .explicitlyCancelled: ("explicitlyCancelled", .invalidURL(url: "ht!tp"))
      case .invalidURL: ("invalidURL", .multipartEncodingFailed(reason: .bodyPartURLInvalid(url: file)))
      case .multipartEncodingFailed(let reason): step(reason)
      case .parameterEncoderFailed(let reason): step(reason)
      case .parameterEncodingFailed(let reason): step(reason)
      case .requestAdaptationFailed:
        (
          "requestAdaptationFailed",
          .requestRetryFailed(
            retryError: ExampleCause("The refresh token has expired. Log in again."),
            originalError: ExampleCause("Unacceptable status code 401."))
        )
      case .requestRetryFailed: ("requestRetryFailed", .responseSerializationFailed(reason: .inputDataNilOrZeroLength))
      case .responseSerializationFailed(let reason): step(reason)
      case .responseValidationFailed(let reason): step(reason)
      case .serverTrustEvaluationFailed(let reason): try step(reason)
      case .sessionDeinitialized: ("sessionDeinitialized", .sessionInvalidated(error: nil))
      case .sessionInvalidated(nil):
        ("sessionInvalidated", .sessionInvalidated(error: ExampleCause("The engine was shut down.")))
      case .sessionInvalidated:
        (
          "sessionInvalidated (with an error)",
          .sessionTaskFailed(
            error: ExampleCause(
              "https://example.org: the server didn't respond within 10 s. Check the server, or raise the timeout."))
        )
      case .sessionTaskFailed:
        ("sessionTaskFailed", .urlRequestValidationFailed(reason: .bodyDataInGETRequest(Data([1, 2, 3]))))
      case .urlRequestValidationFailed(.bodyDataInGETRequest):
        ("urlRequestValidationFailed(.bodyDataInGETRequest)", nil)
      }
    }
    return rows.map { ErrorRow(name: "AFError.\($0.name)", message: $0.example.localizedDescription) }
  }

  private static func step(_ reason: AFError.MultipartEncodingFailureReason) -> (name: String, next: AFError?) {
    let (name, next): (String, AFError.MultipartEncodingFailureReason?) =
      switch reason {
      case .bodyPartURLInvalid: ("bodyPartURLInvalid", .bodyPartFilenameInvalid(in: file))
      case .bodyPartFilenameInvalid: ("bodyPartFilenameInvalid", .bodyPartFileNotReachable(at: file))
      case .bodyPartFileNotReachable:
        (
          "bodyPartFileNotReachable",
          .bodyPartFileNotReachableWithError(atURL: file, error: ExampleCause("No such file or directory."))
        )
      case .bodyPartFileNotReachableWithError:
        ("bodyPartFileNotReachableWithError", .bodyPartFileIsDirectory(at: file))
      case .bodyPartFileIsDirectory: ("bodyPartFileIsDirectory", .bodyPartFileSizeNotAvailable(at: file))
      case .bodyPartFileSizeNotAvailable:
        (
          "bodyPartFileSizeNotAvailable",
          .bodyPartFileSizeQueryFailedWithError(forURL: file, error: ExampleCause("Permission denied."))
        )
      case .bodyPartFileSizeQueryFailedWithError:
        ("bodyPartFileSizeQueryFailedWithError", .bodyPartInputStreamCreationFailed(for: file))
      case .bodyPartInputStreamCreationFailed:
        ("bodyPartInputStreamCreationFailed", .outputStreamCreationFailed(for: file))
      case .outputStreamCreationFailed: ("outputStreamCreationFailed", .outputStreamFileAlreadyExists(at: file))
      case .outputStreamFileAlreadyExists: ("outputStreamFileAlreadyExists", .outputStreamURLInvalid(url: file))
      case .outputStreamURLInvalid:
        ("outputStreamURLInvalid", .outputStreamWriteFailed(error: ExampleCause("No space left on device.")))
      case .outputStreamWriteFailed:
        ("outputStreamWriteFailed", .inputStreamReadFailed(error: ExampleCause("Input/output error.")))
      case .inputStreamReadFailed: ("inputStreamReadFailed", nil)
      }
    return (
      "multipartEncodingFailed(.\(name))",
      next.map { .multipartEncodingFailed(reason: $0) }
        ?? .parameterEncoderFailed(reason: .missingRequiredComponent(.url))
    )
  }

  private static func step(_ reason: AFError.ParameterEncoderFailureReason) -> (name: String, next: AFError?) {
    let (name, next): (String, AFError.ParameterEncoderFailureReason?) =
      switch reason {
      case .missingRequiredComponent(.url):
        ("missingRequiredComponent(.url)", .missingRequiredComponent(.httpMethod(rawValue: "?")))
      case .missingRequiredComponent(.httpMethod):
        (
          "missingRequiredComponent(.httpMethod)",
          .encoderFailed(error: ExampleCause("The value of limit is not a finite number."))
        )
      case .encoderFailed: ("encoderFailed", nil)
      }
    return (
      "parameterEncoderFailed(.\(name))",
      next.map { .parameterEncoderFailed(reason: $0) } ?? .parameterEncodingFailed(reason: .missingURL)
    )
  }

  private static func step(_ reason: AFError.ParameterEncodingFailureReason) -> (name: String, next: AFError?) {
    let (name, next): (String, AFError.ParameterEncodingFailureReason?) =
      switch reason {
      case .missingURL:
        ("missingURL", .jsonEncodingFailed(error: ExampleCause("The value of limit is not a finite number.")))
      case .jsonEncodingFailed:
        ("jsonEncodingFailed", .customEncodingFailed(error: ExampleCause("The value of name contains a NUL.")))
      case .customEncodingFailed: ("customEncodingFailed", nil)
      }
    return (
      "parameterEncodingFailed(.\(name))",
      next.map { .parameterEncodingFailed(reason: $0) }
        ?? .requestAdaptationFailed(error: ExampleCause("The access token has expired."))
    )
  }

  private struct Plants: Decodable {
    struct Plant: Decodable { let name: String }
    let items: [Plant]
  }

  /// The error of a decoder for a document that lacks a key.
  private static func missingKey() -> any Error {
    do {
      _ = try JSONDecoder().decode(Plants.self, from: Data(#"{"items": [{}]}"#.utf8))
      return CancellationError()
    } catch {
      return error
    }
  }

  private static func step(_ reason: AFError.ResponseSerializationFailureReason) -> (name: String, next: AFError?) {
    let (name, next): (String, AFError.ResponseSerializationFailureReason?) =
      switch reason {
      case .inputDataNilOrZeroLength: ("inputDataNilOrZeroLength", .inputFileNil)
      case .inputFileNil: ("inputFileNil", .inputFileReadFailed(at: file))
      case .inputFileReadFailed: ("inputFileReadFailed", .stringSerializationFailed(encoding: .utf8))
      case .stringSerializationFailed:
        ("stringSerializationFailed", .jsonSerializationFailed(error: ExampleCause("Unexpected end of file.")))
      case .jsonSerializationFailed:
        ("jsonSerializationFailed", .decodingFailed(error: missingKey()))
      case .decodingFailed:
        ("decodingFailed", .customSerializationFailed(error: ExampleCause("The image has an unknown format.")))
      case .customSerializationFailed: ("customSerializationFailed", .invalidEmptyResponse(type: "Plant"))
      case .invalidEmptyResponse: ("invalidEmptyResponse", nil)
      }
    return (
      "responseSerializationFailed(.\(name))",
      next.map { .responseSerializationFailed(reason: $0) } ?? .responseValidationFailed(reason: .dataFileNil)
    )
  }

  private static func step(_ reason: AFError.ResponseValidationFailureReason) -> (name: String, next: AFError?) {
    let types = ["application/json"]
    let (name, next): (String, AFError.ResponseValidationFailureReason?) =
      switch reason {
      case .dataFileNil: ("dataFileNil", .dataFileReadFailed(at: file))
      case .dataFileReadFailed: ("dataFileReadFailed", .missingContentType(acceptableContentTypes: types))
      case .missingContentType:
        (
          "missingContentType",
          .unacceptableContentType(acceptableContentTypes: types, responseContentType: "text/html")
        )
      case .unacceptableContentType: ("unacceptableContentType", .unacceptableStatusCode(code: 404))
      case .unacceptableStatusCode:
        ("unacceptableStatusCode", .customValidationFailed(error: ExampleCause("The response has no ETag.")))
      case .customValidationFailed: ("customValidationFailed", nil)
      }
    return (
      "responseValidationFailed(.\(name))",
      next.map { .responseValidationFailed(reason: $0) }
        ?? .serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: "example.org"))
    )
  }

  private static func step(_ reason: AFError.ServerTrustFailureReason) throws -> (name: String, next: AFError?) {
    let (name, next): (String, AFError.ServerTrustFailureReason?)
    switch reason {
    case .noRequiredEvaluator: (name, next) = ("noRequiredEvaluator", .noCertificatesFound)
    case .noCertificatesFound: (name, next) = ("noCertificatesFound", .noPublicKeysFound)
    case .noPublicKeysFound: (name, next) = ("noPublicKeysFound", .trustEvaluationFailed(error: nil))
    case .trustEvaluationFailed(nil):
      (name, next) = (
        "trustEvaluationFailed",
        .trustEvaluationFailed(
          error: ExampleCause(
            "The certificate of localhost expired on 2026-01-31 23:59:59 UTC. Renew it, or check this machine's clock.")
        )
      )
    case .trustEvaluationFailed: (name, next) = ("trustEvaluationFailed (with an error)", try pinning().certificate)
    case .certificatePinningFailed: (name, next) = ("certificatePinningFailed", try pinning().key)
    case .publicKeyPinningFailed:
      (name, next) = (
        "publicKeyPinningFailed",
        .customEvaluationFailed(error: ExampleCause("The certificate names another organization."))
      )
    case .customEvaluationFailed: (name, next) = ("customEvaluationFailed", .revocationPolicyCreationFailed)
    case .revocationPolicyCreationFailed: (name, next) = ("revocationPolicyCreationFailed", try revocation)
    case .revocationCheckFailed: (name, next) = ("revocationCheckFailed", nil)
    }
    return (
      "serverTrustEvaluationFailed(.\(name))",
      next.map { .serverTrustEvaluationFailed(reason: $0) } ?? .sessionDeinitialized
    )
  }

  private static var revocation: AFError.ServerTrustFailureReason {
    get throws {
      let authority = try ThrowawayAuthority()
      let trust = try SecTrust.shown(by: authority.issue(names: ["localhost"]), trusting: authority)
      let options: RevocationTrustEvaluator.Options = [.ocsp, .networkAccessDisabled, .requirePositiveResponse]
      return try trustFailure(of: RevocationTrustEvaluator(options: options), trust)
    }
  }

  private static func pinning() throws -> (
    certificate: AFError.ServerTrustFailureReason, key: AFError.ServerTrustFailureReason
  ) {
    let authority = try ThrowawayAuthority()
    let trust = try SecTrust.shown(by: authority.issue(names: ["localhost"]), trusting: authority)
    let pin = try SecCertificate.pem(ThrowawayAuthority().certificatePEM)
    return (
      .certificatePinningFailed(
        host: "localhost", trust: trust, pinnedCertificates: [pin], serverCertificates: trust.af.certificates),
      .publicKeyPinningFailed(
        host: "localhost", trust: trust, pinnedKeys: [pin.publicKey], serverKeys: trust.af.publicKeys)
    )
  }
}
