// TransferHistoryVectors: histories of a transfer as tables of events and expected answers.

extension TransferHistory {
  private static let submitted = [("start", "submit 1: http://h/"), ("submitted 1", "")]

  static let delivering = [
    TransferHistory(
      "a response that is already complete is presented, delivered and ended in one delivery",
      submitted + [
        ("head 200", "wanted"), ("body 5", ""), ("end", "deliver"), ("step", "present 200"), ("step", "piece 5"),
        ("step", "end"), ("step", "none"),
        ("counts", "exchanges 1 performed 1 redirects 0 challenges 0 received 5 sent 0"),
      ]),
    TransferHistory(
      "a stored response is delivered without an exchange, and a redirect among them is followed",
      [
        ("start", "submit 1: http://h/"), ("served 302 0 Location: /b", "deliver"),
        ("step", "redirect 302 to http://h/b"), ("ask", "1"), ("asked 1", ""), ("step", "none"),
        ("answer 1 follow", "deliver"), ("step", "submit 2: http://h/b"), ("served 200 5", ""),
        ("step", "present 200"), ("step", "piece 5"), ("step", "end"),
        ("counts", "exchanges 2 performed 2 redirects 1 challenges 0 received 5 sent 0"),
      ]),
    TransferHistory(
      "a transfer that is cancelled while it is answered with a stored response ends with the cancellation",
      [
        ("start", "submit 1: http://h/"), ("served 200 5", "deliver"), ("step", "present 200"), ("cancel", ""),
        ("step", "end cancelled"), ("step", "none"),
      ]),
    TransferHistory(
      "while a delivery is pending, no other is requested",
      submitted + [
        ("head 200", "wanted"), ("turn 0", "deliver"), ("body 5", ""), ("turn 0", ""), ("step", "present 200"),
        ("step", "piece 5"), ("turn 0", ""), ("step", "none"), ("turn 0", ""), ("body 7", ""), ("turn 0", "deliver"),
        ("step", "piece 7"), ("step", "none"), ("end", "deliver"), ("step", "end"),
      ]),
    TransferHistory(
      "if there is nothing to deliver, no delivery is requested",
      submitted + [("turn 0", ""), ("step", "none")]),
    TransferHistory(
      "the number of sent bytes is delivered first, and never decreases",
      submitted + [
        ("turn 10", "deliver"), ("turn 20", ""), ("head 200", "wanted"), ("step", "sent 20"), ("turn 15", ""),
        ("step", "present 200"), ("step", "none"), ("turn 30", "deliver"), ("step", "sent 30"), ("step", "none"),
        ("counts", "exchanges 1 performed 0 redirects 0 challenges 0 received 0 sent 30"),
      ]),
    TransferHistory(
      "the window is extended once the observer has processed bytes that amount to half of it",
      submitted + [("grant 49", ""), ("grant 1", "grant 50"), ("grant 49", ""), ("grant 60", "grant 109")]),
    TransferHistory(
      "if the body isn't streamed, the window is extended in the step after the delivery of half of it",
      isStreamed: false,
      submitted + [
        ("head 200", "wanted"), ("body 49", ""), ("turn 0", "deliver"), ("step", "present 200"), ("step", "piece 49"),
        ("step", "none"), ("body 1", ""), ("turn 0", "deliver"), ("step", "piece 1"), ("body 99", ""),
        ("step", "grant 50"), ("step", "piece 99"), ("step", "grant 99"), ("step", "none"), ("grant 100", ""),
      ]),
    TransferHistory(
      "if the request is submitted while a piece is being delivered, the next step extends the window by the piece",
      isStreamed: false,
      [
        ("start", "submit 1: http://h/"), ("head 200", "wanted"), ("body 60", ""), ("turn 0", "deliver"),
        ("step", "present 200"), ("step", "piece 60"), ("submitted 1", ""), ("step", "grant 60"), ("step", "none"),
      ]),
    TransferHistory(
      "if a piece was delivered before the request is submitted, the submission extends the window by the piece",
      isStreamed: false,
      [
        ("start", "submit 1: http://h/"), ("head 200", "wanted"), ("body 60", ""), ("turn 0", "deliver"),
        ("step", "present 200"), ("step", "piece 60"), ("step", "none"), ("submitted 1", "grant 60"),
      ]),
    TransferHistory(
      "after the end of a body, the window isn't extended",
      isStreamed: false,
      submitted + [
        ("head 200", "wanted"), ("body 60", ""), ("end", "deliver"), ("step", "present 200"), ("step", "piece 60"),
        ("step", "end"), ("step", "none"),
      ]),
    TransferHistory(
      "bytes received before a failure are delivered before the error",
      submitted + [
        ("head 200", "wanted"), ("body 5", ""), ("end connectionLost", "deliver"), ("step", "present 200"),
        ("step", "piece 5"), ("step", "end networkConnectionLost"), ("step", "none"),
      ]),
    TransferHistory(
      "a request that can't be submitted ends with the error, on the session's queue",
      [
        ("start", "submit 1: http://h/"), ("failed", "deliver"), ("step", "end cannotLoadFromNetwork"),
        ("step", "none"),
      ]
    ),
    TransferHistory(
      "after the transfer's end, no event has an effect",
      submitted + [
        ("end connectionLost", "deliver"), ("step", "end networkConnectionLost"), ("step", "none"), ("cancel", ""),
        ("suspend 1", ""), ("grant 100", ""), ("discard", ""), ("step", "none"), ("ask", "none"), ("start", ""),
      ]),
    TransferHistory(
      "after its body is discarded, a transfer delivers the parts already received, and ends without an error",
      submitted + [
        ("head 200", "wanted"), ("body 5", ""), ("turn 0", "deliver"), ("step", "present 200"), ("ask", "1"),
        ("discard", "discard"), ("discard", ""), ("answer 1 accept", ""), ("step", "piece 5"), ("step", "none"),
        ("end", "deliver"), ("step", "end"),
      ]),
  ]

