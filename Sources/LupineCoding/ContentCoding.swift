// The content codings that Lupine decodes and encodes, and the Content-Encoding field (RFC 9110 §8.4).

/// A content coding (RFC 9110 §8.4.1; `br` is RFC 7932).
public enum ContentCoding: Sendable, Equatable {
  /// The gzip file format, RFC 1952.
  case gzip
  /// The zlib format, RFC 1950, around deflate data, RFC 1951.
  case deflate
  /// Brotli, RFC 7932.
  case brotli

  /// The coding of that name in any case, `nil` if it is unknown; `identity` is no coding, so it is unknown here.
  ///
  /// `x-gzip` is gzip (RFC 9110 §8.4.1.3).
  public init?(name: some StringProtocol) {
    if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") {
      self = .gzip
    } else if name.equalsIgnoringCase("deflate") {
      self = .deflate
    } else if name.equalsIgnoringCase("br") {
      self = .brotli
    } else {
      return nil
    }
  }

  /// The registered name: `gzip`, `deflate` or `br`.
  public var name: String {
    switch self {
    case .gzip: "gzip"
    case .deflate: "deflate"
    case .brotli: "br"
    }
  }

  /// The codings of a Content-Encoding value in the order in which they were applied, without `identity`.
  ///
  /// Several field lines are joined with commas first. Throws `.unknownCoding` and, for more codings than
  /// `layersMax`, `.tooManyLayers`.
  public static func list(
    _ fieldValue: String, layersMax: Int = CodingLimits().layersMax
  ) throws(CodingError) -> [ContentCoding] {
    try decodable(fieldValue, limits: CodingLimits(layersMax: layersMax, refusesUnknownCodings: true))
  }

  /// The codings of a Content-Encoding value that a recipient undoes, in the order in which they were applied.
  ///
  /// With an unknown coding among them it undoes none: those below can't be reached, and those above would leave a body
  /// that doesn't match the field. Unknown codings count as layers too, so that the order of the names doesn't matter.
  /// Throws `.tooManyLayers`, and `.unknownCoding` if the limits refuse those.
  package static func decodable(_ fieldValue: String, limits: CodingLimits) throws(CodingError) -> [ContentCoding] {
    var codings: [ContentCoding] = []
    var unknownCount = 0
    // Content-Encoding = #content-coding (9110 §8.4); a recipient ignores empty elements (9110 §5.6.1.2).
    for element in fieldValue.utf8.split(separator: UInt8(ascii: ",")) {
      let name = Substring(element.trimmingOWS())
      if name.isEmpty || name.equalsIgnoringCase("identity") { continue }
      let coding = ContentCoding(name: name)
      if coding == nil, limits.refusesUnknownCodings {
        throw CodingError(.unknownCoding(String(name.prefix(CodingError.nameCharactersMax))))
      }
      // Refused at the first one too many, so that a long field can't make a long array.
      guard codings.count + unknownCount < limits.layersMax else {
        throw CodingError(.tooManyLayers(max: limits.layersMax))
      }
      if let coding { codings.append(coding) } else { unknownCount += 1 }
    }
    return unknownCount == 0 ? codings : []
  }
}

extension Substring.UTF8View {
  // OWS = *( SP / HTAB ) (9110 §5.6.3)
  fileprivate func trimmingOWS() -> Substring.UTF8View {
    var rest = self.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    while let last = rest.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { rest.removeLast() }
    return rest
  }
}

extension StringProtocol {
  /// Whether the bytes equal those of `lowercase`, but for the case of ASCII letters.
  fileprivate func equalsIgnoringCase(_ lowercase: StaticString) -> Bool {
    lowercase.withUTF8Buffer { expected in
      self.utf8.elementsEqual(expected) { byte, expected in
        let isUppercase = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        return (isUppercase ? byte | 0x20 : byte) == expected
      }
    }
  }
}
