// Names to addresses, by getaddrinfo on threads of its own, so that a slow name server never stops a loop.

internal import Glibc
internal import Synchronization

/// Why a name has no address.
public struct ResolveError: Error, Sendable, Hashable, CustomStringConvertible {
  /// getaddrinfo's answer, one of the EAI constants.
  public let code: Int32
  /// The system's text for it, such as "Name or service not known".
  public let description: String

  /// Whether the name doesn't exist; otherwise the lookup itself failed, and may work later.
  public var isUnknownName: Bool { code == EAI_NONAME || code == -5 /* EAI_NODATA */ }
}

/// Whoever can look hosts up without making its caller wait.
package protocol HostResolver: Sendable {
  /// Looks a name up and calls `completion` once, on any thread.
  func resolve(
    _ host: String, port: UInt16, completion: @escaping @Sendable (Result<[SocketAddress], ResolveError>) -> Void)
}

/// Resolves names by the C library. Lookups beyond `threadsMax` at a time wait for their turn.
package final class Resolver: HostResolver {
  /// How many lookups run at once: 4. glibc waits 5 s for a name server that is silent, so one thread is too few.
  package static let threadsMax = 4

  private struct Lookup: Sendable {
    let host: String
    let port: UInt16
    let completion: @Sendable (Result<[SocketAddress], ResolveError>) -> Void
  }

  private struct State {
    var waiting: [Lookup] = []
    var threads = 0
  }

  private let state = Mutex(State())

  /// Creates a resolver without threads; they come with lookups and go when none is left.
  package init() {}

  /// Looks a name up and calls `completion` on one of the resolver's threads.
  package func resolve(
    _ host: String, port: UInt16, completion: @escaping @Sendable (Result<[SocketAddress], ResolveError>) -> Void
  ) {
    let needsThread = state.withLock { state in
      state.waiting.append(Lookup(host: host, port: port, completion: completion))
      guard state.threads < Self.threadsMax else { return false }
      state.threads += 1
      return true
    }
    guard needsThread else { return }
    do {
      try Thread.start(name: "lupine-resolver") { self.work() }
    } catch {
      // The thread that wasn't started does its work here: late is better than never.
      work()
    }
  }

  private func work() {
    while true {
      let lookup: Lookup? = state.withLock { state in
        if state.waiting.isEmpty {
          state.threads -= 1
          return nil
        }
        return state.waiting.removeFirst()
      }
      guard let lookup else { return }
      lookup.completion(Self.lookUp(lookup.host, lookup.port))
    }
  }

  private static func lookUp(_ host: String, _ port: UInt16) -> Result<[SocketAddress], ResolveError> {
    var hints = addrinfo()
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    defer { if let list { freeaddrinfo(list) } }
    guard code == 0 else {
      return .failure(ResolveError(code: code, description: String(cString: gai_strerror(code))))
    }
    var addresses: [SocketAddress] = []
    var next = list
    while let entry = next {
      // SAFETY: ai_addr points to ai_addrlen bytes, which live until freeaddrinfo.
      if let address = entry.pointee.ai_addr, let own = SocketAddress(address, length: entry.pointee.ai_addrlen) {
        addresses.append(own)
      }
      next = entry.pointee.ai_next
    }
    return .success(addresses)
  }
}
