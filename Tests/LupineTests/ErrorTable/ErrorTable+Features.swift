// The rows of the error table for the errors of encoders, serializers and interceptors.

import Foundation
import LupineEngine
import Testing

@testable import Lupine
@testable import LupineURLSession

extension ErrorTable {
  static func parameterErrors() -> [ErrorRow] {
    let json = JSONEncoding.Error.invalidJSONObject
    let jsonName =
      switch json {
      case .invalidJSONObject: "invalidJSONObject"
      }
    let form = formError()
    let formName =
      switch form {
      case .invalidRootObject: "invalidRootObject"
      }
    return [
      ErrorRow(name: "JSONEncoding.Error.\(jsonName)", message: json.localizedDescription),
      ErrorRow(name: "URLEncodedFormEncoder.Error.\(formName)", message: form.localizedDescription),
    ]
  }

  /// Returns the error that URLEncodedFormEncoder throws for an array as the top-level value.
  private static func formError() -> URLEncodedFormEncoder.Error {
    do {
      let _: String = try URLEncodedFormEncoder().encode([1, 2])
    } catch let error as URLEncodedFormEncoder.Error {
      return error
    } catch {
      Issue.record("an array as the root has another error: \(error)")
    }
    return .invalidRootObject("An array was encoded.")
  }

  static func featureErrors() -> [ErrorRow] {
    let lists = chain(from: PropertyListError.unknownFormat) { error -> (name: String, next: PropertyListError?) in
      switch error {
      case .unknownFormat: ("unknownFormat", .unsupportedEncoding)
      case .unsupportedEncoding: ("unsupportedEncoding", .declaresDocumentType)
      case .declaresDocumentType: ("declaresDocumentType", .malformed(part: "trailer", offset: 41))
      case .malformed: ("malformed", .nestsTooDeep(levelsMax: 512))
      case .nestsTooDeep: ("nestsTooDeep", .cyclic(object: 3))
      case .cyclic: ("cyclic", .expandsTooFar(bytesMax: 16_777_216))
      case .expandsTooFar: ("expandsTooFar", .unsupportedValue(type: "UID"))
      case .unsupportedValue: ("unsupportedValue", nil)
      }
    }
    let authentication = chain(from: AuthenticationError.missingCredential) {
      error -> (name: String, next: AuthenticationError?) in
      switch error {
      case .missingCredential: ("missingCredential", .excessiveRefresh)
      case .excessiveRefresh: ("excessiveRefresh", nil)
      }
    }
    let duplicate = DeflateRequestCompressor.DuplicateHeaderError()
    let length = AFError.UnexpectedInputStreamLength(bytesExpected: 100, bytesRead: 90)
    let header = AFError.ForbiddenPartHeader(name: "Content-Type", value: "text/plain\r\nX: y")
    return [
      ErrorRow(name: "AFError.UnexpectedInputStreamLength", message: length.localizedDescription),
      ErrorRow(name: "AFError.ForbiddenPartHeader", message: header.localizedDescription),
    ]
      + lists.map { ErrorRow(name: "PropertyListError.\($0.name)", message: $0.example.localizedDescription) }
      + authentication.map {
        ErrorRow(name: "AuthenticationError.\($0.name)", message: $0.example.localizedDescription)
      }
      + [ErrorRow(name: "DeflateRequestCompressor.DuplicateHeaderError", message: duplicate.localizedDescription)]
      + eventStreamErrors()
  }

  private static func eventStreamErrors() -> [ErrorRow] {
    let limits = chain(from: EventStreamError.lineTooLong(bytesMax: 16_777_216)) {
      error -> (name: String, next: EventStreamError?) in
      switch error {
      case .lineTooLong: ("lineTooLong", .eventTooLong(bytesMax: 16_777_216))
      case .eventTooLong: ("eventTooLong", .idTooLong(bytesMax: 4096))
      case .idTooLong: ("idTooLong", nil)
      }
    }
    let reasons = chain(from: EventStreamInterruption.Reason.notRepeatable) {
      reason -> (name: String, next: EventStreamInterruption.Reason?) in
      switch reason {
      case .notRepeatable: ("notRepeatable", .missingID)
      case .missingID: ("missingID", .unsendableID)
      case .unsendableID: ("unsendableID", .responseEnded)
      case .responseEnded: ("responseEnded", .tooManyReconnections)
      case .tooManyReconnections: ("tooManyReconnections", nil)
      }
    }
    return limits.map { ErrorRow(name: "EventStreamError.\($0.name)", message: $0.example.localizedDescription) }
      + reasons.map { reason in
        let id = reason.example == .missingID ? nil : "41"
        let interruption = EventStreamInterruption(reason: reason.example, lastEventID: id, underlyingError: nil)
        return ErrorRow(name: "EventStreamInterruption.\(reason.name)", message: interruption.localizedDescription)
      }
  }
}
