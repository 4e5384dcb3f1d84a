//! What a test build does at a kill point, and which bugs are planted in it. Nothing of this is in an ordinary build.

/// Installs the hooks of `hookonce_core::fault`, as far as this build has them.
pub fn install() {
    #[cfg(feature = "failpoints")]
    kill::install();
    #[cfg(feature = "planted")]
    hookonce_core::fault::on_planted(planted);
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

    /// `HOOKONCE_KILL_AT=name:hit`: the process ends itself at the hit-th pass of that point, without a last word.
    static PLAN: LazyLock<Option<(String, u64)>> = LazyLock::new(|| {
        let text = std::env::var("HOOKONCE_KILL_AT").ok()?;
        let (name, hit) = text.split_once(':').unwrap_or((&text, "1"));
        Some((name.to_owned(), hit.parse().ok()?))
    });
    static PASSED: AtomicU64 = AtomicU64::new(0);

    pub fn install() {
        hookonce_core::fault::on_point(|name| {
            let Some((planned, hit)) = &*PLAN else { return };
            if planned == name && PASSED.fetch_add(1, Ordering::SeqCst) + 1 == *hit {
                let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            }
        });
    }
}
