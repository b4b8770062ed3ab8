// DigestVectors: published examples of the Digest scheme, and challenges of every algorithm with independently computed
// responses.

import Testing

@testable import LupineAuthentication

/// A Digest challenge, the request and password with which a client answers it, and the expected Authorization parameters.
struct DigestVector: Sendable, CustomTestStringConvertible {
  let name: String
  let challenge: String
  var user = "Mufasa"
  var password = "Circle of Life"
  var method = "GET"
  var target = "/dir/index.html"
  var clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
  var content = ""
  /// The expected parameters of the Authorization field, by name.
  let parameters: [String: String]

  var testDescription: String { name }

  static let all: [DigestVector] = published + computed

  private static let published = [
    // The example of RFC 7616 §3.9.1.
    DigestVector(
      name: "RFC 7616 §3.9.1 with MD5",
      challenge: """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """,
      parameters: [
        "username": "Mufasa", "realm": "http-auth@example.org", "uri": "/dir/index.html", "algorithm": "MD5",
        "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", "nc": "00000001",
        "cnonce": "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "qop": "auth",
        "response": "8ca523f5e9506fed4657c9700eebdbec", "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
      ]),
    DigestVector(
      name: "RFC 7616 §3.9.1 with SHA-256",
      challenge: """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """,
      parameters: [
        "username": "Mufasa", "realm": "http-auth@example.org", "uri": "/dir/index.html", "algorithm": "SHA-256",
        "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", "nc": "00000001",
        "cnonce": "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "qop": "auth",
        "response": "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
        "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
      ]),
    // The example of RFC 2617 §3.5.
    DigestVector(
      name: "RFC 2617 §3.5",
      challenge: """
        Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
        opaque="5ccc069c403ebaf9f0171e9517f40e41"
        """,
      password: "Circle Of Life", clientNonce: "0a4f113b",
      parameters: [
        "username": "Mufasa", "realm": "testrealm@host.com", "uri": "/dir/index.html",
        "nonce": "dcd98b7102dd2f0e8b11d0f600bfb0c093", "nc": "00000001", "cnonce": "0a4f113b", "qop": "auth",
        "response": "6629fae49393a05397450978507c4ef1", "opaque": "5ccc069c403ebaf9f0171e9517f40e41",
      ]),
    // The example of RFC 2069 §2.4, as erratum 749 corrects it.
    DigestVector(
      name: "RFC 2069 §2.4 without qop",
      challenge: """
        Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
        opaque="5ccc069c403ebaf9f0171e9517f40e41"
        """,
      password: "CircleOfLife",
      parameters: [
        "username": "Mufasa", "realm": "testrealm@host.com", "uri": "/dir/index.html",
        "nonce": "dcd98b7102dd2f0e8b11d0f600bfb0c093", "response": "1949323746fe6a43ef61f9606e7febea",
        "opaque": "5ccc069c403ebaf9f0171e9517f40e41",
      ]),
    // RFC 7616 §3.9.2, with the user name and the response of erratum 4897: those in the RFC were computed with another hash
    // function.
    DigestVector(
      name: "RFC 7616 §3.9.2 with a hashed user name",
      challenge: """
        Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, \
        nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", \
        charset=UTF-8, userhash=true
        """,
      user: "J\u{E4}s\u{F8}n Doe", password: "Secret, or not?", target: "/doe.json",
      clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v",
      parameters: [
        "username": "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b", "realm": "api@example.org",
        "uri": "/doe.json", "algorithm": "SHA-512-256", "nonce": "5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK",
        "nc": "00000001", "cnonce": "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", "qop": "auth",
        "response": "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5",
        "opaque": "HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", "userhash": "true",
      ]),
    DigestVector(
      name: "RFC 7616 §3.9.2 with username*",
      challenge: """
        Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, \
        nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", charset=UTF-8, userhash=false
        """,
      user: "J\u{E4}s\u{F8}n Doe", password: "Secret, or not?", target: "/doe.json",
      clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v",
      parameters: [
        "username*": "UTF-8''J%C3%A4s%C3%B8n%20Doe", "realm": "api@example.org",
        "uri": "/doe.json", "algorithm": "SHA-512-256", "nonce": "5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK",
        "nc": "00000001", "cnonce": "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", "qop": "auth",
        "response": "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5",
      ]),
  ]

  /// Challenges with each algorithm and each qop, and one whose realm must be escaped. Python's hashlib computed the responses.
  private static let computed = [
    ("MD5", "auth", "1f56e99f5f248b38b637addd19285ab9"),
    ("MD5", "auth-int", "733d0886d12b7347eb86e5d85aeb03dd"),
    ("MD5-sess", "auth", "fbc081887241f593f9cdec1f04dce40f"),
    ("MD5-sess", "auth-int", "bb66997205a5b216ac08c5cf403e6aae"),
    ("SHA-256", "auth", "0979467ab5bc71508f47967c9c5cd81fa43e2e8571ab4d4b08c89bde2936925f"),
    ("SHA-256", "auth-int", "f8038c91523ae8a152e2feac565feb4653e0d4a2b0aebf04f73f235cd2d36600"),
    ("SHA-256-sess", "auth", "5182cd5489a72efd94d2ef60c46fae48a547d095704277c980b5b4bf7141a25b"),
    ("SHA-256-sess", "auth-int", "2bd4da116975dbc60e168f37eef8b00fa7b8df4b33bdee68cd743907171fe5ee"),
    ("SHA-512-256", "auth", "2f40c07391a439a0511b0cad256f859f31dec84f1049edd7026843bf6a75eaa9"),
    ("SHA-512-256", "auth-int", "ea51a9cb881174300d5268d3e4c96ab82889307c63ec05bc76c8203bf39f81ce"),
    ("SHA-512-256-sess", "auth", "a3a34a2b3327d75290b14968eab8fa919bdd98fa6c78afb8dec925182ee15275"),
    ("SHA-512-256-sess", "auth-int", "9ffca62356e1fa6611433703a307c6bd6e01d9e3d3ddf36518f78233d3c6a258"),
  ].map { algorithm, qop, response in
    DigestVector(
      name: "\(algorithm) with \(qop)",
      challenge: "Digest nonce=abc, realm=\"r \\\"q\\\" \\\\\", algorithm=\"\(algorithm)\", qop=\"x, \(qop)\"",
      method: "POST", target: "/a?b=c", clientNonce: "xyz", content: "the content",
      parameters: [
        "username": "Mufasa", "realm": "r \"q\" \\", "uri": "/a?b=c", "algorithm": algorithm, "nonce": "abc",
        "nc": "00000001", "cnonce": "xyz", "qop": qop, "response": response,
      ])
  }
}
