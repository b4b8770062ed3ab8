// ConversionTests: requests, responses and fields in the types of swift-http-types and back.

#if HTTPTypes
  import HTTPTypes
  import LupineEngine
  import LupineHTTPTypes
  import Testing

  @Suite("Conversions of swift-http-types")
  struct ConversionTests {
    private func request(
      _ method: HTTPRequest.Method = .get, scheme: String? = "http", authority: String? = "a.test", path: String? = "/",
      fields: HTTPFields = [:]
    ) -> HTTPRequest {
      HTTPRequest(method: method, scheme: scheme, authority: authority, path: path, headerFields: fields)
    }

    private func error(_ request: HTTPRequest) -> HTTPTypesError? {
      do throws(HTTPTypesError) {
        _ = try EngineRequest(request)
        return nil
      } catch {
        #expect(!error.description.isEmpty)
        return error
      }
    }

    // MARK: Fields

    @Test("fields keep their order, repetitions, spelling and bytes in both directions")
    func fields() throws {
      var fields = HTTPFields()
      let name = try #require(HTTPField.Name("X-Name"))
      let latin1: [UInt8] = [0x63, 0x61, 0x66, 0xE9]
      fields.append(HTTPField(name: name, value: "1"))
      fields.append(HTTPField(name: .accept, value: "*/*"))
      fields.append(HTTPField(name: try #require(HTTPField.Name("x-name")), value: latin1))
      fields.append(HTTPField(name: name, value: "caf\u{E9}\u{1F600}"))
      fields.append(HTTPField(name: name, value: ""))
      let converted = try Fields(fields)
      #expect(converted.map(\.name) == ["X-Name", "Accept", "x-name", "X-Name", "X-Name"])
      #expect(converted.valueBytes(at: 2) == latin1)
      #expect(converted.all("x-NAME") == ["1", "caf\u{FFFD}", "caf\u{E9}\u{1F600}", ""])
      let back = try HTTPFields(converted)
      #expect(back == fields && back.map(\.name.rawName) == converted.map(\.name))
      #expect(back[2].withUnsafeBytesOfValue { Array($0) } == latin1)
    }

    @Test("several Cookie fields become one, because HTTP/1.1 permits no more")
    func cookies() throws {
      var fields: HTTPFields = [:]
      fields[.cookie] = "a=1; b=2; c=3"
      fields.append(HTTPField(name: .accept, value: "x"))
      fields.append(HTTPField(name: .cookie, value: "d=4"))
      #expect(fields[values: .cookie].count == 4)
      #expect(try Fields(fields) == ["Cookie": "a=1; b=2; c=3; d=4", "Accept": "x"])
    }

    @Test(
      "CR, LF and NUL never get into a field: swift-http-types replaces them, and other control characters are refused")
    func controls() throws {
      let name = try #require(HTTPField.Name("X"))
      let replaced = HTTPField(name: name, value: "a\r\nEvil: 1\0")
      #expect(!(try Fields([name: replaced.value])).valueBytes(at: 0).contains { $0 < 0x20 })
      for byte in [UInt8](0x01...0x08) + [0x0B, 0x0C] + [UInt8](0x0E...0x1F) + [0x7F] {
        var fields = HTTPFields()
        fields.append(HTTPField(name: name, lenientValue: [0x61, byte]))
        #expect(throws: HTTPTypesError.forbiddenByte(byte, fieldName: "X")) { try Fields(fields) }
        fields[fields: .cookie] = [HTTPField(name: .cookie, lenientValue: [0x61, byte])]
        fields[name] = nil
        #expect(throws: HTTPTypesError.forbiddenByte(byte, fieldName: "Cookie")) { try Fields(fields) }
      }
      for byte in [UInt8](0x00...0x1F) + [0x7F] where byte != 0x09 {
        let value = "a\(Character(Unicode.Scalar(byte)))"
        #expect(throws: HTTPTypesError.forbiddenByte(byte, fieldName: "X")) { try HTTPFields(["X": value]) }
      }
      #expect(try HTTPFields(["X": "a\tb"])[name] == "a\tb")
    }

    @Test("a field name that isn't a token is refused", arguments: ["", "a b", "a:", ":method", "ä", "a\r\n"])
    func names(name: String) {
      #expect(throws: HTTPTypesError.malformedFieldName(name)) { try HTTPFields([name: "x"]) }
    }

    @Test("more fields than HTTPFields can contain are an error instead of a trap")
    func manyFields() throws {
      var fields = Fields()
      for _ in 0..<65_534 { fields.append(name: "a", value: "") }
      #expect(try HTTPFields(fields).count == 65_534)
      fields.append(name: "a", value: "")
      #expect(throws: HTTPTypesError.tooManyFields(65_535)) { try HTTPFields(fields) }
    }

    // MARK: Requests

    @Test(
      "the pseudo fields of a request become its method and URI",
      arguments: [
        ("http", "a.test", "/", "http://a.test/"), ("HTTPS", "A.test:8443", "/p/q?r=s", "https://a.test:8443/p/q?r=s"),
        ("http", "[::1]:80", "//x", "http://[::1]//x"), ("http", "a.test", "/a b?\u{E9}", "http://a.test/a%20b?%C3%A9"),
        ("http+unix", "%2Frun%2Fa.sock", "/v1", "http+unix://%2Frun%2Fa.sock/v1"),
      ])
    func requests(scheme: String, authority: String, path: String, uri: String) throws {
      let converted = try EngineRequest(
        request(.query, scheme: scheme, authority: authority, path: path, fields: [.accept: "a"]),
        body: RequestBody("body"))
      #expect(converted.method == "QUERY" && converted.uri.description == uri)
      #expect(converted.fields == ["Accept": "a"] && converted.body.byteCount == 4)
    }

    @Test("a Host field replaces a missing authority, and may repeat it, but not differ")
    func host() throws {
      let name = try #require(HTTPField.Name("Host"))
      #expect(try URI(request(authority: nil, fields: [name: "b.test:81"])).origin.port == 81)
      let same = try EngineRequest(request(authority: "B.test", fields: [name: "b.test"]))
      #expect(same.fields.first("Host") == "b.test")
      #expect(error(request(fields: [name: "b"])) == .conflictingHost(authority: "a.test", host: "b"))
    }

    @Test("pseudo fields that are missing or malformed are refused")
    func malformed() {
      #expect(error(request(scheme: nil)) == .missingScheme)
      #expect(error(request(authority: nil)) == .missingAuthority)
      #expect(error(request(authority: "")) == .missingAuthority)
      for text in ["user@a.test", "a.test/", "a.test?", "a.test#", "a.test\\b"] {
        #expect(error(request(authority: text)) == .malformedAuthority(text))
      }
      for scheme in ["ftp", ""] { #expect(error(request(scheme: scheme)) != nil, "\(scheme)") }
      for scheme in ["http://evil.test/?", "http:", "h ttp"] {
        #expect(error(request(scheme: scheme)) == .malformedScheme(scheme))
      }
      for authority in ["a.test:port", "a.test:70000", "a b", ":80"] {
        guard case .uri = error(request(authority: authority)) else {
          Issue.record("\(authority)")
          continue
        }
      }
      #expect(error(request(.connect)) == .unsupportedConnect)
      var extended = request(.connect)
      extended.extendedConnectProtocol = "websocket"
      #expect(error(extended) == .unsupportedConnect)
    }

    @Test(
      "a path that would change the host or isn't one is refused",
      arguments: ["", "@evil.test/", ".evil.test/", ":81/", "*", "?q", "p", "/p#fragment"])
    func path(path: String) {
      #expect(error(request(path: path)) == .malformedPath(path))
      #expect(error(request(path: nil)) == .malformedPath(""))
    }

    @Test("a request of the engine becomes one with pseudo fields, and Host becomes the authority")
    func backward() throws {
      let first = EngineRequest(
        method: "PUT", uri: try URI("https://a.test:444/p?q#f"), fields: ["Host": "b.test", "A": "1", "a": "2"])
      let request = try HTTPRequest(first)
      #expect(request.method == .put && request.scheme == "https" && request.authority == "b.test")
      #expect(request.path == "/p?q" && request.headerFields.map(\.value) == ["1", "2"])
      let plain = try HTTPRequest(EngineRequest(uri: try URI("http://A.test:80/")))
      #expect(plain.authority == "a.test" && plain.headerFields.isEmpty)
      #expect(throws: HTTPTypesError.malformedMethod("A B")) {
        try HTTPRequest(EngineRequest(method: "A B", uri: first.uri))
      }
    }
  }
#endif
