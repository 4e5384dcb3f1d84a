//! Hides what may be a secret in a line of configuration before the line is shown beside an error.
//!
//! Decided on the raw text, not on the parsed tree: a file that does not parse is the one that is shown most often,
//! and a secret under a mistyped key (`secrt = "…"`) is no less secret. So the rule is turned around: a string is shown
//! only where the key before it is known to be harmless; everything else becomes `*`. Byte lengths stay, so spans hold.

use super::overlay::SECTIONS;

/// Shorter texts with lower-case letters and digits are still taken for names.
const LEAST_SECRET: usize = 16;

/// Keys whose values are shown. A key that may carry a secret, or that we do not know, is not in this list.
pub const HARMLESS: &[&str] = &[
    "ack_deadline",
    "aggregate",
    "allow",
    "allow_private",
    "attempts",
    "batch",
    "bind",
    "body",
    "business_key",
    "coalesce",
    "concurrency",
    "consumer",
    "content_type",
    "current",
    "delay",
    "deleted",
    "do",
    "encoding",
    "env",
    "expect_rows",
    "fallback",
    "file",
    "fingerprint",
    "first",
    "first_byte",
    "from",
    "gap_timeout",
    "give_up_after",
    "handshakes",
    "head",
    "header",
    "history",
    "hmac",
    "id_guard",
    "idempotent_for",
    "idle",
    "initial",
    "inline",
    "items",
    "key",
    "key_name",
    "kind",
    "ledger",
    "list",
    "listen",
    "max",
    "max_body",
    "max_buffered",
    "name",
    "namespace",
    "no_time",
    "not_after",
    "not_before",
    "number",
    "on",
    "on_conflict",
    "on_dead",
    "on_forbidden",
    "on_rows",
    "on_unmapped",
    "order",
    "otherwise",
    "parts",
    "path",
    "payload",
    "permanent",
    "prefix",
    "provider",
    "public_url",
    "query",
    "reason",
    "require",
    "respond",
    "retain",
    "retry",
    "retry_window",
    "revive",
    "scheme",
    "schema_strict",
    "schema_version",
    "schema_versions",
    "signal",
    "signature_over",
    "signed",
    "silence",
    "sql",
    "start",
    "state",
    "status",
    "terminal",
    "then",
    "ties",
    "time",
    "timeout",
    "timestamp",
    "tolerance",
    "type",
    "types",
    "unit",
    "url",
    "use",
    "verify",
    "version",
    "volatile",
    "window",
];

pub fn masked(text: &str) -> String {
    let mut scan = Scan {
        out: String::with_capacity(text.len()),
        key: String::new(),
        value: false,
        env: false,
        shown: true,
        outer: Vec::new(),
    };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = token(rest, c);
        let (now, later) = rest.split_at(taken);
        scan.step(c, now, later);
        rest = later;
    }
    scan.out
}

/// Where the scanner stands: the last key seen, whether a value is expected, and the same of the brackets around.
struct Scan {
    out: String,
    key: String,
    value: bool,
    /// The value is the name of a variable.
    env: bool,
    shown: bool,
    outer: Vec<(bool, bool)>,
}

impl Scan {
    fn step(&mut self, first: char, token: &str, after: &str) {
        match first {
            '=' => self.value_begins(),
            '[' | '{' if self.value => self.open(first),
            ']' | '}' => self.close(),
            '\n' if self.outer.is_empty() => self.value = false,
            ',' => self.next_element(),
            '#' => {}
            c if c.is_whitespace() => {}
            _ if self.value => return self.hide_or_show(token),
            '[' => {}
            _ if !is_name(token, after) => return self.out.push_str(&starred(token, "")),
            _ => self.key = token.trim_matches(['"', '\'']).to_owned(),
        }
        // A comment may be an old secret that somebody put aside.
        if first == '#' { self.out.push_str(&starred(token, "#")) } else { self.out.push_str(token) }
    }

    /// A second `=` in one value is a slip, and then nobody knows whose value follows.
    fn value_begins(&mut self) {
        let name = self.key.rsplit('.').next().unwrap_or_default();
        self.shown = !self.value && HARMLESS.contains(&name);
        self.value = true;
        self.env = name == "env";
        self.key.clear();
    }

    fn open(&mut self, bracket: char) {
        self.outer.push((bracket == '[', self.shown));
        self.value = bracket == '[';
    }

    fn close(&mut self) {
        if let Some((_, shown)) = self.outer.pop() {
            self.shown = shown;
        }
        self.value = self.outer.last().is_some_and(|(list, _)| *list);
    }

    fn next_element(&mut self) {
        let (list, shown) = self.outer.last().copied().unwrap_or((false, false));
        (self.value, self.shown) = (list, shown);
    }

    fn hide_or_show(&mut self, token: &str) {
        let pasted = self.env && like_a_secret(token.trim_matches(['"', '\'']));
        if (self.shown && !pasted && is_whole(token)) || matches!(token, "true" | "false") {
            self.out.push_str(&without_password(&first_line(token)));
        } else {
            self.out.push_str(&starred(token, "\"'"));
        }
        // A value is one token. What follows it before a comma or the line's end is the rest of a slip.
        self.shown = false;
    }
}

