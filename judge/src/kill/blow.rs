//! How a cycle ends: at a random moment, or at the n-th pass of a named point.

use std::time::Duration;

use crate::dice::Dice;

/// The kill points of the path of one webhook, in its order (features `failpoints`).
pub const POINTS: [&str; 17] = [
    "limits",
    "verified",
    "identified",
    "queued",
    "begun",
    "inserted",
    "committing",
    "committed",
    "answering",
    "answered",
    "pass_begun",
    "pass_committed",
    "claimed",
    "sent",
    "answered_outside",
    "settling",
    "settled",
];
/// Passes of a point before the one that kills, at the most; small enough to be reached in one cycle.
const HIT_MAX: u64 = 40;
/// The latest random moment.
const MOMENT_MAX: u64 = 700;
/// How long a named point is waited for.
pub const WAIT: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blow {
    After(Duration),
    At { point: &'static str, hit: u64 },
}

impl Blow {
    /// Half of the cycles at random moments; the other half goes through the points, at the first, the second or some
    /// later pass. `cycle` counts over the whole campaign, so that every point gets its turn in every hit.
    pub fn of(cycle: u64, dice: &mut Dice) -> Self {
        let turn = cycle / 2;
        let points = POINTS.len() as u64;
        let point = POINTS.get((turn % points) as usize).filter(|_| cycle % 2 == 1);
        match point {
            None => Self::After(Duration::from_millis(dice.below(MOMENT_MAX))),
            Some(point) => {
                let hit = match (turn / points) % 3 {
                    0 => 1,
                    1 => 2,
                    _ => 3 + dice.below(HIT_MAX),
                };
                Self::At { point, hit }
            }
        }
    }

    /// `HOOKONCE_KILL_AT`.
    pub fn kill_at(&self) -> Option<String> {
        match self {
            Self::After(_) => None,
            Self::At { point, hit } => Some(format!("{point}:{hit}")),
        }
    }

    /// The fault's name in the evidence.
    pub fn name(&self) -> String {
        match self {
            Self::After(_) => "kill".to_owned(),
            Self::At { point, .. } => format!("kill:{point}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_cycles_reach_every_point_and_half_of_them_are_random() {
        let mut dice = Dice::new(1);
        let blows: Vec<Blow> = (0..60).map(|c| Blow::of(c, &mut dice)).collect();
        for point in POINTS {
            assert!(blows.iter().any(|b| b.name() == format!("kill:{point}")), "{point}");
        }
        assert_eq!(blows.iter().filter(|b| matches!(b, Blow::After(_))).count(), 30);
        assert_eq!(Blow::At { point: "sent", hit: 2 }.kill_at().as_deref(), Some("sent:2"));
    }
}
