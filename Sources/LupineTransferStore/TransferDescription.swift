// TransferDescription: the request and the properties of a background task, which rarely change after the task is created.

/// A header field in a record.
package struct RecordedField: Sendable, Hashable {
  package let name: String
  package let value: [UInt8]

  package init(name: String, value: [UInt8]) {
    self.name = name
    self.value = value
  }
}

/// A background task: its request and the properties that the caller has set.
package struct TransferDescription: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case download
    /// An upload of the file at this path.
    case upload(path: String)
  }

  package var kind: Kind
  package var url: String
  package var method: String
  package var fields: [RecordedField]
  /// The names of the fields that aren't recorded, because they may be credentials.
  package var omittedNames: [String] = []
  /// The body of a download's request, or empty if it has none.
  package var body: [UInt8] = []
  /// The request's timeout in seconds, or nil to use the session's timeout.
  package var timeout: Double?
  /// The raw value of the request's cache policy, or nil to use the session's policy.
  package var cachePolicy: UInt32?
  package var handlesCookies = true
  package var mainDocument: String?
  package var taskDescription: String?
  /// The date before which the request isn't sent, in seconds since 1970.
  package var earliestStart: Double?
  package var options = TransferOptions()

  package init(kind: Kind, url: String, method: String, fields: [RecordedField]) {
    self.kind = kind
    self.url = url
    self.method = method
    self.fields = fields
  }
}

/// The progress of a background task, which its record preserves when the process ends.
package struct TransferProgress: Sendable, Equatable {
  package enum Stage: UInt8, Sendable {
    /// The task has never been resumed.
    case created = 1
    /// The request is sent, or is sent again after a delay. The number of bytes received is the size of the body's file.
    case running
    /// The head of an upload's final response has arrived. The file must not be sent again.
    case answered
    /// The response is complete. Its body's file has `byteCount` bytes.
    case finished
    /// The delegate is being called with the complete response, and may already have moved the body's file.
    case delivering
  }

  package var stage = Stage.created
  /// The status code of the response. It is 0 before the stage `answered`.
  package var status: UInt32 = 0
  /// The size of the complete body in bytes, from the stage `finished` on.
  package var byteCount: UInt64 = 0
  /// The time when the task was first resumed, in milliseconds since 1970, or 0 if it hasn't been resumed.
  package var startedAt: Int64 = 0

  package init(stage: Stage = .created, status: UInt32 = 0, byteCount: UInt64 = 0, startedAt: Int64 = 0) {
    self.stage = stage
    self.status = status
    self.byteCount = byteCount
    self.startedAt = startedAt
  }
}

/// The head of a response, with which a later process resumes a download or delivers the response.
package struct TransferAnswer: Sendable, Equatable {
  package let url: String
  package let status: UInt32
  package let fields: [RecordedField]
  /// Whether the body's file contains decoded bytes, so that Content-Length isn't the file's length.
  package let isDecoded: Bool

  package init(url: String, status: UInt32, fields: [RecordedField], isDecoded: Bool) {
    self.url = url
    self.status = status
    self.fields = fields
    self.isDecoded = isDecoded
  }
}
