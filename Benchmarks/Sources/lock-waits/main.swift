// lock-waits: requests from several threads at once through one session with two event loops. `Benchmarks/counts` counts how often
// a thread of this program waits for a lock.
//
// Usage: lock-waits THREADS REQUESTS URL. The number of requests is rounded down to a multiple of THREADS.

import Foundation
import Lupine
import LupineEngine

let loopCount = 2
let inFlight = 64

let arguments = CommandLine.arguments
guard arguments.count == 4, let threadCount = Int(arguments[1]), (1...inFlight).contains(threadCount),
  let requestCount = Int(arguments[2]), requestCount >= threadCount
else {
  print("lock-waits: usage: lock-waits THREADS REQUESTS URL, with 1 to \(inFlight) threads")
  exit(2)
}

let configuration = URLSessionConfiguration.default
configuration.urlCache = nil
configuration.httpMaximumConnectionsPerHost = inFlight
configuration.engine.pool.idlePerOriginMax = inFlight
configuration.engine.loopCount = loopCount
configuration.engine.loopsPerOrigin = loopCount

let caller = Caller(
  session: Session(configuration: configuration), url: arguments[3], inFlight: inFlight / threadCount)

let group = DispatchGroup()
for _ in 0..<threadCount {
  group.enter()
  Thread {
    caller.send(requestCount / threadCount)
    group.leave()
  }.start()
}
group.wait()

/// Sends requests from the calling thread.
struct Caller {
  let session: Session
  let url: String
  /// The maximum number of requests that one thread has in flight.
  let inFlight: Int

  /// Sends `count` requests, and waits for their responses. Ends the process with status 1 if a request fails.
  func send(_ count: Int) {
    let permits = DispatchSemaphore(value: 0)
    for number in 0..<(count + inFlight) {
      if number >= inFlight { permits.wait() }
      guard number < count else { continue }
      session.request(url).responseData(queue: session.rootQueue) { response in
        guard response.error == nil else {
          print("lock-waits: \(String(describing: response.error))")
          exit(1)
        }
        permits.signal()
      }
    }
  }
}
