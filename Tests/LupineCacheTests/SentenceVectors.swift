// SentenceVectors: the normative sentences of RFC 9111 §3 to §5 and RFC 5861 that apply to a private cache, each with the
// test that fails without it. Sentences for shared caches, senders and intermediaries are left out, and those that the
// cache fulfils by never doing something have the test that shows it.

import Testing

/// A sentence, shortened, and the name of its test.
struct Sentence: Sendable, CustomTestStringConvertible {
  let section: String
  let text: String
  let test: String

  init(_ section: String, _ text: String, _ test: String) {
    self.section = section
    self.text = text
    self.test = test
  }

  var testDescription: String { "\(section): \(text)" }

  /// The names of tests that occur several times.
  private static let storing = "a response is stored unless its method, status code, directives or Vary forbid it"
  private static let serving =
    "a stored response is served only if its freshness, both messages' directives and the policy permit it"
  private static let lifetime =
    "the lifetime is max-age, or else the time until Expires, or else a tenth of the time since the last modification"
  private static let age =
    "the age is the larger of Date's and Age's values, plus the exchange's delay and the time in the cache"
  private static let vary =
    "a response with Vary is used only for requests with equivalent values of the fields that it names"
  private static let own =
    "a caller's own conditions are evaluated for a fresh response, except those that only the origin evaluates"
  private static let selection =
    "a 304 updates all responses with its strong tag, or else the latest one with its weak tag, or else none"
  private static let updated =
    "a 304 replaces all fields that it contains, except those that describe the stored body or the connection"
  private static let invalidation =
    "a successful unsafe request invalidates its URI, and the same-origin URIs in Location and Content-Location"
  private static let afterError =
    "after a server or network error, a stale response is served within stale-if-error unless something forbids it"
  private static let head =
    "a response to HEAD updates a stored GET response with the same validators and length, or else invalidates it"

