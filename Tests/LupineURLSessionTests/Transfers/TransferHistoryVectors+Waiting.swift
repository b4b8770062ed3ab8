// TransferHistoryVectors+Waiting: histories of transfers that wait for a network.

extension TransferHistory {
  private static let offline = [
    ("start", "submit 1: http://h/"), ("submitted 1", ""), ("end connectFailed offline after 10", "deliver"),
    ("step", "await network 0 for 50 s"), ("ask", "1"), ("asked 1", ""), ("step", "none"),
  ]

  static let waiting = [
    TransferHistory(
      "a request that fails without a network is sent once there is one, within the time that is left",
      waits: true,
      offline + [
        ("answer 1 network 30", "deliver"), ("step", "submit 2: http://h/"), ("time", "20"), ("submitted 2", ""),
        ("head 200", "wanted"), ("end", ""), ("step", "present 200"), ("step", "end"),
        ("counts", "exchanges 2 performed 1 redirects 0 challenges 0 received 0 sent 0"),
      ]),
    TransferHistory(
      "a request waits for a network again each time it fails without one",
      waits: true,
      offline + [
        ("answer 1 network 30", "deliver"), ("step", "submit 2: http://h/"), ("submitted 2", ""),
        ("end connectFailed offline after 5", ""), ("step", "await network 1 for 15 s"), ("ask", "2"), ("asked 2", ""),
        ("answer 2 network 20", ""), ("step", "submit 3: http://h/"), ("time", "0"),
      ]),
    TransferHistory(
      "if the time for waiting for a network is over, the transfer ends with the error",
      waits: true, offline + [("answer 1 fail", "deliver"), ("step", "end badURL")]),
    TransferHistory(
      "a transfer that is cancelled while it waits for a network ends at once, and isn't sent later",
      waits: true,
      offline + [("cancel", "deliver"), ("step", "end cancelled"), ("answer 1 network 1", ""), ("step", "none")]),
    TransferHistory(
      "without waiting for connectivity, a transfer without a network ends with the error",
      [
        ("start", "submit 1: http://h/"), ("submitted 1", ""), ("end connectFailed offline", "deliver"),
        ("step", "end notConnectedToInternet"),
      ]),
    TransferHistory(
      "after other errors, such as a refused or lost connection, a transfer doesn't wait for a network",
      waits: true,
      [
        ("start", "submit 1: http://h/"), ("submitted 1", ""), ("end connectionRefused", "deliver"),
        ("step", "end cannotConnectToHost"),
      ]),
    TransferHistory(
      "the request after a redirect waits for a network too",
      waits: true,
      [
        ("start", "submit 1: http://h/"), ("submitted 1", ""), ("head 302 Location: /b", "wanted"),
        ("end after 10", "deliver"), ("step", "redirect 302 to http://h/b"), ("ask", "1"),
        ("answer 1 follow", "discard"), ("step", "submit 2: http://h/b"), ("submitted 2", ""),
        ("end connectFailed offline after 10", ""), ("step", "await network 0 for 40 s"), ("ask", "2"),
        ("answer 2 network 10", ""), ("step", "submit 3: http://h/b"), ("time", "30"),
      ]),
  ]
}
