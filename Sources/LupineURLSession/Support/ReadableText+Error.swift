// ReadableText+Error: what an error states, without the words of Foundation that state nothing.

import Foundation

extension ReadableText {
  /// Returns the description of an error, as one or more sentences.
  ///
  /// On Linux, Foundation's descriptions begin with words that state nothing, and those of Codable's errors name neither the key nor
  /// the place. This function omits the words, and adds the key, the place and the parser's reason.
  package static func error(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      return sentence("There is no value for the key \"\(line(key.stringValue))\"", at: context.codingPath)
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.dataCorrupted(let context):
      return sentence(context.debugDescription, at: context.codingPath, dueTo: context.underlyingError)
    case EncodingError.invalidValue(_, let context):
      return sentence(context.debugDescription, at: context.codingPath, dueTo: context.underlyingError)
    default: break
    }
    let text = error.localizedDescription
    guard text.hasPrefix(emptyWords) else { return text }
    var cause = text.dropFirst(emptyWords.count)
    // Of an error without a text, Foundation states the type in parentheses.
    if cause.hasPrefix("("), cause.hasSuffix(")") { cause = cause.dropFirst().dropLast() }
    return sentence(String(cause), dueTo: error)
  }

  /// The words with which Foundation on Linux begins the description of an error that isn't a `LocalizedError`.
  private static let emptyWords = "The operation could not be completed. "

  /// Returns a cause as a sentence with the place in the document, followed by the reason that Foundation's parser has stated.
  private static func sentence(
    _ cause: String, at path: [any CodingKey] = [], dueTo error: (any Error)? = nil
  ) -> String {
    let cause = line(cause.hasSuffix(".") ? String(cause.dropLast()) : cause)
    let place = path.isEmpty ? "" : ", at \(place(path))"
    let reason = (error as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
    return "\(cause)\(place)." + (reason.map { " \(line($0))" } ?? "")
  }

  /// Returns a path such as `items[0].id`.
  private static func place(_ path: [any CodingKey]) -> String {
    path.reduce(into: "") { text, key in
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += "\(text.isEmpty ? "" : ".")\(line(key.stringValue))"
      }
    }
  }
}
