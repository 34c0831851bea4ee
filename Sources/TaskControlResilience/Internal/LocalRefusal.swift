/// An error with which a policy of this module refuses a call, so that the call is not made.
///
/// Such an error gives no information about the service: another policy around the call counts it neither as a failure nor as a success.
protocol LocalRefusal: Error {}
