// TransferStateTests: runs the histories of transfers.

import Testing

@testable import LupineURLSession

@Suite("The decisions of a task's state machine after sequences of events")
struct TransferStateTests {
  @Test(
    "a transfer delivers the body, and extends its receive window, as the history expects",
    arguments: TransferHistory.delivering)
  func delivering(_ history: TransferHistory) throws { try history.run() }

  @Test(arguments: TransferHistory.asking)
  func asking(_ history: TransferHistory) throws { try history.run() }

  @Test(arguments: TransferHistory.suspending)
  func suspending(_ history: TransferHistory) throws { try history.run() }

  @Test(arguments: TransferHistory.redirecting)
  func redirecting(_ history: TransferHistory) throws { try history.run() }

  @Test(
    "a transfer chooses a client certificate, and uses it only at its origin, as the history expects",
    arguments: TransferHistory.identifying)
  func identifying(_ history: TransferHistory) throws { try history.run() }

  @Test(
    "a transfer sends its request again with a credential, within its time limit, as the history expects",
    arguments: TransferHistory.authenticating)
  func authenticating(_ history: TransferHistory) throws { try history.run() }

  @Test(arguments: TransferHistory.waiting)
  func waiting(_ history: TransferHistory) throws { try history.run() }

  @Test(arguments: TransferHistory.canceling)
  func canceling(_ history: TransferHistory) throws { try history.run() }
}
