//! The nearest known name to a mistyped one.

/// A suggestion helps only if it is close: a third of the word may differ, at least one letter, at most three.
const MOST_EDITS: usize = 3;

pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let allowed = (word.chars().count() / 3).clamp(1, MOST_EDITS);
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&word, &name.to_lowercase()), name))
        .filter(|(edits, _)| *edits <= allowed)
        .min()
        .map(|(_, name)| name)
}

/// The hint for a name that is not one of `names`: the nearest, else the whole list.
pub fn hint<'a>(word: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(word, names.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("known: {}", list(names)),
    }
}

pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_close_names_are_offered() {
        let names = ["secret", "secrets", "source", "key"];
        assert_eq!(nearest("secrt", names), Some("secret"));
        assert_eq!(nearest("Secret", names), Some("secret"));
        assert_eq!(nearest("kye", names), Some("key"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("", names), None);
    }
}
