import Primitives
import SDP
import Testing

@Suite struct OpusParametersTests {
    @Test(
        arguments: [
            ("useinbandfec=1", "useinbandfec=1"), ("minptime=10; UseInbandFEC=1 ;stereo=0", "useinbandfec=1"),
            (
                "maxplaybackrate=16000; sprop-maxcapturerate=16000; maxaveragebitrate=20000; stereo=1; useinbandfec=1; usedtx=1; cbr=1;sprop-stereo=1",
                "maxplaybackrate=16000;sprop-maxcapturerate=16000;maxaveragebitrate=20000;stereo=1;sprop-stereo=1;cbr=1;useinbandfec=1;usedtx=1"
            ),
            ("maxplaybackrate=7999;maxaveragebitrate=600000;cbr=2;;=;x=;usedtx", nil), ("", nil),
        ] as [(String, String?)])
    func `known parameters are read and written, others left out`(written: String, read: String?) {
        #expect(OpusParameters(Text(written)).fmtp?.description == read)
    }

    @Test func `no parameters are the defaults of RFC 7587`() {
        #expect(OpusParameters(nil) == OpusParameters())
        #expect(!OpusParameters().usesForwardErrorCorrection && OpusParameters().maximumPlaybackRate == nil)
    }
}
