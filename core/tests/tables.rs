//! Decision tables: each file of `tests/tables` is one decision of core, a line a case, what must come out behind `->`.
//!
//! The first line that is no comment names the columns; `-` is nothing. Here stands how each decision is asked.

use std::collections::BTreeMap;

use hookonce_core::admit::{self, Admission, Beside, Differs, Fresh, KeepBody, Known, KnownConflict, Taken, Verdict};
use hookonce_core::claim::{Claimed, Triage, triage};
use hookonce_core::command;
use hookonce_core::consumer::{Consumer, From, OnDead, Order, Pattern, Policy};
use hookonce_core::delivery::{HaltKind, Outcome};
use hookonce_core::event::{Guard, Hash, HoldReason, Item, Key, KeyKind};
use hookonce_core::lane::{self, Check, Checked, Found, Place, Tail};
use hookonce_core::lease::Lease;
use hookonce_core::provider::IdGuard;
use hookonce_core::respond;
use hookonce_core::retry;
use hookonce_core::route::{self, Append, Held, Opened, Pass, Routed, Routing, Wanted};
use hookonce_core::settle::{self, How};
use hookonce_core::source::Respond;

/// One line of a table: its cells by the names of their columns.
struct Case<'t>(BTreeMap<&'t str, &'t str>);

impl<'t> Case<'t> {
    fn text(&self, column: &str) -> &'t str {
        self.0.get(column).unwrap_or_else(|| panic!("there is no column `{column}`"))
    }

    fn opt(&self, column: &str) -> Option<&'t str> {
        Some(self.text(column)).filter(|text| *text != "-")
    }

    fn number(&self, column: &str) -> i64 {
        self.opt_number(column).unwrap_or_else(|| panic!("`{column}` is no number"))
    }

    fn opt_number(&self, column: &str) -> Option<i64> {
        self.opt(column).map(|text| text.parse().unwrap_or_else(|_| panic!("`{text}` in `{column}` is no number")))
    }

    fn yes(&self, column: &str) -> bool {
        self.text(column) == "yes"
    }

    /// A cell that is a list: `a,b,c`.
    fn list(&self, column: &str) -> Vec<&'t str> {
        self.opt(column).map(|text| text.split(',').collect()).unwrap_or_default()
    }
}

/// Asks every line of a table and compares; all that differ are named at once.
fn table(name: &str, text: &str, decide: impl Fn(&Case<'_>) -> String) {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let (_, head) = lines.next().expect("a table names its columns");
    let columns: Vec<&str> = head.split("->").next().unwrap_or_default().split_whitespace().collect();
    let (mut wrong, mut cases) = (Vec::new(), 0);
    for (at, line) in lines {
        let (cells, wanted) = line.split_once("->").unwrap_or_else(|| panic!("{name}:{}: no `->`", at + 1));
        let cells: Vec<&str> = cells.split_whitespace().collect();
        assert_eq!(cells.len(), columns.len(), "{name}:{}: {line}", at + 1);
        let got = decide(&Case(columns.iter().copied().zip(cells).collect()));
        cases += 1;
        if got != wanted.trim() {
            wrong.push(format!("{name}:{}: {line}\n    came to: {got}", at + 1));
        }
    }
    assert!(wrong.is_empty() && cases > 0, "{}", wrong.join("\n"));
}

macro_rules! tables {
    ($($name:ident => $decide:expr;)+) => {
        $(#[test]
        fn $name() {
            let file = concat!(stringify!($name), ".txt");
            table(file, include_str!(concat!("tables/", stringify!($name), ".txt")), $decide);
        })+
        const NAMES: &[&str] = &[$(stringify!($name)),+];
    };
}

tables! {
    admit_taken => taken;
    admit_aside => aside;
    claim_triage => |case| triaged(case.number("lost"), case.yes("cancel"));
    settle_plan => plan;
    retry_delay => delay;
    retry_exhausted => exhausted;
    lane_next => next;
    lane_check => check;
    route_wanted => wanted;
    route_pass => pass;
    command_retry => comes_back;
    command_hold => decided;
    respond_answer => answer;
}

/// A table that nobody reads decides nothing.
#[test]
fn every_table_is_on_the_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tables");
    for file in std::fs::read_dir(folder).expect("the folder of tables is there") {
        let name = file.expect("its entries can be read").file_name().into_string().expect("names are text");
        assert!(NAMES.contains(&name.trim_end_matches(".txt")), "tests/tables/{name} is on no list");
    }
}

