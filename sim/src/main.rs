//! `sim`: one seed, or seeds for some minutes. `cargo xtask sim` builds and runs it.
#![forbid(unsafe_code)]

#[cfg(not(sim))]
fn main() -> std::process::ExitCode {
    eprintln!("sim: built without --cfg sim; use `cargo xtask sim`");
    std::process::ExitCode::FAILURE
}

#[cfg(sim)]
fn main() -> std::process::ExitCode {
    command::main()
}

#[cfg(sim)]
mod command {
    use clap::Parser;
    use os::sim::{mutation, scheduler};
    use sim::runner::{self, Batch};
    use std::process::ExitCode;
    use std::time::Duration;

    #[derive(Parser)]
    #[command(name = "cargo xtask sim", about = "Runs the engine on a simulated machine, seed after seed")]
    struct Options {
        /// The first seed; without --minutes, --seeds and --mutations the only one
        #[arg(long)]
        seed: Option<u64>,
        /// Seeds to run at the most
        #[arg(long)]
        seeds: Option<u64>,
        /// How long to go on
        #[arg(long)]
        minutes: Option<f64>,
        /// Processes at once; by default one for each CPU
        #[arg(long)]
        jobs: Option<usize>,
        /// Makes a mistake in the engine
        #[arg(long, value_name = "NAME")]
        mutate: Option<String>,
        /// Tries every mutation but the rare ones in turn, and fails if one is not found
        #[arg(long)]
        mutations: bool,
        /// Runs each seed twice, and fails if the two differ
        #[arg(long)]
        twice: bool,
        /// Plays the cases: what was found once, as short scripts
        #[arg(long)]
        cases: bool,
        /// Plays one of them
        #[arg(long, value_name = "NAME")]
        case: Option<String>,
        /// Runs the whole server: seeds of sessions that send SQL
        #[arg(long)]
        sessions: bool,
        /// Runs a smaller version of a seed of sessions: lives,sessions,transactions,turn
        #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
        small: Vec<u64>,
        /// Prints every event
        #[arg(long)]
        trace: bool,
        /// Runs one seed in this process
        #[arg(long, hide = true)]
        one: bool,
        /// The CPU for it
        #[arg(long, hide = true)]
        cpu: Option<usize>,
    }

    pub fn main() -> ExitCode {
        let options = Options::parse();
        if let Some(name) = &options.mutate
            && !mutation::all().any(|(known, _)| known == name)
        {
            eprintln!("sim: no mutation {name}; there are:");
            mutation::all().for_each(|(name, what)| eprintln!("  {name:<24} {what}"));
            return ExitCode::FAILURE;
        }
        let many = options.seeds.is_some() || options.minutes.is_some();
        match options.seed {
            _ if options.cases || options.case.is_some() => cases(&options),
            _ if options.twice => twice(&options),
            Some(seed) if options.one || !(many || options.mutations) => one(seed, &options),
            _ if options.mutations => mutations(&options),
            _ => batch(&options),
        }
    }

    /// Runs a seed here.
    fn one(seed: u64, options: &Options) -> ExitCode {
        let mut again = format!("cargo xtask sim --seed {seed}");
        if options.sessions {
            again += " --sessions";
        }
        if !options.small.is_empty() {
            let numbers: Vec<String> = options.small.iter().map(ToString::to_string).collect();
            again += &format!(" --small {}", numbers.join(","));
        }
        if let Some(name) = &options.mutate {
            again += &format!(" --mutate {name}");
            assert!(mutation::choose(name), "looked up before");
        }
        if !os::sim::random::replaces_system_randomness() {
            eprintln!("sim: hash maps differ from run to run here, so that a seed may not show the same again");
        }
        scheduler::pin(options.cpu.unwrap_or(0));
        scheduler::start(seed, &again);
        if options.trace {
            scheduler::speak();
        }
        if options.sessions {
            sim::sessions::run(seed, limits(options))
        } else {
            sim::run(seed)
        }
        let (counters, hash, events, choices, ns) = scheduler::summary();
        let counted: Vec<String> = counters.iter().map(|(what, count)| format!("{count} {what}")).collect();
        println!(
            "ok   seed {seed}: trace {hash:016x}, {events} events, {choices} choices, {:.3} virtual s; {}",
            ns as f64 / 1e9,
            counted.join(", ")
        );
        // Threads of crashed machines are still there.
        std::process::exit(0)
    }

