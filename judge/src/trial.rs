//! One run: a place, a server that is started again and again, the same provider and receiver all along, and a look
//! at the dead store after each fault.
//!
//! [`crate::kill`] and [`crate::power`] differ only in how they end the server and in what lies under the store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::time::sleep;

use crate::binary;
use crate::checker::{self, Account, Case, Expect, Rule, Verdict, Violation};
use crate::dice::Dice;
use crate::dump::{self, Dump};
use crate::history::{Books, Evidence, Fault};
use crate::results::Row;
use crate::rig::child::End;
use crate::rig::config::Tuning;
use crate::rig::load::{Habits, Provider};
use crate::rig::receiver::{Manner, Receiver};
use crate::rig::{Child, Clock, Launch, Place, config};

/// Senders of the load.
const SENDERS: u64 = 8;
/// Nothing has arrived for so long: then it looks drained, and the dump says whether it is.
const SILENCE: Duration = Duration::from_millis(800);
/// One wait for quiet.
const DRAIN_LIMIT: Duration = Duration::from_secs(20);
/// Starts that may be needed to drain: more than one only if the quiet was a back-off.
const DRAINS: u32 = 4;

#[derive(Debug)]
pub struct Trial {
    pub place: Place,
    pub clock: Clock,
    pub seed: u64,
    pub receiver: Arc<Receiver>,
    pub launch: Launch,
    tuning: Tuning,
    books: Arc<Books>,
    pub provider: Arc<Provider>,
    /// How long nothing arrives when all is done.
    pub silence: Duration,
    needs: Vec<String>,
    earlier: Option<(Dump, u64)>,
    /// The slowest way from start to ready.
    pub slowest_start: Duration,
    /// What the checker cannot see: the process itself misbehaved.
    complaints: Vec<Violation>,
    /// At the start: the tree may move on while the run lasts.
    commit: String,
    account: Account,
}

impl Trial {
    pub async fn open(place: Place, launch: Launch, needs: Vec<String>, seed: u64) -> Result<Self> {
        Self::tuned(place, launch, needs, seed, Tuning::default()).await
    }

    pub async fn tuned(place: Place, launch: Launch, needs: Vec<String>, seed: u64, tuning: Tuning) -> Result<Self> {
        Self::among(&[place], launch, needs, seed, tuning, Habits::default()).await
    }

    /// Over one store for several servers. What has to be done by one alone is done by the first.
    pub async fn among(
        places: &[Place],
        launch: Launch,
        needs: Vec<String>,
        seed: u64,
        tuning: Tuning,
        habits: Habits,
    ) -> Result<Self> {
        let place = places.first().context("nobody is to be tried")?.clone();
        std::fs::create_dir_all(&place.store)?;
        for place in places {
            std::fs::write(place.config(), config::toml(place, tuning))?;
        }
        let (clock, books) = (Clock::start(), Arc::new(Books::open(&place.evidence())?));
        let receiver = Receiver::start(place.receiver, books.clone(), clock, Dice::new(seed).fork(1)).await?;
        let to = places.iter().map(Place::ingest).collect();
        let provider = Arc::new(Provider::among(to, habits, books.clone(), clock));
        let (slowest_start, complaints, account) = Default::default();
        Ok(Self {
            tuning,
            commit: binary::commit(),
            place,
            clock,
            seed,
            receiver,
            launch,
            books,
            provider,
            silence: SILENCE,
            needs,
            earlier: None,
            slowest_start,
            complaints,
            account,
        })
    }

    /// A new server process. `None`: it died before it was ready.
    pub async fn start(&mut self, kill_at: Option<String>) -> Result<Option<Child>> {
        let launch = Launch { kill_at, ..self.launch.clone() };
        self.start_at(&self.place.clone(), &launch).await
    }

    /// The same at another of its places.
    pub async fn start_at(&mut self, place: &Place, launch: &Launch) -> Result<Option<Child>> {
        let began = Instant::now();
        let mut child = Child::spawn(place, launch)?;
        if !child.ready().await? {
            let end = child.kill().await?;
            self.must_be_killed(end);
            return Ok(None);
        }
        self.slowest_start = self.slowest_start.max(began.elapsed());
        Ok(Some(child))
    }

    /// A second server over the same store, at an address of its own.
    pub async fn start_twin(&self) -> Result<Child> {
        let twin = self.place.twin()?;
        std::fs::write(twin.config(), config::toml(&twin, self.tuning))?;
        let mut child = Child::spawn(&twin, &self.launch)?;
        if !child.ready().await? {
            bail!("the second server did not start; see `{}`", twin.log().display());
        }
        Ok(child)
    }

