import Primitives
import Testing

@Suite struct TextTests {
    @Test func `texts compare and hash by their bytes, wherever these lie`() {
        let whole = Text("xVia: Via")
        let slice = Text(whole.bytes[1..<4])
        #expect(slice == "Via" && Text(whole.bytes[6...]) == slice && slice.hashValue == Text("Via").hashValue)
        #expect(Text("Via") != "via" && Text("Via") != "Vi" && Text("Vi") != "Via")
        #expect(Set([slice, "Via", Text(Array("Via".utf8))]).count == 1)
        #expect(Text("é") != Text("e\u{301}"), "bytes, and not characters")
    }

    @Test(arguments: [("Via", "vIA", true), ("", "", true), ("a", "", false), ("[", "{", false), ("@", "`", false), ("É", "é", false)])
    func `case is folded for ASCII letters alone`(one: String, other: String, isEqual: Bool) {
        #expect(Text(one).equalsIgnoringCase(Text(other)) == isEqual)
        #expect((Text(one).lowercased == Text(other).lowercased) == isEqual)
    }

    @Test(arguments: 0...255 as ClosedRange<UInt8>) func `a byte folds, and is a digit, as the ASCII table says`(byte: UInt8) {
        let character = Character(Unicode.Scalar(byte))
        let isUpper = byte < 0x80 && character.isUppercase
        #expect(asciiLowercased(byte) == (isUpper ? Character(character.lowercased()).asciiValue : byte))
        #expect(Text([byte]).lowercased.bytes.first == asciiLowercased(byte))
        #expect(hexadecimalDigit(byte) == (byte < 0x80 ? character.hexDigitValue.map { UInt8($0) } : nil))
    }

    @Test(arguments: [
        (" a b\r\n", "a b"), ("\t\r\n a", "a"), ("a", "a"), ("", ""), (" \t\r\n", ""), ("\u{B}a\u{0}", "\u{B}a\u{0}"),
    ])
    func `spaces, tabs, CR and LF are trimmed, and nothing else`(text: String, trimmed: String) {
        #expect(Text(text).trimmed == Text(trimmed))
        #expect(Text(Text("x" + text + "x").bytes.dropFirst().dropLast()).trimmed == Text(trimmed), "within a longer text")
    }

    @Test(arguments: [("abc", "", true), ("abc", "abc", true), ("abc", "ab", true), ("abc", "abcd", false), ("abc", "Ab", false)])
    func `a prefix counts by its bytes`(text: String, prefix: String, isPrefix: Bool) {
        #expect(Text(text).hasPrefix(Text(prefix)) == isPrefix)
    }

    @Test func `texts join, print and are copied`() {
        #expect(Text("a") + "bc" == "abc" && Text.empty + Text.empty == "" && Text.empty.isEmpty && Text("abc").count == 3)
        #expect(Text([0x61, 0xFF]).description == "a\u{FFFD}")
        let slice = Text(Text("abc").bytes[1...])
        #expect(slice.detached == slice && slice.detached.bytes.startIndex == 0 && slice.bytes.startIndex == 1)
    }

    @Test(
        arguments: [
            ("0", 0), ("65535", 65_535), ("0000000000065535", 65_535), ("65536", nil), ("655350", nil), ("99999999999999999999999", nil),
            ("", nil), ("+1", nil), ("-1", nil), ("1 ", nil), (" 1", nil), ("1a", nil), ("/", nil), (":", nil), ("１", nil),
        ] as [(String, UInt16?)])
    func `an integer is decimal digits alone, within the bounds of its type`(text: String, value: UInt16?) {
        #expect(Text(text).integer(UInt16.self) == value)
    }

    @Test func `an integer reaches the greatest of every type, and no further`() {
        func check<Number: FixedWidthInteger>(_ type: Number.Type) {
            #expect(Text(String(Number.max)).integer(type) == Number.max)
            #expect(Text(String(Number.max) + "0").integer(type) == nil)
            #expect(Text(String(Int128(Number.max) + 1)).integer(type) == nil)
        }
        check(UInt8.self)
        check(Int8.self)
        check(Int32.self)
        check(UInt64.self)
        check(Int.self)
    }

    @Test func `a number is written as String writes it`() {
        var random = SeededRandom(seed: 7), numbers = [0, 9, 10, 99, 100, -1, -10, Int.max, Int.min]
        for digits in 1...63 { numbers.append(Int(bitPattern: UInt(random.next() >> UInt64(digits))) * (digits % 2 == 0 ? -1 : 1)) }
        for number in numbers {
            var bytes = Array("x".utf8)
            bytes.append(decimal: number)
            #expect(String(decoding: bytes, as: UTF8.self) == "x\(number)")
            #expect(Text(number).description == "\(number)")
        }
        #expect(Text(UInt64.max) == "18446744073709551615" && Text(UInt8.max) == "255" && Text(Int8.min) == "-128")
        #expect(Text(UInt128.max).description == "\(UInt128.max)" && Text(Int128.min).description == "\(Int128.min)")
    }
}
