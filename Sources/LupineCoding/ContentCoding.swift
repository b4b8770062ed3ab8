// ContentCoding: the supported content codings, and a parser for the Content-Encoding field (RFC 9110 §8.4).

/// A content coding that Lupine can apply and remove, such as gzip (RFC 9110 §8.4.1).
///
/// The cases are in the order in which clients prefer them in Accept-Encoding.
public enum ContentCoding: Sendable, Equatable, CaseIterable {
  /// The content coding `br`: Brotli (RFC 7932).
  case brotli
  #if Zstd
    /// The content coding `zstd`: Zstandard (RFC 8878) with windows of at most 8 MiB (RFC 9659). Supported only if the package
    /// trait `Zstd` is enabled.
    case zstd
  #endif
  /// The content coding `gzip`: the gzip file format (RFC 1952).
  case gzip
  /// The content coding `deflate`: the zlib format (RFC 1950) with deflate data (RFC 1951).
  case deflate

  /// Creates a content coding from its name in Content-Encoding. Ignores case. Returns nil for an unknown name and for `identity`.
  ///
  /// `x-gzip` is equivalent to `gzip` (RFC 9110 §8.4.1.3).
  public init?(name: some StringProtocol) {
    let coding = name.equalsIgnoringCase("x-gzip") ? .gzip : Self.allCases.first { name.equalsIgnoringCase($0.name) }
    guard let coding else { return nil }
    self = coding
  }

  /// The coding's name as registered with IANA: `br`, `zstd`, `gzip` or `deflate`.
  public var name: String {
    switch self {
    case .brotli: "br"
    #if Zstd
      case .zstd: "zstd"
    #endif
    case .gzip: "gzip"
    case .deflate: "deflate"
    }
  }

  /// The names of all content codings, most preferred first, joined to a value of Accept-Encoding (RFC 9110 §12.5.3).
  package static let allNames = allCases.map(\.name).joined(separator: ", ")

  /// Returns the codings that a Content-Encoding value names, in the order in which they were applied, without `identity`.
  ///
  /// If there are several field lines, the caller must join them with commas.
  ///
  /// - Throws: `CodingError` with the cause `.unknownCoding`, or `.tooManyLayers` if there are more codings than `layersMax`.
  public static func list(
    _ fieldValue: String, layersMax: Int = CodingLimits().layersMax
  ) throws(CodingError) -> [ContentCoding] {
    try decodable(fieldValue, limits: CodingLimits(layersMax: layersMax, refusesUnknownCodings: true))
  }

  /// Returns the codings of a Content-Encoding value that a recipient must decode, in the order in which they were applied. Throws
  /// `.tooManyLayers`, and `.unknownCoding` if `limits` refuses unknown codings.
  ///
  /// The result is empty if the value names an unknown coding. The recipient can't decode the codings that were applied before the
  /// unknown coding. If it decoded only the codings that were applied later, the body would no longer match the field. Unknown
  /// codings count toward `layersMax` too, so that the order of the names doesn't matter.
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
      // Checked before appending, so that a long field value doesn't create a long array.
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
  package func trimmingOWS() -> Substring.UTF8View {
    var rest = self.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    while let last = rest.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { rest.removeLast() }
    return rest
  }
}

extension StringProtocol {
  /// Returns whether the text equals `lowercase`, ignoring ASCII case.
  fileprivate func equalsIgnoringCase(_ lowercase: String) -> Bool {
    self.utf8.elementsEqual(lowercase.utf8) { byte, expected in
      let isUppercase = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
      return (isUppercase ? byte | 0x20 : byte) == expected
    }
  }
}
