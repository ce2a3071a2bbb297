import Primitives
import SIP
import Testing

@testable import Gateway

/// Which line a number reaches. `DialledNumberTests` has the number that a URI names.
@Suite struct RoutingTests {
    /// Lines by number, pattern and domain, in the order of the configuration file.
    private static func routing(_ lines: [(number: Text, match: Text?, domain: Text?)]) -> Routing {
        Routing(
            lines.map { number, match, domain in
                var line = LineConfiguration(number: number)
                (line.match, line.domain) = (match.flatMap { NumberPattern($0) }, domain)
                return line
            })
    }

    private static let routing = routing([
        ("1001", nil, nil), ("trunk", "0*", nil), ("abroad", "00*", nil), ("italy", "0039*", nil), ("1002", "10..", nil),
        ("acme", "2*", "acme.test"), ("all-of-acme", nil, "acme.test"), ("2001", nil, nil), ("3001", nil, "acme.test"),
    ])

    @Test(
        arguments: [
            ("1001", nil, 0), ("1002", nil, 4), ("1003", nil, 4), ("10033", nil, nil), ("0301", nil, 1), ("0044", nil, 2),
            ("0039055", nil, 3),
            ("0039055", "other.test", 3), ("4711", nil, nil), ("4711", "other.test", nil), ("", nil, nil),
            // A domain has its own lines first, and takes what no line has.
            ("2001", nil, 7), ("2001", "acme.test", 7), ("2002", "ACME.test", 5), ("2002", nil, nil), ("4711", "acme.test", 6),
            ("0301", "acme.test", 6), ("3001", "acme.test", 8), ("3001", "other.test", nil), ("3001", nil, nil),
            ("trunk", nil, 1),
        ] as [(Text, Text?, Int?)])
    func `the number comes first, then the domain, then the longest pattern`(number: Text, host: Text?, line: Int?) {
        #expect(Self.routing.line(for: number, host: host) == line)
    }

    @Test(arguments: [("1002", 4), ("1003", nil), ("3001", 8), ("italy", 3)] as [(Text, Int?)])
    func `by its number alone a line is found in any domain, and no pattern counts`(number: Text, line: Int?) {
        #expect(Self.routing.line(numbered: number) == line)
    }

    @Test func `without lines nobody is reached`() {
        #expect(Self.routing([]).line(for: "1001", host: nil) == nil && Self.routing([]).line(numbered: "1001") == nil)
    }

    @Test(
        arguments: [
            ("sip:a%25b@h", nil), ("sip:a%00b@h", nil), ("sip:a%7Fb@h", nil), ("sip:h", nil), ("mailto:a@h", nil), ("sips:1001@h", "1001"),
        ]
            as [(Text, Text?)])
    func `a number without control characters and percent signs can be had`(uri: Text, number: Text?) throws {
        #expect(Self.routing.namedNumber(try URI(parsing: uri)) == number)
    }
}
