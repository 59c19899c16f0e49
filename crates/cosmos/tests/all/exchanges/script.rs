//! Parses the files of exchanges: blocks of lines, each of which is one step.

pub(super) struct Block {
    /// The lines of the step as they are in the file.
    pub(super) lines: Vec<String>,
    pub(super) step: Step,
    pub(super) answer: Vec<String>,
}

/// The step of a block.
pub(super) enum Step {
    /// An empty line or a comment.
    Note,
    /// Creates a resource: a path, headers, a body.
    Make(String, Vec<(String, String)>, String),
    /// Deletes a resource: a path, and a partition key, which may be empty.
    Remove(String, String),
    /// Advances the clock by this many seconds.
    Advance(i64),
    /// Sends a request and compares its response.
    Exchange(Request),
}

#[derive(Default)]
pub(super) struct Request {
    /// Name by which later requests refer to the response.
    pub(super) name: String,
    pub(super) verb: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<String>,
}

fn halves(text: &str) -> (String, String) {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    (first.to_owned(), rest.to_owned())
}

/// Parses a step of one line.
fn one_line(line: &str) -> Step {
    let Some((mark, rest)) = line.split_once(' ') else { return Step::Note };
    let (path, rest) = halves(rest);
    match mark {
        "!" => Step::Advance(rest.parse().unwrap()),
        "-" => Step::Remove(path, rest),
        "+" => {
            // Before the body, which starts with a brace, the line may have a partition key or a
            // header.
            let at = if rest.starts_with('{') { 0 } else { rest.find(" {").unwrap() + 1 };
            let (before, body) = rest.split_at(at);
            let before = before.trim();
            let headers = match before.split_once('=') {
                _ if before.is_empty() => Vec::new(),
                _ if before.starts_with('[') => {
                    vec![("x-ms-documentdb-partitionkey".to_owned(), before.to_owned())]
                }
                Some((name, value)) => vec![(name.to_owned(), value.to_owned())],
                None => panic!("'{line}' has neither a key nor a header before its body"),
            };
            Step::Make(path, headers, body.to_owned())
        }
        _ => Step::Note,
    }
}

/// Adds a line of the file to the request.
fn add(request: &mut Request, line: &str) {
    if let Some(body) = line.strip_prefix("> ") {
        request.body = Some(body.to_owned());
    } else if request.verb.is_empty() {
        (request.verb, request.path) = halves(line);
    } else {
        let (name, value) = line.split_once(": ").unwrap();
        request.headers.push((name.to_owned(), value.to_owned()));
    }
}

pub(super) fn parse(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            let step = Step::Exchange(Request { name: name.to_owned(), ..Request::default() });
            blocks.push(Block { lines: vec![line.to_owned()], step, answer: Vec::new() });
        } else if let Some(answer) = line.strip_prefix("< ") {
            blocks.last_mut().unwrap().answer.push(answer.to_owned());
        } else if line.is_empty()
            || ["+ ", "- ", "! ", "# "].iter().any(|mark| line.starts_with(mark))
        {
            let lines = vec![line.to_owned()];
            blocks.push(Block { lines, step: one_line(line), answer: Vec::new() });
        } else {
            let Block { lines, step, .. } = blocks.last_mut().unwrap();
            let Step::Exchange(request) = step else { panic!("'{line}' belongs to no exchange") };
            add(request, line);
            lines.push(line.to_owned());
        }
    }
    blocks
}

pub(super) fn print(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        for line in &block.lines {
            out.push_str(&format!("{line}\n"));
        }
        for line in &block.answer {
            out.push_str(&format!("< {line}\n"));
        }
    }
    out
}
