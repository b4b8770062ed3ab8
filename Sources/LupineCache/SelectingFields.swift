// SelectingFields: the request fields that a response's Vary names, normalized for comparison (RFC 9111 §4.1).

internal import LupineWire

/// The request fields that a stored response's Vary names, with their values in the request for which the response was stored. The
/// response may be served for another request only if the values are equal after normalization.
package struct SelectingFields: Sendable, Hashable {
  package struct Selector: Sendable, Hashable {
    /// The name in lowercase of a field that the response's Vary names.
    package let name: String
    /// The normalized value of the field in the request, or nil if the request lacks the field.
    package let value: [UInt8]?

    package init(name: String, value: [UInt8]?) {
      self.name = name
      self.value = value
    }
  }

  /// The reason why a response can't be stored because of its Vary.
  package enum Failure: Error, Sendable, Hashable {
    /// Vary contains "*" or a member that isn't a field name, so no later request can select the response.
    case unselectable
    /// Vary has more than `CacheLimits.varyNamesMax` names, or the fields that it names have more than
    /// `CacheLimits.selectingBytesMax` bytes in the request.
    case tooLarge
  }

  /// The fields that select the stored response, with their values, ordered by name. No name occurs twice.
  package let selectors: [Selector]

  package init(_ selectors: [Selector]) { self.selectors = selectors }

  /// Reads the values that `request` has in the fields that the response's Vary names, except for those that it leaves open.
  /// `response` contains the response's fields.
  init(vary response: Fields, of request: CacheRequest) throws(Failure) {
    var names: Set<String> = []
    for position in response.indices where response.isNamed("vary", at: position) {
      for member in FieldList.members(of: response.valueBytes(at: position)[...]) {
        // Vary = #( "*" / field-name ). "*" is also a token.
        guard FieldList.isToken(member), !member.elementsEqual("*".utf8) else { throw .unselectable }
        names.insert(FieldList.lowercased(member))
      }
    }
    guard names.count <= CacheLimits.varyNamesMax else { throw .tooLarge }
    let selectors = names.sorted().filter { !request.leavesOpen($0) }
      .map { Selector(name: $0, value: Self.normalized($0, in: request.fields)) }
    guard selectors.reduce(0, { $0 + ($1.value?.count ?? 0) }) <= CacheLimits.selectingBytesMax else {
      throw .tooLarge
    }
    self.selectors = selectors
  }

  /// Returns whether `request` has the same values in all of these fields, except for those that it leaves open. A missing field
  /// matches only a missing field.
  func match(_ request: CacheRequest) -> Bool {
    selectors.allSatisfy { request.leavesOpen($0.name) || $0.value == Self.normalized($0.name, in: request.fields) }
  }

  /// Returns the value of the field `name` of a request in a normalized form, or nil if the field is missing. Values with the same
  /// meaning have the same normalized form.
  ///
  /// All lines of the field are combined. White space around commas is removed only if the field is known to be a list, because
  /// white space may be significant in other fields.
  static func normalized(_ name: String, in request: Fields) -> [UInt8]? {
    let values = request.positions(of: name).map(request.valueBytes(at:))
    guard !values.isEmpty else { return nil }
    switch name {
    case "accept-charset", "accept-language":
      return Preferences(values.flatMap { FieldList.members(of: $0[...]) }).normalized
    case "accept-encoding":
      // The recipient decodes any coding that it accepts, so that the order of equally weighted codings doesn't matter.
      return Preferences(values.flatMap { FieldList.members(of: $0[...]) }).ordered
    case "a-im", "accept", "access-control-request-headers", "cache-control", "expect", "forwarded", "prefer",
      "sec-ch-ua",
      "sec-ch-ua-full-version-list", "te", "via", "want-content-digest", "want-repr-digest", "x-forwarded-for",
      "x-forwarded-host", "x-forwarded-proto":
      return Array(values.flatMap { FieldList.members(of: $0[...]) }.joined(separator: ",".utf8))
    default:
      return Array(values.joined(separator: ", ".utf8))
    }
  }
}

/// The members of a weighted list field, such as Accept-Encoding: case-insensitive names with weights (RFC 9110 §12.4.2).
private struct Preferences {
  private var members: [(text: [UInt8], weight: Int)] = []

  init(_ list: [ArraySlice<UInt8>]) {
    for member in list {
      // Neither names nor weights contain quoted strings, so each ";" is a separator.
      let parts = FieldList.lowercased(member).utf8.split(
        separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      let text = Array(parts.map { FieldList.trimmed(Array($0)[...]) }.joined(separator: ";".utf8))
      members.append(Self.canonical(text))
    }
  }

  /// The members of the list in lowercase, in descending order of weight. Members with equal weights keep their order, which many
  /// servers treat as a preference: a page in English must not answer `de, en` because `en, de` has received it.
  var normalized: [UInt8] {
    let sorted = members.enumerated().sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }
    return Array(sorted.map(\.element.text).joined(separator: ",".utf8))
  }

  /// The members of the list in lowercase, in descending order of weight. Members with equal weights are in alphabetic order.
  var ordered: [UInt8] {
    let sorted = members.sorted { left, right in
      left.weight == right.weight ? left.text.lexicographicallyPrecedes(right.text) : left.weight > right.weight
    }
    return Array(sorted.map(\.text).joined(separator: ",".utf8))
  }

  /// Returns the member with its weight in the shortest form, so that `de;q=0.50` equals `de;q=0.5`, and `en;q=1` equals `en`.
  private static func canonical(_ member: [UInt8]) -> (text: [UInt8], weight: Int) {
    let weight = weight(member)
    guard let start = member.firstIndex(of: UInt8(ascii: ";")), isWeight(member[start...]) else {
      return (member, weight)
    }
    guard weight < 1000 else { return (Array(member[..<start]), weight) }
    // "0.500" becomes "0.5", and "0.000" becomes "0".
    let digits = "0." + String(String(1000 + weight).dropFirst())
    let shortest = digits.utf8.reversed().drop { $0 == 0x30 }.drop { $0 == UInt8(ascii: ".") }
    return (Array(member[..<start]) + ";q=".utf8 + shortest.reversed(), weight)
  }

  /// Returns whether the parameters of a member consist of a valid weight alone.
  private static func isWeight(_ parameters: ArraySlice<UInt8>) -> Bool {
    let value = parameters.dropFirst(3)
    guard parameters.starts(with: ";q=".utf8), let first = value.first, first == 0x30 || first == 0x31 else {
      return false
    }
    let fraction = value.dropFirst()
    guard let point = fraction.first else { return true }
    let digits = fraction.dropFirst()
    return point == UInt8(ascii: ".") && digits.count <= 3
      && digits.allSatisfy { first == 0x30 ? $0 &- 0x30 < 10 : $0 == 0x30 }
  }

  // weight = OWS ";" OWS "q=" qvalue; qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )
  private static func weight(_ member: [UInt8]) -> Int {
    guard let start = member.firstIndex(of: UInt8(ascii: ";")), member[start...].starts(with: ";q=".utf8) else {
      return 1000
    }
    let digits = member[(start + 3)...].filter { $0 != UInt8(ascii: ".") }.prefix(4)
    let padded = digits + Array(repeating: UInt8(ascii: "0"), count: 4 - digits.count)
    return padded.allSatisfy { $0 &- 0x30 < 10 } ? padded.reduce(0) { $0 * 10 + Int($1 &- 0x30) } : 1000
  }
}
