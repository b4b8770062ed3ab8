// Networks that sessions may use, as in Alamofire's documentation, in the language modes of Swift 5 and Swift 6.
// Never run; it has to compile without warnings.

import Alamofire
import Foundation

func makeSparingSession() -> Session {
  let configuration = URLSessionConfiguration.af.default
  configuration.allowsCellularAccess = false
  configuration.allowsExpensiveNetworkAccess = false
  configuration.allowsConstrainedNetworkAccess = false
  configuration.networkServiceType = .background
  configuration.waitsForConnectivity = true
  configuration.httpShouldUsePipelining = false
  return Session(configuration: configuration)
}

func makeRequest(_ url: URL) -> URLRequest {
  var request = URLRequest(url: url)
  request.allowsCellularAccess = false
  request.networkServiceType = .voice
  request.httpShouldUsePipelining = true
  return request
}

func makePatientSessions() -> [Session] {
  [
    Session(interceptor: .offlineRetrier()),
    Session(interceptor: .offlineRetrier(monitor: NWPathMonitor(), maximumWait: .seconds(10))),
    Session(interceptor: .offlineRetrier(requiredInterfaceType: .wifi)),
    Session(interceptor: OfflineRetrier(prohibitedInterfaceTypes: [.cellular])),
  ]
}
