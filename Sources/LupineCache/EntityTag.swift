// EntityTag: entity tags and the list in If-None-Match (RFC 9110 §8.8.3, §13.1.2).

package import LupineWire

/// An entity tag, which is the validator in an ETag field.
package struct EntityTag: Sendable, Hashable {
  package enum Strength: Sendable, Hashable { case weak, strong }

  package let strength: Strength
  /// The opaque tag with its quotation marks, such as `"33a64df5"`. Its bytes can be in any charset.
  let opaque: [UInt8]

  /// Parses the value of an ETag field. Returns nil if the value is malformed or longer than `CacheLimits.entityTagBytesMax`.
  package init?(_ value: [UInt8]) {
    var reader = EntityTagReader(value[...])
    guard value.count <= CacheLimits.entityTagBytesMax, let tag = reader.next(), reader.rest.isEmpty else { return nil }
    self = tag
  }

  init(strength: Strength, opaque: [UInt8]) {
    self.strength = strength
    self.opaque = opaque
  }

  /// Creates the entity tag of a response from the first ETag in its fields. Returns nil if the field is missing or malformed.
  package init?(_ fields: Fields) {
    guard let value = fields.valueBytes("ETag") else { return nil }
    self.init(value)
  }

  /// The bytes of the entity tag as they are sent, including the prefix `W/` of a weak tag.
  var bytes: [UInt8] { (strength == .weak ? Array("W/".utf8) : []) + opaque }

  /// Returns whether two entity tags match in a weak comparison: their opaque tags are equal, whether or not the tags are weak (RFC
  /// 9110 §8.8.3.2).
  package func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }

  /// Returns whether two entity tags match in a strong comparison: their opaque tags are equal, and both are strong (RFC 9110
  /// §8.8.3.2).
  package func matchesStrongly(_ other: EntityTag) -> Bool {
    strength == .strong && other.strength == .strong && opaque == other.opaque
  }
}

/// The list of entity tags in a request's If-None-Match.
package enum EntityTagList: Sendable, Hashable {
  /// `If-None-Match: *`, which matches any representation.
  case any
  case tags([EntityTag])

  /// Parses a request's If-None-Match. Returns nil if the field is missing. If a member of the list is malformed, the rest of its
  /// field line is ignored.
  package init?(ifNoneMatch fields: Fields) {
    guard fields.contains("If-None-Match") else { return nil }
    var tags: [EntityTag] = []
    for position in fields.indices where fields.isNamed("if-none-match", at: position) {
      let value = fields.valueBytes(at: position)
      if FieldList.trimmed(value[...]).elementsEqual("*".utf8) {
        self = .any
        return
      }
      var reader = EntityTagReader(value[...])
      repeat {
        reader.skipSeparators()
        guard let tag = reader.next() else { break }
        tags.append(tag)
      } while reader.isAtSeparator
    }
    self = .tags(tags)
  }

  /// Returns whether the list contains the entity tag. Uses the weak comparison, as If-None-Match requires.
  package func contains(_ tag: EntityTag?) -> Bool {
    switch self {
    case .any: true
    case .tags(let tags): tags.contains { tag?.matchesWeakly($0) ?? false }
    }
  }
}

/// Parses a list of entity tags, one tag per call of `next`.
private struct EntityTagReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ text: ArraySlice<UInt8>) { rest = text }

  var isAtSeparator: Bool { rest.first.map(Self.isSeparator) ?? false }

  private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ",") || FieldList.isBlank(byte) }

  mutating func skipSeparators() { rest = rest.drop(while: Self.isSeparator) }

  // entity-tag = [ weak ] opaque-tag; weak = %s"W/"; opaque-tag = DQUOTE *etagc DQUOTE
  // etagc = %x21 / %x23-7E / obs-text
  mutating func next() -> EntityTag? {
    var text = rest
    let isWeak = text.starts(with: "W/".utf8)
    if isWeak { text = text.dropFirst(2) }
    guard text.first == UInt8(ascii: "\"") else { return nil }
    let content = text.dropFirst().prefix { $0 != UInt8(ascii: "\"") && $0 > 0x20 && $0 != 0x7F }
    guard content.endIndex < text.endIndex, text[content.endIndex] == UInt8(ascii: "\"") else { return nil }
    rest = text[(content.endIndex + 1)...]
    return EntityTag(strength: isWeak ? .weak : .strong, opaque: Array(text[text.startIndex...content.endIndex]))
  }
}
