// ServedResponse: the response that the cache creates from a stored response (RFC 9111 §4, §4.3.2; RFC 9110 §13, §14).

package import LupineWire

/// The head of a response that the cache serves, and the part of the stored body to serve with it.
package struct ServedResponse: Sendable, Equatable {
  package enum Body: Sendable, Hashable {
    case none
    case complete
    /// The cache serves only the bytes of the stored body in this range.
    case part(Range<UInt64>)
  }

  package let status: Int
  package let fields: Fields
  package let body: Body

  /// Creates the response to serve from a stored response that needs no validation. Returns nil if only the origin can respond: the
  /// request is for several ranges, or for a range of a body that had a content coding and was stored decoded.
  init?(_ stored: borrowing StoredResponse, to request: CacheRequest, now: Int64) {
    var fields = stored.fields
    // The fields that no-cache names can't be served without validation (RFC 9111 §5.2.2.4).
    if case .fields(let names) = stored.cacheControl.noCache { names.forEach { fields.remove($0) } }
    fields.setAge(stored.currentAge(now: now))

    if stored.status == 200, stored.satisfies(ownConditionsOf: request, now: now) {
      self.init(notModified: fields)
      return
    }
    guard request.method == "GET" else {
      self.init(status: stored.status, fields: fields, body: .none)
      return
    }
    if let part = stored.part {
      self.init(ByteRange(request.fields, byteCount: part.completeByteCount), of: stored, fields)
      return
    }
    guard stored.status == 200, request.fields.contains("Range"), stored.matchesIfRange(of: request, now: now) else {
      self.init(status: stored.status, fields: fields, body: .complete)
      return
    }
    guard stored.bodyForm == .received || !fields.contains("Content-Encoding") else { return nil }
    self.init(ByteRange(request.fields, byteCount: stored.bodyByteCount), of: stored, fields)
  }

  /// Creates the response to serve from a stored response that the origin has confirmed with a 304.
  init(validated stored: StoredResponse, to request: CacheRequest, now: Int64) {
    var fields = stored.fields
    fields.setAge(stored.currentAge(now: now))
    self.init(status: stored.status, fields: fields, body: request.method == "HEAD" ? .none : .complete)
  }

  private init(status: Int, fields: Fields, body: Body) {
    self.status = status
    self.fields = body == .complete ? fields : fields.withoutContentDigests
    self.body = body
  }

  /// Creates a 304 response with the fields that RFC 9110 §15.4.5 requires. Omits the fields that describe the representation,
  /// because the caller already has the representation.
  private init(notModified fields: Fields) {
    var fields = fields
    for name in ["Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Range"] {
      fields.remove(name)
    }
    self.init(status: 304, fields: fields, body: .none)
  }

  private init?(_ range: ByteRange, of stored: borrowing StoredResponse, _ fields: Fields) {
    let length = stored.part?.completeByteCount ?? stored.bodyByteCount
    let start = stored.part?.range.lowerBound ?? 0
    var fields = fields
    switch range {
    case .ignored: self.init(status: stored.status, fields: fields, body: .complete)
    case .several: return nil
    case .unsatisfiable:
      fields.set(name: "Content-Range", value: "bytes */\(length)")
      for name in ["Content-Length", "Content-Type", "Content-Encoding"] { fields.remove(name) }
      fields.append(name: "Content-Length", value: "0")
      self.init(status: 416, fields: fields, body: .none)
    case .bytes(let part):
      fields.set(name: "Content-Range", value: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)")
      fields.remove("Content-Length")
      fields.append(name: "Content-Length", value: "\(part.upperBound - part.lowerBound)")
      self.init(status: 206, fields: fields, body: .part(part.lowerBound - start..<part.upperBound - start))
    }
  }
}

extension Fields {
  /// The fields without the digests of a message's content, which are wrong for a part of the content (RFC 9530 §2). Repr-Digest
  /// stays, because it is a digest of the whole representation.
  var withoutContentDigests: Fields {
    var fields = self
    for name in ["Content-Digest", "Content-MD5"] { fields.remove(name) }
    return fields
  }

