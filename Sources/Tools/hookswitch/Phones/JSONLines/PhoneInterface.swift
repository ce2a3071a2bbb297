import Foundation
import Primitives
import Runtime
import SIP
import UserAgent
import Workbench

/// The interface by which a program drives a telephone of ours: it reads lines of what happens, and writes lines of what it wants.
struct PhoneInterface: Sendable {
    let lines: PhoneLines
    private let input: Int32

    /// For the help of commands that have one.
    static let help = """
        With --json-lines each line has the name of the event, the time, milliseconds since the start, the Call-ID and our number for the \
        call. Commands on standard input, one a line: digits 12#, hold, resume, transfer sip:1003@example.test, mute, unmute, hangup, \
        quit; behind them the number of the call where several are up. One that cannot be done is told as the event refused, and nothing \
        is lost. The end of standard input ends nothing.
        """

    /// Methods that a telephone has to allow besides the usual: for the progress of a transfer, and for texts.
    static let methods: [SIP.Method] = [.notify, .message]

    /// - Parameter input: where commands come from.
    init(_ lines: PhoneLines, input: Int32 = STDIN_FILENO) { (self.lines, self.input) = (lines, input) }

    /// Hears of everything; on the client's lane, before its first event.
    func attach(to client: LoadClient) {
        client.phone.onMessage = { [lines, unowned client] message, now in lines.hear(message, of: client, at: now) }
    }

    /// Takes commands from here on.
    ///
    /// - Parameters:
    ///   - answers: the telephone takes calls.
    ///   - quit: ends everything in good order.
    func begin(_ phone: LivePhone<LoadClient>, answers: Bool, quit: @escaping @Sendable () -> Void) {
        CommandReader.begin(input) { [lines] line in
            switch line {
            case .tooLong(let text):
                lines.refuse(text, RefusedOrder(reason: "a line has \(CommandLines.longest) bytes at most", nearest: "quit"))
            case .text(let text):
                do throws(RefusedOrder) {
                    let order = try PhoneOrder(parsing: text, answers: answers)
                    if order.command == .quit { return quit() }
                    phone.post { client, now in
                        do throws(RefusedOrder) { try order.perform(by: client, at: now) } catch { lines.refuse(text, error, at: now) }
                    }
                } catch { lines.refuse(text, error) }
            }
        }
    }
}

extension PhoneLines {
    func refuse(_ command: String, _ refusal: RefusedOrder, at now: Instant = MonotonicClock.now) {
        tell(.refused, of: refusal.call, at: now) { ($0.command, $0.reason, $0.nearest) = (command, refusal.reason, refusal.nearest) }
    }
}
