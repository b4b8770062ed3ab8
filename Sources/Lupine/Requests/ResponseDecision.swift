// ResponseDecision: the caller's closure that allows or cancels a response after its head has arrived.

import Foundation
import LupineURLSession

/// A closure that the caller provides, and the queue on which it is called. When a response head has arrived, the closure decides
/// whether to receive the body.
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
