// StoredResponse: the metadata that the cache stores with a response's body.

package import LupineWire

/// The metadata of a stored response to a GET request. The store saves it together with the body.
package struct StoredResponse: Sendable, Equatable {
  package enum State: UInt8, Sendable, Hashable {
    case valid = 0
    /// The cache must validate the response before serving it again (RFC 9111 §4.4).
    case invalidated = 1
  }

  /// The form in which the cache stores a response's body.
  package enum BodyForm: UInt8, Sendable, Hashable {
    /// The body as received, so that Content-Length and Content-Encoding still apply to it.
    case received = 0
    /// The body after all content codings, such as gzip, have been removed.
    case decoded = 1
  }

  private let head: Head
  /// The size of the stored body in bytes.
  package private(set) var bodyByteCount: UInt64
  package var state: State

  package var status: Int { head.status }
  /// The header fields of the stored response: all that were received, except those of the connection and of proxies (RFC 9111
  /// §3.1). They include a valid Date.
  package var fields: Fields { head.fields }
  package var times: ExchangeTimes { head.times }
  package var partition: CachePartition { head.partition }
  package var selectingFields: SelectingFields { head.selectingFields }
  package var bodyForm: BodyForm { head.bodyForm }
  /// The Cache-Control directives of the stored response, parsed once from `fields`.
  package var cacheControl: CacheControl { head.cacheControl }
  /// The time in the stored response's Date field, in seconds since 1970.
  var date: Int64 { head.date }
  /// The age in the stored response's Age field, in seconds, or 0 if the field is missing or invalid.
  var receivedAge: Int64 { head.receivedAge }
  var entityTag: EntityTag? { head.entityTag }
  /// The time in the stored response's Last-Modified field, in seconds since 1970. Nil if the field is missing or invalid.
  var lastModified: Int64? { head.lastModified }
  package var lifetime: FreshnessLifetime { head.lifetime }
  /// The bytes of the representation that the Content-Range of a 206 names, regardless of the body's size. Otherwise nil.
  var namedPart: StoredPart? { head.part }

  package init(
    status: Int, fields: Fields, times: ExchangeTimes, partition: CachePartition, selectingFields: SelectingFields,
    bodyForm: BodyForm = .received, bodyByteCount: UInt64 = 0, state: State = .valid
  ) {
    head = Head(status, fields, times, partition, selectingFields, bodyForm)
    self.bodyByteCount = bodyByteCount
    self.state = state
  }

  /// Returns a copy with the size of the body in bytes, which is known only once the body has been received.
  package func withBody(byteCount: UInt64) -> StoredResponse {
    var stored = self
    stored.bodyByteCount = byteCount
    return stored
  }

  /// Whether the stored response has a validator (ETag or Last-Modified) that a conditional request can use.
  var hasValidator: Bool { entityTag != nil || lastModified != nil }

  /// Returns whether the cache prefers `other` to this stored response if a request selects both (RFC 9111 §4, §4.1). A response
  /// with Vary is preferred to one without. Otherwise, the later Date decides, and then the later time of receipt.
  package func isPreceded(by other: StoredResponse) -> Bool {
    (selectingFields.selectors.isEmpty ? 0 : 1, date, times.response)
      < (other.selectingFields.selectors.isEmpty ? 0 : 1, other.date, other.times.response)
  }

  /// Returns whether the request can select this stored response, regardless of its freshness (RFC 9111 §4).
  func isSelectable(for request: CacheRequest) -> Bool {
    request.mayRead(partition) && selectingFields.match(request) && (!isPartial || hasRange(of: request))
  }
}

extension StoredResponse {
  /// The constant parts of a stored response. An object, so that copies of the response, which lookups and decisions make, share
  /// it.
  private final class Head: Sendable, Equatable {
    let status: Int
    let fields: Fields
    let times: ExchangeTimes
    let partition: CachePartition
    let selectingFields: SelectingFields
    let bodyForm: BodyForm
    let cacheControl: CacheControl
    let date: Int64
    let receivedAge: Int64
    let entityTag: EntityTag?
    let lastModified: Int64?
    let lifetime: FreshnessLifetime
    let part: StoredPart?

    init(
      _ status: Int, _ fields: Fields, _ times: ExchangeTimes, _ partition: CachePartition,
      _ selectingFields: SelectingFields, _ bodyForm: BodyForm
    ) {
      self.status = status
      self.fields = fields
      self.times = times
      self.partition = partition
      self.selectingFields = selectingFields
      self.bodyForm = bodyForm
      let now = times.response
      cacheControl = CacheControl(fields)
      date = CacheDate.value(of: "date", in: fields, now: now) ?? now
      receivedAge = StoredResponse.ageValue(fields)
      entityTag = EntityTag(fields)
      lastModified = CacheDate.value(of: "last-modified", in: fields, now: now)
      part = status == 206 ? StoredPart(fields) : nil
      lifetime = FreshnessLifetime(
        status: status, fields: fields, cacheControl: cacheControl, date: date, lastModified: lastModified, now: now)
    }

    /// Returns whether both heads are equal. The other properties follow from those that are compared.
    static func == (left: Head, right: Head) -> Bool {
      left === right
        || left.status == right.status && left.times == right.times && left.partition == right.partition
          && left.bodyForm == right.bodyForm && left.selectingFields == right.selectingFields
          && left.fields == right.fields
    }
  }
}

extension [StoredResponse] {
  /// Returns the index of the stored response that the cache prefers among those at `indices`. Returns nil if there are no indices.
  func preferred(among indices: some Sequence<Int>) -> Int? { indices.max { self[$0].isPreceded(by: self[$1]) } }
}
