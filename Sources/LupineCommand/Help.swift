// Help: the texts of --help and --version, generated from the tables of options and exit statuses.

enum Help {
  /// The command's version, which the User-Agent field also contains.
  static let version = "0.1.0"

  static var text: String {
    var text = """
      Usage: lupine [OPTIONS] URL
      Requests a URL by HTTP/1.1 and writes the response's body to standard output. A URL without a scheme is http.
             lupine fuzz --help
      Sends broken requests to a server of your own, and reports what it should never do.

      """
    for name in OptionName.allCases {
      if let headline = name.headline { text += "\n\(headline):\n" }
      let letter = name.letter.map { "-\($0), " } ?? "    "
      let form = "  \(letter)--\(name.rawValue)" + (name.valueName.map { " \($0)" } ?? "")
      let lines = name.form.summary
      // A form that is too long for its column gets a separate line.
      text += form.count < 28 ? form.padded(to: 28) + lines[0] + "\n" : "\(form)\n\("".padded(to: 28))\(lines[0])\n"
      for line in lines.dropFirst() { text += "".padded(to: 28) + line + "\n" }
    }
    text += """

      Without --max-time, a server may take as long as it likes once the connection is open.
      Proxies are taken from http_proxy, https_proxy, all_proxy and no_proxy, as in curl. TLS secrets are appended to the
      file that SSLKEYLOGFILE names, for debuggers.
      Content codings (br, gzip, deflate) are asked for and undone, unless --raw is given.

      Exit status:

      """
    for code in ExitCode.allCases {
      text += String(code.rawValue).indented(to: 4) + "  " + code.meaning + "\n"
    }
    return text
  }
}
