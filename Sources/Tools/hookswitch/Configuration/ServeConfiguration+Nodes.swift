import Console

extension ServeConfiguration {
    /// Checks that gateways that ask each other can know each other.
    func checkNodes() throws {
        guard control.nodesSecret != nil || !control.nodes.isEmpty else { return }
        let place = place(of: control.nodes.isEmpty ? "api.nodes-secret-file" : "api.nodes")
        guard control.nodesSecret != nil else {
            throw ConfigurationError(place: place, message: "needs api.nodes-secret-file, the secret that these gateways share")
        }
        guard NodeSettings.isName(nodeName) else {
            throw ConfigurationError(
                place: place,
                message: "needs 'node', the name of this gateway: '\(nodeName)' has more than letters, digits, '-', '.' and '_'")
        }
        if let twice = Dictionary(grouping: control.nodes, by: \.name).first(where: { $0.value.count > 1 }) {
            throw ConfigurationError(place: place, message: "names '\(twice.key)' twice")
        }
        guard control.nodes.count <= NodeSettings.most else {
            throw ConfigurationError(place: place, message: "takes \(NodeSettings.most) gateways at most, got \(control.nodes.count)")
        }
    }
}
