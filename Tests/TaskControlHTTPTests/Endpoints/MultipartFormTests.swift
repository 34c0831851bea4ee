import Foundation
import Testing

@testable import TaskControlHTTP

struct MultipartFormTests {
    @Test func aFormHasItsPartsInOrder() {
        let form: [EndpointBody.Part] = [
            .field("title", "Emma\r\n--b"),
            .file("cover", Data([0, 255]), fileName: "emma.png", contentType: "image/png"),
            .file("notes", Data(), fileName: "notes"),
        ]
        var expected = Data("--b1\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nEmma\r\n--b\r\n".utf8)
        expected.append(
            Data(
                "--b1\r\nContent-Disposition: form-data; name=\"cover\"; filename=\"emma.png\"\r\nContent-Type: image/png\r\n\r\n"
                    .utf8
            )
        )
        expected.append(Data([0, 255]))
        expected.append(
            Data(
                "\r\n--b1\r\nContent-Disposition: form-data; name=\"notes\"; filename=\"notes\"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--b1--\r\n"
                    .utf8
            )
        )
        #expect(EndpointBody.encoded(form, boundary: "b1") == expected)
        #expect(EndpointBody.encoded([], boundary: "b1") == Data("--b1--\r\n".utf8))
    }

    @Test(arguments: [
        ("a\"b", "a%22b"), ("a\r\nX: y", "a%0D%0AX: y"), ("a\nb\rc", "a%0Ab%0Dc"), ("é", "é"),
    ])
    func aNameCannotEndItsHeader(_ name: String, _ expected: String) {
        let form: [EndpointBody.Part] = [.file(name, Data(), fileName: name, contentType: "text/plain\r\nX: y")]
        let text = String(decoding: EndpointBody.encoded(form, boundary: "b"), as: UTF8.self)
        #expect(
            text == "--b\r\nContent-Disposition: form-data; name=\"\(expected)\"; filename=\"\(expected)\"\r\n"
                + "Content-Type: text/plainX: y\r\n\r\n\r\n--b--\r\n"
        )
    }

    @Test func aBodyHasABoundaryOfItsOwn() throws {
        let form: [EndpointBody.Part] = [.field("a", "b")]
        let bodies = [EndpointBody.multipart(form), .multipart(form)]
        #expect(bodies[0].contentType != bodies[1].contentType)
        for body in bodies {
            let boundary = try #require(body.contentType.split(separator: "=").last)
            #expect(body.contentType.hasPrefix("multipart/form-data; boundary="))
            #expect(boundary.utf8.count <= 70)
            #expect(body.data == EndpointBody.encoded(form, boundary: String(boundary)))
        }
    }
}
