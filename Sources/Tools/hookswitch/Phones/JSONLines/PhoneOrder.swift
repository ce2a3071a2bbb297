import Console
import Primitives
import RTP
import SIP

/// One thing that a program wants of a call of ours.
enum PhoneCommand: Equatable, Sendable {
    case digits([DTMFDigit]), hold, resume, transfer(URI), mute, unmute, hangUp, quit
    /// A command to a call that rings here.
    case answer, reject(Int)
}

/// A command that cannot be done, as the program is told.
struct RefusedOrder: Error, Equatable {
    var reason: String
    /// The nearest command that can be.
    var nearest: String
    /// The call that was meant, where there is one.
    var call: UInt64?
}

/// A line of standard input: a command, and the number of its call where several may be meant.
struct PhoneOrder: Equatable, Sendable {
    var command: PhoneCommand
    var call: UInt64?

    /// The written form of each command. The first word is its name.
    private static let forms = ["digits 12#", "hold", "resume", "transfer sip:1003@example.test", "mute", "unmute", "hangup", "quit"]
    private static let formsOfCallees = ["answer", "reject 486"]

    /// - Parameter answers: of the program that takes calls, and not of the one that makes one.
    init(parsing line: String, answers: Bool) throws(RefusedOrder) {
        var words = line.split(whereSeparator: \.isWhitespace).map(String.init)[...]
        let name = words.popFirst() ?? ""
        let form = try Self.form(of: name, answers: answers)
        let argument = form.contains(" ") ? words.popFirst() : nil
        command = try Self.command(name, argument, form)
        guard let number = words.popFirst() else { return }
        guard let call = UInt64(number), call > 0, words.isEmpty else {
            let value = form.contains(" ") ? "one value" : "no value"
            throw RefusedOrder(reason: "'\(name)' takes \(value) and the number of a call, got '\(line)'", nearest: form)
        }
        self.call = call
    }

    private static func form(of name: String, answers: Bool) throws(RefusedOrder) -> String {
        let all = forms + formsOfCallees, usable = answers ? all : forms
        func word(_ form: String) -> String { String(form.prefix { $0 != " " }) }
        if let form = usable.first(where: { word($0) == name }) { return form }
        guard !all.contains(where: { word($0) == name }) else {
            throw RefusedOrder(reason: "'\(name)' is for calls that come in", nearest: "hangup")
        }
        let nearest = SpellingSuggestion.name(for: name, among: usable.map(word)).flatMap { near in usable.first { word($0) == near } }
        throw RefusedOrder(reason: "there is no command '\(name)'", nearest: nearest ?? "quit")
    }

    private static func command(_ name: String, _ argument: String?, _ form: String) throws(RefusedOrder) -> PhoneCommand {
        switch name {
        case "digits":
            let digits = argument?.compactMap(DTMFDigit.init) ?? []
            guard (1...100).contains(digits.count), digits.count == argument?.count else {
                throw RefusedOrder(reason: "'digits' takes up to 100 keys of 0-9, *, # and A-D", nearest: form)
            }
            return .digits(digits)
        case "transfer":
            guard let argument, let uri = try? URI(parsing: Text(argument)), uri.isSIP || uri.scheme == .tel else {
                throw RefusedOrder(reason: "'transfer' takes a URI of SIP", nearest: form)
            }
            return .transfer(uri)
        case "reject":
            guard let status = argument.flatMap({ Int($0) }), (300...699).contains(status) else {
                throw RefusedOrder(reason: "'reject' takes a status from 300 to 699", nearest: form)
            }
            return .reject(status)
        case "hold": return .hold
        case "resume": return .resume
        case "mute": return .mute
        case "unmute": return .unmute
        case "hangup": return .hangUp
        case "answer": return .answer
        default: return .quit
        }
    }
}
