//! Paths, their one spelling, and what is said about broken ones.

use super::super::Path;

#[test]
fn paths_have_one_spelling() {
    let table = [
        ("$", "$"),
        ("$$", "$$"),
        ("$^.id", "$^.id"),
        ("$.a.b[0]['x']", "$.a.b[0].x"),
        ("$['event-data'][\"a.b\"]", "$['event-data']['a.b']"),
        ("$.*", "$[*]"),
        ("$.entry[*].changes[*]", "$.entry[*].changes[*]"),
        ("$.é1._x", "$.é1._x"),
        (r"$['it\'s']", r"$['it\'s']"),
        (r#"$["it's \\ \""]"#, r#"$['it\'s \\ "']"#),
        ("$['']", "$['']"),
    ];
    for (text, spelled) in table {
        let path = Path::parse(text).unwrap();
        assert_eq!(path.to_string(), spelled, "{text}");
        assert_eq!(Path::parse(spelled).unwrap(), path);
    }
}

#[test]
fn broken_paths_name_the_byte() {
    let table = [
        ("", 0, "a path begins with `$`"),
        ("id", 0, "a path begins with `$`"),
        ("$id", 1, "unexpected `i`"),
        ("$.", 2, "the path ends here"),
        ("$..id", 2, "`..` searches; write the whole path"),
        ("$.a..b", 4, "`..` searches; write the whole path"),
        ("$.event-data", 7, "a name with `-` is written in brackets. hint: `['event-data']`"),
        ("$.1a", 2, "unexpected `1`"),
        ("$.a b", 3, "unexpected ` `"),
        ("$[", 2, "the path ends here"),
        ("$[0", 3, "`]` expected"),
        ("$[-1]", 2, "an index counts from the front"),
        ("$[00]", 2, "an index has no leading zero"),
        ("$[4294967296]", 2, "index `4294967296` is too large"),
        ("$[0:2]", 3, "one step selects one name or one index"),
        ("$['a','b']", 5, "one step selects one name or one index"),
        ("$[?@.a]", 2, "filters and slices are not supported"),
        ("$['a", 3, "the closing `'` is missing"),
        (r"$['\n']", 3, "only quotes and backslashes are escaped here"),
        ("$['é'x", 6, "`]` expected"),
    ];
    for (text, offset, message) in table {
        let error = Path::parse(text).unwrap_err();
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text}");
    }
    assert!(Path::parse(&format!("${}", ".a".repeat(64))).is_ok());
    assert!(Path::parse(&format!("${}", ".a".repeat(65))).is_err());
}
