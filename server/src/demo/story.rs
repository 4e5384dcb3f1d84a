//! What happens on the stage, chapter by chapter. Nothing here knows how the server works: it sends, asks the API, and
//! counts what the business has in its books.

use std::time::Duration;

use anyhow::{Result, bail};
use futures_util::future::try_join_all;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::provider::{Answer, Letter, Provider};
use super::{CRM, Facts, GITHUB, STRIPE, Stage};

const CLINICS: [&str; 2] = ["17", "18"];
const PATIENTS: usize = 20;
/// Insert and four updates.
const REVISIONS: i64 = 5;
const COPIES: usize = 32;
/// From the kill to the next answer.
const READY: Duration = Duration::from_secs(5);
/// What a business that is alive needs at the most to have everything in its books.
const SETTLE: Duration = Duration::from_secs(30);

pub async fn play(stage: &mut Stage, facts: &mut Facts<'_>) -> Result<()> {
    let crm = Provider::new(&stage.client, "crmbridge", CRM, stage.server.source("crm"))?;
    let stripe = Provider::new(&stage.client, "stripe", STRIPE, stage.server.source("billing"))?;
    let github = Provider::new(&stage.client, "github", GITHUB, stage.server.source("code"))?;
    patients(stage, facts, &crm).await?;
    copies(stage, facts, &stripe).await?;
    forged(stage, facts, &stripe).await?;
    altered(stage, facts, &stripe).await?;
    replayed(stage, facts, &github).await?;
    killed(stage, facts, &crm).await?;
    account(stage, facts).await
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// A patient's whole life as letters, in order.
fn life(crm: &Provider, clinic: &str, patient: &str) -> Result<Vec<Letter>> {
    let letter = |revision: i64| {
        let action = if revision == 0 { "Insert" } else { "Update" };
        let body = format!(
            r#"{{"Business":"{clinic}","Location":"3","Entity":"Patient","Action":"{action}","PrimaryKey":"{patient}","CommandTime":"2026-11-30T09:{revision:02}:00Z","Data":{{"Name":"Avery Example","Revision":{revision}}}}}"#
        );
        crm.letter(&[], body, now())
    };
    (0..REVISIONS).map(letter).collect()
}

/// A small generator with a seed: the story is the same again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides.max(1)
    }
}

/// Copies that came, tries that met a closed door, copies that were accepted.
type Counts = (usize, usize, usize);

/// All patients at once, each in its own order; answers get lost, so copies come late.
async fn send_lives(crm: &Provider, seed: u64, story: &str) -> Result<Counts> {
    let mut dice = Dice(seed);
    let mut senders = Vec::new();
    for (clinic, n) in CLINICS.iter().flat_map(|clinic| (0..PATIENTS).map(move |n| (clinic, n))) {
        let life = life(crm, clinic, &format!("{story}{n}"))?;
        let deaf: Vec<usize> = life.iter().map(|_| usize::from(dice.roll(4) == 0)).collect();
        senders.push(send_life(crm, life, deaf));
    }
    let done = try_join_all(senders).await?;
    Ok(done.into_iter().fold((0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2)))
}

async fn send_life(crm: &Provider, life: Vec<Letter>, deaf: Vec<usize>) -> Result<Counts> {
    let mut counts = (0, 0, 0);
    for (letter, deaf) in life.iter().zip(deaf) {
        let done = crm.deliver(letter, deaf).await?;
        counts.0 += done.copies;
        counts.1 += done.refused;
        counts.2 += done.verdicts.iter().filter(|v| *v == "accepted").count();
    }
    Ok(counts)
}

async fn patients(stage: &Stage, facts: &mut Facts<'_>, crm: &Provider) -> Result<()> {
    facts.chapter("two clinics sync their patients; every fourth answer is lost, so the provider sends again");
    let events = CLINICS.len() * PATIENTS * REVISIONS as usize;
    let (copies, _, accepted) = send_lives(crm, stage.seed, "a").await?;
    let evidence = format!("{copies} requests, {accepted} accepted, {} duplicates", copies - accepted);
    facts.note("each event is stored once, however often it comes", accepted == events, evidence);
    settled(stage, events).await?;
    let books = stage.business.books();
    let rows = books.patients.values().filter(|r| **r == REVISIONS - 1).count();
    facts.note(
        "each effect happens once",
        books.audit.len() == events,
        format!("{} audit lines for {events} events", books.audit.len()),
    );
    let evidence = format!("{rows} of {} patients at their newest revision, 0 steps back", books.patients.len());
    facts.note(
        "a patient's events arrive in their order",
        books.disorder == 0 && rows == books.patients.len(),
        evidence,
    );
    Ok(())
}

