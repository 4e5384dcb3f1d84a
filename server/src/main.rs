//! The binary `hookonce`. Everything is in `cli` (what a person types) and `config` (what a person writes down).

mod cli;
mod config;

fn main() -> std::process::ExitCode {
    cli::main(std::env::args_os())
}
