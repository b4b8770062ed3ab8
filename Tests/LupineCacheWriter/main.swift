// LupineCacheWriter: stores responses in a folder until it is killed, and prints a byte for each. The test that starts
// it reads the records of several killed writers.

import Glibc
import LupineCache
import LupineCacheStore
import LupineTestSupport
import LupineWire

let arguments = CommandLine.arguments
guard arguments.count == 4, let capacity = Int(arguments[2]), let seed = UInt64(arguments[3]),
  let store = try? DiskStore(folder: arguments[1], capacity: capacity)
else { fatalError("usage: LupineCacheWriter FOLDER CAPACITY SEED") }

/// Stores one version of the response with this number.
func write(_ number: Int, version: Int, id: UInt64) throws(DiskStoreError) {
  let fields: Fields = ["Version": "\(version)"]
  let response = StoredResponse(
    status: 200, fields: fields, times: ExchangeTimes(request: 0, response: 0), partition: .anonymous,
    selectingFields: SelectingFields([]))
  // The test computes the same body.
  let body = SequenceBytes.bytes(from: number * 7 + version, count: number * 4000)
  let writer = try store.writer(uri: "\(number)", response: response, id: id)
  try writer.append(body.span)
  try writer.commit { _ in true }
}

var random = SplitMix64(seed: seed)
while true {
  do throws(DiskStoreError) {
    try write(random.number(0...20), version: random.number(1...1000), id: random.next())
  } catch {
    fatalError("can't store: \(error)")
  }
  var byte: UInt8 = 0x2E
  guard Glibc.write(STDOUT_FILENO, &byte, 1) == 1 else { exit(1) }
}
