//! Medians of pair ratios with their spread: machines are noisy, ratios of neighbours less so.

use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub struct Ratio {
    pub median: f64,
    /// Of each pair, in ascending order.
    sorted: Vec<f64>,
}

impl Ratio {
    pub fn of(mut pairs: Vec<f64>) -> Ratio {
        pairs.sort_by(f64::total_cmp);
        Ratio { median: median(&pairs), sorted: pairs }
    }

    /// The spread, and what was seen in each pair.
    pub fn detail(&self, pairs: Vec<Value>) -> Value {
        let round = |ratio: Option<&f64>| ratio.map(|r| (r * 1_000.0).round() / 1_000.0);
        json!({ "low": round(self.sorted.first()), "high": round(self.sorted.last()), "pairs": pairs })
    }
}

/// The middle of them, or of the two in the middle.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert!((Ratio::of(vec![3.0, 1.0, 2.0]).median - 2.0).abs() < 1e-9);
        assert!((Ratio::of(vec![4.0, 1.0, 2.0, 3.0]).median - 2.5).abs() < 1e-9);
        assert!(Ratio::of(vec![]).median.is_nan());
    }
}
