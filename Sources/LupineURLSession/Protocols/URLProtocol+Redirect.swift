// URLProtocol+Redirect: the redirects of protocols that answer in place of HTTP servers, by the session's redirect rule.

package import Foundation
import LupineEngine

extension URLProtocol {
  /// Reports to the client that `response` is a redirect, as if a server had sent it. The session's redirect rule determines the
  /// next request. If the rule refuses the redirect, the task fails, unless the session's delegate chooses another request or the
  /// response itself.
  ///
  /// - Parameters:
  ///   - request: The request to which `response` belongs. Its body, if any, must be data.
  ///   - response: The response that may be a redirect.
  ///   - body: The body of the response, which the task receives if it doesn't follow the redirect.
  /// - Returns: True if the response is a redirect. Returns false and reports nothing if it isn't, or if the request isn't for an
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
      guard let location = head.fields.first("Location"), let target = URL(unambiguous: location, relativeTo: url)
      else {
        client.urlProtocol(self, didFailWithError: URLError(error, url: url))
        return true
      }
      let next = rule.rewritten(sent, after: head.status, staysAtOrigin: false)
      var proposed = request.redirectedWithCredential(to: next)
      proposed.url = target.absoluteURL
      report(.init(request: proposed, response: response, body: body, refusal: error), to: client)
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
  /// Returns the request that follows a redirect. If the redirect's URL has user information, the returned request has this
  /// credential in its Authorization field instead of its URL.
  fileprivate func redirectedWithCredential(to next: EngineRequest) -> URLRequest {
    var request = redirected(to: next)
    if !request.fields.contains("Authorization"), let value = next.fields.first("Authorization") {
      request.fields.append(name: "Authorization", value: value)
    }
    return request
  }
}
