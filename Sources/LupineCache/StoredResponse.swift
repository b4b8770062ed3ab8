// StoredResponse: the metadata that the cache stores with a response's body.

package import LupineWire

/// The metadata of a stored response to GET. The store keeps it with the body.
package struct StoredResponse: Sendable, Equatable {
  package enum State: UInt8, Sendable, Hashable {
    case valid = 0
    /// The response must be validated before it is served again (RFC 9111 §4.4).
    case invalidated = 1
  }

  /// The form in which the cache stores a response's body.
  package enum BodyForm: UInt8, Sendable, Hashable {
    /// The body as received, to which Content-Length and Content-Encoding apply.
    case received = 0
    /// The body after all content codings were removed.
    case decoded = 1
  }

  package let status: Int
  /// All received header fields except those of the connection and of proxies (RFC 9111 §3.1). They include a valid Date.
  package let fields: Fields
  package let times: ExchangeTimes
  package let partition: CachePartition
  package let selectingFields: SelectingFields
  package let bodyForm: BodyForm
  /// The size of the stored body in bytes.
  package let bodyByteCount: UInt64
  package var state: State

  /// The Cache-Control directives in `fields`, parsed once.
  package let cacheControl: CacheControl
  /// The time in the response's Date field, in seconds since 1970.
  let date: Int64
  let entityTag: EntityTag?
  /// The time in Last-Modified in seconds since 1970, or nil if the field is missing or invalid.
  let lastModified: Int64?
  package let lifetime: FreshnessLifetime

  package init(
    status: Int, fields: Fields, times: ExchangeTimes, partition: CachePartition, selectingFields: SelectingFields,
    bodyForm: BodyForm = .received, bodyByteCount: UInt64 = 0, state: State = .valid
  ) {
    self.status = status
    self.fields = fields
    self.times = times
    self.partition = partition
    self.selectingFields = selectingFields
    self.bodyForm = bodyForm
    self.bodyByteCount = bodyByteCount
    self.state = state
    let now = times.response
    cacheControl = CacheControl(fields)
    date = CacheDate.value(of: "Date", in: fields, now: now) ?? now
    entityTag = EntityTag(fields)
    lastModified = CacheDate.value(of: "Last-Modified", in: fields, now: now)
    lifetime = FreshnessLifetime(
      status: status, fields: fields, cacheControl: cacheControl, date: date, lastModified: lastModified,
      now: times.response)
  }

  /// Returns a copy with the size of the body, which is known only once the body has been received.
  package func withBody(byteCount: UInt64) -> StoredResponse {
    StoredResponse(
      status: status, fields: fields, times: times, partition: partition, selectingFields: selectingFields,
      bodyForm: bodyForm, bodyByteCount: byteCount, state: state)
  }

  /// Whether the response has a validator that a conditional request can use.
  var hasValidator: Bool { entityTag != nil || lastModified != nil }

  /// Returns whether `other` is preferred if both responses can be selected for a request (RFC 9111 §4, §4.1). A response with
  /// Vary is preferred to one without it. Next, the later Date decides, and then the later time of receipt.
  func isPreceded(by other: StoredResponse) -> Bool {
    (selectingFields.selectors.isEmpty ? 0 : 1, date, times.response)
      < (other.selectingFields.selectors.isEmpty ? 0 : 1, other.date, other.times.response)
  }

  /// Returns whether the response could be selected for the request, regardless of its freshness (RFC 9111 §4).
  func isSelectable(for request: CacheRequest) -> Bool {
    request.mayRead(partition) && selectingFields.match(request.fields)
  }
}
