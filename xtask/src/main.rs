//! Everything that the project does to itself: `cargo xtask <what>`. One file a task; no task hides inside another.

mod bench;
mod binaries;
mod campaign;
mod clients;
mod dialect;
mod fence;
mod postgres;
mod run;
mod test;
mod tidy;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "tasks of the Hookonce workspace")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// All tests: lints, rules, unit and conformance tests, clients, faults, the bench's short form
    Test(test::Args),
    /// Faults in numbers: `kill --cycles 1000 --resume`, `power --cycles 400`, `planted`
    Campaign(campaign::Args),
    /// The bars for speed, measured on the released binary
    Bench(bench::Args),
    /// The rules of the house that no compiler checks
    Tidy,
    /// Which crate may stand on which
    Fence,
}

fn main() -> anyhow::Result<()> {
    match Args::parse().task {
        Task::Test(args) => test::run_steps(&args),
        Task::Campaign(args) => campaign::run_asked(&args),
        Task::Bench(args) => bench::bench(&args),
        Task::Tidy => tidy::run(),
        Task::Fence => fence::run(),
    }
}
