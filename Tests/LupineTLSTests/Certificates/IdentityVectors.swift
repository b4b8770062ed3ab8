// IdentityVectors: certificates and keys in each file format, made with the openssl command for these tests only. The
// password of encrypted ones is "sesame".

enum IdentityVectors {
  static let password = "sesame"

  /// A self-signed certificate in PEM with the subject CN=Lupine RSA client.
  static let rsaCertificate = Array(
    """
    -----BEGIN CERTIFICATE-----
    MIIDGzCCAgOgAwIBAgIUVOGBWZuMa5Bk2qaejHZ35Zw0WEowDQYJKoZIhvcNAQEL
    BQAwHDEaMBgGA1UEAwwRTHVwaW5lIFJTQSBjbGllbnQwIBcNMjYxMTIxMDkzNzEx
    WhgPMjEyNjEwMjgwOTM3MTFaMBwxGjAYBgNVBAMMEUx1cGluZSBSU0EgY2xpZW50
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAvJUR7Qb1CJ3F/LvRq345
    DuE1V5xNMO004ydXYtmInQqQk2u8LxzfUex4CB6z2OGQBTK4JVMTrYLre46AV64T
    xFqGj52vJASKhflfoJyOCI+ScxEWmz598mBpeq3YjwpOr2/PkmtvQVxSf40dSshz
    pumMS57M10HDTlXgBJIRs8U2793SiS0+5nGS6Jebmw0ANP25w1QQA3hm/B/w+PtA
    g2Ro8/vinY1WmdteIwxrZQo56qjwxhLA0+e0HXekg/6RyjEQhJbbRVs1/eYyRH3P
    YfkxgKi2Uv8muDD3m3LzwQS5q1/pOL0E/LbvKQEYXCm7bOsjVydH9lWVzcD3C1Zm
    CQIDAQABo1MwUTAdBgNVHQ4EFgQUGgVhyQey+IPr2vcsy93dXfSFV6cwHwYDVR0j
    BBgwFoAUGgVhyQey+IPr2vcsy93dXfSFV6cwDwYDVR0TAQH/BAUwAwEB/zANBgkq
    hkiG9w0BAQsFAAOCAQEASYKRhCQTBr6bS8MpSp7ivCe7iIzN7YzgUqT2mUiWju9T
    zoJ9ky5rlXICmdaJkdoKhexuM9Ve4IPDZ6uYzvzh7Aybun4oOOofkbnrwjbRqaKv
    mf2VRVMbVnRoZUyrbofppqtEiJP0sk4XqmQkWLJyBhP1mwXKIlENWK3YDV8s2twY
    fmL0Hc/vtudXicJEOmWkf9PX+MOUUODQ/ZgTj1Ugqlp18aKvUSdfyuSahYdXfeEj
    MkZ7zqRJ0yUy93V/JBItswTZsM/43DhlTJiJm5rMfy5spYmn4K9sUFtZpXQaDzUA
    yT0pTWrmupIQhQmOJO1GcpJ0OqxOOTk1JmjNMrQkPg==
    -----END CERTIFICATE-----

    """.utf8)

