/// The pages of the rules, which are also those of the documentation.
enum Pages {
    static func text(of rule: Rule) -> String {
        String(decoding: bytes(of: rule), as: UTF8.self)
    }

    private static func bytes(of rule: Rule) -> [UInt8] {
        switch rule {
        case .droppedTask: PackageResources.dropped_task_md
        case .uncancelledTask: PackageResources.uncancelled_task_md
        case .taskPerEvent: PackageResources.task_per_event_md
        case .continuation: PackageResources.continuation_md
        case .checkThenAwait: PackageResources.check_then_await_md
        case .sharedTask: PackageResources.shared_task_md
        case .retryLoop: PackageResources.retry_loop_md
        case .blockedWait: PackageResources.blocked_wait_md
        case .taskOrder: PackageResources.task_order_md
        default: PackageResources.shown_cancellation_md
        }
    }
}
