import Primitives
import Testing

@Suite struct ICECredentialsTests {
    private static let password = "0123456789abcdefghijkl"

    @Test(arguments: [
        ("abcd", password, true), ("AZ+/", password, true), (String(repeating: "u", count: 256), String(repeating: "p", count: 256), true),
        ("abc", password, false), ("abcd", String(password.dropLast()), false), (String(repeating: "u", count: 257), password, false),
        ("abcd", String(repeating: "p", count: 257), false), ("ab d", password, false), ("abc-", password, false),
        ("abcé", password, false),
        ("abcd", String(password.dropLast()) + "=", false), ("", "", false),
    ])
    func `user and password have the letters and the lengths of RFC 8839`(user: String, password: String, areValid: Bool) {
        let credentials = ICECredentials(user: Text(user), password: Text(password))
        #expect((credentials != nil) == areValid)
        if let credentials { #expect(credentials.user == Text(user) && credentials.password == Text(password)) }
    }

    /// RFC 8445 §5.3: at least 24 bits of randomness for the user, 128 for the password.
    @Test func `new ones are valid, and their letters come from the source of chance`() throws {
        var random = SeededRandom(seed: 7), again = SeededRandom(seed: 7), letters: Set<UInt8> = [], users: Set<Text> = []
        for _ in 0..<200 {
            let made = ICECredentials(using: &random)
            #expect(made.user.count == 4 && made.password.count == 22)
            #expect(ICECredentials(user: made.user, password: made.password) == made && ICECredentials(using: &again) == made)
            letters.formUnion(made.user.bytes + made.password.bytes)
            users.insert(made.user)
        }
        #expect(letters.count == 64 && users.count == 200)
    }

    @Test func `the password is in no description`() throws {
        let credentials = try #require(ICECredentials(user: "abcd", password: Text(Self.password)))
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(text.contains("abcd") && !text.contains(Self.password))
        }
    }
}
