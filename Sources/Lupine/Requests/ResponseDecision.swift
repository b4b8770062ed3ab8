// The user's word on a response whose head came.

import Foundation
import LupineURLSession

/// Asks the user, on a queue of theirs, whether a response's body is to be taken.
struct ResponseDecision: Sendable {
  let queue: DispatchQueue
  let decide: @Sendable (HTTPURLResponse, @escaping @Sendable (Request.ResponseDisposition) -> Void) -> Void

  func ask(
    about response: HTTPURLResponse, of request: Request,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    queue.async {
      decide(response) { disposition in
        switch disposition {
        case .allow: completionHandler(.allow)
        case .cancel:
          // First, so that the request's error says whose wish it was.
          request.cancel()
          completionHandler(.cancel)
        }
      }
    }
  }
}
