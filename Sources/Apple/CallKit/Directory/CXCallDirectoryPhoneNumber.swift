import Foundation

/// A telephone number as call directories have it: country code and digits, without the plus.
public typealias CXCallDirectoryPhoneNumber = Int64

/// The greatest number that a directory can hold.
public let CXCallDirectoryPhoneNumberMax: CXCallDirectoryPhoneNumber = .max - 1

extension CXHandle {
    /// The handle as a directory's number: a phone number, of digits and the usual marks between them. nil for all others.
    public var hookswitchDirectoryNumber: CXCallDirectoryPhoneNumber? {
        guard type == .phoneNumber else { return nil }
        var number: CXCallDirectoryPhoneNumber?
        for (index, byte) in value.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let (product, overflow) = (number ?? 0).multipliedReportingOverflow(by: 10)
                let (sum, excess) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
                guard !overflow, !excess, sum <= CXCallDirectoryPhoneNumberMax else { return nil }
                number = sum
            case UInt8(ascii: "+") where index == 0: break
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "/"): break
            default: return nil
            }
        }
        return number
    }
}