  /// The private key of `rsaCertificate` as PKCS#8 in PEM, not encrypted.
  static let rsaPKCS8 = Array(
    """
    -----BEGIN PRIVATE KEY-----
    MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQC8lRHtBvUIncX8
    u9GrfjkO4TVXnE0w7TTjJ1di2YidCpCTa7wvHN9R7HgIHrPY4ZAFMrglUxOtgut7
    joBXrhPEWoaPna8kBIqF+V+gnI4Ij5JzERabPn3yYGl6rdiPCk6vb8+Sa29BXFJ/
    jR1KyHOm6YxLnszXQcNOVeAEkhGzxTbv3dKJLT7mcZLol5ubDQA0/bnDVBADeGb8
    H/D4+0CDZGjz++KdjVaZ214jDGtlCjnqqPDGEsDT57Qdd6SD/pHKMRCElttFWzX9
    5jJEfc9h+TGAqLZS/ya4MPebcvPBBLmrX+k4vQT8tu8pARhcKbts6yNXJ0f2VZXN
    wPcLVmYJAgMBAAECggEAAggRE16Z0Sfx9BEJ5zEK6FAgxPrYEgjcIv5PgK8bO6Xb
    fNsSQeeruDQ17tB124ZCiOvM9An7Eklww/n7A/bKG7ll7bIjKt4pp9vR3ecR2KHD
    UB4FAlMgBDZprHqm9JOF2Xn44Hjrz+ZwtRMOF7olFM07R61EQ6Vftz5RlXsFWcxn
    WTTlXLlTY5EqvIWUtVveGbTWXWPm6Dr8X2eb/BRUI2FldlLdBsRxV/CNPWylSSml
    1ehW4gcNtAwyoxrXQWtBhjQEbK0mXAIDmlI1qGt+S2FA6+oE4KDYJA5+ExoTn8P3
    rRE6tQ2MnetdulOejO4e4AdV1bsvWZcnuxvRDCYdoQKBgQDbxBxzoR3nT/7gqjt4
    weVJvZIlckDaYlegowTNXyJdfSXMkzz5ZiTPdcvqc1Xq+s9YoB67+KHr0ZSUr5Nm
    0q3Hz4o0+wsHIruDW7tMZv1yyyrvVtNIe4gBFfa32YJSDO3avSLUaO8O0iCG3lSG
    YVsiJ+LXrkTX40jTK+ytszFS9QKBgQDbrMEqGpNKNcsP6Kt2odSCZ9nJLLe5ke/3
    hVm6jtr7yX7ZZbREuiOXrp0qctYnSIgdpSDDiUs39sHU/Dj1zWnUVAToVu+ISxms
    tdD6qwtX69HGdDCE0FBujbEi5Wunj/oQmFXR/WZgPXL/+PY5TfaOVlx4PHVDjicd
    MCKNhtyiRQKBgHSN8CELRFbXwG/bGSuUeky/s/EURX0NRzg0/WkGma1HoHJ9bItB
    NyioavvvK5QybSGt2l8LIKV3Q/wPmnegKPaeBcjPlCu2qgii8BU3Uhg91ImXXPtG
    OP2Kbo1XWJy3qramNQC+nnsXypR8+gtDOxhEWzTUgkKVkpwc4avGK9S5AoGAetZ8
    YXXg3QN9nFTH5JuTwKQf1W3LAtrHbArGZRrS+y7uXtSPXEsV8hCzU/RJKkhVzPX0
    f0L7q7yxIM81bsXBovikkeNjKDyOi9RTmogg3LZCZI2+P9ZY06kp31CYxWcuNy9n
    9feT0scp0lc+IEcnUuqZ5KYyEGeiGaE8ARXjtF0CgYBJhShtSFIOIMLVatWnAJnV
    HNmyxWmTA3ii49lv3e/p8iySEbgD+YgcrBBSwq2uSg7athu9PTAb+6E3v3DbmIpk
    WV4qSXejwTU6wL9EV4mL6vbXo0qve2Rt7u7ubyMBTtYNydLY3hnUJmUUnmDgo88+
    z5OiNgEA/C4wXqUaUjm6WA==
    -----END PRIVATE KEY-----

    """.utf8)

