// NSURLRequest+Archive: encodes requests with an NSCoder, and decodes them.

import Foundation
import LupineEngine

extension URLRequest {
  private enum Key {
    static let url = "url"
    static let method = "method"
    static let fields = "fields"
    static let body = "body"
    static let timeout = "timeoutInterval"
    static let cachePolicy = "cachePolicy"
    static let handlesCookies = "handlesCookies"
    static let mainDocument = "mainDocumentURL"
    static let cellular = "allowsCellularAccess"
    static let expensive = "allowsExpensiveNetworkAccess"
    static let constrained = "allowsConstrainedNetworkAccess"
    static let serviceType = "networkServiceType"
    static let pipelining = "usesPipelining"
  }

  /// Decodes an archived request. Returns nil if the archive doesn't contain a request. An archive contains only the properties
  /// that were set, so that the session's configuration applies to the decoded request as to the original one.
  init?(_ coder: NSCoder) {
    func text(_ key: String) -> String? { coder.decodeObject(of: NSString.self, forKey: key).map { "\($0)" } }
    func flag(_ key: String) -> Bool? { coder.containsValue(forKey: key) ? coder.decodeBool(forKey: key) : nil }
    func number(_ key: String) -> UInt? {
      coder.containsValue(forKey: key) ? UInt(clamping: coder.decodeInteger(forKey: key)) : nil
    }
    guard let method = text(Key.method) else { return nil }
    self.init(url: URL(filePath: "/"))
    url = text(Key.url).flatMap { URL(string: $0) }
    httpMethod = method
    if coder.containsValue(forKey: Key.fields) {
      guard let decoded = Fields(coder, forKey: Key.fields) else { return nil }
      fields = decoded
    }
    httpBody = coder.decodeObject(of: NSData.self, forKey: Key.body).map { Data(referencing: $0) }
    if coder.containsValue(forKey: Key.timeout) { timeoutInterval = coder.decodeDouble(forKey: Key.timeout) }
    if let policy = number(Key.cachePolicy).flatMap(CachePolicy.init(rawValue:)) { cachePolicy = policy }
    httpShouldHandleCookies = flag(Key.handlesCookies) ?? true
    mainDocumentURL = text(Key.mainDocument).flatMap { URL(string: $0) }
    if let value = flag(Key.cellular) { allowsCellularAccess = value }
    if let value = flag(Key.expensive) { allowsExpensiveNetworkAccess = value }
    if let value = flag(Key.constrained) { allowsConstrainedNetworkAccess = value }
    if let value = number(Key.serviceType).flatMap(NetworkServiceType.init(rawValue:)) { networkServiceType = value }
    if let value = flag(Key.pipelining) { httpShouldUsePipelining = value }
  }

  /// Encodes the properties of the request that have been set.
  func encode(with coder: NSCoder) {
    func write(_ text: String?, _ key: String) { coder.encode(text.map { NSString(string: $0) }, forKey: key) }
    func write(flag: Bool?, _ key: String) { if let flag { coder.encode(flag, forKey: key) } }
    write(url?.absoluteString, Key.url)
    write(httpMethod, Key.method)
    if allHTTPHeaderFields != nil { fields.encode(with: coder, forKey: Key.fields) }
    coder.encode(httpBody.map { NSData(data: $0) }, forKey: Key.body)
    if let explicitTimeoutInterval { coder.encode(explicitTimeoutInterval, forKey: Key.timeout) }
    if let explicitCachePolicy { coder.encode(Int(explicitCachePolicy.rawValue), forKey: Key.cachePolicy) }
    coder.encode(httpShouldHandleCookies, forKey: Key.handlesCookies)
    write(mainDocumentURL?.absoluteString, Key.mainDocument)
    write(flag: options?.allowsCellularAccess, Key.cellular)
    write(flag: options?.allowsExpensiveNetworkAccess, Key.expensive)
    write(flag: options?.allowsConstrainedNetworkAccess, Key.constrained)
    if let type = options?.networkServiceType { coder.encode(Int(type.rawValue), forKey: Key.serviceType) }
    write(flag: options?.usesPipelining, Key.pipelining)
  }
}
