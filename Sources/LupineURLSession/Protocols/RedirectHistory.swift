// RedirectHistory: the redirects that led to a task's request if a URLProtocol took part in them, and their effect on the
// request's fields.

import Foundation
import LupineEngine

/// The redirects that led to a task's request, in summary. Recorded if a ``URLProtocol`` has reported one of the redirects or
/// answers the request. By default, there are no redirects.
struct RedirectHistory: Sendable {
  /// The number of redirects that led to the task's request.
  var count = 0
  /// Whether any redirect has led to another origin. If true, the session doesn't add the fields that its redirect rule binds to an
  /// origin, such as Authorization.
  var hasLeftOrigin = false
  /// The URL of the latest earlier request for an `http` or `https` URL, or nil if there was none. Its server may have caused the
  /// later redirects, so they must be permitted for a redirect of this server.
  var httpURL: URL?
  /// Whether the session's client certificate may be presented to the request's origin.
  var presentsIdentity = true
  /// Whether the redirected request must have the task's body. False if a redirect has removed or replaced the body.
  var keepsBody = true

  /// Whether any earlier request was for an `http` or `https` URL. If true, redirects to a local file are refused.
  var hasUsedHTTP: Bool { httpURL != nil }

  /// Returns the URL of the latest request for an `http` or `https` URL: that of `sent`, which follows the redirects of this
  /// history, or of an earlier request. Returns nil if there was no such request.
  func httpURL(before sent: URLRequest) -> URL? { sent.isForHTTP ? sent.url : httpURL }

  /// Adds a redirect to the history. `sent` is the request that was redirected, and `next` the request that follows.
  mutating func add(from sent: URLRequest, to next: URLRequest) {
    count += 1
    let (origin, nextOrigin) = (sent.origin, next.origin)
    if !next.hasSameOrigin(as: sent) { hasLeftOrigin = true }
    httpURL = httpURL(before: sent)
    if let origin, let nextOrigin {
      presentsIdentity = presentsIdentity && RedirectRule.keepsIdentity(from: origin, to: nextOrigin)
    } else {
      presentsIdentity = false
    }
    keepsBody = keepsBody && !next.body.isEmpty && next.body == sent.body
  }
}

extension RedirectRule {
  /// Returns `request`, which follows a redirect of `earlier`, without the fields that must not be sent to another origin. If the
  /// two requests have different origins, removes the fields that this rule binds to an origin, unless their values differ from
  /// those in `earlier`. Otherwise returns `request` unchanged.
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
  /// The origin of the request's URL. Nil if the URL's scheme isn't `http` or `https`, or if the URL is malformed.
  fileprivate var origin: Origin? { url.flatMap { try? URI($0.absoluteString) }?.origin }

  /// Whether the scheme of the request's URL begins with `http`, as in `https` or `http+unix`, even if the URL is invalid.
  fileprivate var isForHTTP: Bool { url?.scheme?.lowercased().hasPrefix("http") ?? false }

  /// Returns whether the URLs of the two requests have the same origin. Two URLs with a scheme other than `http` and `https` have
  /// the same origin if their schemes, hosts and ports are equal.
  fileprivate func hasSameOrigin(as other: URLRequest) -> Bool {
    if let origin { return origin == other.origin }
    return url?.scheme?.lowercased() == other.url?.scheme?.lowercased()
      && url?.host?.lowercased() == other.url?.host?.lowercased() && url?.port == other.url?.port
  }
}
