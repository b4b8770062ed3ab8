// MisleadingOptions: options that users of other load generators and of curl try, and what to write instead.

#if Bench
  /// Options that `lupine bench` doesn't have, that mean something else here, or that have no effect in a load test.
  enum MisleadingOptions {
    /// Throws an error with the option to write if the arguments of the request contain such an option.
    static func refuse(in arguments: [String]) throws(CommandError) {
      for token in CommandLineTokens.read(["lupine"] + arguments) {
        switch token {
        case .operand: break
        case .option(let name, let value):
          if let text = advice(on: name, value, arguments) { throw .benchUsage(text) }
        case .invalid(let reason):
          let option = String(reason.prefix { $0 != " " })
          guard let instead = replacements[option] else { throw .benchUsage(reason) }
          throw .benchUsage("\(option) isn't an option; \(instead)")
        }
      }
    }

    /// The options of hey, wrk, k6, oha, ab, h2load, vegeta and Locust that `lupine` doesn't have.
    private static let replacements = [
      "-a": "for a login, write -u USER:PASSWORD",
      "-A": "for this field, write -H 'Accept: TYPE'",
      "-c": "for a closed loop, write --in-flight NUMBER; for the most connections, --connections NUMBER",
      "-D": "for the duration, write --duration TIME; for a body of a file, -d @FILE",
      "-p": "for a body of a file, write -d @FILE",
      "-q": "for requests per second, write --rate NUMBER",
      "-r": "for requests per second, write --rate NUMBER",
      "-R": "for requests per second, write --rate NUMBER",
      "-s": "for requests of a file, write --from FILE",
      "-t": "for the number of event loops, write --loops NUMBER; for the duration, --duration TIME",
      "-w": "for a time that isn't measured, write --warm-up TIME",
      "-z": "for the duration, write --duration TIME",
      "--body": "write -d TEXT",
      "--clients": "write --in-flight NUMBER",
      "--concurrency": "write --in-flight NUMBER",
      "--disable-keepalive": "write --fresh",
      "--iterations": "write --requests NUMBER",
      "--latency": "leave it out, because the report contains the percentiles",
      "--method": "write -X METHOD",
      "--qps": "write --rate NUMBER",
      "--run-time": "write --duration TIME",
      "--script": "for requests of a file, write --from FILE",
      "--threads": "write --loops NUMBER",
      "--timeout": "write --max-time SECONDS",
      "--users": "write --in-flight NUMBER",
      "--vus": "write --in-flight NUMBER",
    ]

    /// Returns what to write instead of an option of a single request, or nil if the option is clear.
    private static func advice(on name: OptionName, _ value: String, _ arguments: [String]) -> String? {
      let isSpelledOut = arguments.contains { $0 == "--\(name.rawValue)" || $0.hasPrefix("--\(name.rawValue)=") }
      switch name {
      case .data where !isSpelledOut && isTime(value):
        return
          "-d posts data, as in curl; for the duration, write --duration \(value); to post \(value), --data \(value)"
      case .netrc where !isSpelledOut:
        return
          "-n reads a netrc file, as in curl; for the number of requests, write --requests NUMBER; for the file, --netrc"
      case .user where !isSpelledOut && isTime(value):
        return
          "-u is a login, as in curl; for the number of requests in flight, write --in-flight \(value); for the login, --user"
      case .maxTime where value.allSatisfy(\.isLetter):
        return "-m limits the time of a request, as in curl; for the method, write -X \(value)"
      case .uploadFile where value.hasPrefix("application/") || value.hasPrefix("text/"):
        return "-T sends a file, as in curl; for the type of the body, write -H 'Content-Type: \(value)'"
      case .output, .include:
        return
          "--\(name.rawValue) has no effect in a load test, which discards bodies; for a file of results, write --json, "
          + "--csv or --html FILE"
      case .location: return "a load test follows no redirects; write the final URL instead of --location"
      case .fail: return "the report counts errors; for an exit status, write --fail-if 'errors>0' instead of --fail"
      case .cache, .maxStale: return "a load test has no cache; remove --\(name.rawValue)"
      case .verbose, .timing:
        return "the report contains the phases of requests; remove --\(name.rawValue), or try one request without bench"
      case .digest, .ntlm, .negotiate, .anyAuth, .proxyDigest, .proxyNTLM, .proxyNegotiate, .proxyAnyAuth:
        return "a load test sends logins without a challenge; remove --\(name.rawValue), or write a scenario in Swift"
      default: return nil
      }
    }

    /// Whether a value is a number, possibly with units of time, such as 30, 3s or 1m30s.
    private static func isTime(_ value: String) -> Bool {
      let units = value.filter { !"0123456789.".contains($0) }
      return value.first?.isNumber == true && ["", "ms", "s", "m", "h", "hm", "hms"].contains(units)
    }
  }
#endif
