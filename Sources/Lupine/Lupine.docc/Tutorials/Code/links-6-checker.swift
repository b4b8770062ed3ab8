import Foundation
import LupineEngine

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

package struct LinkChecker: Sendable {
  private let session: URLSession

  package init(configuration: URLSessionConfiguration = .ephemeral) {
    configuration.engine.addressPolicy = .publicOnly
    session = URLSession(configuration: configuration)
  }

  /// Returns why a link doesn't work, or nil if it does.
  package func failure(of link: URL) async -> String? {
    var request = URLRequest(url: link)
    request.httpMethod = "HEAD"
    do {
      let (_, response) = try await session.data(for: request)
      let status = (response as? HTTPURLResponse)?.statusCode ?? 0
      return status < 400 ? nil : "status \(status)"
    } catch {
      return error.localizedDescription
    }
  }
}
