// URIs and relative references, compared with the algorithm of RFC 3986.

@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the parser of URIs. The input consists of a URI, a line feed and a reference.
  static let uri = FuzzTarget(
    name: "uri",
    summary: "a written URI is parsed to itself; references resolve by RFC 3986 §5.2; targets can be sent"
  ) { bytes in
    let lines = Input(bytes).lines
    guard let base = try? URI(String(decoding: lines[0], as: UTF8.self)) else { return }
    check(base)
    guard lines.count > 1 else { return }
    let reference = String(decoding: lines[1], as: UTF8.self)
    guard let resolved = try? base.resolving(reference) else { return }
    check(resolved)
    checkResolved(resolved, base, reference)
  }

  private static func check(_ uri: URI) {
    guard let again = try? URI(uri.description) else { return hold(false, "\(uri) can't be read again") }
    hold(again.origin == uri.origin, "\(uri) has another origin than \(again)")
    hold(again.target == uri.target && again.fragment == uri.fragment, "\(uri) isn't \(again)")
    hold(uri.target.utf8.first == 0x2F, "\(uri.target)")
    // The heads of a GET request for the URI and of a CONNECT request to its origin can be written.
    for (method, target) in [("GET", uri.target), ("CONNECT", uri.origin.authorityForm)] {
      var wire: [UInt8] = []
      let head = RequestHead(method: method, target: target, fields: ["Host": uri.origin.authority])
      do { try HeadSerializer.append(head, to: &wire) } catch { hold(false, "\(uri): \(error)") }
    }
    let host = uri.origin.host.utf8
    hold(!host.isEmpty && uri.origin.port > 0, "\(uri)")
    hold(host.allSatisfy { $0 > 0x20 && $0 < 0x7F && !forbidden.contains($0) }, "the host \(uri.origin.host)")
  }

  private static let forbidden = Set("/?#@\\<>\"^`{|}[]".utf8)

  private static func checkResolved(_ resolved: URI, _ base: URI, _ reference: String) {
    let parts = ReferenceParts(reference)
    if parts.authority == nil, parts.scheme == nil {
      hold(resolved.origin == base.origin, "\(reference) moves \(base) to \(resolved)")
    }
    // Compares the target with that of RFC 3986, after both have been percent-encoded in the same way.
    guard let expected = parts.target(from: base) else { return }
    let ours = PercentEncoding.encode(resolved.target.utf8, keeping: .pathOrQuery)
    let theirs = PercentEncoding.encode(expected.utf8, keeping: .pathOrQuery)
    hold(ours == theirs, "\(reference) against \(base) is \(ours), and should be \(theirs)")
    hold(resolved.fragment == (parts.fragment ?? base.fragment), "\(reference): the fragment of \(resolved)")
  }
}

/// The parts of a URI reference, split by the regular expression in RFC 3986 appendix B.
private struct ReferenceParts {
  var scheme: String?
  var authority: String?
  var path = ""
  var query: String?
  var fragment: String?

  // The regular expression of RFC 3986 appendix B: ^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?
  init(_ text: String) {
    var rest = text.utf8[...]
    func string(_ bytes: Substring.UTF8View) -> String { String(Substring(bytes)) }
    if let hash = rest.firstIndex(of: 0x23) {
      fragment = string(rest[hash...].dropFirst())
      rest = rest[..<hash]
    }
    if let mark = rest.firstIndex(of: 0x3F) {
      query = string(rest[mark...].dropFirst())
      rest = rest[..<mark]
    }
    let head = rest.prefix { $0 != 0x2F }
    if let colon = head.firstIndex(of: 0x3A), colon > rest.startIndex {
      scheme = string(rest[..<colon])
      rest = rest[colon...].dropFirst()
    }
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      authority = string(rest.prefix { $0 != 0x2F })
      rest = rest.drop { $0 != 0x2F }
    }
    path = string(rest)
    // For a reference with an empty fragment, the fragment here is empty. In `URI`, it is nil for a lone "#" at the end of an
    // absolute URI.
  }

  /// Returns the request target that RFC 3986 §5.2.2 yields for this reference. Returns nil for references that `URI` parses
  /// differently on purpose, such as "localhost:80", which it treats as a host and a port.
  func target(from base: URI) -> String? {
    guard scheme == nil else { return nil }
    let basePath = String(Substring(base.target.utf8.prefix { $0 != 0x3F }))
    let baseQuery = base.target.utf8.contains(0x3F) ? String(Substring(base.target.utf8.drop { $0 != 0x3F })) : ""
    let ownQuery = query.map { "?" + $0 } ?? ""
    if authority != nil { return Self.withRoot(Self.removingDots(path)) + ownQuery }
    if path.isEmpty { return basePath + (query == nil ? baseQuery : ownQuery) }
    if path.utf8.first == 0x2F { return Self.removingDots(path) + ownQuery }
    let directory = basePath.utf8.lastIndex(of: 0x2F).map { String(basePath[...$0]) } ?? "/"
    return Self.removingDots(directory + path) + ownQuery
  }

  private static func withRoot(_ path: String) -> String { path.isEmpty ? "/" : path }

  /// Removes the dot segments of a path, by the steps of RFC 3986 §5.2.4.
  private static func removingDots(_ path: String) -> String {
    var input = Array(path.utf8)
    var output: [UInt8] = []
    func begins(_ text: String) -> Bool { input.starts(with: text.utf8) }
    func isAll(_ text: String) -> Bool { input == Array(text.utf8) }
    while !input.isEmpty {
      if begins("../") {
        input.removeFirst(3)
      } else if begins("./") || begins("/./") {
        input.removeFirst(2)
      } else if isAll("/.") {
        input = [0x2F]
      } else if begins("/../") || isAll("/..") {
        input = [0x2F] + input.dropFirst(4)
        while let last = output.popLast(), last != 0x2F {}
      } else if isAll(".") || isAll("..") {
        input = []
      } else {
        let segment = input.prefix(1) + input.dropFirst().prefix { $0 != 0x2F }
        output += segment
        input.removeFirst(segment.count)
      }
    }
    return String(decoding: output, as: UTF8.self)
  }
}
