/// The books on the shelf when the server begins.
enum ClassicBooks {
    static let all: [NewBook] = [
        NewBook(title: "Pride and Prejudice", author: "Jane Austen", year: 1813),
        NewBook(title: "Emma", author: "Jane Austen", year: 1815),
        NewBook(title: "Frankenstein", author: "Mary Shelley", year: 1818),
        NewBook(title: "The Count of Monte Cristo", author: "Alexandre Dumas", year: 1846),
        NewBook(title: "Jane Eyre", author: "Charlotte Brontë", year: 1847),
        NewBook(title: "Wuthering Heights", author: "Emily Brontë", year: 1847),
        NewBook(title: "Moby-Dick", author: "Herman Melville", year: 1851),
        NewBook(title: "Bleak House", author: "Charles Dickens", year: 1853),
        NewBook(title: "Great Expectations", author: "Charles Dickens", year: 1861),
        NewBook(title: "Les Misérables", author: "Victor Hugo", year: 1862),
        NewBook(title: "Alice's Adventures in Wonderland", author: "Lewis Carroll", year: 1865),
        NewBook(title: "Crime and Punishment", author: "Fyodor Dostoevsky", year: 1866),
        NewBook(title: "War and Peace", author: "Leo Tolstoy", year: 1869),
        NewBook(title: "Middlemarch", author: "George Eliot", year: 1871),
        NewBook(title: "Anna Karenina", author: "Leo Tolstoy", year: 1878),
        NewBook(title: "Treasure Island", author: "Robert Louis Stevenson", year: 1883),
        NewBook(title: "The Adventures of Huckleberry Finn", author: "Mark Twain", year: 1884),
        NewBook(title: "The Picture of Dorian Gray", author: "Oscar Wilde", year: 1890),
        NewBook(title: "Dracula", author: "Bram Stoker", year: 1897),
        NewBook(title: "我是猫", author: "夏目漱石", year: 1905),
        NewBook(title: "Der Process", author: "Franz Kafka", year: 1925),
        NewBook(title: "Mrs Dalloway", author: "Virginia Woolf", year: 1925),
        NewBook(title: "Der Zauberberg", author: "Thomas Mann", year: 1924),
    ]
}
