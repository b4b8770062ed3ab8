// A request whose response's body is handed over piece by piece, and kept nowhere.

import Foundation
import Synchronization

// Unchecked since the superclass is: the added state is constant or in the Mutex.
/// A request that hands its body over as it comes.
public final class DataStreamRequest: Request, @unchecked Sendable {
  func didReceive(_ data: Data, from task: URLSessionTask) {}
  func didReceive(
    _ response: HTTPURLResponse, completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {}
}
