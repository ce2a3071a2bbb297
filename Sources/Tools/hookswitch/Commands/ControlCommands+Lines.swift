import ArgumentParser
import Foundation
import HTTP

private struct LinesText: Decodable {
    struct Line: Decodable {
        struct Device: Decodable { var contact: String, agent: String?, expires: Int }
        var number: String, name: String?, kind: String, doNotDisturb: Bool, devices: [Device], calls: Int, blocked: [String]
    }
    var lines: [Line]
}

struct LinesCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "lines", abstract: "List the lines of a gateway that runs: who is registered, and which calls they have.",
        discussion: ExitStatus.sentence(exits))
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print the gateway's answer, JSON.") var json = false

    func run() throws {
        let content = try control.ask(.get, "/v1/lines")
        if json { return try StandardOutput.printExactly(String(decoding: content, as: UTF8.self)) }
        for line in try JSONDecoder().decode(LinesText.self, from: content).lines {
            var words = [line.number, line.kind]
            if let name = line.name { words.append("\"\(name)\"") }
            if line.calls > 0 { words.append("\(line.calls) calls") }
            if line.doNotDisturb { words.append("do not disturb") }
            if !line.blocked.isEmpty { words.append("blocks \(line.blocked.joined(separator: ", "))") }
            try StandardOutput.print(words.joined(separator: "  "))
            for device in line.devices {
                try StandardOutput.print("      \(device.contact)  \(device.agent ?? "–")  for \(device.expires) s")
            }
        }
    }
}

struct RecentsCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "recents", abstract: "List the recent calls of a line, the newest first.", discussion: ExitStatus.sentence(exits))
    @Argument(help: "The number of the line.") var line: String
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print the gateway's answer, JSON.") var json = false

    private struct RecentsText: Decodable {
        struct Recent: Decodable { var direction: String, handle: String, name: String?, began: String, outcome: String }
        var recents: [Recent]
    }

    func run() throws {
        let content = try control.ask(.get, "/v1/lines/\(line.inPath)/recents")
        if json { return try StandardOutput.printExactly(String(decoding: content, as: UTF8.self)) }
        for call in try JSONDecoder().decode(RecentsText.self, from: content).recents {
            try StandardOutput.print(
                "\(call.began)  \(call.direction)  \(call.handle)  \(call.outcome)\(call.name.map { "  \"\($0)\"" } ?? "")")
        }
    }
}

struct DNDCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "dnd", abstract: "Turn Do Not Disturb of a line on or off, or ask whether it is on.",
        discussion: ExitStatus.sentence(exits))
    @Argument(help: "The number of the line.") var line: String
    @Argument(help: "on or off; without it the state is printed.") var state: String?
    @OptionGroup var control: ControlOptions

    private struct StateText: Decodable { var on: Bool }

    func run() throws {
        let path = "/v1/lines/\(line.inPath)/dnd"
        guard let state else {
            let content = try control.ask(.get, path)
            return try StandardOutput.print(try JSONDecoder().decode(StateText.self, from: content).on ? "on" : "off")
        }
        guard state == "on" || state == "off" else { throw Failure.usage("dnd takes on or off, got '\(state)'") }
        _ = try control.ask(.put, path, ["on": .flag(state == "on")])
    }
}

struct BlockCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "block", abstract: "Put a caller on the block list of a line, or take it off.", discussion: ExitStatus.sentence(exits))
    @Argument(help: "The number of the line.") var line: String
    @Argument(help: "The caller: a number, or an address.") var caller: String
    @Flag(help: "Take it off the list.") var off = false
    @OptionGroup var control: ControlOptions

    func run() throws { _ = try control.ask(off ? .delete : .put, "/v1/lines/\(line.inPath)/blocked/\(caller.inPath)") }
}
