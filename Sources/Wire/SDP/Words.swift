import Primitives

/// Words of session descriptions that are looked for in every one: made once, for a literal is a new text each time.
extension Text {
    static let audio: Text = "audio"
    static let crypto: Text = "crypto"
    static let fingerprint: Text = "fingerprint"
    static let fmtp: Text = "fmtp"
    static let group: Text = "group"
    static let iceUser: Text = "ice-ufrag"
    static let inactive: Text = "inactive"
    static let internet: Text = "IN"
    static let ip4: Text = "IP4"
    static let ip6: Text = "IP6"
    static let maxptime: Text = "maxptime"
    static let mid: Text = "mid"
    static let plainProfile: Text = "RTP/AVP"
    static let ptime: Text = "ptime"
    static let recvonly: Text = "recvonly"
    static let rtcp: Text = "rtcp"
    static let rtcpMux: Text = "rtcp-mux"
    static let rtcpReducedSize: Text = "rtcp-rsize"
    static let rtpmap: Text = "rtpmap"
    static let sendonly: Text = "sendonly"
    static let sendrecv: Text = "sendrecv"
    static let setup: Text = "setup"
    static let tlsID: Text = "tls-id"
    static let zero: Text = "0"
}
