// URLProtocol+Redirect: the redirects of protocols that answer in place of HTTP servers, by the session's redirect rule.

package import Foundation
import LupineEngine

extension ProtocolTransfer {
  /// A redirect that a URL protocol has reported.
  struct Redirect {
    /// The request to which the response redirects, as the protocol proposes it.
    var request: URLRequest
    let response: URLResponse
    /// The body of the redirect response, which the task receives if it doesn't follow the redirect.
    var body = Data()
    /// The error because of which the session's redirect rule refuses the redirect. Nil if the rule permits it.
    var refusal: URLError?

    /// Returns nil if the task may send `chosen`, the request that its delegate has chosen for the redirect. Otherwise returns the
    /// error with which the task fails: the redirect rule refuses `chosen` for the same reason as the proposed request. This is the
    /// case if their URLs are equal, or if both lead from https to http.
    func refusal(of chosen: URLRequest) -> URLError? {
      guard let refusal else { return nil }
      let isForItsScheme =
        refusal.code == .redirectToNonExistentLocation
        && chosen.url?.scheme?.lowercased() == request.url?.scheme?.lowercased()
      return chosen.url == request.url || isForItsScheme ? refusal : nil
    }
  }
}

extension URLProtocol {
  /// Reports to the client that the response redirects, as if a server had sent the response. The session's redirect rule
  /// determines the next request. If the rule refuses the redirect, the task fails, unless its delegate chooses another request or
  /// the response itself.
  ///
  /// - Parameters:
  ///   - request: The request that the response answers. Its body, if any, must be data.
  ///   - response: The response that may redirect.
  ///   - body: The body of the response, which the task receives if it doesn't follow the redirect.
  /// - Returns: True if the response redirects. Returns false and reports nothing if it doesn't, or if the request isn't for an
  ///   `http` or `https` URL.
  package func reportRedirect(of request: URLRequest, by response: HTTPURLResponse, body: Data) -> Bool {
    guard let client, let rule = task?.redirectRule, let url = request.url, let uri = try? URI(url.absoluteString)
    else {
      return false
    }
    let head = ResponseHead(status: response.statusCode, fields: response.fields, isContentDecoded: false)
    let sent = EngineRequest(
      method: request.httpMethod ?? "GET", uri: uri, fields: request.fields, body: RequestBody(of: request))
    do throws(EngineError) {
      guard let next = try rule.next(after: head, to: sent, count: 0) else { return false }
      report(.init(request: request.redirectedWithCredential(to: next), response: response, body: body), to: client)
    } catch {
      let failure = URLError(error, url: url)
      guard let location = head.fields.first("Location"), let target = URL(string: location, relativeTo: url) else {
        client.urlProtocol(self, didFailWithError: failure)
        return true
      }
      let next = rule.rewritten(sent, after: head.status, staysAtOrigin: false)
      var proposed = request.redirectedWithCredential(to: next)
      proposed.url = target.absoluteURL
      report(.init(request: proposed, response: response, body: body, refusal: failure), to: client)
    }
    return true
  }

  private func report(_ redirect: ProtocolTransfer.Redirect, to client: any URLProtocolClient) {
    if let client = client as? ProtocolClient { return client.report(redirect) }
    // A client that was written for a test.
    client.urlProtocol(self, wasRedirectedTo: redirect.request, redirectResponse: redirect.response)
  }
}

extension URLRequest {
  /// Returns the request to which a redirect leads. If the redirect's URL has user information, the returned request has that
  /// credential in its Authorization field and not in its URL.
  fileprivate func redirectedWithCredential(to next: EngineRequest) -> URLRequest {
    var request = redirected(to: next)
    if !request.fields.contains("Authorization"), let value = next.fields.first("Authorization") {
      request.fields.append(name: "Authorization", value: value)
    }
    return request
  }
}
