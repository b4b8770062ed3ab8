// The schemes of authentication that a server or a proxy offers, named in errors and descriptions (RFC 9110 §11.1).

/// The names of offered schemes, few and short enough for a line of text.
package enum AuthenticationSchemes {
  /// How many names are kept: as many as fit into a line of text.
  static let countMax = 8
  /// The longest name that is kept, in bytes; of those that IANA has registered, SCRAM-SHA-256 is the longest with 13.
  static let nameBytesMax = 32

  /// The schemes' names in the order of the challenges, each once.
  package static func names(_ challenges: [Challenge]) -> [String] {
    var names: [String] = []
    for challenge in challenges where challenge.scheme.utf8.count <= nameBytesMax {
      if names.count < countMax, !names.contains(challenge.scheme) { names.append(challenge.scheme) }
    }
    return names
  }
}
