// Converts the options of a request to their record in a background session, and back.

import LupineEngine
import LupineTransferStore

extension TransferOptions {
  /// Creates the record of a request's options. TLS settings, the proxy and host overrides aren't recorded (see `isRecordable`).
  init(_ options: RequestOptions) {
    self.init()
    allowsCellularAccess = options.allowsCellularAccess
    allowsExpensiveNetworkAccess = options.allowsExpensiveNetworkAccess
    allowsConstrainedNetworkAccess = options.allowsConstrainedNetworkAccess
    usesPipelining = options.usesPipelining
    networkServiceType = options.networkServiceType.map { UInt32(clamping: $0.rawValue) }
    bodyBytesMax = options.own.bodyBytesMax.map { Int64($0) }
    priority = options.own.priority
    guard let timeouts = options.own.timeouts else { return }
    timeLimits = Timeouts.recordedLimits.map { timeouts[keyPath: $0].map(\.nanoseconds) }
  }

  /// Sets the recorded options in `request`. Has no effect if no options were recorded.
  func apply(to request: inout URLRequest) {
    guard self != TransferOptions() else { return }
    request.changeOptions { options in
      options.allowsCellularAccess = allowsCellularAccess
      options.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
      options.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
      options.usesPipelining = usesPipelining
      options.networkServiceType = networkServiceType.flatMap { URLRequest.NetworkServiceType(rawValue: UInt($0)) }
      options.own.bodyBytesMax = bodyBytesMax.map { Int($0) }
      options.own.priority = priority
      options.own.timeouts = timeLimits.map { Timeouts(recorded: $0) }
    }
  }
}

extension RequestSettings {
  /// Whether a background session's record can contain all connection options of the request. False if the request has TLS
  /// settings, a proxy or host overrides. TLS settings can't be recorded, because they may contain keys and functions that verify
  /// certificates.
  var isRecordable: Bool { tls == nil && proxy == nil && hostOverrides.isEmpty }
}

extension Timeouts {
  /// The request's time limits, in the order in which they are recorded. Append new limits at the end, so that earlier records
  /// remain readable.
  fileprivate static var recordedLimits: [WritableKeyPath<Timeouts, Duration?>] {
    [
      \.poolWait, \.resolve, \.connect, \.proxy, \.tls, \.send, \.awaitContinue, \.firstByte, \.idle, \.total,
    ]
  }

  /// Creates time limits from a record, which contains them in nanoseconds. If the record has fewer elements than there are limits,
  /// the remaining limits get their defaults.
  fileprivate init(recorded limits: [Int64?]) {
    self.init()
    for (path, limit) in zip(Self.recordedLimits, limits) {
      self[keyPath: path] = limit.map { Duration.nanoseconds($0) }
    }
  }
}

extension Duration {
  /// The duration in nanoseconds, at most 292 years, the maximum of Int64.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return Int64(clamping: Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000))
  }
}
