// The part of Apple's SwiftUI that the articles use, with the signatures of the SDK of iOS 26.

@_exported import Combine
@_exported import Foundation
@_exported import Observation

// MARK: Views

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
    public typealias Body = Never
    public var body: Never { fatalError() }
}

/// A view of the stubs, whose body is not asked for.
public protocol PrimitiveView: View where Body == Never {}
extension PrimitiveView {
    public var body: Never { fatalError() }
}

@resultBuilder public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { fatalError() }
    public static func buildBlock() -> EmptyView { fatalError() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { fatalError() }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        fatalError()
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { fatalError() }
    public static func buildEither<One: View, Other: View>(first: One) -> ConditionalContent<One, Other> {
        fatalError()
    }
    public static func buildEither<One: View, Other: View>(second: Other) -> ConditionalContent<One, Other> {
        fatalError()
    }
}

extension Optional: View where Wrapped: View {
    public typealias Body = Never
    public var body: Never { fatalError() }
}

public struct EmptyView: PrimitiveView { nonisolated public init() {} }
public struct TupleView<T>: PrimitiveView {}
public struct ConditionalContent<One: View, Other: View>: PrimitiveView {}

public struct LocalizedStringKey: ExpressibleByStringInterpolation, Equatable {
    public init(stringLiteral value: String) { fatalError() }
}

public struct Text: PrimitiveView {
    nonisolated public init(_ key: LocalizedStringKey) { fatalError() }
    @_disfavoredOverload nonisolated public init<S: StringProtocol>(_ content: S) { fatalError() }
}

public struct ButtonRole: Equatable, Sendable {
    public static let cancel: ButtonRole = { fatalError() }()
    public static let destructive: ButtonRole = { fatalError() }()
}

public struct Button<Label: View>: PrimitiveView {
    nonisolated public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) { fatalError() }
    nonisolated public init(role: ButtonRole?, action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label)
    {
        fatalError()
    }
}

extension Button where Label == Text {
    nonisolated public init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) { fatalError() }
    nonisolated public init(_ titleKey: LocalizedStringKey, role: ButtonRole?, action: @escaping @MainActor () -> Void)
    {
        fatalError()
    }
}

public struct TextField<Label: View>: PrimitiveView {}
extension TextField where Label == Text {
    nonisolated public init(_ titleKey: LocalizedStringKey, text: Binding<String>) { fatalError() }
}

public struct ProgressView: PrimitiveView {
    nonisolated public init() { fatalError() }
    nonisolated public init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0) { fatalError() }
}

public struct VStack<Content: View>: PrimitiveView {
    nonisolated public init(@ViewBuilder content: () -> Content) { fatalError() }
}

public struct HStack<Content: View>: PrimitiveView {
    nonisolated public init(@ViewBuilder content: () -> Content) { fatalError() }
}

public struct Label<Title: View, Icon: View>: PrimitiveView {}
public struct Image: PrimitiveView {}
extension Label where Title == Text, Icon == Image {
    nonisolated public init(_ titleKey: LocalizedStringKey, systemImage name: String) { fatalError() }
}

public struct TabView<SelectionValue: Hashable, Content: View>: PrimitiveView {}
extension TabView where SelectionValue == Int {
    nonisolated public init(@ViewBuilder content: () -> Content) { fatalError() }
}

public struct NavigationStack<Root: View>: PrimitiveView {
    nonisolated public init(@ViewBuilder root: () -> Root) { fatalError() }
}

public struct List<Content: View>: PrimitiveView {
    nonisolated public init(@ViewBuilder content: () -> Content) { fatalError() }
    nonisolated public init<Data: RandomAccessCollection, Row: View>(
        _ data: Data,
        @ViewBuilder rowContent: @escaping (Data.Element) -> Row
    ) where Content == ForEach<Data, Row>, Data.Element: Identifiable { fatalError() }
}

public struct ForEach<Data: RandomAccessCollection, Content: View>: PrimitiveView where Data.Element: Identifiable {
    nonisolated public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) { fatalError() }
}

