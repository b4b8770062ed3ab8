// KnownMethods: the request methods that are recorded by their names.

#if Observability
  internal import LupineReactor

  enum KnownMethods {
    /// The environment variable that replaces the list. Its name is OpenTelemetry's.
    static let variable = "OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS"

    /// The methods of RFC 9110, PATCH (RFC 5789) and QUERY (RFC 10008).
    static let standard: Set<String> = [
      "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE",
    ]

    /// The methods of this process. The environment is read once.
    static let current = methods(Environment.values(of: [variable])[variable])

    /// Returns the methods in the variable's value, or the standard ones if the variable is empty or isn't set.
    static func methods(_ value: String?) -> Set<String> {
      guard let value, !value.isEmpty else { return standard }
      let names = value.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
      return Set(names.filter { !$0.isEmpty })
    }
  }
#endif
