// Waits for responses as a program's main thread may: in dispatchMain, or by running its loop. Prints what came, and exits.

import Foundation
import Lupine

/// Sends requests whose handlers are called on the default queue, the main one, then calls `done` there.
func send(to url: String, _ done: @escaping @Sendable () -> Void) {
  let onMain: @Sendable (String) -> Void = { words in
    dispatchPrecondition(condition: .onQueue(.main))
    print(words)
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
  // The handlers run inside; a turn ends when one did, or after a while.
  while done.wait(timeout: .now()) == .timedOut { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.1)) }
  exit(0)
default:
  fatalError("there is no way to wait called \(arguments[1])")
}
