//! From what a walk selected to the items of a request: in the order of the paths, then of the document.

use super::items::{MAX_ITEMS, TooManyItems};
use super::json::Span;
use super::plan::{Element, Found, MAX_ELEMENTS};

/// The items, or `None` where no path found an array: then the body is one item. An empty list is an empty request.
pub fn elements(found: &Found, paths: usize) -> Result<Option<Vec<Element>>, TooManyItems> {
    if !found.batch {
        return Ok(None);
    }
    if found.elements.len() >= MAX_ELEMENTS {
        return Err(TooManyItems);
    }
    let mut items: Vec<Element> = Vec::with_capacity(found.elements.len());
    let mut starts: Vec<usize> = Vec::new();
    for path in 0..paths as u32 {
        let earlier = items.len();
        let fresh = found.elements.iter().filter(|element| element.path == path);
        items.extend(fresh.filter(|element| !holds_one(element.span, &starts)));
        starts.extend(items.get(earlier..).unwrap_or_default().iter().map(|item| item.span.start));
        starts.sort_unstable();
    }
    if items.len() > MAX_ITEMS { Err(TooManyItems) } else { Ok(Some(items)) }
}

/// An element that contains items of an earlier path is their frame, not an item itself.
fn holds_one(span: Span, starts: &[usize]) -> bool {
    let first = starts.partition_point(|start| *start < span.start);
    starts.get(first).is_some_and(|start| *start < span.end)
}
