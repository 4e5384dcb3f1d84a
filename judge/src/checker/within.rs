//! A map under two borrowed texts. Nested, so that it can be asked with texts of any lifetime.

use std::collections::HashMap;

#[derive(Debug)]
pub struct Within<'a, T>(HashMap<&'a str, HashMap<&'a str, T>>);

impl<T> Default for Within<'_, T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<'a, T: Default> Within<'a, T> {
    pub fn at(&mut self, outer: &'a str, inner: &'a str) -> &mut T {
        self.0.entry(outer).or_default().entry(inner).or_default()
    }

    pub fn get(&self, outer: &str, inner: &str) -> Option<&T> {
        self.0.get(outer)?.get(inner)
    }

    pub fn iter(&self) -> impl Iterator<Item = ((&'a str, &'a str), &T)> {
        self.0.iter().flat_map(|(outer, inners)| inners.iter().map(|(inner, t)| ((*outer, *inner), t)))
    }
}
