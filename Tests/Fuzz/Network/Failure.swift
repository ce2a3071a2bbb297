/// The report of a failure for a person: the last inputs, and the commands that send them again. It keeps more of them in a file.
struct Failure {
    let text: String

    init(_ broken: Broken, _ options: Options, _ log: InputLog, inputs: Int, isAttacking: Bool) {
        let command = "  scripts/fuzz --server --seed \(options.seed)"
        let surface = options.surface.map { " --surface \($0.rawValue) --from \(options.from)" } ?? ""
        let whole = "\(command)\(surface) --inputs \(max(1, inputs))"
        guard isAttacking else {
            text = "\(broken)\n\nseed \(options.seed), after all of \(inputs) inputs. To send them again:\n\(whole)"
            return
        }
        let first = max(0, log.number - 2 * options.every)
        let place = """
            seed \(options.seed), surface \(log.surface.rawValue), input \(log.number) or one of the \(options.every) before it
            to send the last again, or all \(inputs):
            \(command) --surface \(log.surface.rawValue) --from \(first) --inputs \(3 * options.every)
            \(whole)
            """
        let file = log.keep(in: options.findings, seed: options.seed, saying: "\(broken)\n\n\(place)")
        let kept = file.map { "more of them are in \($0)" } ?? "more of them could not be kept in \(options.findings)"
        text = "\(broken)\n\nthe last inputs:\n\(log.text(last: 5, bytes: 512))\n\n\(kept)\n\(place)"
    }
}
