// URLError+Transient: the transfer errors after which another attempt may succeed.

import Foundation

extension URLError.Code {
  /// Errors of the network, the name service or the server that are often transient.
  static let transient: Set<URLError.Code> = [
    .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse, .callIsActive,
    .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed, .dnsLookupFailed,
    .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete, .internationalRoamingOff,
    .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed, .serverCertificateHasBadDate,
    .serverCertificateNotYetValid, .timedOut,
  ]
}

extension Error {
  /// The code of the error or, if it is an ``AFError``, of the innermost error that it wraps. Nil if that error isn't a `URLError`.
  var urlErrorCode: URLError.Code? {
    var innermost: any Error = self
    while let underlying = innermost.asAFError?.underlyingError { innermost = underlying }
    return (innermost as? URLError)?.code
  }
}
