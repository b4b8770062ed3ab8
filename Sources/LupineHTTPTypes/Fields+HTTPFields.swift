// Fields+HTTPFields: conversions between Lupine's fields and those of swift-http-types.

#if HTTPTypes
  public import HTTPTypes
  public import LupineEngine

  extension Fields {
    /// Creates field lines from `HTTPFields`, with the same order and the same bytes, in ISO 8859-1 or any other charset.
    ///
    /// Several Cookie fields become one, at the place of the first one, because HTTP/1.1 permits no more (RFC 9113 §8.2.3).
    ///
    /// - Throws: An `HTTPTypesError` for a value with a control character, which only a value that was created leniently can have:
    ///   swift-http-types replaces others with spaces.
    public init(_ fields: HTTPFields) throws(HTTPTypesError) {
      self.init()
      var hasCookies = false
      for field in fields {
        if field.name == .cookie {
          guard !hasCookies else { continue }
          hasCookies = true
          let crumbs = try fields[fields: .cookie].map { crumb throws(HTTPTypesError) in try crumb.checkedBytes() }
          append(name: field.name.rawName, valueBytes: Array(crumbs.joined(separator: "; ".utf8)))
        } else {
          append(name: field.name.rawName, valueBytes: try field.checkedBytes())
        }
      }
    }
  }

  extension HTTPField {
    /// The bytes of the value. Throws an error if one of them is a control character other than HTAB.
    fileprivate func checkedBytes() throws(HTTPTypesError) -> [UInt8] {
      // SAFETY: the buffer isn't used after the closure.
      let bytes = withUnsafeBytesOfValue { Array($0) }
      try HTTPFields.check(bytes, of: name.rawName)
      return bytes
    }
  }

  extension HTTPFields {
    /// The maximum number of fields: 65,534, because swift-http-types traps beyond it.
    static let countMax = Int(UInt16.max) - 1

    /// Creates `HTTPFields` from field lines, with the same order, repetitions, spelling and bytes.
    ///
    /// - Throws: An `HTTPTypesError` if a name isn't a token, a value has a control character other than HTAB, or there are too many
    ///   lines. The fields of a response that the engine has received have neither.
    public init(_ fields: Fields) throws(HTTPTypesError) {
      self.init()
      guard fields.count <= Self.countMax else { throw .tooManyFields(fields.count) }
      reserveCapacity(fields.count)
      for position in fields.indices {
        let name = fields[position].name
        guard let fieldName = HTTPField.Name(name) else { throw .malformedFieldName(name) }
        let bytes = fields.valueBytes(at: position)
        try Self.check(bytes, of: name)
        append(HTTPField(name: fieldName, value: bytes))
      }
    }

    // field-vchar = VCHAR / obs-text (RFC 9110 §5.5)
    fileprivate static func check(_ bytes: [UInt8], of name: String) throws(HTTPTypesError) {
      if let byte = bytes.first(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
        throw .forbiddenByte(byte, fieldName: name)
      }
    }
  }
#endif
