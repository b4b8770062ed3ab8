// KnownMethodTests: which request methods are recorded by their names.

#if Observability
  import Testing

  @testable import LupineObservability

  @Suite struct KnownMethodTests {
    @Test("the environment variable replaces the list of known methods; an empty one doesn't")
    func variable() {
      #expect(KnownMethods.methods(nil) == KnownMethods.standard)
      #expect(KnownMethods.methods("") == KnownMethods.standard)
      #expect(KnownMethods.methods("GET, PROPFIND,,get") == ["GET", "PROPFIND", "get"])
    }

    @Test("the methods of RFC 9110, PATCH and QUERY are known, with their case")
    func standard() {
      #expect(KnownMethods.standard.count == 10)
      for method in ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"] {
        let recorded = RecordedMethod(method, known: KnownMethods.standard)
        #expect(recorded.name == method && recorded.spanName == method && recorded.original == nil)
      }
      let unknown = RecordedMethod("get", known: KnownMethods.standard)
      #expect(unknown.name == "_OTHER" && unknown.spanName == "HTTP" && unknown.original == "get")
    }
  }
#endif
