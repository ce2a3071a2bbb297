extension LineKey {
    /// The keys of an entry of `webhooks`.
    static let webhook: [LineKey] = [
        LineKey("name", "text", .needed, "names it: up to 32 letters, digits, `-` and `_`"),
        LineKey("url", "https://…", .needed, "the address that events are posted to"),
        LineKey(
            "secret", "whsec_…|[…]", .unset("needed without `secret-file`"),
            "the key that signs: `whsec_` and 24 to 64 bytes in base64; with several each signs, while receivers change"),
        LineKey("secret-file", "file|[…]", .unset("none"), "files whose one line is such a key each, as a mounted secret"),
        LineKey("types", "types", .unset("all"), "types of events, as `[call.*, violation]`"),
        LineKey("lines", "numbers", .unset("all, and what concerns no line"), "lines whose events it gets"),
        LineKey("timeout", "seconds", .value("10"), "how long an answer may take: 1 to 60"),
    ]
}