fn hash(text: &str) -> Hash {
    let mut hash = [0; 32];
    hash.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
    hash
}

fn item() -> Item {
    Item {
        source: "gh".into(),
        namespace: "gh".into(),
        rule: 1,
        key: Key { kind: KeyKind::Provider, bytes: b"k".to_vec(), text: "k".into() },
        digest: [1; 16],
        fingerprint: hash("F"),
        body_hash: hash("B"),
        kind: "t".into(),
        aggregate: None,
        version: None,
        event_time: None,
        schema_version: None,
        span: None,
        item: 0,
        provider_delivery: None,
        attempt_mark: None,
        guard: None,
        hold: None,
    }
}

/// `fingerprint/body/rule/type/aggregate`, of the item and of what is known; conflicts `fingerprint/body[=event]`.
fn taken(case: &Case<'_>) -> String {
    let parts = |column| case.text(column).split('/').collect::<Vec<_>>();
    let (mine, theirs) = (parts("item"), parts("known"));
    let aggregate = |text: &str| (text != "-").then(|| text.to_owned());
    let item = Item {
        fingerprint: hash(mine[0]),
        body_hash: hash(mine[1]),
        rule: mine[2].parse().expect("a rule is a number"),
        kind: mine[3].into(),
        aggregate: aggregate(mine[4]),
        ..item()
    };
    let conflict = |text: &str| {
        let (content, event) =
            text.split_once('=').map_or((text, None), |(content, event)| (content, event.parse().ok()));
        let (fingerprint, body) = content.split_once('/').expect("a conflict is written `fingerprint/body`");
        KnownConflict { fingerprint: hash(fingerprint), body_hash: hash(body), event }
    };
    let conflicts: Vec<KnownConflict> = case.list("conflicts").into_iter().map(conflict).collect();
    let known = Known {
        event: 1,
        fingerprint: hash(theirs[0]),
        body_hash: hash(theirs[1]),
        rule: theirs[2].parse().expect("a rule is a number"),
        kind: theirs[3].into(),
        aggregate: aggregate(theirs[4]),
        conflicts,
    };
    match admit::taken(&item, &known) {
        Taken::Duplicate { of, variant: false } => format!("duplicate of {of}"),
        Taken::Duplicate { of, variant: true } => format!("duplicate of variant {of}"),
        Taken::Conflict { with, differs, store } => {
            let store = match store {
                KeepBody::New => "new",
                KeepBody::Again(_) => "again",
                KeepBody::Full => "full",
            };
            format!("conflict with {with} ({}) {store}", differs.name())
        }
        Taken::Unknown { of } => format!("unknown difference from {of}"),
    }
}

/// Times are days; the request is received on day 100.
fn aside(case: &Case<'_>) -> String {
    let day = |n: i64| n * hookonce_core::time::DAY;
    let then = match case.text("guard") {
        "hold" => Some(IdGuard::Hold),
        "duplicate" => Some(IdGuard::Duplicate),
        "accept" => Some(IdGuard::Accept),
        _ => None,
    };
    let item = Item {
        guard: then.map(|then| Guard { digest: [2; 16], then }),
        event_time: case.opt_number("time").map(day),
        hold: case.opt("own").and_then(HoldReason::parse),
        ..item()
    };
    let beside = Beside { guard: case.opt_number("met"), floor: case.opt_number("floor").map(day) };
    match admit::aside(&item, day(100), &beside) {
        Fresh::Copy { of } => format!("copy of {of}"),
        Fresh::Event { hold: Some(reason) } => format!("held {}", reason.name()),
        Fresh::Event { hold: None } => "accepted".into(),
    }
}

fn claimed() -> Claimed {
    Claimed {
        lease: Lease { seq: 1, epoch: 1, token: [0; 16], store: 0 },
        id: 1,
        lane: -1,
        event: 1,
        consumer: 1,
        generation: 0,
        attempts: 0,
        lost: 0,
        since: None,
        decided: None,
        cancel: false,
        now: 0,
    }
}

