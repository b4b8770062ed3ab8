// HTTPTypesError: the reasons for which a message can't be converted.

#if HTTPTypes
  public import LupineEngine

  /// A message that can't be converted between Lupine's types and those of swift-http-types.
  public enum HTTPTypesError: Error, Sendable, Hashable {
    /// The request has no scheme (the pseudo field `:scheme`).
    case missingScheme
    /// The request's scheme has characters other than letters and "+".
    case malformedScheme(String)
    /// The request has neither an authority (the pseudo field `:authority`) nor a Host field.
    case missingAuthority
    /// The request's authority isn't a host with an optional port. User information isn't permitted (RFC 9113 §8.3.1).
    case malformedAuthority(String)
    /// The request's authority and its Host field differ.
    case conflictingHost(authority: String, host: String)
    /// The request's path (the pseudo field `:path`) is missing, doesn't begin with "/", or has a fragment.
    case malformedPath(String)
    /// The request's scheme, authority and path aren't a URI that the engine can request.
    case uri(URIError)
    /// The request is a CONNECT request or has the pseudo field `:protocol`. Use `Engine.openStream`, or a WebSocket task.
    case unsupportedConnect
    /// The method isn't a token (RFC 9110 §9.1).
    case malformedMethod(String)
    /// The field name isn't a token (RFC 9110 §5.1).
    case malformedFieldName(String)
    /// The value of the field with this name contains a control character, such as CR, LF or NUL.
    case forbiddenByte(UInt8, fieldName: String)
    /// The message has more fields than `HTTPFields` can contain.
    case tooManyFields(Int)
    /// The response isn't an HTTP response, but for example that to a `file:` URL.
    case notHTTP
  }

  extension HTTPTypesError: CustomStringConvertible {
    /// One line for logs and users, with the cause and the remedy.
    public var description: String {
      let text =
        switch self {
        case .missingScheme: "the request has no scheme. Set it to \"https\" or \"http\"."
        case .malformedScheme(let text): "the scheme \"\(text)\" isn't http or https. Correct it."
        case .missingAuthority: "the request has no authority. Set it to the server's host, and its port if necessary."
        case .malformedAuthority(let text): "the authority \"\(text)\" isn't a host with an optional port. Correct it."
        case .conflictingHost(let authority, let host):
          "the authority \"\(authority)\" and the Host field \"\(host)\" differ. Remove the Host field."
        case .malformedPath(let text):
          "the path \"\(text)\" doesn't begin with \"/\", or has a fragment. Correct it, and percent-encode \"#\"."
        case .uri(let error): "the request's scheme, authority and path can't be requested: \(error)"
        case .unsupportedConnect:
          "requests with CONNECT or a :protocol aren't supported. Use Engine.openStream or a WebSocket task."
        case .malformedMethod(let text): "the method \"\(text)\" isn't a token. Correct it."
        case .malformedFieldName(let name): "the field name \"\(name)\" isn't a token. Correct it."
        case .forbiddenByte(let byte, let name):
          "the value of \(name) has the control character 0x\(String(byte, radix: 16)). Remove it."
        case .tooManyFields(let count): "the message has \(count) fields, more than HTTPFields can contain. Send fewer."
        case .notHTTP: "the response isn't an HTTP response, so it has no status. Request an http or https URL."
        }
      return text.printable
    }
  }
#endif
