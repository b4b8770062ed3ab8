// CacheLimits: the limits of the cache's rules, each with its unit and the source of its value.

internal import LupineWire

/// The limits of the HTTP cache.
package enum CacheLimits {
  /// The maximum of an age, a freshness lifetime or a number in a Cache-Control directive, in seconds: 2,147,483,648, about 68
  /// years. Larger numbers are reduced to this maximum (RFC 9111 §1.2.2).
  package static let deltaSecondsMax: Int64 = Limits.delaySecondsMax

  /// The maximum freshness lifetime that is estimated from Last-Modified, in seconds: one day.
  ///
  /// RFC 9111 §4.2.2 sets no limit. A day is the age above which RFC 2616 §13.2.4 required a warning. Firefox allows a week.
  package static let heuristicLifetimeMax: Int64 = 86_400

  /// The divisor for a heuristic freshness lifetime: 10. The lifetime is a tenth of the time between Last-Modified and Date (RFC
  /// 9111 §4.2.2).
  package static let heuristicDivisor: Int64 = 10

  /// The maximum number of field names in a response's Vary: 32. A response with more names isn't stored.
  ///
  /// RFC 9110 §12.5.5 sets no limit. Responses of large sites name up to ten fields.
  package static let varyNamesMax = 32

  /// The maximum total size in bytes of the request's values for the fields that the response's Vary names: 16,384. If the values
  /// are longer, the response isn't stored.
  ///
  /// RFC 9111 §4.1 sets no limit. Servers accept heads of 8 to 16 KiB.
  package static let selectingBytesMax = 16 * 1024

  /// The maximum number of entity tags in the If-None-Match field that the cache adds to a request: 16. If more stored responses
  /// have tags, the tags of the most recent responses are sent.
  ///
  /// RFC 9110 §13.1.2 sets no limit. 16 tags of 64 bytes take 1 KiB of the request's head.
  package static let entityTagsMax = 16

  /// The maximum size of an entity tag in bytes: 1,024. A response's longer tag isn't used for validation.
  ///
  /// RFC 9110 §8.8.3 sets no limit. Servers use up to about 100 bytes.
  package static let entityTagBytesMax = 1024
}
