// `CharacterSet.afURLQueryAllowed`: the characters that a form doesn't percent-encode.

public import Foundation

extension CharacterSet {
  /// The characters that `URLEncodedFormEncoder` doesn't percent-encode by default. These are the characters of a query (RFC 3986
  /// §3.4) except for the general delimiters and sub-delimiters of §2.2, which could end a key or a value. The delimiters `?` and
  /// `/` aren't encoded either, as §3.4 suggests.
  public static let afURLQueryAllowed = CharacterSet.urlQueryAllowed
    .subtracting(CharacterSet(charactersIn: ":#[]@" + "!$&'()*+,;="))
}
