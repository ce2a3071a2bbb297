/// Numbers at the bounds of integers, and with more digits than any has.
enum Boundaries {
    static let texts: [[UInt8]] = [
        "0", "-1", "1", "00", "+1", "0x10", "1e9", "3.5", "127", "128", "255", "256", "999", "1000", "32767", "32768", "65535", "65536",
        "2147483647", "2147483648",
        "-2147483648", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "18446744073709551615",
        "18446744073709551616", String(repeating: "9", count: 400), String(repeating: "0", count: 3_000) + "1",
    ].map { Array($0.utf8) }

    static let words: [UInt64] = [
        0, 1, 2, 3, 4, 7, 8, 0x1F, 0x20, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
        0x7FFF_FFFF_FFFF_FFFF,
        0x8000_0000_0000_0000, .max,
    ]
}