fn triaged(lost: i64, cancel: bool) -> String {
    let name = match triage(&Claimed { lost, cancel, ..claimed() }) {
        Triage::Run => "run",
        Triage::Alone => "alone",
        Triage::Quiet => "quiet",
        Triage::Dead => "dead",
        Triage::Cancelled => "cancelled",
    };
    name.into()
}

fn consumer(name: &str, id: i64, on: &str, order: Order) -> Consumer {
    Consumer {
        id,
        name: name.into(),
        on: on.split('+').filter_map(Pattern::parse).collect(),
        order,
        on_dead: OnDead::Hold,
        retry: Policy::default(),
        from: From::Now,
        key_name: name.into(),
        pulled: false,
    }
}

/// Times are seconds: `failing` how long it has been failing before this run, `took` the run. The jitter is the least.
fn plan(case: &Case<'_>) -> String {
    let second = hookonce_core::time::SECOND;
    let order = if case.text("order") == "none" { Order::None } else { Order::Arrival };
    let on_dead = if case.text("on_dead") == "continue" { OnDead::Continue } else { OnDead::Hold };
    let retry = Policy { first: 10 * second, max: 60 * second, give_up_after: 600 * second, attempts: Some(5) };
    let consumer = Consumer { on_dead, retry, ..consumer("app", 1, "*/*", order) };
    let since = case.opt_number("failing").map(|failing| -failing * second);
    let run = Claimed { attempts: case.number("attempts"), since, ..claimed() };
    let (name, number) = case.text("outcome").split_once(':').unwrap_or((case.text("outcome"), "0"));
    let delay = number.parse::<i64>().expect("a delay is a number") * second;
    let outcome = match name {
        "done" => Outcome::Done,
        "snooze" => Outcome::Snooze(delay),
        "untried" => Outcome::Untried { delay },
        "defer" => Outcome::Deferred { reason: "why".into(), after: Some(delay) },
        "gone" => Outcome::Deferred { reason: "why".into(), after: None },
        "discard" => Outcome::Discard("why".into()),
        "park" => Outcome::Park("why".into()),
        "dead" => Outcome::Dead("why".into()),
        "retry" => Outcome::Retry { reason: "why".into(), after: (delay > 0).then_some(delay) },
        other => panic!("`{other}` is no outcome"),
    };
    let ending = settle::plan(&run, &outcome, &consumer, case.number("took") * second, 0);
    let how = match ending.how {
        How::Closed(state) => state.name().to_owned(),
        How::Later { delay, counted: true } => format!("again in {} counted", delay / second),
        How::Later { delay, counted: false } => format!("again in {}", delay / second),
        How::Halted { kind, holds_lane: true, .. } => format!("{} holds", kind.name()),
        How::Halted { kind, holds_lane: false, .. } => format!("{} frees", kind.name()),
    };
    format!("{how}, {} attempts, {}", ending.attempts, ending.attempt.outcome)
}

fn delay(case: &Case<'_>) -> String {
    let policy = Policy { first: case.number("first"), max: case.number("max"), ..Policy::default() };
    let dice = match case.text("dice") {
        "least" => 0,
        _ => (retry::ladder(&policy, case.number("n")) - retry::ladder(&policy, case.number("n")) / 2) as u64,
    };
    retry::delay(&policy, case.number("n"), case.opt_number("after"), dice).to_string()
}

fn exhausted(case: &Case<'_>) -> String {
    let policy =
        Policy { give_up_after: case.number("give_up"), attempts: case.opt_number("limit"), ..Policy::default() };
    let over = retry::exhausted(&policy, case.number("attempts"), case.number("failing"));
    if over { "over" } else { "again" }.into()
}

/// Places are written `2o` open, `3c` closed, `4b` open and busy (it has a work or a halted row).
fn next(case: &Case<'_>) -> String {
    let place = |text: &str| {
        let (seq, how) = text.split_at(text.len() - 1);
        Place { seq: seq.parse().expect("a place has a number"), open: how != "c", busy: how == "b" }
    };
    let places: Vec<Place> = case.list("places").into_iter().map(place).collect();
    lane::next(case.number("behind"), &places).map_or("nobody".into(), |seq| seq.to_string())
}

