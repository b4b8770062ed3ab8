// URLSessionConfiguration+Alamofire: configurations that send the default header fields, in the `af` namespace.

public import LupineURLSession

extension URLSessionConfiguration: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLSessionConfiguration {
  /// A new default configuration, whose sessions send the fields in ``HTTPHeaders/default``.
  public static var `default`: URLSessionConfiguration { sendingDefaultHeaders(.default) }

  /// A new ephemeral configuration, whose sessions send the fields in ``HTTPHeaders/default``.
  public static var ephemeral: URLSessionConfiguration { sendingDefaultHeaders(.ephemeral) }

  private static func sendingDefaultHeaders(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
    configuration.headers = .default
    configuration.addsDefaultFields = false
    return configuration
  }
}
