import Audio
import Dispatch
import Foundation
import Gateway
import Runtime

/// Makes sounds of the texts of menus: a command writes each as WAV, once, and the file is kept.
struct PromptSpeaker {
    /// Words; `{text}` and `{file}` stand in the place of the text and of the file that is written. Without a `{file}` the sound is read from
    /// standard output.
    let command: [String]
    /// nil: nothing is kept.
    let folder: String?
    /// The place of the setting.
    let place: String

    static let standard = ["espeak-ng", "-w", "{file}", "--", "{text}"]

    private static let longest = DispatchTimeInterval.seconds(60)

    /// The sound of the text; the time of a call is never spent on this.
    func sound(of text: String) throws -> WAV {
        let folder = folder ?? NSTemporaryDirectory() + "hookswitch-prompts-\(getuid())"
        try NamedFile.makeFolder(folder)
        let key = OpenSSLDigest.lowercaseHexadecimal(OpenSSLDigest.sha256(Array((command + [text]).joined(separator: "\0").utf8)))
        let path = folder + "/" + String(decoding: key.prefix(24), as: UTF8.self) + ".wav"
        if let known = try? WAV(playable: path) { return known }
        let unfinished = path + ".\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: unfinished) }
        try run(text, into: unfinished)
        guard let made = try? WAV(playable: unfinished) else { throw fail("has written no WAV for '\(text.prefix(40))'") }
        guard rename(unfinished, path) == 0 else { throw fail("cannot keep \(path)") }
        return made
    }

    /// Whether the program is there.
    func check() throws {
        guard Self.executable(command[0]) != nil else {
            throw fail("the program '\(command[0])' is not there; prompts can be files, too")
        }
    }

    private func run(_ text: String, into file: String) throws {
        try check()
        let process = Process(), done = DispatchSemaphore(value: 0)
        process.executableURL = Self.executable(command[0]).map { URL(filePath: $0) }
        process.arguments = command.dropFirst().map {
            $0.replacingOccurrences(of: "{file}", with: file).replacingOccurrences(of: "{text}", with: text)
        }
        guard FileManager.default.createFile(atPath: file, contents: nil), let output = FileHandle(forWritingAtPath: file) else {
            throw fail("cannot write \(file)")
        }
        let writesItself = command.contains { $0.contains("{file}") }
        process.standardOutput = writesItself ? FileHandle.nullDevice : output
        (process.standardInput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        process.terminationHandler = { _ in done.signal() }
        do { try process.run() } catch { throw fail("'\(command[0])' cannot be run") }
        guard done.wait(timeout: .now() + Self.longest) == .success else {
            process.terminate()
            throw fail("'\(command[0])' takes longer than a minute")
        }
        guard process.terminationStatus == 0 else { throw fail("'\(command[0])' ended with status \(process.terminationStatus)") }
    }

    private static func executable(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let folders = name.contains("/") ? [""] : path.split(separator: ":").map { $0 + "/" }
        return folders.map { $0 + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private func fail(_ message: String) -> ConfigurationError { ConfigurationError(place: place, message: message, kind: .environment) }
}

extension ServeConfiguration {
    /// The command that speaks texts of menus; its setting was checked when it was read.
    private var speechCommand: [String] {
        written["speech.command"]?.first.map { $0.split(separator: " ").map(String.init) } ?? PromptSpeaker.standard
    }

    /// Speaks texts of menus; nil where none is to be spoken.
    var promptSpeaker: PromptSpeaker? {
        let isNeeded = gateway.lines.contains { line in
            guard case .application(let application) = line.endpoint else { return false }
            return application.hasTexts
        }
        guard isNeeded else { return nil }
        return PromptSpeaker(command: speechCommand, folder: dataFolder.map { $0 + "/prompts" }, place: place(of: "speech.command"))
    }

    /// With the texts of its menus as sounds. May take seconds where a text is new.
    func speakingPrompts() throws -> ServeConfiguration {
        guard let speaker = promptSpeaker else { return self }
        var spoken = self
        for index in spoken.gateway.lines.indices {
            guard case .application(var application) = spoken.gateway.lines[index].endpoint else { continue }
            try application.mapPrompts { prompt in
                guard case .text(let text) = prompt else { return prompt }
                return .sound(try speaker.sound(of: text))
            }
            spoken.gateway.lines[index].endpoint = .application(application)
        }
        return spoken
    }
}

extension SettingValue {
    /// Words between spaces, `{text}` among them.
    var speechCommand: [String] {
        get throws {
            let words = try text.split(separator: " ").map(String.init)
            guard words.count > 1, words.dropFirst().contains(where: { $0.contains("{text}") }) else {
                throw fail("takes a command and {text}, as 'espeak-ng -w {file} {text}'")
            }
            return words
        }
    }
}
