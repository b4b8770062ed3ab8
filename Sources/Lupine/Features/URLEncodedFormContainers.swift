// The Encoder and the three containers behind URLEncodedFormEncoder.

import Foundation

/// Encodes one value into one place of the form.
struct URLEncodedFormValueEncoder: Encoder {
  let component: URLEncodedFormComponent
  let form: URLEncodedFormEncoder
  let codingPath: [any CodingKey]

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    component.becomePairs()
    return KeyedEncodingContainer(URLEncodedFormKeyedContainer(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    component.becomeList()
    return URLEncodedFormUnkeyedContainer(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    URLEncodedFormSingleValueContainer(encoder: self)
  }

  /// Encodes `value` here. What has text of its own is written at once; everything else encodes itself.
  func encode<T: Encodable>(_ value: T) throws {
    if let text = try text(of: value) {
      component.set(text)
    } else {
      try value.encode(to: self)
    }
  }

  func encode<T: Encodable>(_ value: T, forKey key: some CodingKey) throws {
    if let text = try text(of: value) {
      component.makeChild(forKey: key.stringValue).set(text)
    } else {
      try value.encode(to: child(forKey: key))
    }
  }

  func append<T: Encodable>(_ value: T) throws {
    if let text = try text(of: value) {
      component.appendChild().set(text)
    } else {
      try value.encode(to: appendedChild())
    }
  }

  /// Writes what stands for `nil`, if anything does.
  func encodeNil() {
    if let text = form.nilEncoding.text() { component.set(text) }
  }

  func child(forKey key: some CodingKey) -> URLEncodedFormValueEncoder {
    URLEncodedFormValueEncoder(
      component: component.makeChild(forKey: key.stringValue), form: form, codingPath: codingPath + [key])
  }

  func appendedChild() -> URLEncodedFormValueEncoder {
    let key = URLEncodedFormKey(index: component.elementCount)
    return URLEncodedFormValueEncoder(
      component: component.appendChild(), form: form, codingPath: codingPath + [key])
  }

  private func text(of value: some Encodable) throws -> String? {
    try (value as? any URLEncodedFormScalar)?.formText(form)
  }
}

struct URLEncodedFormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: URLEncodedFormValueEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil(forKey key: Key) {
    if let text = encoder.form.nilEncoding.text() { encoder.component.makeChild(forKey: key.stringValue).set(text) }
  }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try encoder.encode(value, forKey: key)
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested>
  {
    encoder.child(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder.child(forKey: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder.child(forKey: URLEncodedFormKey.super) }

  func superEncoder(forKey key: Key) -> any Encoder { encoder.child(forKey: key) }
}

struct URLEncodedFormUnkeyedContainer: UnkeyedEncodingContainer {
  let encoder: URLEncodedFormValueEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { encoder.component.elementCount }

  func encodeNil() {
    if let text = encoder.form.nilEncoding.text() { encoder.component.appendChild().set(text) }
  }

  func encode<T: Encodable>(_ value: T) throws {
    try encoder.append(value)
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    encoder.appendedChild().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    encoder.appendedChild().unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder.appendedChild() }
}

struct URLEncodedFormSingleValueContainer: SingleValueEncodingContainer {
  let encoder: URLEncodedFormValueEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil() { encoder.encodeNil() }

  func encode<T: Encodable>(_ value: T) throws { try encoder.encode(value) }
}

/// The key of an array's element, or of a superclass.
private struct URLEncodedFormKey: CodingKey {
  static let `super` = URLEncodedFormKey(name: "super")

  let stringValue: String
  let intValue: Int?

  init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  private init(name: String) {
    stringValue = name
    intValue = nil
  }

  init(stringValue: String) { self.init(name: stringValue) }

  init(intValue: Int) { self.init(index: intValue) }
}
