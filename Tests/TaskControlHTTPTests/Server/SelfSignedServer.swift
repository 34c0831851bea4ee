#if AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

/// A server of TLS on 127.0.0.1 whose certificate no client trusts.
struct SelfSignedServer {
    private let channel: any Channel

    init() async throws {
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(Self.certificate.utf8), format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(Self.key.utf8), format: .pem))
        )
        let context = try NIOSSLContext(configuration: configuration)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var url: String { "https://127.0.0.1:\(channel.localAddress?.port ?? 0)/" }

    func close() { channel.close(promise: nil) }

    /// Of `localhost` and 127.0.0.1, until 2126: made with `openssl req -x509 -days 36500`. It protects nothing.
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBmzCCAUGgAwIBAgIUdUCy61DV84lCjQG3iYsTvTXcxb0wCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjA4NTE1MloYDzIxMjYxMDI5
        MDg1MTUyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAASJfPPAozBjwdjZBTlP19L53LNqIGs0IBPlyA6P4mI8ZPbv8NDdFhiF
        uCs+SaZaS56IXUUPrfsRlSSWzUx2wTxBo28wbTAdBgNVHQ4EFgQU6iA9XCK2Zpf2
        5ZSnL7XojHkQWlkwHwYDVR0jBBgwFoAU6iA9XCK2Zpf25ZSnL7XojHkQWlkwDwYD
        VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
        zj0EAwIDSAAwRQIhAII4agAklm1CS7lLR3jea2KQ/ZtOghg/ywSH9kWNfVjPAiAw
        PiZmT7MOv20WAqQ1Cjbwe3vphf1ZQChPjeyRpVujcA==
        -----END CERTIFICATE-----
        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVpi6x59XJ/oe8dBC
        vAAGaZmdEIboK+B1PBBqKpdEN1uhRANCAASJfPPAozBjwdjZBTlP19L53LNqIGs0
        IBPlyA6P4mI8ZPbv8NDdFhiFuCs+SaZaS56IXUUPrfsRlSSWzUx2wTxB
        -----END PRIVATE KEY-----
        """
}
#endif
