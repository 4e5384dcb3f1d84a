//! The language of the suite: a line is a verb on the store, `->` what it must come to.
//!
//! ```text
//! admit  gh/evt-1 body=A agg=repo-7    -> accepted
//! admit  gh/evt-1 body=B               -> conflict with gh/evt-1 (payload)
//! route                                -> gh/evt-1 ready
//! claim  alice 30s                     -> gh/evt-1 epoch 1
//! tick   31s
//! claim  bob 30s                       -> gh/evt-1 epoch 2 lost 1 alone
//! settle alice succeeded               -> fenced
//! settle bob succeeded                 -> succeeded
//! ```
//!
//! [`check`] runs a script on a bed and on the model beside it: after each line the verdict is compared with what is
//! written, then the dumps of all tables with each other, then the invariants are asked. Start at [`verbs`].

pub mod bed;
pub mod item;
pub mod names;
pub mod pages;
pub mod random;
pub mod verbs;
pub mod words;

use bed::{Bed, ModelBed};
use verbs::Runner;
use words::Line;

use super::{dump, invariant};

/// Runs a script and panics at the first line that comes to something else, with what it came to.
pub fn check(name: &str, script: &str, bed: &dyn Bed) {
    if let Err(problem) = run(script, bed) {
        panic!("{name} on {}: {problem}", bed.name());
    }
}

/// Runs a script; the error names the line.
pub fn run(script: &str, bed: &dyn Bed) -> Result<(), String> {
    let model = ModelBed::default();
    let mut here = Runner::new(bed);
    let mut there = Runner::new(&model);
    for line in words::lines(script) {
        if let Some(difference) = pages::difference((&here.rows(), &*here.store()), (&there.rows(), &*there.store())) {
            return Err(format!("before line {}: {}\n{difference}", line.number, line.text));
        }
        step(&line, &mut here, &mut there)
            .map_err(|problem| format!("line {}: {}\n{problem}", line.number, line.text))?;
    }
    pages::pages_are_the_list(&*here.store())
}

/// One line on both, and everything that must hold behind it.
pub fn step(line: &Line, here: &mut Runner<'_>, there: &mut Runner<'_>) -> Result<(), String> {
    let before = here.rows();
    let (said, model) = (here.line(line)?, there.line(line)?);
    if said != line.verdict {
        return Err(format!("  came to: {said}"));
    }
    if model != said {
        return Err(format!("  came to: {said}\n  model:   {model}"));
    }
    judge(&before, here, there)
}

/// The dumps agree, and no invariant is broken by the step or by where it led.
pub fn judge(before: &super::model::Rows, here: &Runner<'_>, there: &Runner<'_>) -> Result<(), String> {
    let (rows, model) = (here.rows(), there.rows());
    let differences = dump::differences(&dump::dump(&rows), &dump::dump(&model));
    if !differences.is_empty() {
        return Err(format!("  the tables differ (- only here, + only in the model):\n  {}", differences.join("\n  ")));
    }
    let mut wrong = invariant::of_rows(&rows, here.configurations());
    wrong.extend(invariant::of_step(before, &rows));
    if wrong.is_empty() { Ok(()) } else { Err(format!("  broken: {}", wrong.join("; "))) }
}