  /// Sets the Age field to the response's current age in seconds (RFC 9111 §5.1).
  fileprivate mutating func setAge(_ seconds: Int64) {
    remove("Age")
    append(name: "Age", value: "\(seconds)")
  }
}

extension StoredResponse {
  /// Returns whether the caller already has this stored response, according to the If-None-Match or If-Modified-Since that the
  /// caller has set in the request (RFC 9111 §4.3.2).
  fileprivate func satisfies(ownConditionsOf request: CacheRequest, now: Int64) -> Bool {
    // If-Modified-Since is ignored if there is an If-None-Match (RFC 9110 §13.1.3).
    if let list = EntityTagList(ifNoneMatch: request.fields) { return list.contains(entityTag) }
    guard let since = CacheDate.value(of: "if-modified-since", in: request.fields, now: now) else { return false }
    return (lastModified ?? date) <= since
  }

  /// Returns whether the request's Range applies to this stored response: the request has no If-Range, or the validator in If-Range
  /// is strong and equal to the response's (RFC 9110 §13.1.5).
  func matchesIfRange(of request: CacheRequest, now: Int64) -> Bool {
    guard let value = request.fields.valueBytes("If-Range") else { return true }
    if let tag = EntityTag(value) { return entityTag?.matchesStrongly(tag) ?? false }
    // Last-Modified is a strong validator if Date is at least a second later, because the representation can't have changed
    // again within that second (RFC 9110 §8.8.2.2).
    guard let lastModified, date > lastModified else { return false }
    return CacheDate.value(of: "if-range", in: request.fields, now: now) == lastModified
  }
}

/// The result of applying a request's Range to a stored body (RFC 9110 §14.1.2, §14.2).
enum ByteRange: Equatable {
  /// The request has no valid Range with the unit `bytes`, so the cache serves the whole body.
  case ignored
  case several
  case unsatisfiable
  /// The range of bytes of the body to serve. It is within the body and not empty.
  case bytes(Range<UInt64>)

  init(_ fields: Fields, byteCount: UInt64) {
    let positions = fields.positions(of: "Range")
    guard positions.count == 1 else {
      self = positions.isEmpty ? .ignored : .several
      return
    }
    // ranges-specifier = range-unit "=" range-set; range-set = 1#range-spec
    let value = fields.valueBytes(at: positions[0])
    let unit = value.prefix { $0 != UInt8(ascii: "=") }
    let members = FieldList.members(of: value[unit.endIndex...].dropFirst())
    guard FieldList.lowercased(unit) == "bytes", let member = members.first else {
      self = .ignored
      return
    }
    guard members.count == 1 else {
      self = .several
      return
    }
    self = Self.range(member, byteCount) ?? .ignored
  }

  // range-spec = int-range / suffix-range; int-range = first-pos "-" [ last-pos ]; suffix-range = "-" suffix-length
  private static func range(_ member: ArraySlice<UInt8>, _ byteCount: UInt64) -> ByteRange? {
    guard let dash = member.firstIndex(of: UInt8(ascii: "-")) else { return nil }
    let (first, last) = (member[..<dash], member[dash...].dropFirst())
    if first.isEmpty {
      guard let suffix = number(last) else { return nil }
      let count = min(suffix, byteCount)
      return count == 0 ? .unsatisfiable : .bytes(byteCount - count..<byteCount)
    }
    guard let start = number(first) else { return nil }
    guard !last.isEmpty else { return start < byteCount ? .bytes(start..<byteCount) : .unsatisfiable }
    guard let end = number(last), start <= end else { return nil }
    guard start < byteCount else { return .unsatisfiable }
    return .bytes(start..<min(end, byteCount - 1) + 1)
  }

  /// Parses a decimal number of a Range. Returns nil if `digits` is empty or contains other bytes. A number that doesn't fit in 63
  /// bits becomes the largest number that does.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    Digits.value(of: digits, atMost: .max).map { UInt64($0) }
  }
}
