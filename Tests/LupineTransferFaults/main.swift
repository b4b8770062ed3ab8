// LupineTransferFaults: records transfers in a folder while the n-th system call fails, for every n and in each way, and
// checks what a later process finds.

import CLupineFaults
import Glibc
import LupineReactor
import LupineTransferStore

guard CommandLine.arguments.count == 2 else { fatalError("usage: LupineTransferFaults FOLDER") }
let folder = CommandLine.arguments[1]
guard lupine_faults_begin(folder) else { fatalError("OpenSSL has already allocated memory") }

/// An error that reports which promise of the transfer store was broken.
struct Problem: Error { let text: String }

let body: [UInt8] = Array(repeating: 7, count: 1000)

/// The facts about a background task's record that this process knows.
struct Knowledge {
  /// The latest stage that was recorded successfully, or nil if the record wasn't created.
  var stage: TransferProgress.Stage?
  var isRemoved = false
}

let description = TransferDescription(kind: .download, url: "http://a.test/", method: "GET", fields: [])
let upload = TransferDescription(kind: .upload(path: "/f"), url: "http://a.test/", method: "PUT", fields: [])
let answer = TransferAnswer(url: "http://a.test/", status: 200, fields: [], isDecoded: false)

func writeBody(_ record: TransferRecord) throws(SystemError) {
  let file = try WritableFile(creating: record.bodyPath)
  try file.write(body.span, at: 0)
  try file.synchronize()
  try file.close()
}

/// Records the stages of a background transfer up to `last`, as a task does, until a step fails. Returns the stages that were
/// recorded.
func transfer(_ store: TransferStore, id: UInt64, _ description: TransferDescription, until last: UInt8) -> Knowledge {
  var known = Knowledge()
  do {
    let record = try store.create(id: id, description)
    known.stage = .created
    try record.mark { $0.stage = .running }
    known.stage = .running
    if description.kind != .download {
      do {
        try record.mark { $0.stage = .answered }
        known.stage = .answered
      } catch {
        record.remove()
        known.isRemoved = true
        return known
      }
    }
    try record.removeAnswer()
    try record.setAnswer(answer)
    try writeBody(record)
    try record.mark { ($0.stage, $0.byteCount) = (.finished, UInt64(body.count)) }
    known.stage = .finished
    guard last > TransferProgress.Stage.finished.rawValue else { return known }
    try record.mark { $0.stage = .delivering }
    known.stage = .delivering
    record.remove()
    known.isRemoved = true
  } catch {
    // The task fails, and its record stays as if the process had been killed.
  }
  return known
}

/// Checks the record that a later process finds for a task. Throws if it contradicts the facts that the earlier process knew.
func check(_ record: TransferRecord?, _ known: Knowledge, _ description: TransferDescription) throws {
  guard let record else {
    guard known.stage == nil || known.isRemoved else { throw Problem(text: "a task at \(known) is lost") }
    return
  }
  guard !known.isRemoved else { throw Problem(text: "a completed task is still there: \(record.progress)") }
  guard record.description == description else { throw Problem(text: "another description") }
  // `create` and `mark` may have thrown after they had done their work.
  let stage = record.progress.stage.rawValue
  guard stage >= known.stage?.rawValue ?? 0 else { throw Problem(text: "\(record.progress) after \(known)") }
  if stage >= TransferProgress.Stage.finished.rawValue {
    guard record.recovery() == .deliver else { throw Problem(text: "not delivered: \(record.progress)") }
  }
  if description.kind != .download, stage >= TransferProgress.Stage.answered.rawValue {
    guard [.deliver, .answerLost].contains(record.recovery()) else { throw Problem(text: "sent again") }
  }
}

/// Records transfers while the `n`-th call of the system function `call` fails. Returns false if there were fewer than `n` calls.
///
/// The variant is the way in which the call fails, such as its error code.
func run(_ call: String, _ n: Int, _ variant: Int) throws -> Bool {
  let clean = try TransferStore(folder: folder)
  for record in clean.recovered { record.remove() }
  clean.close()
  lupine_faults_arm(call, n, CInt(variant))
  defer { lupine_faults_disarm() }
  var known: [Knowledge] = [Knowledge(), Knowledge(), Knowledge()]
  if let store = try? TransferStore(folder: folder) {
    known[0] = transfer(store, id: 1, description, until: 9)
    known[1] = transfer(store, id: 2, upload, until: 4)
    known[2] = transfer(store, id: 3, description, until: 4)
    store.close()
  }
  lupine_faults_disarm()
  let struck = lupine_faults_struck()
  let later = try TransferStore(folder: folder)
  defer { later.close() }
  guard later.damagedIDs.isEmpty else { throw Problem(text: "damaged records: \(later.damagedIDs)") }
  for (index, known) in known.enumerated() {
    try check(
      later.recovered.first { $0.id == UInt64(index) + 1 }, known, index == 1 ? upload : description)
  }
  for record in later.recovered { record.remove() }
  guard try Folder(creating: folder).names() == ["lock"] else { throw Problem(text: "files are left over") }
  return struck
}

var failed = 0
var struckCount = 0
for group in [LUPINE_FAULT_CALLS, LUPINE_FAULT_RECORDS] {
  var next = lupine_faults_calls(group)
  while let name = next?.pointee {
    let call = String(cString: name)
    var n = 1
    var isStruck = true
    while isStruck {
      var variant = 0
      repeat {
        do {
          isStruck = try run(call, n, variant)
        } catch {
          print("\(call) \(n), way \(variant): \(error)")
          failed += 1
        }
        struckCount += isStruck ? 1 : 0
        variant += 1
      } while isStruck && variant < lupine_faults_struck_variants()
      n += 1
    }
    next = next?.advanced(by: 1)
  }
}
print("\(struckCount) failed calls, \(failed) problems")
// A run in which no call failed would have tested nothing.
exit(failed == 0 && struckCount >= 100 ? 0 : 1)
