// TransferRecoveryTests: what a later process does with a task.

import Testing

@testable import LupineTransferStore

@Suite struct TransferRecoveryTests {
  private func decide(
    _ kind: TransferDescription.Kind, _ stage: TransferProgress.Stage, hasAnswer: Bool = true, body: UInt64?
  ) -> TransferRecovery {
    .decide(kind, TransferProgress(stage: stage, byteCount: 10), hasAnswer: hasAnswer, bodyByteCount: body)
  }

  private let upload = TransferDescription.Kind.upload(path: "/f")

  @Test("after a relaunch, a background task that was never resumed stays suspended")
  func waiting() {
    #expect(decide(.download, .created, body: nil) == .wait)
    #expect(decide(upload, .created, body: nil) == .wait)
  }

  @Test("after a relaunch, an upload without a response is sent again, and an upload with a response never is")
  func uploads() {
    #expect(decide(upload, .running, hasAnswer: false, body: nil) == .start)
    for body in [nil, 0, 10, 11] as [UInt64?] { #expect(decide(upload, .answered, body: body) == .answerLost) }
    for stage in [TransferProgress.Stage.finished, .delivering] {
      #expect(decide(upload, stage, body: 10) == .deliver)
      for body in [nil, 0, 9, 11] as [UInt64?] { #expect(decide(upload, stage, body: body) == .answerLost) }
      #expect(decide(upload, stage, hasAnswer: false, body: 10) == .answerLost)
    }
  }

  @Test("after a relaunch, a download continues only if its bytes belong to the stored response head")
  func downloads() {
    #expect(decide(.download, .running, body: 5) == .resume(byteCount: 5))
    #expect(decide(.download, .running, hasAnswer: false, body: 5) == .start)
    #expect(decide(.download, .running, body: 0) == .start)
    #expect(decide(.download, .running, body: nil) == .start)
  }

  @Test("after a relaunch, a finished download is delivered if its file is complete, and is otherwise downloaded again")
  func finished() {
    #expect(decide(.download, .finished, body: 10) == .deliver)
    for body in [nil, 9, 11] as [UInt64?] { #expect(decide(.download, .finished, body: body) == .start) }
  }

  @Test(
    "after a relaunch, a download whose file the delegate had moved is complete, but one whose file was altered starts again"
  )
  func delivering() {
    #expect(decide(.download, .delivering, body: 10) == .deliver)
    #expect(decide(.download, .delivering, body: nil) == .complete)
    #expect(decide(.download, .delivering, body: 9) == .start)
  }
}
