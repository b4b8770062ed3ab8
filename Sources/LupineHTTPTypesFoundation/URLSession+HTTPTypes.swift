// URLSession+HTTPTypes: the calls of sessions with the types of swift-http-types. The names are those of HTTPTypesFoundation, which
// would load the toolchain's FoundationNetworking.

#if HTTPTypes
  public import Foundation
  public import HTTPTypes
  public import LupineHTTPTypes
  public import LupineURLSession
  internal import LupineEngine

  extension URLRequest {
    /// Creates a request with the method, URL and fields of `request`.
    ///
    /// - Throws: An `HTTPTypesError` if the request's pseudo fields or fields can't be sent with HTTP/1.1.
    public init(_ request: HTTPRequest) throws(HTTPTypesError) {
      let uri = try URI(request)
      guard let url = URL(string: uri.description) else { throw .malformedPath(uri.target) }
      self.init(url: url, method: request.method.rawValue, fields: try Fields(request.headerFields))
    }
  }

  extension HTTPResponse {
    /// Creates a response from that of a session.
    ///
    /// - Throws: `HTTPTypesError.notHTTP` for the response to a `file:` or `data:` URL; `HTTPTypesError.tooManyFields`.
    public init(_ response: URLResponse) throws(HTTPTypesError) {
      guard let response = response as? HTTPURLResponse else { throw .notHTTP }
      self.init(status: Status(code: response.statusCode), headerFields: try HTTPFields(response.fields))
    }
  }

  extension URLSession {
    /// Sends a request and returns the response's body and head.
    public func data(
      for request: HTTPRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, HTTPResponse) {
      let (data, response) = try await data(for: try URLRequest(request), delegate: delegate)
      return (data, try HTTPResponse(response))
    }

    /// Sends a request with a body, and returns the response's body and head.
    public func upload(
      for request: HTTPRequest, from body: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, HTTPResponse) {
      let (data, response) = try await upload(for: try URLRequest(request), from: body, delegate: delegate)
      return (data, try HTTPResponse(response))
    }

    /// Sends a request with a file as its body, and returns the response's body and head.
    public func upload(
      for request: HTTPRequest, fromFile file: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, HTTPResponse) {
      let (data, response) = try await upload(for: try URLRequest(request), fromFile: file, delegate: delegate)
      return (data, try HTTPResponse(response))
    }

    /// Sends a request, stores the response's body in a temporary file, and returns the file's URL and the response's head.
    public func download(
      for request: HTTPRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, HTTPResponse) {
      let (file, response) = try await download(for: try URLRequest(request), delegate: delegate)
      return (file, try HTTPResponse(response))
    }

    /// Sends a request and returns when the response's head has arrived. The bytes are received while the caller reads them.
    public func bytes(
      for request: HTTPRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, HTTPResponse) {
      let (bytes, response) = try await bytes(for: try URLRequest(request), delegate: delegate)
      return (bytes, try HTTPResponse(response))
    }
  }
#endif
