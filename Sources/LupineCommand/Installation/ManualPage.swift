// ManualPage: the manual page lupine(1), in the macros of man(7).

/// The manual page, generated from the tables of options and exit statuses.
enum ManualPage {
  static var text: String {
    var page = """
      .\\" Written by "lupine --generate man".
      .TH LUPINE 1 "" "lupine \(Help.version)" "User Commands"
      .SH NAME
      lupine \\- request a URL, or test your own server
      .SH SYNOPSIS
      .B lupine
      .RI [ OPTIONS ]
      .I URL

      """
    for subcommand in InstalledOption.subcommands {
      page += ".br\n.B lupine \(subcommand.name)\n.RI [ OPTIONS ]\n.I URL\n"
    }
    page += """
      .SH DESCRIPTION
      \(escape("lupine requests a URL with HTTP/1.1 and writes the response body to standard output."))
      \(escape("Without a scheme, the URL is http. Its options have the names of curl's where curl has the same option."))
      .PP
      \(escape("lupine fuzz sends malformed requests to a server, and reports invalid responses, hangs and resets."))
      \(escape("lupine bench measures latencies under load; it belongs to builds with the package trait Bench."))
      .SH OPTIONS

      """
    for option in InstalledOption.transfer {
      if let headline = option.headline { page += ".SS \(escape(headline))\n" }
      page += entry(option)
    }
    for subcommand in InstalledOption.subcommands {
      page += ".SH OPTIONS OF LUPINE \(subcommand.name.uppercased())\n" + subcommand.options.map(entry).joined()
      if !subcommand.others.isEmpty { page += ".PP\nThe options above can be given, too.\n" }
    }
    page += ".SH EXIT STATUS\n"
    for code in ExitCode.allCases {
      page += ".TP\n.B \(code.rawValue)\n\(escape(code.meaning))\n"
    }
    page += ".SH ENVIRONMENT\n"
    for (names, meaning) in Help.environment {
      page += ".TP\n.B \(escape(names))\n\(escape(meaning))\n"
    }
    page += """
      .SH EXAMPLES
      .nf
      \(escape("lupine -v https://example.org/"))
      \(escape("lupine --json '{\"name\": \"lamp\"}' https://example.org/items"))
      \(escape("lupine --timing -o /dev/null https://example.org/"))
      \(escape("lupine fuzz --seed 1 --count 500 http://localhost:8080/"))
      .fi
      .SH SEE ALSO
      .BR curl (1)

      """
    return page
  }

  private static func entry(_ option: InstalledOption) -> String {
    let letter = option.form.letter.map { "\\fB\\-\(escape(String($0)))\\fR, " } ?? ""
    let value = option.form.valueName.map { " \\fI\(escape($0))\\fR" } ?? ""
    return ".TP\n\(letter)\\fB\\-\\-\(escape(option.name))\\fR\(value)\n\(escape(option.summary))\n"
  }

  /// Escapes the characters that roff interprets: a backslash, a hyphen, which it would typeset as a dash, quotes, and a control
  /// character at the start of a line.
  private static func escape(_ text: String) -> String {
    var escaped = text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" : ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case "'": escaped += "\\(aq"
      case "`": escaped += "\\(ga"
      case "~": escaped += "\\(ti"
      case "^": escaped += "\\(ha"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}
