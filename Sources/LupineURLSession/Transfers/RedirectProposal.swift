// RedirectProposal: which requests a task may send after a redirect. This rule applies to the redirects of servers and of URL
// protocols, including those of stubs and recordings.

import Foundation
import LupineEngine

/// A redirect about which a task's delegate decides.
struct RedirectProposal: Sendable {
  /// The URL of the request that the task would send next.
  let url: URL?
  /// The error with which the session's redirect rule refuses the redirect. Nil if the task may follow it as proposed.
  let refusal: EngineError?

  /// Creates the proposal of a server, or of a URL protocol that answers in place of a server.
  init(_ url: URL?, refusal: EngineError?) {
    self.url = url
    self.refusal = refusal
  }

  /// Creates the proposal of a URL protocol that may forward the redirect of a server. `sent` is the URL of the latest request for
  /// an `http` or `https` URL. If it is nil, the task has contacted no server, so the protocol may redirect to any URL.
  init(_ url: URL?, after sent: URL?, _ rule: RedirectRule) {
    self.init(url, refusal: sent.flatMap { rule.refusal(of: url, after: $0) })
  }

  /// Returns the error with which the task fails if its delegate has chosen a request for the URL `chosen`. Returns nil if the task
  /// may send this request.
  ///
  /// The redirect rule refuses the chosen URL for the same reason as the proposed URL if the URLs are equal, or if the chosen URL
  /// has the scheme for which the proposed URL was refused (http after https, or a Unix socket). For example, a delegate that only
  /// adds a query to the proposed http URL hasn't decided to send the request unencrypted. A delegate that changes the scheme has
  /// made such a decision.
  func refusal(of chosen: URL?) -> EngineError? {
    guard let refusal else { return nil }
    let (scheme, proposed) = (chosen?.scheme?.lowercased() ?? "", url?.scheme?.lowercased() ?? "")
    let isForItsScheme = refusal.code == .redirectRefused && scheme == proposed
    let isForSocket = scheme.hasSuffix("+unix") && proposed.hasSuffix("+unix")
    return chosen == url || isForItsScheme || isForSocket ? refusal : nil
  }
}

extension RedirectRule {
  /// Returns the error with which this rule refuses a redirect from `sent`, an `http` or `https` URL, to `target`. Returns nil if
  /// the rule permits the redirect.
  fileprivate func refusal(of target: URL?, after sent: URL) -> EngineError? {
    // A URL protocol can answer a request whose host the engine refuses. Then only the scheme counts.
    let scheme: Scheme = sent.scheme?.lowercased().hasPrefix("https") == true ? .https : .http
    let uri = (try? URI(sent.absoluteString)) ?? URI(Origin(scheme: scheme, host: "", port: scheme.defaultPort))
    do throws(EngineError) {
      _ = try self.target(of: target?.absoluteString ?? "", from: uri)
      return nil
    } catch {
      return error
    }
  }
}
