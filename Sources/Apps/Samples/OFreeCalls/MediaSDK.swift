import Foundation

/// OFree's media library: prepared for a call, then configured, started, stopped and released by the system's callbacks alone.
public protocol MediaLibrary: AnyObject {
    func configAudio() -> Bool
    func startAudio() -> Bool
    func stopAudio()
    func releaseAudio() -> Bool
}

/// One preparation at a time: what an earlier call has left is taken down before the next is prepared.
public final class MediaSDK {
    public private(set) var preparedCall: UUID?
    private let library: MediaLibrary
    private let log: (String) -> Void

    init(library: MediaLibrary, log: @escaping (String) -> Void) { (self.library, self.log) = (library, log) }

    func prepare(for call: UUID) {
        unprepare()
        log("prepareSDK")
        preparedCall = call
    }

    func unprepare() {
        log("unprepareSDK")
        preparedCall = nil
    }

    func configAudio() -> Bool {
        log("configAudio")
        return library.configAudio()
    }

    func startAudio() -> Bool {
        log("startAudio")
        return library.startAudio()
    }

    func stopAudio() {
        log("stopAudio")
        library.stopAudio()
    }

    func releaseAudio() -> Bool {
        log("releaseAudio")
        return library.releaseAudio()
    }
}
