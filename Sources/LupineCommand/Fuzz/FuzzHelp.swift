// FuzzHelp: the text of `lupine fuzz --help`.

enum FuzzHelp {
  static var text: String {
    var text = """
      Usage: lupine fuzz [OPTIONS] URL
      Sends requests that no good client sends to a server of your own, and reports what the server should never do: a
      reply that breaks HTTP or breaks off, a hang, a reset, or that it no longer answers a good request.

      Each request is the good one, changed in one to three ways: its request line, its fields, what says where it ends,
      its bytes. It has a connection of its own. The seed and a request's number make the same request again.


      """
    for name in FuzzOptions.Name.allCases {
      let letter = name.form.letter.map { "-\($0), " } ?? "    "
      let form = "  \(letter)--\(name.rawValue)" + (name.form.valueName.map { " \($0)" } ?? "")
      text += form.padded(to: 28) + (form.count < 28 ? "" : "\n".padded(to: 29)) + name.form.summary + "\n"
    }
    text += """

      Only this machine is sent to, unless --allow-remote says otherwise; proxies are never used, and redirects are not
      followed. A good request goes ahead of the run, behind every 100 requests, and behind each reset and hang.
      A server may close the connection without a word, and may wait for the rest of a request that may be unfinished;
      neither is reported, but both are counted. The run ends early after 100 faults.

      Exit status: 0 if there was no fault, \(ExitCode.serverAtFault.rawValue) if there was one, and otherwise as for lupine.
      A host that is called fuzz is written with its scheme: lupine http://fuzz

      """
    return text
  }
}
