// ValidationTests: the status codes and media types that validation accepts.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct ValidationTests {
  private static let body = Data([1])

  @Test(
    "status code validation accepts only the given codes",
    arguments: [(200, true), (204, true), (299, true), (199, false), (300, false), (404, false), (0, false)])
  func statusCode(code: Int, isAccepted: Bool) throws {
    let result = ResponseRules.validate(statusCode: code, in: ResponseRules.successfulStatusCodes)
    guard !isAccepted else { return try result.get() }
    #expect { try result.get() } throws: { error in
      guard case AFError.responseValidationFailed(.unacceptableStatusCode(let refused)) = error else { return false }
      return refused == code
    }
  }

  @Test("status code validation with an empty sequence accepts no status code")
  func emptySequence() {
    #expect(throws: AFError.self) { try ResponseRules.validate(statusCode: 200, in: [Int]()).get() }
  }

  @Test(
    "content type validation accepts matching types and subtypes, and wildcards for either",
    arguments: [
      ("application/json", ["application/json"], true),
      ("application/json", ["text/plain", "application/json"], true),
      ("application/json; charset=utf-8", ["application/json"], true),
      ("application/json", ["application/json;q=0.9"], true),
      ("application/json", ["application/json ; q=0.9"], true),
      ("Application/JSON", ["application/json"], true),
      ("application/json", ["APPLICATION/*"], true),
      ("application/json", ["*/*"], true),
      ("application/json", ["*/json"], true),
      ("*/*", ["application/json"], true),
      ("application/*", ["application/json"], true),
      ("*/json", ["application/json"], true),
      ("application/json", ["application/xml"], false),
      ("application/json", ["text/json"], false),
      ("application/*", ["text/json"], false),
      ("application/json", [], false),
      ("application/json", ["json", "/", "", "application/", "/json", "*"], false),
      ("application/vnd.api+json", ["application/json"], false),
    ])
  func contentType(type: String, acceptable: [String], isAccepted: Bool) throws {
    let result = ResponseRules.validate(contentType: type, of: Self.body, in: acceptable)
    guard !isAccepted else { return try result.get() }
    #expect { try result.get() } throws: { error in
      guard case AFError.responseValidationFailed(.unacceptableContentType(let types, let refused)) = error else {
        return false
      }
      return types == acceptable.sorted() && refused == type
    }
  }

  @Test(
    "content type validation accepts a missing or malformed Content-Type only if */* is acceptable",
    arguments: [nil, "", " ", ";", "/", "json", "a/", "/b", "a/b/c", "////", ";a/b", "\u{0}", "é", "\r\n/"])
  func missingType(type: String?) throws {
    try ResponseRules.validate(contentType: type, of: Self.body, in: ["text/plain", "*/*"]).get()
    try ResponseRules.validate(contentType: type, of: Self.body, in: ["*/*;q=0.1"]).get()
    #expect {
      try ResponseRules.validate(contentType: type, of: Self.body, in: ["text/plain", "image/*", "*/a"]).get()
    } throws: { error in
      guard case AFError.responseValidationFailed(.missingContentType(let types)) = error else { return false }
      return types == ["*/a", "image/*", "text/plain"]
    }
  }

  @Test("content type validation accepts a response without a body", arguments: [nil, Data()])
  func emptyBody(data: Data?) throws {
    try ResponseRules.validate(contentType: "text/html", of: data, in: ["application/json"]).get()
    try ResponseRules.validate(contentType: nil, of: data, in: []).get()
  }

  @Test(
    "validation splits the request's Accept field into media types at the commas",
    arguments: [
      (nil, ["*/*"]),
      ("text/html", ["text/html"]),
      ("text/html, application/json;q=0.9 ,*/*;q=0.1", ["text/html", "application/json;q=0.9", "*/*;q=0.1"]),
      (",,a/b,", ["a/b"]),
      ("", []),
    ])
  func accept(field: String?, types: [String]) {
    #expect(ResponseRules.acceptableContentTypes(accept: field) == types)
  }
}
