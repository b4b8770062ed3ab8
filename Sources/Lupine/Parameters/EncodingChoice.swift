// EncodingChoice: whether requests encode JSON by LupineJSON or only by Foundation.

/// Which code encodes JSON in the current thread.
enum EncodingChoice {
  @TaskLocal static var isFoundation = false
}
