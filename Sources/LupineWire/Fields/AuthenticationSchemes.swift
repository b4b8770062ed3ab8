// AuthenticationSchemes: the names of the authentication schemes that a server or
// proxy offers (RFC 9110 §11.1), for error messages.

/// Lists the names of authentication schemes for an error message. The list is limited, so that it fits in one line of text.
package enum AuthenticationSchemes {
  /// The maximum number of scheme names in the list: 8.
  static let countMax = 8
  /// The maximum length of a scheme name in bytes: 32. Longer names are omitted. SCRAM-SHA-256, the longest name that IANA has
  /// registered, has 13 bytes.
  static let nameBytesMax = 32

  /// Returns the names of the challenges' schemes in the order of the challenges, without duplicates.
  package static func names(_ challenges: [Challenge]) -> [String] {
    var names: [String] = []
    for challenge in challenges where challenge.scheme.utf8.count <= nameBytesMax {
      if names.count < countMax, !names.contains(challenge.scheme) { names.append(challenge.scheme) }
    }
    return names
  }
}
