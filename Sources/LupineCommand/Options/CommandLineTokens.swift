// CommandLineTokens: splits arguments into options and operands with getopt_long (getopt(3)). Only this file uses C's
// argument vector.

@preconcurrency import CLupineLinux  // for getopt's variables, which only `read` accesses
import LupineLibc

/// Splits the command line into options and operands, in their order.
enum CommandLineTokens {
  enum Token: Equatable {
    /// An option and its value. The value is empty if the option takes none.
    case option(OptionName, String)
    case operand(String)
    /// An argument that isn't valid. The associated text is the reason.
    case invalid(String)
  }

  // The codes of long options start above all characters, because the characters are the codes of the short forms.
  private static let firstCode: CInt = 256

  /// Splits the command's arguments with getopt_long. The first argument is the program's name. The method isn't thread-safe,
  /// because getopt_long uses global variables.
  static func read(_ arguments: [String]) -> [Token] {
    // SAFETY: getopt_long reads pointers into these copies and keeps them between its calls. The copies are freed after
    // the last call. The vectors end with the null entries that getopt_long expects.
    var vector = arguments.map { strdup($0) }
    let names = OptionName.allCases.map { strdup($0.rawValue) }
    defer { (vector + names).forEach { free($0) } }
    var table = zip(OptionName.allCases, names).enumerated().map { index, entry in
      option(
        name: entry.1, has_arg: entry.0.valueName == nil ? no_argument : required_argument, flag: nil,
        val: firstCode + CInt(index))
    }
    table.append(option())
    let count = CInt(vector.count)
    vector.append(nil)

    opterr = 0
    optind = 0  // glibc's value to reset getopt
    var tokens: [Token] = []
    while true {
      let code = getopt_long(count, vector, shortForms, table, nil)
      if code == -1 { break }
      tokens.append(token(code, arguments))
    }
    return tokens + arguments.dropFirst(Int(optind)).map { .operand($0) }
  }

  // "-": operands are returned in their place, with code 1, so options may follow the URL, regardless of
  // POSIXLY_CORRECT.
  // ":": a missing value and an unknown option have different codes.
  private static let shortForms =
    "-:"
    + OptionName.allCases.compactMap { name in
      name.letter.map { String($0) + (name.valueName == nil ? "" : ":") }
    }.joined()

  private static func token(_ code: CInt, _ arguments: [String]) -> Token {
    // SAFETY: optarg is null or points to a string of the vector.
    let value = optarg.map { String(cString: $0) } ?? ""
    switch code {
    case 1: return .operand(value)
    case 0x3A: return .invalid("\(spelling(optopt)) needs a value")  // ":"
    case 0x3F: return .invalid(refusal(arguments))  // "?"
    default: return name(code).map { .option($0, value) } ?? .invalid("\(spelling(code)) isn't an option")
    }
  }

  private static func refusal(_ arguments: [String]) -> String {
    // If optopt is 0, the argument was a long form, which getopt_long has already skipped.
    guard optopt == 0 else {
      return optopt >= firstCode ? "\(spelling(optopt)) takes no value" : "\(spelling(optopt)) isn't an option"
    }
    let index = Int(optind) - 1
    let text = arguments.indices.contains(index) ? arguments[index] : ""
    let given = text.prefix { $0 != "=" }
    let candidates = OptionName.allCases.map { "--" + $0.rawValue }.filter { $0.hasPrefix(given) }
    return candidates.isEmpty
      ? "\(given) isn't an option" : "\(given) is ambiguous: \(candidates.joined(separator: " or "))"
  }

  private static func name(_ code: CInt) -> OptionName? {
    if code >= firstCode { return OptionName.allCases[Int(code - firstCode)] }
    return OptionName.allCases.first { $0.letter?.value == UInt32(bitPattern: code) }
  }

  private static func spelling(_ code: CInt) -> String {
    if code >= firstCode, let name = name(code) { return "--" + name.rawValue }
    // A single byte of a multibyte character can't be shown.
    guard code > 0x20, code < 0x7F else { return "a non-ASCII letter" }
    return "-" + String(UnicodeScalar(UInt8(code)))
  }
}