  /// The private key of `rsaCertificate` as PKCS#1 in PEM, not encrypted.
  static let rsaPKCS1 = Array(
    """
    -----BEGIN RSA PRIVATE KEY-----
    MIIEogIBAAKCAQEAvJUR7Qb1CJ3F/LvRq345DuE1V5xNMO004ydXYtmInQqQk2u8
    LxzfUex4CB6z2OGQBTK4JVMTrYLre46AV64TxFqGj52vJASKhflfoJyOCI+ScxEW
    mz598mBpeq3YjwpOr2/PkmtvQVxSf40dSshzpumMS57M10HDTlXgBJIRs8U2793S
    iS0+5nGS6Jebmw0ANP25w1QQA3hm/B/w+PtAg2Ro8/vinY1WmdteIwxrZQo56qjw
    xhLA0+e0HXekg/6RyjEQhJbbRVs1/eYyRH3PYfkxgKi2Uv8muDD3m3LzwQS5q1/p
    OL0E/LbvKQEYXCm7bOsjVydH9lWVzcD3C1ZmCQIDAQABAoIBAAIIERNemdEn8fQR
    CecxCuhQIMT62BII3CL+T4CvGzul23zbEkHnq7g0Ne7QdduGQojrzPQJ+xJJcMP5
    +wP2yhu5Ze2yIyreKafb0d3nEdihw1AeBQJTIAQ2aax6pvSThdl5+OB468/mcLUT
    Dhe6JRTNO0etREOlX7c+UZV7BVnMZ1k05Vy5U2ORKryFlLVb3hm01l1j5ug6/F9n
    m/wUVCNhZXZS3QbEcVfwjT1spUkppdXoVuIHDbQMMqMa10FrQYY0BGytJlwCA5pS
    NahrfkthQOvqBOCg2CQOfhMaE5/D960ROrUNjJ3rXbpTnozuHuAHVdW7L1mXJ7sb
    0QwmHaECgYEA28Qcc6Ed50/+4Ko7eMHlSb2SJXJA2mJXoKMEzV8iXX0lzJM8+WYk
    z3XL6nNV6vrPWKAeu/ih69GUlK+TZtKtx8+KNPsLByK7g1u7TGb9cssq71bTSHuI
    ARX2t9mCUgzt2r0i1GjvDtIght5UhmFbIifi165E1+NI0yvsrbMxUvUCgYEA26zB
    KhqTSjXLD+irdqHUgmfZySy3uZHv94VZuo7a+8l+2WW0RLojl66dKnLWJ0iIHaUg
    w4lLN/bB1Pw49c1p1FQE6FbviEsZrLXQ+qsLV+vRxnQwhNBQbo2xIuVrp4/6EJhV
    0f1mYD1y//j2OU32jlZceDx1Q44nHTAijYbcokUCgYB0jfAhC0RW18Bv2xkrlHpM
    v7PxFEV9DUc4NP1pBpmtR6ByfWyLQTcoqGr77yuUMm0hrdpfCyCld0P8D5p3oCj2
    ngXIz5QrtqoIovAVN1IYPdSJl1z7Rjj9im6NV1ict6q2pjUAvp57F8qUfPoLQzsY
    RFs01IJClZKcHOGrxivUuQKBgHrWfGF14N0DfZxUx+Sbk8CkH9VtywLax2wKxmUa
    0vsu7l7Uj1xLFfIQs1P0SSpIVcz19H9C+6u8sSDPNW7FwaL4pJHjYyg8jovUU5qI
    INy2QmSNvj/WWNOpKd9QmMVnLjcvZ/X3k9LHKdJXPiBHJ1LqmeSmMhBnohmhPAEV
    47RdAoGASYUobUhSDiDC1WrVpwCZ1RzZssVpkwN4ouPZb93v6fIskhG4A/mIHKwQ
    UsKtrkoO2rYbvT0wG/uhN79w25iKZFleKkl3o8E1OsC/RFeJi+r216NKr3tkbe7u
    7m8jAU7WDcnS2N4Z1CZlFJ5g4KPPPs+TojYBAPwuMF6lGlI5ulg=
    -----END RSA PRIVATE KEY-----

    """.utf8)

