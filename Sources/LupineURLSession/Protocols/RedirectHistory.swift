// RedirectHistory: the redirects that led to a task's request if a URLProtocol took part in them, and their effect on the
// request's fields.

import Foundation
import LupineEngine

/// The redirects that led to a request, if a ``URLProtocol`` has reported one of them or answers the request. By default, there
/// are none.
struct RedirectHistory: Sendable {
  /// The number of redirects.
  var count = 0
  /// Whether a redirect has left the origin of the request before it. The session's fields that are bound to an origin are added
  /// only to requests before that redirect.
  var hasLeftOrigin = false
  /// Whether an earlier request was for an `http` or `https` URL. A response over HTTP never leads to a local file.
  var hasUsedHTTP = false
  /// Whether the session's client certificate may be presented to the request's origin.
  var presentsIdentity = true
  /// Whether the task's body is sent, because no redirect has dropped it.
  var keepsBody = true

  /// Adds the redirect from `sent` to `next`.
  mutating func add(from sent: URLRequest, to next: URLRequest) {
    count += 1
    let (origin, nextOrigin) = (sent.origin, next.origin)
    if !next.hasSameOrigin(as: sent) { hasLeftOrigin = true }
    if origin != nil { hasUsedHTTP = true }
    if let origin, let nextOrigin {
      presentsIdentity = presentsIdentity && RedirectRule.keepsIdentity(from: origin, to: nextOrigin)
    } else {
      presentsIdentity = false
    }
    keepsBody = !next.body.isEmpty && next.body == sent.body
  }
}

extension RedirectRule {
  /// Returns the request of a redirect without the fields that only the origin of `earlier` may receive, if the request is for
  /// another origin. A field whose value has been changed is kept.
  func limited(_ request: URLRequest, after earlier: URLRequest) -> URLRequest {
    guard !request.hasSameOrigin(as: earlier) else { return request }
    var limited = request
    for field in request.fields
    where isBoundToOrigin(field.name) && earlier.fields.first(field.name) == field.value {
      limited.fields.remove(field.name)
    }
    return limited
  }
}

extension URLRequest {
  /// The origin of the URL, or nil if no request over HTTP can be sent to the URL.
  fileprivate var origin: Origin? { url.flatMap { try? URI($0.absoluteString) }?.origin }

  /// Returns whether the URLs have the same origin. For URLs of other schemes, this is the case if their schemes, hosts and ports
  /// are equal.
  fileprivate func hasSameOrigin(as other: URLRequest) -> Bool {
    if let origin { return origin == other.origin }
    return url?.scheme?.lowercased() == other.url?.scheme?.lowercased()
      && url?.host?.lowercased() == other.url?.host?.lowercased() && url?.port == other.url?.port
  }
}
