// BothModulesTests: a program imports Alamofire 4's API and Alamofire 5's in one file.

import Alamofire4
import Foundation
import Lupine
import LupineEngine
import LupineOrigin
import Testing

@Suite(.timeLimit(.minutes(5))) struct BothModulesTests {
  @Test("Alamofire4 and Lupine can send requests in one program, and the module names distinguish their types")
  func requests() async throws {
    let server = try OriginServer.serving { DemoRoutes.reply(to: $0) }
    let five = try await AF.request("\(server.url)/json").serializingString().value
    #expect(five.contains("lupine"))
    let four = await firstValue { (completion: @escaping @Sendable (String?) -> Void) in
      Alamofire.request("\(server.url)/json").responseString(queue: .global()) { response in
        completion(response.result.value)
      }
    }
    #expect(four == five)
    let request: Alamofire4.DataRequest = Alamofire.SessionManager.default.request("\(server.url)/json")
    #expect(request.session === Alamofire.SessionManager.default.session)
  }

  @Test("if Alamofire4 and Lupine add the same member to a Foundation type, Lupine's member is called")
  func members() throws {
    let request = try URLRequest(url: "http://localhost/", method: .get)
    #expect(request.url == (try "http://localhost/".asURL()))
    #expect(request.urlRequest == request)
  }
}