  /// The private key of `rsaCertificate` as PKCS#1 in PEM, encrypted as in RFC 1421. The password is "sesame".
  static let rsaPKCS1Encrypted = Array(
    """
    -----BEGIN RSA PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-128-CBC,BF85241D5520BB79FE34B9347827C982

    zDwPPcZ35Kyn3cE4wzq0WbgWLqOEyhCG1qTkzXAz+Lx8PTIoSJBjjqMJH/FHdxUG
    idy8kWFCJ63yK5MUgil7E3qEp5nmDB2gOW37jzg8bUxfnDsmy8tGITsrzsDLTpwX
    Nn0BRyrusHL+6Fb9PRuOa7p49uBXCndfbPuxuZbAkbTf+GpSIxCFaUm/3Hinheuq
    PbA1zQOFzaUfTowMn/n3Ju08QrMnSoT7NKB1P8xqT4VAUjITbCe7sp4kxdts7fRm
    doGAmPQwMAkoN85CjJ2BjNLXsiY9mv5yiK9bMzeceB9IG3AZGyefhO1IXITAGAkZ
    molHnsTzPCc4Zf5iKfwof9GRF+qgGE/JxSpEvfTk06iwplpYC9SAT1KOcFS5Cgxp
    EBE41ao3QuxThb+mgrZ8eV/HVGQ2rP7HL6mlA1tRraUNMuMHttoXyVtg8XEqBdKy
    5PhxnHFM+REU+smZ4JcMdXT9Ekh0PpUJmsKe2uMMkUG3c8VtXvPJdDDRcOYsVsEk
    fr1W5yURDI/c5orJFKmxiHGr4JfFVNN7mid9E6Wj/sO0Hn0QuogZ8p2CjwZd/2LG
    J8ts7u++snFGTlgmxNHRBJEC7sEnn4YA4iPViDEJztPeRzApLuKDCNXjYQ9y0M6G
    o4DMsJduw4gfX7OotB8pHD1vEDHqtpmMLYggZVUC2sRKYpQ9gehdUdmjHd7gW9HM
    C/WfsnzzSH1RFi4gx1gyVenAEp3JKN2EbawgEQlBGxkrTkWEm+3oqCn16muKzkke
    Ohl7Fxh2DnpxrvF7nc0VfZJww0FtqQnFBHbUQnwIMBzpi8wOaPaZh1j+eT9TZ7Ya
    LOoDxqY9ctNvkpat9Dut5ccNJQz5FBLi8es3uaJ71d4DrmHVSZ1jgcVnhrd6k9Vh
    vnC2qTt5kRcN/qqgOI1Gv487303m2hwqXu4+efurLXv8lkuf8WGxRAQi8/ArXKc+
    pYwZJuIeDMcSqGghjCIYlwDm0cdl6d3wQEs+OdSNExzlkXeURZcQd7wPscuNzBkl
    lZMOuNWIpWcZqqlXpF9kNqhfrKcENXvRX6/As29dbaWhbF2C44KTbV74lb7w5uHw
    E96qi4sdufgS8e7M0D76NrumGEhxyR+PxERPQYrMqd47zZwwU/9hs8TAILSwH4Bg
    lMOgS7hGdRLkt6DKxNlawbydNsUjjdNqhsCtzmdgrlJq+e3GvT9ytQr6PDNh3mzn
    x43ax/o48VcTGTKS1p06cAJeztfS+CUh9aTxJmkghw1IJPUCwnTBWoAgMGNmBr7Z
    hn1xWUDe2jsHaKMGeb4NmcSFFo3oZtyfO2VbpQDSARMpdUlMcrO/PUmG/xkFO5Ed
    MIXvg4e3jWtqqhhuewvYJD5N6m7BrLoQp6UBqDIA6Y4PY2n144AUzKcCHl2YTiJ9
    f1TGapxtRP7Yz+gv7TCOMAjA7+3LGTqnMzogmQaSC1xkMjK/cx8x8Sup1CTSQKky
    oe/LolOt+RVW7krF6M6KgiFcED2HBXrkxfd5Mg4+HKeywFq8+lwv3B5FVSLWJUUv
    whFPVpTkUQSyisrr/R3lX0IptZh1tXjJUDu4KEGGltALdKLrlda/Wcy4IP9F5ipW
    -----END RSA PRIVATE KEY-----

    """.utf8)

  /// A self-signed certificate in PEM with the subject CN=Lupine EC client.
  static let ecCertificate = Array(
    """
    -----BEGIN CERTIFICATE-----
    MIIBjjCCATOgAwIBAgIUJftStZcFNCPXMPsKKAtUaMRqx5gwCgYIKoZIzj0EAwIw
    GzEZMBcGA1UEAwwQTHVwaW5lIEVDIGNsaWVudDAgFw0yNjExMjEwOTM3MTFaGA8y
    MTI2MTAyODA5MzcxMVowGzEZMBcGA1UEAwwQTHVwaW5lIEVDIGNsaWVudDBZMBMG
    ByqGSM49AgEGCCqGSM49AwEHA0IABMlU5kfFhhqouh0V6lBN8pga5hHZVC2DQsed
    tP2xT5HLsOuRMO/jP36SeOdkB981v5ycW53bMk/YDqDCnOnU7uGjUzBRMB0GA1Ud
    DgQWBBQCt8CbBsFG9GimADSh0w/00KODfDAfBgNVHSMEGDAWgBQCt8CbBsFG9Gim
    ADSh0w/00KODfDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQCn
    yrw5pM+QElD9RyFHWi/DmZpwI/GKtdImxDKX7eERUAIhAIK6UumuPW4e8fVF96ap
    N9hknIe+KlS1e+o1L0bAVFBG
    -----END CERTIFICATE-----

    """.utf8)

  /// The private key of `ecCertificate` as PKCS#8 in PEM, not encrypted.
  static let ecPKCS8 = Array(
    """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg32VuotVLq6SjnxLO
    Bidowougdag2v5ejAT4xCCeTsL6hRANCAATJVOZHxYYaqLodFepQTfKYGuYR2VQt
    g0LHnbT9sU+Ry7DrkTDv4z9+knjnZAffNb+cnFud2zJP2A6gwpzp1O7h
    -----END PRIVATE KEY-----

    """.utf8)

