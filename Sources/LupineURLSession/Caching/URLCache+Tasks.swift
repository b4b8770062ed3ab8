// URLCache+Tasks: Foundation's methods for the responses to data tasks' requests.

import Dispatch

extension URLCache {
  /// Stores a response to the data task's current request, like ``storeCachedResponse(_:for:)``.
  public func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
    if let request = dataTask.currentRequest { storeCachedResponse(cachedResponse, for: request) }
  }

  /// Looks up the cached response to the data task's current request. The lookup runs on a global queue, because it may read files.
  ///
  /// - Parameters:
  ///   - dataTask: The data task whose current request is used for the lookup.
  ///   - completionHandler: Called on a global queue with the cached response, or with nil if there is none.
  public func getCachedResponse(
    for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) {
    let request = dataTask.currentRequest
    DispatchQueue.global().async { completionHandler(request.flatMap { self.cachedResponse(for: $0) }) }
  }

  /// Removes all cached responses for the URL of the data task's current request.
  public func removeCachedResponse(for dataTask: URLSessionDataTask) {
    if let request = dataTask.currentRequest { removeCachedResponse(for: request) }
  }
}
