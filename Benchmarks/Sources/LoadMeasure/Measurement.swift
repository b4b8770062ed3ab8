// Measurement: the cost of a run in elapsed time, processor time and peak memory.

internal import CAllocation
internal import Glibc

/// Measures the elapsed time, processor time and peak memory of a benchmark, and prints a line that reports them.
public struct Measurement: Sendable {
  private struct Reading {
    let seconds: Double
    let userSeconds: Double
    let systemSeconds: Double
  }

  private let start = Self.reading()

  /// Starts the measurement of time.
  public init() {}

  /// Ends the measurement, and prints the line that `Benchmarks/run` parses: `name=value` pairs, separated by spaces.
  public func finish(_ tickets: Tickets) {
    let end = Self.reading()
    let resident = Self.residentKiB("VmHWM")  // before the latencies are sorted, which allocates memory
    let requests = tickets.count
    let seconds = end.seconds - start.seconds
    let user = end.userSeconds - start.userSeconds
    let system = end.systemSeconds - start.systemSeconds
    let latencies = tickets.percentiles([0.5, 0.99, 0.999])
    print(
      "requests=\(requests)",
      "seconds=\(rounded(seconds))",
      "requests_per_second=\(rounded(Double(requests) / seconds))",
      "user_seconds=\(rounded(user))",
      "system_seconds=\(rounded(system))",
      "cpu_us_per_request=\(rounded((user + system) / Double(requests) * 1e6))",
      "p50_us=\(latencies[0])", "p99_us=\(latencies[1])", "p999_us=\(latencies[2])",
      "peak_rss_kib=\(resident)")
  }

  private static func reading() -> Reading {
    var time = timespec()
    var usage = rusage()
    // SAFETY: both structures are valid during the calls, which initialize them and keep no pointer.
    clock_gettime(CLOCK_MONOTONIC, &time)
    getrusage(RUSAGE_SELF.rawValue, &usage)
    return Reading(
      seconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9,
      userSeconds: seconds(usage.ru_utime), systemSeconds: seconds(usage.ru_stime))
  }

  /// Returns a memory size of this process in KiB: for "VmHWM" the peak of the resident set, and for "VmRSS" its current size.
  ///
  /// The peak in `ru_maxrss` of getrusage isn't used, because a process inherits that from its parent.
  public static func residentKiB(_ name: String) -> Int {
    var text = [UInt8](repeating: 0, count: 8192)
    let file = open("/proc/self/status", O_RDONLY)
    // SAFETY: the buffer is valid during the call, which writes at most its size.
    let count = text.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    close(file)
    let lines = text.prefix(max(0, count)).split(separator: UInt8(ascii: "\n"))
    guard let line = lines.first(where: { $0.starts(with: "\(name):".utf8) }) else { return 0 }
    let digits = line.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return Int(String(decoding: digits, as: UTF8.self)) ?? 0
  }

  /// Returns the number of bytes that are allocated by malloc, in the arenas of all threads.
  public static func allocatedBytes() -> Int { allocated_bytes() }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1e6
  }

  private func rounded(_ value: Double) -> Double {
    (value * 1e6).rounded() / 1e6
  }
}
