// The costs, with the source of each.
extension CostTable {
    /// The costs as they are known. Those of a core are of the machine of `scripts/bench`: two cores of an x86_64 server.
    public static let standard = CostTable(gateway + store + database + around)

    private static let bench = "Capacity.md, scripts/bench --only setup"
    private static let databaseBench = "scripts/capacity --measure-database"
    private static let gatewayBench = "scripts/capacity --measure-gateway"

    private static let gateway: [Cost] = [
        Cost(.call, "a call set up and ended, on the signalling lane", 590, "µs", .measured(bench)),
        Cost(.setUpShare, "the part of it until the answer", 0.7, "", .assumed("two thirds of the messages", 0.5...0.9)),
        Cost(.challenge, "a REGISTER that is challenged", 30, "µs", .measured(gatewayBench)),
        Cost(.register, "a REGISTER with a digest that changes a binding", 138, "µs", .measured(gatewayBench)),
        Cost(.options, "an OPTIONS of a proxy", 32, "µs", .measured(gatewayBench)),
        Cost(.refusal, "a request refused with 503", 40, "µs", .assumed("more than an OPTIONS", 20...80)),
        Cost(.retransmission, "a request that came again", 15, "µs", .assumed("half of an OPTIONS", 5...30)),
        Cost(.orphan, "the BYE for a dialog of a dead gateway", 150, "µs", .assumed("a quarter of a call", 75...300)),
        Cost(.adopted, "a binding of another gateway, on the signalling lane", 17, "µs", .measured(gatewayBench)),
        Cost(.restored, "a line with its binding, when all is read, there", 20.5, "µs", .measured(gatewayBench)),
        Cost(.restoredRecent, "a call of its recents, there", 1.35, "µs", .measured(gatewayBench)),
    ]

    private static let store: [Cost] = [
        Cost(.rowSent, "a row sent, on the lane of the store", 15, "µs", .assumed("twice a row read", 5...30)),
        Cost(.noticeHeard, "a notice heard there", 3.5, "µs", .measured(gatewayBench)),
        Cost(.rowRead, "a topic asked for and its row read there", 6, "µs", .measured(gatewayBench)),
        Cost(.rowOfAll, "a row there, when all is read", 1.9, "µs", .measured(gatewayBench)),
    ]

    private static let database: [Cost] = [
        Cost(.transaction, "a transaction that writes, beside its rows", 130, "µs", .measured(databaseBench)),
        Cost(.registrationRow, "a row of a binding", 52, "µs", .measured(databaseBench)),
        Cost(.dialogRow, "a row of a dialog: written twice, taken away once", 42, "µs", .measured(databaseBench)),
        Cost(.recentRow, "a row of the recents", 50, "µs", .measured(databaseBench)),
        Cost(.trim, "the statement that trims the recents of its line", 40, "µs", .measured(databaseBench)),
        Cost(.notice, "a notice", 7, "µs", .measured(databaseBench)),
        Cost(.readTransaction, "a transaction that reads, beside its topics", 60, "µs", .measured(databaseBench)),
        Cost(.topic, "a topic read", 51, "µs", .measured(databaseBench)),
        Cost(.listenerWoken, "a commit with notices, for each gateway that listens", 20.4, "µs", .measured(databaseBench)),
        Cost(.listenerNotice, "each notice, for each gateway that listens", 0.13, "µs", .measured(databaseBench)),
        Cost(.bindingOfAll, "a binding, when all are read", 1.12, "µs", .measured(databaseBench)),
        Cost(.recentOfAll, "a call of the recents, when all are read", 1.31, "µs", .measured(databaseBench)),
        Cost(.lease, "a lease renewed", 300, "µs", .assumed("two transactions' worth of statements", 150...600)),
        Cost(.leaseRow, "a lease of another gateway read", 1.2, "µs", .assumed("as a row of any table", 0.6...3)),
        Cost(
            .flush, "the flush of a commit, one at a time where others are told", 500, "µs",
            .assumed("180 µs on the disk that was measured; others are slower", 180...2_000)),
        Cost(.network, "the way to the database and back", 500, "µs", .assumed("one building", 200...2_000)),
    ]

    private static let around: [Cost] = [
        Cost(
            .proxyCall, "a call through Kamailio, to the gateway and from it to the device", 1_300, "µs",
            .assumed("twice the 650 µs of Capacity.md, which has rtpengine in it", 500...1_300)),
        Cost(.proxyRegister, "a REGISTER through Kamailio", 100, "µs", .assumed("a sixth of a call", 50...200)),
        Cost(.handshake, "a TLS handshake", 420, "µs", .measured("notes on performance: TLS 1.3 with OpenSSL")),
        Cost(.relayed, "a second of a relayed call: 100 packets", 600, "µs", .measured("Capacity.md, scripts/bench --only relay")),
        Cost(
            .relayedInKernel, "the same by the kernel", 180, "µs",
            .measured("notes on the kernel relay: 1.8 µs a packet over veth, 400 calls")),
        Cost(.gateway, "memory of a gateway without lines", 36_600, "kB", .measured("notes on performance: idle")),
        Cost(.bridgedCall, "memory of a bridged call with sound", 29.9, "kB", .measured("Capacity.md, scripts/bench --only memory")),
        Cost(.binding, "memory of a binding, in the registrar and in the store", 2, "kB", .measured(gatewayBench)),
        Cost(.keptRecent, "memory of a call of the recents", 0.24, "kB", .measured(gatewayBench)),
        Cost(.line, "memory of a configured line", 10.1, "kB", .measured(gatewayBench)),
        Cost(.flow, "memory of a TLS connection at Kamailio", 40, "kB", .assumed("OpenSSL's own buffers", 20...70)),
    ]
}
