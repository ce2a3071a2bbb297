import Foundation
import Primitives
import RTP
import SIP
import Testing

@testable import hookswitch

/// Commands of a program, as they come.
@Suite struct PhoneOrderTests {
    private static func uri(_ text: String) -> URI { try! URI(parsing: Text(text)) }

    private static let orders: [(String, PhoneCommand, UInt64?)] = [
        ("digits 12#", .digits("12#".compactMap(DTMFDigit.init)), nil), ("digits *aD 7", .digits("*AD".compactMap(DTMFDigit.init)), 7),
        ("digits 1 2", .digits([DTMFDigit("1")!]), 2),
        ("hold", .hold, nil), ("resume 3", .resume, 3), ("transfer sip:1003@example.test", .transfer(uri("sip:1003@example.test")), nil),
        ("transfer tel:+15550100 2", .transfer(uri("tel:+15550100")), 2), ("mute", .mute, nil), ("unmute 1", .unmute, 1),
        ("hangup", .hangUp, nil), ("  hangup   2 ", .hangUp, 2),
        ("answer", .answer, nil), ("reject 486", .reject(486), nil), ("reject 603 4", .reject(603), 4), ("quit", .quit, nil),
    ]

    @Test(arguments: orders)
    func `a command is read, with the number of its call`(line: String, command: PhoneCommand, call: UInt64?) throws {
        let order = try PhoneOrder(parsing: line, answers: true)
        #expect(order.command == command && order.call == call)
    }

    @Test(arguments: [
        ("hodl", "there is no command 'hodl'", "hold"), ("anwser", "there is no command 'anwser'", "answer"),
        ("xyzzyxyzzy", "there is no command 'xyzzyxyzzy'", "quit"), ("Digits 1", "there is no command 'Digits'", "digits 12#"),
        ("digits", "'digits' takes up to 100 keys of 0-9, *, # and A-D", "digits 12#"),
        ("digits 12x", "'digits' takes up to 100 keys of 0-9, *, # and A-D", "digits 12#"),
        ("hold 0", "'hold' takes no value and the number of a call, got 'hold 0'", "hold"),
        ("hold one", "'hold' takes no value and the number of a call, got 'hold one'", "hold"),
        ("hold 1 2", "'hold' takes no value and the number of a call, got 'hold 1 2'", "hold"),
        ("digits 1 2 3", "'digits' takes one value and the number of a call, got 'digits 1 2 3'", "digits 12#"),
        ("transfer", "'transfer' takes a URI of SIP", "transfer sip:1003@example.test"),
        ("transfer 1003", "'transfer' takes a URI of SIP", "transfer sip:1003@example.test"),
        ("transfer https://example.test", "'transfer' takes a URI of SIP", "transfer sip:1003@example.test"),
        ("reject", "'reject' takes a status from 300 to 699", "reject 486"),
        ("reject 200", "'reject' takes a status from 300 to 699", "reject 486"),
    ])
    func `a command that is none says so, with the nearest one`(line: String, reason: String, nearest: String) {
        #expect(throws: RefusedOrder(reason: reason, nearest: nearest)) { try PhoneOrder(parsing: line, answers: true) }
    }

    @Test func `who makes a call answers none`() {
        for line in ["answer", "reject 486"] {
            let name = line.prefix(6).trimmingCharacters(in: .whitespaces)
            let refusal = RefusedOrder(reason: "'\(name)' is for calls that come in", nearest: "hangup")
            #expect(throws: refusal) { try PhoneOrder(parsing: line, answers: false) }
        }
        let mistyped = RefusedOrder(reason: "there is no command 'anwser'", nearest: "quit")
        #expect(throws: mistyped) { try PhoneOrder(parsing: "anwser", answers: false) }
    }

    /// Each is offered to a program as one that can be done.
    @Test func `every command that is named as the nearest can be read`() throws {
        for word in ["digits", "transfer", "reject", "anwser", "hodl", "hangpu", "unmut", "resum", "mut", "quti"] {
            let refusal = try #require(throws: RefusedOrder.self) { try PhoneOrder(parsing: word, answers: true) }
            _ = try PhoneOrder(parsing: refusal.nearest, answers: true)
        }
    }

    @Test(arguments: 1...9) func `lines are cut wherever the pieces end`(size: Int) {
        var lines = CommandLines(), cut: [CommandLines.Line] = []
        let bytes = Array("hold\r\n\n  digits 12#  \nquit".utf8)
        for start in stride(from: 0, to: bytes.count, by: size) { cut += lines.take(bytes[start..<min(start + size, bytes.count)]) }
        #expect(cut + lines.finish() == [.text("hold"), .text("digits 12#"), .text("quit")])
        #expect(lines.finish() == [], "the end is told once")
    }

    @Test func `a line that is too long is no command, and the next one is`() {
        var lines = CommandLines()
        let flood = lines.take(Array(repeating: UInt8(ascii: "x"), count: 1_000_000)), cut = lines.take(Array("\nhold\n".utf8))
        #expect(flood == [] && cut == [.tooLong(String(repeating: "x", count: 40)), .text("hold")])
    }

    @Test func `what is no text is no trap`() {
        var lines = CommandLines()
        #expect(lines.take([0xFF, 0xFE, 0x00, 0x0A]).count == 1)
    }
}
