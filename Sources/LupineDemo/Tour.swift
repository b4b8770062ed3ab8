// Tour: the steps of the demo's tour of the API, in order, with the code that each step shows.

import Foundation
import Lupine
import LupineEngine
import LupineOrigin

enum Tour {
  static let steps = [
    Step(
      title: "JSON, decoded into a type",
      code: """
        let plant = try await stage.session.request("\\(stage.origin)/json")
          .validate()
          .serializingDecodable(Plant.self)
          .value
        """
    ) { stage in
      let plant = try await stage.session.request("\(stage.origin)/json")
        .validate()
        .serializingDecodable(Plant.self)
        .value
      try check(plant.name == "lupine" && plant.species == 200, "unexpected document: \(plant)")
      return "\(plant.name), \(plant.family), \(plant.species) species, \(plant.colours.joined(separator: " "))"
    },
    Step(
      title: "A form, sent in the body because the method is POST",
      code: """
        let echo = try await stage.session.request(
          "\\(stage.origin)/form", method: .post, parameters: ["city": "Zürich", "sky": "blue & wide"]
        ).serializingDecodable(Echo.self).value
        """
    ) { stage in
      let echo = try await stage.session.request(
        "\(stage.origin)/form", method: .post, parameters: ["city": "Zürich", "sky": "blue & wide"]
      ).serializingDecodable(Echo.self).value
      try check(echo.form == ["city": "Zürich", "sky": "blue & wide"], "the origin parsed \(echo.form ?? [:])")
      return "sent \(echo.body)"
    },
    Step(
      title: "A JSON body from an Encodable",
      code: """
        let echo = try await stage.session.request(
          "\\(stage.origin)/json-echo", method: .post, parameters: ["answer": 42], encoder: .json
        ).serializingDecodable(Echo.self).value
        """
    ) { stage in
      let echo = try await stage.session.request(
        "\(stage.origin)/json-echo", method: .post, parameters: ["answer": 42], encoder: .json
      ).serializingDecodable(Echo.self).value
      try check(echo.body == #"{"answer":42}"#, "the origin received \(echo.body)")
      try check(echo.headers["Content-Type"] == "application/json", "the Content-Type isn't application/json")
      return "sent \(echo.body) as \(echo.headers["Content-Type"] ?? "")"
    },
    Step(
      title: "gzip and br, decoded automatically",
      code: """
        let plain = try await stage.session.request("\\(stage.origin)/json").serializingData().value
        let gzip = await stage.session.request("\\(stage.origin)/gzip").serializingData().response
        let br = await stage.session.request("\\(stage.origin)/br").serializingData().response
        """
    ) { stage in
      let plain = try await stage.session.request("\(stage.origin)/json").serializingData().value
      let gzip = await stage.session.request("\(stage.origin)/gzip").serializingData().response
      let br = await stage.session.request("\(stage.origin)/br").serializingData().response
      try check(gzip.value == plain && br.value == plain, "a decoded body differs from the plain one")
      let codings = [gzip, br].compactMap { $0.response?.value(forHTTPHeaderField: "Content-Encoding") }
      try check(codings == ["gzip", "br"], "the codings were \(codings)")
      let counts = [gzip, br].map { $0.metrics?.transactionMetrics.last?.countOfResponseBodyBytesReceived ?? 0 }
      return "\(plain.count) bytes, received as \(counts[0]) in gzip and \(counts[1]) in br"
    },
    Step(
      title: "A chunked stream with progress",
      code: """
        let counts = Counts()
        let text = try await stage.session.request("\\(stage.origin)/stream")
          .downloadProgress(queue: counts.queue) { counts.append($0.completedUnitCount) }
          .serializingString()
          .value
        """
    ) { stage in
      let counts = Counts()
      let text = try await stage.session.request("\(stage.origin)/stream")
        .downloadProgress(queue: counts.queue) { counts.append($0.completedUnitCount) }
        .serializingString()
        .value
      let lines = text.split(separator: "\n").count
      let seen = counts.all
      try check(lines == 5, "received \(lines) chunks instead of 5")
      try check(seen.count > 1 && seen == seen.sorted() && seen.last == Int64(text.utf8.count), "progress was \(seen)")
      return "\(lines) chunks; bytes received: \(seen.map(String.init).joined(separator: ", "))"
    },
    Step(
      title: "TLS: an unknown authority is refused",
      code: """
        let response = await stage.session.request("\\(stage.secure)/json").serializingData().response
        """
    ) { stage in
      let response = await stage.session.request("\(stage.secure)/json").serializingData().response
      let code = (response.error?.underlyingError as? URLError)?.code
      try check(code == .serverCertificateHasUnknownRoot, "the error was \(String(describing: response.error))")
      return response.error?.localizedDescription ?? ""
    },
    Step(
      title: "TLS: the same authority is trusted",
      code: """
        let configuration = URLSessionConfiguration.af.default
        configuration.engine.tls.trustRoots = [.file(stage.authority)]
        let session = Session(configuration: configuration)
        let response = await session.request("\\(stage.secure)/json").serializingDecodable(Plant.self).response
        """
    ) { stage in
      let configuration = URLSessionConfiguration.af.default
      configuration.engine.tls.trustRoots = [.file(stage.authority)]
      let session = Session(configuration: configuration)
      let response = await session.request("\(stage.secure)/json").serializingDecodable(Plant.self).response
      try check(response.value?.name == "lupine", "the error was \(String(describing: response.error))")
      let version = response.metrics?.transactionMetrics.last?.negotiatedTLSProtocolVersion
      try check(version == .TLSv13, "the version was \(String(describing: version))")
      return "\(response.value?.name ?? ""), over \(version.map { "\($0)" } ?? "")"
    },
    Step(
      title: "A redirect to another origin, without the credentials",
      code: """
        let response = await stage.session.request(
          "\\(stage.origin)/redirect-other", parameters: ["to": "\\(stage.elsewhere)/echo"],
          headers: [.authorization(bearerToken: "secret"), .accept("application/json")]
        ).serializingDecodable(Echo.self).response
        """
    ) { stage in
      let response = await stage.session.request(
        "\(stage.origin)/redirect-other", parameters: ["to": "\(stage.elsewhere)/echo"],
        headers: [.authorization(bearerToken: "secret"), .accept("application/json")]
      ).serializingDecodable(Echo.self).response
      let echo = try response.result.get()
      try check(response.response?.url?.absoluteString == "\(stage.elsewhere)/echo", "the redirect wasn't followed")
      try check(echo.headers["Authorization"] == nil, "the credentials crossed origins")
      try check(echo.headers["Accept"] == "application/json", "the Accept field was removed")
      return "arrived at \(response.response?.url?.absoluteString ?? ""), with Accept and without Authorization"
    },
    Step(
      title: "A timeout",
      code: """
        var request = try URLRequest(url: "\\(stage.origin)/slow", method: .get)
        request.timeoutInterval = 0.2
        let response = await stage.session.request(request).serializingData().response
        """
    ) { stage in
      var request = try URLRequest(url: "\(stage.origin)/slow", method: .get)
      request.timeoutInterval = 0.2
      let response = await stage.session.request(request).serializingData().response
      let code = (response.error?.underlyingError as? URLError)?.code
      try check(code == .timedOut, "the error was \(String(describing: response.error))")
      return response.error?.localizedDescription ?? ""
    },
    Step(
      title: "A cancellation after the origin received the request",
      code: """
        let task = stage.session.request("\\(stage.origin)/slow?cancel").serializingData()
        await stage.cancelArrived.wait()
        task.cancel()
        let response = await task.response
        """
    ) { stage in
      let task = stage.session.request("\(stage.origin)/slow?cancel").serializingData()
      await stage.cancelArrived.wait()
      task.cancel()
      let response = await task.response
      try check(
        response.error?.isExplicitlyCancelledError == true, "the error was \(String(describing: response.error))")
      return response.error?.localizedDescription ?? ""
    },
    Step(
      title: "Keep-alive: the second request reuses the connection",
      code: """
        let session = Session()
        let first = await session.request("\\(stage.origin)/json").serializingData().response
        let second = await session.request("\\(stage.origin)/json").serializingData().response
        """
    ) { stage in
      let session = Session()
      let first = await session.request("\(stage.origin)/json").serializingData().response
      let second = await session.request("\(stage.origin)/json").serializingData().response
      let (fresh, reused) = (first.metrics?.transactionMetrics.last, second.metrics?.transactionMetrics.last)
      try check(
        fresh?.isReusedConnection == false && fresh?.connectStartDate != nil, "the first request didn't connect")
      try check(
        reused?.isReusedConnection == true && reused?.connectStartDate == nil,
        "the second request opened another connection")
      let times = [first, second].map { Text.milliseconds($0.metrics?.taskInterval.duration ?? 0) }
      return "\(times[0]) on a new connection, \(times[1]) on the reused one"
    },
    Step(
      title: "An error states cause, place and remedy",
      code: """
        let response = await stage.session.request("\\(stage.origin)/status/404").validate().serializingData().response
        """
    ) { stage in
      let response = await stage.session.request("\(stage.origin)/status/404").validate().serializingData().response
      try check(response.error?.responseCode == 404, "the error was \(String(describing: response.error))")
      return response.error?.localizedDescription ?? ""
    },
  ]
}
