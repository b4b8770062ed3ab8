// ResponseDecision: the caller's closure that allows or cancels a response after its head has arrived.

import Foundation
import LupineURLSession

/// The caller's closure, called on the caller's queue, that decides after a response head has arrived whether to receive the body.
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
          // Cancels the request first, so that its error is `explicitlyCancelled`.
          request.cancel()
          completionHandler(.cancel)
        }
      }
    }
  }
}