  /// The private key of `ecCertificate` as SEC1 in PEM, not encrypted.
  static let ecSEC1 = Array(
    """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEIN9lbqLVS6uko58SzgYnaMKLoHWoNr+XowE+MQgnk7C+oAoGCCqGSM49
    AwEHoUQDQgAEyVTmR8WGGqi6HRXqUE3ymBrmEdlULYNCx520/bFPkcuw65Ew7+M/
    fpJ452QH3zW/nJxbndsyT9gOoMKc6dTu4Q==
    -----END EC PRIVATE KEY-----

    """.utf8)

  /// The private key of `ecCertificate` as SEC1 in PEM, encrypted as in RFC 1421. The password is "sesame".
  static let ecSEC1Encrypted = Array(
    """
    -----BEGIN EC PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-128-CBC,6CCAD444C2D0FB68A2B17969BEAE44D1

    J8BUY558CFcLEqmGxShCqJD3ZWD4Ti6NvKMXTn6HpvjN45IXVoH4rTBoNL5FaWaB
    CBPlVtGBYCGNn6xPfnz32/5Gzf6kz0g2Q8dkrgkeSj23FAbWWsPCtPLdwpyeO8qU
    pDBykStGFSNKDb/vwsZ1DGHxwiSWokjOVUioFA8I6bs=
    -----END EC PRIVATE KEY-----

    """.utf8)

  /// The private key of `ecCertificate` as PKCS#8 in PEM, encrypted with PBES2. The password is "sesame".
  static let ecPKCS8Encrypted = Array(
    """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAghOauXn7tT4AICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJNfStsqjc2zJcnWufBhi7kEgZCJ
    JvmnIZhqxSha8ogvJaGq6L9/jdxkQzK9AeVUylJ5n3HPFMlwG6aAmdzkbA3KWCT8
    K5/g6MB5jxOoRucXY4B/Um6JMxTZp/GKcQuEGLjESqu6lRHRifchxN9+lyN7JZ3d
    vb+kTiY+dzwQEcCoqZ0zYHjmjf0/Ig6bPeeNL34fA+qOa/EoTJjD9k+oc0l9WLI=
    -----END ENCRYPTED PRIVATE KEY-----

    """.utf8)

  /// A PKCS#12 archive encrypted with PBES2 and AES-256, the default of OpenSSL 3. The password is "sesame".
  static let modernArchive = decoded(
    """
    MIIEHAIBAzCCA9IGCSqGSIb3DQEHAaCCA8MEggO/MIIDuzCCAnIGCSqGSIb3DQEHBqCCAmMwggJfAgEAMIICWAYJKoZIhvcNAQcB
    MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg2AUOQ7mJTVAICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKnx
    5sngk3CkHwNSDDJNrWaAggHwZ1Vg+baSUVxzBxJZC3LL668R3gDfJGIZSAuLhcDYfWh7cEUtRnCNu4RVpM9qcehVs+dcSTlVMfTe
    Zn4d/Api19BUJb1r5T+mYk2CdSCQfcg91cgVLSFuhcIZHhUoZ03Pzr0P/RUvF7N7HdGsZ4j7No2FZ390ML2q7i1OEolo4STx2fH6
    YYFFvrEy+gZLHwbKaXXDkuVi2+2M8e8htaBXrJ+kE/JPhYZzHN7eHrLQ4yZJaGgJ7MGwm3WHaR6FtBE/v4FsYSC4QRka4ZST6Hu8
    rMaMTwq5w4Ib6ImuoWNdVgIOnRcaiaAm4f1BEK3tNtdiJECFlS6L79dJWR8M2HUlt6yhQWX3LVFI3o4BvSB15uYKjrUJ3Re6BpdA
    usIZQOEvkJl97axMOQAQ46R6nq/2QlkyJUIOg6kL3p9wiy7gHoCzr8WCKKhs7t+GxSWIyp6ZLSfI3OzVX2ruHoyxmgQvgYfmx4MG
    SdJ09yondwH3rXKOwUAnCX601ueD5LcK7zsqgVKEM/2aUx0XK4WeoyeUfYAxUClEhNIcbR7U6B7rROclyG24D/uq6qV4N0RY5orU
    Bv53aeljTUIgfW/TNHkwEsK1kiD5VVZfkBD7DRg0zmHjGjjeOfFxz08ZmbloBICwPNcJPFyM8X8Qlu+C/iUTRTCCAUEGCSqGSIb3
    DQEHAaCCATIEggEuMIIBKjCCASYGCyqGSIb3DQEMCgECoIHvMIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgfUpFi
    3QzjGQICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJ/VCaV1AYlDL+itPg22/V8EgZARWTAK3+HRL/SqRNQOEKPASL0a
    E3Li0a7584EmidRM3XD5jnDjf2QZCWLry92AtKNMOq3aiycUY4a8MyNkxhzyPosnbM0gYcxsF+XZKWSjM91JfgnEUed6mNnVcjvG
    izSWoOwyZ8toDkPKtzbcMveZbPsbKq7RfBp31kvRfs01+cmNUoGRfyCaR3nYmmcVDPYxJTAjBgkqhkiG9w0BCRUxFgQU6C8bPepw
    6a/rBizjkFc4+j62Ds0wQTAxMA0GCWCGSAFlAwQCAQUABCD2XzDAp5J3bKUUfCtzj9VYbYey20XbsWs7uzdriyE98AQISIynooLN
    U9QCAggA
    """)

