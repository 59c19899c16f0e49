//! Prints a random sample of doc comments, messages and file headers, to be judged by a reader who
//! has not seen the code: `cargo run -p xtask --example sample -- [SEED]`. The same seed chooses the
//! same sample of the same sources.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::{collections::BTreeSet, process::ExitCode};

use xtask::tidy::{Source, sources};

const DOC_COMMENTS: usize = 200;
const MESSAGES: usize = 60;
const HEADERS: usize = 30;
/// A message has at least this many words; shorter strings are mostly names.
const MESSAGE_WORDS: usize = 5;

fn main() -> ExitCode {
    let seed = match std::env::args().nth(1).map(|seed| seed.parse()) {
        None => 1,
        Some(Ok(seed)) => seed,
        Some(Err(_)) => {
            eprintln!("usage: sample [SEED], a number");
            return ExitCode::FAILURE;
        }
    };
    let all: Vec<Source> =
        sources(&xtask::root()).into_iter().filter(|it| !it.name().contains("tests")).collect();
    let mut random = Random(seed);
    println!("seed {seed}");
    print("doc comments", &all, DOC_COMMENTS, &mut random, doc_comments);
    print("messages", &all, MESSAGES, &mut random, messages);
    print("headers", &all, HEADERS, &mut random, header);
    ExitCode::SUCCESS
}

/// Prints a sample of the texts that `of` finds in the sources.
fn print(
    title: &str,
    all: &[Source],
    count: usize,
    random: &mut Random,
    of: fn(&str) -> Vec<(usize, String)>,
) {
    let found: Vec<(String, String)> = all
        .iter()
        .flat_map(|source| {
            let place = move |line| format!("{}:{line}", source.name());
            of(&source.text).into_iter().map(move |(line, text)| (place(line), text))
        })
        .collect();
    println!("\n# {count} of {} {title}\n", found.len());
    let mut chosen = BTreeSet::new();
    while chosen.len() < count.min(found.len()) {
        chosen.insert(random.below(found.len()));
    }
    for (number, (place, text)) in chosen.iter().filter_map(|at| found.get(*at)).enumerate() {
        println!("{}. {place}\n{text}\n", number + 1);
    }
}

/// Returns each block of `///` lines with the line of code after it.
fn doc_comments(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut block, mut start) = (Vec::new(), 0);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("///") {
            if block.is_empty() {
                start = at + 1;
            }
            block.push(line);
        } else if !block.is_empty() && !line.starts_with("#[") {
            found.push((start, format!("{}\n{line}", block.join("\n"))));
            block.clear();
        }
    }
    found
}

/// Returns string literals on one line that read like messages.
fn messages(text: &str) -> Vec<(usize, String)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim().starts_with("//"));
    lines
        .flat_map(|(at, line)| line.split('"').skip(1).step_by(2).map(move |it| (at + 1, it)))
        .filter(|(_, literal)| MESSAGE_WORDS <= literal.split_whitespace().count())
        .map(|(at, literal)| (at, literal.to_owned()))
        .collect()
}

/// Returns the header of a file.
fn header(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    vec![(1, lines.join("\n"))]
}

/// A linear congruential generator; the sample needs no better one.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit.max(1)
    }
}
