// TransferDescription: the request and the properties of a background task, which rarely change after the task is created.

/// A header field of a request or response, as stored in the record of a background task.
package struct RecordedField: Sendable, Hashable {
  package let name: String
  package let value: [UInt8]

  package init(name: String, value: [UInt8]) {
    self.name = name
    self.value = value
  }
}

/// The stored description of a background task: its request, and the properties that the caller has set.
package struct TransferDescription: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case download
    /// An upload task, which sends the file at this path.
    case upload(path: String)
  }

  package var kind: Kind
  package var url: String
  package var method: String
  package var fields: [RecordedField]
  /// The names of the request's fields that aren't stored on disk, because they may contain credentials.
  package var omittedNames: [String] = []
  /// The bytes of a download request's body. Empty if it has none.
  package var body: [UInt8] = []
  /// The request's timeout in seconds, or nil to use the session's timeout.
  package var timeout: Double?
  /// The raw value of the request's cache policy, or nil to use the session's policy.
  package var cachePolicy: UInt32?
  package var handlesCookies = true
  package var mainDocument: String?
  package var taskDescription: String?
  /// The date before which the request isn't sent, in seconds since 1970. Nil if the request may be sent immediately.
  package var earliestStart: Double?
  package var options = TransferOptions()

  package init(kind: Kind, url: String, method: String, fields: [RecordedField]) {
    self.kind = kind
    self.url = url
    self.method = method
    self.fields = fields
  }
}

/// The progress of a background task, which is stored on disk so that a later process can continue the task.
package struct TransferProgress: Sendable, Equatable {
  package enum Stage: UInt8, Sendable {
    /// The background task was created, but has never been resumed.
    case created = 1
    /// The request has been sent, or waits to be sent again after a delay. The number of bytes received is the size of the body's
    /// file.
    case running
    /// The head of the final response to an upload has arrived. The uploaded file must not be sent again.
    case answered
    /// The response is complete. The file with its body has `byteCount` bytes.
    case finished
    /// The delegate is being called with the complete response. It may already have moved the body's file.
    case delivering
  }

  package var stage = Stage.created
  /// The status code of the response, or 0 before the stage `answered`.
  package var status: UInt32 = 0
  /// The size of the complete response body in bytes, from the stage `finished` on. 0 before.
  package var byteCount: UInt64 = 0
  /// The time when the background task was first resumed, in milliseconds since 1970, or 0 if it has never been resumed.
  package var startedAt: Int64 = 0

  package init(stage: Stage = .created, status: UInt32 = 0, byteCount: UInt64 = 0, startedAt: Int64 = 0) {
    self.stage = stage
    self.status = status
    self.byteCount = byteCount
    self.startedAt = startedAt
  }
}

/// The stored head of a response, from which a later process resumes a download or delivers the response.
package struct TransferAnswer: Sendable, Equatable {
  package let url: String
  package let status: UInt32
  package let fields: [RecordedField]
  /// Whether the body's file contains decoded bytes. If so, Content-Length isn't the length of the file.
  package let isDecoded: Bool

  package init(url: String, status: UInt32, fields: [RecordedField], isDecoded: Bool) {
    self.url = url
    self.status = status
    self.fields = fields
    self.isDecoded = isDecoded
  }
}
