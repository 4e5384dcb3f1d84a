//! What came from outside must not drive the terminal: control characters, newlines inside cells and marks that
//! reorder or hide text are shown as escapes.

/// For a cell or one line of talk.
pub fn line(text: &str) -> String {
    text.chars().map(|c| shown(c, false)).collect()
}

/// For text of our own making with several lines: newlines stay.
pub fn block(text: &str) -> String {
    text.chars().map(|c| shown(c, true)).collect()
}

/// Serialised JSON: what JSON itself lets through and a terminal acts upon. These characters stand in strings only.
pub fn json(text: &str) -> String {
    let escaped = |c: char| {
        if !acts(c) || c == '\n' {
            return c.to_string();
        }
        c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    };
    text.chars().map(escaped).collect()
}

fn shown(c: char, newlines: bool) -> String {
    match c {
        '\n' if newlines => "\n".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c if acts(c) => format!("\\u{{{:x}}}", u32::from(c)),
        c => c.to_string(),
    }
}

fn acts(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_gets_through() {
        let hostile = "a\u{1b}[31mb\u{7f}\u{9b}c\u{202e}d\u{200b}\u{feff}\u{e0041}e\r\nf\tg";
        for text in [line(hostile), json(&serde_json::Value::from(hostile).to_string())] {
            assert!(!text.chars().any(acts), "{text:?}");
        }
        assert_eq!(line("\u{1b}\n"), "\\u{1b}\\n");
        assert_eq!(line("äöü € 日本"), "äöü € 日本");
        assert_eq!(block("a\nb"), "a\nb");
    }

    #[test]
    fn escaped_json_still_says_the_same() {
        let hostile = "\u{9b}\u{202e}\u{e0041}\"\\";
        let text = json(&serde_json::Value::from(hostile).to_string());
        assert_eq!(serde_json::from_str::<String>(&text).expect("valid"), hostile);
    }
}
