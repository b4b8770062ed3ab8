// LupineReachability: a program for Tests/Namespaces. It prints the state of the network and its changes until its input ends, or
// sends requests.
//
//   LupineReachability [HOST]               a host's reachability; each line of the input asks for the present one
//   LupineReachability paths                the paths of an NWPathMonitor with their interfaces, in the same way
//   LupineReachability get URL [OPTION...]  a request to the URL, and to the URL in each line of the input
//   LupineReachability spread URL ORDER     for each line of the input, as many requests at once as the line says
//
// The options of requests: "waits" for a network, "retries" with an OfflineRetrier, "wired" refuses mobile networks, "public"
// permits only public addresses, "puts" sends a body of 100,000 bytes, "brief" permits silence for 2 s only.

import Dispatch
import Foundation
import Lupine
import LupineEngine
import Synchronization

let arguments = CommandLine.arguments
if arguments.count > 2, arguments[1] == "get" {
  get(arguments[2], Set(arguments.dropFirst(3)))
} else if arguments.count == 4, arguments[1] == "spread" {
  spread(arguments[2], arguments[3])
} else if arguments.count > 1, arguments[1] == "paths" {
  watchPaths()
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

func show(_ path: NWPath) {
  show((["\(path.status)"] + path.availableInterfaces.map(\.name)).joined(separator: " "))
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

func watchPaths() {
  let monitor = NWPathMonitor()
  monitor.pathUpdateHandler = { show($0) }
  monitor.start(queue: DispatchQueue(label: "paths"))
  // An NWPathMonitor that wasn't started reads the network state from the kernel.
  while readLine() != nil { show(NWPathMonitor().currentPath) }
  monitor.cancel()
}

/// Sends a GET request for each URL. Prints "waits" when the request begins to wait for a network, and "began" when the first part
/// of its response body has arrived. Finally prints the status code and the body's length, or the code of the error.
func get(_ text: String, _ options: Set<String>) {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.waitsForConnectivity = options.contains("waits")
  configuration.allowsCellularAccess = !options.contains("wired")
  if options.contains("brief") { configuration.timeoutIntervalForRequest = 2 }
  if options.contains("public") { configuration.engine.addressPolicy = .publicOnly }
  // Each request looks up its host and opens a new connection.
  configuration.engine.resolver.cacheAge = .zero
  configuration.engine.proxy = .none

  let hasWaited = Atomic(false)
  let hasBegun = Atomic(false)
  let retrier = OfflineRetrier(maximumWait: .seconds(60)) { error in
    let isOffline = OfflineRetrier.defaultIsOfflineError(error)
    if isOffline, !hasWaited.exchange(true, ordering: .relaxed) { show("waits") }
    return isOffline
  }
  let queue = DispatchQueue(label: "reports")
  let monitor = ClosureEventMonitor(queue: queue)
  monitor.taskIsWaitingForConnectivity = { _, _ in show("waits") }
  monitor.dataTaskDidReceiveData = { _, _, _ in
    if !hasBegun.exchange(true, ordering: .relaxed) { show("began") }
  }
  let session = Session(
    configuration: configuration, interceptor: options.contains("retries") ? retrier : nil, eventMonitors: [monitor])

  var next: String? = text
  while let url = next {
    hasWaited.store(false, ordering: .relaxed)
    hasBegun.store(false, ordering: .relaxed)
    let isDone = DispatchSemaphore(value: 0)
    let request: DataRequest =
      options.contains("puts")
      ? session.upload(Data(repeating: UInt8(ascii: "x"), count: 100_000), to: url, method: .put) : session.request(url)
    request.response(queue: queue) { response in
      if let error = response.error {
        let code = (error.underlyingError as? URLError)?.code.rawValue
        show("failed \(code.map { "\($0)" } ?? "\(error)")")
      } else if let status = response.response?.statusCode {
        let count = response.data?.count ?? 0
        show(count == 0 ? "\(status)" : "\(status) \(count)")
      }
      isDone.signal()
    }
    isDone.wait()
    next = readLine()
  }
}

/// Sends GET requests with one engine, whose addresses expire after a second. Each line of the input is the number of requests to
/// send at once. Prints their number when all have succeeded, or the errors.
func spread(_ text: String, _ orderName: String) {
  guard let order = AddressOrder.allCases.first(where: { "\($0)" == orderName }) else { fatalError("an unknown order") }
  var configuration = EngineConfiguration()
  configuration.resolver.order = order
  configuration.resolver.cacheAge = .seconds(1)
  configuration.proxy = .none
  do {
    let engine = try Engine(configuration: configuration)
    let request = EngineRequest(uri: try URI(text))
    while let count = readLine().flatMap({ Int($0) }) {
      let isDone = DispatchSemaphore(value: 0)
      Task {
        await withTaskGroup(of: String?.self) { group in
          for _ in 0..<count {
            group.addTask {
              do {
                let status = try await engine.collect(request).head.status
                return status == 200 ? nil : "status \(status)"
              } catch {
                return "\(error)"
              }
            }
          }
          var failures: Set<String> = []
          for await case let failure? in group { failures.insert(failure) }
          show(failures.isEmpty ? "\(count)" : failures.sorted().joined(separator: ", "))
        }
        isDone.signal()
      }
      isDone.wait()
    }
  } catch {
    show("\(error)")
  }
}
