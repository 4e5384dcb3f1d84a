//! Medians of pair ratios with their spread: machines are noisy, ratios of neighbours less so.

use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct Ratio {
    pub median: f64,
    pub low: f64,
    pub high: f64,
    pub pairs: Vec<f64>,
}

impl Ratio {
    pub fn of(pairs: Vec<f64>) -> Ratio {
        let mut sorted = pairs.clone();
        sorted.sort_by(f64::total_cmp);
        Ratio {
            median: median(&sorted),
            low: sorted.first().copied().unwrap_or(f64::NAN),
            high: sorted.last().copied().unwrap_or(f64::NAN),
            pairs,
        }
    }
}

/// Of values that are sorted.
pub fn median(sorted: &[f64]) -> f64 {
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
