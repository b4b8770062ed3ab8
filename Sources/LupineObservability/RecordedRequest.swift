// RecordedRequest: the method, the server and the URL of a request, as they are recorded.

#if Observability
  internal import LupineEngine
  internal import LupineWire

  /// A request method as it is recorded.
  struct RecordedMethod {
    /// The value of `http.request.method`.
    let name: String
    /// The method in the request if it isn't known, or nil.
    let original: String?

    init(_ method: String, known: Set<String>) {
      let isKnown = known.contains(method)
      name = isKnown ? method : "_OTHER"
      original = isKnown ? nil : method
    }

    /// The method in the name of a span.
    var spanName: String { original == nil ? name : "HTTP" }

    var dimensions: [(String, String)] { [("http.request.method", name)] }
  }

  /// The values of `server.address` and `server.port`.
  struct ServerAddress {
    /// The host, or the path of the Unix socket in the URI.
    let host: String
    let port: Int?

    init(_ origin: Origin) {
      host = origin.socketPath ?? origin.host
      port = origin.socketPath == nil ? Int(origin.port) : nil
    }

    /// The server that the request names: in the caller's Host field if there is one, or else in the URI.
    init(_ request: EngineRequest) {
      let origin = request.uri.origin
      guard let host = request.fields.first("Host"), let named = try? URI("\(origin.scheme.rawValue)://\(host)/") else {
        self.init(origin)
        return
      }
      self.init(named.origin)
    }

    var dimensions: [(String, String)] {
      [("server.address", host)] + (port.map { [("server.port", "\($0)")] } ?? [])
    }
  }

  /// The value of `url.full`: a URL without user information and without the values of the signatures that OpenTelemetry lists.
  enum RecordedURL {
    private static let redacted = "REDACTED"

    /// The keys of signatures in queries, which are compared with case.
    static let signatureKeys: Set<String> = [
      "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "AWSAccessKeyId", "Signature", "sig",
      "X-Goog-Signature",
    ]

    static func text(of uri: URI) -> String {
      var text = uri.origin.description
      if let userInfo = uri.userInfo, !userInfo.isEmpty, let separator = text.firstRange(of: "://") {
        let replaced = userInfo.contains(":") ? "\(redacted):\(redacted)@" : "\(redacted)@"
        text.insert(contentsOf: replaced, at: separator.upperBound)
      }
      if let query = uri.target.utf8.firstIndex(of: UInt8(ascii: "?")) {
        let start = uri.target.utf8.index(after: query)
        text += uri.target[..<start] + redactingSignatures(uri.target[start...])
      } else {
        text += uri.target
      }
      // Some servers pass tokens in fragments, in the form of a query.
      if let fragment = uri.fragment { text += "#" + redactingSignatures(fragment[...]) }
      return text
    }

    /// Returns a query in which the values of signatures are replaced.
    private static func redactingSignatures(_ query: Substring) -> String {
      let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
        guard let equals = pair.firstIndex(of: "=") else { return pair }
        let key = pair[..<equals]
        // Servers decode keys before they compare them.
        let decoded = String(decoding: PercentEncoding.decodeLeniently(key.utf8), as: UTF8.self)
        return signatureKeys.contains(decoded) ? key + "=" + redacted : pair
      }
      return pairs.joined(separator: "&")
    }
  }
#endif
