import CallKit
import Combine
import UIKit

@objc protocol PhoneDelegate {
    @objc optional func phone(_ phone: Phone,
                              didRingFor caller: String)
    @objc optional func phoneMayEnd(_ phone: Phone) -> Bool
    @objc optional var phoneTitle: String { get }
}

@objcMembers
class Phone: NSObject, ObservableObject {
    static let ended = Notification.Name("PhoneEnded")

    @Published var ringing = false
    @objc dynamic var callCount = 0
    weak var delegate: PhoneDelegate?
    private let provider: CXProvider
    private let controller = CXCallController()
    private(set) var call: UUID?

    override init() {
        let configuration = CXProviderConfiguration()
        configuration.supportedHandleTypes = [.generic]
        configuration.iconTemplateImageData = #imageLiteral(resourceName: "icon").pngData()
        provider = CXProvider(configuration: configuration)
        super.init()
        provider.setDelegate(self, queue: nil)
        NotificationCenter.default.addObserver(self, selector: #selector(interrupted(_:)), name: AVAudioSession.interruptionNotification, object: nil)
    }

    deinit {
        NotificationCenter.default.removeObserver(self)
    }

    @objc private func interrupted(_ notification: NSNotification) {
        callCount += 1
    }

    @objc(reportCall:from:completion:)
    func report(_ call: UUID, from caller: String, completion: @escaping (Error?) -> Void) {
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .generic, value: caller)
        provider.reportNewIncomingCall(with: call, update: update) { error in
            DispatchQueue.main.async {
                if error == nil {
                    self.call = call
                    self.ringing = true
                    self.delegate?.phone?(self, didRingFor: caller)
                }
                completion(error)
            }
        }
    }

    func end() {
        guard let call, delegate?.phoneMayEnd?(self) ?? true else { return }
        controller.request(CXTransaction(action: CXEndCallAction(call: call))) { error in
            if let error = error { print("not ended: \(error)") }
        }
    }
}

extension Phone: CXProviderDelegate {
    func providerDidReset(_ provider: CXProvider) { ringing = false }

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        ringing = false
        action.fulfill()
        NotificationCenter.default.post(name: Phone.ended, object: self)
    }
}
