//! What a test build does at a kill point, and which bugs are planted in it. Nothing of this is in an ordinary build.

use std::time::Duration;

/// Installs the hooks of `hookonce_core::fault`, as far as this build has them.
pub fn install() {
    #[cfg(feature = "failpoints")]
    kill::install();
    #[cfg(feature = "planted")]
    hookonce_core::fault::on_planted(planted);
}

/// How long a lease lasts. `HOOKONCE_LEASE_MS`: a test that outlives some cannot wait for the usual one.
pub fn lease(usual: Duration) -> Duration {
    #[cfg(feature = "failpoints")]
    if let Some(asked) = std::env::var("HOOKONCE_LEASE_MS").ok().and_then(|ms| ms.parse().ok()) {
        return Duration::from_millis(asked);
    }
    usual
}

/// `HOOKONCE_PLANT=name,name`.
#[cfg(feature = "planted")]
fn planted(name: &str) -> bool {
    use std::sync::LazyLock;
    static PLANTED: LazyLock<Vec<String>> = LazyLock::new(|| {
        let list = std::env::var("HOOKONCE_PLANT").unwrap_or_default();
        list.split(',').map(str::to_owned).filter(|n| !n.is_empty()).collect()
    });
    PLANTED.iter().any(|p| p == name)
}

#[cfg(feature = "failpoints")]
mod kill {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::process::{Signal, getpid, kill_process};

    /// `HOOKONCE_KILL_AT=name:hit`: the process ends itself at the hit-th pass of that point, without a last word;
    /// `HOOKONCE_STOP_AT`: it stops there until somebody wakes it.
    static PLAN: LazyLock<Option<Plan>> =
        LazyLock::new(|| plan("HOOKONCE_KILL_AT", Signal::KILL).or_else(|| plan("HOOKONCE_STOP_AT", Signal::STOP)));
    static PASSED: AtomicU64 = AtomicU64::new(0);

    struct Plan {
        point: String,
        hit: u64,
        signal: Signal,
    }

    fn plan(variable: &str, signal: Signal) -> Option<Plan> {
        let text = std::env::var(variable).ok()?;
        let (point, hit) = text.split_once(':').unwrap_or((&text, "1"));
        Some(Plan { point: point.to_owned(), hit: hit.parse().ok()?, signal })
    }

    pub fn install() {
        hookonce_core::fault::on_point(|name| {
            let Some(plan) = &*PLAN else { return };
            if plan.point == name && PASSED.fetch_add(1, Ordering::SeqCst) + 1 == plan.hit {
                let _ = kill_process(getpid(), plan.signal);
            }
        });
    }
}
