//! Configured consumers → consumers of the engine at their places, each with the destination of its messages.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use hookonce::engine::{LEASE, Post};
use hookonce_core::consumer::Consumer;
use hookonce_destinations::http::{Config, Http};

use crate::config::meant;
use crate::faults;

pub fn posts(written: &[meant::Consumer]) -> Result<Vec<Post>> {
    written.iter().filter_map(|written| Some(post(written, written.http()?))).collect()
}

/// Those that nobody is to be at for: their work is claimed.
pub fn pulled(written: &[meant::Consumer]) -> Vec<Consumer> {
    written.iter().filter(|written| written.http().is_none()).map(consumer).collect()
}

fn post(written: &meant::Consumer, http: &meant::Http) -> Result<Post> {
    let config = Config {
        url: http.url.to_string(),
        allow_private: http.allow_private,
        timeout: http.timeout,
        concurrency: http.concurrency,
        permanent: http.permanent.clone(),
        sign: http.sign.clone(),
    };
    let destination = Http::new(config).with_context(|| format!("cannot set up consumer `{}`", written.name))?;
    Ok(Post {
        consumer: consumer(written),
        destination: Arc::new(destination),
        concurrency: http.concurrency,
        timeout: http.timeout,
        lease: faults::lease(LEASE),
    })
}

/// Without the id that the store gives it.
pub fn consumer(written: &meant::Consumer) -> Consumer {
    Consumer {
        id: 0,
        name: written.name.as_str().into(),
        on: written.on.clone(),
        order: written.order,
        on_dead: written.on_dead,
        retry: written.retry.clone(),
        from: written.from,
        key_name: written.key_name.as_str().into(),
        pulled: written.http().is_none(),
    }
}
