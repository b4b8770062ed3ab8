// A program for URLSession, as it is written for all platforms, with tests that stub it by URLProtocol.

import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct Forecast: Codable, Equatable {
  let city: String
  let degrees: Int
}

enum ForecastError: Error, Equatable {
  case status(Int)
}

final class Forecasts {
  private let session: URLSession
  private let base = URL(string: "https://weather.example/v1/") ?? URL(fileURLWithPath: "/")

  init(session: URLSession = .shared) {
    self.session = session
  }

  func load(_ city: String) async throws -> Forecast {
    let (data, response) = try await session.data(from: base.appendingPathComponent(city))
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else { throw ForecastError.status(status) }
    return try JSONDecoder().decode(Forecast.self, from: data)
  }

  func publish(_ forecast: Forecast, completion: @escaping @Sendable (Result<Int, Error>) -> Void) {
    var request = URLRequest(url: base.appendingPathComponent(forecast.city))
    request.httpMethod = "PUT"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    let body = (try? JSONEncoder().encode(forecast)) ?? Data()
    let task = session.uploadTask(with: request, from: body) { _, response, error in
      if let error = error {
        completion(.failure(error))
      } else {
        completion(.success((response as? HTTPURLResponse)?.statusCode ?? 0))
      }
    }
    task.resume()
  }
}
