//! The binary `hookonce`. Start at `cli` (what a person types); `config` is what a person writes down, `wiring` makes a
//! running server of it, `admin` is its private listener, `demo` the newcomer's first command.

mod admin;
mod cli;
mod config;
mod demo;
mod faults;
mod wiring;

fn main() -> std::process::ExitCode {
    faults::install();
    // One provider for every TLS of the process; a second attempt to set it would only say that it is set.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::main(std::env::args_os())
}
