import Audio
import Foundation
import Gateway
import Primitives
import Testing
import Workbench

@testable import hookswitch

/// Menus from the configuration file to the sound that callers hear.
@Suite(.serialized, .timeLimit(.minutes(30))) struct MenuLineTests {
    @Test func `a digit leads from the menu to a trunk, and the two hear each other`() throws {
        let callee = try SIPPort(),
            place = try SoundGateway { folder in
                try folder.write(tone: 900, seconds: 20, to: "prompt.wav")
                return """
                    { number: "9000", application: menu, menu: { prompt: "\(folder.path)/prompt.wav", choices: { "1": { trunk: "7000", number: "5" } } } }
                      - { number: "7000", trunk: { host: "\(callee.address)" } }
                    """
            }
        let heard = (place.folder.path + "/caller.wav", place.folder.path + "/callee.wav")
        let answerer = try callee.answer("--tone 700 --calls 1 --after 0 --codec pcmu --record \(heard.1)")
        _ = try place.call("9000 --tone 440 --duration 3 --dtmf 1 --codec pcmu --record \(heard.0)").perform()
        try answerer.wait()
        let journal = try place.expectCleanEnd()
        let sound = try WAV(contentsOf: heard.0)
        #expect(presence(of: 900, in: sound) > 0.05 && presence(of: 900, in: sound) < 0.4, "the prompt, until the digit")
        #expect(presence(of: 700, in: sound) > 0.4, "\(presence(of: 700, in: sound))")
        #expect(try presence(of: 440, in: WAV(contentsOf: heard.1)) > 0.5)
        #expect(journal.filter { $0.kind == .menuChoice }.map { $0.details.text(.text) } == ["trunk 7000 5"])
        #expect(journal.filter { $0.kind == .transferred }.count == 2)
    }

    @Test func `a text is spoken once, and kept`() throws {
        let folder = try SoundFolder(), count = folder.path + "/spoken", script = folder.path + "/speak"
        try folder.write(tone: 600, seconds: 0.5, to: "voice.wav")
        let lines = ["#!/bin/sh", "echo \"$1\" >> \(count)", "cp \(folder.path)/voice.wav \"$2\""]
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: script))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        let yaml = """
            data: \(folder.path)/data
            speech.command: "\(script) {text} {file}"
            lines:
              - { number: "9000", application: menu, menu: { prompt: { say: "Good morning" }, choices: { "1": hang-up } } }
            """
        let file = folder.path + "/hookswitch.yaml"
        try Data(yaml.utf8).write(to: URL(filePath: file))
        let configuration = try ConfigurationFile.load(file, environment: [:], flags: [])
        #expect(!FileManager.default.fileExists(atPath: count), "nothing is spoken while the file is read")
        let voice = try WAV(contentsOf: folder.path + "/voice.wav")
        for _ in 1...2 {
            guard case .application(let application) = try configuration.speakingPrompts().gateway.lines[0].endpoint else {
                return #expect(Bool(false))
            }
            #expect(application.menu?.levels[0].prompt == .sound(voice))
        }
        #expect(try String(contentsOfFile: count, encoding: .utf8) == "Good morning\n")
    }

    @Test(arguments: [
        ("false {text}", "ended with status 1"), ("true {text}", "has written no WAV"), ("nosuchprogram {text}", "is not there"),
    ])
    func `a command that speaks nothing is one line`(command: String, complaint: String) throws {
        let folder = try SoundFolder()
        let speaker = PromptSpeaker(command: command.split(separator: " ").map(String.init), folder: folder.path, place: "speech.command")
        let error = #expect(throws: ConfigurationError.self) { try speaker.sound(of: "Hello") }
        #expect(error?.description.contains(complaint) == true, "\(error?.description ?? "")")
        #expect(error?.exitCode == 3)
    }

    @Test(arguments: [
        ("{ choices: { \"1\": hang-up } }", "needs a 'prompt'"), ("{ prompt: { say: A } }", "needs 'choices'"),
        ("{ prompt: { say: A }, chioces: { \"1\": hang-up } }", "unknown setting (did you mean 'choices'?)"),
        ("{ prompt: { sy: A }, choices: { \"1\": hang-up } }", "3: menu.prompt.sy: unknown setting (did you mean 'say'?)"),
        (
            "{ prompt: { say: A }, choices: { \"1\": hangup } }",
            "3: menu.choices.1: takes one of hang-up, repeat, back, hook, got 'hangup' (did you mean 'hang-up'?)"
        ),
        ("{ prompt: { say: A }, choices: { \"1\": { line: \"1010\" } } }", "1010 is no line (did you mean '1001'?)"),
        ("{ prompt: { say: A }, choices: { \"1\": { mailbox: \"1001\" } } }", "line 1001 takes no messages"),
        ("{ prompt: { say: A }, choices: { \"1\": { line: \"9000\" } } }", "names its own line"),
        ("{ prompt: { say: A }, choices: { \"1\": { trunk: \"1001\", number: \"5\" } } }", "line 1001 is no trunk"),
        ("{ prompt: { say: A }, choices: { \"1\": { trunk: \"1001\" } } }", "takes a trunk and a number"),
        ("{ prompt: { say: A }, choices: { \"a\": hang-up } }", "is named by the digits"),
        ("{ prompt: { say: A }, choices: { \"1\": back } }", "leads back from the first level"),
        ("{ prompt: { say: A }, choices: { \"1\": hang-up }, otherwise: repeat }", "would play prompts for ever"),
    ]) func `a fault in a menu is one line, with its place and the nearest valid name`(menu: String, complaint: String) throws {
        let folder = try SoundFolder(), file = folder.path + "/hookswitch.yaml"
        let yaml = "lines:\n  - { number: \"1001\", open: true }\n  - { number: \"9000\", application: menu, menu: \(menu) }\n"
        try Data(yaml.utf8).write(to: URL(filePath: file))
        let error = #expect(throws: ConfigurationError.self) { try ConfigurationFile.load(file, environment: [:], flags: []) }
        #expect(error?.description.contains(complaint) == true, "\(error?.description ?? "")")
        #expect(error?.description.hasPrefix("\(file):3: ") == true && error?.exitCode == 2, "\(error?.description ?? "")")
    }

    @Test func `the example of the guide is good, and all its texts can be spoken`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/guides/menus-and-queues.md"), encoding: .utf8)
        let example = try #require(page.components(separatedBy: "```yaml\n").dropFirst().first?.components(separatedBy: "\n```").first)
        let folder = try SoundFolder(), file = folder.path + "/hookswitch.yaml"
        try folder.write(tone: 600, seconds: 0.2, to: "voice.wav")
        let yaml = example.replacing("./data", with: folder.path + "/data").replacing("mailbox/{", with: folder.path + "/{")
        try Data(yaml.utf8).write(to: URL(filePath: file))
        #expect(throws: ConfigurationError.self, "a command without {text}") {
            try ConfigurationFile.load(file, environment: [:], flags: ["speech.command=cp \(folder.path)/voice.wav {file}"])
        }
        let configuration = try ConfigurationFile.load(
            file, environment: [:], flags: ["speech.command=install -S .{text} \(folder.path)/voice.wav {file}"])
        let spoken = try configuration.speakingPrompts().gateway.lines.compactMap { line in
            if case .application(let application) = line.endpoint { application } else { nil }
        }
        #expect(spoken.map(\.name) == ["record", "menu", "queue"] && !spoken.contains(where: \.hasTexts))
        #expect(spoken[1].menu?.levels.count == 2 && spoken[2].queue?.positions.count == 10)
    }

    private func presence(of frequency: Double, in sound: WAV) -> Double {
        var detector = ToneDetector(frequency: frequency, sampleRate: sound.sampleRate)
        detector.listen(to: sound.samples.span)
        return detector.presence
    }
}
