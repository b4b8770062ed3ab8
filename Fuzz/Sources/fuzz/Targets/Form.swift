// URLEncodedFormEncoder: a form must decode to the pairs that an independent implementation derives from the value.

import Foundation
@testable import Lupine
@testable import LupineURLSession

extension FuzzTarget {
  /// Fuzzes `URLEncodedFormEncoder`. The input consists of the encoder's options and a tree of values.
  static let form = FuzzTarget(
    name: "form", summary: "a form decodes to the pairs of the tree, with all options and in order"
  ) { bytes in
    var input = Input(bytes)
    let options = FormOptions(&input)
    // If a key is encoded twice, both values are merged. URLEncodedFormSuperEncoderTests check that case.
    let pairs = EncodableTree.unique(EncodableTree.pairs(&input))
    let expected = options.flatten(pairs)
    guard let text: String = try? options.encoder.encode(EncodableTree.pairs(pairs)) else {
      return hold(false, "\(pairs) can't be encoded")
    }
    guard let decoded = options.decode(text) else { return hold(false, "\(text) can't be decoded") }
    if options.isSorted {
      hold(decoded.sorted() == expected.sorted(), "\(decoded), not \(expected): \(text)")
    } else {
      hold(decoded == expected, "\(decoded), not \(expected): \(text)")
    }
    hold(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "not ASCII: \(text)")
    checkRequest(options, pairs, text)
    checkOtherRoots(options, &input)
  }

  /// Checks requests that contain the form, in a URL that already has a query, and as the body.
  private static func checkRequest(_ options: FormOptions, _ pairs: [EncodableTree.Pair], _ text: String) {
    guard let url = URL(string: "http://a.test/?x=1#part") else { return }
    let query = URLEncodedFormParameterEncoder(encoder: options.encoder, destination: .queryString)
    let request = try? query.encode(EncodableTree.pairs(pairs), into: URLRequest(url: url))
    // An option may leave characters unescaped that a URL can't contain. Then the encoder throws.
    if let request {
      let expected = "http://a.test/?x=1\(text.isEmpty ? "" : "&")\(text)#part"
      hold(request.url?.absoluteString == expected, "\(String(describing: request.url)), not \(expected)")
    } else {
      hold(options.hasOwnCharacters, "\(text) can't be part of a query")
    }
    let body = URLEncodedFormParameterEncoder(encoder: options.encoder, destination: .httpBody)
    let post = try? body.encode(EncodableTree.pairs(pairs), into: URLRequest(url: url))
    hold(post?.httpBody == Data(text.utf8), "the body differs from the query")
  }

  /// Checks that the encoder refuses a value without keys.
  private static func checkOtherRoots(_ options: FormOptions, _ input: inout Input) {
    let root = EncodableTree(&input)
    let text: String? = try? options.encoder.encode(root)
    switch root {
    case .pairs: hold(text != nil, "\(root) can't be encoded")
    case .null: hold(text == (options.nilText == nil ? "" : nil), "\(root) is \(String(describing: text))")
    default: hold(text == nil, "\(root) is \(String(describing: text))")
    }
  }
}

/// A key and its value in a form, as a server parses them.
private struct FormPair: Equatable, Comparable {
  let key: [UInt8]
  let value: [UInt8]

  static func < (left: FormPair, right: FormPair) -> Bool {
    left.key == right.key
      ? left.value.lexicographicallyPrecedes(right.value) : left.key.lexicographicallyPrecedes(right.key)
  }
}

extension FormPair: CustomStringConvertible {
  var description: String { "\(shown(key))=\(shown(value))" }
}

/// The options of a form encoder, and their expected effects.
private struct FormOptions {
  let encoder: URLEncodedFormEncoder
  let isSorted: Bool
  let hasOwnCharacters: Bool
  let nilText: String?
  private let arrayKey: (String, Int) -> String
  private let wholeKey: (String) -> String
  private let suffix: (String) -> String
  private let truths: [String]
  private let dataIsText: Bool
  private let dateText: (Date) -> String
  private let spaceIsPlus: Bool

