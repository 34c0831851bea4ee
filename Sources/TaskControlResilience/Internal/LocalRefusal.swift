/// An error of this module for a call that was not made.
///
/// The error gives no information about the service behind the call, so a policy around another policy neither counts it as a failure nor as a
/// success.
protocol LocalRefusal: Error {}
