// How many requests are still to be sent, shared by whoever sends them, and how long each of them took.

internal import Glibc
internal import Synchronization

/// The leave to send one request.
public struct Ticket: Sendable {
  /// Which request it is, counted from 0.
  public let index: Int
  fileprivate let begin: UInt64
}

/// A number of tickets that any thread may take from.
///
/// Unchecked since each element of `latencies` is written once, by whoever has its ticket, and read when all are done.
public final class Tickets: @unchecked Sendable {
  private let next = Atomic<Int>(0)
  private let latencies: UnsafeMutableBufferPointer<UInt32>

  /// Creates that many, with room for the time that each takes.
  public init(_ count: Int) {
    // SAFETY: allocated here, freed by `deinit` alone, and every element has its value from the start.
    latencies = .allocate(capacity: count)
    latencies.initialize(repeating: 0)
  }

  deinit { latencies.deallocate() }

  /// How many there were.
  public var count: Int { latencies.count }

  /// Takes one, as the request is begun; nil if there was none left.
  public func take() -> Ticket? {
    let index = next.add(1, ordering: .relaxed).oldValue
    return index < latencies.count ? Ticket(index: index, begin: Self.nanoseconds()) : nil
  }

  /// Says that the response has come, was checked and is done with.
  public func finish(_ ticket: Ticket) {
    // In tenths of µs, so that 32 bits hold seven minutes.
    latencies[ticket.index] = UInt32(clamping: (Self.nanoseconds() - ticket.begin) / 100)
  }

  /// The times that those shares of all requests stayed below, in µs; shares go from 0 to 1.
  func percentiles(_ shares: [Double]) -> [Double] {
    let sorted = latencies.sorted()
    return shares.map { share in
      sorted.isEmpty ? 0 : Double(sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)]) / 10
    }
  }

  private static func nanoseconds() -> UInt64 {
    var time = timespec()
    // SAFETY: the structure lives for the call, which fills it.
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
