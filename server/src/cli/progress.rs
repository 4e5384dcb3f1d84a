//! Long work says how far it is: a bar on a terminal, a line every few seconds elsewhere.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use super::Context;

/// Between two lines where nobody draws.
const LINE: Duration = Duration::from_secs(5);
/// Between two looks of a bar.
const DRAW: Duration = Duration::from_millis(100);
/// Characters of a bar.
const WIDTH: usize = 30;

#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Progress {
    /// Say nothing of how far it is
    #[arg(long)]
    no_progress: bool,
}

pub struct Bar<'a> {
    ctx: &'a Context,
    what: &'a str,
    shown: bool,
    drawn: bool,
    last: Instant,
}

impl Progress {
    pub fn of<'a>(self, ctx: &'a Context, what: &'a str) -> Bar<'a> {
        let drawn = std::io::stderr().is_terminal();
        Bar { ctx, what, shown: !self.no_progress, drawn, last: Instant::now() }
    }
}

impl Bar<'_> {
    pub fn at(&mut self, done: u64, all: u64) {
        let pause = if self.drawn { DRAW } else { LINE };
        if !self.shown || (done < all && self.last.elapsed() < pause) {
            return;
        }
        self.last = Instant::now();
        if !self.drawn {
            return self.ctx.output.say(&format!("{} {}", self.what, percent(done, all)));
        }
        let end = if done >= all { "\n" } else { "" };
        // That stderr may be gone is nobody's concern.
        let _ = write!(std::io::stderr(), "\r{} {} {}{end}", self.what, bar(done, all), percent(done, all));
    }
}

fn percent(done: u64, all: u64) -> String {
    format!("{:>3} %", done.saturating_mul(100).checked_div(all).unwrap_or(100).min(100))
}

fn bar(done: u64, all: u64) -> String {
    let full = done.saturating_mul(WIDTH as u64).checked_div(all).map_or(WIDTH, |n| WIDTH.min(n as usize));
    format!("[{}{}]", "#".repeat(full), ".".repeat(WIDTH - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far() {
        for (done, all, said) in [(0, 4, "  0 %"), (1, 4, " 25 %"), (4, 4, "100 %"), (0, 0, "100 %"), (9, 4, "100 %")] {
            assert_eq!(percent(done, all), said);
            assert_eq!(bar(done, all).len(), WIDTH + 2);
        }
    }
}
