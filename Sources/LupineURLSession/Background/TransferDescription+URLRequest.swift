// Converts requests and responses to their records in a background session, and back.

import Foundation
import LupineEngine
import LupineTransferStore

extension TransferDescription {
  /// Creates the record of a background task's request. Returns nil if the request has no URL, or if the body of a download's
  /// request is a stream.
  ///
  /// - Parameter isSecret: A closure that returns whether to omit the request field with the given name. If nil, the record
  ///   contains all fields, and the user and password in the URL.
  init?(_ kind: Kind, _ request: URLRequest, isSecret: ((String) -> Bool)?) {
    guard let url = request.url else { return nil }
    var recorded = url
    var omitted: [String] = []
    if isSecret != nil, url.hasUserInfo {
      guard let bare = url.withoutUserInfo else { return nil }
      recorded = bare
      omitted.append("Authorization")
    }
    var fields: [RecordedField] = []
    for field in RecordedField.list(request.fields) {
      if isSecret?(field.name) == true { omitted.append(field.name) } else { fields.append(field) }
    }
    self.init(kind: kind, url: recorded.absoluteString, method: request.httpMethod ?? "GET", fields: fields)
    omittedNames = omitted
    switch (kind, request.body) {
    case (.upload, _), (.download, .none): break
    case (.download, .data(let data)): body = [UInt8](data)
    case (.download, .stream): return nil
    }
    timeout = request.explicitTimeoutInterval
    cachePolicy = request.explicitCachePolicy.flatMap { UInt32(exactly: $0.rawValue) }
    handlesCookies = request.httpShouldHandleCookies
    let document = request.mainDocumentURL
    options = request.options.map { TransferOptions($0) } ?? TransferOptions()
    mainDocument = (isSecret == nil ? document : document?.withoutUserInfo)?.absoluteString
  }

  /// Whether the recorded URL names a local file or contains the data itself. No session records such a request, so somebody else
  /// has written the record.
  var isLocal: Bool { URL(string: url).map { LocalContent.serves($0) } ?? false }

  /// The recorded request, with its options. Fields that the record omits are missing. Nil if the recorded URL can't be parsed.
  var request: URLRequest? {
    guard let url = URL(string: url) else { return nil }
    var request = URLRequest(url: url, method: method, fields: Fields(fields))
    if !body.isEmpty { request.httpBody = Data(body) }
    if let timeout { request.timeoutInterval = timeout }
    if let policy = cachePolicy.flatMap({ URLRequest.CachePolicy(rawValue: UInt($0)) }) { request.cachePolicy = policy }
    request.httpShouldHandleCookies = handlesCookies
    request.mainDocumentURL = mainDocument.flatMap { URL(string: $0) }
    options.apply(to: &request)
    return request
  }
}

extension TransferAnswer {
  /// The lowercase names of the response fields that may contain secrets of the user or the session: cookies (RFC 6265 §4.1, RFC
  /// 2965 §3.2), authentication challenges, and the fields that confirm an authentication (RFC 9110 §11).
  private static let secretNames: Set<String> = [
    "set-cookie", "set-cookie2", "authentication-info", "proxy-authentication-info", "www-authenticate",
  ]

  /// Creates the record of a response's status line and fields.
  ///
  /// - Parameter recordsCredentials: Whether the record contains the fields that may contain secrets, and the user and password in
  ///   the URL.
  init(_ response: HTTPURLResponse, recordsCredentials: Bool) {
    let fields = RecordedField.list(response.fields)
    let url = recordsCredentials ? response.url : response.url?.withoutUserInfo
    self.init(
      url: url?.absoluteString ?? "", status: UInt32(clamping: response.statusCode),
      fields: recordsCredentials ? fields : fields.filter { !Self.secretNames.contains($0.name.lowercased()) },
      isDecoded: response.isContentDecoded)
  }

  /// Creates the record of the response to which the partial file of `resumeData` belongs. It contains only the fields with which a
  /// later process can continue the file.
  init(_ resumeData: ResumeData) {
    var fields = [("Accept-Ranges", "bytes")]
    switch resumeData.validator {
    case .entityTag(let text): fields.append(("ETag", text))
    case .lastModified(let text): fields.append(("Last-Modified", text))
    }
    if let total = resumeData.totalByteCount { fields.append(("Content-Length", "\(total)")) }
    self.init(
      url: resumeData.url.withoutUserInfo?.absoluteString ?? "", status: 200,
      fields: fields.map { RecordedField(name: $0.0, value: Array($0.1.utf8)) }, isDecoded: false)
  }

  /// The recorded response head. Nil if the recorded URL can't be parsed.
  var response: HTTPURLResponse? {
    guard let url = URL(string: url) else { return nil }
    return HTTPURLResponse(
      url: url, statusCode: Int(status), fields: Fields(fields), isContentDecoded: isDecoded)
  }
}

extension URL {
  fileprivate var hasUserInfo: Bool { user != nil || password != nil }

  /// The URL without the user and the password in it. Nil if they can't be removed.
  fileprivate var withoutUserInfo: URL? {
    guard hasUserInfo else { return self }
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
    (parts.user, parts.password) = (nil, nil)
    return parts.url
  }
}

extension RecordedField {
  fileprivate static func list(_ fields: Fields) -> [RecordedField] {
    fields.indices.map { RecordedField(name: fields[$0].name, value: fields.valueBytes(at: $0)) }
  }
}

extension Fields {
  fileprivate init(_ recorded: [RecordedField]) {
    self.init()
    for field in recorded { append(name: field.name, valueBytes: field.value) }
  }
}
