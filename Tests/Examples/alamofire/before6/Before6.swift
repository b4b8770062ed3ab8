// Code written before Swift 6, in Swift 5's language mode: closures that modify captured variables.
// Never run; it has to compile without warnings.

import Alamofire
import Foundation

func text(of url: String) -> String? {
  var text: String?
  let done = DispatchSemaphore(value: 0)
  AF.request(url).validate { _, _, _ in .success(()) }.responseString(queue: .global()) { response in
    text = response.value
    done.signal()
  }
  done.wait()
  return text
}

func byteCount(of url: String, into folder: URL) -> Int {
  var count = 0
  let group = DispatchGroup()
  group.enter()
  AF.streamRequest(url).responseStream(on: .global()) { stream in
    if case .stream(.success(let data)) = stream.event { count += data.count }
    if case .complete = stream.event { group.leave() }
  }
  group.enter()
  AF.download(
    url,
    to: { _, response in
      count += Int(response.expectedContentLength)
      return (folder.appendingPathComponent("file"), [.removePreviousFile])
    }
  ).response(queue: .global()) { _ in group.leave() }
  group.wait()
  return count
}

func session(counting counter: Counter) -> Session {
  let adapter = Adapter { request, _, completion in
    counter.value += 1
    completion(.success(request))
  }
  let retrier = Retrier { _, _, _, completion in
    counter.value += 1
    completion(.doNotRetry)
  }
  return Session(
    interceptor: Interceptor(adapters: [adapter], retriers: [retrier]),
    redirectHandler: Redirector.modify { _, request, _ in
      counter.value += 1
      return request
    },
    cachedResponseHandler: ResponseCacher.modify { _, response in
      counter.value += 1
      return response
    })
}

final class Counter {
  var value = 0
}
