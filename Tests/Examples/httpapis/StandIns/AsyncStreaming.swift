// AsyncStreaming: the protocols of swift-async-algorithms 1.1.5 that the conformance implements.

public import ContainersPreview

/// An error of a stream, or of the closure that uses it.
public enum EitherError<First: Error, Second: Error>: Error {
  case first(First)
  case second(Second)
}

/// Reads a stream with a final element.
public protocol AsyncReader<ReadElement, ReadFailure, FinalElement>: ~Copyable, ~Escapable {
  associatedtype ReadElement: ~Copyable
  associatedtype Buffer: RangeReplaceableContainer<ReadElement> & ~Copyable
  associatedtype ReadFailure: Error
  associatedtype FinalElement: ~Copyable = Void

  mutating func read<Return: ~Copyable, Failure: Error>(
    body: (inout Buffer, consuming FinalElement?) async throws(Failure) -> Return
  ) async throws(EitherError<ReadFailure, Failure>) -> Return
}

/// Writes a stream with a final element.
public protocol CallerAsyncWriter<WriteElement, WriteFailure, FinalElement>: ~Copyable, ~Escapable {
  associatedtype WriteElement: ~Copyable
  associatedtype WriteFailure: Error
  associatedtype FinalElement: ~Copyable = Void

  mutating func write<Buffer: RangeReplaceableContainer<WriteElement> & ~Copyable>(
    buffer: inout Buffer
  ) async throws(WriteFailure)

  consuming func finish<Buffer: RangeReplaceableContainer<WriteElement> & ~Copyable>(
    buffer: inout Buffer, finalElement: consuming FinalElement
  ) async throws(WriteFailure)
}
