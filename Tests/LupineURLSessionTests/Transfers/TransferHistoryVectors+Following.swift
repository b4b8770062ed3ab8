// TransferHistoryVectors+Following: histories with redirects, challenges and cancellations.

extension TransferHistory {
  private static let submitted = [("start", "submit 1: http://h/"), ("submitted 1", "")]

  /// The events up to a question to the observer about a redirect. The observer hasn't answered yet.
  private static let redirected =
    submitted + [
      ("head 302 Location: /b", "wanted"), ("body 5", ""), ("end", "deliver"),
      ("step", "redirect 302 to http://h/b"), ("ask", "1"), ("asked 1", "pause 1"), ("step", "none"),
    ]

  /// The events up to a question to the observer for a credential. The observer hasn't answered yet.
  private static let challenged =
    submitted + [
      ("head 401 WWW-Authenticate: Basic", "wanted"), ("turn 0", "deliver"), ("step", "authenticate, 0 refused"),
      ("ask", "1"), ("asked 1", "pause 1"), ("changed 1", ""), ("step", "none"),
    ]

  /// The events up to a question to the observer for a client certificate. The observer hasn't answered yet.
  private static let identified =
    submitted + [
      ("certificate", "deliver"), ("step", "identify h 1"), ("ask", "1"), ("asked 1", ""), ("step", "none"),
    ]

  static let identifying = [
    TransferHistory(
      "after a certificate is chosen, the request is sent again, and the first handshake doesn't count as an exchange",
      identified + [
        ("answer 1 identify", "deliver"), ("step", "submit 2: http://h/"), ("step", "none"), ("submitted 2", ""),
        ("head 200", "wanted"), ("end", "deliver"), ("step", "present 200"), ("step", "end"),
        ("counts", "exchanges 2 performed 1 redirects 0 challenges 0 received 0 sent 0"),
      ]),
    TransferHistory(
      "a cancellation while the observer chooses a certificate ends the transfer",
      identified + [("cancel", "deliver"), ("step", "end cancelled"), ("answer 1 identify", "")]),
    TransferHistory(
      "if the observer cancels the challenge, the transfer ends",
      identified + [("answer 1 refuse", "deliver"), ("step", "end cancelled")]),
    TransferHistory(
      "if the transfer is cancelled before the observer is asked for a certificate, it ends without asking",
      submitted + [("certificate", "deliver"), ("cancel", "cancel"), ("step", "end cancelled"), ("step", "none")]),
    TransferHistory(
      "a certificate is used after a redirect within the origin, but not at another origin that the observer chooses",
      identified + [
        ("answer 1 identify", "deliver"), ("step", "submit 2: http://h/"), ("submitted 2", ""),
        ("head 302 Location: /b", "wanted"), ("end", ""), ("step", "redirect 302 to http://h/b"), ("ask", "2"),
        ("answer 2 follow", "discard"), ("step", "submit 3: http://h/b"), ("identity", "chosen"), ("submitted 3", ""),
        ("head 302 Location: /c", "wanted"), ("end", ""), ("step", "redirect 302 to http://h/c"), ("ask", "3"),
        ("answer 3 follow http://other/c", "discard"), ("step", "submit 4: http://other/c"), ("identity", "none"),
      ]),
  ]

