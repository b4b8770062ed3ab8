// Tickets: the number of requests left to send, shared by all senders, and the latency of each request.

internal import Glibc
internal import Synchronization

/// The right to send one request.
public struct Ticket: Sendable {
  /// The number of the request, starting at 0.
  public let index: Int
  fileprivate let begin: UInt64
}

/// A fixed number of tickets, which any thread may take.
///
/// Unchecked, because each element of `latencies` is written once, by the owner of its ticket, and read only after all requests
/// have ended.
public final class Tickets: @unchecked Sendable {
  private let next = Atomic<Int>(0)
  private let latencies: UnsafeMutableBufferPointer<UInt32>

  /// Creates `count` tickets, and allocates memory for their latencies.
  public init(_ count: Int) {
    // SAFETY: the memory is allocated and initialized here, and only `deinit` frees it.
    latencies = .allocate(capacity: count)
    latencies.initialize(repeating: 0)
  }

  deinit { latencies.deallocate() }

  /// The total number of tickets.
  public var count: Int { latencies.count }

  /// Takes a ticket at the start of a request, or returns nil if none is left.
  public func take() -> Ticket? {
    let index = next.add(1, ordering: .relaxed).oldValue
    return index < latencies.count ? Ticket(index: index, begin: Self.nanoseconds()) : nil
  }

  /// Records the latency of a request whose response was received and checked.
  public func finish(_ ticket: Ticket) {
    // In units of 0.1 µs, so that 32 bits hold seven minutes.
    latencies[ticket.index] = UInt32(clamping: (Self.nanoseconds() - ticket.begin) / 100)
  }

  /// Returns the percentiles of the latencies in µs. Each share is a percentile as a fraction, from 0 to 1.
  func percentiles(_ shares: [Double]) -> [Double] {
    let sorted = latencies.sorted()
    return shares.map { share in
      sorted.isEmpty ? 0 : Double(sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)]) / 10
    }
  }

  private static func nanoseconds() -> UInt64 {
    var time = timespec()
    // SAFETY: the structure is valid during the call, which initializes it.
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
