//! All paths of a rule that begin at the same root, compiled so that one walk over the bytes (`walk`) answers all.
//!
//! The paths make a tree. A wildcard is folded into its named siblings when a path is added, so that the walk is in one
//! node at a time and needs no set of states. Three things are collected: *slots* (one value each), *volatile* spans, and
//! the *items* of a batch.
//!
//! Repeated names: the **last** one counts for a slot, with all that is below it, as in every common JSON parser, so
//! that we identify the event which the consumer will see. For volatile values and items every occurrence counts: an
//! attempt mark stays one however often it stands there, and no item may be lost.

use super::json::{Span, Value};
use super::path::{Path, Step};
use super::text;

/// Elements that are collected; the limit of items is below it, so that whoever counts sees that it was passed.
pub const MAX_ELEMENTS: usize = 2 * super::items::MAX_ITEMS + 1;

/// Nodes are counted from 1 in a walk, so that an empty level is all zeros.
pub(super) const ROOT: u32 = 1;
pub(super) const NOWHERE: u32 = 0;

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
pub(super) struct Node {
    names: Vec<(Box<[u8]>, usize)>,
    /// A bit for each length of these names.
    lengths: u64,
    indexes: Vec<(u32, usize)>,
    any: Option<usize>,
    pub(super) slot: Option<Slot>,
    pub(super) volatile: bool,
    pub(super) items: Option<u32>,
    /// Slots at and below this node, emptied when its name comes again.
    pub(super) below: Vec<Slot>,
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

    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn parent_depth(&self, path: u32) -> Option<usize> {
        self.parents.get(path as usize).copied()
    }

    #[inline]
    pub(super) fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get((at as usize).wrapping_sub(1))
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
}

fn by_name(node: &Node, name: &[u8]) -> Option<usize> {
    node.names.iter().find(|(n, _)| **n == *name).map(|(_, child)| *child)
}

fn by_index(node: &Node, index: u32) -> Option<usize> {
    node.indexes.iter().find(|(n, _)| *n == index).map(|(_, child)| *child)
}

impl Node {
    #[inline]
    pub(super) fn named(&self, raw: &[u8], escaped: bool) -> u32 {
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

    pub(super) fn numbered(&self, index: u32) -> u32 {
        count(by_index(self, index).or(self.any))
    }
}

fn count(node: Option<usize>) -> u32 {
    node.map_or(NOWHERE, |n| n as u32 + ROOT)
}

fn length_bit(name: &[u8]) -> u64 {
    1 << name.len().min(63)
}
