import Primitives
import Testing

@Suite struct Base64Tests {
    /// RFC 4648 §10.
    static let vectors = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: vectors) func `the vectors of the RFC go both ways`(plain: String, text: String) {
        #expect(Base64.encode(plain.utf8) == Array(text.utf8))
        #expect(Base64.decode(text.utf8) == Array(plain.utf8))
        #expect(Base64.decode(text.utf8.filter { $0 != UInt8(ascii: "=") }) == Array(plain.utf8), "without padding")
        #expect(Base64.encode(Array(plain.utf8).lazy.map { $0 }) == Array(text.utf8), "from what does not lie in one piece")
    }

    @Test func `all bytes go both ways, behind what is there`() {
        let bytes = (0...255).map { UInt8($0) }
        var text = Array("x".utf8)
        Base64.encode(bytes.span, to: &text)
        #expect(text.count == 1 + 344 && text.first == UInt8(ascii: "x") && Base64.decode(text.dropFirst()) == bytes)
    }

    @Test(arguments: ["A", "AAAAA", "A===", "AAA==", "====", "AA=A", "AA A", "AAA\n", "AA-_", "ÄÄ"]) func `nonsense is none`(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }
}
