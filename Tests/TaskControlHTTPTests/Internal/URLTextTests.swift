import Foundation
import TestSupport
import Testing

@testable import TaskControlHTTP

/// Texts of servers and users that become URLs.
@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct URLTextTests {
    /// Each of these has an escape, and a character that must be escaped.
    @Test(arguments: [
        ("/My%20Report (final)|v2.pdf", "/My%20Report%20(final)%7Cv2.pdf"), ("/a%20b[1]", "/a%20b%5B1%5D"),
        ("/a%2Fb?q=%26 c", "/a%2Fb?q=%26%20c"), ("?q[]=%20", "?q%5B%5D=%20"), ("/%20#a b#c", "/%20#a%20b%23c"),
        ("/%E9t%E9 é", "/%E9t%E9%20%C3%A9"), ("/%zz%20", "/%25zz%20"), ("/a\\b%20", "/a%5Cb%20"),
        ("http://h/%20\"<>^`{}", "http://h/%20%22%3C%3E%5E%60%7B%7D"),
        ("http://[::1]:8080/[%20]", "http://[::1]:8080/%5B%20%5D"),
        ("http://b\u{FC}cher.example:80/%20 ", "http://xn--bcher-kva.example:80/%20%20"),
        ("http://u:p%40@b\u{FC}cher.example/%20\u{E9}", "http://u:p%40@xn--bcher-kva.example/%20%C3%A9"),
        ("//b\u{FC}cher.example/x", "//xn--bcher-kva.example/x"),
        ("42:cancel", "./42:cancel"), ("a_b:cancel/%20 ", "./a_b:cancel/%20%20"), ("a:b", "a:b"), (":x", "./:x"),
    ])
    func anEscapeStays(_ text: String, _ expected: String) {
        #expect(URL(escaping: text)?.relativeString == expected)
        #expect(text.urlEscaped.urlEscaped == text.urlEscaped)
    }

    @Test(arguments: [
        "http://a b/", "http://h:port/", "http://h[/", "http://h^x/", "", "http://u@[::1/", "http://a\\b/",
        "http://h%zz/",
    ])
    func aTextThatIsNoURLIsNone(_ text: String) {
        #expect(URL(escaping: text) == nil)
    }

    /// Every text of a few characters: what is escaped is never escaped again, and the result is the URL that it says.
    @Test func noTextIsEscapedTwice() {
        let characters: [Character] = ["a", "/", ":", "?", "#", "%", "2", "[", " ", "@", "\u{FC}"]
        var texts = [""]
        for _ in 0..<fullSize(4, inDebug: 3) {
            texts = texts.flatMap { text in characters.map { text + String($0) } }
            for text in texts {
                let escaped = text.urlEscaped
                #expect(escaped.urlEscaped == escaped)
                guard let url = URL(escaping: text) else { continue }
                #expect(url.relativeString == escaped || url.relativeString == "./" + escaped)
            }
        }
    }

    @Test(
        arguments: [
            ("HTTP://h/X", "http://h/X"), ("HttpS://U@h/%20?A#B", "https://U@h/%20?A#B"), ("http://H/x", nil),
            ("X/y", nil),
        ] as [(String, String?)]
    )
    func aSchemeIsInLowerCase(_ text: String, _ expected: String?) throws {
        #expect(try #require(URL(string: text)).withLowercaseScheme?.absoluteString == expected)
    }
}
