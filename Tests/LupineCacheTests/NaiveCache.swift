// NaiveCache: a second, simple implementation of RFC 9111 over dictionaries, with which the cache's decisions are compared.

import LupineWire

/// A request or response in the simplest form: field values by lowercase name. Dates are seconds after `start`.
typealias Message = [String: String]

/// A stored response in the naive implementation of the cache.
struct NaiveResponse {
  var request: Message
  var status: Int
  var response: Message
  var sent: Int
  var received: Int
  /// The only session that may reuse the response, or nil if all sessions share it.
  var session: String?
  var mustValidate = false
}

/// A naive implementation of RFC 9111, with which tests compare the cache. It supports only well-formed messages.
enum NaiveCache {
  /// Returns the value of a Cache-Control directive, "" for a directive without a value, or nil if the directive is absent.
  static func directive(_ name: String, _ message: Message) -> String? {
    for part in (message["cache-control"] ?? "").split(separator: ",") {
      let text = part.drop { $0 == " " }
      if text == name { return "" }
      if text.hasPrefix(name + "=") { return String(text.dropFirst(name.count + 1)) }
    }
    return nil
  }

  static func number(_ name: String, _ message: Message) -> Int? { directive(name, message).flatMap { Int($0) } }

  // RFC 9111 §3: whether the response is stored.
  static func stores(_ request: Message, method: String, status: Int, _ response: Message) -> Bool {
    if method != "GET" { return false }
    if status < 200 || status == 206 || status == 304 { return false }
    if directive("no-store", request) != nil { return false }
    if directive("no-store", response) != nil { return false }
    if response["vary"] == "*" { return false }
    let explicit = ["public", "private", "max-age"].contains { directive($0, response) != nil }
    return explicit || response["expires"] != nil || [200, 404].contains(status)
  }

  // RFC 9111 §4.2.3: the age of a stored response, in seconds.
  static func age(_ stored: NaiveResponse, now: Int) -> Int {
    let date = stored.response["date"].flatMap { Int($0) } ?? stored.received
    let apparentAge = max(0, stored.received - date)
    let corrected = (stored.response["age"].flatMap { Int($0) } ?? 0) + (stored.received - stored.sent)
    return max(apparentAge, corrected) + (now - stored.received)
  }

  // RFC 9111 §4.2.1 and §4.2.2: the freshness lifetime of a stored response, in seconds.
  static func lifetime(_ stored: NaiveResponse) -> Int {
    let date = stored.response["date"].flatMap { Int($0) } ?? stored.received
    if let seconds = number("max-age", stored.response) { return seconds }
    if let expires = stored.response["expires"].flatMap({ Int($0) }) { return max(0, expires - date) }
    if let modified = stored.response["last-modified"].flatMap({ Int($0) }) {
      let allowed = [200, 404].contains(stored.status) || directive("public", stored.response) != nil
      return allowed ? min(86_400, max(0, date - modified) / 10) : 0
    }
    return 0
  }

  // RFC 9111 §4 and §4.1: the index of the stored response that the request selects.
  static func selected(_ request: Message, _ session: String, _ stored: [NaiveResponse]) -> Int? {
    var best: Int?
    for (index, candidate) in stored.enumerated() where matches(request, session, candidate) {
      guard let current = best else {
        best = index
        continue
      }
      let (old, new) = (stored[current], candidate)
      let oldDate = old.response["date"].flatMap { Int($0) } ?? old.received
      let newDate = new.response["date"].flatMap { Int($0) } ?? new.received
      let oldVaries = old.response["vary"] != nil
      let newVaries = new.response["vary"] != nil
      if newVaries != oldVaries {
        if newVaries { best = index }
      } else if newDate != oldDate {
        if newDate > oldDate { best = index }
      } else if new.received > old.received {
        best = index
      }
    }
    return best
  }

  static func matches(_ request: Message, _ session: String, _ stored: NaiveResponse) -> Bool {
    if let owner = stored.session, owner != session { return false }
    guard let name = stored.response["vary"] else { return true }
    return request[name] == stored.request[name]
  }

  /// Returns the decision, written like `CacheDecision.word`, and the index of the stored response that the request selects.
  static func decide(
    _ request: Message, method: String, policy: CachePolicyName, session: String, _ stored: [NaiveResponse], now: Int
  ) -> (word: String, index: Int?) {
    let onlyStored = policy == .storedOnly || directive("only-if-cached", request) != nil
    func send(_ why: String) -> (String, Int?) { onlyStored ? ("gatewayTimeout", nil) : ("forward: \(why)", nil) }
    if method != "GET" && method != "HEAD" { return send("method") }
    if policy == .reload { return send("policy") }
    guard let index = selected(request, session, stored) else {
      let readable = stored.contains { $0.session == nil || $0.session == session }
      return send(readable ? "noVariant" : "nothingStored")
    }
    let response = stored[index]
    let (age, lifetime) = (age(response, now: now), lifetime(response))
    if policy == .storedElseLoad || policy == .storedOnly {
      let isExplicit = directive("max-age", response.response) != nil || response.response["expires"] != nil
      let isEstimated = !isExplicit && response.response["last-modified"] != nil
      return response.status >= 400 && isEstimated && age >= lifetime ? send("stale") : ("policy", index)
    }
    if response.mustValidate || directive("no-cache", response.response) != nil { return send("validationRequired") }
    if policy == .validate && (age >= lifetime || directive("immutable", response.response) == nil) {
      return send("policy")
    }
    if directive("no-cache", request) != nil { return send("requestDirective") }
    if let seconds = number("max-age", request), age > seconds { return send("requestDirective") }
    if let seconds = number("min-fresh", request), lifetime < age + seconds { return send("requestDirective") }
    if lifetime > age { return ("fresh", index) }
    if directive("must-revalidate", response.response) != nil { return send("validationRequired") }
    let staleness = age - lifetime
    if let stale = directive("max-stale", request), stale == "" || staleness <= Int(stale) ?? 0 {
      return ("maxStale", index)
    }
    if directive("max-age", request) == nil, let seconds = number("stale-while-revalidate", response.response),
      staleness <= seconds
    {
      return ("staleWhileRevalidate", index)
    }
    return send("stale")
  }

  // RFC 9111 §4.3.4: the indices of the stored responses that a 304 with this entity tag updates.
  static func updated(
    _ request: Message, _ session: String, tag: String, _ stored: [NaiveResponse]
  ) -> Set<Int> {
    // A 304 contains only an entity tag that the request has sent: that of the selected response, or a strong tag of a response
    // that the session may read.
    let readable = stored.indices.filter { stored[$0].session == nil || stored[$0].session == session }
    return Set(readable.filter { stored[$0].response["etag"] == tag })
  }

  // RFC 9111 §3.2: the stored response with the fields of a 304.
  static func freshen(_ stored: NaiveResponse, by answer: Message, session: String?, at now: Int) -> NaiveResponse {
    var new = stored
    new.response["age"] = nil
    for (name, value) in answer { new.response[name] = value }
    if answer["date"] == nil { new.response["date"] = "\(now)" }
    new.sent = now
    new.received = now
    new.mustValidate = false
    if new.session == nil { new.session = session }
    return new
  }
}

enum CachePolicyName: CaseIterable { case automatic, reload, storedElseLoad, storedOnly, validate }