/// Consumers `name:patterns` with patterns joined by `+`, each with its cursor `@n`.
fn routing(case: &Case<'_>) -> (Routing, BTreeMap<i64, i64>) {
    let (mut consumers, mut cursors) = (Vec::new(), BTreeMap::new());
    for (at, text) in case.list("consumers").into_iter().enumerate() {
        let id = at as i64 + 1;
        let (definition, cursor) = text.split_once('@').expect("a consumer has a cursor");
        let (name, on) = definition.split_once(':').expect("a consumer has patterns");
        consumers.push(consumer(name, id, on, Order::Arrival));
        cursors.insert(id, cursor.parse().expect("a cursor is a number"));
    }
    (Routing { config: 1, consumers }, cursors)
}

fn routed(case: &Case<'_>) -> Routed {
    let (source, kind) = case.text("event").split_once('/').expect("an event is written `source/type`");
    let held = case.opt("met").map(|text| {
        let (reason, released) = text.split_once(':').expect("a hold is written `reason:open`");
        let released = match released {
            "released" => Some(true),
            "dropped" => Some(false),
            _ => None,
        };
        Held { reason: HoldReason::parse(reason).expect("a reason"), released }
    });
    Routed {
        event: case.number("number"),
        pos: case.number("number"),
        source: source.into(),
        namespace: source.into(),
        kind: kind.into(),
        aggregate: Some("a".into()),
        hold: case.opt("hold").and_then(HoldReason::parse),
        silent: case.yes("silent"),
        held,
    }
}

/// One event that a pass goes over (`own`: of which consumer that catches up), or that a person released.
fn wanted(case: &Case<'_>) -> String {
    let (routing, cursors) = routing(case);
    let event = routed(case);
    let named = |name: &str| routing.consumers.iter().find(|c| *c.name == *name).map(|c| c.id);
    let had: Vec<i64> = case.list("has").into_iter().filter_map(named).collect();
    let asked = match case.text("release") {
        "no" => None,
        "busy" => Some(route::Wish::Busy),
        _ => Some(route::Wish::Release { event: event.clone(), delivered: had }),
    };
    let opened = Opened {
        last: Pass { n: 1, pos: case.number("pos"), seq: 0, config: 1, consumers: Vec::new(), own: None },
        cursors,
        checks: Vec::new(),
        upto: event.event,
        events: if asked.is_some() { Vec::new() } else { vec![event] },
        requests: asked.into_iter().map(|what| route::Request { id: 1, what, decided: Some(9) }).collect(),
        own: case.opt("own").and_then(named),
    };
    let wanted = route::wanted(&opened, &routing);
    let name = |id: i64| routing.consumers.iter().find(|c| c.id == id).map_or("?", |c| &*c.name);
    let mut said: Vec<String> = wanted.appends.iter().map(|a| name(a.consumer).to_owned()).collect();
    said.extend(wanted.holds.iter().map(|(_, reason)| format!("hold {}", reason.name())));
    said.extend(wanted.closed.iter().map(|_| "close the hold".to_owned()));
    said.extend(wanted.reopened.iter().map(|_| "hold again".to_owned()));
    said.extend((!opened.requests.is_empty() && wanted.done.is_empty()).then(|| "ask again".to_owned()));
    if said.is_empty() { "nothing".into() } else { said.join(", ") }
}

