// LupineReachability: prints a host's reachability and each of its changes, until the input ends; or sends one request.
//
//   LupineReachability [HOST]
//   LupineReachability get URL [waits] [wired]     waits for a network; refuses mobile networks

import Foundation
import Lupine

let arguments = CommandLine.arguments
if arguments.count > 2, arguments[1] == "get" {
  get(arguments[2], Set(arguments.dropFirst(3)))
} else {
  watch(arguments.count > 1 ? arguments[1] : nil)
}

func show(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

func show(_ status: NetworkReachabilityManager.NetworkReachabilityStatus) {
  switch status {
  case .unknown: show("unknown")
  case .notReachable: show("not reachable")
  case .reachable(.cellular): show("reachable on cellular")
  case .reachable(.ethernetOrWiFi): show("reachable")
  }
}

func watch(_ host: String?) {
  let manager = host.map { NetworkReachabilityManager(host: $0) } ?? NetworkReachabilityManager()
  guard let manager else { fatalError("the host is empty") }
  let isListening = manager.startListening(onQueue: .global()) { show($0) }
  if !isListening {
    show(manager.status)
    exit(1)
  }
  while readLine() != nil { show(manager.status) }
  manager.stopListening()
}

/// Prints "waits" when the request begins to wait, and then its status code or the code of its error.
final class Waiting: NSObject, URLSessionTaskDelegate {
  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) { show("waits") }
}

func get(_ text: String, _ options: Set<String>) {
  guard let url = URL(string: text) else { fatalError("\(text) isn't a URL") }
  let configuration = URLSessionConfiguration.ephemeral
  configuration.waitsForConnectivity = options.contains("waits")
  configuration.allowsCellularAccess = !options.contains("wired")
  let session = URLSession(configuration: configuration, delegate: Waiting(), delegateQueue: nil)
  let isDone = DispatchSemaphore(value: 0)
  session.dataTask(with: url) { _, response, error in
    if let error = error as? URLError { show("failed \(error.code.rawValue)") }
    if let response = response as? HTTPURLResponse { show("\(response.statusCode)") }
    isDone.signal()
  }.resume()
  isDone.wait()
}
