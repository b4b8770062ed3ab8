// FoundationTypes: dates, data, URLs and decimal numbers in JSON, decoded as Foundation's JSONDecoder does.

package import Foundation
package import LupineJSON

package struct FoundationTypes: JSONSpecialTypes {
  package let types = (
    ObjectIdentifier(Date.self), ObjectIdentifier(Data.self), ObjectIdentifier(URL.self), ObjectIdentifier(Decimal.self)
  )
  private let dates: JSONDecoder.DateDecodingStrategy
  private let data: JSONDecoder.DataDecodingStrategy

  package init(dates: JSONDecoder.DateDecodingStrategy, data: JSONDecoder.DataDecodingStrategy) {
    self.dates = dates
    self.data = data
  }

  package func decode<T: Decodable>(_ type: T.Type, from value: JSONElement) throws -> T {
    try value.requireValue(for: type)
    // SAFETY: T is the type with which it has just been compared.
    if type == Date.self { return unsafeBitCast(try date(value), to: type) }
    if type == URL.self { return unsafeBitCast(try url(value), to: type) }
    if type == Decimal.self { return unsafeBitCast(try decimal(value), to: type) }
    return unsafeBitCast(try bytes(value), to: type)
  }

  private func date(_ value: JSONElement) throws -> Date {
    switch dates {
    case .deferredToDate: return Date(timeIntervalSinceReferenceDate: try value.double())
    case .secondsSince1970: return Date(timeIntervalSince1970: try value.double())
    case .millisecondsSince1970: return Date(timeIntervalSince1970: try value.double() / 1000)
    case .iso8601:
      if let date = value.plainText({ InternetDate.date($0) }) { return date }
      let text = try value.string()
      guard let date = try? Date.ISO8601FormatStyle().parse(text) else {
        throw DecodingError.dataCorrupted(
          .init(
            codingPath: value.enclosingPath, debugDescription: "Expected date string to be ISO8601-formatted."))
      }
      return date
    case .custom(let decode): return try value.withDecoder(decode)
    @unknown default: throw value.unsupported()
    }
  }

  private func bytes(_ value: JSONElement) throws -> Data {
    switch data {
    case .deferredToData: return try value.withDecoder { try Data(from: $0) }
    case .base64:
      guard let data = Data(base64Encoded: try value.string()) else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: value.codingPath, debugDescription: "Encountered Data is not valid Base64."))
      }
      return data
    case .custom(let decode): return try value.withDecoder(decode)
    @unknown default: throw value.unsupported()
    }
  }

  private func url(_ value: JSONElement) throws -> URL {
    guard let url = URL(string: try value.string()) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: value.codingPath, debugDescription: "Invalid URL string."))
    }
    return url
  }

  private func decimal(_ value: JSONElement) throws -> Decimal {
    guard let number = value.number else {
      throw DecodingError.typeMismatch(Decimal.self, .init(codingPath: value.codingPath, debugDescription: ""))
    }
    guard let decimal = Decimal(string: number) else { throw value.unrepresentable(number) }
    return decimal
  }
}
