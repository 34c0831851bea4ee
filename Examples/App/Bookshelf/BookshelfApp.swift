import SwiftUI
import TaskControlSwiftUI

@main struct BookshelfApp: App {
    @State private var model = AppModel()

    var body: some Scene {
        WindowGroup { RootScreen(model: model) }
    }
}

struct RootScreen: View {
    let model: AppModel

    var body: some View {
        if let session = model.session {
            TabView {
                NavigationStack {
                    FeedScreen(model: session.feed, uploads: session.uploads)
                        .toolbar { AsyncButton("Log out", role: .destructive) { await model.logOut() } }
                }
                .tabItem { Label("Books", systemImage: "books.vertical") }
                NavigationStack { SearchScreen(model: session.search) }
                    .tabItem { Label("Search", systemImage: "magnifyingglass") }
                NavigationStack { UploadsScreen(model: session.uploads) }
                    .tabItem { Label("Uploads", systemImage: "arrow.up.circle") }
            }
        } else {
            Button("Log in") { model.logIn() }
        }
        if let problem = model.problem { Text(problem) }
    }
}

#Preview("Logged out") { RootScreen(model: AppModel()) }
