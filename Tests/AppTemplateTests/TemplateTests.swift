import CallKit
import Intents
import PushKit
import Testing

extension RealTime {
    /// Apps as Xcode 26 makes them: the main actor is the default of this target.
    @Suite struct TemplateTests {
        private let phone = Telephone()
        private let activity = NSUserActivity(activityType: INStartCallIntentIdentifier)

        @Test func `delegates whose state is the main actor's are made as main makes them`() {
            #expect(Telephone.make(TemplateAppDelegate.self).manager.trace == [])
            #expect(Telephone.make(BuildingAppDelegate.self).manager.trace == ["built"])
            #expect(Telephone.make(DerivedDelegate.self).manager.trace == ["base"])
            #expect(BuildingAppDelegate(manager: CallManager()).manager.trace == [])
            #expect(PlainDelegate().manager.trace == ["plain"])
        }

        @Test func `one delegate serves app, provider and registry`() {
            let app = TemplateAppDelegate(), system = CallSystem(configuration: CallSystemConfiguration(), host: InlineHost())
            let provider = CXProvider(configuration: CXProviderConfiguration(), system: system), registry = PKPushRegistry(queue: nil)
            provider.setDelegate(app, queue: nil)
            registry.delegate = app
            app.manager.trace = ["a call"]
            system.reset()
            #expect(app.manager.trace == [])
        }

        @Test func `an app hears of its launch, of the background and of its end, and so does who listens`() {
            let app = TemplateAppDelegate()
            #expect(phone.launch(app))
            phone.comeBack()
            #expect(app.manager.trace == ["launched inactive", "active active"])
            phone.leave()
            phone.leave()
            #expect(app.manager.trace.suffix(2) == ["resign active", "background background"] && phone.state == "background")
            phone.comeBack()
            #expect(app.manager.trace.suffix(2) == ["foreground background", "active active"])
            phone.terminate()
            #expect(app.manager.trace.last == "terminate active" && app.manager.trace.count == 7)
            phone.terminate()
            phone.comeBack()
            #expect(app.manager.trace.count == 7 && phone.state == "background")
            let steps = [
                "DidFinishLaunching", "DidBecomeActive", "WillResignActive", "DidEnterBackground", "WillEnterForeground", "DidBecomeActive",
                "WillTerminate",
            ]
            #expect(phone.notifications == steps.map { "UIApplication\($0)Notification" })
        }

        @Test func `an app that cannot handle its options is launched all the same`() {
            let app = TemplateAppDelegate()
            app.canHandleOptions = false
            #expect(!phone.launch(app))
            #expect(app.manager.trace == ["launched inactive", "active active"] && phone.state == "active")
            #expect(phone.continue(activity) && !phone.open("hotline:1"))
            #expect(app.manager.trace.suffix(2) == ["continue INStartCallIntent", "open hotline:1"])
        }

        @Test func `a scene gets what an app would, and the app hears of launch and end alone`() throws {
            let app = TemplateAppDelegate()
            let scene = try #require(phone.launch(app, sceneDelegate: SceneDelegate.self))
            #expect(phone.continue(activity) && phone.open("hotline:1"))
            phone.leave()
            phone.comeBack()
            phone.terminate()
            #expect(app.manager.trace == ["launched inactive", "terminate active"])
            #expect(
                scene.manager.trace == [
                    "connect Default Configuration, unattached", "foreground, unattached", "active, foregroundActive",
                    "continue INStartCallIntent, foregroundActive",
                    "open [hotline:1], foregroundActive", "resign, foregroundActive", "background, background", "foreground, background",
                    "active, foregroundActive", "disconnect, unattached",
                ])
        }

        @Test(arguments: [nil, CallManager.self] as [AnyClass?])
        func `without the class of a delegate there is no scene, until the host connects one`(sceneDelegate: AnyClass?) {
            let app = TemplateAppDelegate(), scene = SceneDelegate()
            #expect(phone.launch(app, sceneDelegate: sceneDelegate) == nil && phone.scenes == 0)
            phone.connect(scene, for: activity, "hotline:2")
            #expect(phone.scenes == 1)
            #expect(
                scene.manager.trace == [
                    "connect unnamed INStartCallIntent hotline:2, unattached", "foreground, unattached", "active, foregroundActive",
                ])
            #expect(phone.launch(TemplateAppDelegate()) && phone.scenes == 0, "an app has scenes of its own")
        }

        @Test(.timeLimit(.minutes(30)))
        func `a push comes to a delegate whose completion may go to another task, and to one that knows nothing of that`() async {
            let new = PushDelegate(), older = OlderPushDelegate(), type = PKPushType(rawValue: "template")
            for delegate in [new, older] as [any PKPushRegistryDelegate] {
                let registry = PKPushRegistry(queue: nil)
                registry.delegate = delegate
                registry.desiredPushTypes = [type]
                await withCheckedContinuation { continuation in
                    #expect(registry.hookswitchDeliver(PKPushPayload(hookswitch: [:], type: type)) { continuation.resume() })
                }
            }
            #expect(new.pushes == ["template"] && older.pushes == ["template"])
        }

        @Test(.timeLimit(.minutes(30))) func `main serves the main queue and timers, on the main thread`() async throws {
            #expect(try await Telephone.run("template-app") == 0)
        }
    }
}
