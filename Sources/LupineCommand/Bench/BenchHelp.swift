// BenchHelp: the text of `lupine bench --help`.

#if Bench
  enum BenchHelp {
    static var text: String {
      var text = """
        Usage: lupine bench [OPTIONS] URL
        Sends requests at a constant rate, whether or not responses arrive, and reports latencies from when each request
        was due. A pause of the server is therefore visible in the latencies of all requests that it delayed.
               lupine bench search --fail-if CONDITION [OPTIONS] URL
        Raises the rate until a condition is met, and reports the highest rate before.
               lupine bench compare BEFORE.json AFTER.json
        Shows the differences of two reports with their confidence intervals; fails if the second is worse.
               lupine bench merge FILE.hlog...
        Writes the intervals of several logs in the order of their times, without loss.


        """
      for name in BenchOptions.Name.allCases {
        text += name.form.help(name.rawValue, hasLetters: false)
      }
      text += """

        All options of a single request can be given too, such as -X, -H, -d, --resolve and --unix-socket, except that
        --json names the report's file: to send JSON, pass -d and -H 'Content-Type: application/json'.
        With --sse, --lines or --ws, --rate is the number of streams opened per second, --in-flight the number that is always
        open, and the latencies end with the first event or line, or when a WebSocket is open.
        The report's latencies "since sent" begin when the engine's loop took the request. They differ from those since due
        if the generator was late. If it sent more than 1 % of the requests more than 5 ms late, the test is invalid.

        Exit status: 0, \(ExitCode.objectiveMissed.rawValue) if a condition of --fail-if was met or compare found a worse figure, \(ExitCode.generatorOverloaded.rawValue) if the test is
        invalid, even if a condition was met, \(ExitCode.interrupted.rawValue) after Ctrl-C, which ends the test with its report, and otherwise
        as for lupine.
        To request a host named bench, write its scheme: lupine http://bench

        """
      return text
    }
  }
#endif
