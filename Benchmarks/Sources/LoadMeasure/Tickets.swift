// Tickets: the number of requests left to send, shared by all senders, and the latency of each request.

internal import Glibc
internal import Synchronization

/// A permission to send one request, and the time at which it was taken.
public struct Ticket: Sendable {
  /// The number of the request, starting at 0.
  public let index: Int
  fileprivate let begin: UInt64
}

/// The requests that are left to send, and the latency of each. Any thread may take a ticket for the next request.
///
/// Unchecked, because each element of `latencies` is written once, by the owner of its ticket, and read only after all requests
/// have ended.
public final class Tickets: @unchecked Sendable {
  private let next = Atomic<Int>(0)
  private let latencies: UnsafeMutableBufferPointer<UInt32>

  /// Creates `count` tickets, and allocates memory for the latency of each.
  public init(_ count: Int) {
    // SAFETY: the memory is allocated and initialized here, and only `deinit` frees it.
    latencies = .allocate(capacity: count)
    latencies.initialize(repeating: 0)
  }

  deinit { latencies.deallocate() }

  /// The total number of tickets, including those that were taken.
  public var count: Int { latencies.count }

  /// Takes the ticket for the next request, whose latency is measured from now on. Returns nil if no ticket is left.
  public func take() -> Ticket? {
    let index = next.add(1, ordering: .relaxed).oldValue
    return index < latencies.count ? Ticket(index: index, begin: Self.nanoseconds()) : nil
  }

  /// Records the latency of a request. Must be called when its response was received and checked.
  public func finish(_ ticket: Ticket) {
    // The unit is 0.1 µs, so that 32 bits can represent seven minutes.
    latencies[ticket.index] = UInt32(clamping: (Self.nanoseconds() - ticket.begin) / 100)
  }

  /// Returns percentiles of the latencies in µs. Each share is the percentile as a fraction, such as 0.99.
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
