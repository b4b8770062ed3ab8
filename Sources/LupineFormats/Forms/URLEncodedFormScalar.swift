// `URLEncodedFormScalar`: the types that a form writes as a single value.

import Foundation

/// A value that a form represents as a single text.
protocol URLEncodedFormScalar {
  /// Returns this value's text according to the options of `form`. Returns nil if the options specify that the value's
  /// `encode(to:)` encodes it.
  func formText(_ form: URLEncodedFormEncoder) throws -> String?
}

extension URLEncodedFormScalar where Self: CustomStringConvertible {
  func formText(_ form: URLEncodedFormEncoder) -> String? { description }
}

extension String: URLEncodedFormScalar {}
extension Int: URLEncodedFormScalar {}
extension Int8: URLEncodedFormScalar {}
extension Int16: URLEncodedFormScalar {}
extension Int32: URLEncodedFormScalar {}
extension Int64: URLEncodedFormScalar {}
extension Int128: URLEncodedFormScalar {}
extension UInt: URLEncodedFormScalar {}
extension UInt8: URLEncodedFormScalar {}
extension UInt16: URLEncodedFormScalar {}
extension UInt32: URLEncodedFormScalar {}
extension UInt64: URLEncodedFormScalar {}
extension UInt128: URLEncodedFormScalar {}
extension Float: URLEncodedFormScalar {}
extension Double: URLEncodedFormScalar {}
extension Decimal: URLEncodedFormScalar {}

extension Bool: URLEncodedFormScalar {
  func formText(_ form: URLEncodedFormEncoder) -> String? { form.boolEncoding.text(self) }
}

extension Date: URLEncodedFormScalar {
  func formText(_ form: URLEncodedFormEncoder) throws -> String? { try form.dateEncoding.text(self) }
}

extension Data: URLEncodedFormScalar {
  func formText(_ form: URLEncodedFormEncoder) throws -> String? { try form.dataEncoding.text(self) }
}
