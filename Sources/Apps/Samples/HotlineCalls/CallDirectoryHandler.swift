import CallKit

/// The app's call directory: whom it blocks, and whom it knows by name.
public class CallDirectoryHandler: CXCallDirectoryProvider {
    public override func beginRequest(with context: CXCallDirectoryExtensionContext) {
        context.delegate = self
        if context.isIncremental {
            context.removeBlockingEntry(withPhoneNumber: 1234)
        } else {
            addAllBlockingPhoneNumbers(to: context)
            addAllIdentificationPhoneNumbers(to: context)
        }
        context.completeRequest()
    }

    private func addAllBlockingPhoneNumbers(to context: CXCallDirectoryExtensionContext) {
        for number: CXCallDirectoryPhoneNumber in [1234, 1_800_555_5555] { context.addBlockingEntry(withNextSequentialPhoneNumber: number) }
    }

    private func addAllIdentificationPhoneNumbers(to context: CXCallDirectoryExtensionContext) {
        context.addIdentificationEntry(withNextSequentialPhoneNumber: 1111, label: "RW Tutorial Team")
    }
}

extension CallDirectoryHandler: CXCallDirectoryExtensionContextDelegate {
    public func requestFailed(for extensionContext: CXCallDirectoryExtensionContext, withError error: Error) {
        print("The call directory could not be loaded: \(error.localizedDescription)")
    }
}
