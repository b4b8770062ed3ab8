// LoginHistoryTests: histories of a session's authentications: events in, decisions out.

import LupineEngine
import Testing

@Suite struct LoginHistoryTests {
  @Test("each history of challenges and responses has the expected requests and decisions", arguments: histories)
  func run(history: LoginHistory) throws { try history.run() }

  private static let digest = "Digest realm=r, nonce=n, qop=auth"
  private static let stale = "Digest realm=r, nonce=m, qop=auth, stale=true"
  private static let ntlm = "NTLM \(Base64.encode(LoginHistory.challenge))"

  private static let histories: [LoginHistory] = origins + connections + proxies

  private static let origins: [LoginHistory] = [
    LoginHistory(
      "Basic is sent after a challenge only",
      [
        ("get http://h/", "nothing"), ("401 Basic realm=r", "ask basic"), ("answer u", "authorize"),
        ("again", "Basic dTpwdw=="), ("200", "trusted"), ("task", ""), ("get http://h/", "nothing"),
      ]),
    LoginHistory(
      "a Digest request counts the uses of a nonce, and adopts the next one",
      known: "u",
      [
        ("get http://h/", "nothing"), ("401 \(digest)", "ask digest"), ("answer u", "authorize"),
        ("again", "Digest n 1"), ("200", "trusted"), ("task", ""), ("get http://h/a", "Digest n 2"),
        ("200 nextnonce=\"o\"", "trusted"), ("task", ""), ("get http://h/b", "Digest o 1"), ("200", "trusted"),
      ]),
    LoginHistory(
      "a Digest credential of another user isn't sent before a challenge",
      known: "v",
      [
        ("get http://h/", "nothing"), ("401 \(digest)", "ask digest"), ("answer u", "authorize"),
        ("again", "Digest n 1"), ("200", "trusted"), ("task", ""), ("get http://h/a", "nothing"),
      ]),
    LoginHistory(
      "a stale nonce is replaced, also of a preemptive request; a refused credential is forgotten",
      known: "u",
      [
        ("get http://h/", "nothing"), ("401 \(digest)", "ask digest"), ("answer u", "authorize"),
        ("again", "Digest n 1"), ("200", "trusted"), ("task", ""), ("get http://h/", "Digest n 2"),
        ("401 \(stale)", "authorize"), ("again", "Digest m 1"), ("401 \(digest)", "ask digest"), ("task", ""),
        ("get http://h/", "nothing"),
      ]),
    LoginHistory(
      "a response that proves no knowledge of the password isn't delivered, and its authentication isn't used again",
      known: "u",
      [
        ("get http://h/", "nothing"), ("401 \(digest)", "ask digest"), ("answer u", "authorize"),
        ("again", "Digest n 1"), ("200 rspauth=\"0\"", "untrusted"), ("task", ""), ("get http://h/", "nothing"),
      ]),
    LoginHistory(
      "a redirect gets new Digest credentials within the protection space, and none outside of it",
      [
        ("get http://h/a/x", "nothing"), ("401 \(digest), domain=\"/a/\"", "ask digest"), ("answer u", "authorize"),
        ("again", "Digest n 1"), ("302", "trusted"), ("follow http://h/a/y", "Digest n 2"), ("302", "trusted"),
        ("follow http://h/b", "nothing"),
      ]),
    LoginHistory(
      "an answered Digest request that wasn't sent is proven again",
      [
        ("get http://h/", "nothing"), ("401 \(digest)", "ask digest"), ("answer u", "authorize"),
        ("again", "Digest n 1"), ("again", "Digest n 2"), ("200", "trusted"),
      ]),
    LoginHistory(
      "without TLS, a server that has used Digest can't ask for the password itself",
      [
        ("get http://h/", "nothing"), ("401 \(digest)", "ask digest"), ("answer u", "authorize"),
        ("again", "Digest n 1"), ("401 Basic realm=r", "ask"),
      ]),
  ]

