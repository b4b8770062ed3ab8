// FuzzHelp: the text of `lupine fuzz --help`.

enum FuzzHelp {
  static var text: String {
    var text = """
      Usage: lupine fuzz [OPTIONS] URL
      Sends malformed requests to your own server, and reports its faults: an invalid or truncated response, a hang, a
      reset, or no response to a valid request.

      Each request is the valid one with one to three mutations of its request line, fields, framing or bytes, on a
      dedicated connection. The seed and a request's number reproduce the same request.


      """
    for name in FuzzOptions.Name.allCases { text += name.form.help(name.rawValue) }
    text += """

      Without --allow-remote, requests are sent only to this machine. Proxies are never used, and redirects aren't
      followed. A valid request is sent before the run, after every 100 requests, and after each reset and hang.
      A server may close the connection without a response, and may wait for the rest of a request that looks
      incomplete; neither is a fault, but both are counted. The run stops after 100 faults.

      --desync sends \(DesyncProbe.count) probes instead of mutated requests: CL.TE, TE.CL, TE.0, 0.CL, and a second request that must get its
      own response. Behind a proxy, a faulty server may give responses to the wrong clients, so probe a test server.
      With --save, at most \(FuzzOptions.savedMinimizingRequests) further requests reduce each finding, and the printed command contains no part of a request.
      Without it, the command repeats the -H and -d options. --replay exits with \(ExitCode.serverAtFault.rawValue) if the server is still at fault.

      Exit status: 0 without faults, \(ExitCode.serverAtFault.rawValue) with faults, and otherwise as for lupine.
      To request a host named fuzz, write its scheme: lupine http://fuzz

      """
    return text
  }
}
