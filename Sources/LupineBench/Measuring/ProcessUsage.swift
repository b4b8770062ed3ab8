// ProcessUsage: the processor time and memory of a process, from /proc.

#if Bench
  package import LupineLibc
  package import LupineReactor

  /// A reading of a process's use of processor time and memory.
  package struct ProcessUsage: Sendable {
    /// The use of the processor between two readings, and the memory at the second one.
    struct Share: Sendable, Hashable {
      /// The processor time divided by the elapsed time: 1 is one core in full use.
      let cores: Double
      let residentBytes: UInt64
    }

    private let ticks: UInt64
    private let residentBytes: UInt64
    private let time: Instant

    /// Reads the usage of a process now. Returns nil if it doesn't exist, or isn't readable.
    package init?(of process: pid_t, now: Instant) {
      guard let text = Self.content(of: "/proc/\(process)/stat") else { return nil }
      // The second part is the program's name in parentheses, which may contain spaces and parentheses (proc_pid_stat(5)).
      guard let end = text.lastIndex(of: ")") else { return nil }
      let parts = text[text.index(after: end)...].split(separator: " ")
      // After the name: state is part 3, utime 14, stime 15, rss 24 of proc_pid_stat(5).
      guard parts.count > 21, let user = UInt64(parts[11]), let system = UInt64(parts[12]),
        let pages = UInt64(parts[21])
      else { return nil }
      ticks = user + system
      residentBytes = pages * UInt64(sysconf(CInt(_SC_PAGESIZE)))
      time = now
    }

    /// Reads the usage of this process now.
    static func ofGenerator(now: Instant) -> ProcessUsage? { ProcessUsage(of: getpid(), now: now) }

    /// Returns the use since an earlier reading.
    func share(since earlier: ProcessUsage) -> Share {
      let seconds = (time - earlier.time) / .seconds(1)
      let spent = Double(ticks &- earlier.ticks) / Double(sysconf(CInt(_SC_CLK_TCK)))
      return Share(cores: seconds > 0 ? spent / seconds : 0, residentBytes: residentBytes)
    }

    /// The largest part of a file that is read: 4 KiB. The system's lines are shorter than 400 bytes.
    private static let bytesMax = 4_096

    private static func content(of path: String) -> String? {
      var bytes: [UInt8] = []
      guard let file = try? File(reading: path), (try? file.read(bytesMax, at: 0, into: &bytes)) != nil else {
        return nil
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
