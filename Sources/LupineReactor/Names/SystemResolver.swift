// SystemResolver: calls getaddrinfo on dedicated threads, so that slow name servers don't block event loops.

internal import LupineLibc
internal import Synchronization

/// The system's resolver: /etc/hosts, DNS and the other sources in nsswitch.conf.
///
/// Up to `threadsMax` lookups run concurrently. Further lookups are queued. A queued lookup for which no request waits any more is
/// dropped, so that abandoned lookups don't delay later ones if a name server doesn't answer.
public final class SystemResolver: HostResolver {
  /// The maximum number of concurrent lookups, each with a thread: 16. glibc blocks the thread while it waits for a name
  /// server, for up to 5 s. Threads end when no lookups are queued.
  public static let threadsMax = 16

  private struct Lookup: Sendable {
    let host: String
    let start: NameService.Start
    let completion: NameService.Completion
  }

  private struct State: ~Copyable {
    /// The queued lookups, which haven't started, by their sequence numbers. The numbers are assigned in the order of the calls.
    var waiting: [UInt64: Lookup] = [:]
    /// The sequence number at which the search for the oldest queued lookup starts. All lookups with lower numbers have left the
    /// queue.
    var first: UInt64 = 0
    /// The sequence number of the next lookup that is added to the queue.
    var next: UInt64 = 0
    var threads = 0

    mutating func popFirst() -> Lookup? {
      while first < next {
        defer { first += 1 }
        if let lookup = waiting.removeValue(forKey: first) { return lookup }
      }
      return nil
    }
  }

  private let state = Mutex(State())

  /// Creates a resolver. Its threads start when there are lookups.
  public init() {}

  /// Returns the addresses of a host with port 0, in the order of RFC 6724. A lookup that has started can't be
  /// cancelled.
  public func addresses(of host: String) async throws(ResolveError) -> [SocketAddress] {
    let answer = await withCheckedContinuation { continuation in
      _ = start(host) { continuation.resume(returning: $0) }
    }
    return try answer.get()
  }

  /// Looks up a name and calls `completion` once, on another thread. Returns a closure that removes the lookup from the queue.
  /// If the lookup is removed before it starts, `completion` isn't called.
  ///
  /// When a thread takes the lookup from the queue, it calls `start`. If `start` returns false, because the lookup has become
  /// unnecessary, the thread drops the lookup.
  package func start(
    _ host: String, if start: @escaping NameService.Start = { true }, completion: @escaping NameService.Completion
  ) -> @Sendable () -> Void {
    let (number, needsThread) = state.withLock { state in
      let number = state.next
      state.next += 1
      state.waiting[number] = Lookup(host: host, start: start, completion: completion)
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
        // Running threads take the queued lookups. If there are none, the lookups must fail here.
        guard state.threads == 0 else { return [] }
        var lookups: [Lookup] = []
        while let lookup = state.popFirst() { lookups.append(lookup) }
        return lookups
      }
      for lookup in stranded { lookup.completion(.failure(ResolveError(.outOfResources, "\(error)"))) }
    }
  }

  private func work() {
    while true {
      let lookup = state.withLock { state in
        let lookup = state.popFirst()
        if lookup == nil { state.threads -= 1 }
        return lookup
      }
      guard let lookup else { return }
      if lookup.start() { lookup.completion(Self.lookUp(lookup.host)) }
    }
  }

  private static func lookUp(_ host: String) -> NameService.Answer {
    // Refuses a NUL, because C would look up only the text before it.
    guard !host.utf8.contains(0) else { return .failure(ResolveError(.unknownName, "the name contains a NUL")) }
    var hints = addrinfo()
    // Without a socket type, getaddrinfo would return each address for TCP, UDP and raw sockets.
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    hints.ai_flags = flags(for: host)
    var list: UnsafeMutablePointer<addrinfo>?
    errno = 0
    let code = getaddrinfo(host, nil, &hints, &list)
    let reason = errno
    defer { if let list { freeaddrinfo(list) } }
    guard code == 0 else { return .failure(error(code, errno: reason)) }
    var addresses: [SocketAddress] = []
    var next = list
    while let entry = next {
      // SAFETY: ai_addr points to ai_addrlen bytes, which are valid until freeaddrinfo.
      if let address = entry.pointee.ai_addr, let own = SocketAddress(address, length: entry.pointee.ai_addrlen) {
        addresses.append(own)
      }
      next = entry.pointee.ai_next
    }
    return .success(addresses)
  }

  /// Returns the flags of getaddrinfo for the lookup of a host.
  ///
  /// AI_ADDRCONFIG omits the addresses of a family for which this machine has no address but loopback. Many containers have only
  /// ::1 for IPv6, so localhost is looked up without this flag: a local server may listen on ::1 alone.
  static func flags(for host: String) -> CInt {
    let name = host.lowercased()
    let absolute = name.utf8.last == UInt8(ascii: ".") ? String(name.dropLast()) : name
    return absolute == "localhost" || absolute.hasSuffix(".localhost") ? 0 : AI_ADDRCONFIG
  }

  /// Converts the error code that getaddrinfo returned, and the value to which it set errno, to a `ResolveError`.
  static func error(_ code: CInt, errno reason: CInt) -> ResolveError {
    // glibc reports an unknown name if it has no descriptor left for the query.
    if [EMFILE, ENFILE, ENOMEM].contains(reason) {
      return ResolveError(.outOfResources, "\(SystemError(call: "getaddrinfo", code: reason))")
    }
    let kind: ResolveError.Kind =
      switch code {
      case EAI_NONAME, -5: .unknownName  // -5 is EAI_NODATA, which netdb.h declares only with _GNU_SOURCE
      case EAI_AGAIN: .temporary
      case EAI_MEMORY: .outOfResources
      default: .other
      }
    let text =
      code == EAI_SYSTEM ? "\(SystemError(call: "getaddrinfo", code: reason))" : String(cString: gai_strerror(code))
    return ResolveError(kind, text)
  }
}
