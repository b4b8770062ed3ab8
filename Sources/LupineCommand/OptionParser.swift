// The command line to options: what each option means, and which go together.

import LupineEngine

enum OptionParser {
  /// Digits before the decimal point of a number of seconds: 9, which is 31 years.
  static let secondsDigitsMax = 9

  /// Reads the arguments; the first is the program's name.
  static func parse(_ arguments: [String]) throws(CommandError) -> Invocation {
    var options = Options()
    var operands: [String] = []
    for token in CommandLineTokens.read(arguments) {
      switch token {
      case .option(.help, _): return .help
      case .option(.version, _): return .version
      case .option(let name, let value): try options.apply(name, value)
      case .operand(let text): operands.append(text)
      case .invalid(let reason): throw .usage(reason)
      }
    }
    guard let text = operands.first else { throw .usage("a URL is missing") }
    guard operands.count == 1 else { throw .usage("one URL at a time, not also \(operands[1])") }
    return .transfer(try uri(text), options)
  }

  /// Reads a URL; without a scheme it is http, as in curl.
  static func uri(_ text: String) throws(CommandError) -> URI {
    do {
      return try URI(hasScheme(text) ? text : "http://" + text)
    } catch {
      // The error's own remedy says how to write it.
      throw CommandError(.usage, "the URL can't be used: \(error)")
    }
  }

  // scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ); "host:80/x" and "host/?u=http://x" have none.
  private static func hasScheme(_ text: String) -> Bool {
    let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
    return text.utf8.dropFirst(scheme.count).starts(with: "://".utf8) && !scheme.isEmpty
      && scheme.allSatisfy { byte in
        let isLetter = (byte | 0x20) &- UInt8(ascii: "a") < 26
        return isLetter || byte &- UInt8(ascii: "0") < 10 || "+-.".utf8.contains(byte)
      }
  }

  /// Reads a decimal number of seconds above zero; what is finer than a nanosecond is cut off.
  static func seconds(_ text: String, of option: OptionName) throws(CommandError) -> Duration {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    let whole = parts[0]
    let fraction = parts.count > 1 ? parts[1] : ""[...].utf8
    let isNumber = (whole.count + fraction.count) > 0 && (Array(whole) + fraction).allSatisfy { $0 &- 0x30 < 10 }
    guard isNumber, whole.count <= secondsDigitsMax else {
      throw .usage("--\(option.rawValue) takes a number of seconds such as 2.5, not \"\(text)\"")
    }
    func number(_ digits: some Sequence<UInt8>) -> Int64 { digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) } }
    let nanoseconds = number(Array((Array(fraction.prefix(9)) + Array(repeating: 0x30, count: 9)).prefix(9)))
    let duration = Duration.seconds(number(whole)) + .nanoseconds(nanoseconds)
    guard duration > .zero else { throw .usage("--\(option.rawValue) has to be more than 0 seconds") }
    return duration
  }
}

extension Options {
  fileprivate mutating func apply(_ name: OptionName, _ value: String) throws(CommandError) {
    switch name {
    case .request: method = value
    case .header: fieldEdits.append(try FieldEdit(value))
    case .data, .json, .form: try add(value, to: name)
    case .output: outputPath = value == "-" ? nil : value
    case .include: includesHead = true
    case .verbose: isVerbose = true
    case .timing: showsTiming = true
    case .location: followsRedirects = true
    case .fail: failsOnErrorStatus = true
    case .caCertificate: trustRootsPath = value
    case .insecure: skipsVerification = true
    case .connectTimeout: connectTimeout = try OptionParser.seconds(value, of: name)
    case .maxTime: maxTime = try OptionParser.seconds(value, of: name)
    case .raw: isRaw = true
    case .help, .version: preconditionFailure("answered by the parser")
    }
  }

  private mutating func add(_ text: String, to name: OptionName) throws(CommandError) {
    switch (payload, name) {
    case (.none, .data): payload = .data([text])
    case (.data(let texts), .data): payload = .data(texts + [text])
    case (.none, .json): payload = .json([text])
    case (.json(let texts), .json): payload = .json(texts + [text])
    case (.none, .form): payload = .form([try FormField(text)])
    case (.form(let fields), .form): payload = .form(fields + [try FormField(text)])
    default: throw .usage("--data, --json and --form can't be mixed")
    }
  }
}