  static let asking = [
    TransferHistory(
      "a body that arrives before the disposition is kept until then, and reading is paused",
      submitted + [
        ("head 200", "wanted"), ("body 5", ""), ("turn 0", "deliver"), ("step", "present 200"), ("ask", "1"),
        ("asked 1", "pause 1"), ("changed 1", ""), ("step", "none"), ("body 6", ""), ("turn 0", ""),
        ("answer 1 accept", "resume 1; deliver"), ("changed 1", ""), ("step", "piece 11"), ("step", "none"),
      ]),
    TransferHistory(
      "if the observer answers at once, reading isn't paused, and the delivery continues",
      submitted + [
        ("head 200", "wanted"), ("body 5", ""), ("turn 0", "deliver"), ("step", "present 200"), ("ask", "1"),
        ("answer 1 accept", ""), ("asked 1", ""), ("step", "piece 5"), ("step", "none"),
      ]),
    TransferHistory(
      "an answer requests no delivery if there is nothing to deliver",
      submitted + [
        ("head 200", "wanted"), ("turn 0", "deliver"), ("step", "present 200"), ("ask", "1"), ("asked 1", "pause 1"),
        ("changed 1", ""), ("step", "none"), ("answer 1 accept", "resume 1"), ("changed 1", ""),
      ]),
    TransferHistory(
      "only the observer's first answer to a question has an effect",
      submitted + [
        ("head 200", "wanted"), ("turn 0", "deliver"), ("step", "present 200"), ("ask", "1"), ("answer 1 accept", ""),
        ("answer 1 refuse", ""), ("answer 2 refuse", ""), ("asked 1", ""), ("end", ""), ("step", "end"),
      ]),
    TransferHistory(
      "the transfer's end isn't delivered before the disposition",
      submitted + [
        ("head 200", "wanted"), ("end", "deliver"), ("step", "present 200"), ("ask", "1"), ("asked 1", "pause 1"),
        ("changed 1", ""), ("step", "none"), ("answer 1 accept", "resume 1; deliver"), ("changed 1", ""),
        ("step", "end"),
      ]),
    TransferHistory(
      "if the observer refuses the body, the exchange is cancelled",
      submitted + [
        ("head 200", "wanted"), ("body 5", ""), ("turn 0", "deliver"), ("step", "present 200"), ("ask", "1"),
        ("answer 1 refuse", "cancel"), ("asked 1", ""), ("step", "none"), ("end cancelled", "deliver"),
        ("step", "end cancelled"),
        ("counts", "exchanges 1 performed 1 redirects 0 challenges 0 received 0 sent 0"),
      ]),
    TransferHistory(
      "a body that is refused after it has arrived is dropped",
      submitted + [
        ("head 200", "wanted"), ("body 5", ""), ("end", "deliver"), ("step", "present 200"), ("ask", "1"),
        ("asked 1", "pause 1"), ("step", "none"), ("answer 1 refuse", "cancel; deliver"), ("step", "end cancelled"),
      ]),
    TransferHistory(
      "if the body is refused before the exchange's handle arrives, the exchange is cancelled when it arrives",
      [
        ("start", "submit 1: http://h/"), ("head 200", "wanted"), ("turn 0", "deliver"), ("step", "present 200"),
        ("ask", "1"), ("answer 1 refuse", ""), ("asked 1", ""), ("step", "none"), ("submitted 1", "cancel"),
      ]),
    TransferHistory(
      "if another request replaces the first one, its response is the final one",
      submitted + [
        ("head 206", "wanted"), ("body 5", ""), ("turn 0", "deliver"), ("step", "present 206"), ("ask", "1"),
        ("replace http://h/whole", "discard"), ("answer 1 accept", ""), ("asked 1", ""), ("step", "none"),
        ("end connectionLost", "deliver"), ("step", "submit 2: http://h/whole"),
        ("request", "http://h/whole http://h/whole"),
        ("submitted 2", ""), ("head 200", "wanted"), ("end", ""), ("step", "present 200"), ("step", "end"),
        ("counts", "exchanges 2 performed 2 redirects 0 challenges 0 received 0 sent 0"),
      ]),
  ]

