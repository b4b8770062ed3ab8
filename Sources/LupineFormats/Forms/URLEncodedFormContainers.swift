// `URLEncodedFormValueEncoder` and its containers: the `Encoder` of `URLEncodedFormEncoder`.

import Foundation

/// The `Encoder` of `URLEncodedFormEncoder`. Encodes one value into a node of the tree that represents the form.
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

  /// Encodes `value` into this encoder's node. A scalar becomes text. Any other value is encoded by its `encode(to:)` method.
  func encode<T: Encodable>(_ value: T) throws {
    if let text = try text(of: value) {
      component.set(text)
    } else {
      try value.encode(to: self)
    }
  }

  func encode<T: Encodable>(_ value: T, forKey key: some CodingKey) throws {
    if let text = try text(of: value) {
      component.child(forKey: key.stringValue).set(text)
    } else {
      try value.encode(to: child(forKey: key))
    }
  }

  func encode<T: Encodable>(_ value: T, at index: Int) throws {
    if let text = try text(of: value) {
      component.element(at: index).set(text)
    } else {
      try value.encode(to: element(at: index))
    }
  }

  /// Encodes nil as the text that the form encoder's `nilEncoding` returns. If it returns nil, encodes nothing.
  func encodeNil() {
    if let text = form.nilEncoding.text() { component.set(text) }
  }

  func child(forKey key: some CodingKey) -> URLEncodedFormValueEncoder {
    URLEncodedFormValueEncoder(
      component: component.child(forKey: key.stringValue), form: form, codingPath: codingPath + [key])
  }

  func element(at index: Int) -> URLEncodedFormValueEncoder {
    URLEncodedFormValueEncoder(
      component: component.element(at: index), form: form, codingPath: codingPath + [URLEncodedFormKey(index: index)])
  }

  private func text(of value: some Encodable) throws -> String? {
    try (value as? any URLEncodedFormScalar)?.formText(form)
  }
}

struct URLEncodedFormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: URLEncodedFormValueEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil(forKey key: Key) {
    if let text = encoder.form.nilEncoding.text() { encoder.component.child(forKey: key.stringValue).set(text) }
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

  /// Returns this encoder, so that the properties of a superclass are written next to those of its subclass, as in Alamofire.
  func superEncoder() -> any Encoder { encoder }

  func superEncoder(forKey key: Key) -> any Encoder { encoder.child(forKey: key) }
}

/// A container for the elements of an array. This type is a class, so that copies of the container share `count`.
final class URLEncodedFormUnkeyedContainer: UnkeyedEncodingContainer {
  let encoder: URLEncodedFormValueEncoder
  /// The number of elements that this container has encoded. If an earlier container has encoded elements into the same node, each
  /// element of this container replaces the earlier element with the same index, or is merged with it.
  private(set) var count = 0

  var codingPath: [any CodingKey] { encoder.codingPath }

  init(encoder: URLEncodedFormValueEncoder) {
    self.encoder = encoder
  }

  func encodeNil() {
    if let text = encoder.form.nilEncoding.text() { encoder.component.element(at: nextIndex()).set(text) }
  }

  func encode<T: Encodable>(_ value: T) throws {
    try encoder.encode(value, at: nextIndex())
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    encoder.element(at: nextIndex()).container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    encoder.element(at: nextIndex()).unkeyedContainer()
  }

  /// Returns this array's encoder. The values of a superclass therefore replace the array or are added to it, as in Alamofire.
  func superEncoder() -> any Encoder {
    _ = nextIndex()
    return encoder
  }

  func nextIndex() -> Int {
    defer { count += 1 }
    return count
  }
}

struct URLEncodedFormSingleValueContainer: SingleValueEncodingContainer {
  let encoder: URLEncodedFormValueEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil() { encoder.encodeNil() }

  func encode<T: Encodable>(_ value: T) throws { try encoder.encode(value) }
}

/// The coding key of an array element: its index.
private struct URLEncodedFormKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) { self.init(index: intValue) }
}
