//! How long a run is: the full form of the design's section 10, or CI's short one at half the bar.

use crate::report::Bar;

#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub pairs: usize,
    pub seconds: f64,
    /// Bars are divided by it, limits multiplied.
    pub ease: f64,
    pub identities: u64,
    pub deliveries: u64,
}

pub const FULL: Scale = Scale { pairs: 6, seconds: 5.0, ease: 1.0, identities: 1_000_000, deliveries: 60_000 };
pub const SHORT: Scale = Scale { pairs: 5, seconds: 1.5, ease: 2.0, identities: 100_000, deliveries: 20_000 };

impl Scale {
    pub fn at_least(&self, bar: f64) -> Bar {
        Bar::AtLeast(bar / self.ease)
    }

    pub fn at_most(&self, limit: f64) -> Bar {
        Bar::AtMost(limit * self.ease)
    }
}
