//! The scanner against written cases; `properties` has the random ones.

use super::super::json::{MAX_DEPTH, NotJson, Scanner, Token};
use super::super::{Path, Plan, text};

fn scan(bytes: &[u8]) -> Result<Vec<Token>, NotJson> {
    let mut scanner = Scanner::document(bytes);
    let mut tokens = Vec::new();
    loop {
        match scanner.advance().map_err(|flaw| scanner.why(flaw))? {
            Token::End => return Ok(tokens),
            token => tokens.push(token),
        }
    }
}

/// The text at a path, as the reader would see it.
pub fn read(document: &[u8], path: &str) -> Option<Vec<u8>> {
    let mut plan = Plan::default();
    let slot = plan.slot(&Path::parse(path).unwrap());
    let found = plan.document(document).ok()?;
    text::of(&found.slots[slot]?, document).map(|text| text.into_owned())
}

#[test]
fn what_is_no_json_has_no_values() {
    let table: [(&[u8], NotJson); 32] = [
        (b"", NotJson::Empty),
        (b" ", NotJson::Broken(1)),
        (b"{", NotJson::Broken(1)),
        (b"}", NotJson::Broken(0)),
        (b"[1,]", NotJson::Broken(3)),
        (b"[,1]", NotJson::Broken(1)),
        (b"[1 2]", NotJson::Broken(3)),
        (b"[1}", NotJson::Broken(2)),
        (b"{\"a\":1]", NotJson::Broken(6)),
        (b"{\"a\":1,}", NotJson::Broken(7)),
        (b"{\"a\" 1}", NotJson::Broken(5)),
        (b"{\"a\":}", NotJson::Broken(5)),
        (b"{a:1}", NotJson::Broken(1)),
        (b"{1:1}", NotJson::Broken(1)),
        (b"{'a':1}", NotJson::Broken(1)),
        (b"1 2", NotJson::Broken(2)),
        (b"{} x", NotJson::Broken(3)),
        (b"{}\0", NotJson::Broken(2)),
        (b"01", NotJson::Broken(2)),
        (b"1.", NotJson::Broken(2)),
        (b".5", NotJson::Broken(0)),
        (b"+1", NotJson::Broken(0)),
        (b"-", NotJson::Broken(1)),
        (b"1e", NotJson::Broken(2)),
        (b"NaN", NotJson::Broken(0)),
        (b"nul", NotJson::Broken(0)),
        (b"truely", NotJson::Broken(4)),
        (b"\"", NotJson::Broken(1)),
        (b"\"\\", NotJson::Broken(1)),
        (b"\"\\x\"", NotJson::Broken(1)),
        (b"\"\\u12g4\"", NotJson::Broken(1)),
        (b"payload=%7B%7D", NotJson::Broken(0)),
    ];
    for (bytes, flaw) in table {
        assert_eq!(scan(bytes), Err(flaw), "{}", bytes.escape_ascii());
    }
}

#[test]
fn what_is_json_is_scanned() {
    for text in [
        "0",
        "-0.5e+10",
        "1e400",
        "null",
        "\"\"",
        "[]",
        "{}",
        " [ 1 , \"a\" , { } ] ",
        "{\"\":{\"\":[[]]}}",
        "\u{feff}{}",
    ] {
        assert!(scan(text.as_bytes()).is_ok(), "{text}");
    }
    // Leniency inside strings: the id beside it can still be read.
    for bytes in [&b"{\"n\":\"\xff\xfe\",\"id\":7}"[..], b"{\"n\":\"tab\there\",\"id\":7}", b"{\"n\":\"\0\",\"id\":7}"]
    {
        assert_eq!(read(bytes, "$.id").as_deref(), Some(&b"7"[..]));
    }
}

