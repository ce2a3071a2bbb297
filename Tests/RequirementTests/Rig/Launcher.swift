import CallKit
import Dispatch
import Foundation
import HotlineCalls
import MonkeyCalls
import UIKit

/// The telephone's side of UIKit.
@MainActor enum Launcher {
    /// The whole app, launched with a line; nil when it says that it cannot.
    static func monkeyCall(_ stage: Stage) -> MonkeyCalls.AppDelegate? {
        CallSystem.$current.withValue(stage.system) {
            let app = MonkeyCalls.AppDelegate()
            app.service = StageLink(stage)
            return UIApplication.shared.hookswitchLaunch(app) ? app : nil
        }
    }

    static var launchesWithoutNetwork: Bool { UIApplication.shared.hookswitchLaunch(MonkeyCalls.AppDelegate()) }

    static func hotline(_ stage: Stage) -> HotlineCalls.AppDelegate? {
        CallSystem.$current.withValue(stage.system) {
            let app = HotlineCalls.AppDelegate()
            app.network = StageLink(stage)
            return UIApplication.shared.hookswitchLaunch(app) ? app : nil
        }
    }

    /// A picture, as the icon of a provider.
    nonisolated static let icon = UIImage(systemName: "phone")?.pngData()

    static var backgroundTasks: Int { UIApplication.shared.hookswitchBackgroundTasks }
    static func open(_ url: String) -> Bool { URL(string: url).map { UIApplication.shared.hookswitchOpen($0) } ?? false }
    static func `continue`(_ activity: NSUserActivity) -> Bool { UIApplication.shared.hookswitchContinue(activity) }
}

/// An app on real queues, that notes where it is called.
final class QueueProbe: NSObject, CXProviderDelegate, @unchecked Sendable {
    private let provider: CXProvider
    private let controller: CXCallController
    private let answered: AsyncStream<Bool>
    private let answers: AsyncStream<Bool>.Continuation

    init(_ system: CallSystem, queue: DispatchQueue?) {
        provider = CXProvider(configuration: CXProviderConfiguration(), system: system)
        controller = CXCallController(system: system)
        (answered, answers) = AsyncStream.makeStream()
        super.init()
        provider.setDelegate(self, queue: queue)
    }

    /// Takes a call, and tells whether the delegate was asked on the main queue.
    func firstAnswer() async -> Bool {
        let call = UUID()
        provider.reportNewIncomingCall(with: call, update: CXCallUpdate()) { [controller] _ in
            controller.request(CXTransaction(action: CXAnswerCallAction(call: call))) { _ in }
        }
        for await isMain in answered {
            provider.invalidate()
            return isMain
        }
        return false
    }

    private static let mainKey: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    func providerDidReset(_ provider: CXProvider) {}
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        action.fulfill()
        answers.yield(DispatchQueue.getSpecific(key: Self.mainKey) ?? false)
    }
}
