//! All paths of a rule that begin at the same root, evaluated in one walk over its bytes.
//!
//! The paths make a tree. A wildcard is folded into its named siblings when a path is added, so that the walk is in one
//! node at a time and needs no set of states. Three things are collected: *slots* (one value each), *volatile* spans, and
//! the *items* of a batch.
//!
//! Repeated names: the **last** one counts for a slot, with all that is below it, as in every common JSON parser, so
//! that we identify the event which the consumer will see. For volatile values and items every occurrence counts: an
//! attempt mark stays one however often it stands there, and no item may be lost.

use super::json::{Kind, MAX_DEPTH, NotJson, Scanner, Span, Token, Value};
use super::path::{Path, Step};
use super::text;

/// Elements that are collected; the limit of items is below it, so that whoever counts sees that it was passed.
pub const MAX_ELEMENTS: usize = 2 * super::items::MAX_ITEMS + 1;

/// Number of a path's value in [`Found::slots`].
pub type Slot = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Slot(Slot),
    Volatile,
    /// Elements of an array that stands here are items of that path.
    Items(u32),
}

#[derive(Clone, Debug, Default)]
struct Node {
    names: Vec<(Box<[u8]>, usize)>,
    /// A bit for each length of these names.
    lengths: u64,
    indexes: Vec<(u32, usize)>,
    any: Option<usize>,
    slot: Option<Slot>,
    volatile: bool,
    items: Option<u32>,
    /// Slots at and below this node, emptied when its name comes again.
    below: Vec<Slot>,
}

/// The compiled paths of one root.
#[derive(Clone, Debug)]
pub struct Plan {
    nodes: Vec<Node>,
    slots: Vec<Vec<Step>>,
    /// Of each batch path: how deep its parent element stands.
    parents: Vec<usize>,
    /// Nothing is asked, so nothing need be walked.
    idle: bool,
}

/// An element that a batch path selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    pub path: u32,
    pub span: Span,
    /// Where the parent element begins.
    pub parent: usize,
}

/// What one walk found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub slots: Vec<Option<Value>>,
    pub volatile: Vec<Span>,
    pub elements: Vec<Element>,
    /// A batch path selected an array, perhaps an empty one.
    pub batch: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { nodes: vec![Node::default()], slots: Vec::new(), parents: Vec::new(), idle: true }
    }
}

impl Plan {
    /// The slot of a path that selects one value; equal paths share it.
    pub fn slot(&mut self, path: &Path) -> Slot {
        if let Some(known) = self.slots.iter().position(|steps| *steps == path.steps) {
            return known;
        }
        let slot = self.slots.len();
        self.slots.push(path.steps.clone());
        self.insert(0, &path.steps, Mark::Slot(slot));
        slot
    }

    pub fn volatile(&mut self, path: &Path) {
        self.insert(0, &path.steps, Mark::Volatile);
    }

    /// `steps` select arrays; their elements are the items. The parent is the element of the nearest wildcard, else
    /// the document.
    pub fn items(&mut self, steps: &[Step]) {
        let number = self.parents.len() as u32;
        self.parents.push(steps.iter().rposition(|s| *s == Step::Any).map_or(0, |n| n + 1));
        self.insert(0, steps, Mark::Items(number));
    }

    pub fn batch_paths(&self) -> usize {
        self.parents.len()
    }

    pub fn is_idle(&self) -> bool {
        self.idle
    }

    fn insert(&mut self, node: usize, steps: &[Step], mark: Mark) {
        self.idle = false;
        if let Mark::Slot(slot) = mark {
            self.nodes[node].below.push(slot);
        }
        let Some((step, rest)) = steps.split_first() else { return self.mark(node, mark) };
        for child in self.children(node, step) {
            self.insert(child, rest, mark);
        }
    }

    fn mark(&mut self, node: usize, mark: Mark) {
        let node = &mut self.nodes[node];
        match mark {
            Mark::Slot(slot) => node.slot = Some(slot),
            Mark::Volatile => node.volatile = true,
            // The earlier path has the array; the same path twice is refused by the rule.
            Mark::Items(number) => node.items = node.items.or(Some(number)),
        }
    }

