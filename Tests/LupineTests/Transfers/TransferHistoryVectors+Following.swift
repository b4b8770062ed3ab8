// TransferHistoryVectors+Following: histories with redirects, challenges and cancellations.

extension TransferHistory {
  private static let submitted = [("start", "submit 1: http://h/"), ("submitted 1", "")]

  /// The observer has a pending question about a redirect.
  private static let redirected =
    submitted + [
      ("head 302 Location: /b", "unwanted"), ("body 5", ""), ("end", "deliver"),
      ("step", "redirect 302 to http://h/b"), ("ask", "1"), ("asked 1", ""), ("step", "none"),
    ]

  /// The observer has been asked for a credential, and hasn't answered.
  private static let challenged =
    submitted + [
      ("head 401 WWW-Authenticate: Basic", "wanted"), ("turn 0", "deliver"), ("step", "authenticate, 0 refused"),
      ("ask", "1"), ("asked 1", "pause 1"), ("changed 1", ""), ("step", "none"),
    ]

  static let redirecting = [
    TransferHistory(
      "a redirect is followed, and its body isn't delivered",
      redirected + [
        ("answer 1 follow", "deliver"), ("step", "submit 2: http://h/b"), ("step", "none"), ("submitted 2", ""),
        ("head 200", "wanted"), ("body 7", ""), ("end", "deliver"), ("step", "present 200"), ("step", "piece 7"),
        ("step", "end"), ("request", "http://h/b http://h/b"),
        ("counts", "exchanges 2 performed 2 redirects 1 challenges 0 received 7 sent 0"),
      ]),
    TransferHistory(
      "a redirect that isn't followed presents its response, whose answer ends the transfer",
      redirected + [
        ("answer 1 present", "deliver"), ("step", "present 302 last"), ("ask", "2"), ("answer 2 accept", ""),
        ("asked 2", ""), ("step", "end"),
      ]),
    TransferHistory(
      "a redirecting response that isn't accepted either ends the transfer as canceled",
      redirected + [
        ("answer 1 present", "deliver"), ("step", "present 302 last"), ("ask", "2"), ("asked 2", ""), ("step", "none"),
        ("answer 2 refuse", "deliver"), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "a choice that can't be sent ends the transfer with the error",
      redirected + [("answer 1 fail", "deliver"), ("step", "end badURL")]),
    TransferHistory(
      "a redirect whose exchange fails isn't followed",
      submitted + [
        ("head 302 Location: /b", "unwanted"), ("end connectionLost", "deliver"), ("step", "end networkConnectionLost"),
      ]),
    TransferHistory(
      "a downgrade to http is refused, but the observer may present the response",
      url: "https://h/",
      [
        ("start", "submit 1: https://h/"), ("submitted 1", ""), ("head 302 Location: http://h/b", "unwanted"),
        ("end", "deliver"), ("step", "redirect 302 to http://h/b, refused: redirectRefused"), ("ask", "1"),
        ("answer 1 present", ""), ("step", "present 302 last"),
      ]),
    TransferHistory(
      "the 21st redirect isn't offered to the observer",
      submitted
        + (1...20).flatMap { number in
          [
            ("head 302 Location: /\(number)", "unwanted"), ("end", number == 1 ? "deliver" : ""),
            ("step", "redirect 302 to http://h/\(number)"), ("ask", "\(number)"), ("answer \(number) follow", ""),
            ("step", "submit \(number + 1): http://h/\(number)"), ("submitted \(number + 1)", ""),
          ]
        } + [
          ("head 302 Location: /21", "unwanted"), ("end", ""), ("step", "end httpTooManyRedirects"),
        ]),
    TransferHistory(
      "each exchange gets the time that the earlier ones have left, at least 0",
      submitted + [
        ("time", "60"), ("head 302 Location: /b", "unwanted"), ("end after 20", "deliver"),
        ("step", "redirect 302 to http://h/b"), ("ask", "1"), ("answer 1 follow", ""), ("time", "40"),
        ("step", "submit 2: http://h/b"), ("submitted 2", ""), ("head 302 Location: /c", "unwanted"),
        ("end after 50", ""), ("step", "redirect 302 to http://h/c"), ("ask", "2"), ("answer 2 follow", ""),
        ("time", "0"),
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
      "a challenge without an answer presents its response",
      challenged + [
        ("answer 1 present", "resume 1; deliver"), ("changed 1", ""), ("step", "present 401"), ("ask", "2"),
        ("answer 2 accept", ""), ("body 5", ""), ("end", ""), ("step", "piece 5"), ("step", "end"),
      ]),
    TransferHistory(
      "a challenge that is refused cancels the exchange",
      challenged + [("answer 1 refuse", "cancel"), ("end cancelled", "deliver"), ("step", "end cancelled")]),
    TransferHistory(
      "a credential chosen after the response has ended is sent at once",
      submitted + [
        ("head 401 WWW-Authenticate: Basic", "wanted"), ("end", "deliver"), ("step", "authenticate, 0 refused"),
        ("ask", "1"), ("asked 1", "pause 1"), ("step", "none"), ("answer 1 authorize x", "discard; deliver"),
        ("changed 1", "resume 1"), ("step", "submit 2: http://h/ as x"),
      ]),
    TransferHistory(
      "a redirect starts the count of refused credentials over",
      challenged + [
        ("answer 1 authorize x", "discard; resume 1"), ("changed 1", ""), ("end", "deliver"),
        ("step", "submit 2: http://h/ as x"), ("submitted 2", ""), ("head 302 Location: /b", "unwanted"), ("end", ""),
        ("step", "redirect 302 to http://h/b"), ("ask", "2"), ("answer 2 follow", ""),
        ("counts", "exchanges 2 performed 2 redirects 1 challenges 0 received 0 sent 0"),
      ]),
  ]

  static let canceling = [
    TransferHistory(
      "a transfer canceled before its start sends nothing",
      [("cancel", "deliver"), ("start", ""), ("step", "end cancelled"), ("step", "none"), ("start", "")]),
    TransferHistory(
      "an exchange canceled before its handle has arrived is canceled when it arrives",
      [
        ("start", "submit 1: http://h/"), ("cancel", ""), ("cancel", ""), ("submitted 1", "cancel"),
        ("end cancelled", "deliver"), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "a canceled exchange ends the transfer once, and drops the received bytes",
      submitted + [
        ("head 200", "wanted"), ("turn 0", "deliver"), ("step", "present 200"), ("step", "none"), ("body 5", ""),
        ("cancel", "cancel; deliver"), ("step", "none"), ("cancel", ""), ("end cancelled", "deliver"),
        ("step", "end cancelled"), ("step", "none"), ("cancel", ""),
        ("counts", "exchanges 1 performed 1 redirects 0 challenges 0 received 0 sent 0"),
      ]),
    TransferHistory(
      "a cancellation after the engine's end and before its delivery wins",
      submitted + [
        ("head 200", "wanted"), ("body 5", ""), ("end", "deliver"), ("cancel", "cancel"), ("step", "present 200"),
        ("step", "end cancelled"),
      ]),
    TransferHistory(
      "a cancellation while the disposition is awaited ends the transfer without the answer",
      submitted + [
        ("head 200", "wanted"), ("turn 0", "deliver"), ("step", "present 200"), ("ask", "1"), ("asked 1", "pause 1"),
        ("changed 1", ""), ("step", "none"), ("cancel", "cancel"), ("end cancelled", "deliver"),
        ("step", "end cancelled"), ("answer 1 accept", ""), ("step", "none"),
      ]),
    TransferHistory(
      "a cancellation while the disposition of a complete response is awaited ends the transfer without the answer",
      submitted + [
        ("head 200", "wanted"), ("end", "deliver"), ("step", "present 200"), ("ask", "1"), ("asked 1", "pause 1"),
        ("step", "none"), ("cancel", "cancel; deliver"), ("step", "end cancelled"), ("answer 1 accept", ""),
      ]),
    TransferHistory(
      "an answer after the cancellation, and before the exchange has ended, changes nothing",
      challenged + [
        ("cancel", "cancel"), ("answer 1 authorize x", "discard"), ("end cancelled", "deliver"),
        ("step", "end cancelled"),
      ]),
    TransferHistory(
      "a cancellation while a redirect is decided on ends the transfer, and the answer is ignored",
      redirected + [
        ("cancel", "deliver"), ("answer 1 follow", ""), ("step", "end cancelled"), ("answer 1 follow", ""),
        ("step", "none"), ("request", "http://h/ http://h/"),
      ]),
    TransferHistory(
      "a cancellation after the answer to a redirect, and before it is followed, sends nothing",
      redirected + [
        ("answer 1 follow", "deliver"), ("cancel", ""), ("step", "end cancelled"), ("step", "none"),
        ("counts", "exchanges 1 performed 1 redirects 1 challenges 0 received 0 sent 0"),
      ]),
    TransferHistory(
      "a cancellation before the question about a redirect reaches the observer drops it",
      submitted + [
        ("head 302 Location: /b", "unwanted"), ("end", "deliver"), ("step", "redirect 302 to http://h/b"),
        ("cancel", ""), ("ask", "none"), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "a redirect whose transfer is canceled isn't followed",
      submitted + [
        ("head 302 Location: /b", "unwanted"), ("cancel", "cancel; deliver"), ("end", ""), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "a cancellation while the last response is presented wins over the answer",
      redirected + [
        ("answer 1 present", "deliver"), ("step", "present 302 last"), ("ask", "2"), ("cancel", ""),
        ("answer 2 accept", ""), ("asked 2", ""), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "a suspended transfer that is canceled isn't resumed",
      submitted + [
        ("suspend 1", "pause 1"), ("cancel", "cancel"), ("changed 1", ""), ("resume 2", ""),
        ("end cancelled", "deliver"), ("step", "end cancelled"),
      ]),
  ]
}