  /// A PKCS#12 archive encrypted with 40-bit RC2 and 3DES, the default of OpenSSL 1. The password is "sesame".
  static let legacyArchive = decoded(
    """
    MIIDkgIBAzCCA1gGCSqGSIb3DQEHAaCCA0kEggNFMIIDQTCCAjcGCSqGSIb3DQEHBqCCAigwggIkAgEAMIICHQYJKoZIhvcNAQcB
    MBwGCiqGSIb3DQEMAQYwDgQIaXKzkvpnn/YCAggAgIIB8DLI0z6L8YE8aBAj57hDHeirt6dGVCp4XSeWhZJ+BjB4cBDovD9K4vfx
    kbZnd2310g2uo+5GQF4cILfgE1SY5WiTthKOpnuNlsMsCGBnZWnxj9wUW9RGF5+Hu95zAvZNujG+D87SoaWWE05cL15Sof2UrnOJ
    Fm/WCdPOfKHF/RcSkdCF+5w+NbRuf5NBDdIJaRj9l9hiqB0k42GFvD2eTpWsX4gb39I2C0lPn5L8F5XW/N+yyS0z0JzfgRKWcBmK
    NpTuPWkLKOeIkdx5LWW4AKAXacMjjq2FawMfGH2kDQ9mC61pIjMji5GMwPw7ziscyS9mnUDXJ1LBITDNU4jwwsOyLGhwwBWX42Qn
    XxkNooLotwpwbf024y+5PCCpNHiYsb/g3llF0OTLeGOpKbxnW/i2tfo6XCShRAiU8eY1+idooG2UhVNkExiCPjuiEYsoW6YiOOgX
    a+6AMGTzEGn2LTYT1h+YgquizxY9ow0xuVSyswajU1RUxk5WQxABkhs1pk8reyvtzjSxvNW7v5bsKBGGkn4/EuS3bgpNu2/PF8Fd
    DFJNLVUlpKhg55cTp5jdinz3ssOIVz3TruOt/Y2bygdMHo+PGz6jCYaNA493qFJZ+B4fAL2E4JBdqcyQqlwNaykco3mV6Wq6A+Lp
    14H8PSQwggECBgkqhkiG9w0BBwGggfQEgfEwge4wgesGCyqGSIb3DQEMCgECoIG0MIGxMBwGCiqGSIb3DQEMAQMwDgQIItXcx5rA
    ObwCAggABIGQhT30l56KuKVt8B6KUEJiAF3MIHf1zQVNuVfelhXka82f7lLSS8zFdQzPem6dOdR4CMQfjlnBL2z95TAJosp0J6Nw
    7RzNsohSoWsC7geTv604FdYIU0hA6+9VhshiP1e8Xf0q/Ph10ZjHdq6mv0J2UnW8LZFATzHL2vrz9gTOC2hpOAj630Uo8hpw7okf
    2CecMSUwIwYJKoZIhvcNAQkVMRYEFOgvGz3qcOmv6wYs45BXOPo+tg7NMDEwITAJBgUrDgMCGgUABBS42FWIthTFU713jgNC13O+
    9izIEwQI1Su8Jerz7d8CAggA
    """)

