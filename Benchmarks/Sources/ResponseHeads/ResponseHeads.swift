// ResponseHeads: response heads like those of well-known servers and services, with invented values.

public import LupineEngine

/// Response heads for benchmarks of the parser, like those of well-known servers and services.
public enum ResponseHeads {
  /// The bytes of all heads. Each line ends with CRLF, and an empty line ends the head.
  public static let all: [[UInt8]] = texts.map { bytes($0) }

  /// Returns a response head of approximately `byteCount` bytes, with many fields of ordinary size.
  public static func large(byteCount: Int) -> [UInt8] {
    var text = "HTTP/1.1 200 OK\nServer: nginx\nContent-Length: 13"
    var number = 0
    while text.utf8.count + 2 * number < byteCount - 1_000 {
      number += 1
      text += "\nX-Trace-Segment-\(number): " + String(repeating: "span=4bf92f3577b34da6; ", count: 18)
    }
    return bytes(text)
  }

  /// Parses a response head as a connection does: the lines, and the framing of the body.
  public static func parse(_ bytes: [UInt8]) -> ResponseHead {
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: false)
    var cursor = 0
    guard case .head(let head, _, _)? = try? connection.receive(bytes.span, at: &cursor), cursor == bytes.count else {
      fatalError("a head wasn't taken: \(String(decoding: bytes, as: UTF8.self))")
    }
    return head
  }

  private static func bytes(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for line in text.split(separator: "\n") { bytes += Array(line.utf8) + [13, 10] }
    return bytes + [13, 10]
  }

  private static let texts = [
    """
    HTTP/1.1 200 OK
    Server: nginx/1.22.1
    Date: Fri, 20 Nov 2026 09:14:03 GMT
    Content-Type: text/plain
    Content-Length: 13
    Connection: keep-alive
    """,
    """
    HTTP/1.1 200 OK
    Server: nginx/1.22.1
    Date: Fri, 20 Nov 2026 09:14:03 GMT
    Content-Type: text/html; charset=utf-8
    Content-Length: 48211
    Last-Modified: Tue, 03 Nov 2026 17:20:55 GMT
    Connection: keep-alive
    Vary: Accept-Encoding
    ETag: "654529f7-bc53"
    Expires: Fri, 20 Nov 2026 10:14:03 GMT
    Cache-Control: max-age=3600
    Accept-Ranges: bytes
    """,
    """
    HTTP/1.1 200 OK
    Date: Fri, 20 Nov 2026 09:14:04 GMT
    Server: Apache/2.4.57 (Debian)
    Last-Modified: Mon, 12 Oct 2026 08:00:00 GMT
    ETag: "29cd-6078a1b2c3d40"
    Accept-Ranges: bytes
    Content-Length: 10701
    Vary: Accept-Encoding
    Keep-Alive: timeout=5, max=100
    Connection: Keep-Alive
    Content-Type: text/html
    """,
    """
    HTTP/1.1 200 OK
    Date: Fri, 20 Nov 2026 09:14:05 GMT
    Content-Type: text/html; charset=utf-8
    Transfer-Encoding: chunked
    Connection: keep-alive
    Cache-Control: private, max-age=0, no-store, no-cache, must-revalidate, post-check=0, pre-check=0
    Expires: Thu, 01 Jan 1970 00:00:01 GMT
    Referrer-Policy: same-origin
    X-Frame-Options: SAMEORIGIN
    Permissions-Policy: accelerometer=(),camera=(),clipboard-read=(),geolocation=(),microphone=(),payment=(),usb=()
    Report-To: {"endpoints":[{"url":"https:\\/\\/a.nel.example.net\\/report\\/v4?s=Jk2m9qWv0Tq1c7xLr3bZp5"}],"group":"nel","max_age":604800}
    NEL: {"success_fraction":0,"report_to":"nel","max_age":604800}
    CF-Cache-Status: DYNAMIC
    Set-Cookie: __cf_bm=Zk8vYw2Qx1r7hT5uN3aJ0sLdG6pBeCfVnMiOqRtXyUk-1763630045-1.0.1.1-AbCdEfGh; path=/; expires=Fri, 20-Nov-26 09:44:05 GMT; domain=.example.net; HttpOnly; Secure; SameSite=None
    Server: cloudflare
    CF-RAY: 8f1d2c3b4a596877-FRA
    alt-svc: h3=":443"; ma=86400
    """,
    """
    HTTP/1.1 200 OK
    Server: GitHub.com
    Date: Fri, 20 Nov 2026 09:14:06 GMT
    Content-Type: application/json; charset=utf-8
    Content-Length: 5371
    Cache-Control: public, max-age=60, s-maxage=60
    Vary: Accept,Accept-Encoding, Accept, X-Requested-With
    ETag: W/"7d793037a0760186574b0282f2f435e7d5c9f8e1b3a4"
    Last-Modified: Thu, 19 Nov 2026 22:01:44 GMT
    X-GitHub-Media-Type: github.v3; format=json
    X-GitHub-Api-Version-Selected: 2022-11-28
    Access-Control-Expose-Headers: ETag, Link, Location, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Used, X-RateLimit-Resource, X-RateLimit-Reset, X-Poll-Interval, Deprecation, Sunset
    Access-Control-Allow-Origin: *
    Strict-Transport-Security: max-age=31536000; includeSubdomains; preload
    X-Frame-Options: deny
    X-Content-Type-Options: nosniff
    X-XSS-Protection: 0
    Referrer-Policy: origin-when-cross-origin, strict-origin-when-cross-origin
    Content-Security-Policy: default-src 'none'
    X-RateLimit-Limit: 60
    X-RateLimit-Remaining: 57
    X-RateLimit-Reset: 1763633512
    X-RateLimit-Used: 3
    X-RateLimit-Resource: core
    Accept-Ranges: bytes
    X-GitHub-Request-Id: C2D4:1A2B:3C4D5E:4F6071:691EDB1E
    """,
    """
    HTTP/1.1 200 OK
    x-amz-id-2: pT4Zq7Yw1nLk0sVbGc9RjX3eUo8HfMd6aI2tQyEiKxCzBvNmWlJrSgPhOuAF5Dq
    x-amz-request-id: 4F7K2M9QXJ3T8WBN
    Date: Fri, 20 Nov 2026 09:14:07 GMT
    Last-Modified: Sun, 01 Nov 2026 06:30:12 GMT
    ETag: "9b2cf535f27731c974343645a3985328-12"
    x-amz-server-side-encryption: AES256
    x-amz-version-id: 3HL4kqtJvjVBH40Nrjfkd
    Accept-Ranges: bytes
    Content-Type: application/octet-stream
    Content-Length: 104857600
    Server: AmazonS3
    """,
    """
    HTTP/1.1 200 OK
    Content-Type: application/javascript
    Content-Length: 89476
    Connection: keep-alive
    Date: Wed, 18 Nov 2026 03:22:10 GMT
    Last-Modified: Mon, 02 Nov 2026 11:05:39 GMT
    ETag: "e071abda8fe61194711cfc2ab99fe104"
    Cache-Control: public, max-age=31536000, immutable
    Server: AmazonS3
    Vary: Accept-Encoding
    X-Cache: Hit from cloudfront
    Via: 1.1 5e2a8d3c4b6f70918273645fedcba098.cloudfront.net (CloudFront)
    X-Amz-Cf-Pop: FRA56-P4
    X-Amz-Cf-Id: u7Xk2Lw9QmZr4VtYb6NcJ1sHdF8gPaEo3iRxKlTqWvCyBnMzUjSfOg==
    Age: 193917
    """,
    """
    HTTP/1.1 200 OK
    Date: Fri, 20 Nov 2026 09:14:08 GMT
    Expires: -1
    Cache-Control: private, max-age=0
    Content-Type: text/html; charset=ISO-8859-1
    Content-Security-Policy-Report-Only: object-src 'none';base-uri 'self';script-src 'nonce-q3Vx8Lk1Zt7Rw2Np' 'strict-dynamic' 'report-sample' 'unsafe-eval' 'unsafe-inline' https: http:;report-uri https://csp.example.com/csp/gws/other-hp
    P3P: CP="This is not a P3P policy! See example.com/p3phelp for more info."
    Server: gws
    X-XSS-Protection: 0
    X-Frame-Options: SAMEORIGIN
    Set-Cookie: AEC=AVh_V2iJk4Lm8Nq1Rs5Tv9Wx3Yz7; expires=Wed, 19-May-2027 09:14:08 GMT; path=/; domain=.example.com; Secure; HttpOnly; SameSite=lax
    Set-Cookie: NID=526=Hk3vTq9Xw2Lr7Zp1Ny5Mb8Jc4Gd6Fs0Ua; expires=Sat, 22-May-2027 09:14:08 GMT; path=/; domain=.example.com; HttpOnly
    Accept-Ranges: none
    Vary: Accept-Encoding
    Transfer-Encoding: chunked
    """,
    """
    HTTP/1.1 200 OK
    Connection: keep-alive
    Content-Length: 15210
    Server: Varnish
    Retry-After: 0
    content-type: application/json
    cache-control: max-age=300
    x-served-by: cache-fra-eddf8230045-FRA, cache-ams21062-AMS
    x-cache: MISS, HIT
    x-cache-hits: 0, 4
    x-timer: S1763630049.201934,VS0,VE1
    accept-ranges: bytes
    date: Fri, 20 Nov 2026 09:14:09 GMT
    via: 1.1 varnish, 1.1 varnish
    age: 122
    vary: accept-encoding, x-locale
    strict-transport-security: max-age=300
    """,
    """
    HTTP/1.1 200 OK
    date: Fri, 20 Nov 2026 03:40:11 GMT
    server: mw-web.eqiad.main-6c8b9f7d54-x2k9q
    x-content-type-options: nosniff
    content-language: en
    accept-ch:
    vary: Accept-Encoding,Cookie,Authorization
    last-modified: Thu, 19 Nov 2026 21:55:02 GMT
    content-type: text/html; charset=UTF-8
    content-encoding: gzip
    age: 20038
    x-cache: cp3067 hit, cp3067 hit/312
    x-cache-status: hit-front
    server-timing: cache;desc="hit-front", host;desc="cp3067"
    strict-transport-security: max-age=106384710; includeSubDomains; preload
    report-to: { "group": "wm_nel", "max_age": 604800, "endpoints": [{ "url": "https://intake.example.org/v1/events?stream=w3c.reportingapi.network_error&schema_uri=/w3c/reportingapi/network_error/1.0.0" }] }
    nel: { "report_to": "wm_nel", "max_age": 604800, "failure_fraction": 0.05, "success_fraction": 0.0}
    set-cookie: WMF-Last-Access=20-Nov-2026;Path=/;HttpOnly;secure;Expires=Tue, 22 Dec 2026 00:00:00 GMT
    set-cookie: GeoIP=DE:HE:Frankfurt:50.11:8.68:v4; Path=/; secure; Domain=.example.org
    x-client-ip: 192.0.2.17
    cache-control: private, s-maxage=0, max-age=0, must-revalidate
    accept-ranges: bytes
    content-length: 29870
    """,
    """
    HTTP/1.1 200 OK
    Cache-Control: no-cache, no-store
    Pragma: no-cache
    Content-Type: text/html; charset=utf-8
    Expires: -1
    Server: Microsoft-IIS/10.0
    X-AspNet-Version: 4.0.30319
    X-AspNetMvc-Version: 5.2
    Set-Cookie: ASP.NET_SessionId=k2jq4x1tz0v5m3hw8yrb7nca; path=/; HttpOnly; SameSite=Lax
    X-Powered-By: ASP.NET
    Date: Fri, 20 Nov 2026 09:14:10 GMT
    Content-Length: 22817
    """,
    """
    HTTP/1.1 200 OK
    X-Powered-By: Express
    Content-Type: application/json; charset=utf-8
    Content-Length: 846
    ETag: W/"34e-Yk2cP0v8jN1ZxQbW4mTgLr7sHdE"
    Date: Fri, 20 Nov 2026 09:14:11 GMT
    Connection: keep-alive
    Keep-Alive: timeout=5
    """,
    """
    HTTP/1.1 200 OK
    Server: gunicorn/20.1.0
    Date: Fri, 20 Nov 2026 09:14:12 GMT
    Connection: keep-alive
    Content-Type: application/json
    Content-Length: 310
    Access-Control-Allow-Origin: *
    Access-Control-Allow-Credentials: true
    """,
    """
    HTTP/1.1 200 OK
    Cache-Control: max-age=0, private, must-revalidate
    Content-Type: text/html; charset=utf-8
    ETag: W/"c1a5298f939e87e8f962a5edfc206918"
    Referrer-Policy: strict-origin-when-cross-origin
    Server: puma
    Set-Cookie: _app_session=Q2x1c3RlciBvZiBib3JpbmcgYnl0ZXMgdGhhdCBsb29rIGxpa2UgYSBzZXNzaW9u--8f14e45fceea167a5a36dedd4bea2543; path=/; HttpOnly; SameSite=Lax
    X-Content-Type-Options: nosniff
    X-Download-Options: noopen
    X-Frame-Options: SAMEORIGIN
    X-Permitted-Cross-Domain-Policies: none
    X-Request-Id: 6f1c2b1e-3c4d-4a5f-9e8d-7b6a5c4d3e2f
    X-Runtime: 0.041877
    X-XSS-Protection: 0
    Content-Length: 8144
    """,
    """
    HTTP/1.1 200 OK
    Alt-Svc: h3=":443"; ma=2592000
    Content-Length: 1532
    Content-Type: text/css; charset=utf-8
    Etag: "s3q8k116k"
    Last-Modified: Sat, 14 Nov 2026 12:09:31 GMT
    Server: Caddy
    Date: Fri, 20 Nov 2026 09:14:13 GMT
    """,
    """
    HTTP/1.1 200
    X-Content-Type-Options: nosniff
    X-XSS-Protection: 0
    Cache-Control: no-cache, no-store, max-age=0, must-revalidate
    Pragma: no-cache
    Expires: 0
    X-Frame-Options: DENY
    Vary: Origin
    Vary: Access-Control-Request-Method
    Vary: Access-Control-Request-Headers
    Content-Type: application/json
    Transfer-Encoding: chunked
    Date: Fri, 20 Nov 2026 09:14:14 GMT
    Keep-Alive: timeout=60
    Connection: keep-alive
    """,
    """
    HTTP/1.1 200 OK
    Audit-Id: 0a1b2c3d-4e5f-4061-8293-a4b5c6d7e8f9
    Cache-Control: no-cache, private
    Content-Type: application/json
    X-Kubernetes-Pf-Flowschema-Uid: 3d5f7a9b-1c2e-4f60-8a7b-6c5d4e3f2a1b
    X-Kubernetes-Pf-Prioritylevel-Uid: 9e8d7c6b-5a4f-4e3d-2c1b-0a9f8e7d6c5b
    Date: Fri, 20 Nov 2026 09:14:15 GMT
    Content-Length: 2936
    """,
    """
    HTTP/1.1 200 OK
    X-elastic-product: Elasticsearch
    content-type: application/vnd.elasticsearch+json;compatible-with=8
    content-encoding: gzip
    content-length: 4127
    """,
    """
    HTTP/1.1 200 OK
    Server: nginx
    Date: Fri, 20 Nov 2026 09:14:16 GMT
    Content-Type: application/json
    Content-Length: 3190
    Connection: keep-alive
    access-control-allow-credentials: true
    access-control-allow-methods: GET,HEAD,PUT,PATCH,POST,DELETE
    access-control-allow-origin: *
    access-control-expose-headers: Request-Id, X-Managed-Account, X-Challenge-Token, X-Should-Retry
    access-control-max-age: 300
    cache-control: no-cache, no-store
    content-security-policy: base-uri 'none'; default-src 'none'; form-action 'none'; frame-ancestors 'none'; img-src 'self'; script-src 'self' 'report-sample'; style-src 'self'; report-uri https://q.example.com/csp-violation?q=Yx3VtWk8rQ2ZmNb7
    idempotency-key: 5d6e7f80-9a0b-4c1d-8e2f-3a4b5c6d7e8f
    original-request: req_Zt8kQw3mXv1nLp
    request-id: req_Zt8kQw3mXv1nLp
    vary: Origin
    x-should-retry: false
    strict-transport-security: max-age=63072000; includeSubDomains; preload
    """,
    """
    HTTP/1.1 304 Not Modified
    Date: Fri, 20 Nov 2026 09:14:17 GMT
    Connection: keep-alive
    Last-Modified: Tue, 03 Nov 2026 17:20:55 GMT
    ETag: "654529f7-bc53"
    Cache-Control: max-age=600
    Server: LiteSpeed
    """,
    """
    HTTP/1.1 302 Found
    content-length: 0
    location: https://www.example.com/login?return_to=%2Faccount%2Forders%3Fpage%3D2
    cache-control: no-cache
    """,
  ]
}
