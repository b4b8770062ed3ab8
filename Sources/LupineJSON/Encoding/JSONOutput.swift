// JSONOutput: the document that encoders and containers write, with its open values. Values are written at once, so that no value
// is kept in memory until the end.

/// A value that has begun and not ended.
struct JSONOpenValue: BitwiseCopyable {
  enum Kind {
    /// Nothing has been written.
    case none
    /// A number, string, `true`, `false` or `null`, or a container that has ended.
    case single
    case array
    case object
  }

  enum Origin {
    /// A method `encode` of a container, which ends the value.
    case value
    /// A method of a container that returns a nested container. The value ends when the container goes on.
    case nested
    /// `superEncoder`. The value ends with the encoder.
    case superclass
  }

  /// A unique number. Only encoders and containers that have it may write.
  var serial: Int
  var kind: Kind
  let origin: Origin
  /// The number of an array's elements or an object's keys.
  var count = 0
  /// The bits of the keys' hashes.
  var filter: UInt64 = 0
  /// The index of an object's first key in the stack of keys.
  var firstKey = 0
  /// The index of an object's table of keys, or -1.
  var table = -1
  /// Whether a key has an escape, and whether one has characters beyond ASCII.
  var hasEscapedKeys = false
  var hasUnicodeKeys = false
  /// The number of encoders from `superEncoder` that live although their values have ended.
  var superEncoders = 0
}

/// All encoders and containers of a document share its output. One thread at a time uses it, because `Encoder` isn't Sendable.
///
/// Foundation's encoder collects all values before it writes them, so that a type may write to several containers in turn. Here
/// nothing can be written to a container after its parent has gone on. Whatever can't be written in order makes the output
/// unusable, so that Foundation encodes the value again.
///
/// SAFETY: a reference that isn't counted, because counting would take a good part of the time of encoding a value. Encoders refer
/// to the `JSONOutputMemory` that frees the state, and containers to encoders.
struct JSONOutput {
  struct State: ~Copyable {
    let options: JSONEncodingOptions
    let convertsKeys: Bool
    let special: (ObjectIdentifier, ObjectIdentifier, ObjectIdentifier, ObjectIdentifier)?
    var buffer: JSONBuffer
    var values = JSONStack<JSONOpenValue>(capacity: 16)
    var keys = JSONStack<JSONWrittenKey>(capacity: 32)
    var tables: [JSONKeyTable] = []
    var types = JSONTypes()
    var conversions = KeyConversions()
    var scratch = JSONScratch()
    var depth = 0
    var serials = 0
    var isUnusable = false
    var spares: [JSONValueEncoder] = []
    var containers = JSONContainers<JSONWrittenObject>()
    var userInfo: [CodingUserInfoKey: Any]?

    init(_ options: JSONEncodingOptions) {
      self.options = options
      special = options.special?.types
      buffer = JSONBuffer(capacity: 512, escapesSlashes: options.escapesSlashes)
      if case .none = options.keys { convertsKeys = false } else { convertsKeys = true }
      // The bottom of the stack. A container that is used after its document finds this value, whose serial no container has.
      values.push(JSONOpenValue(serial: -1, kind: .single, origin: .value))
    }

    deinit {
      buffer.free()
      values.free()
      keys.free()
    }
  }

  /// Foundation's JSONEncoder refuses 512 containers within each other.
  static let depthMax = 511

  // Accesses to the state don't overlap, because they call no other code, except for the deinitializers of a program's keys.
  let state: UnsafeMutablePointer<State>

  @inline(__always)
  var isPretty: Bool { state.pointee.options.isPretty }

  @inline(__always)
  var convertsKeys: Bool { state.pointee.convertsKeys }

  @inline(__always)
  var buffer: JSONBuffer {
    get { state.pointee.buffer }
    nonmutating _modify { yield &state.pointee.buffer }
  }

  @inline(__always)
  private var values: JSONStack<JSONOpenValue> {
    get { state.pointee.values }
    nonmutating _modify { yield &state.pointee.values }
  }

  @inline(__always)
  var keys: JSONStack<JSONWrittenKey> {
    get { state.pointee.keys }
    nonmutating _modify { yield &state.pointee.keys }
  }

