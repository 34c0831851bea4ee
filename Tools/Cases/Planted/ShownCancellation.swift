import Foundation

@MainActor final class LoadingModel {
    enum State { case idle, loaded([Item]), failed(Error) }
    var items: [Item] = []
    var error: Error?
    var errorMessage = ""
    var isShowingAlert = false
    var state = State.idle
    let api = API()

    func load() async {
        do {
            items = try await api.feed()
        } catch {  // expect: shown-cancellation
            self.error = error
        }
    }

    func message() async {
        do {
            items = try await api.feed()
        } catch {  // expect: shown-cancellation
            errorMessage = error.localizedDescription
        }
    }

    func alert() async {
        do {
            items = try await api.feed()
        } catch {  // expect: shown-cancellation
            isShowingAlert = true
        }
    }

    func phase() async {
        do {
            state = .loaded(try await api.feed())
        } catch {  // expect: shown-cancellation
            state = .failed(error)
        }
    }

    func named() async {
        do {
            items = try await api.feed()
        } catch let failure {  // expect: shown-cancellation
            show(failure)
        }
    }

    func partly() async {
        do {
            items = try await api.feed()
        } catch is Timeout {
            items = []
        } catch {  // expect: shown-cancellation
            showError("\(error)")
        }
    }

    func appear() -> Screen {
        Screen().task {
            await self.load()
            await self.message()
            await self.alert()
            await self.phase()
            await self.named()
        }
        .refreshable { await self.partly() }
    }

    private var loading: Task<Void, Never>?
    func disappear() { loading?.cancel() }

    func inTask() {
        loading?.cancel()
        loading = Task {
            do {
                items = try await api.feed()
            } catch {  // expect: shown-cancellation
                self.errorMessage = "It failed"
            }
        }
    }

    func show(_ error: Error) {}
    func showError(_ text: String) {}
}

final class FeedController: ViewController {
    let api = API()
    private var loading: Task<Void, Never>?

    func appear() {
        loading?.cancel()
        loading = Task { await load() }
    }

    func disappear() { loading?.cancel() }

    func load() async {
        do {
            print(try await api.feed())
        } catch {  // expect: shown-cancellation
            present("\(error)")
        }
    }
}

struct FeedView {
    @State var failure: Error? = nil
    let api = API()

    mutating func load() async {
        do {
            print(try await api.feed())
        } catch {  // expect: shown-cancellation
            failure = error
        }
    }
}

final class DetailViewModel: @unchecked Sendable {
    @MainActor var alertText: String?
    let api = API()

    func load() async {
        do {
            print(try await api.feed())
        } catch {  // expect: shown-cancellation
            await MainActor.run { self.alertText = error.localizedDescription }
        }
    }
}

struct DetailScreen {
    let model: DetailViewModel
    let view: FeedView
    func screen() -> Screen {
        Screen().task { await model.load() }
    }
    func feed() -> Screen {
        Screen().task {
            var view = view
            await view.load()
        }
    }
}
