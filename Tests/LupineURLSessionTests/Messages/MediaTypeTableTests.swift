// MediaTypeTable: the media type for a file extension.

import Testing

@testable import LupineURLSession

@Suite struct MediaTypeTableTests {
  @Test("the media type table's parser skips comments, accepts any whitespace, and uses the first type of an extension")
  func parsing() {
    let table = MediaTypeTable(
      mimeTypes: """
        # a comment	none
        type/without
        type/one\t\t\ta  B\r
        type/two a c # d

        type/three e
        """)
    #expect(table.type(forExtension: "a") == "type/one")
    #expect(table.type(forExtension: "b") == "type/one")
    #expect(table.type(forExtension: "A") == "type/one")
    #expect(table.type(forExtension: "c") == "type/two")
    #expect(table.type(forExtension: "e") == "type/three")
    for unknown in ["d", "#", "comment", "type/one", ""] {
      #expect(table.type(forExtension: unknown) == "application/octet-stream", "\(unknown)")
    }
  }

  @Test(
    "without the system's media type table, the built-in table contains the media types of common extensions",
    arguments: [
      ("jpeg", "image/jpeg"), ("JPG", "image/jpeg"), ("png", "image/png"), ("json", "application/json"),
      ("txt", "text/plain"), ("mp4", "video/mp4"), ("pdf", "application/pdf"), ("unheard", "application/octet-stream"),
    ])
  func builtIn(fileExtension: String, type: String) {
    #expect(MediaTypeTable(mimeTypes: "").type(forExtension: fileExtension) == type)
  }

  @Test("the system's media type table takes precedence over the built-in one")
  func precedence() {
    let table = MediaTypeTable(mimeTypes: "image/own png")
    #expect(table.type(forExtension: "png") == "image/own")
    #expect(table.type(forExtension: "gif") == "image/gif")
  }

  @Test("every entry of the built-in media type table has a lowercase extension and a valid type")
  func entries() {
    #expect(MediaTypeTable.builtIn.types.count > 150)
    for (fileExtension, type) in MediaTypeTable.builtIn.types {
      #expect(fileExtension == fileExtension.lowercased())
      let isMediaType = type.wholeMatch(of: /[a-z]+\/[a-z0-9.+\-]+/) != nil
      #expect(isMediaType, "\(type)")
    }
  }

  @Test(
    "the system's media type table contains the media types of common image extensions",
    arguments: ["jpeg", "png", "gif"])
  func system(fileExtension: String) {
    #expect(MediaTypeTable.system.type(forExtension: fileExtension) == "image/\(fileExtension)")
  }
}
