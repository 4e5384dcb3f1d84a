//! One walk over JSON along a [`Plan`].

use super::json::{Kind, MAX_DEPTH, NotJson, Scanner, Span, Token, Value};
use super::plan::{Element, Found, MAX_ELEMENTS, NOWHERE, Node, Plan, ROOT};

impl Plan {
    /// Walks a whole document.
    pub fn document(&self, bytes: &[u8]) -> Result<Found, NotJson> {
        self.walk(bytes, Scanner::document(bytes))
    }

    /// Walks the one value that begins at `start`; spans count from the start of `bytes`.
    pub fn value_at(&self, bytes: &[u8], start: usize) -> Result<Found, NotJson> {
        self.walk(bytes, Scanner::value_at(bytes, start))
    }

    fn walk(&self, bytes: &[u8], mut scanner: Scanner<'_>) -> Result<Found, NotJson> {
        let found = Found { slots: vec![None; self.slots()], ..Found::default() };
        let mut walk = Walk { plan: self, bytes, found, levels: [Level::default(); MAX_DEPTH + 1], depth: 0 };
        walk.levels[0].next = ROOT;
        loop {
            match scanner.advance() {
                Ok(Token::End) => return Ok(walk.found),
                Ok(token) => walk.take(token, &scanner),
                Err(flaw) => return Err(scanner.why(flaw)),
            }
        }
    }
}

/// An open container, or at depth 0 the place of the root.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    node: u32,
    /// Node of the member whose name was read last, or of the root.
    next: u32,
    array: bool,
    /// Number of the next element.
    index: u32,
    start: usize,
}

struct Walk<'a> {
    plan: &'a Plan,
    bytes: &'a [u8],
    found: Found,
    levels: [Level; MAX_DEPTH + 1],
    depth: usize,
}

impl<'a> Walk<'a> {
    fn node(&self, at: u32) -> Option<&'a Node> {
        self.plan.node(at)
    }

    #[inline]
    fn take(&mut self, token: Token, scanner: &Scanner<'_>) {
        match token {
            Token::Key => {
                let next = self.node(self.levels[self.depth].node).map_or(NOWHERE, |node| {
                    let (span, escaped) = scanner.key();
                    node.named(span.of(self.bytes), escaped)
                });
                self.levels[self.depth].next = next;
            }
            Token::Scalar => {
                let at = self.arrive();
                self.leave(at, scanner.scalar());
            }
            Token::OpenObject => self.open(false, scanner.start()),
            Token::OpenArray => self.open(true, scanner.start()),
            Token::Close => self.close(scanner.end()),
            Token::End => {}
        }
    }

    /// The node of the value that begins now.
    #[inline]
    fn arrive(&mut self) -> u32 {
        let level = &mut self.levels[self.depth];
        let mut at = level.next;
        if level.array {
            let index = level.index;
            level.index = index.saturating_add(1);
            let node = level.node;
            at = self.node(node).map_or(NOWHERE, |node| node.numbered(index));
        }
        if let Some(node) = self.node(at) {
            for slot in &node.below {
                self.found.slots[*slot] = None;
            }
        }
        at
    }

    fn open(&mut self, array: bool, start: usize) {
        let node = self.arrive();
        self.found.batch |= array && self.node(node).is_some_and(|node| node.items.is_some());
        self.depth += 1;
        self.levels[self.depth] = Level { node, next: NOWHERE, array, index: 0, start };
    }

    fn close(&mut self, end: usize) {
        let Level { node, array, start, .. } = self.levels[self.depth];
        self.depth -= 1;
        let kind = if array { Kind::Array } else { Kind::Object };
        self.leave(node, Value { kind, span: Span { start, end } });
    }

    #[inline]
    fn leave(&mut self, at: u32, value: Value) {
        if let Some(node) = self.node(at) {
            if let Some(slot) = node.slot {
                self.found.slots[slot] = Some(value);
            }
            if node.volatile {
                self.found.volatile.push(value.span);
            }
        }
        if self.levels[self.depth].array {
            self.element(value);
        }
    }

    /// An element of a batch array is an item, whether or not any path leads into it.
    fn element(&mut self, value: Value) {
        let Some(path) = self.node(self.levels[self.depth].node).and_then(|node| node.items) else { return };
        let above = self.plan.parent_depth(path).and_then(|depth| self.levels.get(depth + 1));
        let parent = above.map_or(0, |level| level.start);
        if self.found.elements.len() < MAX_ELEMENTS {
            self.found.elements.push(Element { path, span: value.span, parent });
        }
    }
}
