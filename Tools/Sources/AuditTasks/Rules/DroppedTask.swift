import SwiftSyntax

extension Context {
    /// Rule 1: a task whose handle is dropped, and that retains an owner with a lifetime.
    mutating func checkDroppedTasks() {
        for task in tasks where task.isDropped {
            guard let (owner, hold) = hold(of: task.closure), !owner.isProcessWide, !isTestCase(owner) else { continue }
            // The objects of a test live as long as the test, and a function that waits for a signal is the owner's caller.
            if file.isTest && hold.weight < .endless || signalsItsCreator(task) { continue }
            // Rule 2 says that the errors of a discarded task are lost.
            if case .discarded = task.fate, losesErrors(task) { continue }
            let kind = owner.kind == .actor ? "actor" : "class"
            switch weight(of: task, owner, hold.weight) {
            case .nothing: continue
            case .hop:
                report(
                    .droppedTask,
                    .note,
                    at: task.call,
                    "the handle of this task is dropped, and it \(hold.way): the \(kind) `\(owner.shortName)` lives until the task ends"
                )
            case .work:
                report(
                    .droppedTask,
                    .warning,
                    at: task.call,
                    "nothing can cancel this task, and it \(hold.way): the \(kind) `\(owner.shortName)` lives until the task ends"
                )
            case .endless:
                report(
                    .droppedTask,
                    .error,
                    at: task.call,
                    "nothing can cancel this task, and it \(hold.way): its loop keeps the \(kind) `\(owner.shortName)` alive as long as it runs"
                )
            }
        }
    }

    /// How long a task retains its owner, where that owner should be released before the task ends.
    private func weight(of task: TaskCreation, _ owner: TypeInfo, _ weight: Hold.Weight) -> Hold.Weight {
        switch weight {
        case .nothing, .hop: return weight
        case .work:
            // An object that no screen owns lives as long as its work; and what a user has asked for must end.
            return isScreen(owner) && !mustEnd(task) && asks(task, owner) ? .work : .hop
        case .endless:
            let body = Syntax(task.closure.statements)
            guard hasEndlessLoop(body) else { return .endless }
            let loops =
                (body.all(ForStmtSyntax.self, skip: isOwnTask).map { Syntax($0) }
                + body.all(WhileStmtSyntax.self, skip: isOwnTask).map { Syntax($0) })
                .filter { isEndlessLoop($0) && !endsByItself($0, in: task) }
            return loops.isEmpty ? isScreen(owner) ? .work : .hop : .endless
        }
    }

    private static let finiteWords = [
        "chunk", "byte", "lines", "body", "response", "part", "result", "download", "upload", "completion", "progress",
        "page", "reader", "asyncsequence", "files", "rows", "records",
    ]

    /// Whether a loop is over something that ends with a request, or ends when its own code has what it waits for.
    private func endsByItself(_ loop: Syntax, in task: TaskCreation) -> Bool {
        if let loop = loop.as(WhileStmtSyntax.self) { return loop.body.exitsLoop }
        guard let loop = loop.as(ForStmtSyntax.self) else { return false }
        let sequence = loop.sequence
        if sequence.isSelf || sequence.text.containsAny(Self.finiteWords) { return true }
        return loop.pattern.text.containsAny(Self.finiteWords) || loop.body.exitsLoop
    }

    /// The beginnings of names of calls that a user has asked for, and that end although the screen is closed.
    static let verbsThatMustEnd = [
        "save", "write", "persist", "delete", "remove", "send", "post", "submit", "buy", "purchase", "restore",
        "upload", "register", "unregister", "deregister", "logout", "logOut", "signOut", "signIn", "login", "logIn",
        "log", "track", "report", "record", "disconnect", "close", "stop", "finish", "cancel", "flush", "store",
        "set", "toggle", "mark", "follow", "unfollow", "vote", "react", "like", "bookmark", "mute", "block", "dismiss",
        "create", "add", "update", "edit", "accept", "reject", "confirm", "complete", "install", "uninstall", "move",
        "rename", "archive", "publish", "pin", "unpin", "join", "leave", "invite", "clear", "reset", "perform",
        "execute", "handle", "favorite", "boost", "copy", "export", "import", "open", "start", "apply", "sync", "run",
        "present", "show", "sleep", "authenticate", "authorize", "request", "grant", "revoke", "enable", "disable",
        "switch", "change", "prepare", "connect", "process", "make", "generate", "relay", "command", "vacuum", "seek",
        "play",
        "pause", "resume", "withThrowingTaskGroup", "withTaskGroup", "launch", "begin", "end", "go", "navigate",
        "notify", "emit",
        "migrate", "convert", "configure", "setup", "initialize", "schedule", "attach", "deactivate", "activate",
    ]