/// A string that has its end. One without may have swallowed anything.
fn is_whole(token: &str) -> bool {
    let quote = token.chars().next().filter(|c| matches!(c, '"' | '\''));
    let Some(quote) = quote else { return true };
    let fence = if token.starts_with(&[quote; 3].iter().collect::<String>()) { 3 } else { 1 };
    token.len() >= 2 * fence && token.ends_with(quote)
}

/// Whether a word is a key or the name of a table, by its letters and by what follows. Any other may be half a value.
fn is_name(word: &str, after: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || "-_.\"'".contains(c);
    let quoted = word.starts_with(['"', '\'']);
    let section = word.split('.').next().is_some_and(|first| SECTIONS.contains(&first));
    section && word.chars().all(letters)
        || (quoted || word.chars().all(letters)) && after.trim_start_matches([' ', '\t']).starts_with(['=', ']', '.'])
}

/// Length of the token at the start of `rest`: a string with its quotes (an open one ends with the line), a comment,
/// a bare word, or one character.
fn token(rest: &str, first: char) -> usize {
    let line = rest.find('\n').unwrap_or(rest.len());
    match first {
        '"' | '\'' => string(rest, first, line),
        '#' => line,
        c if is_bare(c) => rest.find(|c| !is_bare(c)).unwrap_or(rest.len()),
        c => c.len_utf8(),
    }
}

fn string(rest: &str, quote: char, line: usize) -> usize {
    let fence: String = std::iter::repeat_n(quote, 3).collect();
    if let Some(body) = rest.strip_prefix(&fence) {
        return body.find(&fence).map_or(rest.len(), |at| at + 6);
    }
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1).take_while(|(at, _)| *at < line) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    line
}

/// Everything that is not structure, blank or a quote: an unquoted secret is one word.
fn is_bare(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '=' | '[' | ']' | '{' | '}' | ',' | '"' | '\'' | '#')
}

/// Each character becomes one of the same length in bytes, so that neither spans nor columns move.
fn starred(token: &str, keep: &str) -> String {
    let star = |c: char| match c.len_utf8() {
        _ if keep.contains(c) || c == '\n' || c == '\r' => c,
        1 => '*',
        2 => '·',
        3 => '•',
        _ => '𐄁',
    };
    token.chars().map(star).collect()
}

/// A value pasted where the name of its variable belongs. Names of variables have no lower-case letters by habit, and
/// none that has them is long and full of digits.
pub fn like_a_secret(name: &str) -> bool {
    let has = |test: fn(&char) -> bool| name.chars().any(|c| test(&c));
    let letters = has(char::is_ascii_lowercase) && has(char::is_ascii_digit) && name.len() >= LEAST_SECRET;
    letters || ["whsec_", "whsk_", "sk_"].iter().any(|prefix| name.starts_with(prefix))
}

/// A text over several lines may have swallowed the lines below it, where its end is missing.
fn first_line(token: &str) -> String {
    let (first, rest) = token.split_at(token.find('\n').unwrap_or(token.len()));
    format!("{first}{}", starred(rest, ""))
}

/// `scheme://user:password@host`: the password is hidden, the rest is needed to understand the error.
fn without_password(token: &str) -> String {
    let Some((scheme, rest)) = token.split_once("://") else { return token.to_owned() };
    let Some((user, host)) = rest.split_once('@') else { return token.to_owned() };
    match user.split_once(':') {
        Some((name, password)) => format!("{scheme}://{name}:{}@{host}", starred(password, "")),
        None => token.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn what_may_be_a_secret_is_hidden_and_nothing_moves() {
        for (text, expect) in [
            ("secret = \"abc\"", "secret = \"***\""),
            ("secrt = \"abc\"\nkey = \"$.id\"", "secrt = \"***\"\nkey = \"$.id\""),
            ("secret = { env = \"CRM\" }", "secret = { env = \"CRM\" }"),
            ("secret = { env = \"whsec_1\" }", "secret = { env = \"*******\" }"),
            (
                "secrets = [ \"abc\", { name = \"a\", value = \"xyz\" } ]",
                "secrets = [ \"***\", { name = \"a\", value = \"***\" } ]",
            ),
            (
                "secrets = [\n 'abc',\n]\n[sources.x]\nkey = \"$.id\"",
                "secrets = [\n '***',\n]\n[sources.x]\nkey = \"$.id\"",
            ),
            ("secret = \"abc", "secret = \"***"),
            ("secret = abc\nkey = \"a\"", "secret = ***\nkey = \"a\""),
            ("secret = \"\"\"ab\nc\"\"\"\n", "secret = \"\"\"**\n*\"\"\"\n"),
            ("# secret = \"abc\"", "#***************"),
            ("sources.x.secret = \"abc\"", "sources.x.secret = \"***\""),
            ("url = \"postgres://me:pw@h/db\"", "url = \"postgres://me:**@h/db\""),
            ("listen = \"http://me:pw@h\"", "listen = \"http://me:**@h\""),
            ("secret = \"é\" # ü", "secret = \"·\" #*·"),
        ] {
            assert_eq!(masked(text), expect);
            assert_eq!(masked(text).len(), text.len());
        }
    }
}
