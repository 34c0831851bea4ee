internal import Foundation

// Events show the name of a URLError's code. The core, which does not know Foundation, shows the domain and the number
// of an error of Foundation.

extension URLError: EventDescribable {
    /// The text of the error in events, such as `URLError(networkConnectionLost)`, or with the number of a code that
    /// has no name. Does not contain the URL, which the error stores beside its code.
    package var eventText: String { "URLError(\(Self.names[errorCode] ?? String(errorCode)))" }

    /// The names of Foundation's codes by their numbers, including those that only Apple's platforms have.
    private static let names = [
        -1: "unknown", -995: "backgroundSessionRequiresSharedContainer",
        -996: "backgroundSessionInUseByAnotherProcess", -997: "backgroundSessionWasDisconnected",
        -999: "cancelled", -1000: "badURL", -1001: "timedOut", -1002: "unsupportedURL", -1003: "cannotFindHost",
        -1004: "cannotConnectToHost", -1005: "networkConnectionLost", -1006: "dnsLookupFailed",
        -1007: "httpTooManyRedirects", -1008: "resourceUnavailable", -1009: "notConnectedToInternet",
        -1010: "redirectToNonExistentLocation", -1011: "badServerResponse", -1012: "userCancelledAuthentication",
        -1013: "userAuthenticationRequired", -1014: "zeroByteResource", -1015: "cannotDecodeRawData",
        -1016: "cannotDecodeContentData", -1017: "cannotParseResponse", -1018: "internationalRoamingOff",
        -1019: "callIsActive", -1020: "dataNotAllowed", -1021: "requestBodyStreamExhausted",
        -1022: "appTransportSecurityRequiresSecureConnection", -1100: "fileDoesNotExist", -1101: "fileIsDirectory",
        -1102: "noPermissionsToReadFile", -1103: "dataLengthExceedsMaximum", -1200: "secureConnectionFailed",
        -1201: "serverCertificateHasBadDate", -1202: "serverCertificateUntrusted",
        -1203: "serverCertificateHasUnknownRoot", -1204: "serverCertificateNotYetValid",
        -1205: "clientCertificateRejected", -1206: "clientCertificateRequired", -2000: "cannotLoadFromNetwork",
        -3000: "cannotCreateFile", -3001: "cannotOpenFile", -3002: "cannotCloseFile", -3003: "cannotWriteToFile",
        -3004: "cannotRemoveFile", -3005: "cannotMoveFile", -3006: "downloadDecodingFailedMidStream",
        -3007: "downloadDecodingFailedToComplete",
    ]
}

extension Redaction {
    /// Returns the text of an error in an event, which shows a `URLError` by the name of its code.
    static func eventText(of error: any Error) -> String {
        // Apple's URLSession throws an NSError, which a cast bridges to a type and not to a protocol.
        (error as? URLError)?.eventText ?? Diagnostics.text(of: error)
    }
}
