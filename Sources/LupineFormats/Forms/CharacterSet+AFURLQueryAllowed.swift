// `CharacterSet.afURLQueryAllowed`: the characters that a form doesn't escape.

public import Foundation

extension CharacterSet {
  /// The characters that a form doesn't percent-encode: those of a query (RFC 3986 §3.4) without the general delimiters and the
  /// sub-delimiters of §2.2, which could end a key or a value. `?` and `/` aren't encoded either, as §3.4 suggests.
  public static let afURLQueryAllowed = CharacterSet.urlQueryAllowed
    .subtracting(CharacterSet(charactersIn: ":#[]@" + "!$&'()*+,;="))
}