  init(_ input: inout Input) {
    isSorted = input.flag()
    spaceIsPlus = input.flag()
    hasOwnCharacters = input.number(below: 4) == 0
    dataIsText = input.flag()
    let arrays: [(URLEncodedFormEncoder.ArrayEncoding, (String, Int) -> String)] = [
      (.brackets, { key, _ in key + "[]" }), (.noBrackets, { key, _ in key }),
      (.indexInBrackets, { "\($0)[\($1)]" }), (.custom { "\($0)-\($1)&=" }, { "\($0)-\($1)&=" }),
    ]
    let keys: [(URLEncodedFormEncoder.KeyEncoding, (String) -> String)] = [
      (.useDefaultKeys, { $0 }), (.uppercased, { $0.uppercased() }), (.lowercased, { $0.lowercased() }),
      (.custom { "<\($0)" }, { "<\($0)" }),
    ]
    let nils: [(URLEncodedFormEncoder.NilEncoding, String?)] = [
      (.dropKey, nil), (.dropValue, ""), (.null, "null"), (.init { "+ nil" }, "+ nil"),
    ]
    let dates: [(URLEncodedFormEncoder.DateEncoding, (Date) -> String)] = [
      (.deferredToDate, { "\($0.timeIntervalSinceReferenceDate)" }),
      (.secondsSince1970, { "\($0.timeIntervalSince1970)" }),
      (.millisecondsSince1970, { "\($0.timeIntervalSince1970 * 1000)" }),
      (.custom { _ in "a date" }, { _ in "a date" }),
    ]
    let (array, key, none, date) = (input.pick(arrays), input.pick(keys), input.pick(nils), input.pick(dates))
    let (isNumeric, hasDots) = (input.flag(), input.flag())
    (arrayKey, wholeKey, nilText, dateText) = (array.1, key.1, none.1, date.1)
    truths = isNumeric ? ["0", "1"] : ["false", "true"]
    suffix = hasDots ? { ".\($0)" } : { "[\($0)]" }
    // The separators of pairs, keys and values must stay escaped. Otherwise the form would be ambiguous.
    let own = CharacterSet(charactersIn: "abc[]/?#\"<>^|é" + "XYZ019~!*")
    encoder = URLEncodedFormEncoder(
      alphabetizeKeyValuePairs: isSorted, arrayEncoding: array.0, boolEncoding: isNumeric ? .numeric : .literal,
      dataEncoding: dataIsText ? .base64 : .deferredToData, dateEncoding: date.0, keyEncoding: key.0,
      keyPathEncoding: hasDots ? .dots : .brackets, nilEncoding: none.0,
      spaceEncoding: spaceIsPlus ? .plusReplaced : .percentEscaped,
      allowedCharacters: hasOwnCharacters ? own : .afURLQueryAllowed)
  }

  // MARK: Expected pairs

  func flatten(_ pairs: [EncodableTree.Pair], under parent: String? = nil) -> [FormPair] {
    pairs.flatMap { pair in flatten(pair.value, key: parent.map { $0 + suffix(pair.key) } ?? pair.key) }
  }

  private func flatten(_ tree: EncodableTree, key: String) -> [FormPair] {
    func pair(_ text: String) -> [FormPair] { [FormPair(key: Array(wholeKey(key).utf8), value: Array(text.utf8))] }
    switch tree {
    case .null: return nilText.map(pair) ?? []
    case .text(let text): return pair(text)
    case .whole(let number): return pair("\(number)")
    case .fraction(let number): return pair(number.description)
    case .truth(let truth): return pair(truths[truth ? 1 : 0])
    case .date(let date): return pair(dateText(date))
    case .data(let data):
      return dataIsText ? pair(data.base64EncodedString()) : flatten(.list(data.map { .whole(Int($0)) }), key: key)
    case .list(let elements), .nestedList(let elements):
      var (pairs, index) = ([FormPair](), 0)
      for element in elements {
        let own = flatten(element, key: arrayKey(key, index))
        pairs += own
        if !own.isEmpty { index += 1 }
      }
      return pairs
    case .pairs(let pairs): return flatten(pairs, under: key)
    }
  }

  // MARK: Parsing

  /// Parses a form according to the URL standard, and returns its pairs. Returns nil if the form is invalid.
  func decode(_ text: String) -> [FormPair]? {
    if text.isEmpty { return [] }
    var pairs: [FormPair] = []
    for part in text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")), let key = unescape(part[..<equals]),
        let value = unescape(part[equals...].dropFirst())
      else { return nil }
      pairs.append(FormPair(key: key, value: value))
    }
    return pairs
  }

  private func unescape(_ text: Substring.UTF8View) -> [UInt8]? {
    var (bytes, rest): ([UInt8], Substring.UTF8View) = ([], text)
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        guard let digits = String(rest.prefix(2)), rest.count >= 2, let value = UInt8(digits, radix: 16) else {
          return nil
        }
        rest = rest.dropFirst(2)
        bytes.append(value)
      } else {
        bytes.append(spaceIsPlus && byte == UInt8(ascii: "+") ? 0x20 : byte)
      }
    }
    return bytes
  }
}
