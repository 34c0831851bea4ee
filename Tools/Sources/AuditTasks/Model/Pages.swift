enum Pages {
    static func text(of rule: Rule) -> String { rule.title }
}
