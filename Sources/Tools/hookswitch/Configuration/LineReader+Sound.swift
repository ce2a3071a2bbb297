import Audio
import Foundation
import Gateway
import Workbench

/// Settings of the sound that a line plays and records.
extension LineReader {
    mutating func readSound(_ value: SettingValue) throws -> WAV {
        let path = try value.text
        if let known = sounds[path] { return known }
        do throws(UnplayableFile) {
            let wav = try WAV(playable: path)
            sounds[path] = wav
            return wav
        } catch { throw ConfigurationError(place: value.place, message: error.description, kind: .environment) }
    }

    func recordingPlace(_ value: SettingValue) throws -> RecordingPlace {
        let pattern = try value.text, place: RecordingPlace
        do throws(RecordingPlace.PatternError) { place = try RecordingPlace(pattern) } catch { throw value.fail(error.description) }
        guard Self.canMake(place.folder) else {
            throw ConfigurationError(place: value.place, message: "the folder '\(place.folder)' cannot be written", kind: .environment)
        }
        return place
    }

    /// It is there, or can be made where its nearest parent is.
    private static func canMake(_ folder: String) -> Bool {
        var url = URL(filePath: folder)
        while !FileManager.default.fileExists(atPath: url.path), url.path != "/" { url.deleteLastPathComponent() }
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        return isFolder.boolValue && FileManager.default.isWritableFile(atPath: url.path)
    }

    /// Keys come in any order: what an application plays is put together when all have been read.
    mutating func finishApplication(of line: inout LineConfiguration) throws {
        guard case .application(var application) = line.endpoint else {
            guard sound == nil, loops == nil else { throw takesNoSound(line) }
            guard menu == nil else { throw takesNoMenu(line) }
            guard queue == nil else { throw takesNoQueue(line) }
            guard stream.isEmpty else { throw takesNoProgram(line) }
            guard mailbox == nil else { throw takesNoMessages(line) }
            return
        }
        (application.sound, application.loops, application.menu) = (sound, loops ?? false, menu)
        (application.queue, application.mailbox) = (queue, mailbox)
        application.stream = try streamSettings(of: line)
        switch application.defect(loops: loops, isRecorded: line.recording != nil) {
        case .needsSound: throw error("line \(line.number) plays back, and needs a 'file'")
        case .needsRecording: throw error("line \(line.number) takes messages, and needs a folder to 'record' them in")
        case .doesNotLoop: throw error("line \(line.number): 'loop' is for an application that plays back")
        case .takesNoSound: throw takesNoSound(line)
        case .needsMenu: throw error("line \(line.number) plays a menu, and needs a 'menu' of a 'prompt' and 'choices'")
        case .takesNoMenu: throw takesNoMenu(line)
        case .needsQueue: throw error("line \(line.number) is a queue, and needs a 'queue' with 'members'")
        case .takesNoQueue: throw takesNoQueue(line)
        case .needsProgram: throw error("line \(line.number) streams to a program, and needs its 'url'")
        case .takesNoProgram: throw takesNoProgram(line)
        case .takesNoMessages: throw takesNoMessages(line)
        case nil: line.endpoint = .application(application)
        }
    }

    private func takesNoMenu(_ line: LineConfiguration) -> ConfigurationError {
        error("line \(line.number): 'menu' is for a line with 'application: menu'")
    }

    private func takesNoQueue(_ line: LineConfiguration) -> ConfigurationError {
        error("line \(line.number): 'queue' is for a line with 'application: queue'")
    }

    private func takesNoSound(_ line: LineConfiguration) -> ConfigurationError {
        error("line \(line.number): 'file' and 'loop' are for an application that plays back or records")
    }
}
