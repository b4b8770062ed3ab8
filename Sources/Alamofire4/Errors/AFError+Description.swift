// AFError's description: the failure and, where there is one, a remedy.

public import Foundation
import LupineURLSession

extension AFError: LocalizedError {
  /// A description of the failure and of a remedy, in English.
  public var errorDescription: String? {
    switch self {
    case .invalidURL(let url): "\(url) isn't a valid URL."
    case .parameterEncodingFailed(let reason): reason.text
    case .multipartEncodingFailed(let reason): reason.text
    case .responseValidationFailed(let reason): reason.text
    case .responseSerializationFailed(let reason): reason.text
    }
  }
}

extension AFError.ParameterEncodingFailureReason {
  fileprivate var text: String {
    switch self {
    case .missingURL: "The request has no URL, so parameters can't be added to its query. Set its url first."
    case .jsonEncodingFailed(let error): "The parameters can't be encoded as JSON: \(ReadableText.error(error))"
    case .propertyListEncodingFailed(let error):
      "The parameters can't be encoded as a property list: \(ReadableText.error(error))"
    }
  }
}

extension AFError.MultipartEncodingFailureReason {
  fileprivate var text: String {
    switch self {
    case .bodyPartURLInvalid(let url): "\(url) isn't a file URL, so it can't be added to the form."
    case .bodyPartFilenameInvalid(let url):
      "The name of \(url.path) has no extension. Pass a file name and a media type."
    case .bodyPartFileNotReachable(let url): "\(url.path) can't be read. Check its permissions."
    case .bodyPartFileNotReachableWithError(let url, let error):
      "\(url.path) can't be read: \(ReadableText.error(error))"
    case .bodyPartFileIsDirectory(let url): "\(url.path) is a directory. Pass a file."
    case .bodyPartFileSizeNotAvailable(let url): "\(url.path) isn't a regular file, so it has no size."
    case .bodyPartFileSizeQueryFailedWithError(let url, let error):
      "The size of \(url.path) can't be read: \(ReadableText.error(error))"
    case .bodyPartInputStreamCreationFailed(let url): "\(url.path) can't be opened."
    case .outputStreamCreationFailed(let url): "\(url.path) can't be created."
    case .outputStreamFileAlreadyExists(let url): "\(url.path) exists. Remove it, or choose another name."
    case .outputStreamURLInvalid(let url): "\(url) isn't a file URL, so the form can't be written there."
    case .outputStreamWriteFailed(let error): "The form can't be written: \(ReadableText.error(error))"
    case .inputStreamReadFailed(let error): "A part of the form can't be read: \(ReadableText.error(error))"
    }
  }
}

extension AFError.ResponseValidationFailureReason {
  fileprivate var text: String {
    switch self {
    case .dataFileNil: "There is no downloaded file to validate."
    case .dataFileReadFailed(let url): "The downloaded file \(url.path) can't be read."
    case .missingContentType(let types):
      "The response has no media type. Acceptable are \(types.joined(separator: ", "))."
    case .unacceptableContentType(let types, let type):
      "Unacceptable media type \(type). Acceptable are \(types.joined(separator: ", "))."
    case .unacceptableStatusCode(let code): "Unacceptable status code \(code). The response body may explain it."
    }
  }
}

extension AFError.ResponseSerializationFailureReason {
  fileprivate var text: String {
    switch self {
    case .inputDataNil: "The response has no body."
    case .inputDataNilOrZeroLength: "The response's body is empty."
    case .inputFileNil: "There is no downloaded file to read."
    case .inputFileReadFailed(let url): "The downloaded file \(url.path) can't be read."
    case .stringSerializationFailed(let encoding): "The response's body isn't text in the encoding \(encoding)."
    case .jsonSerializationFailed(let error): "The response's body isn't JSON: \(ReadableText.error(error))"
    case .propertyListSerializationFailed(let error):
      "The response's body isn't a property list: \(ReadableText.error(error))"
    }
  }
}
