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

/// What was met. Where it stands is asked of the scanner: a token that carried its span would be copied through memory
/// once per call, which took longer than the scan itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A member's name; its value comes next.
    Key,
    /// A string, number, boolean or `null`.
    Scalar,
    OpenObject,
    OpenArray,
    Close,
    End,
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

/// A [`NotJson`] without its place, small enough for a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    Broken,
    TooDeep,
    TooLong,
}

#[derive(Clone, Copy, Debug)]
enum Expect {
    Value,
    FirstMember,
    FirstElement,
    After,
}

/// Yields the tokens of one value, then `End`.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    /// Bit n: the container at depth n is an object.
    objects: u64,
    tokens: usize,
    expect: Expect,
    /// Nothing but white space may follow the value.
    whole: bool,
    start: usize,
    name_end: usize,
    kind: Kind,
}

impl<'a> Scanner<'a> {
    /// Over a whole document; a byte order mark before it is passed over.
    pub fn document(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Scanner {
            bytes,
            at,
            depth: 0,
            objects: 0,
            tokens: 0,
            expect: Expect::Value,
            whole: true,
            start: at,
            name_end: at,
            kind: Kind::Null,
        }
    }

    /// Over the one value that begins at `at`, whatever stands behind it.
    pub fn value_at(bytes: &'a [u8], at: usize) -> Self {
        Scanner { at, whole: false, ..Self::document(bytes) }
    }

    /// The inside of the quotes of the name that was met last, and whether there is a backslash in it.
    #[inline]
    pub fn key(&self) -> (Span, bool) {
        let span = Span { start: self.start + 1, end: self.name_end };
        (span, matches!(self.kind, Kind::String { escaped: true }))
    }

    /// The scalar that was met last.
    #[inline]
    pub fn scalar(&self) -> Value {
        Value { kind: self.kind, span: Span { start: self.start, end: self.at } }
    }

    /// Where the container begins that was opened last.
    #[inline]
    pub fn start(&self) -> usize {
        self.start
    }

    /// Where the container ends that was closed last.
    #[inline]
    pub fn end(&self) -> usize {
        self.at
    }

    pub fn why(&self, flaw: Flaw) -> NotJson {
        match flaw {
            Flaw::TooDeep => NotJson::TooDeep,
            Flaw::TooLong => NotJson::TooLong,
            Flaw::Broken if self.bytes.is_empty() => NotJson::Empty,
            Flaw::Broken => NotJson::Broken(self.at),
        }
    }

    #[inline]
    pub fn advance(&mut self) -> Result<Token, Flaw> {
        self.tokens += 1;
        if self.tokens > MAX_TOKENS {
            return Err(Flaw::TooLong);
        }
        let next = self.peek();
        match self.expect {
            Expect::Value => self.value(next),
            Expect::FirstMember if next == Some(b'}') => Ok(self.close()),
            Expect::FirstMember => self.member(next),
            Expect::FirstElement if next == Some(b']') => Ok(self.close()),
            Expect::FirstElement => self.value(next),
            Expect::After => self.after(next),
        }
    }