fn invoice(id: &str, cents: i64) -> String {
    format!(
        r#"{{"id":"evt_{id}","object":"event","type":"invoice.paid","created":{},"data":{{"object":{{"id":"in_{id}","object":"invoice","amount_paid":{cents}}}}}}}"#,
        now()
    )
}

async fn copies(stage: &Stage, facts: &mut Facts<'_>, stripe: &Provider) -> Result<()> {
    facts.chapter("a payment arrives as 32 copies at the same moment");
    let letter = stripe.letter(&[], invoice("parallel", 4_900), now())?;
    let answers = try_join_all((0..COPIES).map(|_| stripe.post(&letter))).await?;
    let count = |verdict: &str| answers.iter().filter(|a| a.verdict == verdict).count();
    let one = count("accepted") == 1 && count("duplicate") == COPIES - 1;
    let same = answers.iter().all(|a| a.event == answers[0].event && a.status == 200);
    let evidence =
        format!("{} accepted, {} duplicates, all of {}", count("accepted"), count("duplicate"), answers[0].event);
    facts.note("one of them is the event, the others are its copies", one && same, evidence);
    charged(stage, facts, "in_parallel", 4_900, "the customer is charged once").await
}

async fn charged(stage: &Stage, facts: &mut Facts<'_>, invoice: &str, cents: i64, promise: &str) -> Result<()> {
    until("the charge", || stage.business.books().charged.contains_key(invoice)).await?;
    let amount = stage.business.books().charged.get(invoice).copied().unwrap_or_default();
    facts.note(promise, amount == cents, format!("{invoice}: {amount} cents"));
    Ok(())
}

async fn forged(stage: &Stage, facts: &mut Facts<'_>, stripe: &Provider) -> Result<()> {
    facts.chapter("somebody tampers, guesses, and replays an old request");
    let before = events(stage).await?;
    let good = stripe.letter(&[], invoice("forged", 4_900), now())?;
    let tampered = Letter { body: String::from_utf8_lossy(&good.body).replace("4900", "9900").into(), ..good };
    let guesser = Provider::new(&stage.client, "stripe", "whsec_a_guess_0123456789abcdef", good_url(stage))?;
    let wrong = guesser.letter(&[], invoice("forged", 4_900), now())?;
    let old = stripe.letter(&[], invoice("forged", 4_900), now() - 3_600)?;
    let mut texts = Vec::new();
    for (promise, letter) in [
        ("a body that was changed on the way is refused", tampered),
        ("a wrong secret is refused", wrong),
        ("a request of an hour ago is refused", old),
    ] {
        let answer = stripe.post(&letter).await?;
        facts.note(promise, answer.status == 401 && answer.verdict.is_empty(), format!("{}", answer.status));
        texts.push(answer.text);
    }
    facts.note("nobody learns why", texts.windows(2).all(|t| t[0] == t[1]), "one text for all three");
    let after = events(stage).await?;
    facts.note("and nothing of it is in the inbox", before == after, format!("{after} events, as before"));
    Ok(())
}

fn good_url(stage: &Stage) -> String {
    stage.server.source("billing")
}

async fn altered(stage: &Stage, facts: &mut Facts<'_>, stripe: &Provider) -> Result<()> {
    facts.chapter("the provider reuses an id with another amount, truly signed");
    let first = stripe.post(&stripe.letter(&[], invoice("reused", 4_900), now())?).await?;
    let second = stripe.post(&stripe.letter(&[], invoice("reused", 1), now())?).await?;
    let again = stripe.post(&stripe.letter(&[], invoice("reused", 1), now())?).await?;
    let held = first.verdict == "accepted"
        && [&second, &again].iter().all(|a: &&Answer| a.verdict == "conflict" && a.status == 200);
    facts.note(
        "it is a conflict: kept apart, said, not applied",
        held,
        format!("{}, then {} twice", first.verdict, second.verdict),
    );
    let event: Value = stage.server.api(&format!("/v1/events/{}", first.event)).await?;
    facts.note(
        "the same wrong copy again makes no pile",
        event["conflicts"] == 1,
        format!("{} conflict on {}", event["conflicts"], first.event),
    );
    charged(stage, facts, "in_reused", 4_900, "the first amount stands").await
}

