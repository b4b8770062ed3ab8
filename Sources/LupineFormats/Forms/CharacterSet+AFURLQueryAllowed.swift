// `CharacterSet.afURLQueryAllowed`: the characters that a form doesn't escape.

public import Foundation

extension CharacterSet {
  /// The characters that stay unescaped in a form: those of a query (RFC 3986 §3.4) without the general delimiters and
  /// the sub-delimiters of §2.2, which could end a key or a value. `?` and `/` stay unescaped, as §3.4 suggests.
  public static let afURLQueryAllowed = CharacterSet.urlQueryAllowed
    .subtracting(CharacterSet(charactersIn: ":#[]@" + "!$&'()*+,;="))
}
