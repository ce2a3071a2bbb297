import Foundation
import Media
import Primitives
import Testing

@testable import Gateway

@Suite struct RecordingPlaceTests {
    private static let call = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
    /// 2026-11-22 00:18:32 UTC.
    private static let date = Date(timeIntervalSince1970: 1_795_306_712)

    @Test(arguments: [
        ("rec/{line}/{date}-{time}-{caller}.opus", "rec/2000/20261122-001832Z-+39055.opus", RecordingFormat.opus, "rec/"),
        ("rec/", "rec/20261122-001832Z-+39055-1001-e621e1f8-c36c-495a-93fc-0c247a3e6e5f.wav", .wav, "rec/"),
        ("/var/rec", "/var/rec/20261122-001832Z-+39055-1001-e621e1f8-c36c-495a-93fc-0c247a3e6e5f.wav", .wav, "/var/rec/"),
        ("{called}.ogg", "1001.ogg", .opus, "."),
    ])
    func `a pattern says where, how and under which name`(pattern: String, path: String, format: RecordingFormat, folder: String) throws {
        let place = try RecordingPlace(pattern)
        #expect(place.path(of: Self.call, caller: "+39055", called: "1001", line: "2000", at: Self.date).lowercased() == path.lowercased())
        #expect(place.format == format && place.folder == folder)
    }

    @Test(arguments: [
        ("../../etc/passwd" as Text, "_._.._etc_passwd"), ("", "unknown"), ("a/b\\c d:e", "a_b_c_d_e"), ("..", "_."), ("\u{0}x\n", "_x_"),
        ("müller", "m_ller"),
    ])
    func `no caller leads out of the folder`(caller: Text, name: String) throws {
        let place = try RecordingPlace("rec/{caller}.wav")
        #expect(place.path(of: Self.call, caller: caller, called: "", line: "", at: Self.date) == "rec/\(name).wav")
    }

    @Test(arguments: [
        ("rec.d/calls", "rec.d/calls/"), (".", "./"), ("..", "../"), ("a/..", "a/../"), ("{line}/x.wav", "."), ("x.wav", "."),
        ("/x.wav", "/"),
        ("rec/{line}/x.wav", "rec/"), ("{line}/", "."), ("a}b/x.wav", "a}b/"), ("rec/{line}-{date}", "rec/"),
    ])
    func `the folder is what stands before the first name in braces`(pattern: String, folder: String) throws {
        #expect(try RecordingPlace(pattern).folder == folder)
    }

    @Test(arguments: [("{}.wav", "{}"), ("{Line}.wav", "{Line}"), ("a.", "."), ("a.WAV", ".WAV"), ("{line}.wav.mp3", ".mp3")])
    func `an error names what it found`(pattern: String, found: String) {
        #expect { _ = try RecordingPlace(pattern) } throws: { "\($0)".contains("'\(found)'") }
    }

    @Test func `a name has a bound`() throws {
        let place = try RecordingPlace("{caller}.wav")
        #expect(
            place.path(of: Self.call, caller: Text(String(repeating: "9", count: 5_000)), called: "", line: "", at: Self.date).count == 68)
    }

    @Test(arguments: [
        ("", RecordingPlace.PatternError.empty), ("{x}.wav", .unknown("x")), ("{caller.wav", .unclosed), ("a.flac", .format("flac")),
    ])
    func `what is no pattern says why`(pattern: String, error: RecordingPlace.PatternError) {
        #expect(throws: error) { _ = try RecordingPlace(pattern) }
    }
}
