import Primitives
import Testing

@testable import Streaming

@Suite struct ProgramMessageTests {
    @Test(arguments: [
        (#"{"event":"media","streamSid":"MZ1","media":{"payload":"AAEC/w=="}}"#, ProgramMessage.sound([0, 1, 2, 255])),
        (#" { "media" : {"track":"outbound", "payload":"\/\/8="} , "event" : "media" } "#, .sound([255, 255])),
        (#"{"event":"mark","streamSid":"MZ1","mark":{"name":"a \"b\" \u00e9\ud83d\ude00"}}"#, .mark("a \"b\" é😀")),
        (#"{"event":"clear","streamSid":"MZ1"}"#, .clear),
        (#"{"event":"hang-up"}"#, .unknown),
        (#"{"event":"something","list":[1,{"a":"]"},"}"],"more":{"deep":[[[]]]}}"#, .unknown),
    ]) func `the words of twilio are understood`(text: String, message: ProgramMessage) {
        #expect(ProgramMessage(text: Array(text.utf8), format: .twilio) == message)
    }

    @Test(arguments: [
        (#"{"event":"mark","name":"one"}"#, ProgramMessage.mark("one")), (#"{"event":"clear"}"#, .clear),
        (#"{"event":"pause"}"#, .pause), (#"{"event":"resume"}"#, .resume), (#"{"event":"digits","digits":"12#"}"#, .digits("12#")),
        (#"{"event":"hang-up"}"#, .hangUp), (#"{"event":"transfer","to":"1002"}"#, .transfer("1002")),
        (#"{"event":"media","media":{"payload":"AAEC"}}"#, .unknown),
    ]) func `the words of raw are understood`(text: String, message: ProgramMessage) {
        #expect(ProgramMessage(text: Array(text.utf8), format: .raw(.opus)) == message)
    }

    @Test(arguments: [
        "", "hello", "[]", "null", "{", #"{"event"}"#, #"{"event":1}"#, #"{"event":"media"}"#,
        #"{"event":"media","media":{"payload":"A"}}"#,
        #"{"event":"media","media":{"payload":"$$$$"}}"#, #"{"event":"mark","mark":{"name":""}}"#, #"{"event":"mark","mark":{}}"#,
        #"{"event":"clear"} x"#, #"{"event":"clear",}"#, #"{"event":"\q"}"#, #"{"event":"clear","a":[}"#,
        #"{"event":"clear","a":"# + String(repeating: "[", count: 17) + String(repeating: "]", count: 17) + "}",
        #"{"event":"mark","mark":{"name":""# + String(repeating: "x", count: 257) + #""}}"#,
    ]) func `nonsense is none`(text: String) { #expect(ProgramMessage(text: Array(text.utf8), format: .twilio) == nil) }

    @Test func `binary messages are sound of raw alone`() {
        #expect(ProgramMessage(binary: [1, 2], format: .raw(.l16(sampleRate: 8_000))) == .sound([1, 2]))
        #expect(ProgramMessage(binary: [1, 2], format: .twilio) == nil)
        #expect(ProgramMessage(binary: [], format: .raw(.opus)) == nil)
    }
}
