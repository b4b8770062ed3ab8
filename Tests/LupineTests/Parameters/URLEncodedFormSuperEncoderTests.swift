// URLEncodedFormSuperEncoderTests: the exact output of the form encoder's super encoders, which encode superclasses.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct URLEncodedFormSuperEncoderTests {
  static let vectors: [FormVector] = [
    FormVector(
      "super encoders write into their containers",
      "five%5Ba%5D=a&five%5Bb%5D=b&four%5Bfive%5D=2&four%5Bfour%5D=one&one=1", HeirBox()),
    FormVector(
      "objects that a subclass and a superclass write under one key are merged", "a%5Bb%5D=1&a%5Bc%5D=3", Merging()),
    FormVector("a value through an array's super encoder replaces the array", "list=s", ListSuper(value: "s")),
    FormVector(
      "a list through an array's super encoder replaces elements one by one", "list%5B%5D=2&list%5B%5D=3",
      ListSuper(value: ["3"])),
  ]

  @Test("the form encoder's superEncoder produces the same output as Alamofire's", arguments: vectors)
  func vector(_ vector: FormVector) throws {
    #expect(try vector.encode() == vector.expected)
  }
}

private class Ancestor: Encodable {
  enum CodingKeys: CodingKey { case one, four, five }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(1, forKey: .one)
    try container.encode([1, 2, 3], forKey: .four)
    try container.encode(["a": "a", "b": "b"], forKey: .five)
  }
}

/// A class whose `encode(to:)` uses each kind of super encoder. The expected form is Alamofire's output for this class.
private final class Heir: Ancestor {
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    var beside = container.superEncoder().container(keyedBy: CodingKeys.self)
    try beside.encode("one", forKey: .four)
    var below = container.superEncoder(forKey: .four).container(keyedBy: CodingKeys.self)
    try below.encode(2, forKey: .five)
    var list = container.nestedUnkeyedContainer(forKey: .four)
    var inList = list.superEncoder().container(keyedBy: CodingKeys.self)
    try inList.encode("one", forKey: .four)
  }
}

private struct HeirBox: Encodable, Sendable {
  func encode(to encoder: any Encoder) throws { try Heir().encode(to: encoder) }
}

/// A value that encodes two objects under the same key.
private struct Merging: Encodable {
  enum Keys: String, CodingKey { case a }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(["b": 1, "c": 2], forKey: .a)
    var other = container.superEncoder().container(keyedBy: Keys.self)
    try other.encode(["c": 3], forKey: .a)
  }
}

/// A value that encodes the array `[1, 2]`, and then `value` through the array's super encoder.
private struct ListSuper<Value: Encodable & Sendable>: Encodable, Sendable {
  enum Keys: String, CodingKey { case list }

  let value: Value

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    var list = container.nestedUnkeyedContainer(forKey: .list)
    try list.encode(1)
    try list.encode(2)
    try value.encode(to: list.superEncoder())
    #expect(list.count == 3)
  }
}
