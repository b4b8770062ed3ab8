// SentenceVectors: the normative sentences of RFC 9111 §3 to §5, RFC 5861, RFC 6585, RFC 8246 and RFC 9110 that apply to a private
// cache, each with the test that fails without its rule. The edits in Tests/Mutants/cache-rules.txt remove the rules one by one.
// Sentences for shared caches, senders and intermediaries are left out, and those about optional features that the cache lacks.

import Testing

/// A shortened sentence of the RFC, and the name of the test that fails if the cache breaks the sentence's rule.
struct Sentence: Sendable, CustomTestStringConvertible {
  let section: String
  let text: String
  let test: String
  /// Whether the cache obeys the sentence by not having a feature, so a mutation has no code to break. A test still
  /// shows that the feature is absent.
  let isByAbsence: Bool

  init(_ section: String, _ text: String, _ test: String, byAbsence isByAbsence: Bool = false) {
    self.section = section
    self.text = text
    self.test = test
    self.isByAbsence = isByAbsence
  }

  var testDescription: String { "\(section): \(text)" }

  /// Constants for the test names that occur in several sentences.
  private static let storing =
    "the cache stores a response unless the method, status code, directives or Vary forbid that"
  private static let serving =
    "the cache serves a stored response only if its freshness, Cache-Control and the cache policy permit that"
  private static let lifetime =
    "a response's freshness lifetime is max-age, else from Expires, else a tenth of the time since Last-Modified"
  private static let age =
    "a stored response's age is the larger of its age by Date and its Age plus delay, plus the time in the cache"
  private static let vary =
    "the cache uses a response with Vary only for requests with equivalent values of the fields that Vary lists"
  private static let own =
    "the cache evaluates a caller's If-None-Match and If-Modified-Since, but forwards If-Match and If-Unmodified-Since"
  private static let selection =
    "a strong entity tag in a 304 updates all stored responses with the tag, but a weak entity tag only the latest of them"
  private static let shared =
    "if variants share a weak tag or a date, a 304 with this value updates only the variant that the request selects"
  private static let anonymous =
    "a 304 without validators updates a stored response without validators if no other response is stored for the URI"
  private static let updated =
    "the fields of a 304 replace the stored fields, except those that describe the stored body or the connection"
  private static let invalidation =
    "a successful unsafe request invalidates its URI, and the same-origin URIs in Location and Content-Location"
  private static let afterError =
    "after a server or network error, the cache serves a stale response within stale-if-error unless forbidden"
  private static let head =
    "a response to HEAD updates a stored GET response if validators and length are the same, and otherwise invalidates it"
  private static let background =
    "a background revalidation omits the range and the conditions of the request that was served"
  private static let fields =
    "the cache stores all response fields as received, except those for the connection and for proxies"
  private static let range = "the cache serves a single range from a complete stored response of 1000 bytes"

  private static let combining = "parts are combined only if they adjoin or overlap and have the same strong entity tag"
  private static let post =
    "a response to POST is stored only if it is a 200 with explicit freshness and the request's URI in Content-Location"

