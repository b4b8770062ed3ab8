// ReceivedRequest: a received request, parsed as far as handlers need.

package import LupineWire

/// A request that an `OriginServer` has received from a client.
package struct ReceivedRequest: Sendable {
  /// A decoded name with its value, from the query of the request target or from a body of the type
  /// application/x-www-form-urlencoded.
  package struct Item: Sendable, Hashable {
    package let name: String
    /// The decoded value of the item. Empty if no "=" follows the name.
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package let method: String
  /// The request target as received, such as "/path?query".
  package let target: String
  /// The minor version of HTTP in the request line: 0 for HTTP/1.0, and 1 for HTTP/1.1.
  package let minorVersion: UInt8
  package let fields: Fields
  /// The bytes of the request head as received, including the empty line at its end.
  package let rawHead: [UInt8]
  /// The bytes of the request body, without the chunked coding.
  package internal(set) var body: [UInt8] = []
  /// The fields of the trailer section, which follows the last chunk of a chunked body.
  package internal(set) var trailers = Fields()

  // request-line = method SP request-target SP HTTP-version (9112 §3)
  init(_ section: SectionParser.Section, raw: [UInt8]) throws(OriginError) {
    let line = raw[Int(section.startLine.lowerBound)..<Int(section.startLine.upperBound)]
    let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), parts[2].starts(with: "HTTP/1.".utf8),
      let digit = parts[2].last, parts[2].count == 8, digit &- UInt8(ascii: "0") < 10
    else { throw .malformedRequestLine }
    method = String(decoding: parts[0], as: UTF8.self)
    target = String(decoding: parts[1], as: UTF8.self)
    minorVersion = digit - UInt8(ascii: "0")
    fields = section.fields
    rawHead = raw
  }
}

extension ReceivedRequest {
  /// The path of the request target, percent-encoded.
  package var path: String { String(Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") })) }

  /// The decoded items of the request target's query, in their order.
  package var query: [Item] {
    let bytes = target.utf8
    guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return [] }
    return Item.decode(bytes[mark...].dropFirst())
  }

  /// The items of the body, which is parsed as application/x-www-form-urlencoded.
  package var form: [Item] { Item.decode(body) }

  /// Returns the value of the first query item with this name, or nil if there is none.
  package func query(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// Whether the connection persists after this request, so that the client may send another one (RFC 9112 §9.3).
  package var isPersistent: Bool {
    minorVersion == 0
      ? fields.hasElement("keep-alive", in: "connection") && !fields.hasElement("close", in: "connection")
      : !fields.hasElement("close", in: "connection")
  }

  /// Whether the client waits for a 100 response before it sends the body (RFC 9110 §10.1.1).
  package var expectsContinue: Bool {
    minorVersion > 0 && fields.first("expect")?.lowercased() == "100-continue"
  }
}

extension ReceivedRequest.Item {
  // item *( "&" item ), with item = name [ "=" value ]; "+" means a space (the URL standard's application/x-www-form-urlencoded).
  fileprivate static func decode(_ bytes: some Collection<UInt8>) -> [Self] {
    bytes.split(separator: UInt8(ascii: "&")).map { part in
      let name = part.prefix { $0 != UInt8(ascii: "=") }
      return Self(name: percentDecoded(name), value: percentDecoded(part.dropFirst(name.count + 1)))
    }
  }

  /// Returns the percent-decoded text. Invalid percent-encodings are kept, and bytes that aren't UTF-8 become U+FFFD.
  private static func percentDecoded(_ text: some Collection<UInt8>) -> String {
    let encoded = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    return String(decoding: PercentEncoding.decodeLeniently(encoded), as: UTF8.self)
  }
}
