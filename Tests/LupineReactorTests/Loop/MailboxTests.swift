// MailboxTests: a mailbox with several senders and one reader.

@_spi(Loop) import LupineReactor
import Testing

@Suite("A mailbox with several senders and one reader")
struct MailboxTests {
  @Test("posting a message requires a wake-up of the receiver only if the mailbox is empty")
  func wakesOnce() {
    let mailbox = Mailbox<Int>()
    var taken: [Int] = []
    for _ in 0..<3 {
      #expect(mailbox.post(1))
      #expect(!mailbox.post(2))
      #expect(!mailbox.post(3))
      mailbox.drain(into: &taken)
      #expect(taken == [1, 2, 3])
    }
    mailbox.drain(into: &taken)
    #expect(taken.isEmpty)
  }

  @Test("draining a mailbox into an array replaces the array's elements")
  func replaces() {
    let mailbox = Mailbox<Int>()
    var taken = [7, 8, 9]
    mailbox.drain(into: &taken)
    #expect(taken.isEmpty)
    _ = mailbox.post(1)
    taken = [7, 8, 9]
    mailbox.drain(into: &taken)
    #expect(taken == [1])
    mailbox.drain(into: &taken)
    #expect(taken.isEmpty)
  }

  @Test(
    "messages that several senders post to a mailbox arrive exactly once, and each sender's messages arrive in order")
  func manySenders() async {
    let mailbox = Mailbox<(sender: Int, number: Int)>()
    let (senders, messages) = (4, 2_000)
    var next = [Int](repeating: 0, count: senders)
    await withTaskGroup(of: Void.self) { group in
      for sender in 0..<senders {
        group.addTask {
          for number in 0..<messages { _ = mailbox.post((sender, number)) }
        }
      }
      var taken: [(sender: Int, number: Int)] = []
      while next.reduce(0, +) < senders * messages {
        mailbox.drain(into: &taken)
        for message in taken {
          #expect(message.number == next[message.sender])
          next[message.sender] = message.number + 1
        }
        await Task.yield()
      }
    }
    #expect(next == [Int](repeating: messages, count: senders))
  }
}