    fn limits(options: &Options) -> sim::sessions::Limits {
        match options.small[..] {
            [lives, sessions, transactions, turn] => sim::sessions::Limits {
                lives: Some(lives as usize),
                sessions: Some(sessions as usize),
                transactions: Some(transactions),
                turn,
            },
            _ => sim::sessions::Limits::default(),
        }
    }

    fn cases(options: &Options) -> ExitCode {
        scheduler::pin(options.cpu.unwrap_or(0));
        scheduler::start(options.seed.unwrap_or(1), "cargo xtask sim --cases");
        if options.trace {
            scheduler::speak();
        }
        sim::cases::run(options.case.as_deref());
        std::process::exit(0)
    }

    fn batch_of(options: &Options) -> Batch {
        let minutes = options.minutes.unwrap_or(if options.seeds.is_some() { 1e6 } else { 2.0 });
        Batch {
            first_seed: options.seed.unwrap_or_else(new_seed),
            seeds: options.seeds.unwrap_or(u64::MAX / 2),
            duration: Duration::from_secs_f64(minutes * 60.0),
            jobs: options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
            mutation: options.mutate.clone(),
            sessions: options.sessions,
        }
    }

    /// Seeds that nobody has run yet.
    fn new_seed() -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        since.as_millis() as u64 % 1_000_000_000_000
    }

    fn batch(options: &Options) -> ExitCode {
        let batch = batch_of(options);
        println!("seeds from {} on, {} at once", batch.first_seed, batch.jobs);
        let told = runner::run(&batch, |seeds, time| println!("  {seeds} seeds in {} s", time.as_secs()));
        match told {
            Err(e) => {
                eprintln!("sim: {e}");
                ExitCode::FAILURE
            }
            Ok(runner::Outcome { failure: Some(failure), seeds, duration }) => {
                print!("{}", failure.text);
                if options.sessions {
                    tell_smaller(failure.seed, options);
                }
                println!("FAIL seed {} after {seeds} seeds in {:.0} s", failure.seed, duration.as_secs_f64());
                ExitCode::FAILURE
            }
            Ok(outcome) => {
                println!("ok   {} seeds in {:.0} s", outcome.seeds, outcome.duration.as_secs_f64());
                ExitCode::SUCCESS
            }
        }
    }

    /// Prints a smaller run that also fails.
    fn tell_smaller(seed: u64, options: &Options) {
        match runner::shrink(seed, options.mutate.as_deref()) {
            Ok(Some(smaller)) => {
                println!("smaller:");
                print!("{}", smaller.text);
            }
            Ok(None) => println!("no smaller run of the seed was found to fail"),
            Err(e) => eprintln!("sim: {e}"),
        }
    }

    /// Every seed says everything: two runs of it leave the same trace.
    fn twice(options: &Options) -> ExitCode {
        let first = options.seed.unwrap_or_else(new_seed);
        let mut well = true;
        for seed in first..first + options.seeds.unwrap_or(1) {
            match (runner::output(seed, options.sessions), runner::output(seed, options.sessions)) {
                (Ok(one), Ok(two)) if one == two => println!("ok   twice the same: {}", one.trim_start_matches("ok   ").trim()),
                (one, two) => {
                    well = false;
                    println!("FAIL seed {seed}: two runs differ:\n{one:?}\n{two:?}");
                }
            }
        }
        if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn mutations(options: &Options) -> ExitCode {
        let mut well = true;
        let all = if options.sessions { mutation::SESSION_MUTATIONS } else { mutation::MUTATIONS };
        for (name, what) in all {
            let batch = Batch { mutation: Some((*name).into()), first_seed: options.seed.unwrap_or(1), ..batch_of(options) };
            match runner::run(&batch, |_, _| {}) {
                Ok(runner::Outcome { failure: Some(failure), seeds, duration }) => {
                    let first = failure.text.lines().find(|line| line.starts_with("FAIL")).unwrap_or_default();
                    let why: String = first.chars().take(160).collect();
                    println!(
                        "ok   {name}: found by seed {} ({seeds} seeds, {:.1} s): {why}",
                        failure.seed,
                        duration.as_secs_f64()
                    );
                }
                Ok(outcome) => {
                    well = false;
                    println!(
                        "FAIL {name} ({what}): not found in {} seeds, {:.0} s",
                        outcome.seeds,
                        outcome.duration.as_secs_f64()
                    );
                }
                Err(e) => {
                    well = false;
                    println!("FAIL {name}: {e}");
                }
            }
        }
        if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
