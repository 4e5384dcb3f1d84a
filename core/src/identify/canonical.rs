//! The canonical fingerprint: equal for documents that differ only in white space, order of names and escapes.
//!
//! Names are sorted by their bytes, strings decoded; number tokens stay as written (`1.0` is not `1`) and repeated names
//! stay, in their order. What is hashed is not JSON again but tagged and framed, which needs no escaping to be
//! unambiguous. Only sources that ask for it pay for the list of tokens built here.

use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

use super::json::{Kind, NotJson, Scanner, Span, Token, Value};
use super::text;
use crate::event::Hash;

/// A value in document order; `next` is where the one behind it stands.
struct Node<'a> {
    name: Cow<'a, [u8]>,
    value: Value,
    next: usize,
}

/// `None`: not JSON, so that only its bytes can be compared. `volatile` counts from `offset` before `bytes`.
pub fn hash(bytes: &[u8], offset: usize, volatile: &[Span]) -> Option<Hash> {
    let nodes = nodes(bytes).ok()?;
    let mut writer = Writer { bytes, offset, volatile, nodes: &nodes, hash: Sha256::new() };
    writer.value(0);
    Some(writer.hash.finalize().into())
}

fn nodes(bytes: &[u8]) -> Result<Vec<Node<'_>>, NotJson> {
    let mut scanner = Scanner::document(bytes);
    let mut nodes: Vec<Node<'_>> = Vec::new();
    let mut open = Vec::new();
    let mut name = Cow::Borrowed(&[] as &[u8]);
    loop {
        let token = scanner.advance().map_err(|flaw| scanner.why(flaw))?;
        let container = |kind| Value { kind, span: Span { start: scanner.start(), end: scanner.start() } };
        let value = match token {
            Token::End => return Ok(nodes),
            Token::Key => {
                let (span, escaped) = scanner.key();
                let raw = span.of(bytes);
                name = if escaped { text::unescape(raw).into() } else { raw.into() };
                continue;
            }
            Token::Close => {
                close(&mut nodes, open.pop(), scanner.end());
                continue;
            }
            Token::Scalar => scanner.scalar(),
            Token::OpenObject => container(Kind::Object),
            Token::OpenArray => container(Kind::Array),
        };
        if token != Token::Scalar {
            open.push(nodes.len());
        }
        let next = nodes.len() + 1;
        nodes.push(Node { name: std::mem::take(&mut name), value, next });
    }
}

fn close(nodes: &mut [Node<'_>], at: Option<usize>, end: usize) {
    let next = nodes.len();
    if let Some(node) = at.and_then(|n| nodes.get_mut(n)) {
        node.value.span.end = end;
        node.next = next;
    }
}

struct Writer<'a> {
    bytes: &'a [u8],
    offset: usize,
    volatile: &'a [Span],
    nodes: &'a [Node<'a>],
    hash: Sha256,
}

impl Writer<'_> {
    /// Recursion is bounded by the depth limit of the scanner.
    fn value(&mut self, at: usize) {
        let Some(node) = self.nodes.get(at) else { return };
        let start = node.value.span.start + self.offset;
        if self.volatile.binary_search_by_key(&start, |span| span.start).is_ok() {
            return self.hash.update([0]);
        }
        match node.value.kind {
            Kind::Object => self.object(at, node.next),
            Kind::Array => {
                let elements = self.children(at, node.next);
                self.tagged(b'[', elements.len());
                elements.into_iter().for_each(|element| self.value(element));
            }
            Kind::Null => self.hash.update(b"z"),
            Kind::String { .. } => self.text(b'"', node),
            Kind::Number => self.text(b'#', node),
            Kind::Boolean => self.text(b'?', node),
        }
    }

    fn object(&mut self, at: usize, end: usize) {
        let nodes = self.nodes;
        let name = |member: &usize| nodes.get(*member).map(|node| &*node.name);
        let mut members = self.children(at, end);
        // Stable: repeated names keep their order, which decides which of them counts.
        members.sort_by(|a, b| name(a).cmp(&name(b)));
        self.tagged(b'{', members.len());
        for member in members {
            let name = name(&member).unwrap_or_default();
            self.tagged(b'k', name.len());
            self.hash.update(name);
            self.value(member);
        }
    }

    fn children(&self, at: usize, end: usize) -> Vec<usize> {
        let next = |child: &usize| self.nodes.get(*child).map(|node| node.next);
        std::iter::successors(Some(at + 1), next).take_while(|child| *child < end).collect()
    }

    fn text(&mut self, tag: u8, node: &Node<'_>) {
        let text = text::of(&node.value, self.bytes).unwrap_or_default();
        self.tagged(tag, text.len());
        self.hash.update(&text);
    }

    fn tagged(&mut self, tag: u8, length: usize) {
        self.hash.update([tag]);
        self.hash.update((length as u64).to_be_bytes());
    }
}
