// StoredResponse: what the cache keeps of a response, besides its body.

package import LupineWire

/// The metadata of a stored response to GET. The store keeps it with the body.
package struct StoredResponse: Sendable, Equatable {
  package enum State: UInt8, Sendable, Hashable {
    case valid = 0
    /// Must be validated before any further use (RFC 9111 §4.4).
    case invalidated = 1
  }

  /// The form in which the store has the body.
  package enum BodyForm: UInt8, Sendable, Hashable {
    /// As received: Content-Length and Content-Encoding apply to it.
    case received = 0
    /// After removing all content codings.
    case decoded = 1
  }

  package let status: Int
  /// All received header fields, except for those of the connection and of proxies (RFC 9111 §3.1), and with a valid
  /// Date.
  package let fields: Fields
  package let times: ExchangeTimes
  package let partition: CachePartition
  package let selectingFields: SelectingFields
  package let bodyForm: BodyForm
  /// The size of the stored body in bytes.
  package let bodyByteCount: UInt64
  package var state: State

  /// The directives of `fields`, parsed once.
  package let cacheControl: CacheControl
  /// The time in Date.
  let date: Int64
  let entityTag: EntityTag?
  /// Last-Modified in seconds since 1970, or nil if it is missing or invalid.
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

  /// Returns the response with the size of its body, which is known at its end.
  package func withBody(byteCount: UInt64) -> StoredResponse {
    StoredResponse(
      status: status, fields: fields, times: times, partition: partition, selectingFields: selectingFields,
      bodyForm: bodyForm, bodyByteCount: byteCount, state: state)
  }

  /// Whether the response has a validator that a conditional request can use.
  var hasValidator: Bool { entityTag != nil || lastModified != nil }

  /// Returns whether `other` is to be preferred when both can be selected: the one with Vary, then the latest Date, then
  /// the one received last (RFC 9111 §4, §4.1).
  func isPreceded(by other: StoredResponse) -> Bool {
    (selectingFields.selectors.isEmpty ? 0 : 1, date, times.response)
      < (other.selectingFields.selectors.isEmpty ? 0 : 1, other.date, other.times.response)
  }

  /// Returns whether the response could be selected for the request, apart from its freshness (RFC 9111 §4).
  func isSelectable(for request: CacheRequest) -> Bool {
    request.mayRead(partition) && selectingFields.match(request.fields)
  }
}
