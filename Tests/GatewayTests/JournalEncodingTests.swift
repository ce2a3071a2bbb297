import Gateway
import Primitives
import Testing

@Suite struct JournalEncodingTests {
    @Test func `a UUID's text reads back`() {
        let uuid = CallUUID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
        #expect(uuid.description == "01234567-89AB-CDEF-FEDC-BA9876543210")
        #expect(CallUUID(uuid.text) == uuid)
    }
}
