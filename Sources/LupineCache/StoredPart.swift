// StoredPart: stored 206 responses: which requests they answer, and how they are combined (RFC 9111 §3.3, §3.4).

internal import LupineWire

/// The bytes of a representation that a 206 response contains, according to its Content-Range.
package struct StoredPart: Sendable, Hashable {
  /// The positions of the bytes in the representation.
  package let range: Range<UInt64>
  /// The size of the complete representation in bytes.
  package let completeByteCount: UInt64

  /// Reads the only Content-Range of a response. Returns nil if there is none, or if it doesn't state the complete size.
  init?(_ fields: Fields) {
    let values = fields.all("Content-Range")
    guard values.count == 1, case .bytes(let first, let last, let completeLength?)? = ContentRange(values[0]) else {
      return nil
    }
    range = first..<last + 1
    completeByteCount = completeLength
  }
}

extension StoredResponse {
  /// Whether the stored response is a 206, so that its body is only a part of the representation.
  package var isPartial: Bool { status == 206 }

  /// The part of the representation that the stored body contains. Nil if the response isn't a 206, or if its body isn't as long as
  /// its Content-Range says.
  package var part: StoredPart? {
    guard let part = namedPart, UInt64(part.range.count) == bodyByteCount else { return nil }
    return part
  }

  /// A copy of a 206 with the size of the body that its Content-Range announces. Any other response as it is.
  package var withAnnouncedBody: StoredResponse {
    namedPart.map { withBody(byteCount: UInt64($0.range.count)) } ?? self
  }

  /// Returns whether the request is a GET for a single range that is wholly within this part of the representation (RFC 9111
  /// §3.3).
  func hasRange(of request: CacheRequest) -> Bool {
    guard let part, request.method == "GET", !request.hasConditionsBesideIfRange else { return false }
    guard case .bytes(let range) = ByteRange(request.fields, byteCount: part.completeByteCount) else { return false }
    return part.range.contains(range.lowerBound) && range.upperBound <= part.range.upperBound
      && matchesIfRange(of: request, now: times.response)
  }

  /// Returns whether the stored response and `other` have the same strong entity tag, so that their bytes are of the same version
  /// of the representation.
  package func isSameVersion(as other: StoredResponse) -> Bool {
    guard let entityTag, let tag = other.entityTag else { return false }
    return entityTag.matchesStrongly(tag)
  }

  /// Returns whether this stored response remains valid next to `new`, a later 206: both are of the same version, and this one has
  /// bytes that `new` lacks.
  func isBeside(_ new: StoredResponse) -> Bool {
    guard new.isPartial, let added = new.namedPart, isSameVersion(as: new) else { return false }
    guard let own = namedPart?.range else { return true }
    return own.lowerBound < added.range.lowerBound || own.upperBound > added.range.upperBound
  }

  /// Returns whether this stored response and `other` answer the same requests, so that the newer one supersedes the older one.
  package func isVersion(of other: StoredResponse) -> Bool {
    guard partition == other.partition, selectingFields == other.selectingFields else { return false }
    return namedPart == other.namedPart || !isSameVersion(as: other)
  }

  /// The result of combining a 206 with an earlier response.
  package struct Combination: Sendable, Equatable {
    /// The metadata of the result, which is a 200 if it is complete.
    package let response: StoredResponse
    /// The metadata of the 206 alone.
    package let part: StoredResponse
    /// The bytes of the earlier response's body that come before the body of the 206.
    package let prefix: Range<UInt64>
    /// The bytes of the earlier response's body that come after the body of the 206.
    package let suffix: Range<UInt64>
  }

  /// Combines this 206 with an earlier response, if both have the same strong entity tag and their bytes overlap or adjoin (RFC
  /// 9111 §3.4, RFC 9110 §15.3.7.3). The fields of the 206 replace those of the earlier response. Returns nil if they can't be
  /// combined.
  package func combined(with older: StoredResponse) -> Combination? {
    guard let part, older.state == .valid, isSameVersion(as: older), partition == older.partition,
      selectingFields == older.selectingFields, let held = older.heldRange(of: part.completeByteCount)
    else { return nil }
    let own = part.range
    guard own.lowerBound <= held.upperBound, held.lowerBound <= own.upperBound else { return nil }
    let union = min(own.lowerBound, held.lowerBound)..<max(own.upperBound, held.upperBound)
    let isComplete = UInt64(union.count) == part.completeByteCount
    var merged = older.fields
    // The Age field belongs to the earlier exchange.
    merged.remove("Age")
    for position in fields.indices { merged.remove(fields[position].name) }
    for position in fields.indices {
      merged.append(name: fields[position].name, valueBytes: fields.valueBytes(at: position))
    }
    merged = merged.withoutContentDigests
    merged.remove("Content-Range")
    merged.remove("Content-Length")
    merged.append(name: "Content-Length", value: "\(union.count)")
    if !isComplete {
      merged.append(
        name: "Content-Range",
        value: "bytes \(union.lowerBound)-\(union.upperBound - 1)/\(part.completeByteCount)")
    }
    let response = StoredResponse(
      status: isComplete ? 200 : 206, fields: merged, times: times, partition: partition,
      selectingFields: selectingFields, bodyByteCount: UInt64(union.count))
    return Combination(
      response: response, part: self, prefix: 0..<(max(held.lowerBound, own.lowerBound) - held.lowerBound),
      suffix: (min(held.upperBound, own.upperBound) - held.lowerBound)..<UInt64(held.count))
  }

  /// Returns the complete response that consists of this stored beginning and of the response to the request for the rest. Returns
  /// nil if the response isn't that rest, announces a body of another length, or must not be stored.
  func completion(
    by forwarding: Forwarding, for request: CacheRequest, _ status: Int, _ fields: Fields, _ times: ExchangeTimes
  ) -> Combination? {
    var ranged = request
    ranged.fields = forwarding.fields
    let decision = StoreDecision(ranged, status: status, fields: fields, times: times, storesParts: true)
    guard case .store(let rest) = decision, let added = rest.namedPart,
      added.range.lowerBound == part?.range.upperBound,
      fields.first("Content-Length").map({ UInt64($0) == UInt64(added.range.count) }) ?? true,
      let combination = rest.withBody(byteCount: UInt64(added.range.count)).combined(with: self)
    else { return nil }
    return combination.response.isPartial ? nil : combination
  }

  /// The positions of the stored bytes in the representation of `completeByteCount` bytes. Nil if the response has another size, or
  /// if its body isn't stored as it was received.
  private func heldRange(of completeByteCount: UInt64) -> Range<UInt64>? {
    if let part { return part.completeByteCount == completeByteCount ? part.range : nil }
    guard status == 200, bodyForm == .received, !fields.contains("Content-Encoding") else { return nil }
    return bodyByteCount == completeByteCount ? 0..<completeByteCount : nil
  }
}
