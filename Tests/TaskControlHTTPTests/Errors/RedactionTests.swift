import Foundation
import Testing

@testable import TaskControlHTTP

/// That a credential of a response's body is not in the text of an error.
@Suite(.timeLimit(.minutes(15)))
struct RedactionTests {
    /// All credentials are `hush` in one form or another.
    @Test(arguments: [
        // By name, in JSON.
        #"{"refresh": "hush1", "access": "hush2", "user": "ann"}"#,
        #"{"type": "service_account", "private_key": "hush", "client": "ann"}"#,
        #"{"pwd": "hush"}"#, #"{"auth": "hush"}"#, #"{"bearer": "hush"}"#, #"{"otp": "hush", "x": 1}"#,
        #"{"passphrase": "correct hush"}"#, #"{"key": "hush"}"#, #"{"apiKey": "hush"}"#, #"{"X-Auth": "hush"}"#,
        #"{"to\u006ben": "hush"}"#, #"{"\u0074oken" : "hush"}"#,
        #"{'token': 'hush', 'user': 'ann'}"#, #"{"token": 'hush'}"#, #"{token: "hush"}"#,
        #"{"name": "token", "value": "hush"}"#, #"{"value": "hush", "key": "Authorization"}"#,
        #"{"message": "{\"password\": \"hush\", \"user\": \"ann\"}"}"#,
        #"{"message": "{\\\"password\\\": \\\"hush\\\"}"}"#,
        #"{"token": "a\"hush"}"#, #"{"tokens": [{"a": "hush"}], "b": "hush"}"#, #"{"token": "hush"#, #"{"pass":hush}"#,
        // By name, elsewhere.
        "<token>hush</token>", "<wsse:Password Type=\"x\">hush</wsse:Password>", "<token><![CDATA[hush]]></token>",
        "<credentials><user>ann</user><x>hush</x></credentials>", "<access_token>hush", #"<a token="hush"/>"#,
        #"<input type="hidden" name="csrf" value="hush">"#, #"<input value="hush" name='_token'>"#,
        "token: hush", "Invalid password: correct hush battery", "token = hush", "token = correct hush",
        "password=hush&user=ann",
        "user=ann;pwd=hush;", "db_password:\n  hush", "secret: |\n  hush\n  hush", "api_key => hush", "auth := hush",
        "Cookie: a=1; b=hush", "Set-Cookie: a=hush; Path=/", "X-Auth-Key: hush, hush",
        // By shape.
        "Authorization: Bearer hush", "it says Bearer hush, which is bad", "it says basic aHVzaDpodXNo",
        #"{"sent": "Bearer hush"}"#, #"["Authorization", "Bearer hush"]"#,
        "eyJhbGciOiJIUzI1NiJ9.eyJodXNoIjoxfQ.hush", #"{"data": "eyJhbGciOiJIUzI1NiJ9.hush"}"#,
        "token eyJhbGciOiJIUzI1NiJ9hush",
        "-----BEGIN RSA PRIVATE KEY-----\nhush\nhush\n-----END RSA PRIVATE KEY-----",
        #"{"pem": "-----BEGIN PRIVATE KEY-----\nhush\nhu-sh"}"#, "-----BEGIN CERTIFICATE-----\nhush",
    ])
    func aCredentialIsNotShown(_ body: String) throws {
        let shown = try excerpt(of: body)
        #expect(
            !shown.contains("hush") && !shown.contains("hu-sh") && !shown.contains("aHVz") && !shown.contains("eyJ")
        )
        #expect(shown.contains("…"))
    }

    @Test(arguments: [
        #"{"error": "try later", "code": 17, "id": "b7"}"#, #"{"author": "Mary", "title": "Monkeys and keyboards"}"#,
        #"{"message": "a \"quoted\" word", "path": "/a=b"}"#, "<error><code>17</code><author>Mary</author></error>",
        "line 3: unexpected '}'", #"{"name": "title", "value": "Emma"}"#, "a=1&b=2", "https://h/a?b=c#d", "50 % of 2",
        #"{"errors": [{"field": "title", "message": "is missing"}]}"#, "it's Ann's book: \"Emma\"",
        #"{"name": "Emma", "value": 12, "accessible": true, "refreshed": false}"#,
    ])
    func whatIsNoCredentialIsShown(_ body: String) throws {
        #expect(try excerpt(of: body) == body)
    }

    @Test(arguments: [
        #"{"access_token": "hush", "user": "ann"}"#: #"{"access_token": …, "user": "ann"}"#,
        #"{'pwd': 'hush', 'user': 'ann'}"#: "{'pwd': …, 'user': 'ann'}",
        "<a><token>hush</token><user>ann</user></a>": "<a><token>…</token><user>ann</user></a>",
        "user=ann&pwd=hush&page=2": "user=ann&pwd=…&page=2",
        "token: hush\nuser: ann": "token: … user: ann",
        "Bearer hush was sent by ann": "Bearer … was sent by ann",
        #"{"name": "token", "value": "hush", "user": "ann"}"#: #"{"name": "token", "value": …, "user": "ann"}"#,
    ])
    func whatIsBesideACredentialStays(_ body: String, _ shown: String) throws {
        #expect(try excerpt(of: body) == shown)
    }

    @Test(arguments: [200, 201, 204, 299])
    func theBodyOfASuccessIsNotShown(_ status: Int) throws {
        let response = try response(status)
        for error in [EndpointError(.content), EndpointError(.status), EndpointError(.transport)] {
            let error = error.completed(request: nil, response: response, data: Data("whatever it is".utf8))
            #expect(error.bodyPrefix == nil && !"\(error)".contains("whatever"))
        }
    }

    @Test func aKeyInAnErrorOfTheDecoderIsNotShown() throws {
        let body = Data(#"{"eyJhbGciOiJIUzI1NiJ9.hush": {"a": "not a number"}}"#.utf8)
        let error = try #require(throws: EndpointError.self) {
            try EndpointError.decode([String: [String: Int]].self, from: body, with: JSONDecoder())
        }
        #expect(!"\(error)".contains("hush"))
    }

    @Test func noKeyOfABodyIsInTheErrorOfADecoder() throws {
        struct Shelf: Decodable {
            let booksByName: [String: Int]
        }
        /// A key of any text.
        struct AnyKey: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        struct Dynamic: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: AnyKey.self)
                for key in container.allKeys { _ = try container.decode(Int.self, forKey: key) }
                let missing = container.allKeys.map { AnyKey(stringValue: $0.stringValue + "2") }
                for key in missing { _ = try container.decode(Int.self, forKey: key) }
            }
        }
        let snakes = JSONDecoder()
        snakes.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try text(Shelf.self, #"{"booksByName": {"hush": "x"}}"#) == "Int was expected at booksByName.…")
        #expect(try text(Shelf.self, #"{"books_by_name": {"hush": null}}"#, snakes).hasSuffix(" at booksByName.…"))
        #expect(try text([String: [Int]].self, #"{"hush": [1, "x"]}"#) == "Int was expected at ….[1]")
        #expect(try text(Dynamic.self, #"{"hush": "x"}"#) == "Int was expected at …")
        #expect(try text(Dynamic.self, #"{"hush": 1}"#) == "a key is missing")
        #expect(try text(Shelf.self, "{}") == #"the key "booksByName" is missing"#)
    }

    private struct Wrapped: Error { let error: (any Error)? }

    private func text<Content: Decodable>(
        _ type: Content.Type,
        _ body: String,
        _ decoder: JSONDecoder = JSONDecoder()
    ) throws -> String {
        let error = try #require(throws: EndpointError.self) {
            try EndpointError.decode(type, from: Data(body.utf8), with: decoder)
        }
        for text in ["\(error)", error.localizedDescription, String(reflecting: error), error.eventText] {
            #expect(!text.contains("hush"))
        }
        // An error of an application that contains the one of the decoder.
        let wrapped = "\(EndpointError(.content, underlyingError: Wrapped(error: error.underlyingError)))"
        #expect(!wrapped.contains("hush"))
        return error.description.replacingOccurrences(of: "the body has unexpected content: ", with: "")
    }

    @Test func noValueIsInTheErrorOfAnEncoder() throws {
        struct Login: Encodable { let hushed = Double.nan }
        let error = try #require(throws: EncodingError.self) { try JSONEncoder().encode(Login()) }
        let text = EndpointError(.request, underlyingError: error).description
        #expect(text == "the request can't be sent: a value of the type Double can't be encoded at hushed")
    }

    /// The forms in which a server repeats a credential of the request.
    @Test(arguments: [
        ["Authorization": "Bearer Hush/1234+5678"], ["X-API-Key": "Hush/1234+5678"],
        ["Authorization": "Basic " + Data("ann:Hush/1234+5678".utf8).base64EncodedString()],
    ])
    func aCredentialThatIsRepeatedIsNotShown(_ headers: [String: String]) throws {
        struct Chatty: Error, CustomStringConvertible { let description: String }
        var request = URLRequest(url: URL(string: "http://h")!)
        request.allHTTPHeaderFields = headers
        let secret = "Hush/1234+5678"
        let base64 = Data(secret.utf8).base64EncodedString()
        for repeated in [secret, secret.uppercased(), secret.lowercased(), base64, "Hush%2F1234%2B5678"] {
            for error in [
                EndpointError(.status, detail: "it says \(repeated)"),
                EndpointError(.status, underlyingError: Chatty(description: "it says \(repeated)")),
                EndpointError(.status),
            ] {
                let body = Data("it says \(repeated).".utf8)
                let complete = error.completed(request: request, response: try response(400), data: body)
                for text in [complete.description, complete.eventText] {
                    #expect(!text.contains(repeated), "\(text)")
                }
            }
        }
    }

    private static func escaped(_ text: String, _ format: String) -> String {
        text.utf8.map { String(format: format, $0) }.joined()
    }

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    /// The forms of a credential that `EndpointError` promises not to show, and combinations of them.
    private static let forms: [@Sendable (String) -> String] = [
        { $0 }, { $0.uppercased() }, { $0.lowercased() }, { base64($0) },
        { $0.replacingOccurrences(of: "/", with: "%2F").replacingOccurrences(of: "+", with: "%2b") },
        { escaped($0, "%%%02X") }, { escaped($0, "%%%02x") },
        { $0.prefix(3) + escaped(String($0.dropFirst(3)), "%%%02x") },
    ]

    @Test(arguments: forms.indices, forms.indices)
    func aCredentialThatIsEncodedTwiceIsNotShownEither(_ first: Int, _ second: Int) throws {
        let secret = "Hush/1234+5678"
        var request = URLRequest(url: URL(string: "http://h")!)
        request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization")
        let repeated = Self.forms[second](Self.forms[first](secret))
        for text in ["it says \(repeated).", "it says a%20\(repeated)%20b, 100% sure %"] {
            let error = EndpointError(.status)
                .completed(request: request, response: try response(400), data: Data(text.utf8))
            #expect(error.bodyPrefix == text.replacingOccurrences(of: repeated, with: "…"))
        }
    }

    @Test(arguments: forms.indices)
    func theBeginningOfAnEncodedCredentialAtTheEndOfAnExcerptIsNotShown(_ form: Int) throws {
        let secret = "Hush/1234+5678"
        var request = URLRequest(url: URL(string: "http://h")!)
        request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization")
        let repeated = Self.forms[form](secret)
        // Cut off anywhere, also within an escape.
        for count in 4 * repeated.utf8.count / secret.utf8.count..<repeated.utf8.count {
            let body = String(repeating: ".", count: 512 - count) + repeated + String(repeating: ".", count: 70_000)
            let error = EndpointError(.status)
                .completed(request: request, response: try response(400), data: Data(body.utf8))
            let shown = error.bodyPrefix.map { $0.prefix { $0 != "…" } }
            #expect(shown?.allSatisfy { $0 == "." } == true, "\(repeated.prefix(count)): \(shown ?? "")")
        }
    }

    @Test(arguments: ["100%", "%", "%4", "%zz", "a%20b", "%F0%9F", "é%C3%A9…"])
    func otherTextStaysAsItIs(_ text: String) {
        #expect(Redaction.text(text, without: ["hush1234"]) == text)
    }

    /// A pattern that can be read in several ways would not return within the time limit of the suite.
    ///
    /// The texts are built here: a test runner prints each argument of a test.
    @Test(arguments: [
        ("<token>", "<![CDATA[]]>", 42),
        ("<token><![CDATA[ hush ]]><![CDATA[", "", 0),
        ("", "<token ", 10_000),
        ("<", "a", 1_000_000),
        ("", "name:", 100_000),
    ])
    func aTextOfAnyShapeIsReadInItsTime(_ start: String, _ part: String, _ count: Int) {
        let text = start + String(repeating: part, count: count)
        #expect(!Redaction.withoutCredentials(in: text).contains("hush"))
    }

    @Test(arguments: ["user[password]=hush", "user%5Bpassword%5D=hush", "<a:token>\n hush </a:token><b>shown</b>"])
    func aNameMayHaveBracketsOrAPrefix(_ text: String) {
        let shown = Redaction.withoutCredentials(in: text)
        #expect(!shown.contains("hush"))
        #expect(text.contains("shown") == shown.contains("shown"))
    }

    @Test func theTextOfAnUnderlyingErrorHasNoCredential() {
        struct Chatty: Error { let said = "Authorization: Bearer hush" }
        #expect(!"\(EndpointError(.transport, underlyingError: Chatty()))".contains("hush"))
    }

    private func excerpt(of body: String) throws -> String {
        let error = EndpointError(.status).completed(request: nil, response: try response(500), data: Data(body.utf8))
        #expect(!"\(error)".contains("hush") || !body.contains("hush"))
        return try #require(error.bodyPrefix)
    }

    private func response(_ status: Int) throws -> HTTPURLResponse {
        try #require(
            HTTPURLResponse(url: URL(string: "http://h")!, statusCode: status, httpVersion: nil, headerFields: nil)
        )
    }
}