#[test]
fn depth_is_bounded_and_bombs_are_cheap() {
    let nested = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
    assert!(scan(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(scan(&nested(MAX_DEPTH + 1)), Err(NotJson::TooDeep));
    assert_eq!(scan(&b"[".repeat(100_000)), Err(NotJson::TooDeep));
    assert_eq!(scan(&b"{\"a\":".repeat(100_000)), Err(NotJson::TooDeep));
}

#[test]
fn the_last_of_repeated_names_counts() {
    let table = [
        (r#"{"id":"a","id":"b"}"#, "$.id", Some("b")),
        (r#"{"id":"a","\u0069d":"b"}"#, "$.id", Some("b")),
        (r#"{"d":{"id":1},"d":{}}"#, "$.d.id", None),
        (r#"{"d":{"id":1},"d":7}"#, "$.d.id", None),
        (r#"{"d":7,"d":{"id":1}}"#, "$.d.id", Some("1")),
        (r#"{"d":[1,2],"d":[3]}"#, "$.d[1]", None),
        (r#"{"id":"a","id":null}"#, "$.id", None),
    ];
    for (document, path, expected) in table {
        let found = read(document.as_bytes(), path);
        assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{document}");
    }
}

#[test]
fn values_are_found_at_their_paths() {
    let document = r#" {"a":{"b":[10,{"x":"y"},[true]]},"event-data":{"a.b":1.50},"é":"\u00e9","":"e","n":null} "#;
    let table = [
        ("$.a.b[0]", Some("10")),
        ("$.a.b[1].x", Some("y")),
        ("$.a.b[2][0]", Some("true")),
        ("$['event-data']['a.b']", Some("1.50")),
        ("$.é", Some("é")),
        ("$['']", Some("e")),
        ("$.n", None),
        ("$.a", None),
        ("$.a.b", None),
        ("$.a.b[9]", None),
        ("$.a.b.x", None),
        ("$.a[0]", None),
        ("$.missing", None),
        ("$", None),
    ];
    for (path, expected) in table {
        assert_eq!(read(document.as_bytes(), path).as_deref(), expected.map(str::as_bytes), "{path}");
    }
    assert_eq!(read(b"42", "$").as_deref(), Some(&b"42"[..]));
}

#[test]
fn escapes_are_decoded_when_read() {
    let table: [(&str, &[u8]); 10] = [
        (r#""\"\\\/\b\f\n\r\t""#, b"\"\\/\x08\x0c\n\r\t"),
        (r#""\u0000""#, b"\0"),
        (r#""\\u0000""#, br"\u0000"),
        (r#""\u00e9""#, "é".as_bytes()),
        (r#""\uD83D\uDE00""#, "😀".as_bytes()),
        (r#""\ud83d""#, b"\xed\xa0\xbd"),
        (r#""\ude00\ud83d""#, b"\xed\xb8\x80\xed\xa0\xbd"),
        (r#""\ud83d\ud83d\ude00""#, b"\xed\xa0\xbd\xf0\x9f\x98\x80"),
        (r#""\ud83dx""#, b"\xed\xa0\xbdx"),
        (r#""\ud83d\n""#, b"\xed\xa0\xbd\n"),
    ];
    for (document, expected) in table {
        assert_eq!(read(document.as_bytes(), "$").as_deref(), Some(expected), "{document}");
    }
}

/// A wildcard and the names beside it are asked in the same walk.
#[test]
fn wildcards_are_folded_into_their_siblings() {
    let orders: [&[&str]; 2] =
        [&["$.a.v", "$.*.v", "$.b[1].w", "$.*[*].w"], &["$.*[*].w", "$.b[1].w", "$.*.v", "$.a.v"]];
    let document = br#"{"a":{"v":1},"b":[{"w":2},{"w":3}],"c":{"v":4,"w":5}}"#;
    for order in orders {
        let mut plan = Plan::default();
        for path in order {
            plan.volatile(&Path::parse(path).unwrap());
        }
        let slot = plan.slot(&Path::parse("$.c.v").unwrap());
        let found = plan.document(document).unwrap();
        let texts: Vec<&[u8]> = found.volatile.iter().map(|span| span.of(document)).collect();
        assert_eq!(texts, [b"1", b"2", b"3", b"4"]);
        assert_eq!(found.slots[slot].map(|v| v.span.of(document)), Some(&b"4"[..]));
    }
}
