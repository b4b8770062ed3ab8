// ResponseDecision: the caller's closure that allows or cancels a response after its head has arrived.

import Foundation
import LupineURLSession

/// A closure that decides whether to receive the response body, and the queue on which the closure is called. The closure is called
/// when the response head has arrived.
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
          // The request is cancelled first, so that its error is `explicitlyCancelled`.
          request.cancel()
          completionHandler(.cancel)
        }
      }
    }
  }
}