  static let all: [Sentence] = [
    Sentence("1.2.2", "a delta-seconds that is too large MUST be considered 2147483648", lifetime),
    Sentence(
      "1.2.2", "an overflow of subsequent calculations likewise",
      "the calculation of a response's age doesn't overflow, even with the largest and smallest times of the type"),
    // Sentences about storing responses.
    Sentence("3", "MUST NOT store unless the method is understood", storing),
    Sentence("3", "MUST NOT store unless the status code is final", storing),
    Sentence(
      "3", "MUST NOT store a 206 or 304, or with must-understand, unless the status code is understood", storing),
    Sentence("3", "MUST NOT store with no-store in the response", storing),
    Sentence("3", "MUST NOT store unless public, private, Expires, max-age or the status code allow it", storing),
    Sentence("3.1", "MUST include all received response header fields, even unrecognized ones", fields),
    Sentence("3.1", "Connection and the fields that it names MAY be removed before storage", fields),
    Sentence("3.1", "other fields that aren't forwarded MAY be removed before storage", fields),
    Sentence(
      "3.1", "Proxy-Authenticate, Proxy-Authentication-Info and Proxy-Authorization MUST NOT be stored", fields),
    Sentence(
      "3.1", "MAY discard trailer fields, and MUST NOT combine them with header fields",
      "the session's cache doesn't store a response's trailer section, and doesn't serve its fields", byAbsence: true),
    Sentence("3.2", "MUST add each header field of the provided response, replacing values already present", updated),
    Sentence("3.2", "except for the fields that aren't stored", updated),
    Sentence("3.2", "except for the fields of the body's processing, such as Content-Encoding", updated),
    Sentence("3.2", "except for Content-Length", updated),
    Sentence("3.2", "SHOULD limit the exceptions to what the stored body's integrity needs", updated),
    Sentence(
      "3.3", "MAY store an incomplete response only if it's recorded as incomplete",
      "a cache writer that isn't committed leaves no file"),
    Sentence(
      "3.3", "MUST NOT store incomplete responses without support for ranges",
      "the session's cache doesn't store an incomplete response to a validation in the background"),
    Sentence("3.3", "MUST NOT store partial responses without support for combining them", storing),
    Sentence(
      "3.3", "MUST NOT use an incomplete response to answer requests",
      "the disk cache deletes a record that is truncated or has extra bytes, even if its file name contains the new size"
    ),
    Sentence("3.3", "MUST NOT send a partial response without the status code 206", range),
    Sentence(
      "3.3", "MUST NOT use a partial response unless the requested range is wholly within it",
      "a stored part answers only requests for a single range that is wholly within it"),
    Sentence("3.4", "MUST NOT combine unless they share the same strong validator", combining),
    Sentence("3.4", "the fields of the new response replace those of the stored one, except Content-Range", combining),
    // Sentences about constructing responses from stored ones.
    Sentence(
      "4", "MUST NOT reuse unless the URI matches",
      "the cache key of a stored response contains neither user information nor a fragment"),
    Sentence("4", "MUST NOT reuse unless the stored method allows it", serving),
    Sentence("4", "MUST NOT reuse unless the fields that Vary names match", vary),
    Sentence("4", "MUST NOT reuse with no-cache unless successfully validated", serving),
    Sentence("4", "MUST NOT reuse unless fresh, allowed to be stale, or successfully validated", serving),
    Sentence(
      "4", "MUST generate Age, replacing any, when served without validation",
      "the cache serves a stored response with its current age in the Age field, whether the response is fresh or stale"
    ),
    Sentence("4", "MUST write unsafe methods through", serving),
    Sentence(
      "4", "a response satisfies several requests at once only if it may be reused for each",
      "if a response's head shows that the response can't be shared, waiting requests are sent before its body has arrived"
    ),
    Sentence(
      "4", "MUST use the most recent of several suitable responses",
      "of several matching stored responses, the cache prefers those with Vary, and then the one with the latest Date"),
    Sentence(
      "4", "MUST revalidate upon every use without a clock, or if the clock was set back",
      "if the clock was set back to before a stored response was received, the response has the maximum age"),
    Sentence("4.1", "fields match after combining lines, removing white space and normalizing values", vary),
    Sentence("4.1", "a field that is absent matches only if it is absent in both requests", vary),
    Sentence("4.1", "Vary with * always fails to match", storing),
    Sentence(
      "4.1", "SHOULD choose the most recent response with Vary if others omit it",
      "of several matching stored responses, the cache prefers those with Vary, and then the one with the latest Date"),
    Sentence(
      "4.2", "response_is_fresh = (freshness_lifetime > current_age)",
      "a stored response is fresh while its lifetime is greater than its age, and stale afterward"),
    Sentence("4.2", "SHOULD match dates case-insensitively", lifetime),
    Sentence(
      "4.2", "MUST represent Expires as the nearest time that isn't later than its value", lifetime, byAbsence: true),
    Sentence("4.2", "MUST NOT let local time zones influence ages and expiration times", lifetime, byAbsence: true),
    Sentence("4.2", "SHOULD consider a date with a zone other than GMT invalid", lifetime),
    Sentence("4.2.1", "max-age, else Expires minus Date, else a heuristic", lifetime),
    Sentence("4.2.1", "of several values, the first should be used or the response be stale", lifetime),
    Sentence("4.2.1", "are encouraged to consider invalid freshness information stale", lifetime),
    Sentence("4.2.1", "the most restrictive of conflicting directives should be honored", serving),
    Sentence("4.2.2", "MUST NOT use heuristics with an explicit expiration time", lifetime),
    Sentence(
      "4.2.2", "MUST NOT use heuristics for status codes that aren't heuristically cacheable, unless public",
      "the cache uses heuristic lifetimes for exactly the status codes that RFC 9110 defines as heuristically cacheable"
    ),
    Sentence("4.2.2", "are encouraged to use no more than a tenth of the time since Last-Modified", lifetime),
    Sentence("4.2.3", "current_age from apparent_age, corrected_age_value and resident_time", age),
    Sentence("4.2.3", "MUST interpret Age relative to the time of the request, not of the response", age),
    Sentence("4.2.4", "MUST NOT generate a stale response if a directive prohibits it", serving),
    Sentence("4.2.4", "MUST NOT generate a stale response unless it is explicitly permitted", serving),
    // Sentences about validation.
    Sentence(
      "4.3.1", "MUST send the entity tags of the responses being validated",
      "a validation request contains the stored response's entity tag and Last-Modified as received"),
    Sentence(
      "4.3.1", "SHOULD send Last-Modified if a single response is being validated",
      "a validation request contains the stored response's entity tag and Last-Modified as received"),
    Sentence(
      "4.3.1", "MAY validate responses that the request's fields don't select",
      "If-None-Match lists the entity tag of the selected response, then other variants' strong tags, latest first"),
    Sentence(
      "4.3.1", "a request that the cache initiates has the method, URI and Vary's fields of the response", background),
    Sentence("4.3.2", "MUST NOT evaluate conditions that only an origin evaluates", own),
    Sentence(
      "4.3.2", "MUST NOT evaluate conditions of requests that no stored response can satisfy",
      "the cache forwards a caller's conditions unchanged if no stored response can be served", byAbsence: true),
    Sentence("4.3.2", "If-None-Match takes precedence over If-Modified-Since", own),
    Sentence("4.3.2", "SHOULD generate a 304 if the selected response matches If-None-Match or If-Modified-Since", own),
    Sentence(
      "4.3.2", "without Last-Modified, Date is compared",
      "if a stored response has no Last-Modified, If-Modified-Since is compared with its Date"),
    Sentence(
      "4.3.2", "without Last-Modified and Date, the time of arrival is compared",
      "if a stored response has no Last-Modified or Date, If-Modified-Since is compared with its time of receipt"),
    Sentence("4.3.2", "needs to evaluate If-Range", range),
    Sentence(
      "4.3.3", "after a 304, the stored response can be updated and reused",
      "after a 304 with a strong entity tag, the cache serves and updates the variant with that tag, whichever the request selects"
    ),
    Sentence(
      "4.3.3", "MUST use a full response to satisfy the request",
      "a full response to a validation request replaces the stored response, and a 4xx response is passed on"),
    Sentence("4.3.3", "can serve a stored response if a 5xx arrives while validating", afterError),
    Sentence("4.3.4", "the responses to update are those that could have been chosen for the request", shared),
    Sentence("4.3.4", "a 304's strong validator updates all responses with it, and no others", selection),
    Sentence(
      "4.3.4", "MUST NOT use a 304 for an update if no stored response has its strong validator",
      "a 304 with the strong form of a stored weak tag, as nginx sends it, confirms the stored response, but doesn't update it"
    ),
    Sentence("4.3.4", "a 304's weak validator updates the most recent match", selection),
    Sentence("4.3.4", "a 304 without a validator updates the only response if that has none either", anonymous),
    Sentence("4.3.4", "MUST update the fields of these responses with those of the 304", updated),
    Sentence(
      "4.3.5", "SHOULD update or invalidate only the responses that could have been chosen",
      "a response to HEAD changes only the stored variants that the request can select"),
    Sentence("4.3.5", "SHOULD update a response if its validators and length match a 200 to HEAD", head),
    Sentence("4.3.5", "SHOULD consider a response stale if they don't match", head),
    Sentence("4.3.5", "MUST use the fields of the response to HEAD for the update", head),
    // Sentences about invalidation.
    Sentence("4.4", "MUST invalidate the target URI after a non-error response to an unsafe method", invalidation),
    Sentence("4.4", "MAY invalidate Location and Content-Location", invalidation),
    Sentence("4.4", "MUST NOT invalidate URIs of other origins", invalidation),
    Sentence(
      "4.4", "an invalidated response is in need of a mandatory validation",
      "the cache uses an invalidated response only after validation, even if the response is fresh"),
    // Sentences about the fields Age, Cache-Control and Expires.
    Sentence("5.1", "SHOULD use the first member of a list in Age", age),
    Sentence("5.1", "SHOULD ignore an invalid Age", age),
    Sentence("5.2", "directives are case-insensitive, and both forms of arguments ought to be accepted", lifetime),
    Sentence("5.2.1.1", "max-age: no older response, and no stale one without max-stale", serving),
    Sentence("5.2.1.2", "max-stale: a response that is stale for no more than the seconds, or for any time", serving),
    Sentence("5.2.1.3", "min-fresh: a response that stays fresh for the seconds", serving),
    Sentence("5.2.1.4", "no-cache: no stored response without validation", serving),
    Sentence("5.2.1.5", "no-store: MUST NOT store any response to the request", storing),
    Sentence(
      "5.2.1.5", "no-store: MUST NOT store any part of a response that validates",
      "if a request has no-store, neither a 304 nor a response to HEAD updates the stored response"),
    Sentence("5.2.1.5", "no-store doesn't apply to a response that is already stored", serving, byAbsence: true),
    Sentence("5.2.1.7", "only-if-cached: a stored response or 504", serving),
    Sentence(
      "5.2.1.7", "the client only wishes to obtain a stored response",
      "a stale response is served without a revalidation in the background if the request has only-if-cached"),
    Sentence("5.2.2.1", "max-age: stale after the seconds", lifetime),
    Sentence("5.2.2.2", "must-revalidate: MUST NOT reuse a stale response without validation", serving),
    Sentence("5.2.2.2", "must-revalidate: an error if the origin can't be reached", afterError),
    Sentence("5.2.2.3", "must-understand: SHOULD ignore no-store if the status code is understood", storing),
    Sentence("5.2.2.4", "no-cache: MUST NOT be used without validation", serving),
    Sentence(
      "5.2.2.4", "no-cache with fields: they're excluded from a response without validation",
      "the cache doesn't serve the fields listed in a no-cache directive without validation"),
    Sentence("5.2.2.5", "no-store: MUST NOT store any part", storing),
    Sentence(
      "5.2.2.5", "no-store in a 304: MUST NOT use the response for other requests",
      "after a 304 with no-store or Vary: *, the cache serves the stored response and then removes it"),
    Sentence("5.2.2.7", "private: a private cache MAY store the response", storing),
    Sentence("5.2.2.8", "proxy-revalidate is for shared caches", serving, byAbsence: true),
    Sentence("5.2.2.9", "public: MAY store the response", storing),
    Sentence("5.2.2.9", "public: heuristically cacheable without explicit freshness information", lifetime),
    Sentence("5.2.2.10", "s-maxage is for shared caches", lifetime, byAbsence: true),
    Sentence("5.2.3", "MUST ignore unrecognized directives", serving, byAbsence: true),
    Sentence("5.3", "MUST interpret invalid dates in Expires as in the past", lifetime),
    Sentence("5.3", "MUST ignore Expires with max-age", lifetime),
    // Sentences of RFC 5861.
    Sentence("RFC 5861 §3", "MAY serve a stale response up to the seconds", serving),
    Sentence("RFC 5861 §3", "SHOULD revalidate it meanwhile", background),
    Sentence("RFC 5861 §3", "SHOULD NOT serve it after the seconds", serving),
    Sentence(
      "RFC 5861 §4", "MAY serve a stale response after 500, 502, 503 or 504, regardless of freshness", afterError),
    Sentence("RFC 5861 §4", "SHOULD NOT serve a response that is staler than the limit", afterError),
    Sentence("RFC 5861 §4", "applies to one request or to all requests for the response", afterError),
    Sentence("RFC 5861 §4", "stale responses SHOULD still be visibly stale, by their Age", afterError),
    // Sentences of RFC 6585.
    Sentence("RFC 6585 §3 to §6", "responses with 428, 429, 431 and 511 MUST NOT be stored", storing),
    // Sentences of RFC 8246 and RFC 9110.
    Sentence(
      "RFC 8246 §3", "immutable SHOULD be ignored without an authenticated context",
      "a fresh immutable response that wasn't received over https is validated like any other"),
    Sentence(
      "RFC 9110 §9.3.3",
      "a response to POST is cacheable only with explicit freshness and the target in Content-Location",
      post),
  ]
}