    /// The nodes that a step leads to, made where they are missing.
    fn children(&mut self, node: usize, step: &Step) -> Vec<usize> {
        let known = match step {
            Step::Any => self.nodes[node].any,
            Step::Name(name) => by_name(&self.nodes[node], name.as_bytes()),
            Step::Index(index) => by_index(&self.nodes[node], *index),
        };
        let child = known.unwrap_or_else(|| self.grow(node, step));
        if *step != Step::Any {
            return vec![child];
        }
        let siblings = self.nodes[node].names.iter().map(|(_, n)| *n);
        let numbered = self.nodes[node].indexes.iter().map(|(_, n)| *n);
        std::iter::once(child).chain(siblings).chain(numbered).collect()
    }

    /// A new child; one with a name begins as a copy of what a wildcard beside it already asks for.
    fn grow(&mut self, node: usize, step: &Step) -> usize {
        let child = match self.nodes[node].any {
            Some(any) => self.copy(any),
            None => self.add(Node::default()),
        };
        let node = &mut self.nodes[node];
        match step {
            Step::Any => node.any = Some(child),
            Step::Name(name) => {
                node.lengths |= length_bit(name.as_bytes());
                node.names.push((name.as_bytes().into(), child));
            }
            Step::Index(index) => node.indexes.push((*index, child)),
        }
        child
    }

    fn copy(&mut self, from: usize) -> usize {
        let mut node = self.nodes[from].clone();
        for (_, child) in &mut node.names {
            *child = self.copy(*child);
        }
        for (_, child) in &mut node.indexes {
            *child = self.copy(*child);
        }
        node.any = node.any.map(|child| self.copy(child));
        self.add(node)
    }

    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Walks a whole document.
    pub fn document(&self, bytes: &[u8]) -> Result<Found, NotJson> {
        self.walk(bytes, Scanner::document(bytes))
    }

    /// Walks the one value that begins at `start`; spans count from the start of `bytes`.
    pub fn value_at(&self, bytes: &[u8], start: usize) -> Result<Found, NotJson> {
        self.walk(bytes, Scanner::value_at(bytes, start))
    }

    fn walk(&self, bytes: &[u8], mut scanner: Scanner<'_>) -> Result<Found, NotJson> {
        let found = Found { slots: vec![None; self.slots.len()], ..Found::default() };
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

fn by_name(node: &Node, name: &[u8]) -> Option<usize> {
    node.names.iter().find(|(n, _)| **n == *name).map(|(_, child)| *child)
}

fn by_index(node: &Node, index: u32) -> Option<usize> {
    node.indexes.iter().find(|(n, _)| *n == index).map(|(_, child)| *child)
}

/// Nodes are counted from 1 in a walk, so that an empty level is all zeros.
const ROOT: u32 = 1;
const NOWHERE: u32 = 0;

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
        self.plan.nodes.get((at as usize).wrapping_sub(1))
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
        let above = self.plan.parents.get(path as usize).and_then(|depth| self.levels.get(depth + 1));
        let parent = above.map_or(0, |level| level.start);
        if self.found.elements.len() < MAX_ELEMENTS {
            self.found.elements.push(Element { path, span: value.span, parent });
        }
    }
}

impl Node {
    #[inline]
    fn named(&self, raw: &[u8], escaped: bool) -> u32 {
        if escaped {
            return self.called(&text::unescape(raw));
        }
        self.called(raw)
    }

    #[inline]
    fn called(&self, name: &[u8]) -> u32 {
        // Most names of a document are asked for by nobody, and most of these have another length.
        let known = if self.lengths & length_bit(name) == 0 { None } else { by_name(self, name) };
        count(known.or(self.any))
    }

    fn numbered(&self, index: u32) -> u32 {
        count(by_index(self, index).or(self.any))
    }
}

fn count(node: Option<usize>) -> u32 {
    node.map_or(NOWHERE, |n| n as u32 + ROOT)
}

fn length_bit(name: &[u8]) -> u64 {
    1 << name.len().min(63)
}