    /// Load in the background, until [`Self::halt`] or `sends` are spent.
    pub fn load(&self, sends: u64, dice: &Dice) -> tokio::task::JoinHandle<Result<()>> {
        let (provider, dice) = (self.provider.clone(), dice.clone());
        tokio::spawn(async move { provider.round(SENDERS, sends, &dice).await })
    }

    pub fn halt(&self) {
        self.provider.halt();
    }

    /// A process that ends in any way but the one we gave it is a finding of its own.
    pub fn must_be_killed(&mut self, end: End) {
        if let End::Otherwise(status) = end {
            self.complain(format!("the server ended by itself: {status}; see `{}`", self.place.log().display()));
        }
    }

    pub fn complain(&mut self, words: String) {
        self.complaints.push(Violation { rule: Rule::Process, words });
    }

    pub fn fault(&self, what: &str, cycle: u64, hit: bool) -> Result<()> {
        let (what, at) = (what.to_owned(), self.clock.now());
        self.books.faults.append(&Fault { what, cycle, seed: self.seed, hit, at })
    }

    /// Looks at the dead store. What is found now is what is compared with at the next look.
    pub async fn look(&mut self, drained: bool) -> Result<Verdict> {
        let needs = if drained { self.needs.clone() } else { Vec::new() };
        let expect = Expect { consumers: config::consumers(), needs, drained };
        let (place, earlier, at) = (self.place.clone(), self.earlier.take(), self.clock.now());
        let (verdict, dump) = tokio::task::spawn_blocking(move || -> Result<_> {
            let dump = dump::read(&dump::of(&place)?)?;
            let evidence = Evidence::read(&place.evidence())?;
            let earlier = earlier.as_ref().map(|(d, at)| (d, *at));
            let verdict = checker::judge(&Case { evidence: &evidence, dump: &dump, earlier, expect: &expect });
            Ok((verdict, dump))
        })
        .await??;
        self.account = verdict.account().clone();
        self.earlier = Some((dump, at));
        Ok(self.with_complaints(verdict))
    }

    fn with_complaints(&self, verdict: Verdict) -> Verdict {
        if self.complaints.is_empty() {
            return verdict;
        }
        let mut all = self.complaints.clone();
        match verdict {
            Verdict::Violated(found, account) => {
                all.extend(found);
                Verdict::Violated(all, account)
            }
            Verdict::Clean(account) | Verdict::Void(_, account) => Verdict::Violated(all, account),
        }
    }

    /// No faults any more: lets everything come to its end, stops the server politely and looks for the last time.
    pub async fn drain(&mut self) -> Result<Verdict> {
        self.receiver.behave(Manner::Kind);
        self.receiver.hold(Duration::ZERO);
        for _ in 1..DRAINS {
            let verdict = self.drain_once().await?;
            if !matches!(verdict, Verdict::Void(..)) {
                return Ok(verdict);
            }
        }
        self.drain_once().await
    }

    async fn drain_once(&mut self) -> Result<Verdict> {
        let Some(mut child) = self.start(None).await? else { return self.look(true).await };
        self.provider.settle().await?;
        self.quiet().await;
        if !child.drain().await? {
            self.complain("the server did not end with 0 after SIGTERM".to_owned());
        }
        self.look(true).await
    }

    /// Waits until nothing has arrived for a while.
    pub async fn quiet(&self) {
        let until = Instant::now() + DRAIN_LIMIT;
        let began = self.clock.now();
        let micros = u64::try_from(self.silence.as_micros()).unwrap_or(u64::MAX);
        while Instant::now() < until && self.clock.now().saturating_sub(self.receiver.last().max(began)) < micros {
            sleep(self.silence / 8).await;
        }
    }

    /// The last dump that was looked at.
    pub fn dump(&self) -> Option<&Dump> {
        self.earlier.as_ref().map(|(dump, _)| dump)
    }

    /// What this run leaves in the results.
    pub fn row(&self, series: u64, cycles: u64, verdict: &Verdict) -> Row {
        Row {
            series,
            seed: self.seed,
            cycles,
            commit: self.commit.clone(),
            at: jiff::Timestamp::now().to_string(),
            outcome: verdict.into(),
            account: self.account.clone(),
            slowest_start_ms: u64::try_from(self.slowest_start.as_millis()).unwrap_or(u64::MAX),
            missed: BTreeMap::new(),
        }
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.receiver.stop();
    }
}