/// Appends by their lanes (`_`: without one), the tails of the lanes before (`a=open`, `a=unsure:4`), the last `seq` 10,
/// and whether an earlier pass left something to check.
fn pass(case: &Case<'_>) -> String {
    let number = |name: &str| -(i64::from(name.bytes().next().unwrap_or_default()));
    let append = |lane: &str| Append {
        event: 1,
        consumer: 1,
        generation: 0,
        lane: (lane != "_").then(|| number(lane)),
        decided: None,
        moved: None,
    };
    let checked = case.list("checked").into_iter().map(|id| id.parse().expect("a check is a number")).collect();
    let appends = case.list("lanes").into_iter().map(append).collect();
    let wanted = Wanted { appends, checked, ..Wanted::default() };
    let tails = case.list("tails").into_iter().filter_map(|text| text.split_once('='));
    let tails = tails.map(|(lane, state)| (number(lane), tail(state))).collect();
    let last = Pass { n: 4, pos: 7, seq: 10, config: 1, consumers: Vec::new(), own: None };
    let opened = Opened {
        last,
        cursors: BTreeMap::new(),
        checks: Vec::new(),
        requests: Vec::new(),
        events: Vec::new(),
        upto: case.number("upto"),
        own: None,
    };
    let routing = Routing { config: 1, consumers: Vec::new() };
    let rows = route::pass(&opened, wanted, &tails, &routing);
    if rows.is_empty(&opened) {
        return "not written".into();
    }
    let row = |d: &route::NewDelivery| format!("{}{}", d.seq, if d.runnable { " runs" } else { " waits" });
    let mut rows_said: Vec<String> = rows.deliveries.iter().map(row).collect();
    rows_said.extend(rows.unsure.iter().map(|(_, behind)| format!("check behind {behind}")));
    format!("pass {} at {}: {}", rows.pass.n, rows.pass.pos, rows_said.join(", ")).trim_end_matches([':', ' ']).into()
}

fn tail(state: &str) -> Tail {
    match state.split_once(':') {
        Some((_, seq)) => Tail::Unsure { seq: seq.parse().expect("a tail has a number") },
        None if state == "open" => Tail::Open,
        None => Tail::Closed,
    }
}

/// What becomes of a check whose delivery was found so: the pass is done with it or not, the lane is asked or not.
fn check(case: &Case<'_>) -> String {
    let found = match case.text("found") {
        "open" => Found::Locked { open: true },
        "closed" => Found::Locked { open: false },
        "held" => Found::Held,
        _ => Found::Gone,
    };
    let last = Pass { n: 4, pos: 7, seq: 10, config: 1, consumers: Vec::new(), own: None };
    let check = Check { id: 1, lane: -1, behind: 4 };
    let opened = Opened {
        last,
        cursors: BTreeMap::new(),
        checks: vec![(check, found)],
        requests: Vec::new(),
        events: Vec::new(),
        upto: 7,
        own: None,
    };
    let wanted = route::wanted(&opened, &Routing { config: 1, consumers: Vec::new() });
    match (wanted.checked.as_slice(), wanted.headless.as_slice()) {
        ([], []) if lane::check(found) == Checked::Stays => "stays".into(),
        ([1], []) => "dropped".into(),
        ([1], [asked]) if *asked == check => "asks, dropped".into(),
        other => format!("{other:?}"),
    }
}

fn refused(refused: command::Refused) -> String {
    match refused {
        command::Refused::NotFound => "not found".into(),
        command::Refused::State => "wrong state".into(),
    }
}

fn comes_back(case: &Case<'_>) -> String {
    match command::retry(case.opt("halted").and_then(HaltKind::parse), case.yes("open")) {
        Ok(command::Back::InPlace) => "in place".into(),
        Ok(command::Back::Tail) => "at the tail".into(),
        Err(why) => refused(why),
    }
}

fn decided(case: &Case<'_>) -> String {
    let found = match case.text("hold") {
        "none" => None,
        "open" => Some(None),
        said => Some(Some(said == "released")),
    };
    command::hold(found).map_or_else(refused, |()| "decided".into())
}

fn answer(case: &Case<'_>) -> String {
    let verdict = |name: &str| match name {
        "accepted" => Verdict::Accepted { event: 1, hold: None },
        "held" => Verdict::Accepted { event: 1, hold: Some(HoldReason::SuspectedReplay) },
        "duplicate" => Verdict::Duplicate { of: 1 },
        "conflict" => Verdict::Conflict { with: 1, differs: Differs::Payload, kept: true },
        "full" => Verdict::Conflict { with: 1, differs: Differs::Payload, kept: false },
        "unmapped" => Verdict::Unmapped { id: 1, reason: String::new() },
        other => panic!("`{other}` is no verdict"),
    };
    let status = |column| u16::try_from(case.number(column)).expect("a status");
    let respond = Respond {
        status: status("status"),
        on_conflict: status("on_conflict"),
        on_unmapped: status("on_unmapped"),
        ..Respond::default()
    };
    let verdicts = case.list("verdicts").into_iter().map(verdict).collect();
    respond::answer(&Admission { verdicts }, &respond).to_string()
}