  static let suspending = [
    TransferHistory(
      "while a transfer is suspended, nothing is read, and events are still delivered",
      submitted + [
        ("suspend 1", "pause 1"), ("changed 1", ""), ("head 200", "wanted"), ("end", "deliver"),
        ("step", "present 200"), ("step", "end"),
      ]),
    TransferHistory(
      "after several calls of suspend and resume, the latest one applies, even if they arrive in another order",
      submitted + [
        ("suspend 1", "pause 1"), ("resume 2", ""), ("changed 1", "resume 1"), ("suspend 3", ""), ("resume 4", ""),
        ("changed 1", ""), ("suspend 7", "pause 1"), ("resume 6", ""), ("changed 1", ""), ("resume 8", "resume 1"),
        ("changed 1", ""),
      ]),
    TransferHistory(
      "a transfer that is suspended before its start is paused once it has a handle",
      [
        ("suspend 2", ""), ("start", "submit 1: http://h/"), ("submitted 1", "pause 1"), ("changed 1", ""),
        ("resume 3", "resume 1"),
      ]),
    TransferHistory(
      "a suspended transfer that waits for an answer is read again only after it is answered and resumed",
      submitted + [
        ("head 200", "wanted"), ("turn 0", "deliver"), ("step", "present 200"), ("ask", "1"), ("asked 1", "pause 1"),
        ("changed 1", ""), ("suspend 1", ""), ("answer 1 accept", ""), ("step", "none"), ("resume 2", "resume 1"),
      ]),
    TransferHistory(
      "a suspended transfer remains suspended in the exchange after a redirect",
      submitted + [
        ("suspend 1", "pause 1"), ("changed 1", ""), ("head 302 Location: /b", "wanted"), ("end", "deliver"),
        ("step", "redirect 302 to http://h/b"), ("ask", "1"), ("answer 1 follow", "discard"), ("asked 1", ""),
        ("step", "submit 2: http://h/b"), ("submitted 2", "pause 2"), ("changed 1", ""), ("changed 2", ""),
        ("resume 2", "resume 2"),
      ]),
    TransferHistory(
      "commands are kept until the exchange's handle arrives",
      [
        ("start", "submit 1: http://h/"), ("grant 3", ""), ("grant 60", ""), ("suspend 1", ""), ("discard", ""),
        ("submitted 1", "grant 63; discard; pause 1"),
      ]),
    TransferHistory(
      "if a redirect fails before the exchange's handle arrives, the rest of its body is discarded afterwards",
      [
        ("start", "submit 1: http://h/"), ("head 302 Location: /b", "wanted"), ("turn 0", "deliver"),
        ("step", "redirect 302 to http://h/b"), ("ask", "1"), ("answer 1 fail", ""), ("asked 1", ""),
        ("step", "none"), ("submitted 1", "discard"), ("end", "deliver"), ("step", "end badURL"),
      ]),
    TransferHistory(
      "a handle that arrives after its exchange has ended is dropped",
      [
        ("start", "submit 1: http://h/"), ("head 302 Location: /b", "wanted"), ("end", "deliver"),
        ("step", "redirect 302 to http://h/b"), ("ask", "1"), ("answer 1 follow", ""),
        ("step", "submit 2: http://h/b"), ("submitted 1", "ended"), ("submitted 2", ""),
      ]),
  ]
}