  /// A PKCS#12 archive encrypted with 3DES. The password is "sesame".
  static let tripleDESArchive = decoded(
    """
    MIIDkgIBAzCCA1gGCSqGSIb3DQEHAaCCA0kEggNFMIIDQTCCAjcGCSqGSIb3DQEHBqCCAigwggIkAgEAMIICHQYJKoZIhvcNAQcB
    MBwGCiqGSIb3DQEMAQMwDgQI5S3RaWRfmIgCAggAgIIB8KPsB4qGzkrC+dW/1EAW0asnG3bxfXAI0ShcFMHxfMsbWc3qbXdZBVD0
    uCU5iBi4F6falUwiQtL3/0TfdPdlk9Bdov4lF6nnGhEBpEn/d9ghZ4erU5YCNJFVAyvNDstZqKaNwjUT+fBxb4OAro7xLYV6wWO8
    u5KyQx71j+lNm1h1r8tS6rlw211GvZgNpJL79rVOMFJXOeJwsAW3r8489Aizk4Tr8SsDNtW1NfZ2uebh/kbUDzwZEWrHrZUv6SH5
    xtyI1P2Z1BoRj9fova+kGVsROiEx++ctWbPbCxIrAa0UALFvwvOrJol0Hq7QBzW7FtY33xqn9m+gxvNws0up9ffK4WntQttp6tok
    Zs14yoSuLo7yUHRcMKUDsWJNB/rmZeu59ProWrA4te3+V/NKidmG+HzK+KEO6wUSfj+dhwCbxM0KfVKscO7nhBMNSBFYpzaVv4yC
    aN5BGFY1eslujcFJiNDBMeUGNk42bsRbHfLjJLFWk30aGgie+DsgSTkM5TwLcnuAnzZH7jSwgDtTrgYhOUxstl8H+Fohx0FaZpsh
    hBXvJ7eKHPJsbOpEctkNShPug+mz0ZjRUzrQhcXv8j14qz0E80F3maJR882sqvdENwCI1UITfs2WCd9QT/F3ghhw2zfTcPIBHCyi
    6wxMxrswggECBgkqhkiG9w0BBwGggfQEgfEwge4wgesGCyqGSIb3DQEMCgECoIG0MIGxMBwGCiqGSIb3DQEMAQMwDgQIR+KLGzpn
    Od8CAggABIGQdQq+nDnWTXKy+XkVOcv+HsDeD+2P5p8cytpP+p3auPOjXfL+L5W9Y9wC3HGTh2BYcfXF7lfJQNKsHX78NioKfaus
    CwVQwZfAcK17sLgggMV9jnk9NWghs30f56tsYgxpGArM4/vyOqS/JZI+uI/FkIcR+Pl7XkqCCRFqWw7672m1yijZtXhzA7M+Kcqv
    SbawMSUwIwYJKoZIhvcNAQkVMRYEFOgvGz3qcOmv6wYs45BXOPo+tg7NMDEwITAJBgUrDgMCGgUABBRzKPfUJqtpMFkpQA3Wgrvk
    /9yivAQIn26uLcUA2A4CAggA
    """)

