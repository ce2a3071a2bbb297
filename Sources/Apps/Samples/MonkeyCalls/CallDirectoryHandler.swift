import CallKit

/// MonkeyCall's call directory: telemarketers are named, two numbers are blocked.
public class CallDirectoryHandler: CXCallDirectoryProvider, CXCallDirectoryExtensionContextDelegate {
    /// Country code and number, ascending.
    public static var blocked: [CXCallDirectoryPhoneNumber] = [14_085_555_555, 18_005_555_555]
    public static var labelled: [(number: CXCallDirectoryPhoneNumber, label: String)] = [
        (18_775_555_555, "Telemarketer"), (18_885_555_555, "Local business"),
    ]
    /// 1: the blocking entries cannot be had; 2: the identification entries.
    public static var failingStep: Int?
    public static var failure: Error?

    public override func beginRequest(with context: CXCallDirectoryExtensionContext) {
        context.delegate = self
        for (step, add) in [(1, addBlockingPhoneNumbers), (2, addIdentificationPhoneNumbers)] {
            guard CallDirectoryHandler.failingStep != step else {
                return context.cancelRequest(withError: NSError(domain: "CallDirectoryHandler", code: step))
            }
            add(context)
        }
        context.completeRequest()
    }

    private func addBlockingPhoneNumbers(_ context: CXCallDirectoryExtensionContext) {
        for number in CallDirectoryHandler.blocked { context.addBlockingEntry(withNextSequentialPhoneNumber: number) }
    }

    private func addIdentificationPhoneNumbers(_ context: CXCallDirectoryExtensionContext) {
        for (number, label) in CallDirectoryHandler.labelled {
            context.addIdentificationEntry(withNextSequentialPhoneNumber: number, label: label)
        }
    }

    /// The load may have been the user's, in the settings: the app reads it later.
    public func requestFailed(for extensionContext: CXCallDirectoryExtensionContext, withError error: Error) {
        CallDirectoryHandler.failure = error
    }
}
