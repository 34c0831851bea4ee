/// One trap of unstructured tasks, played first as people write it today, then with TaskControl.
///
/// To add one: a type in a file of its own in this folder, and its name in ``Chapters/all``.
protocol Chapter: Sendable {
    /// For `--chapter`.
    var name: String { get }
    var title: String { get }

    /// Plays both, and says what was measured. Nothing in the report is fixed in advance, except the claims' texts.
    ///
    /// On the main actor, where the models of an app live.
    @MainActor func run(_ tour: Tour) async throws -> Report
}

enum Chapters {
    /// In the order of the tour.
    static let all: [any Chapter] = [
        ScreenChapter(),
        SearchChapter(),
        RefreshChapter(),
        StampedeChapter(),
        TokensChapter(),
        CacheChapter(),
        FlakyChapter(),
        FeedChapter(),
        HangsChapter(),
        DeadlineChapter(),
        FanOutChapter(),
        LogChapter(),
        SaveChapter(),
    ]
}
