// Messages: conversions between the engine's requests and responses and those of swift-http-types.

#if HTTPTypes
  public import HTTPTypes
  public import LupineEngine

  extension URI {
    /// Creates the URI of a request from its pseudo fields (RFC 9113 §8.3.1). Without an authority, the Host field is used.
    ///
    /// - Throws: An `HTTPTypesError` if a pseudo field is missing or malformed. A path that doesn't begin with "/" is refused, because
    ///   together with the authority it would be the URI of another host.
    public init(_ request: HTTPRequest) throws(HTTPTypesError) {
      guard request.method != .connect, request.extendedConnectProtocol == nil else { throw .unsupportedConnect }
      guard let scheme = request.scheme else { throw .missingScheme }
      // Without this check, "http://evil.test/?" would be the URI of another host.
      guard scheme.utf8.allSatisfy({ $0 | 0x20 &- 0x61 < 26 || $0 == UInt8(ascii: "+") }) else {
        throw .malformedScheme(scheme)
      }
      let host = HTTPField.Name("Host").flatMap { request.headerFields[$0] }
      guard let authority = request.authority ?? host, !authority.isEmpty else { throw .missingAuthority }
      if let host, host.lowercased() != authority.lowercased() {
        throw .conflictingHost(authority: authority, host: host)
      }
      guard !authority.utf8.contains(where: "@/?#\\".utf8.contains) else { throw .malformedAuthority(authority) }
      let path = request.path ?? ""
      guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(UInt8(ascii: "#")) else {
        throw .malformedPath(path)
      }
      do {
        self = try URI("\(scheme)://\(authority)\(path)")
      } catch {
        throw .uri(error)
      }
    }
  }

  extension EngineRequest {
    /// Creates a request for the engine, with the default settings.
    ///
    /// The engine derives Content-Length and Transfer-Encoding from the body, and ignores those of `request`.
    ///
    /// - Throws: An `HTTPTypesError` if the request's pseudo fields or fields can't be sent with HTTP/1.1.
    public init(_ request: HTTPRequest, body: RequestBody = RequestBody()) throws(HTTPTypesError) {
      self.init(
        method: request.method.rawValue, uri: try URI(request), fields: try Fields(request.headerFields), body: body)
    }
  }

  extension HTTPRequest {
    /// Creates a request from one for the engine. The body and the settings aren't included. A Host field of the request becomes
    /// the authority.
    ///
    /// - Throws: An `HTTPTypesError` if the method or a field is malformed.
    public init(_ request: EngineRequest) throws(HTTPTypesError) {
      guard let method = HTTPRequest.Method(request.method) else { throw .malformedMethod(request.method) }
      var fields = request.fields
      fields.remove("Host")
      let uri = request.uri
      self.init(
        method: method, scheme: uri.origin.scheme.rawValue,
        authority: request.fields.first("Host") ?? uri.origin.authority, path: uri.target,
        headerFields: try HTTPFields(fields))
    }
  }

  extension HTTPResponse {
    /// Creates a response from a head that the engine has received.
    ///
    /// - Throws: `HTTPTypesError.tooManyFields`.
    public init(_ head: ResponseHead) throws(HTTPTypesError) {
      self.init(
        status: Status(code: head.status, reasonPhrase: head.reason), headerFields: try HTTPFields(head.fields))
    }
  }
#endif
