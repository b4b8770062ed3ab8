// main: a client of the Autobahn test suite's fuzzing server: echoes the messages of each case, and lets the server write its report.
// Tests/Autobahn/run starts it.

import Foundation
import LupineURLSession

/// The maximum length of a message in the suite: 16 MiB.
let messageBytesMax = 16 << 20

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
  print("usage: LupineAutobahn SERVER AGENT")
  exit(2)
}
let (server, agent) = (arguments[1], arguments[2])
let session = URLSession(configuration: .ephemeral)

/// Opens a connection with a path of the server.
func connect(_ path: String) -> URLSessionWebSocketTask {
  guard let url = URL(string: server + path) else { preconditionFailure("\(server) isn't a URL") }
  let task = session.webSocketTask(with: url)
  task.maximumMessageSize = messageBytesMax
  task.resume()
  return task
}

guard case .string(let text) = try await connect("/getCaseCount").receive(), let count = Int(text) else {
  print("the server sent no number of cases")
  exit(1)
}
for number in 1...max(count, 1) {
  let task = connect("/runCase?case=\(number)&agent=\(agent)")
  // Many cases end with an error on purpose. The server judges.
  while let message = try? await task.receive() { try? await task.send(message) }
}
_ = try? await connect("/updateReports?agent=\(agent)").receive()
