// URLSessionTask+Transfer: chooses a task's transfer: over HTTP, or from a local resource.

import Foundation

extension URLSessionTask {
  /// Creates a transfer over HTTP, or one for a local resource if the engine refuses the URL and ``LocalContent`` serves it. HTTP
  /// is tried first, so that HTTP requests don't pay for the check.
  func makeTransfer(_ request: URLRequest, in session: URLSession) throws -> any TaskTransfer {
    let body = try makeBody()
    do throws(URLError) {
      return Transfer(
        try session.client.convert(request, body: body), from: request, client: session.client,
        delivery: readyTransfers(of: session), windowBytes: windowBytes, observer: self)
    } catch {
      guard error.code == .unsupportedURL, content == nil, let url = request.url, LocalContent.serves(url) else {
        throw error
      }
      return LocalTransfer(
        request, files: session.fileTransfers.queue, delivery: delivery(of: session), windowBytes: windowBytes,
        observer: self)
    }
  }
}
