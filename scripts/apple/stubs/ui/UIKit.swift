// The part of Apple's UIKit that the articles use, with the signatures of the SDK of iOS 26.

@_exported import Foundation

// Not an `NSObject`: a subclass of one on Linux cannot have an initializer of the main actor.
@MainActor @preconcurrency open class UIResponder {
    public init() { fatalError() }
}

@MainActor @preconcurrency open class UIView: UIResponder {}

@MainActor @preconcurrency open class UILabel: UIView {
    open var text: String?
}

public final class UIImage: @unchecked Sendable {
    public init?(data: Data) { fatalError() }
}

@MainActor @preconcurrency open class UIImageView: UIView {
    open var image: UIImage?
}

@MainActor @preconcurrency open class UIViewController: UIResponder {
    public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) { fatalError() }
    public required init?(coder: NSCoder) { fatalError() }
    open var view: UIView! {
        get { fatalError() }
        set { fatalError() }
    }
    open func viewDidLoad() { fatalError() }
    open func viewWillAppear(_ animated: Bool) { fatalError() }
    open func viewDidDisappear(_ animated: Bool) { fatalError() }
    public var isViewLoaded: Bool { fatalError() }
}

@MainActor @preconcurrency open class UITableView: UIView {
    open func reloadData() { fatalError() }
}

@MainActor @preconcurrency open class UITableViewController: UIViewController {
    open var tableView: UITableView! {
        get { fatalError() }
        set { fatalError() }
    }
}

@MainActor @preconcurrency open class UICollectionReusableView: UIView {
    open func prepareForReuse() { fatalError() }
}

@MainActor @preconcurrency open class UICollectionViewCell: UICollectionReusableView {
    open var contentView: UIView { fatalError() }
}

@MainActor @preconcurrency open class UISearchBar: UIView {
    open var text: String?
}

@MainActor @preconcurrency open class UISearchController: UIViewController {
    open var searchBar: UISearchBar { fatalError() }
}

@MainActor @preconcurrency public protocol UISearchResultsUpdating: AnyObject {
    func updateSearchResults(for searchController: UISearchController)
}

public struct UIBackgroundTaskIdentifier: Hashable, RawRepresentable, Sendable {
    public var rawValue: Int
    public init(rawValue: Int) { fatalError() }
    public static let invalid: UIBackgroundTaskIdentifier = { fatalError() }()
}

@MainActor @preconcurrency open class UIApplication: UIResponder {
    open class var shared: UIApplication { fatalError() }
    open func beginBackgroundTask(
        withName taskName: String?,
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { fatalError() }
    open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) { fatalError() }

    public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { fatalError() }
    }
}

// Of Objective-C, where these requirements are optional.
@MainActor @preconcurrency public protocol UIApplicationDelegate: AnyObject {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func applicationWillTerminate(_ application: UIApplication)
}

extension UIApplicationDelegate {
    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { fatalError() }
    public func applicationWillTerminate(_ application: UIApplication) { fatalError() }
}