  /// A PKCS#12 archive whose password is empty.
  static let archiveWithoutPassword = decoded(
    """
    MIIEHAIBAzCCA9IGCSqGSIb3DQEHAaCCA8MEggO/MIIDuzCCAnIGCSqGSIb3DQEHBqCCAmMwggJfAgEAMIICWAYJKoZIhvcNAQcB
    MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhbmGFnv1wB1wICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKrX
    E9Qm316U7QBk9h5h9i6AggHwGelMTP0ZlptmWqx7ii1zXawELrkRqZwVWYIyqiuv26s3DAy7Es6BMBZIet/wfVEczaLjXXxGwewZ
    2Tfhr6KE8OrgIekOIbDpz7hfq4akZRUQ3+OHzgqCZ70ZyqFQGXUJyX3YWT0f1G7LxkA5XkHt/y8aPou6UVclNzauoOpSlkI3/3vx
    mqarVhXVVgAeRFNX3nGN5HKKXEkRKAUXghi2zHhKmtLuzkqnPgnMZqDA+Gh5GXAUd0OG5qgLFMX3Gx60YYFRITYh5vXzNarmwj2A
    hwwz0DwEVVgZ48yEzCODXX+5TyAMWj/Eau1PZtxtBC6X5GxUbi05VkYOQbDAluQPwWYiAz8GSN7e+YwVID47GPMExdCh+wy0Dbgn
    7283xg/zdKFraKz6aXd3gnN1vhtGrTC3uj/WotU6e7o4HA3LfNNnvgyuEszk3IL3xc9714/vv5HhEMvDrekI8dhVXcaU2EtppLJM
    vhmRErgeniSIIMbmDrvVOanZEtcSfPQmj6Qqlv5a5bpIJ+ft6L969vCmzmzEI/DsbVanGhgHjp2mBG3dTv4lIZzNp5m6RRobFDzZ
    6TQTf3JbLmqdbCFZSOBoxmTfXaG6cZ5yTw6A32EcDRtP3ECgX1DhrP1OMdrtxIhd2C6WJ9RymBlCEaH2NzgArDCCAUEGCSqGSIb3
    DQEHAaCCATIEggEuMIIBKjCCASYGCyqGSIb3DQEMCgECoIHvMIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiZf4vI
    DTkKrgICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEELVkqAT4r2bI9UfoZeB6sEEgZAtLdR6xfq6TksY7CJNQ6XtO8uN
    3EIR+cCQYCRrH14/6+N9kNRI1qSv06yIHQ5oyQ4XVUwO/5oZhF4GxwF00aTm3+WavTy7jL1EdO6mpAvTsoY0fKwZk/QQp9oPEoSd
    3ssxAGWgAlA/thf3LkklPngIL/XoWOVdmHdKcE7li6QsbtWR7i9rmzT/ELHKSMbdsdkxJTAjBgkqhkiG9w0BCRUxFgQU6C8bPepw
    6a/rBizjkFc4+j62Ds0wQTAxMA0GCWCGSAFlAwQCAQUABCDQgHtv/Olis/f8gnSBIhVKtXjG6wJ7cPWoncdyGkLy2AQI8K1IIgcR
    5NICAggA
    """)

  /// A PKCS#12 archive that contains a certificate but no private key.
  static let archiveWithoutKey = decoded(
    """
    MIICtwIBAzCCAm0GCSqGSIb3DQEHAaCCAl4EggJaMIICVjCCAlIGCSqGSIb3DQEHBqCCAkMwggI/AgEAMIICOAYJKoZIhvcNAQcB
    MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgE1u8pzT4NQgICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEP/0
    +H9a4UoB7zGb+qnQpTGAggHQIaL0ueiZ0hvFFHdmSNQ4ysS+4AIplZ6osvvYSd3iww2IVUBzzsBCqmwo+zM3NI7dxYcyy/V9BJ6s
    SfgltSjGrSmxiElVV2ptYIzorLCdwoaGkhtAZimIUJ9kPx7L2K2eA2XUcQHQGFEziZ+/9JyWZPKMh18YL5cd9X0VZpdTtV95WDIx
    m8S8EWgNGbq1LSUfAdrBTImU/OO72y8PKEWDb4QxBkkM9LC6vrWkcrtXNEffDoSzJBxoPjkTi9oZeKgO5gM9cmy76BH0ODywn8Ss
    tjoxGdZuSix83rGtIKOxR+Jrqr49IHhhlV3y/217eqtJ+dWYE3LwY5/jPQOOsViVQFUKwCG9GaIRWtD7OwseLIDJ6sbr6Q21YH96
    0xqMWHsFzt6WlvLXq260RdLITFLlN/AOO6AMRBkaQKpsil1Ak2O0yAFPAOkwnoTzvOEgZmZOGOc5v6ckxJHN6Axj2DUdJ6qHHMUV
    6r8+NQpP2ir91F6TxnTLZj3vt54m9pjrDdOiF6z1mBLdvvONFWNYGcCo8hWJAK4py2Yicwo6rd1RzBdHPcxBIcNNAoQgXeqt33MT
    J3wlRyBRU0uaIGvnMSdHJPPs5fBK6I/rL1y8jDZhX2EwQTAxMA0GCWCGSAFlAwQCAQUABCCKGSwBgY2CxcrdEqhtJbGRX8uC/X7o
    gjqAE6L+R770TAQId6rIrpn0GBoCAggA
    """)

  /// Decodes Base64 (RFC 4648 §4). Ignores all characters outside of the Base64 alphabet.
  private static func decoded(_ text: String) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var bytes: [UInt8] = []
    var bits = 0
    var held: UInt32 = 0
    for character in text.utf8 {
      guard let value = alphabet.firstIndex(of: character) else { continue }
      held = held << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: held >> UInt32(bits)))
      }
    }
    return bytes
  }
}
