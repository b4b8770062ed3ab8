// FoundationTypesWriting: dates, data, URLs and decimal numbers in JSON, encoded as Foundation's JSONEncoder does.

package import Foundation
package import LupineJSON

package struct FoundationTypesWriting: JSONSpecialWriting {
  package let types = (
    ObjectIdentifier(Date.self), ObjectIdentifier(Data.self), ObjectIdentifier(URL.self), ObjectIdentifier(Decimal.self)
  )
  private let dates: JSONEncoder.DateEncodingStrategy
  private let data: JSONEncoder.DataEncodingStrategy

  package init(dates: JSONEncoder.DateEncodingStrategy, data: JSONEncoder.DataEncodingStrategy) {
    self.dates = dates
    self.data = data
  }

  package func encode<T: Encodable>(_ value: T, to slot: JSONSlot) throws {
    if let date = value as? Date {
      try write(date, to: slot)
    } else if let url = value as? URL {
      slot.write(url.absoluteString)
    } else if let decimal = value as? Decimal {
      slot.write(number: decimal.description)
    } else if let bytes = value as? Data {
      try write(bytes, to: slot)
    } else {
      throw slot.unsupported()
    }
  }

  private func write(_ date: Date, to slot: JSONSlot) throws {
    switch dates {
    case .deferredToDate: try slot.write(date.timeIntervalSinceReferenceDate)
    case .secondsSince1970: try slot.write(finite: date.timeIntervalSince1970)
    case .millisecondsSince1970: try slot.write(finite: 1000 * date.timeIntervalSince1970)
    case .iso8601:
      if InternetDate.write(date, { slot.write(plain: $0) }) { return }
      slot.write(date.formatted(.iso8601))
    case .custom(let encode): try slot.withEncoder { try encode(date, $0) }
    @unknown default: throw slot.unsupported()
    }
  }

  private func write(_ bytes: Data, to slot: JSONSlot) throws {
    switch data {
    case .deferredToData: try slot.withEncoder { try bytes.encode(to: $0) }
    case .base64: slot.write(bytes.base64EncodedString())
    case .custom(let encode): try slot.withEncoder { try encode(bytes, $0) }
    @unknown default: throw slot.unsupported()
    }
  }
}
