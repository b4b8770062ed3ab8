// Parameters encoded as JSON, and parsed by a strict implementation of RFC 8259.

import Foundation
@testable import Lupine
@testable import LupineURLSession

extension FuzzTarget {
  /// Fuzzes the encoding of parameters as JSON. The input contains choices, followed by a tree of values.
  static let json = FuzzTarget(
    name: "json", summary: "a strict parser reads parameters in JSON as the encoded tree"
  ) { bytes in
    var input = Input(bytes)
    let choices = input.byte()
    // JSONEncoder traps if a nested container has two values for one key.
    guard case .pairs(let pairs) = EncodableTree.pairs(EncodableTree.pairs(&input, kinds: 5)).lastOfEachKey,
      let url = URL(string: "http://a.test/")
    else { return }
    let tree = EncodableTree.pairs(pairs)
    let encoders = [JSONParameterEncoder.default, .prettyPrinted, .sortedKeys]
    let encoder = encoders[Int(choices) % encoders.count]
    check(try? encoder.encode(tree, into: URLRequest(url: url)), pairs, tree.isFinite)

    let options: JSONSerialization.WritingOptions = choices & 0x10 != 0 ? .prettyPrinted : []
    let parameters = EncodableTree.dictionary(pairs)
    check(try? JSONEncoding(options: options).encode(URLRequest(url: url), with: parameters), pairs, tree.isFinite)
  }

  private static func check(_ request: Lupine.URLRequest?, _ pairs: [EncodableTree.Pair], _ isWritable: Bool) {
    guard let request else { return hold(!isWritable, "\(pairs) can't be encoded") }
    hold(isWritable, "JSON has no form for \(pairs)")
    hold(request.value(forHTTPHeaderField: "Content-Type") == "application/json", "\(request.headers)")
    let body = request.httpBody ?? Data()
    var reader = JSONReader(rest: [UInt8](body)[...])
    guard let value = reader.document() else { return hold(false, "no JSON: \(shown(body))") }
    let expected = JSONTree(.pairs(pairs))
    hold(value == expected, "\(value), not \(expected): \(shown(body))")
  }
}

/// A value that JSON can represent.
private indirect enum JSONTree: Equatable {
  case null
  case truth(Bool)
  case number(Double)
  case whole(Int)
  case text([UInt8])
  case list([JSONTree])
  case pairs([[UInt8]: JSONTree])

  /// Creates a number. A number without a fraction is stored as an integer, because it may be written as one.
  init(_ number: Double) {
    self = Int(exactly: number).map { .whole($0) } ?? .number(number)
  }

  init(_ tree: EncodableTree) {
    switch tree {
    case .text(let text): self = .text(Array(text.utf8))
    case .whole(let number): self = .whole(number)
    case .fraction(let number): self = JSONTree(number)
    case .truth(let truth): self = .truth(truth)
    case .list(let elements), .nestedList(let elements): self = .list(elements.map(JSONTree.init))
    case .pairs(let pairs):
      // Swift compares keys by canonical equivalence. If two keys are equal, the spelling of the first one remains.
      let last = Dictionary(pairs.map { ($0.key, $0.value) }) { $1 }
      self = .pairs(Dictionary(last.map { (Array($0.key.utf8), JSONTree($0.value)) }) { $1 })
    case .null, .date, .data: self = .null
    }
  }
}

extension EncodableTree {
  /// Whether JSON can represent all numbers in the tree: none is infinite or NaN.
  fileprivate var isFinite: Bool {
    switch self {
    case .fraction(let number): number.isFinite
    case .list(let elements), .nestedList(let elements): elements.allSatisfy(\.isFinite)
    case .pairs(let pairs): pairs.allSatisfy(\.value.isFinite)
    default: true
    }
  }

  /// The tree in which, of several values with the same key, only the last one remains.
  fileprivate var lastOfEachKey: EncodableTree {
    switch self {
    case .list(let elements), .nestedList(let elements): .list(elements.map(\.lastOfEachKey))
    case .pairs(let pairs):
      .pairs(
        Dictionary(pairs.map { ($0.key, $0.value.lastOfEachKey) }) { $1 }.map { Pair(key: $0.key, value: $0.value) })
    default: self
    }
  }

