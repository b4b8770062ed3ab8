// SendableTests: the public types that are Sendable, checked by the compiler.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct SendableTests {
  private func require<Value: Sendable>(_ type: Value.Type) -> Int { 1 }

  @Test("sessions, requests, responses and their parts are Sendable")
  func requests() {
    let checked = [
      require(Session.self), require(SessionDelegate.self), require(Session.RequestSetup.self),
      require(Request.self), require(Request.State.self), require(Request.ResponseDisposition.self),
      require(DataRequest.self), require(UploadRequest.self), require(DownloadRequest.self),
      require((any RequestDelegate).self), require((any URLConvertible).self),
      require((any URLRequestConvertible).self), require(HTTPMethod.self), require(HTTPHeader.self),
      require(HTTPHeaders.self), require(DataResponse<Int, AFError>.self),
      require(DownloadResponse<Int, AFError>.self), require(AFError.self),
    ]
    #expect(checked.count == 18)
  }

  @Test("stream requests and stream tasks are Sendable")
  func streams() {
    let checked = [
      require(DataStreamRequest.self), require(DataStreamRequest.CancellationToken.self),
      require(DataStreamRequest.Completion.self), require(DataStreamRequest.Event<Int, AFError>.self),
      require(DataStreamRequest.Stream<Int, AFError>.self), require(DataStreamRequest.Handler<Int, AFError>.self),
      require((any DataStreamSerializer).self), require(DecodableStreamSerializer<Int>.self),
      require(PassthroughStreamSerializer.self), require(StringStreamSerializer.self), require(DataTask<Int>.self),
      require(DataStreamTask.self), require(StreamOf<Int>.self),
    ]
    #expect(checked.count == 13)
  }

  @Test("serializers, encoders, interceptors and handlers are Sendable")
  func features() {
    let checked = [
      require((any DataResponseSerializerProtocol).self), require((any DownloadResponseSerializerProtocol).self),
      require((any ResponseSerializer).self), require(DataResponseSerializer.self),
      require(StringResponseSerializer.self), require(DecodableResponseSerializer<Int>.self),
      require(URLResponseSerializer.self), require((any DataDecoder).self), require((any DataPreprocessor).self),
      require(PassthroughPreprocessor.self), require(GoogleXSSIPreprocessor.self),
      require((any EmptyResponse).self), require(Empty.self), require((any ParameterEncoder).self),
      require((any ParameterEncoding).self), require(JSONParameterEncoder.self),
      require(URLEncodedFormParameterEncoder.self), require(URLEncoding.self), require(JSONEncoding.self),
      require(URLEncodedFormEncoder.NilEncoding.self), require(URLEncodedFormEncoder.KeyPathEncoding.self),
      require((any RequestAdapter).self), require((any RequestRetrier).self),
      require((any RequestInterceptor).self), require(Adapter.self), require(Retrier.self),
      require(Interceptor.self), require(RequestAdapterState.self), require(RetryResult.self),
      require(RetryPolicy.self), require(ConnectionLostRetryPolicy.self), require((any RedirectHandler).self),
      require(Redirector.self), require((any CachedResponseHandler).self), require(DeflateRequestCompressor.self),
      require((any Authenticator).self), require(AuthenticationError.self), require((any EventMonitor).self),
      require(CompositeEventMonitor.self),
    ]
    #expect(checked.count == 39)
  }
}