extension View {
    nonisolated public func task(
        priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { stub() }
    nonisolated public func task<T: Equatable>(
        id value: T,
        priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { stub() }
    nonisolated public func refreshable(action: @escaping @Sendable () async -> Void) -> some View { stub() }
    nonisolated public func searchable(text: Binding<String>) -> some View { stub() }
    nonisolated public func sheet<Content: View>(
        isPresented: Binding<Bool>,
        onDismiss: (() -> Void)? = nil,
        @ViewBuilder content: @escaping () -> Content
    ) -> some View { stub() }
    nonisolated public func sheet<Item: Identifiable, Content: View>(
        item: Binding<Item?>,
        onDismiss: (() -> Void)? = nil,
        @ViewBuilder content: @escaping (Item) -> Content
    ) -> some View { stub() }
    nonisolated public func overlay<V: View>(@ViewBuilder content: () -> V) -> some View { stub() }
    nonisolated public func navigationTitle(_ titleKey: LocalizedStringKey) -> some View { stub() }
    nonisolated public func toolbar<Content: View>(@ViewBuilder content: () -> Content) -> some View { stub() }
    nonisolated public func tabItem<V: View>(@ViewBuilder _ label: () -> V) -> some View { stub() }
    nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View { stub() }
    nonisolated public func onDisappear(perform action: (() -> Void)? = nil) -> some View { stub() }
    @available(iOS 17.0, macOS 14.0, *)
    nonisolated public func onChange<V: Equatable>(
        of value: V,
        initial: Bool = false,
        _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void
    ) -> some View { stub() }
    @available(iOS, introduced: 14.0, deprecated: 17.0)
    nonisolated public func onChange<V: Equatable>(of value: V, perform action: @escaping (_ newValue: V) -> Void)
        -> some View
    {
        stub()
    }
    nonisolated public func disabled(_ disabled: Bool) -> some View { stub() }
    @available(iOS 17.0, macOS 14.0, *)
    nonisolated public func environment<T: AnyObject & Observable>(_ object: T?) -> some View { stub() }
    nonisolated func stub() -> EmptyView { fatalError() }
}

// MARK: Modifiers

@MainActor @preconcurrency public protocol ViewModifier {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
    typealias Content = _ViewModifier_Content<Self>
}

public struct _ViewModifier_Content<Modifier: ViewModifier>: PrimitiveView {}
public struct ModifiedContent<Content: View, Modifier: ViewModifier>: PrimitiveView {}

extension View {
    nonisolated public func modifier<T: ViewModifier>(_ modifier: T) -> ModifiedContent<Self, T> { fatalError() }
}

// MARK: State

public protocol DynamicProperty {}

@propertyWrapper public struct State<Value>: DynamicProperty {
    public init(wrappedValue value: Value) { fatalError() }
    public init(initialValue value: Value) { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set { fatalError() }
    }
    public var projectedValue: Binding<Value> { fatalError() }
}

extension State: Sendable where Value: Sendable {}

@propertyWrapper @dynamicMemberLookup public struct Binding<Value>: DynamicProperty {
    @preconcurrency public init(
        get: @escaping @isolated(any) @Sendable () -> Value,
        set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set { fatalError() }
    }
    public var projectedValue: Binding<Value> { fatalError() }
    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        fatalError()
    }
}

@propertyWrapper public struct StateObject<ObjectType: ObservableObject>: DynamicProperty {
    nonisolated public init(wrappedValue thunk: @autoclosure @escaping () -> ObjectType) { fatalError() }
    @MainActor @preconcurrency public var wrappedValue: ObjectType { fatalError() }
    @MainActor @preconcurrency public var projectedValue: ObservedObject<ObjectType>.Wrapper { fatalError() }
}

@MainActor @preconcurrency @propertyWrapper public struct ObservedObject<ObjectType: ObservableObject>: DynamicProperty
{
    @MainActor @preconcurrency @dynamicMemberLookup public struct Wrapper {
        public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<ObjectType, Subject>) -> Binding<
            Subject
        > {
            fatalError()
        }
    }
    nonisolated public init(wrappedValue: ObjectType) { fatalError() }
    @MainActor @preconcurrency public var wrappedValue: ObjectType
    @MainActor @preconcurrency public var projectedValue: Wrapper { fatalError() }
}

@available(iOS 17.0, macOS 14.0, *)
@propertyWrapper @dynamicMemberLookup public struct Bindable<Value> {
    public init(wrappedValue: Value) where Value: AnyObject & Observable { fatalError() }
    public var wrappedValue: Value
    public var projectedValue: Bindable<Value> { fatalError() }
}

@available(iOS 17.0, macOS 14.0, *)
extension Bindable where Value: AnyObject & Observable {
    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> {
        fatalError()
    }
}

// MARK: The environment, and scenes

public enum ScenePhase: Comparable, Hashable, Sendable {
    case background, inactive, active
}

public struct EnvironmentValues: Sendable {
    public var scenePhase: ScenePhase { fatalError() }
}

@propertyWrapper public struct Environment<Value>: DynamicProperty {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { fatalError() }
    public var wrappedValue: Value { fatalError() }
}

@available(iOS 17.0, macOS 14.0, *)
extension Environment where Value: AnyObject & Observable {
    public init(_ objectType: Value.Type) { fatalError() }
}

@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: Scene {}

@resultBuilder public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { fatalError() }
}

public struct WindowGroup<Content: View>: Scene {
    nonisolated public init(@ViewBuilder content: @escaping () -> Content) { fatalError() }
    public var body: Never { fatalError() }
}

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}

extension App {
    @MainActor @preconcurrency public static func main() { fatalError() }
}

// MARK: Previews

@available(iOS 17.0, macOS 14.0, *)
@freestanding(declaration)
public macro Preview(_ name: String? = nil, @ViewBuilder body: @escaping @MainActor () -> any View) =
    #externalMacro(module: "PreviewsMacros", type: "SwiftUIView")
