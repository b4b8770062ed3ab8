// FieldName+Spelling: the usual spelling of field names, which responses use.

extension String {
  /// The usual spelling of this field name: the registered one, such as `ETag`, if the name is in `registeredSpellings`. Any other
  /// lowercase name, unless it begins with `x-`, is capitalized: `request-id` becomes `Request-Id`. All other names stay unchanged.
  var usualSpelling: String {
    let name = lowercased()
    if let registered = Self.registeredSpellings[name] { return registered }
    guard self == name, !hasPrefix("x-") else { return self }
    return split(separator: "-", omittingEmptySubsequences: false).map { $0.prefix(1).uppercased() + $0.dropFirst() }
      .joined(separator: "-")
  }

  /// Common field names from IANA's registry of HTTP field names. The keys are the same names in lowercase.
  private static let registeredSpellings = Dictionary(
    uniqueKeysWithValues: [
      "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Accept-Patch", "Accept-Ranges",
      "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
      "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age", "Age", "Allow",
      "Alt-Svc", "Authentication-Info", "Authorization", "Cache-Control", "Connection", "Content-Disposition",
      "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-MD5", "Content-Range",
      "Content-Security-Policy", "Content-Type", "Cookie", "Date", "ETag", "Expect", "Expires", "From", "Host",
      "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Keep-Alive",
      "Last-Modified", "Link", "Location", "Max-Forwards", "NEL", "Origin", "P3P", "Pragma", "Proxy-Authenticate",
      "Proxy-Authorization", "Range", "Referer", "Report-To", "Retry-After", "Server", "Set-Cookie", "SourceMap",
      "Strict-Transport-Security", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "Vary", "Via",
      "WWW-Authenticate", "Warning", "X-Content-Type-Options", "X-Frame-Options",
    ].map { ($0.lowercased(), $0) })
}
