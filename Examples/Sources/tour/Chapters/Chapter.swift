/// A common mistake with unstructured tasks, played first as people write it today, then with TaskControl.
///
/// To add a chapter, write a type in a file of its own in this folder, and add it to ``Chapters/all``.
protocol Chapter: Sendable {
    /// The name of the chapter for the option `--chapter`.
    var name: String { get }
    var title: String { get }

    /// Plays both versions, and reports the measurements. Nothing in the report is fixed in advance, except the claims' texts.
    ///
    /// On the main actor, where the models of an app live.
    @MainActor func run(_ tour: Tour) async throws -> Report
}

enum Chapters {
    /// All chapters, in the order of the tour.
    static let all: [any Chapter] = [
        ScreenChapter(), SearchChapter(), RefreshChapter(), StampedeChapter(), TokensChapter(), CacheChapter(),
        FlakyChapter(),
        QuotaChapter(), FeedChapter(), JobsChapter(), HangsChapter(), DeadlineChapter(), FanOutChapter(), LogChapter(),
        SaveChapter(),
    ]
}