async fn replayed(stage: &Stage, facts: &mut Facts<'_>, github: &Provider) -> Result<()> {
    facts.chapter("a signed body comes back under another delivery id, which GitHub does not sign");
    let body = r#"{"action":"opened","issue":{"id":1,"title":"the door is open"},"repository":{"id":7}}"#;
    let send = |id: &'static str| {
        let letter = github.letter(&[("x-github-event", "issues"), ("x-github-delivery", id)], body.to_owned(), now());
        async move { github.post(&letter?).await }
    };
    let (first, second) = (send("11111111-first").await?, send("22222222-other").await?);
    let both = first.verdict == "accepted" && second.verdict == "accepted";
    let held = held(stage, &second.event).await?;
    facts.note(
        "it is held as a suspected replay",
        both && held == "suspected_replay",
        format!("{}: {held}", second.event),
    );
    until("the issue", || !stage.business.books().issues.is_empty()).await?;
    let issues = stage.business.books().issues.len();
    facts.note("and handed on once", issues == 1, format!("{issues} issue in the books"));
    Ok(())
}

/// The hold row is written by the router, after the answer.
async fn held(stage: &Stage, event: &str) -> Result<String> {
    let end = Instant::now() + SETTLE;
    loop {
        let list: Value = stage.server.api("/v1/held").await?;
        let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        if let Some(item) = items.iter().find(|i| i["event"] == event) {
            return Ok(item["reason"].as_str().unwrap_or_default().to_owned());
        }
        if Instant::now() > end {
            return Ok("not held".to_owned());
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// The server dies in the middle of it; the providers go on as they always do.
async fn killed(stage: &mut Stage, facts: &mut Facts<'_>, crm: &Provider) -> Result<()> {
    facts.chapter("the server is killed with SIGKILL in the middle of another sync");
    let events = CLINICS.len() * PATIENTS * REVISIONS as usize;
    let before = stage.business.books().audit.len();
    let (sender, seed) = (crm.clone(), stage.seed ^ 0xFEED);
    let sending = tokio::spawn(async move { send_lives(&sender, seed, "b").await });
    until("a third of the sync", || stage.business.books().audit.len() >= before + events / 3).await?;
    stage.server.kill().await?;
    let at = stage.business.books().audit.len() - before;
    let began = Instant::now();
    stage.server.start().await?;
    let ready = began.elapsed();
    let (copies, refused, _) = sending.await??;
    settled(stage, before + events).await?;
    let evidence = format!("killed after {at} of {events} effects, ready again in {} ms", ready.as_millis());
    facts.note("it is ready again within five seconds", ready <= READY, evidence);
    let books = stage.business.books();
    let evidence = format!("{copies} requests, {refused} met a closed door, {} effects", books.audit.len() - before);
    facts.note(
        "nothing that was answered is lost, nothing happens twice",
        books.audit.len() == before + events,
        evidence,
    );
    facts.note("the order of each patient holds across the kill", books.disorder == 0, "0 steps back");
    facts.note(
        "repeats to the business carry the same id and bytes",
        books.altered == 0,
        format!("{} repeats, 0 altered", books.repeats),
    );
    Ok(())
}

async fn account(stage: &Stage, facts: &mut Facts<'_>) -> Result<()> {
    facts.chapter("the account");
    let consumers: Value = stage.server.api("/v1/consumers").await?;
    let app = &consumers["items"][0];
    let left = ["ready", "processing", "retrying", "dead", "parked"]
        .iter()
        .map(|n| app[n].as_i64().unwrap_or(-1))
        .sum::<i64>();
    facts.note("nothing is left over, stuck or dead", left == 0, format!("{app}"));
    let books = stage.business.books();
    facts.note(
        "every call to the business bore our signature",
        books.unsigned == 0,
        format!("{} unsigned", books.unsigned),
    );
    Ok(())
}

/// How many events the inbox holds, counted by the API.
async fn events(stage: &Stage) -> Result<usize> {
    let list: Value = stage.server.api("/v1/tally").await?;
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(items.iter().filter(|i| i["verdict"] == "accepted").filter_map(|i| i["count"].as_u64()).sum::<u64>() as usize)
}

async fn settled(stage: &Stage, effects: usize) -> Result<()> {
    until("all effects", || stage.business.books().audit.len() >= effects).await
}

async fn until(what: &str, holds: impl Fn() -> bool) -> Result<()> {
    let end = Instant::now() + SETTLE;
    while !holds() {
        if Instant::now() > end {
            bail!("waited for {what}, in vain");
        }
        sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}
