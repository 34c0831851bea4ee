import Hummingbird

/// The price of a product, as the supplier gives it and as the server sends it.
struct Price: ResponseCodable, Sendable, Hashable {
    let product: String
    let cents: Int
}