    private static let asking = [
        "fetch", "load", "search", "query", "download", "refresh", "reload", "request", "validate", "lookup", "resolve",
        "get",
        "list", "poll", "wait", "retrieve", "next", "observe", "listen", "feed", "image", "data", "quote", "find",
        "read",
    ]

    /// Whether a task waits for an answer from outside, which can take long: a call that can fail, or whose name says so.
    private func asks(_ task: TaskCreation, _ owner: TypeInfo) -> Bool {
        task.closure.statements.awaits(skip: isOwnTask).contains { awaiting in
            guard let call = awaiting.as(AwaitExprSyntax.self)?.expression.unwrapped.as(FunctionCallExprSyntax.self),
                let name = call.calledName
            else { return false }
            if call.isSleep || call.text.hasPrefix("MainActor.run") { return false }
            if awaiting.parent?.is(TryExprSyntax.self) == true { return true }
            return Self.asking.contains { name.beginsWithWord($0) }
        }
    }

    /// Whether the work of a task is that of a user who has asked for it, and no question whose answer only the owner shows.
    func mustEnd(_ task: TaskCreation) -> Bool {
        let calls = task.closure.statements.awaits(skip: isOwnTask).compactMap {
            $0.as(AwaitExprSyntax.self)?.expression.unwrapped.as(FunctionCallExprSyntax.self)
        }
        guard !calls.isEmpty else { return true }
        return calls.contains { call in
            guard let name = call.calledName else { return false }
            return Self.verbsThatMustEnd.contains { name.beginsWithWord($0) }
        }
    }

    private static let screenWords = [
        "View", "Model", "ViewController", "WindowController", "TableController", "CollectionController", "Screen",
        "Presenter",
        "Page", "Cell",
    ]

    /// Whether a type is a part of a screen, as far as its declaration and its name tell.
    func isScreen(_ owner: TypeInfo) -> Bool {
        guard owner.kind != .actor else { return false }
        if owner.attributes.contains("Observable") || owner.inherits.contains("ObservableObject")
            || index.inherits(
                owner,
                from: ["UIViewController", "NSViewController", "UIView", "NSView"],
                module: file.module
            )
        {
            return true
        }
        return owner.name.split(separator: ".").contains { part in
            Self.screenWords.contains { part.hasSuffix($0) }
        }
    }

    /// Whether the function that creates a task waits until the task has signalled its end.
    private func signalsItsCreator(_ task: TaskCreation) -> Bool {
        guard let body = Scope(of: task.call, skippingClosures: true).node else { return false }
        let signals = task.closure.all(FunctionCallExprSyntax.self).filter {
            ["signal", "leave", "fulfill"].contains($0.calledName ?? "")
        }
        let names = signals.compactMap { $0.base?.root?.name }
        return body.hasNode { node in
            guard let call = node.as(FunctionCallExprSyntax.self), call.position > task.call.position else {
                return false
            }
            return ["wait", "notify"].contains(call.calledName ?? "") && names.contains(call.base?.root?.name ?? "")
        }
    }

    func isTestCase(_ type: TypeInfo) -> Bool {
        index.inherits(type, from: ["XCTestCase"], module: file.module)
            || (file.isTest
                && (type.shortName.hasSuffix("Tests") || type.shortName.hasSuffix("TestCase")
                    || type.attributes.contains("Suite")))
    }
}

extension String {
    /// Whether a name begins with a word: `load` in `load` and `loadMore`, and not in `loadingState`.
    func beginsWithWord(_ word: String) -> Bool {
        guard hasPrefix(word) else { return false }
        return dropFirst(word.count).first.map { !$0.isLowercase } ?? true
    }
}
