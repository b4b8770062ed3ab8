// The characters that a form field keeps as they are (RFC 3986 §3.4, less the delimiters).

public import Foundation

extension CharacterSet {
  /// The characters that stay unescaped in a query: those of RFC 3986 §3.4 without the general and the sub-delimiters
  /// of §2.2 that could end a key or a value. `?` and `/` stay, as the RFC suggests.
  public static let afURLQueryAllowed = CharacterSet.urlQueryAllowed
    .subtracting(CharacterSet(charactersIn: ":#[]@" + "!$&'()*+,;="))
}
