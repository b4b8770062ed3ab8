// AFError: the properties that are set for each case, and the descriptions.

import Foundation
import LupineEngine
import LupineLoopback
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

struct AFErrorTests {
  private struct Broken: LocalizedError {
    var errorDescription: String? { "The thing broke." }
  }

  private static let file = URL(filePath: "/folder/file")
  private static let target = URL(filePath: "/target/file")

  /// One example for each case and reason of AFError. `property` is the name of the example's is…Error property, without "is"
  /// and "Error". `wraps` is true if the example wraps the error `Broken`.
  static let table: [(error: AFError, property: String?, wraps: Bool)] = [
    (.createURLRequestFailed(error: Broken()), "createURLRequest", true),
    (.createUploadableFailed(error: Broken()), "createUploadable", true),
    (.downloadedFileMoveFailed(error: Broken(), source: file, destination: target), "downloadedFileMove", true),
    (.explicitlyCancelled, "explicitlyCancelled", false),
    (.invalidURL(url: "ht!tp"), "invalidURL", false),
    (.multipartEncodingFailed(reason: .bodyPartURLInvalid(url: file)), "multipartEncoding", false),
    (.multipartEncodingFailed(reason: .bodyPartFilenameInvalid(in: file)), "multipartEncoding", false),
    (.multipartEncodingFailed(reason: .bodyPartFileNotReachable(at: file)), "multipartEncoding", false),
    (
      .multipartEncodingFailed(reason: .bodyPartFileNotReachableWithError(atURL: file, error: Broken())),
      "multipartEncoding", true
    ),
    (.multipartEncodingFailed(reason: .bodyPartFileIsDirectory(at: file)), "multipartEncoding", false),
    (.multipartEncodingFailed(reason: .bodyPartFileSizeNotAvailable(at: file)), "multipartEncoding", false),
    (
      .multipartEncodingFailed(reason: .bodyPartFileSizeQueryFailedWithError(forURL: file, error: Broken())),
      "multipartEncoding", true
    ),
    (.multipartEncodingFailed(reason: .bodyPartInputStreamCreationFailed(for: file)), "multipartEncoding", false),
    (.multipartEncodingFailed(reason: .outputStreamCreationFailed(for: file)), "multipartEncoding", false),
    (.multipartEncodingFailed(reason: .outputStreamFileAlreadyExists(at: file)), "multipartEncoding", false),
    (.multipartEncodingFailed(reason: .outputStreamURLInvalid(url: file)), "multipartEncoding", false),
    (.multipartEncodingFailed(reason: .outputStreamWriteFailed(error: Broken())), "multipartEncoding", true),
    (.multipartEncodingFailed(reason: .inputStreamReadFailed(error: Broken())), "multipartEncoding", true),
    (.parameterEncoderFailed(reason: .encoderFailed(error: Broken())), "parameterEncoder", true),
    (.parameterEncoderFailed(reason: .missingRequiredComponent(.url)), "parameterEncoder", false),
    (.parameterEncoderFailed(reason: .missingRequiredComponent(.httpMethod(rawValue: "?"))), "parameterEncoder", false),
    (.parameterEncodingFailed(reason: .jsonEncodingFailed(error: Broken())), "parameterEncoding", true),
    (.parameterEncodingFailed(reason: .customEncodingFailed(error: Broken())), "parameterEncoding", true),
    (.parameterEncodingFailed(reason: .missingURL), "parameterEncoding", false),
    (.requestAdaptationFailed(error: Broken()), "requestAdaptation", true),
    (.requestRetryFailed(retryError: Broken(), originalError: URLError(.timedOut)), "requestRetry", true),
    (.responseSerializationFailed(reason: .inputDataNilOrZeroLength), "responseSerialization", false),
    (.responseSerializationFailed(reason: .inputFileNil), "responseSerialization", false),
    (.responseSerializationFailed(reason: .inputFileReadFailed(at: file)), "responseSerialization", false),
    (.responseSerializationFailed(reason: .jsonSerializationFailed(error: Broken())), "responseSerialization", true),
    (.responseSerializationFailed(reason: .stringSerializationFailed(encoding: .utf8)), "responseSerialization", false),
    (.responseSerializationFailed(reason: .decodingFailed(error: Broken())), "responseSerialization", true),
    (.responseSerializationFailed(reason: .customSerializationFailed(error: Broken())), "responseSerialization", true),
    (.responseSerializationFailed(reason: .invalidEmptyResponse(type: "T")), "responseSerialization", false),
    (.responseValidationFailed(reason: .dataFileNil), "responseValidation", false),
    (.responseValidationFailed(reason: .dataFileReadFailed(at: file)), "responseValidation", false),
    (
      .responseValidationFailed(reason: .missingContentType(acceptableContentTypes: ["a/b"])), "responseValidation",
      false
    ),
    (
      .responseValidationFailed(
        reason: .unacceptableContentType(acceptableContentTypes: ["a/b", "c/d"], responseContentType: "e/f")),
      "responseValidation", false
    ),
    (.responseValidationFailed(reason: .unacceptableStatusCode(code: 418)), "responseValidation", false),
    (.responseValidationFailed(reason: .customValidationFailed(error: Broken())), "responseValidation", true),
    (.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: "h")), "serverTrustEvaluation", false),
    (.serverTrustEvaluationFailed(reason: .noCertificatesFound), "serverTrustEvaluation", false),
    (.serverTrustEvaluationFailed(reason: .noPublicKeysFound), "serverTrustEvaluation", false),
    (.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: nil)), "serverTrustEvaluation", false),
    (.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: Broken())), "serverTrustEvaluation", true),
    (.serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: Broken())), "serverTrustEvaluation", true),
    (.serverTrustEvaluationFailed(reason: .revocationPolicyCreationFailed), "serverTrustEvaluation", false),
    (.sessionDeinitialized, "sessionDeinitialized", false),
    (.sessionInvalidated(error: nil), "sessionInvalidated", false),
    (.sessionInvalidated(error: Broken()), "sessionInvalidated", true),
    (.sessionTaskFailed(error: Broken()), "sessionTask", true),
    (.urlRequestValidationFailed(reason: .bodyDataInGETRequest(Data("abc".utf8))), nil, false),
  ]

  @Test("at most one of an AFError's properties with a name of the form is…Error is true")
  func cases() {
    for (error, property, _) in Self.table {
      let answers = [
        "createURLRequest": error.isCreateURLRequestError,
        "createUploadable": error.isCreateUploadableError,
        "downloadedFileMove": error.isDownloadedFileMoveError,
        "explicitlyCancelled": error.isExplicitlyCancelledError,
        "invalidURL": error.isInvalidURLError,
        "multipartEncoding": error.isMultipartEncodingError,
        "parameterEncoder": error.isParameterEncoderError,
        "requestAdaptation": error.isRequestAdaptationError,
        "requestRetry": error.isRequestRetryError,
        "responseSerialization": error.isResponseSerializationError,
        "responseValidation": error.isResponseValidationError,
        "serverTrustEvaluation": error.isServerTrustEvaluationError,
        "sessionDeinitialized": error.isSessionDeinitializedError,
        "parameterEncoding": error.isParameterEncodingError,
        "sessionInvalidated": error.isSessionInvalidatedError,
        "sessionTask": error.isSessionTaskError,
      ]
      #expect(answers.filter(\.value).map(\.key) == (property.map { [$0] } ?? []), "\(error)")
    }
  }

  /// The codes of Alamofire's cases, by the names in `table`.
  private static let codes = [
    "createUploadable": 0, "createURLRequest": 1, "downloadedFileMove": 2, "invalidURL": 3, "multipartEncoding": 4,
    "parameterEncoding": 5, "parameterEncoder": 6, "requestAdaptation": 7, "requestRetry": 8, "responseValidation": 9,
    "responseSerialization": 10, "serverTrustEvaluation": 11, "sessionInvalidated": 12, "sessionTask": 13,
    "urlRequestValidation": 14, "explicitlyCancelled": 15, "sessionDeinitialized": 16,
  ]

  @Test("as an NSError, an AFError has the domain and the code of Alamofire's")
  func codes() {
    for (error, property, _) in Self.table {
      let bridged = error as NSError
      #expect(bridged.domain == "Alamofire.AFError" && bridged.code == Self.codes[property ?? "urlRequestValidation"])
    }
  }

  @Test("underlyingError returns the wrapped error, whose description is part of the AFError's description")
  func underlying() {
    for (error, _, wraps) in Self.table {
      #expect((error.underlyingError is Broken) == wraps, "\(error)")
      #expect(error.localizedDescription.contains("The thing broke.") == wraps, "\(error)")
    }
  }

  @Test("no two AFErrors have the same description, and each description ends with a period")
  func sentences() {
    let sentences = Self.table.compactMap(\.error.errorDescription)
    #expect(Set(sentences).count == Self.table.count)
    for sentence in sentences {
      #expect(sentence.hasSuffix("."), "\(sentence)")
    }
  }

  @Test(
    "an AFError's description contains its associated values",
    arguments: [
      (AFError.invalidURL(url: "ht!tp"), "ht!tp"),
      (.sessionTaskFailed(error: URLError(.timedOut)), "The transfer failed: NSURLErrorDomain error -1001."),
      (.responseValidationFailed(reason: .unacceptableStatusCode(code: 418)), "418"),
      (.responseValidationFailed(reason: .unacceptableStatusCode(code: 401)), "401: the server requires a credential"),
      (
        .responseValidationFailed(reason: .unacceptableStatusCode(code: 401)),
        "supports Basic, Digest, NTLM and Negotiate"
      ),
      (.responseValidationFailed(reason: .unacceptableStatusCode(code: 407)), "407: the proxy requires a credential"),
      (
        .responseValidationFailed(reason: .unacceptableStatusCode(code: 407)),
        "Basic, Digest, NTLM and Negotiate are supported"
      ),
      (.responseSerializationFailed(reason: .invalidEmptyResponse(type: "Thing")), "Thing"),
      (.urlRequestValidationFailed(reason: .bodyDataInGETRequest(Data("abc".utf8))), "3 bytes"),
      (.parameterEncoderFailed(reason: .missingRequiredComponent(.httpMethod(rawValue: "BREW"))), "BREW"),
      (.downloadedFileMoveFailed(error: Broken(), source: file, destination: target), "from /folder/file"),
      (.downloadedFileMoveFailed(error: Broken(), source: file, destination: target), "to /target/file"),
      (.responseValidationFailed(reason: .dataFileReadFailed(at: file)), "/folder/file"),
      (.responseSerializationFailed(reason: .inputFileReadFailed(at: file)), "/folder/file"),
      (.responseValidationFailed(reason: .missingContentType(acceptableContentTypes: ["a/b", "c/d"])), "a/b, c/d"),
      (
        .responseValidationFailed(
          reason: .unacceptableContentType(acceptableContentTypes: ["a/b"], responseContentType: "e/f")), "e/f"
      ),
      (.responseSerializationFailed(reason: .stringSerializationFailed(encoding: .utf16)), "UTF-16"),
    ])
  func content(error: AFError, text: String) {
    #expect(error.localizedDescription.contains(text))
  }

  /// Returns the names of an AFError's properties that aren't nil, with their values as text. Omits `underlyingError` and the
  /// is…Error properties.
  private static func details(of error: AFError) -> [String: String] {
    let answers: [String: String?] = [
      "acceptableContentTypes": error.acceptableContentTypes?.joined(separator: " "),
      "destinationURL": error.destinationURL?.path,
      "downloadResumeData": error.downloadResumeData.map { String(decoding: $0, as: UTF8.self) },
      "failedStringEncoding": error.failedStringEncoding?.description,
      "responseCode": error.responseCode.map(String.init),
      "responseContentType": error.responseContentType,
      "sourceURL": error.sourceURL?.path,
      "url": error.url?.path,
      "urlConvertible": error.urlConvertible.map { "\($0)" },
    ]
    return answers.compactMapValues { $0 }
  }

  @Test("each property of AFError returns the associated value of its name, or nil for a case without that value")
  func details() {
    for (error, property, _) in Self.table {
      let expected: [String: String] =
        switch error {
        case .downloadedFileMoveFailed: ["sourceURL": "/folder/file", "destinationURL": "/target/file"]
        case .invalidURL: ["urlConvertible": "ht!tp"]
        case .responseSerializationFailed(.stringSerializationFailed):
          ["failedStringEncoding": String.Encoding.utf8.description]
        case .responseValidationFailed(.missingContentType): ["acceptableContentTypes": "a/b"]
        case .responseValidationFailed(.unacceptableContentType):
          ["acceptableContentTypes": "a/b c/d", "responseContentType": "e/f"]
        case .responseValidationFailed(.unacceptableStatusCode): ["responseCode": "418"]
        case _ where property == "multipartEncoding" && error.localizedDescription.contains("/folder/file"):
          ["url": "/folder/file"]
        default: [:]
        }
      #expect(Self.details(of: error) == expected, "\(error)")
    }
  }

  @Test("downloadResumeData returns the resume data in the underlying URLError")
  func resumeData() {
    let data = Data("etag".utf8)
    #expect(URLSessionDownloadTaskResumeData == "NSURLSessionDownloadTaskResumeData")
    let lost = URLError(.networkConnectionLost, userInfo: [URLSessionDownloadTaskResumeData: data])
    #expect(AFError.sessionTaskFailed(error: lost).downloadResumeData == data)
    #expect(Self.details(of: .sessionTaskFailed(error: lost)) == ["downloadResumeData": "etag"])
    #expect(AFError.sessionTaskFailed(error: URLError(.networkConnectionLost)).downloadResumeData == nil)
    #expect(AFError.explicitlyCancelled.downloadResumeData == nil)
  }

  @Test("the underlying error of requestRetryFailed is the retrier's error, and the description contains both errors")
  func retry() {
    let error = AFError.requestRetryFailed(retryError: Broken(), originalError: URLError(.timedOut))
    #expect(error.underlyingError is Broken)
    #expect(error.localizedDescription.contains("The request failed: NSURLErrorDomain error -1001."))
  }

  @Test("AFError.url is the URL of the file that a multipart encoding error names, and nil for all other errors")
  func multipartFile() {
    for (error, property, _) in Self.table {
      let names = error.localizedDescription.contains("/folder/file")
      if property == "multipartEncoding" {
        #expect(error.url == (names ? Self.file : nil), "\(error)")
      } else {
        #expect(error.url == nil)
      }
    }
    #expect(Self.table.count { $0.error.url != nil } == 11)
  }

  @Test("the error for failed pinning contains the host, the number of pins, and the number of certificates or keys")
  func pinning() throws {
    let authority = try ThrowawayAuthority()
    let trust = try SecTrust.shown(by: authority.issue(names: ["localhost"]), trusting: authority)
    let pin = try SecCertificate.pem(ThrowawayAuthority().certificatePEM)
    let errors = [
      AFError.serverTrustEvaluationFailed(
        reason: .certificatePinningFailed(
          host: "h.example", trust: trust, pinnedCertificates: [pin], serverCertificates: trust.af.certificates)),
      .serverTrustEvaluationFailed(
        reason: .publicKeyPinningFailed(
          host: "h.example", trust: trust, pinnedKeys: [pin.publicKey], serverKeys: trust.af.publicKeys)),
    ]
    for (error, things) in zip(errors, ["certificates", "keys"]) {
      #expect(error.isServerTrustEvaluationError && error.underlyingError == nil)
      #expect(error.localizedDescription.hasPrefix("h.example was not trusted because none of the 2 \(things)"))
      #expect(error.localizedDescription.contains("is pinned (pinned \(things): 1). "))
      #expect(Self.details(of: error).isEmpty)
    }
  }

  @Test("the error for a multipart stream of the wrong length contains the declared length and the actual length")
  func unexpectedLength() {
    var error = AFError.UnexpectedInputStreamLength(bytesExpected: 5, bytesRead: 4)
    #expect(error.localizedDescription.hasPrefix("5 bytes were announced, but only 4 were read."))
    error.bytesRead = 6
    #expect(error.localizedDescription.hasPrefix("5 bytes were announced, but at least 6 were read."))
  }

  @Test("an AFError is printed as its case and its description, which contains each text only once")
  func printed() throws {
    for (error, _, _) in Self.table {
      let (text, line) = (String(describing: error), error.localizedDescription)
      let name = try #require(text.split(separator: ": ").first)
      #expect(name.allSatisfy(\.isLetter) && text == "\(name): \(line)", "\(text)")
      #expect(String(reflecting: error) == text)
    }
    let lost = URLError(
      .networkConnectionLost, userInfo: [NSLocalizedDescriptionKey: "Lost.", NSUnderlyingErrorKey: Broken()])
    #expect("\(AFError.sessionTaskFailed(error: lost))" == "sessionTaskFailed: The transfer failed: Lost.")
  }

  @Test("asAFError returns an AFError unchanged, or the given alternative for any other error")
  func casting() {
    let wrapped: any Error = AFError.explicitlyCancelled
    #expect(wrapped.asAFError?.isExplicitlyCancelledError == true)
    #expect(wrapped.asAFError(orFailWith: "not reached").isExplicitlyCancelledError)
    #expect(Broken().asAFError == nil)
    #expect(Broken().asAFError(or: .sessionDeinitialized).isSessionDeinitializedError)
  }
}
