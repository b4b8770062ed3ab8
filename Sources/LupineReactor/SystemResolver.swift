// Names to addresses, by getaddrinfo on threads of its own, so that a slow name server never stops a loop.

internal import Glibc
internal import Synchronization

/// The system's resolver: /etc/hosts, DNS, and what else nsswitch.conf names.
///
/// Lookups beyond `threadsMax` at a time wait for their turn.
public final class SystemResolver: HostResolver {
  /// How many lookups run at once: 16. glibc waits 5 s for a name server that is silent, and a thread does nothing else
  /// meanwhile. They end when nothing is left to look up.
  public static let threadsMax = 16

  private struct Lookup: Sendable {
    let host: String
    let completion: NameService.Completion
  }

  private struct State {
    /// Those that have not been begun, by their number.
    var waiting: [UInt64: Lookup] = [:]
    /// No waiting lookup has a lower number.
    var first: UInt64 = 0
    /// The next lookup's number.
    var next: UInt64 = 0
    var threads = 0

    mutating func takeFirst() -> Lookup? {
      while first < next {
        defer { first += 1 }
        if let lookup = waiting.removeValue(forKey: first) { return lookup }
      }
      return nil
    }
  }

  private let state = Mutex(State())

  /// Creates a resolver that has no threads yet.
  public init() {}

  /// The addresses of a host, with port 0, in the order of RFC 6724. A lookup that has begun can't be cancelled.
  public func addresses(of host: String) async throws(ResolveError) -> [SocketAddress] {
    let answer = await withCheckedContinuation { continuation in
      _ = start(host) { continuation.resume(returning: $0) }
    }
    return try answer.get()
  }

  /// Looks a name up and calls `completion` once, on another thread. What is returned takes a lookup back that hasn't
  /// begun; `completion` is not called then.
  package func start(_ host: String, completion: @escaping NameService.Completion) -> @Sendable () -> Void {
    let (number, needsThread) = state.withLock { state in
      let number = state.next
      state.next += 1
      state.waiting[number] = Lookup(host: host, completion: completion)
      guard state.threads < Self.threadsMax else { return (number, false) }
      state.threads += 1
      return (number, true)
    }
    if needsThread { startThread() }
    return { [weak self] in self?.state.withLock { $0.waiting[number] = nil } }
  }

  private func startThread() {
    do {
      try Thread.start(name: "lupine-resolver") { self.work() }
    } catch {
      let stranded = state.withLock { state -> [Lookup] in
        state.threads -= 1
        // The other threads see to what waits; without any, nobody would.
        guard state.threads == 0 else { return [] }
        var lookups: [Lookup] = []
        while let lookup = state.takeFirst() { lookups.append(lookup) }
        return lookups
      }
      for lookup in stranded { lookup.completion(.failure(ResolveError(.outOfResources, "\(error)"))) }
    }
  }

  private func work() {
    while true {
      let lookup = state.withLock { state in
        let lookup = state.takeFirst()
        if lookup == nil { state.threads -= 1 }
        return lookup
      }
      guard let lookup else { return }
      lookup.completion(Self.lookUp(lookup.host))
    }
  }

  private static func lookUp(_ host: String) -> NameService.Answer {
    // C would look up what stands in front of the NUL.
    guard !host.utf8.contains(0) else { return .failure(ResolveError(.unknownName, "the name contains a NUL")) }
    var hints = addrinfo()
    // Without a socket type, each address would come once for TCP, UDP and raw sockets.
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    errno = 0
    let code = getaddrinfo(host, nil, &hints, &list)
    let reason = errno
    defer { if let list { freeaddrinfo(list) } }
    guard code == 0 else { return .failure(error(code, errno: reason)) }
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

  /// What getaddrinfo's answer means, given what it has left in errno.
  static func error(_ code: CInt, errno reason: CInt) -> ResolveError {
    // glibc says that the name doesn't exist if it has no descriptor left to ask with.
    if [EMFILE, ENFILE, ENOMEM].contains(reason) {
      return ResolveError(.outOfResources, "\(SystemError(call: "getaddrinfo", code: reason))")
    }
    let kind: ResolveError.Kind =
      switch code {
      case EAI_NONAME, -5: .unknownName  // -5 is EAI_NODATA, which netdb.h shows only with _GNU_SOURCE
      case EAI_AGAIN: .temporary
      case EAI_MEMORY: .outOfResources
      default: .other
      }
    let text =
      code == EAI_SYSTEM ? "\(SystemError(call: "getaddrinfo", code: reason))" : String(cString: gai_strerror(code))
    return ResolveError(kind, text)
  }
}
