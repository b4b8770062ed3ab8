// TrailerRule: the request fields that may be sent after the body, in the trailer section (RFC 9110 §6.5.1).

/// Decides which fields a request may send in its trailer section. A recipient may drop trailer fields, or merge them with the head's
/// fields after it has acted on the head, so no field on which it acts earlier may be among them.
package enum TrailerRule {
  /// The fields that are never sent in a trailer section, in lowercase: those for framing, routing, connections, request modifiers,
  /// credentials, and the interpretation of the content (RFC 9110 §6.5.1, RFC 9112 §7.1.2).
  private static let refused: Set<String> = [
    // Framing and connections
    "connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    // Routing
    "host", "max-forwards", "via",
    // Request modifiers
    "cache-control", "expect", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
    "pragma",
    "range",
    // Credentials
    "authorization", "cookie", "cookie2", "proxy-authenticate", "proxy-authorization", "set-cookie", "www-authenticate",
    // Interpretation of the content
    "content-disposition", "content-encoding", "content-language", "content-location", "content-range", "content-type",
  ]

  /// Returns whether a request may send a field with this name in its trailer section. Ignores case.
  package static func permits(_ name: String) -> Bool {
    FieldList.isToken(ArraySlice(name.utf8)) && !refused.contains(name.lowercased())
  }

  /// Returns the lines of a trailer section, as they are sent.
  ///
  /// - Throws: `WireError.trailerNotPermitted` or `.trailerNotAnnounced` if a field isn't permitted or its name isn't in `announced`;
  ///   `.invalidRequestFieldValue` if a value contains a control character.
  package static func lines(of fields: Fields, announced: [String]) throws(WireError) -> [UInt8] {
    for field in fields {
      guard permits(field.name) else { throw .trailerNotPermitted(field.name) }
      let name = field.name.lowercased()
      guard announced.contains(where: { $0.lowercased() == name }) else { throw .trailerNotAnnounced(field.name) }
    }
    var lines: [UInt8] = []
    try HeadSerializer.appendLines(of: fields, to: &lines)
    return lines
  }
}
