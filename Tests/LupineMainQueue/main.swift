// LupineMainQueue: waits for responses on the main thread, in dispatchMain or by running the run loop, and prints them, and whether
// their handlers run on the main thread.

import Foundation
import Lupine

/// Sends requests whose response handlers run on the main queue, the default. Then calls `done` on the main queue.
func send(to url: String, _ done: @escaping @Sendable () -> Void) {
  let onMain: @Sendable (String) -> Void = { words in
    dispatchPrecondition(condition: .onQueue(.main))
    MainActor.assumeIsolated {}
    print(words, Thread.isMainThread ? "on the main thread" : "on another thread")
  }
  AF.request(url).onHTTPResponse { onMain("head \($0.statusCode)") }.responseString { response in
    onMain("response \(response.value ?? "none")")
    AF.streamRequest(url).responseStreamString { stream in
      if let text = stream.value { onMain("piece \(text)") }
      if stream.completion != nil {
        onMain("end")
        done()
      }
    }
  }
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { fatalError("usage: LupineMainQueue dispatchMain|RunLoop URL") }
switch arguments[1] {
case "dispatchMain":
  send(to: arguments[2]) { exit(0) }
  dispatchMain()
case "RunLoop":
  let done = DispatchSemaphore(value: 0)
  send(to: arguments[2]) { done.signal() }
  // Handlers run inside of RunLoop.run, which returns after one of them or after a tenth of a second.
  while done.wait(timeout: .now()) == .timedOut { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.1)) }
  exit(0)
default:
  fatalError("there is no way to wait called \(arguments[1])")
}
