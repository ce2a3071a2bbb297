// The answers of reads of the server itself.
extension OpenAPISchemas {
    static let ofServer: [String: JSONSchema] = ["Health": health, "Histogram": histogram, "Settings": settings]

    private static let health = JSONSchema.object(
        "The load of the gateway; totals since its start.",
        [
            .always("draining", .flag("no new call is taken")),
            .always("legs", .number("SIP dialogs that are up")),
            .always("bridges", .number("legs that are joined")),
            .always("connections", .number("TCP, TLS and WebSocket connections of SIP")),
            .always("contacts", .number("registered devices")),
            .always("freePorts", .number("media ports that may be had")),
            .always("processor", decimal("processor time since the start, in seconds")),
            .always("cores", .number("processors of the machine")),
            .maybe("memory", .number("resident memory in bytes")),
            .always("peakMemory", .number("the most resident memory so far, in bytes")),
            .always("setup", .reference("Histogram")),
            .always("laneWait", .reference("Histogram")),
            .always("mos", .reference("Histogram")),
            .always(
                "refused",
                .list(
                    of: .object(
                        "A cause.", [.always("cause", .text("as in the metrics")), .always("count", .number("requests and calls"))]),
                    "requests and calls that were refused, by cause")),
            .always("violations", .number("broken rules of the contract")),
        ])

    private static let histogram = JSONSchema.object(
        "Values by size: times in seconds, or MOS.",
        [
            .always(
                "buckets",
                .list(
                    of: .object(
                        "A bucket.",
                        [.maybe("upTo", decimal("the largest value; absent: no bound")), .always("count", .number("values in it"))]),
                    "by ascending bounds")),
            .always("count", .number("all values")),
            .maybe("mean", decimal("absent where there are none")),
        ])

    private static let settings = JSONSchema.object(
        "The settings in force, secrets masked, and the findings of `hookswitch check`.",
        [
            .always(
                "settings",
                .list(
                    of: .object(
                        "A setting.",
                        [
                            .always("path", .text("dotted, as `media.ports`")),
                            .maybe("value", .text("as it was written; absent: the default holds")),
                            .always("default", .text("the effect without a value")),
                            .maybe("place", .text("file and line, variable or flag")),
                            .always("help", .text("its meaning")),
                        ]), "in the order of the reference")),
            .always(
                "findings",
                .list(
                    of: .object(
                        "A finding.",
                        [
                            .always("grade", .choice(["warning", "fact"], "whether it asks for something")),
                            .always("subject", .text("what was looked at")),
                            .always("text", .text("for a person")),
                        ]), "warnings first")),
        ])
}
