// The texts of --help and --version, made from the tables of options and exit codes.

enum Help {
  /// The command's version; the same stands in the User-Agent field.
  static let version = "0.1.0"

  static var text: String {
    var text = """
      Usage: lupine [OPTIONS] URL
      Requests a URL by HTTP/1.1 and writes the response's body to standard output. A URL without a scheme is http.

      Options:

      """
    for name in OptionName.allCases {
      let letter = name.letter.map { "-\($0), " } ?? "    "
      let form = "  \(letter)--\(name.rawValue)" + (name.valueName.map { " \($0)" } ?? "")
      let lines = summary(name)
      // A form that leaves no gap has a line of its own.
      text += form.count < 28 ? form.padded(to: 28) + lines[0] + "\n" : "\(form)\n\("".padded(to: 28))\(lines[0])\n"
      for line in lines.dropFirst() { text += "".padded(to: 28) + line + "\n" }
    }
    text += """

      Without --max-time, a server may take as long as it likes once the connection is open.
      Content codings (br, gzip, deflate) are asked for and undone, unless --raw is given.

      Exit status:

      """
    for code in ExitCode.allCases {
      text += String(code.rawValue).indented(to: 4) + "  " + code.meaning + "\n"
    }
    return text
  }

  private static func summary(_ name: OptionName) -> [String] {
    switch name {
    case .request: ["the method; GET unless a body is given"]
    case .header: ["sends a field; \"Name;\" sends it empty, \"Name:\" leaves a default out"]
    case .data: ["posts a form's data; several are joined by \"&\"; @FILE reads a file,", "without its line ends"]
    case .json: ["posts JSON; @FILE reads a file"]
    case .form:
      [
        "posts a multipart form; NAME=@FILE sends a file, with ;type=TYPE and",
        ";filename=NAME behind it; NAME=<FILE sends a file's content as text",
      ]
    case .output: ["writes the body to a file; \"-\" is standard output"]
    case .include: ["writes the response's head before the body"]
    case .verbose: ["shows heads and connections on standard error, without credentials"]
    case .timing: ["shows what took how long on standard error"]
    case .location: ["follows up to 20 redirects"]
    case .fail: ["ends with status 22 and no body if the response's status is 400 or more"]
    case .caCertificate: ["trusts the PEM certificates of a file, in place of the system's"]
    case .insecure: ["doesn't verify the server: anybody on the way can read and change what is sent"]
    case .connectTimeout: ["for each of lookup, connecting and TLS handshake; fractions allowed"]
    case .maxTime: ["for everything; fractions allowed"]
    case .raw: ["asks for no content coding, and undoes none"]
    case .help: ["shows this"]
    case .version: ["shows the version"]
    }
  }
}
