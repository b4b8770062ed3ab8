// LupineReachability: prints a host's reachability and each of its changes, until the input ends.

import Foundation
import Lupine

func show(_ status: NetworkReachabilityManager.NetworkReachabilityStatus) {
  let text =
    switch status {
    case .unknown: "unknown"
    case .notReachable: "not reachable"
    case .reachable(.cellular): "reachable on cellular"
    case .reachable(.ethernetOrWiFi): "reachable"
    }
  FileHandle.standardOutput.write(Data("\(text)\n".utf8))
}

let arguments = CommandLine.arguments
let manager = arguments.count > 1 ? NetworkReachabilityManager(host: arguments[1]) : NetworkReachabilityManager()
guard let manager else { fatalError("the host is empty") }
let isListening = manager.startListening(onQueue: .global()) { show($0) }
if !isListening {
  show(manager.status)
  exit(1)
}
while readLine() != nil { show(manager.status) }
manager.stopListening()