    #[inline]
    fn after(&mut self, next: Option<u8>) -> Result<Token, Flaw> {
        if self.depth == 0 {
            return if self.whole && next.is_some() { Err(Flaw::Broken) } else { Ok(Token::End) };
        }
        let object = self.objects >> (self.depth - 1) & 1 == 1;
        match next {
            Some(b',') => {
                self.at += 1;
                let next = self.peek();
                if object { self.member(next) } else { self.value(next) }
            }
            Some(b'}') if object => Ok(self.close()),
            Some(b']') if !object => Ok(self.close()),
            _ => Err(Flaw::Broken),
        }
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

    #[inline]
    fn close(&mut self) -> Token {
        self.at += 1;
        self.depth -= 1;
        self.expect = Expect::After;
        Token::Close
    }

    #[inline]
    fn member(&mut self, next: Option<u8>) -> Result<Token, Flaw> {
        if next != Some(b'"') {
            return Err(Flaw::Broken);
        }
        self.start = self.at;
        self.string()?;
        self.name_end = self.at - 1;
        if self.peek() != Some(b':') {
            return Err(Flaw::Broken);
        }
        self.at += 1;
        self.expect = Expect::Value;
        Ok(Token::Key)
    }

    #[inline]
    fn value(&mut self, next: Option<u8>) -> Result<Token, Flaw> {
        self.start = self.at;
        match next {
            Some(b'"') => self.string()?,
            Some(b'{') => return self.open(Expect::FirstMember),
            Some(b'[') => return self.open(Expect::FirstElement),
            Some(b't') => self.word(b"true", Kind::Boolean)?,
            Some(b'f') => self.word(b"false", Kind::Boolean)?,
            Some(b'n') => self.word(b"null", Kind::Null)?,
            _ => self.number()?,
        }
        self.expect = Expect::After;
        Ok(Token::Scalar)
    }

    fn open(&mut self, expect: Expect) -> Result<Token, Flaw> {
        if self.depth == MAX_DEPTH {
            return Err(Flaw::TooDeep);
        }
        let bit = 1 << self.depth;
        self.depth += 1;
        self.at += 1;
        self.expect = expect;
        if matches!(expect, Expect::FirstMember) {
            self.objects |= bit;
            return Ok(Token::OpenObject);
        }
        self.objects &= !bit;
        Ok(Token::OpenArray)
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Result<(), Flaw> {
        if !self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return Err(Flaw::Broken);
        }
        self.at += word.len();
        self.kind = kind;
        Ok(())
    }

    /// A string from its opening quote; escapes are checked here, so that decoding cannot fail later.
    #[inline]
    fn string(&mut self) -> Result<(), Flaw> {
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at += plain(self.bytes.get(self.at..).unwrap_or_default());
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(_) => self.escape()?,
                None => return Err(Flaw::Broken),
            }
            escaped = true;
        }
        self.at += 1;
        self.kind = Kind::String { escaped };
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Flaw> {
        self.at += match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if self.hex_digits(self.at + 2) => 6,
            _ => return Err(Flaw::Broken),
        };
        Ok(())
    }

    fn hex_digits(&self, at: usize) -> bool {
        self.bytes.get(at..at + 4).is_some_and(|four| four.iter().all(u8::is_ascii_hexdigit))
    }

    /// `-`, digits, fraction, exponent, as the grammar has them: `01` and `1.` are no numbers.
    fn number(&mut self) -> Result<(), Flaw> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let zero = self.bytes.get(self.at) == Some(&b'0');
        if self.digits()? > 1 && zero {
            return Err(Flaw::Broken);
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
        self.kind = Kind::Number;
        Ok(())
    }

    fn digits(&mut self) -> Result<usize, Flaw> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(Flaw::Broken) } else { Ok(count) }
    }
}

/// How many bytes stand before the next quote or backslash. Eight at a time: most of a body is inside strings, and
/// this loop is most of what a scan costs.
#[inline]
fn plain(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let hit = zero_bytes(word ^ QUOTES) | zero_bytes(word ^ BACKSLASHES);
        if hit != 0 {
            return n * 8 + hit.trailing_zeros() as usize / 8;
        }
    }
    let done = words.len() * 8;
    let rest = bytes.get(done..).unwrap_or_default();
    done + rest.iter().take_while(|b| !matches!(b, b'"' | b'\\')).count()
}

const QUOTES: u64 = repeat(b'"');
const BACKSLASHES: u64 = repeat(b'\\');
const LOW: u64 = repeat(1);
const HIGH: u64 = repeat(0x80);

const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The high bit of every byte that is zero; bits above the lowest such byte may be wrong, which nobody reads.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(LOW) & !word & HIGH
}