  private static let connections: [LoginHistory] = [
    LoginHistory(
      "NTLM authenticates a connection of its own, and later tasks with the credential use it at once",
      known: "u",
      [
        ("put http://h/", "nothing"), ("401 NTLM", "ask ntlm"), ("answer u", "resend"),
        ("again", "NTLM 1 group 1 empty"), ("401 \(ntlm)", "resend"), ("again", "NTLM 3 group 1 open"),
        ("200", "trusted"), ("task", ""), ("get http://h/", "nothing group 1 open"), ("200", "trusted"), ("task", ""),
        ("get http://h/", "nothing group 1 open"), ("missing", "resend"), ("again", "nothing"),
      ]),
    LoginHistory(
      "a server that accepts NTLM's first message gets the content in another request",
      [
        ("put http://h/", "nothing"), ("401 NTLM", "ask ntlm"), ("answer u", "resend"),
        ("again", "NTLM 1 group 1 empty"), ("200", "resend"), ("again", "nothing"),
      ]),
    LoginHistory(
      "NTLM's handshake restarts once if its connection is lost, and a credential is refused with the last message",
      [
        ("get http://h/", "nothing"), ("401 NTLM", "ask ntlm"), ("answer u", "resend"), ("again", "NTLM 1 group 1"),
        ("401 \(ntlm)", "resend"), ("again", "NTLM 3 group 1 open"), ("missing", "resend"), ("again", "NTLM 1 group 2"),
        ("401 \(ntlm)", "resend"), ("again", "NTLM 3 group 2 open"), ("missing", "stand"), ("401 NTLM", "ask ntlm"),
      ]),
    LoginHistory(
      "Negotiate needs the process's ticket and the server's proof",
      [
        ("get https://h/", "nothing"), ("401 Negotiate", "ask negotiate"), ("answer u", "reject"),
        ("answer nobody", "resend"), ("again", "Negotiate AQ== group 1"), ("401 Negotiate AA==", "resend"),
        ("again", "Negotiate Ag== group 1 open"), ("200 Negotiate CQ==", "trusted"),
        ("again", "nothing group 1"), ("200", "trusted"), ("401 Negotiate", "resend"),
        ("again", "Negotiate AQ== group 2"), ("200", "untrusted"), ("again", "nothing"),
      ]),
    LoginHistory(
      "after a redirect to another origin, the connection isn't used there, nor after a redirect back",
      [
        ("get http://h/", "nothing"), ("401 NTLM", "ask ntlm"), ("answer u", "resend"), ("again", "NTLM 1 group 1"),
        ("401 \(ntlm)", "resend"), ("again", "NTLM 3 group 1 open"), ("302", "trusted"), ("get http://i/", "nothing"),
        ("302", "trusted"), ("get http://h/", "nothing"),
      ]),
  ]

  private static let proxies: [LoginHistory] = [
    LoginHistory(
      "a proxy's challenge is answered with the login of its URL, once",
      via: "http://u:pw@p:1",
      [
        ("get http://h/", "nothing"), ("407 \(digest)", "resend"), ("again", "nothing [Digest n 1]"),
        ("407 \(stale)", "resend"), ("again", "nothing [Digest m 1]"), ("200", "trusted"), ("task", ""),
        ("get http://h/", "nothing [Digest m 2]"), ("407 \(digest)", "resend"), ("again", "nothing [Digest n 1]"),
        ("407 \(digest)", "ask digest"), ("again", "nothing [nothing]"),
      ]),
    LoginHistory(
      "Digest opens a tunnel of its own, and the origin's 407 in it isn't answered",
      via: "http://u:pw@p:1",
      [
        ("get https://h/", "nothing"), ("tunnel \(digest)", "resend"), ("again", "nothing [Digest n 1] group 1"),
        ("200", "trusted"), ("again", "nothing [Digest n 2] group 1"), ("407 Basic realm=r", "stand"),
        ("tunnel \(digest)", "ask digest"), ("answer u", "resend"), ("again", "nothing [Digest n 1] group 1"),
      ]),
    LoginHistory(
      "NTLM authenticates the connection to a proxy, and then the origin is asked by the same connection",
      via: "http://p:1",
      [
        ("put http://h/", "nothing"), ("407 NTLM", "ask ntlm"), ("answer u", "resend"),
        ("again", "nothing [NTLM 1] group 1 empty"), ("407 \(ntlm)", "resend"),
        ("again", "nothing [NTLM 3] group 1 open"), ("401 \(digest)", "ask digest"), ("answer v", "authorize"),
        ("again", "Digest n 1 group 1"), ("200", "trusted"),
      ]),
    LoginHistory(
      "a proxy that forwards requests can't mediate NTLM with the origin",
      via: "http://p:1",
      [("get http://h/", "nothing"), ("401 NTLM, Basic realm=r", "ask basic")]),
    LoginHistory(
      "Negotiate opens each tunnel with a new message, at most three times",
      via: "http://p:1",
      [
        ("get https://h/", "nothing"), ("tunnel Negotiate", "ask negotiate"), ("answer nobody", "resend"),
        ("again", "nothing [Negotiate AQ==] group 1"), ("missing", "resend"),
        ("again", "nothing [Negotiate AQ==] group 1"), ("missing", "resend"), ("missing", "resend"),
        ("missing", "stand"),
      ]),
  ]
}
