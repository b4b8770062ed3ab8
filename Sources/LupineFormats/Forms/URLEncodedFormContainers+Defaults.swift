// URLEncodedFormContainers+Defaults: implements methods whose default implementations in the standard library skip nil and reject
// 128-bit integers.
//
// A generic method wouldn't replace such a default implementation, so there is one method for each type.

extension URLEncodedFormKeyedContainer {
  func encode(_ value: Int128, forKey key: Key) throws { try encoder.encode(value, forKey: key) }
  func encode(_ value: UInt128, forKey key: Key) throws { try encoder.encode(value, forKey: key) }

  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
  func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }

  private func encodeOrNil(_ value: (some Encodable)?, forKey key: Key) throws {
    if let value {
      try encoder.encode(value, forKey: key)
    } else {
      encodeNil(forKey: key)
    }
  }
}

extension URLEncodedFormUnkeyedContainer {
  func encode(_ value: Int128) throws { try encoder.encode(value, at: nextIndex()) }
  func encode(_ value: UInt128) throws { try encoder.encode(value, at: nextIndex()) }
}

extension URLEncodedFormSingleValueContainer {
  func encode(_ value: Int128) throws { try encoder.encode(value) }
  func encode(_ value: UInt128) throws { try encoder.encode(value) }
}