  /// Whether the output must not be used.
  @inline(__always)
  var isUnusable: Bool { state.pointee.isUnusable }

  var userInfo: [CodingUserInfoKey: Any] {
    if let userInfo = state.pointee.userInfo { return userInfo }
    let userInfo: [CodingUserInfoKey: Any] = state.pointee.options.userInfo
    state.pointee.userInfo = userInfo
    return userInfo
  }

  /// Whether `JSONSpecialWriting` encodes the type.
  @inline(__always)
  func isSpecial(_ type: ObjectIdentifier) -> Bool {
    guard let special = state.pointee.special else { return false }
    return type == special.0 || type == special.1 || type == special.2 || type == special.3
  }

  /// Whether the type is a dictionary whose keys can represent those of an object.
  @inline(__always)
  func isDictionary<T>(_ type: T.Type) -> Bool {
    state.pointee.types.isDictionary(ObjectIdentifier(type)) { type is any JSONKeyedDictionary.Type }
  }

  func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    body(UnsafeBufferPointer(start: UnsafePointer(buffer.start), count: buffer.count))
  }

  /// Records that the output must not be used, and returns the error to throw.
  @discardableResult @inline(never)
  func unusable() -> any Error {
    state.pointee.isUnusable = true
    return JSONError.unsupported
  }

  // MARK: Open values

  /// Begins a value, for which the caller has written the key or separator, and returns its number.
  @inline(__always)
  func push(_ origin: JSONOpenValue.Origin, _ kind: JSONOpenValue.Kind = .none) -> Int {
    state.pointee.serials &+= 1
    let serial = state.pointee.serials
    values.push(JSONOpenValue(serial: serial, kind: kind, origin: origin, firstKey: keys.count))
    return serial
  }

  /// The innermost open value.
  @inline(__always)
  var top: UnsafeMutablePointer<JSONOpenValue> { values.top }

  /// The index of the innermost open value.
  @inline(__always)
  var topIndex: Int { values.count &- 1 }

  /// Makes the value with the number the innermost one, by ending nested containers.
  @inline(__always)
  func resume(_ serial: Int) throws {
    if top.pointee.serial != serial || isUnusable { try endNested(in: serial) }
  }

  @inline(never)
  private func endNested(in serial: Int) throws {
    guard !isUnusable, let index = index(of: serial) else { throw unusable() }
    for inner in index + 1..<values.count where values[inner].origin == .value { throw unusable() }
    while values.count > index + 1 {
      let inner = top.pointee
      if inner.origin == .superclass {
        // Where Foundation inserts its value into an array depends on when the encoder is released.
        let outer = values.pointer(at: values.count - 2)
        guard outer.pointee.kind == .object else { throw unusable() }
        outer.pointee.superEncoders += 1
      }
      endTop()
    }
  }

  private func index(of serial: Int) -> Int? { (0..<values.count).reversed().first { values[$0].serial == serial } }

  /// Ends the value at the index, for the method that has begun it.
  @inline(__always)
  func end(_ index: Int) {
    if values.count &- 1 != index { endNested(above: index) }
    endTop()
  }

  @inline(never)
  private func endNested(above index: Int) {
    while values.count - 1 > index {
      // An encoder for the superclass that is still alive has no value in Foundation.
      if top.pointee.origin != .nested { unusable() }
      endTop()
    }
  }

  @inline(__always)
  private func endTop() {
    let value = top
    switch value.pointee.kind {
    case .single: break
    case .none: writeEmptyObject()
    case .array, .object: close(value)
    }
    if value.pointee.superEncoders != 0 { unusable() }
    values.removeAll(from: values.count &- 1)
  }

  /// Writes {} as the innermost value, which has written nothing.
  @inline(never)
  func writeEmptyObject() {
    open(.object)
    close(top)
  }

  /// Ends the document, and returns whether it may be used. A document has a value.
  func finishRoot() -> Bool {
    guard values.count > 1, values[1].kind != .none else { return false }
    end(1)
    return !isUnusable
  }

  // MARK: Containers

  /// Begins a container as the innermost value.
  @inline(__always)
  func open(_ kind: JSONOpenValue.Kind) {
    state.pointee.depth &+= 1
    if state.pointee.depth > Self.depthMax { unusable() }
    buffer.byte(kind == .object ? 0x7B : 0x5B)
    if isPretty { buffer.byte(0x0A) }
    top.pointee.kind = kind
  }

  @inline(__always)
  private func close(_ value: UnsafeMutablePointer<JSONOpenValue>) {
    let isObject = value.pointee.kind == .object
    if isObject { finishKeys(value) }
    state.pointee.depth &-= 1
    if isPretty { buffer.line(level: state.pointee.depth) }
    buffer.byte(isObject ? 0x7D : 0x5D)
    value.pointee.kind = .single
  }

  /// Begins the next element or key of the innermost value.
  @inline(__always)
  func separate() {
    let value = top
    if value.pointee.count > 0 { buffer.byte(0x2C) }
    if isPretty { indent(isFirst: value.pointee.count == 0) }
    value.pointee.count &+= 1
  }

  @inline(never)
  private func indent(isFirst: Bool) {
    if isFirst { buffer.indent(level: state.pointee.depth) } else { buffer.line(level: state.pointee.depth) }
  }

  /// The number of bytes from a comma to the next key, with the comma.
  var separatorLength: Int { isPretty ? 2 + state.pointee.depth * 2 : 1 }

  /// Begins an element of the array with the number, and returns the output for its value.
  @inline(__always) @discardableResult
  func element(of serial: Int) throws -> JSONOutput {
    try resume(serial)
    separate()
    return self
  }

  /// The number of elements of the array with the number.
  func count(of serial: Int) -> Int {
    if top.pointee.serial == serial { return top.pointee.count }
    guard let index = index(of: serial) else {
      unusable()
      return 0
    }
    // Foundation counts the value of an encoder for a superclass when the encoder is released.
    if values[index + 1].origin == .superclass { unusable() }
    return values[index].count
  }

  /// Begins the only value of the encoder with the number, and returns the output for it.
  @inline(__always) @discardableResult
  func single(_ serial: Int) throws -> JSONOutput {
    let value = top
    guard value.pointee.serial == serial, value.pointee.kind == .none, !isUnusable else { throw unusable() }
    value.pointee.kind = .single
    return self
  }

  /// Gives the innermost value a new number, so that containers with the old one can't write to it.
  func renumber() -> Int {
    state.pointee.serials &+= 1
    top.pointee.serial = state.pointee.serials
    return state.pointee.serials
  }

  /// Called when an encoder for a superclass is released.
  func release(superEncoder serial: Int, in outer: Int) {
    if let index = index(of: serial) {
      for inner in index + 1..<values.count where values[inner].origin != .nested {
        unusable()
        return
      }
      while values.count > index { endTop() }
    } else if let index = index(of: outer) {
      values.pointer(at: index).pointee.superEncoders -= 1
    }
  }

  /// Forgets the encoders and containers, which refer to the memory of the output.
  func forgetSpares() {
    state.pointee.spares = []
    state.pointee.containers.close()
  }

  // MARK: Numbers

  @inline(__always)
  func write(_ value: Double) throws {
    if value.isFinite { buffer.double(value) } else { try writeUnusual(value) }
  }

  @inline(__always)
  func write(_ value: Float) throws {
    // Foundation writes the strings for infinite numbers and NaN without escapes in a `[Float]`, and with them elsewhere.
    guard value.isFinite else { throw unusable() }
    buffer.float(value)
  }

  @inline(never)
  private func writeUnusual(_ value: Double) throws {
    guard let texts = state.pointee.options.nonFinite else { throw unusable() }
    buffer.string(value.isNaN ? texts.nan : value > 0 ? texts.positiveInfinity : texts.negativeInfinity)
  }
}

/// The memory of an output, whose encoders share it.
final class JSONOutputMemory {
  let output: JSONOutput

  init(_ options: JSONEncodingOptions) {
    // SAFETY: the state is freed with this object.
    let state = UnsafeMutablePointer<JSONOutput.State>.allocate(capacity: 1)
    state.initialize(to: JSONOutput.State(options))
    output = JSONOutput(state: state)
  }

  deinit {
    output.state.deinitialize(count: 1)
    output.state.deallocate()
  }
}
