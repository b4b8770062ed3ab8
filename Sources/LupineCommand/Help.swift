// Help: the texts of --help and --version, generated from the tables of options and exit statuses.

import LupineEngine

enum Help {
  /// The version of the command `lupine`, which the User-Agent field also contains.
  static let version = "0.1.0"

  /// The environment variables that the command reads, and what they do.
  static let environment = [
    ("http_proxy, https_proxy, all_proxy, no_proxy", "set proxies, as in curl; --proxy and --noproxy replace them"),
    ("SSLKEYLOGFILE", "names a file to which TLS secrets are appended, for debugging"),
    ("HOME", "names the folder of .netrc, for --netrc and --netrc-optional"),
    ("KRB5CCNAME, KRB5_CONFIG", "name the ticket and the configuration of Kerberos, for --negotiate; see kerberos(7)"),
  ]

  static var text: String {
    var text = """
      Usage: lupine [OPTIONS] URL
      Requests a URL with HTTP/1.1 and writes the response body to standard output. Without a scheme, the URL is http.
             lupine fuzz --help
      Sends malformed requests to your own server, and reports its faults.
             lupine bench --help
      Sends requests at a constant rate, and reports their latencies. Needs a build with --traits Bench.

      """
    for name in OptionName.allCases {
      if let headline = name.headline { text += "\n\(headline):\n" }
      text += name.form.help(name.rawValue)
    }
    text += """

      Without --max-time, an open connection has no time limit.
      The variables http_proxy, https_proxy, all_proxy and no_proxy set proxies, as in curl. TLS secrets are appended to
      the file named by SSLKEYLOGFILE, for debugging.
      Without --raw, content codings (\(ContentCoding.allNames)) are requested and decoded.

      Exit status:

      """
    for code in ExitCode.allCases {
      text += String(code.rawValue).indented(to: 4) + "  " + code.meaning + "\n"
    }
    return text
  }
}