  static let redirecting = [
    TransferHistory(
      "a redirect is followed, and its body isn't delivered",
      redirected + [
        ("answer 1 follow", "discard; deliver"), ("step", "submit 2: http://h/b"), ("step", "none"),
        ("submitted 2", ""),
        ("head 200", "wanted"), ("body 7", ""), ("end", "deliver"), ("step", "present 200"), ("step", "piece 7"),
        ("step", "end"), ("request", "http://h/b http://h/b"),
        ("counts", "exchanges 2 performed 2 redirects 1 challenges 0 received 7 sent 0"),
      ]),
    TransferHistory(
      "a redirect that isn't followed is presented as the response, and its body is delivered",
      redirected + [
        ("answer 1 present", "deliver"), ("step", "present 302"), ("ask", "2"), ("answer 2 accept", ""),
        ("asked 2", ""), ("step", "piece 5"), ("step", "end"),
      ]),
    TransferHistory(
      "the observer decides about a redirect once its head has arrived, and its body isn't read before that",
      submitted + [
        ("head 302 Location: /b", "wanted"), ("turn 0", "deliver"), ("step", "redirect 302 to http://h/b"),
        ("ask", "1"), ("asked 1", "pause 1"), ("changed 1", ""), ("step", "none"), ("body 5", ""), ("turn 0", ""),
        ("answer 1 present", "resume 1; deliver"), ("changed 1", ""), ("step", "present 302"), ("step", "piece 5"),
        ("step", "none"), ("end connectionLost", "deliver"), ("step", "end networkConnectionLost"),
      ]),
    TransferHistory(
      "if a URL protocol answers a redirect, the transfer is handed over after the exchange",
      redirected + [
        ("answer 1 handover", "discard; deliver"), ("step", "hand over http://h/p"), ("step", "none"), ("cancel", ""),
        ("counts", "exchanges 1 performed 1 redirects 0 challenges 0 received 0 sent 0"),
      ]),
    TransferHistory(
      "if a redirect is neither followed nor accepted as the response, the transfer ends as cancelled",
      redirected + [
        ("answer 1 present", "deliver"), ("step", "present 302"), ("ask", "2"), ("asked 2", ""), ("step", "none"),
        ("answer 2 refuse", "cancel; deliver"), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "if the observer chooses a request that can't be sent, the transfer ends with the error",
      redirected + [("answer 1 fail", "discard; deliver"), ("step", "end badURL")]),
    TransferHistory(
      "a redirect is followed even if the connection is lost before its response has ended",
      submitted + [
        ("head 302 Location: /b", "wanted"), ("end connectionLost", "deliver"), ("step", "redirect 302 to http://h/b"),
        ("ask", "1"), ("answer 1 follow", "discard"), ("step", "submit 2: http://h/b"),
      ]),
    TransferHistory(
      "if a redirect is refused, the transfer ends with that error even if the connection is lost meanwhile",
      submitted + [
        ("head 302 Location: /b", "wanted"), ("end connectionLost", "deliver"), ("step", "redirect 302 to http://h/b"),
        ("ask", "1"), ("answer 1 fail", "discard"), ("step", "end badURL"),
      ]),
    TransferHistory(
      "a cancellation after a redirect was refused ends the transfer as cancelled",
      submitted + [
        ("head 302 Location: /b", "wanted"), ("turn 0", "deliver"), ("step", "redirect 302 to http://h/b"),
        ("ask", "1"), ("answer 1 fail", "discard"), ("step", "none"), ("cancel", "cancel"),
        ("end cancelled", "deliver"), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "a redirect from https to http is refused, but the observer may accept its response",
      url: "https://h/",
      [
        ("start", "submit 1: https://h/"), ("submitted 1", ""), ("head 302 Location: http://h/b", "wanted"),
        ("end", "deliver"), ("step", "redirect 302 to http://h/b, refused: redirectRefused"), ("ask", "1"),
        ("answer 1 present", ""), ("step", "present 302"),
      ]),
    TransferHistory(
      "the observer isn't asked about the 21st redirect",
      submitted
        + (1...20).flatMap { number in
          [
            ("head 302 Location: /\(number)", "wanted"), ("end", number == 1 ? "deliver" : ""),
            ("step", "redirect 302 to http://h/\(number)"), ("ask", "\(number)"),
            ("answer \(number) follow", "discard"),
            ("step", "submit \(number + 1): http://h/\(number)"), ("submitted \(number + 1)", ""),
          ]
        } + [
          ("head 302 Location: /21", "unwanted"), ("end", ""), ("step", "end httpTooManyRedirects"),
        ]),
    TransferHistory(
      "each exchange has the time that the earlier exchanges have left, or 0",
      submitted + [
        ("time", "60"), ("head 302 Location: /b", "wanted"), ("end after 20", "deliver"),
        ("step", "redirect 302 to http://h/b"), ("ask", "1"), ("answer 1 follow", "discard"),
        ("step", "submit 2: http://h/b"), ("time", "40"), ("submitted 2", ""), ("head 302 Location: /c", "wanted"),
        ("end after 50", ""), ("step", "redirect 302 to http://h/c"), ("ask", "2"), ("answer 2 follow", "discard"),
        ("step", "submit 3: http://h/c"), ("time", "0"),
      ]),
  ]

  static let authenticating = [
    TransferHistory(
      "a credential is sent in a second exchange, after the first has ended",
      challenged + [
        ("answer 1 authorize x", "discard; resume 1"), ("changed 1", ""), ("body 5", ""), ("turn 0", "deliver"),
        ("step", "none"), ("end", "deliver"), ("step", "submit 2: http://h/ as x"), ("submitted 2", ""),
        ("head 200", "wanted"), ("end", ""), ("step", "present 200"), ("step", "end"),
        ("counts", "exchanges 2 performed 2 redirects 0 challenges 1 received 0 sent 0"),
      ]),
    TransferHistory(
      "a refused credential is replaced, and the number of refusals is reported",
      challenged + [
        ("answer 1 authorize x", "discard; resume 1"), ("changed 1", ""), ("end", "deliver"),
        ("step", "submit 2: http://h/ as x"), ("submitted 2", ""), ("head 401 WWW-Authenticate: Basic", "wanted"),
        ("turn 0", ""), ("step", "authenticate, 1 refused"), ("ask", "2"), ("answer 2 authorize y", "discard"),
        ("asked 2", ""), ("end", ""), ("step", "submit 3: http://h/ as y"),
      ]),
    TransferHistory(
      "a challenge that isn't answered is presented as the response",
      challenged + [
        ("answer 1 present", "resume 1; deliver"), ("changed 1", ""), ("step", "present 401"), ("ask", "2"),
        ("answer 2 accept", ""), ("body 5", ""), ("end", ""), ("step", "piece 5"), ("step", "end"),
      ]),
    TransferHistory(
      "if the observer cancels a challenge, the exchange is cancelled",
      challenged + [("answer 1 refuse", "cancel"), ("end cancelled", "deliver"), ("step", "end cancelled")]),
    TransferHistory(
      "a credential chosen after the response has ended is sent at once",
      submitted + [
        ("head 401 WWW-Authenticate: Basic", "wanted"), ("end", "deliver"), ("step", "authenticate, 0 refused"),
        ("ask", "1"), ("asked 1", "pause 1"), ("step", "none"), ("answer 1 authorize x", "discard; deliver"),
        ("changed 1", "resume 1"), ("step", "submit 2: http://h/ as x"),
      ]),
    TransferHistory(
      "a refused credential counts, but a message within a handshake doesn't",
      challenged + [
        ("answer 1 resend attempt", "discard; resume 1"), ("changed 1", ""), ("end", "deliver"),
        ("step", "submit 2: http://h/"), ("submitted 2", ""), ("head 401 WWW-Authenticate: NTLM", "wanted"),
        ("turn 0", ""), ("step", "authenticate, 1 refused"), ("ask", "2"), ("answer 2 resend", "discard"),
        ("asked 2", ""), ("end", ""), ("step", "submit 3: http://h/"),
        ("counts", "exchanges 3 performed 2 redirects 0 challenges 1 received 0 sent 0"),
      ]),
    TransferHistory(
      "after the observer rejects a scheme, the transfer asks about the next scheme of the same response",
      challenged + [
        ("answer 1 reject", "resume 1; deliver"), ("changed 1", ""), ("step", "authenticate, 0 refused, 1 rejected"),
        ("ask", "2"), ("answer 2 present", ""), ("step", "present 401"),
      ]),
    TransferHistory(
      "after a proxy's 407 to CONNECT, the observer decides whether the request is sent again or fails",
      submitted + [
        ("end proxyFailed", "deliver"), ("step", "authenticate, 0 refused"), ("ask", "1"),
        ("answer 1 resend attempt", ""), ("asked 1", ""), ("step", "submit 2: http://h/"), ("submitted 2", ""),
        ("end proxyFailed", ""), ("step", "authenticate, 1 refused"), ("ask", "2"), ("answer 2 fail", ""),
        ("step", "end badURL"),
      ]),
    TransferHistory(
      "a request whose connection was missing is sent again, and a lost connection causes an error",
      submitted + [
        ("end connectionLost missing", "deliver"), ("step", "authenticate, 0 refused"), ("ask", "1"),
        ("answer 1 resend", ""), ("step", "submit 2: http://h/"), ("submitted 2", ""), ("end connectionLost", ""),
        ("step", "end networkConnectionLost"),
      ]),
    TransferHistory(
      "the response to a message without content is dropped, and the request is sent again",
      submitted + [
        ("resent 200", "unwanted"), ("body 5", ""), ("end", "deliver"), ("step", "submit 2: http://h/"),
        ("counts", "exchanges 2 performed 1 redirects 0 challenges 0 received 0 sent 0"),
      ]),
    TransferHistory(
      "a request with a credential has only the time that the refused request has left",
      challenged + [
        ("answer 1 authorize x", "discard; resume 1"), ("changed 1", ""), ("end after 20", "deliver"),
        ("step", "submit 2: http://h/ as x"), ("time", "40"),
      ]),
    TransferHistory(
      "after a proxy has refused a tunnel, the next request has only the time that is left",
      submitted + [
        ("end proxyFailed after 20", "deliver"), ("step", "authenticate, 0 refused"), ("ask", "1"),
        ("answer 1 resend attempt", ""), ("asked 1", ""), ("step", "submit 2: http://h/"), ("time", "40"),
      ]),
    TransferHistory(
      "after a redirect, refused credentials are counted from 0",
      challenged + [
        ("answer 1 authorize x", "discard; resume 1"), ("changed 1", ""), ("end", "deliver"),
        ("step", "submit 2: http://h/ as x"), ("submitted 2", ""), ("head 302 Location: /b", "wanted"), ("end", ""),
        ("step", "redirect 302 to http://h/b"), ("ask", "2"), ("answer 2 follow", "discard"),
        ("step", "submit 3: http://h/b as x"),
        ("counts", "exchanges 3 performed 2 redirects 1 challenges 0 received 0 sent 0"),
      ]),
  ]

  static let canceling = [
    TransferHistory(
      "a transfer that is cancelled before its start sends nothing",
      [("cancel", "deliver"), ("start", ""), ("step", "end cancelled"), ("step", "none"), ("start", "")]),
    TransferHistory(
      "if the transfer is cancelled before the exchange's handle arrives, the exchange is cancelled when it arrives",
      [
        ("start", "submit 1: http://h/"), ("cancel", ""), ("cancel", ""), ("submitted 1", "cancel"),
        ("end cancelled", "deliver"), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "cancelling an exchange ends the transfer once, and drops the received bytes",
      submitted + [
        ("head 200", "wanted"), ("turn 0", "deliver"), ("step", "present 200"), ("step", "none"), ("body 5", ""),
        ("cancel", "cancel; deliver"), ("step", "none"), ("cancel", ""), ("end cancelled", "deliver"),
        ("step", "end cancelled"), ("step", "none"), ("cancel", ""),
        ("counts", "exchanges 1 performed 1 redirects 0 challenges 0 received 0 sent 0"),
      ]),
    TransferHistory(
      "a cancellation between the exchange's end and its delivery takes precedence",
      submitted + [
        ("head 200", "wanted"), ("body 5", ""), ("end", "deliver"), ("cancel", "cancel"), ("step", "present 200"),
        ("step", "end cancelled"),
      ]),
    TransferHistory(
      "a transfer that is cancelled while it waits for the disposition ends without the disposition",
      submitted + [
        ("head 200", "wanted"), ("turn 0", "deliver"), ("step", "present 200"), ("ask", "1"), ("asked 1", "pause 1"),
        ("changed 1", ""), ("step", "none"), ("cancel", "cancel"), ("end cancelled", "deliver"),
        ("step", "end cancelled"), ("answer 1 accept", ""), ("step", "none"),
      ]),
    TransferHistory(
      "a transfer that is cancelled while a complete response waits for its disposition ends without the disposition",
      submitted + [
        ("head 200", "wanted"), ("end", "deliver"), ("step", "present 200"), ("ask", "1"), ("asked 1", "pause 1"),
        ("step", "none"), ("cancel", "cancel; deliver"), ("step", "end cancelled"), ("answer 1 accept", ""),
      ]),
    TransferHistory(
      "after a cancellation, an answer has no effect, even if the exchange hasn't ended",
      challenged + [
        ("cancel", "cancel"), ("answer 1 authorize x", "discard"), ("end cancelled", "deliver"),
        ("step", "end cancelled"),
      ]),
    TransferHistory(
      "a transfer that is cancelled while the observer decides about a redirect ends, and the decision is ignored",
      redirected + [
        ("cancel", "cancel; deliver"), ("answer 1 follow", "discard"), ("step", "end cancelled"),
        ("answer 1 follow", ""),
        ("step", "none"), ("request", "http://h/ http://h/"),
      ]),
    TransferHistory(
      "if the transfer is cancelled between the decision to follow a redirect and its request, nothing is sent",
      redirected + [
        ("answer 1 follow", "discard; deliver"), ("cancel", "cancel"), ("step", "end cancelled"), ("step", "none"),
        ("counts", "exchanges 1 performed 1 redirects 0 challenges 0 received 0 sent 0"),
      ]),
    TransferHistory(
      "a transfer that is cancelled before it asks the observer about a redirect doesn't ask any more",
      submitted + [
        ("head 302 Location: /b", "wanted"), ("end", "deliver"), ("step", "redirect 302 to http://h/b"),
        ("cancel", "cancel"), ("ask", "none"), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "after a cancellation, a redirect isn't followed",
      submitted + [
        ("head 302 Location: /b", "wanted"), ("cancel", "cancel; deliver"), ("end", ""), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "a cancellation while the last response is presented takes precedence over its disposition",
      redirected + [
        ("answer 1 present", "deliver"), ("step", "present 302"), ("ask", "2"), ("cancel", "cancel"),
        ("answer 2 accept", ""), ("asked 2", ""), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "cancelling a suspended transfer doesn't resume it",
      submitted + [
        ("suspend 1", "pause 1"), ("cancel", "cancel"), ("changed 1", ""), ("resume 2", ""),
        ("end cancelled", "deliver"), ("step", "end cancelled"),
      ]),
  ]
}
