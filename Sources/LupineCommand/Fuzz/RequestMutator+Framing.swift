// RequestMutator+Framing: mutations of a request's framing (RFC 9112 §6), which two servers in a chain must never
// interpret differently.

internal import LupineRandom

extension RequestMutator.Mutation {
  static let ofFraming: [Self] = [
    Self(name: "an odd Content-Length") { shape, random in
      shape.body = Array("body!".utf8)
      let odd = ["+5", "-5", "0x5", "5 5", "5,5", "5, 6", "5.0", "5e0", "05", "\u{B}5", "5;", "\"5\"", "", "five"]
      shape.set("Content-Length", random.pick(odd))
    },
    Self(name: "a Content-Length beyond 64 bits") { shape, random in
      shape.set("Content-Length", random.pick(["18446744073709551617", "99999999999999999999", "9223372036854775808"]))
    },
    Self(name: "a Content-Length that is too large", leavesOpen: true) { shape, random in
      shape.set("Content-Length", "\(shape.body.count + random.pick([1, 1_000, 1_000_000_000]))")
    },
    Self(name: "a Content-Length that is too small") { shape, _ in
      shape.body = Array("bodyGET / HTTP/1.1\r\nHost: other.test\r\n\r\n".utf8)
      shape.set("Content-Length", "4")
    },
    Self(name: "two Content-Lengths") { shape, random in
      shape.body = Array("body".utf8)
      shape.set("Content-Length", "4")
      shape.add("Content-Length", random.pick(["4", "3", "0", "x"]))
    },
    Self(name: "chunked with a Content-Length") { shape, random in
      setChunked(&shape, ["4\r\nbody\r\n", "0\r\n\r\n"])
      shape.add("Content-Length", random.pick(["4", "0", "15"]))
    },
    Self(name: "an odd Transfer-Encoding") { shape, random in
      setChunked(&shape, ["4\r\nbody\r\n", "0\r\n\r\n"])
      shape.set(
        "Transfer-Encoding",
        random.pick([
          "CHUNKED", "xchunked", "chunked, chunked", "chunked, identity", "identity, chunked", "gzip, chunked",
          "\u{B}chunked",
          "chunked;a=b", "\"chunked\"", "", ",chunked,", "chunked\t", "chu nked", "identity",
        ]))
    },
    Self(name: "two Transfer-Encodings") { shape, random in
      setChunked(&shape, ["4\r\nbody\r\n", "0\r\n\r\n"])
      shape.add("Transfer-Encoding", random.pick(["chunked", "identity", "x"]))
    },
    Self(name: "an odd chunk size", leavesOpen: true) { shape, random in
      let odd = [
        "+4", "-4", "0x4", " 4", "4 ", "00000000000000000004", "4g", "\u{B}4", "", "4;;;", "fffffffffffffffff", "4\n",
      ]
      setChunked(&shape, ["\(random.pick(odd))\r\nbody\r\n", "0\r\n\r\n"])
    },
    Self(name: "a huge chunk", leavesOpen: true) { shape, random in
      setChunked(&shape, ["\(random.pick(["ffffffffffffffff", "7fffffffffffffff", "ffffffff"]))\r\nbody"])
    },
    Self(name: "an odd end of a chunk", leavesOpen: true) { shape, random in
      setChunked(&shape, ["4\r\nbody\(random.pick(["", "\n", "\r", "XX", "\r\r\n", "more\r\n"]))", "0\r\n\r\n"])
    },
    Self(name: "a long chunk extension") { shape, random in
      let length = random.pick([5_000, 100_000])
      setChunked(&shape, ["4;\(String(repeating: "e", count: length))\r\nbody\r\n", "0\r\n\r\n"])
    },
    Self(name: "10,000 small chunks") { shape, _ in
      setChunked(&shape, [String(repeating: "1\r\nx\r\n", count: 10_000), "0\r\n\r\n"])
    },
    Self(name: "odd trailers") { shape, random in
      let odd = [
        "Content-Length: 5", "Transfer-Encoding: chunked", "Host: other.test", "no colon", " folded", "\0: x", ": x",
      ]
      setChunked(&shape, ["4\r\nbody\r\n", "0\r\n\(random.pick(odd))\r\n\r\n"])
    },
    Self(name: "no last chunk", leavesOpen: true) { shape, _ in setChunked(&shape, ["4\r\nbody\r\n"]) },
    Self(name: "a second request after the body") { shape, random in
      shape.behind = Array(
        random.pick(["GET / HTTP/1.1\r\nHost: other.test\r\n\r\n", "\0\0\0\0", "\r\n\r\n\r\n"]).utf8)
    },
    Self(name: "a body without framing fields") { shape, _ in
      shape.remove("Content-Length")
      shape.body = Array("body".utf8)
    },
  ]

  /// Replaces the request's body with a chunked body, and sets Transfer-Encoding. `pieces` are the parts of the chunked body. Each
  /// Unicode scalar of a piece becomes one byte.
  private static func setChunked(_ shape: inout RequestShape, _ pieces: [String]) {
    shape.remove("Content-Length")
    shape.set("Transfer-Encoding", "chunked")
    shape.body = pieces.joined().unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }
}
