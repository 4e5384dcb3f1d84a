//! A scanner over JSON bytes: one pass, spans instead of values, no allocation, no recursion.
//!
//! Not here: decoding of strings (`text`), which happens only for the few values that a rule reads, and paths (`plan`).
//! It is strict in structure, because half a document must not lend its id to an event, and lenient where leniency
//! cannot change what a value is: raw control characters and bytes that are no UTF-8 may stand inside strings, so that one
//! broken character in a comment field does not make an authentic event unmappable.

/// Containers inside each other; deeper documents have no values. The stack is a bit per level, hence 64.
pub const MAX_DEPTH: usize = 64;
/// Tokens of one document. A body of 1 MiB cannot reach it; it bounds the work for sources that take larger ones.
pub const MAX_TOKENS: usize = 1 << 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..self.end).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `escaped`: there is a backslash in it, so that its bytes are not yet its text.
    String {
        escaped: bool,
    },
    Number,
    Boolean,
    Null,
    Array,
    Object,
}

/// A value and where it stands, quotes and brackets included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    pub kind: Kind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A member's name, quotes excluded; its value comes next.
    Key {
        span: Span,
        escaped: bool,
    },
    Scalar(Value),
    Open {
        array: bool,
        start: usize,
    },
    Close {
        end: usize,
    },
}

/// Why there are no values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotJson {
    #[error("the body is empty")]
    Empty,
    #[error("not JSON at byte {0}")]
    Broken(usize),
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("more than {MAX_TOKENS} JSON tokens")]
    TooLong,
}

#[derive(Clone, Copy, Debug)]
enum Expect {
    Value,
    FirstMember,
    FirstElement,
    After,
}

/// Yields the tokens of one value. With `whole` nothing but white space may follow it.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    /// Bit n: the container at depth n is an object.
    objects: u64,
    tokens: usize,
    expect: Expect,
    whole: bool,
}

impl<'a> Scanner<'a> {
    /// Over a whole document; a byte order mark before it is passed over.
    pub fn document(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Scanner { bytes, at, depth: 0, objects: 0, tokens: 0, expect: Expect::Value, whole: true }
    }

    /// Over the one value that begins at `at`, whatever stands behind it.
    pub fn value_at(bytes: &'a [u8], at: usize) -> Self {
        Scanner { at, whole: false, ..Self::document(bytes) }
    }