  static let all: [Sentence] = [
    Sentence("1.2.2", "a delta-seconds that is too large MUST be considered 2147483648", lifetime),
    Sentence(
      "1.2.2", "an overflow of subsequent calculations likewise", "times at the limits of their type don't overflow"),
    // Storing.
    Sentence("3", "MUST NOT store unless the method is understood", storing),
    Sentence("3", "MUST NOT store unless the status code is final", storing),
    Sentence(
      "3", "MUST NOT store a 206 or 304, or with must-understand, unless the status code is understood", storing),
    Sentence("3", "MUST NOT store with no-store in the response", storing),
    Sentence("3", "MUST NOT store unless public, private, Expires, max-age or the status code allow it", storing),
    Sentence(
      "3.1", "MUST include all received response header fields, even unrecognized ones",
      "all fields are stored as received, except those of the connection and of proxies"),
    Sentence(
      "3.1", "Connection and the fields that it names MAY be removed before storage",
      "all fields are stored as received, except those of the connection and of proxies"),
    Sentence(
      "3.1", "Proxy-Authenticate, Proxy-Authentication-Info and Proxy-Authorization MUST NOT be stored",
      "all fields are stored as received, except those of the connection and of proxies"),
    Sentence("3.2", "MUST add each header field of the provided response, replacing values already present", updated),
    Sentence(
      "3.2", "except for the fields that aren't stored, those of the body's processing, and Content-Length", updated),
    Sentence(
      "3.3", "MUST NOT store incomplete responses without support for ranges",
      "a writer that isn't committed leaves no file"),
    Sentence("3.3", "MUST NOT store partial responses without support for combining them", storing),
    // Constructing responses.
    Sentence(
      "4", "MUST NOT reuse unless the URI matches",
      "the key of a stored response contains neither user information nor a fragment"),
    Sentence("4", "MUST NOT reuse unless the stored method allows it", serving),
    Sentence("4", "MUST NOT reuse unless the fields that Vary names match", vary),
    Sentence("4", "MUST NOT reuse with no-cache unless successfully validated", serving),
    Sentence("4", "MUST NOT reuse unless fresh, allowed to be stale, or successfully validated", serving),
    Sentence(
      "4", "MUST generate Age, replacing any, when served without validation",
      "a served response contains its current age, which replaces an Age field, for each status of the response"),
    Sentence("4", "MUST write unsafe methods through", serving),
    Sentence(
      "4", "MUST use the most recent of several suitable responses",
      "among several matching responses, one with Vary is preferred, then the one with the latest Date"),
    Sentence("4.1", "a field that is absent matches only if it is absent in both requests", vary),
    Sentence("4.1", "Vary with * always fails to match", storing),
    Sentence(
      "4.1", "SHOULD choose the most recent response with Vary if others omit it",
      "among several matching responses, one with Vary is preferred, then the one with the latest Date"),
    Sentence(
      "4.2", "response_is_fresh = (freshness_lifetime > current_age)",
      "a response is fresh while its lifetime is greater than its age, and stale afterward"),
    Sentence("4.2", "SHOULD match dates case-insensitively", lifetime),
    Sentence("4.2", "SHOULD consider a date with a zone other than GMT invalid", lifetime),
    Sentence("4.2.1", "max-age, else Expires minus Date, else a heuristic", lifetime),
    Sentence("4.2.1", "of several values, the first should be used or the response be stale", lifetime),
    Sentence("4.2.1", "are encouraged to consider invalid freshness information stale", lifetime),
    Sentence("4.2.1", "the most restrictive of conflicting directives should be honored", serving),
    Sentence("4.2.2", "MUST NOT use heuristics with an explicit expiration time", lifetime),
    Sentence(
      "4.2.2", "MUST NOT use heuristics for status codes that aren't heuristically cacheable, unless public",
      "heuristic lifetimes apply to exactly the status codes that RFC 9110 defines as heuristically cacheable"),
    Sentence("4.2.2", "are encouraged to use no more than a tenth of the time since Last-Modified", lifetime),
    Sentence("4.2.3", "current_age from apparent_age, corrected_age_value and resident_time", age),
    Sentence("4.2.4", "MUST NOT generate a stale response if a directive prohibits it", serving),
    Sentence("4.2.4", "MUST NOT generate a stale response unless it is explicitly permitted", serving),
    // Validation.
    Sentence(
      "4.3.1", "MUST send the entity tags of the responses being validated",
      "a validation request contains the response's entity tag and Last-Modified as received"),
    Sentence(
      "4.3.1", "SHOULD send Last-Modified if a single response is being validated",
      "a validation request contains the response's entity tag and Last-Modified as received"),
    Sentence(
      "4.3.1", "MAY validate responses that the request's fields don't select",
      "If-None-Match lists the selected response's tag, then the strong tags of all other variants, latest first"),
    Sentence("4.3.2", "MUST NOT evaluate conditions that only an origin evaluates", own),
    Sentence("4.3.2", "SHOULD generate a 304 if the selected response matches If-None-Match or If-Modified-Since", own),
    Sentence(
      "4.3.2", "without Last-Modified, Date is compared",
      "without Last-Modified, If-Modified-Since is compared with Date"),
    Sentence(
      "4.3.2", "SHOULD evaluate If-Range", "a single range is served from a complete stored response of 1000 bytes"),
    Sentence(
      "4.3.3", "MUST use a full response to satisfy the request",
      "a full response replaces the stored one, and errors other than server errors are passed on"),
    Sentence("4.3.3", "can serve a stored response if a 5xx arrives while validating", afterError),
    Sentence("4.3.4", "a 304's strong validator updates all responses with it, and no others", selection),
    Sentence("4.3.4", "a 304's weak validator updates the most recent match", selection),
    Sentence(
      "4.3.4", "a 304 without a validator updates the only response if that has none either",
      "a 304 without validators updates the only stored response if that response has no validators either"),
    Sentence("4.3.5", "SHOULD update or invalidate the selectable responses after a 200 to HEAD", head),
    // Invalidation.
    Sentence("4.4", "MUST invalidate the target URI after a non-error response to an unsafe method", invalidation),
    Sentence("4.4", "MAY invalidate Location and Content-Location", invalidation),
    Sentence("4.4", "MUST NOT invalidate URIs of other origins", invalidation),
    Sentence(
      "4.4", "an invalidated response is in need of a mandatory validation",
      "an invalidated response is used only after validation, even if it is fresh"),
    // Fields.
    Sentence("5.1", "SHOULD use the first member of a list in Age", age),
    Sentence("5.1", "SHOULD ignore an invalid Age", age),
    Sentence("5.2", "directives are case-insensitive, and both forms of arguments ought to be accepted", lifetime),
    Sentence("5.2.1.1", "max-age: no older response, and no stale one without max-stale", serving),
    Sentence("5.2.1.2", "max-stale: a response that is stale for no more than the seconds, or for any time", serving),
    Sentence("5.2.1.3", "min-fresh: a response that stays fresh for the seconds", serving),
    Sentence("5.2.1.4", "no-cache: no stored response without validation", serving),
    Sentence("5.2.1.5", "no-store: MUST NOT store any response to the request", storing),
    Sentence("5.2.1.5", "no-store doesn't apply to a response that is already stored", serving),
    Sentence("5.2.1.7", "only-if-cached: a stored response or 504", serving),
    Sentence("5.2.2.1", "max-age: stale after the seconds", lifetime),
    Sentence("5.2.2.2", "must-revalidate: MUST NOT reuse a stale response without validation", serving),
    Sentence("5.2.2.2", "must-revalidate: an error if the origin can't be reached", afterError),
    Sentence("5.2.2.3", "must-understand: SHOULD ignore no-store if the status code is understood", storing),
    Sentence("5.2.2.4", "no-cache: MUST NOT be used without validation", serving),
    Sentence(
      "5.2.2.4", "no-cache with fields: they're excluded from a response without validation",
      "fields that no-cache names aren't served without validation"),
    Sentence("5.2.2.5", "no-store: MUST NOT store any part", storing),
    Sentence("5.2.2.7", "private: a private cache can store the response", storing),
    Sentence("5.2.2.10", "s-maxage is for shared caches", lifetime),
    Sentence("5.2.3", "MUST ignore unrecognized directives", serving),
    Sentence("5.3", "MUST interpret invalid dates in Expires as in the past", lifetime),
    Sentence("5.3", "MUST ignore Expires with max-age", lifetime),
    // RFC 5861.
    Sentence(
      "RFC 5861 §3", "MAY serve a stale response up to the seconds, and SHOULD revalidate it meanwhile", serving),
    Sentence("RFC 5861 §3", "SHOULD NOT serve it after the seconds", serving),
    Sentence(
      "RFC 5861 §4", "MAY serve a stale response after 500, 502, 503 or 504, regardless of freshness", afterError),
    Sentence("RFC 5861 §4", "SHOULD NOT serve a response that is staler than the limit", afterError),
    Sentence("RFC 5861 §4", "applies to one request or to all requests for the response", afterError),
  ]
}
