import Primitives

/// The server's listeners, in a network namespace that nobody else is in, and its configuration.
struct GatewayAddresses {
    let sip = SocketAddress(.loopback, port: 5_060)
    let tls = SocketAddress(.loopback, port: 5_061)
    let webSocket = SocketAddress(.loopback, port: 5_066)
    let control = SocketAddress(.loopback, port: 8_080)
    let monitor = SocketAddress(.loopback, port: 9_464)
    static let mediaPorts = "20000-25999"
    /// The folder of the corpus with certificates.
    let certificates: String

    var authorities: String { certificates + "/ca.pem" }

    /// The configuration of the server: every surface is there, calls are encrypted in every way, and no bound by source hides the parsers.
    /// Calls that nobody can end any more end by themselves, but for those to 9195.
    func configuration(data: String) -> String {
        """
        domain: fuzz.test
        sip:
          udp: ["\(sip)"]
          tcp: ["\(sip)"]
          tls: { listen: ["\(tls)"], certificate: \(certificates)/server.pem, key: \(certificates)/leaf.key, ca: \(authorities) }
          ws: ["\(webSocket)"]
        api: { listen: ["\(control)"] }
        media: { ports: \(Self.mediaPorts), codecs: [opus, g722, pcmu, pcma, l16/16000], inband-dtmf: true, comfort-noise: true }
        access: { guesses-per-user: 1000000, guesses-per-source: 1000000, asserting: ["127.0.0.0/9"] }
        limits: { backlog: 0 }
        metrics: { listen: "\(monitor)" }
        push: { url: "http://127.0.0.1:9/push", limit: 1 }
        test-mode: true
        drain: 2
        data: \(data)
        log: { level: error }
        lines:
          - { number: "1001", open: true, name: Alice, srtp: optional, ring-timeout: 10, max-duration: 40 }
          - { number: "1002", open: true, srtp: optional, ice: lite, ring-timeout: 10, max-duration: 40 }
          - { number: "1003", password: secret-1003, ring-timeout: 10 }
          - { number: "1004", open: true, srtp: optional, ring-timeout: 10, max-duration: 40 }
          - { number: "1005", open: true, srtp: optional, srtp-keying: dtls, ice: lite, ring-timeout: 10, max-duration: 40 }
          - { number: "9195", application: echo }
          - { number: "9196", application: echo, srtp: optional, max-duration: 40 }
          - { number: "9197", application: tone, srtp: optional, max-duration: 40 }
          - { number: "9198", application: echo, srtp: required, srtp-keying: dtls, max-duration: 40 }
          - { number: "9199", application: echo, srtp: optional, ice: lite, max-duration: 40 }
          - { number: "9200", application: record, record: "\(data)/mailbox/{date}-{time}-{caller}.wav", srtp: optional, max-duration: 40 }
          - { number: "3000", application: conference, srtp: optional, max-duration: 40 }
          - { number: "9101", script: { answer: true, after: 200 }, max-duration: 40 }
          - { number: "9102", script: { ring: true }, ring-timeout: 5 }
          - { number: "9103", script: { reject: 486 } }
          - { number: "2000", group: { members: ["1001", { number: "1002", delay: 1 }, "1004"] }, ring-timeout: 10 }
          - { number: "2001", group: { members: ["1001", "1002"], in-turn: 2 }, ring-timeout: 10 }
          - { number: "7000", trunk: { host: "127.0.0.9:5080", sources: ["127.9.0.0/16"] }, ring-timeout: 10 }

        """
    }
}