    /// Containers that are open.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The next token; `None` behind the end of the value.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Token>, NotJson> {
        self.tokens += 1;
        if self.tokens > MAX_TOKENS {
            return Err(NotJson::TooLong);
        }
        match self.expect {
            Expect::Value => self.value().map(Some),
            Expect::FirstMember => match self.peek() {
                Some(b'}') => Ok(Some(self.close())),
                _ => self.key().map(Some),
            },
            Expect::FirstElement => match self.peek() {
                Some(b']') => Ok(Some(self.close())),
                _ => self.value().map(Some),
            },
            Expect::After => self.after(),
        }
    }

    #[inline]
    fn after(&mut self) -> Result<Option<Token>, NotJson> {
        if self.depth == 0 {
            return match self.whole.then(|| self.peek()).flatten() {
                None => Ok(None),
                Some(_) => Err(self.broken()),
            };
        }
        let object = self.in_object();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                if object { self.key().map(Some) } else { self.value().map(Some) }
            }
            Some(b'}') if object => Ok(Some(self.close())),
            Some(b']') if !object => Ok(Some(self.close())),
            _ => Err(self.broken()),
        }
    }

    fn in_object(&self) -> bool {
        self.depth > 0 && self.objects >> (self.depth - 1) & 1 == 1
    }

    /// The next byte that is no white space, not yet consumed.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn broken(&self) -> NotJson {
        if self.bytes.is_empty() { NotJson::Empty } else { NotJson::Broken(self.at) }
    }

    fn close(&mut self) -> Token {
        self.at += 1;
        self.depth -= 1;
        self.expect = Expect::After;
        Token::Close { end: self.at }
    }

    #[inline]
    fn key(&mut self) -> Result<Token, NotJson> {
        if self.peek() != Some(b'"') {
            return Err(self.broken());
        }
        let (quoted, escaped) = self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.broken());
        }
        self.at += 1;
        self.expect = Expect::Value;
        Ok(Token::Key { span: Span { start: quoted.start + 1, end: quoted.end - 1 }, escaped })
    }

    #[inline]
    fn value(&mut self) -> Result<Token, NotJson> {
        let first = self.peek().ok_or_else(|| self.broken())?;
        let start = self.at;
        let kind = match first {
            b'"' => {
                let (_, escaped) = self.string()?;
                Kind::String { escaped }
            }
            b'{' | b'[' => return self.open(first == b'['),
            b't' => self.word(b"true", Kind::Boolean)?,
            b'f' => self.word(b"false", Kind::Boolean)?,
            b'n' => self.word(b"null", Kind::Null)?,
            _ => self.number()?,
        };
        self.expect = Expect::After;
        Ok(Token::Scalar(Value { kind, span: Span { start, end: self.at } }))
    }

    fn open(&mut self, array: bool) -> Result<Token, NotJson> {
        if self.depth == MAX_DEPTH {
            return Err(NotJson::TooDeep);
        }
        let bit = 1 << self.depth;
        self.objects = if array { self.objects & !bit } else { self.objects | bit };
        self.depth += 1;
        self.expect = if array { Expect::FirstElement } else { Expect::FirstMember };
        let start = self.at;
        self.at += 1;
        Ok(Token::Open { array, start })
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Result<Kind, NotJson> {
        if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            self.at += word.len();
            return Ok(kind);
        }
        Err(self.broken())
    }

    /// A string from its opening quote; escapes are checked here, so that decoding cannot fail later.
    #[inline]
    fn string(&mut self) -> Result<(Span, bool), NotJson> {
        let start = self.at;
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at += plain(self.bytes.get(self.at..).unwrap_or_default());
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok((Span { start, end: self.at }, escaped));
                }
                Some(_) => self.escape()?,
                None => return Err(self.broken()),
            }
            escaped = true;
        }
    }

    fn escape(&mut self) -> Result<(), NotJson> {
        self.at += match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if self.hex_digits(self.at + 2) => 6,
            _ => return Err(self.broken()),
        };
        Ok(())
    }

    fn hex_digits(&self, at: usize) -> bool {
        self.bytes.get(at..at + 4).is_some_and(|four| four.iter().all(u8::is_ascii_hexdigit))
    }

    /// `-`, digits, fraction, exponent, as the grammar has them: `01` and `1.` are no numbers.
    fn number(&mut self) -> Result<Kind, NotJson> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let zero = self.bytes.get(self.at) == Some(&b'0');
        let whole = self.digits()?;
        if zero && whole > 1 {
            return Err(self.broken());
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Kind::Number)
    }

    fn digits(&mut self) -> Result<usize, NotJson> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(self.broken()) } else { Ok(count) }
    }
}

/// How many bytes stand before the next quote or backslash. Eight at a time: most of a body is inside strings, and
/// this loop is most of what a scan costs.
#[inline]
fn plain(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let hit = zero_bytes(word ^ repeat(b'"')) | zero_bytes(word ^ repeat(b'\\'));
        if hit != 0 {
            return n * 8 + hit.trailing_zeros() as usize / 8;
        }
    }
    let done = words.len() * 8;
    let rest = bytes.get(done..).unwrap_or_default();
    done + rest.iter().take_while(|b| !matches!(b, b'"' | b'\\')).count()
}

const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The high bit of every byte that is zero; bits above the lowest such byte may be wrong, which nobody reads.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(repeat(1)) & !word & repeat(0x80)
}
