//! The binary `hookonce`. Start at `cli` (what a person types); `config` is what a person writes down, `wiring` makes a
//! running server of it, `admin` is its private listener, `demo` the newcomer's first command.

mod admin;
mod cli;
mod config;
mod demo;
mod faults;
mod wiring;

/// A request is put together by one thread and taken apart by another, and a batch of deliveries comes and goes as a whole.
/// The system's allocator pays for both with locks and by giving memory back to ask for it again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    faults::install();
    // One provider for every TLS of the process; a second attempt to set it would only say that it is set.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::main(std::env::args_os())
}
