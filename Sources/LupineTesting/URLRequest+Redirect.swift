// URLRequest+Redirect: the request that follows a redirect response from a stub or a recording.

import Foundation
import LupineURLSession

extension URLRequest {
  /// Returns the request to which a response redirects, or nil if it doesn't redirect. As for redirects over the network, the
  /// request becomes GET without a body after 303, unless its method is HEAD, and after 301 and 302 if its method is POST (RFC
  /// 9110 §15.4). If the origin changes, Authorization and Cookie are removed.
  func redirected(by response: HTTPURLResponse) -> URLRequest? {
    guard [301, 302, 303, 307, 308].contains(response.statusCode),
      let location = response.value(forHTTPHeaderField: "Location"),
      let target = URL(string: location, relativeTo: url)?.absoluteURL
    else { return nil }
    var next = self
    next.url = target
    let method = httpMethod ?? "GET"
    if response.statusCode == 303 && method != "HEAD" || [301, 302].contains(response.statusCode) && method == "POST" {
      next.httpMethod = "GET"
      next.httpBody = nil
      for name in ["Content-Type", "Content-Length"] { next.setValue(nil, forHTTPHeaderField: name) }
    }
    if target.host != url?.host || target.port != url?.port || target.scheme != url?.scheme {
      for name in ["Authorization", "Cookie"] { next.setValue(nil, forHTTPHeaderField: name) }
    }
    return next
  }
}
