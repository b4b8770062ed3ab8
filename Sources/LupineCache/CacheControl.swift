// CacheControl: the directives of Cache-Control in requests and responses (RFC 9111 §5.2, RFC 5861, RFC 8246).

package import LupineWire

/// The directives of all Cache-Control field lines of a message. Unknown directives are ignored (RFC 9111 §5.2.3).
///
/// A directive that restricts the cache takes effect even if its argument is invalid. A directive that permits something takes
/// effect only with a valid argument. If a directive whose argument is a number is repeated, the first one applies (RFC 9111
/// §4.2.1).
package struct CacheControl: Sendable, Hashable {
  /// The number of seconds (delta-seconds) that is the argument of a Cache-Control directive such as `max-age=60`.
  package enum Seconds: Sendable, Hashable {
    case absent
    /// A valid number of seconds in 0...`CacheLimits.deltaSecondsMax`.
    case valid(Int64)
    /// The directive is present, but its argument is missing or isn't a number.
    case invalid
  }

  /// The value of the request directive max-stale (RFC 9111 §5.2.1.2).
  package enum MaxStale: Sendable, Hashable {
    case absent, invalid
    /// `max-stale` without an argument: the client accepts a stale response of any age.
    case unlimited
    case seconds(Int64)
  }

  /// The form of the response directive no-cache (RFC 9111 §5.2.2.4).
  package enum NoCache: Sendable, Hashable {
    case absent
    /// The qualified form, `no-cache="…"`: only the fields with these names must be validated before use. The names are in
    /// lowercase.
    case fields([String])
    case everything
  }

  /// The Cache-Control directives that take effect without an argument.
  package struct Flags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let noStore = Flags(rawValue: 1 << 0)
    package static let mustRevalidate = Flags(rawValue: 1 << 1)
    package static let mustUnderstand = Flags(rawValue: 1 << 2)
    package static let isPublic = Flags(rawValue: 1 << 3)
    package static let isPrivate = Flags(rawValue: 1 << 4)
    package static let immutable = Flags(rawValue: 1 << 5)
    package static let onlyIfCached = Flags(rawValue: 1 << 6)
  }

  package private(set) var flags: Flags = []
  package private(set) var noCache = NoCache.absent
  package private(set) var maxAge = Seconds.absent
  package private(set) var minFresh = Seconds.absent
  package private(set) var maxStale = MaxStale.absent
  package private(set) var staleWhileRevalidate = Seconds.absent
  package private(set) var staleIfError = Seconds.absent

  /// Parses the Cache-Control directives in the header fields of a message.
  package init(_ fields: Fields) {
    // Each field line is parsed separately, so that a malformed line doesn't hide the directives in the other lines.
    for position in fields.indices where fields.isNamed("cache-control", at: position) {
      FieldList.forEachMember(of: fields.valueSlice(at: position)) { add($0) }
    }
  }

  /// Parses the Cache-Control directives of a request. If the request has no Cache-Control, `Pragma: no-cache` means `no-cache`
  /// (RFC 7234 §5.4). RFC 9111 §5.4 deprecates Pragma, but doesn't forbid this.
  package init(request fields: Fields) {
    // Most requests have neither field.
    guard fields.haveCacheDirectives else {
      self.init(Fields())
      return
    }
    self.init(fields)
    guard !fields.contains("Cache-Control") else { return }
    for position in fields.indices where fields.isNamed("pragma", at: position) {
      FieldList.forEachMember(of: fields.valueSlice(at: position)) { member in
        if FieldList.matches(member, "no-cache") { noCache = .everything }
      }
    }
  }

  // cache-directive = token [ "=" ( token / quoted-string ) ]
  private mutating func add(_ member: ArraySlice<UInt8>) {
    let name = FieldList.token(startOf: member)
    let argument = Argument(member[name.endIndex...])
    switch DirectiveName(bytes: name) {
    case "max-age": Self.set(&maxAge, argument)
    case "min-fresh": Self.set(&minFresh, argument)
    case "stale-while-revalidate": Self.set(&staleWhileRevalidate, argument)
    case "stale-if-error": Self.set(&staleIfError, argument)
    case "max-stale": if maxStale == .absent { maxStale = argument.maxStale }
    case "no-cache": addNoCache(argument)
    case "no-store": flags.insert(.noStore)
    case "must-revalidate": flags.insert(.mustRevalidate)
    case "must-understand" where argument == .none: flags.insert(.mustUnderstand)
    case "only-if-cached": flags.insert(.onlyIfCached)
    case "public" where argument == .none: flags.insert(.isPublic)
    // A private cache may store a response with `private`. Field names in it concern only shared caches (RFC 9111 §5.2.2.7).
    case "private": flags.insert(.isPrivate)
    case "immutable" where argument == .none: flags.insert(.immutable)
    default: break
    }
  }

  private static func set(_ directive: inout Seconds, _ argument: Argument) {
    if directive == .absent { directive = argument.seconds.map(Seconds.valid) ?? .invalid }
  }

  private mutating func addNoCache(_ argument: Argument) {
    guard let names = argument.fieldNames, noCache != .everything else { return noCache = .everything }
    if case .fields(let earlier) = noCache {
      noCache = .fields(earlier + names)
    } else {
      noCache = .fields(names)
    }
  }
}

/// The name of a Cache-Control directive. Compared without regard to case.
private struct DirectiveName {
  let bytes: ArraySlice<UInt8>

  static func ~= (pattern: StaticString, name: DirectiveName) -> Bool { FieldList.matches(name.bytes, pattern) }
}

/// The argument of a Cache-Control directive, such as `60` in `max-age=60`.
private enum Argument: Equatable {
  case none, malformed
  /// The directive's argument: a token, or a quoted string without its quotes.
  case text(ArraySlice<UInt8>)

  init(_ rest: ArraySlice<UInt8>) {
    if rest.isEmpty {
      self = .none
    } else if rest.first != UInt8(ascii: "=") {
      // The argument is malformed, for example because white space surrounds "=".
      self = .malformed
    } else if FieldList.isToken(rest.dropFirst()) {
      self = .text(rest.dropFirst())
    } else {
      self = FieldList.unquoted(rest.dropFirst()).map { Argument.text($0[...]) } ?? .malformed
    }
  }

  var seconds: Int64? {
    if case .text(let text) = self { DeltaSeconds.value(of: text) } else { nil }
  }

  var maxStale: CacheControl.MaxStale {
    if self == .none { return .unlimited }
    return seconds.map(CacheControl.MaxStale.seconds) ?? .invalid
  }

  /// The comma-separated field names in the argument of the qualified form of no-cache, in lowercase. Nil if there are none, or if
  /// one isn't a token.
  var fieldNames: [String]? {
    guard case .text(let text) = self else { return nil }
    let members = FieldList.members(of: text)
    return members.isEmpty || !members.allSatisfy(FieldList.isToken) ? nil : members.map(FieldList.lowercased)
  }
}

/// Parses the number of seconds in a directive's argument or an Age field.
enum DeltaSeconds {
  /// Returns the number of seconds, or nil if the text isn't a number. Numbers above `CacheLimits.deltaSecondsMax` are reduced to
  /// this limit (RFC 9111 §1.2.2).
  static func value(of text: ArraySlice<UInt8>) -> Int64? {
    // delta-seconds = 1*DIGIT
    Digits.value(of: text, atMost: CacheLimits.deltaSecondsMax)
  }
}
