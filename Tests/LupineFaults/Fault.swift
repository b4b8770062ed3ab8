// Fault: a failed call, and the outcomes that a request may have after it.

import CLupineFaults
import Foundation
import Glibc
import LupineEngine

/// A group of functions whose calls a test lets fail: system calls, OpenSSL's allocations, or the allocations of the libraries for content codings.
enum FaultKind: String {
  case calls, openssl, codings

  /// The names of the functions in this group.
  var calls: [String] {
    let group =
      switch self {
      case .calls: LUPINE_FAULT_CALLS
      case .openssl: LUPINE_FAULT_OPENSSL
      case .codings: LUPINE_FAULT_CODINGS
      }
    var names: [String] = []
    var next = lupine_faults_calls(group)
    while let name = next?.pointee {
      names.append(String(cString: name))
      next = next?.successor()
    }
    return names
  }
}

/// A call of a function that a test has let fail, and the way in which it failed.
struct Fault: CustomStringConvertible {
  let call: String
  let code: CInt
  /// The kind of failure: "error", "short", "nothing" or "spurious".
  let shape: String

  /// Returns the failure of the function `call` in the latest run, or nil if no call failed.
  static func struck(_ call: String) -> Fault? {
    guard lupine_faults_struck(), let shape = lupine_faults_struck_shape() else { return nil }
    return Fault(call: call, code: lupine_faults_struck_code(), shape: String(cString: shape))
  }

  var description: String {
    shape == "error" ? "\(SystemError(call: call, code: code))" : "\(call): \(shape)"
  }

  /// Returns the outcomes that a request may have after this failure. There are several if the function is called for different
  /// purposes.
  func allowed(in scenario: Scenario) -> Set<Ending.Kind> {
    switch call {
    case "CRYPTO_malloc", "CRYPTO_realloc":
      // OpenSSL may report a failed allocation as an error of a certificate or key.
      [.complete] + [.secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot]
    case "zalloc", "brotli_alloc_func", "ZSTD_allocFunction": [.error(.cannotDecodeContentData)]
    case "epoll_create1", "eventfd": [.error(.cannotLoadFromNetwork)]
    // The call starts the thread of the loop or of a resolver. A resolver tries again.
    case "pthread_create": [.error(.cannotLoadFromNetwork)] + (scenario.looksUp ? [.complete] : [])
    // If an idle connection can't be watched, the request completes. If a connection in use can't be watched, the request fails.
    case "epoll_ctl": [.complete, .error(.cannotLoadFromNetwork), .error(.networkConnectionLost)]
    case "epoll_wait", "setsockopt", "getsockname", "getpeername": [.complete]
    case "getaddrinfo": lookUp
    case "socket" where code == EMFILE || code == ENFILE: [.complete]
    case "socket" where code == ENOMEM || code == ENOBUFS: [.error(.cannotLoadFromNetwork)] + otherAddress(scenario)
    case "connect" where code == ENOBUFS, "getsockopt" where code == ENOBUFS:
      [.error(.cannotLoadFromNetwork)] + otherAddress(scenario)
    // If localhost has two addresses, no server listens on ::1, and that refusal takes precedence over the failed call.
    case "connect" where code == ENETUNREACH:
      [.error(.notConnectedToInternet)] + (scenario.looksUp ? [.complete, .error(.cannotConnectToHost)] : [])
    case "socket", "connect", "getsockopt": [.error(.cannotConnectToHost)] + otherAddress(scenario)
    case "send", "recv", "sendfile": transfer(scenario)
    default: file(scenario)
    }
  }

  private func otherAddress(_ scenario: Scenario) -> Set<Ending.Kind> { scenario.looksUp ? [.complete] : [] }

  private var lookUp: Set<Ending.Kind> {
    switch (shape, code) {
    case ("nothing", _), (_, EAI_MEMORY): [.complete]
    case (_, EAI_NONAME): [.error(.cannotFindHost)]
    default: [.error(.dnsLookupFailed)]
    }
  }

  private func transfer(_ scenario: Scenario) -> Set<Ending.Kind> {
    if code == EAGAIN || code == EINTR || shape == "short" { return [.complete] }
    if call == "sendfile" {
      if code == EINVAL { return [.complete] }
      if code == EIO || shape == "nothing" { return [.error(.cannotOpenFile)] }
    }
    // The request completes if the failure affects the close of a connection, an idle connection, or a request that can be
    // replayed. In a tunnel, the error is that of connecting to the proxy.
    return [.complete, .error(.networkConnectionLost)] + (scenario == .tunnel ? [.error(.cannotConnectToHost)] : [])
  }

  private func file(_ scenario: Scenario) -> Set<Ending.Kind> {
    if code == EINTR || shape == "short" { return [.complete] }
    return switch (call, scenario) {
    case ("open", .download): [.error(.cannotCreateFile)]
    case ("open", .multipart): [.multipart, .error(.cannotOpenFile)]
    case ("open", _), ("fstat", _), ("pread", _): [.error(.cannotOpenFile)]
    case ("pwrite", _), ("ftruncate", _): [.error(.cannotWriteToFile)]
    // Errors of closing a socket are ignored. After an error of closing a written file, the file's content is uncertain.
    case ("close", .download): [.complete, .error(.cannotCloseFile)]
    case ("close", _): [.complete]
    // The file is copied instead, or renamed in two steps.
    case ("rename", _), ("renameat2", _): code == EXDEV || code == EINVAL ? [.complete] : [.move]
    default: []
    }
  }
}

private func + (kinds: Set<Ending.Kind>, more: Set<Ending.Kind>) -> Set<Ending.Kind> { kinds.union(more) }

private func + (kinds: Set<Ending.Kind>, codes: [URLError.Code]) -> Set<Ending.Kind> {
  kinds.union(codes.map { .error($0) })
}
