// BenchLog: the file of --hlog, which is written during a load test.

#if Bench
  import Synchronization

  /// Writes a log during a test, which an error doesn't end. `close` throws the first error.
  final class BenchLog: Sendable {
    private let output: Output
    private let failure = Mutex<CommandError?>(nil)

    /// Creates the file at `path`, or uses standard output for "-".
    init(_ path: String) throws(CommandError) {
      output = Output(path: path == "-" ? nil : path)
      try output.open()
    }

    func write(_ text: String) {
      guard failure.withLock({ $0 == nil }) else { return }
      do throws(CommandError) {
        try output.write(text)
      } catch {
        failure.withLock { $0 = error }
      }
    }

    /// Closes the file. Throws if it couldn't be written completely.
    func close() throws(CommandError) {
      if let error = failure.withLock({ $0 }) { throw error }
      try output.close()
    }
  }
#endif
