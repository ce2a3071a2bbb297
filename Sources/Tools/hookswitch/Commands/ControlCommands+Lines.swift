import ArgumentParser
import Console
import Foundation
import HookswitchClient

struct LinesCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "lines", abstract: "List the lines of a gateway that runs: who is registered, and which calls they have.",
        discussion: ExitStatus.sentence(exits))
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print the gateway's answer, JSON.") var json = false

    func run() throws {
        try control.show(.lines, isJSON: json) { $0.lines.flatMap(Self.text) }
    }

    /// The line, and below it its devices.
    private static func text(_ line: HookswitchClient.Line) -> [String] {
        var words = [line.number, line.kind]
        if let name = line.name { words.append("\"\(name)\"") }
        if line.calls > 0 { words.append("\(line.calls) calls") }
        if line.doNotDisturb { words.append("do not disturb") }
        if !line.blocked.isEmpty { words.append("blocks \(line.blocked.joined(separator: ", "))") }
        return [words.joined(separator: "  ")] + line.devices.map { "      \($0.text)" }
    }
}

extension HookswitchClient.Line.Device {
    fileprivate var text: String { "\(contact)  \(agent ?? "–")  for \(expires) s" }
}

struct RegistrationsCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "registrations", abstract: "List the devices that are registered with a gateway that runs.",
        discussion: """
            A line for each: the number of its line, its Contact, its User-Agent, and the seconds that its registration has left. \
            \(ExitStatus.sentence(exits))

            Examples:
              hookswitch registrations
              hookswitch registrations --line 1001 --json
            """)
    @Option(help: ArgumentHelp("Devices of this line (default: of all).", valueName: "number")) var line: String?
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print one JSON object a line.") var json = false

    private struct Registration: Encodable { var line: String, contact: String, agent: String?, expires: Int }

    func run() throws {
        let lines = try control.ask(.lines).lines
        if let line, !lines.contains(where: { $0.number == line }) {
            throw Failure.bad("there is no line \(line)\(SpellingSuggestion.hint(for: line, among: lines.map(\.number)))")
        }
        for found in lines where line.map({ $0 == found.number }) ?? true {
            for device in found.devices {
                guard json else {
                    try StandardOutput.print("\(found.number)  \(device.text)")
                    continue
                }
                try printJSONLine(
                    Registration(line: found.number, contact: device.contact, agent: device.agent, expires: device.expires))
            }
        }
    }
}

struct TrunksCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "trunks", abstract: "List the trunks of a gateway that runs, and how they are.", discussion: ExitStatus.sentence(exits)
    )
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print the gateway's answer, JSON.") var json = false

    func run() throws { try control.show(.trunks, isJSON: json) { $0.trunks.map(Self.text) } }

    private static func text(_ trunk: HookswitchClient.Trunk) -> String {
        let status = trunk.registrationStatus.map { " (\($0))" } ?? ""
        let holder = trunk.isHeld == false ? " by \(trunk.node ?? "no gateway")" : ""
        let registration = trunk.registration == "none" ? [] : [trunk.registration + status + holder]
        let servers = trunk.servers.map { "\($0.name) \($0.transport) \($0.address)\($0.isDown ? " down" : "")" }
        let name = trunk.name.map { " \($0)" } ?? ""
        return ([trunk.line + name, trunk.state, "\(trunk.calls) of \(trunk.maximumCalls) calls"] + registration + servers)
            .joined(separator: "  ")
    }
}

struct RecentsCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "recents", abstract: "List the recent calls of a line, the newest first.", discussion: ExitStatus.sentence(exits))
    @Argument(help: "The number of the line.") var line: String
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print the gateway's answer, JSON.") var json = false

    func run() throws {
        try control.show(.recents(of: line), isJSON: json) { answer in
            answer.recents.map { call in
                let began = call.began.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
                return "\(began)  \(call.direction)  \(call.handle)  \(call.outcome)\(call.name.map { "  \"\($0)\"" } ?? "")"
            }
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

    func run() throws {
        guard let state else {
            return try StandardOutput.print(try control.wait { [line] in try await $0.isDoNotDisturbOn(line) } ? "on" : "off")
        }
        guard state == "on" || state == "off" else { throw Failure.usage("dnd takes on or off, got '\(state)'") }
        try control.wait { [line] in try await $0.setDoNotDisturb(state == "on", of: line) }
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

    func run() throws { try control.wait { [off, caller, line] in try await $0.setBlocked(!off, caller: caller, of: line) } }
}
