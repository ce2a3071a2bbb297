import Primitives
import SIP
import Testing

@testable import Gateway

/// Which number a URI names, whatever way it is written (RFC 3261 §19.1.6, RFC 3966, RFC 4694, RFC 4904).
@Suite struct DialledNumberTests {
    private static let routing = Routing(["1002", "10-03", "1004;x"].map { LineConfiguration(number: $0) })

    @Test(arguments: [
        ("sip:1002@a.test;user=phone", "1002"), ("sip:1002;npdi@a.test;user=phone", "1002"),
        ("sip:1002;rn=+15551234;npdi@a.test;USER=Phone", "1002"),
        ("sips:1002;phone-context=+1@a.test;user=phone", "1002"), ("sip:10-02@a.test;user=phone", "1002"),
        ("sip:1-(0).02@a.test;user=phone", "1002"),
        ("sip:+1-212-555-0101;cpc=payphone@a.test;user=phone", "+12125550101"), ("sip:*31%2310-02@a.test;user=phone", "*31#1002"),
        ("tel:10-02;npdi", "1002"),
        ("sip:1002;tgrp=tg1;trunk-context=x@a.test", "1002"), ("sip:%31002%3Bx=y@a.test", "1002"),
    ])
    func `a telephone number is one by whatever spelling`(uri: String, number: Text) throws {
        let uri = try URI(parsing: Text(uri))
        #expect(Self.routing.namedNumber(uri) == number && Self.routing.dialledNumber(uri) == (uri.escapesReserved ? nil : number))
    }

    @Test(arguments: ["sip:1002%3Bzz@a.test", "sip:%31002%3bx=y@a.test", "sip:1002%2C@a.test", "sip:1002%3f@a.test"])
    func `an escape that would end the number is part of it, and nobody has that number`(uri: String) throws {
        #expect(Self.routing.dialledNumber(try URI(parsing: Text(uri))) == nil)
    }

    @Test(arguments: [
        ("sip:10-02@a.test", "10-02"), ("sip:10-03@a.test", "10-03"), ("sip:10-03@a.test;user=phone", "10-03"),
        ("sip:1004;x@a.test", "1004;x"),
        ("sip:ann-marie;day=monday@a.test", "ann-marie;day=monday"), ("sip:ann.lee@a.test;user=phone", "ann.lee"),
        ("sip:;x@a.test;user=phone", ";x"),
        ("sip:1002@a.test;user=ip", "1002"),
    ])
    func `a name is no number, and a line has the name that it has`(uri: String, number: Text) throws {
        #expect(Self.routing.dialledNumber(try URI(parsing: Text(uri))) == number)
    }

    @Test(arguments: ["tel:-", "tel:();isub=3", "sip:-@a.test;user=phone", "sip:().;x=y@a.test;user=phone", "sip:%2D@a.test;user=phone"])
    func `nothing but separators is nobody's number`(uri: String) throws {
        let uri = try URI(parsing: Text(uri))
        #expect(Self.routing.namedNumber(uri) == nil && Self.routing.dialledNumber(uri) == nil && Self.routing.callerNumber(uri) == nil)
    }

    @Test(arguments: [
        ("sip:+1-212-555-0101@a.test;user=phone", "+12125550101"),
        ("sip:%2B12125550101;cpc=payphone;oli=0@a.test;user=phone", "+12125550101"),
        ("sip:1004;y=z@a.test", "1004"), ("sip:a%3Eb@a.test", "a%3Eb"), ("sip:ann.lee@a.test", "ann.lee"), ("tel:+1-2;isub=3", "+12"),
    ])
    func `a caller is named by its number alone`(uri: String, number: Text) throws {
        #expect(Self.routing.callerNumber(try URI(parsing: Text(uri))) == number)
    }
}