  fileprivate static func dictionary(_ pairs: [Pair]) -> [String: any Sendable] {
    Dictionary(pairs.map { ($0.key, $0.value.value) }) { $1 }
  }

  private var value: any Sendable {
    switch self {
    case .text(let text): text
    case .whole(let number): number
    case .fraction(let number): number
    case .truth(let truth): truth
    case .list(let elements), .nestedList(let elements): elements.map(\.value)
    case .pairs(let pairs): Self.dictionary(pairs)
    case .null, .date, .data: NSNull()
    }
  }
}

/// A strict parser of JSON (RFC 8259), for comparison.
private struct JSONReader {
  var rest: ArraySlice<UInt8>

  mutating func document() -> JSONTree? {
    guard let value = value(), skipBlanks() == nil else { return nil }
    return value
  }

  /// Skips white space in the JSON text, and returns the next byte without consuming it, or nil at the end.
  @discardableResult
  private mutating func skipBlanks() -> UInt8? {
    rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return rest.first
  }

  private mutating func skip(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  private mutating func value() -> JSONTree? {
    switch skipBlanks() {
    case UInt8(ascii: "{"): return pairs()
    case UInt8(ascii: "["): return list()
    case UInt8(ascii: "\""): return text().map(JSONTree.text)
    case UInt8(ascii: "n"): return skip("null") ? .null : nil
    case UInt8(ascii: "t"): return skip("true") ? .truth(true) : nil
    case UInt8(ascii: "f"): return skip("false") ? .truth(false) : nil
    default: return number()
    }
  }

  private mutating func list() -> JSONTree? {
    rest.removeFirst()
    var elements: [JSONTree] = []
    if skipBlanks() == UInt8(ascii: "]") {
      rest.removeFirst()
      return .list([])
    }
    while let element = value() {
      elements.append(element)
      skipBlanks()
      if skip("]") { return .list(elements) }
      guard skip(",") else { return nil }
    }
    return nil
  }

  private mutating func pairs() -> JSONTree? {
    rest.removeFirst()
    var pairs: [[UInt8]: JSONTree] = [:]
    if skipBlanks() == UInt8(ascii: "}") {
      rest.removeFirst()
      return .pairs([:])
    }
    while skipBlanks() == UInt8(ascii: "\""), let key = text() {
      skipBlanks()
      guard pairs[key] == nil, skip(":"), let value = value() else { return nil }
      pairs[key] = value
      skipBlanks()
      if skip("}") { return .pairs(pairs) }
      guard skip(",") else { return nil }
    }
    return nil
  }

  // The grammar of RFC 8259 §6: number = [ minus ] int [ frac ] [ exp ]
  private mutating func number() -> JSONTree? {
    let characters = rest.prefix { $0 &- 0x30 < 10 || "+-.eE".utf8.contains($0) }
    rest = rest.dropFirst(characters.count)
    let text = String(decoding: characters, as: UTF8.self)
    let digits = characters.first == UInt8(ascii: "-") ? characters.dropFirst() : characters
    guard let first = digits.first, first &- 0x30 < 10 else { return nil }
    if first == 0x30, let second = digits.dropFirst().first, second &- 0x30 < 10 { return nil }
    if let whole = Int(text) { return .whole(whole) }
    return Double(text).map { JSONTree($0) }
  }

  private mutating func text() -> [UInt8]? {
    rest.removeFirst()
    var units: [UInt16] = []
    var bytes: [UInt8] = []
    func flush() -> [UInt8] { Array(String(decoding: units, as: UTF16.self).utf8) }
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "u") {
        guard let unit = UInt16(String(decoding: rest.dropFirst().prefix(4), as: UTF8.self), radix: 16) else {
          return nil
        }
        rest = rest.dropFirst(5)
        units.append(unit)
        continue
      }
      bytes += flush()
      units = []
      switch byte {
      case UInt8(ascii: "\""): return bytes
      case UInt8(ascii: "\\"):
        guard let next = rest.popFirst(), let index = Array("\"\\/bfnrt".utf8).firstIndex(of: next) else { return nil }
        bytes.append([0x22, 0x5C, 0x2F, 0x08, 0x0C, 0x0A, 0x0D, 0x09][index])
      case 0..<0x20: return nil
      default: bytes.append(byte)
      }
    }
    return nil
  }
}
