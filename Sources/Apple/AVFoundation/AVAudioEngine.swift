import Foundation

/// A graph of nodes that runs or does not. No sound goes through it: a call's sound is the line's.
open class AVAudioEngine: NSObject, @unchecked Sendable {
    private let nodes = AudioLocked<Set<AVAudioNode>>([])
    public let inputNode = AVAudioInputNode(), outputNode = AVAudioOutputNode(), mainMixerNode = AVAudioMixerNode()
    open private(set) var isRunning = false
    open var isAutoShutdownEnabled = false

    public override init() {
        super.init()
        for node in [inputNode, outputNode, mainMixerNode] { attach(node) }
    }

    open var attachedNodes: Set<AVAudioNode> { nodes.update { $0 } }

    open func attach(_ node: AVAudioNode) {
        nodes.update { _ = $0.insert(node) }
        node.engine = self
    }

    open func detach(_ node: AVAudioNode) {
        nodes.update { _ = $0.remove(node) }
        node.engine = nil
    }

    /// The format is that of the first node's bus; nil leaves it as it is.
    open func connect(
        _ node: AVAudioNode, to other: AVAudioNode, fromBus bus: AVAudioNodeBus, toBus otherBus: AVAudioNodeBus, format: AVAudioFormat?
    ) { if let format { node.formats.update { $0[bus] = format } } }

    open func connect(_ node: AVAudioNode, to other: AVAudioNode, format: AVAudioFormat?) {
        connect(node, to: other, fromBus: 0, toBus: 0, format: format)
    }

    open func disconnectNodeInput(_ node: AVAudioNode, bus: AVAudioNodeBus = 0) {}
    open func disconnectNodeOutput(_ node: AVAudioNode, bus: AVAudioNodeBus = 0) { node.formats.update { $0[bus] = nil } }

    open func prepare() {}
    open func start() throws { isRunning = true }
    open func pause() { isRunning = false }
    open func reset() {}

    /// Its players stop, too.
    open func stop() {
        isRunning = false
        for case let player as AVAudioPlayerNode in attachedNodes { player.stop() }
    }
}

extension Notification.Name {
    /// Never posted here by itself.
    public static let AVAudioEngineConfigurationChange = Notification.Name("AVAudioEngineConfigurationChangeNotification")
}
