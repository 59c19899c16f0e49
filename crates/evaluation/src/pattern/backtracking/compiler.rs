//! Compiles a pattern with marks to a program.

use regex_syntax::{
    ParserBuilder,
    hir::{Class, Hir, HirKind, Repetition},
};

use super::program::{CharSet, GroupRegisters, Op, Program, Register, START};
use crate::{
    error::Error,
    pattern::{
        compiled::refused_syntax,
        groups::Flags,
        mark::Mark,
        syntax::{MarkedPattern, Reference},
        text::{invalid, too_large},
    },
};

/// Maximum size of a program, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Maximum nesting of a pattern with its marks.
const MAX_NESTING: u32 = 1000;
/// Maximum length of a look-behind, in characters.
const MAX_BEHIND: usize = 255;

/// Compiles a pattern; returns the memory of the program in bytes, too.
pub(super) fn compile(marked: &MarkedPattern, flags: Flags) -> Result<(Program, usize), Error> {
    let hir = ParserBuilder::new()
        .nest_limit(MAX_NESTING)
        .case_insensitive(flags.ignore_case)
        .build()
        .parse(&marked.text)
        .map_err(|error| refused_syntax(&error.to_string()))?;
    let last = GroupRegisters::of(marked.groups);
    let registers = if marked.groups == 0 { START + 1 } else { last.end + 1 };
    let references = &marked.references;
    let mut compiler = Compiler { ops: Vec::new(), bytes: 0, registers, references };
    compiler.emit(&hir)?;
    compiler.push(Op::Match)?;
    let Compiler { ops, bytes, registers, .. } = compiler;
    let program = Program { ops, registers: registers as usize, groups: marked.groups };
    Ok((program, bytes))
}

struct Compiler<'a> {
    ops: Vec<Op>,
    /// Memory of the operations, in bytes.
    bytes: usize,
    /// Number of registers in use.
    registers: u32,
    references: &'a [Reference],
}

impl Compiler<'_> {
    /// Adds an operation and returns its index. Fails if the program becomes too large.
    fn push(&mut self, op: Op) -> Result<u32, Error> {
        let own = match &op {
            Op::Literal(text) => text.len(),
            Op::Set(set) | Op::Run { set, .. } => set.bytes(),
            _ => 0,
        };
        self.bytes += size_of::<Op>() + own;
        if MAX_BYTES < self.bytes {
            return Err(too_large());
        }
        self.ops.push(op);
        Ok(self.next() - 1)
    }

    /// Returns the index of the next operation.
    fn next(&self) -> u32 {
        u32::try_from(self.ops.len()).unwrap_or(u32::MAX)
    }

    fn replace(&mut self, at: u32, op: Op) {
        if let Some(place) = self.ops.get_mut(at as usize) {
            *place = op;
        }
    }

    fn register(&mut self) -> Register {
        self.registers += 1;
        self.registers - 1
    }

    fn emit(&mut self, hir: &Hir) -> Result<(), Error> {
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => _ = self.push(Op::Literal(literal.0.clone()))?,
            HirKind::Class(class) => {
                let op = char_set(class).map_or(Op::Fail, Op::Set);
                self.push(op)?;
            }
            HirKind::Look(look) => _ = self.push(Op::Look(*look))?,
            HirKind::Repetition(repetition) => self.repeat(repetition)?,
            HirKind::Capture(capture) => {
                let mark = capture.name.as_deref().and_then(Mark::of_name);
                match mark {
                    Some(mark) => self.mark(mark, &capture.sub)?,
                    None => self.emit(&capture.sub)?,
                }
            }
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.emit(part))?,
            HirKind::Alternation(branches) => self.alternatives(branches)?,
        }
        Ok(())
    }

    fn alternatives(&mut self, branches: &[Hir]) -> Result<(), Error> {
        let mut ends = Vec::with_capacity(branches.len());
        for (at, branch) in branches.iter().enumerate() {
            if at + 1 == branches.len() {
                self.emit(branch)?;
                break;
            }
            let split = self.push(Op::Fail)?;
            self.emit(branch)?;
            ends.push(self.push(Op::Fail)?);
            self.replace(split, Op::Split { first: split + 1, second: self.next() });
        }
        for end in ends {
            self.replace(end, Op::Jump(self.next()));
        }
        Ok(())
    }

    fn mark(&mut self, mark: Mark, part: &Hir) -> Result<(), Error> {
        match mark {
            Mark::Group(number) => {
                let group = GroupRegisters::of(number);
                self.push(Op::Store(group.begun))?;
                self.emit(part)?;
                self.push(Op::Close(group))?;
            }
            Mark::Lookahead(is_positive) => self.assertion(is_positive, None, part)?,
            Mark::Lookbehind(is_positive) => {
                let (least, most) = self.length(part);
                let most =
                    most.ok_or_else(|| invalid("lookbehind assertion is not fixed length"))?;
                if MAX_BEHIND < most {
                    return Err(invalid("lookbehind assertion is too long"));
                }
                let (least, more) = (least.min(most) as u32, most.saturating_sub(least) as u32);
                self.assertion(is_positive, Some(Op::StepBack { least, more }), part)?;
            }
            Mark::Atomic => {
                let height = self.register();
                self.push(Op::StoreHeight(height))?;
                self.emit(part)?;
                self.push(Op::Cut(height))?;
            }
            Mark::Reference(index) => {
                let op = match self.references.get(index) {
                    Some(Reference { group, ignore_case }) => Op::Reference {
                        group: GroupRegisters::of(*group),
                        ignore_case: *ignore_case,
                    },
                    None => Op::Fail,
                };
                self.push(op)?;
            }
            Mark::Keep => _ = self.push(Op::Store(START))?,
            Mark::SearchStart => _ = self.push(Op::AtSearchStart)?,
        }
        Ok(())
    }

    /// Compiles look-around; `step_back` is the operation that starts a look-behind.
    fn assertion(
        &mut self,
        is_positive: bool,
        step_back: Option<Op>,
        part: &Hir,
    ) -> Result<(), Error> {
        let (height, position) = (self.register(), self.register());
        self.push(Op::StoreHeight(height))?;
        self.push(Op::Store(position))?;
        let split = if is_positive { None } else { Some(self.push(Op::Fail)?) };
        let is_behind = step_back.is_some();
        if let Some(step_back) = step_back {
            self.push(step_back)?;
        }
        self.emit(part)?;
        if is_behind {
            self.push(Op::At(position))?;
        }
        match split {
            // A match is enough, in one way only.
            None => {
                self.push(Op::Cut(height))?;
                self.push(Op::Return(position))?;
            }
            Some(split) => {
                self.push(Op::Refuse(height))?;
                self.replace(split, Op::Split { first: split + 1, second: self.next() });
            }
        }
        Ok(())
    }

    fn repeat(&mut self, repetition: &Repetition) -> Result<(), Error> {
        let Repetition { min, max, greedy, sub } = repetition;
        if let HirKind::Class(class) = sub.kind()
            && let Some(set) = char_set(class)
        {
            let most = max.unwrap_or(u32::MAX);
            self.push(Op::Run { set, least: *min, most, greedy: *greedy })?;
            return Ok(());
        }
        let Some(max) = max else { return self.repeat_forever(*min, *greedy, sub) };
        for _ in 0..*min {
            self.emit(sub)?;
        }
        let mut splits = Vec::new();
        for _ in *min..*max {
            splits.push(self.push(Op::Fail)?);
            self.emit(sub)?;
        }
        for split in splits {
            self.replace(split, self.choice(*greedy, split + 1, self.next()));
        }
        Ok(())
    }

    /// Compiles an unlimited repetition: the choice to omit it, if it may be omitted, then the part
    /// and the choice to repeat it. As in PCRE, a turn that reads nothing is the last one.
    fn repeat_forever(&mut self, min: u32, greedy: bool, part: &Hir) -> Result<(), Error> {
        for _ in 1..min {
            self.emit(part)?;
        }
        let omit = if min == 0 { Some(self.push(Op::Fail)?) } else { None };
        let start = self.next();
        let begun = match self.length(part).0 {
            0 => Some(self.register()),
            _ => None,
        };
        if let Some(register) = begun {
            self.push(Op::Store(register))?;
        }
        self.emit(part)?;
        let check = match begun {
            Some(register) => Some((self.push(Op::Fail)?, register)),
            None => None,
        };
        let again = self.push(Op::Fail)?;
        let exit = self.next();
        self.replace(again, self.choice(greedy, start, exit));
        if let Some((at, register)) = check {
            self.replace(at, Op::ExitIfEmpty { register, exit });
        }
        if let Some(omit) = omit {
            self.replace(omit, self.choice(greedy, start, exit));
        }
        Ok(())
    }

    /// Returns the choice between another turn of a repetition and its end.
    fn choice(&self, greedy: bool, again: u32, exit: u32) -> Op {
        match greedy {
            true => Op::Split { first: again, second: exit },
            false => Op::Split { first: exit, second: again },
        }
    }

    /// Returns the minimum and maximum number of characters that a part reads; `None` for no
    /// maximum.
    fn length(&self, hir: &Hir) -> (usize, Option<usize>) {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => (0, Some(0)),
            HirKind::Literal(literal) => {
                let starts = literal.0.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
                (starts, Some(starts))
            }
            HirKind::Class(_) => (1, Some(1)),
            HirKind::Repetition(Repetition { min, max, sub, .. }) => {
                let (least, most) = self.length(sub);
                let most = match (most, max) {
                    (Some(0), _) => Some(0),
                    (Some(most), Some(max)) => Some(most.saturating_mul(*max as usize)),
                    _ => None,
                };
                (least.saturating_mul(*min as usize), most)
            }
            HirKind::Capture(capture) => match capture.name.as_deref().and_then(Mark::of_name) {
                None | Some(Mark::Group(_) | Mark::Atomic) => self.length(&capture.sub),
                Some(Mark::Reference(_)) => (0, None),
                Some(_) => (0, Some(0)),
            },
            HirKind::Concat(parts) => parts.iter().fold((0, Some(0)), |(least, most), part| {
                let (more_least, more_most) = self.length(part);
                let most = most.zip(more_most).map(|(a, b): (usize, usize)| a.saturating_add(b));
                (least.saturating_add(more_least), most)
            }),
            HirKind::Alternation(branches) => {
                let lengths = branches.iter().map(|branch| self.length(branch));
                let either = |(a, b): (usize, Option<usize>), (c, d): (usize, Option<usize>)| {
                    (a.min(c), b.zip(d).map(|(b, d)| b.max(d)))
                };
                lengths.reduce(either).unwrap_or((0, Some(0)))
            }
        }
    }
}

/// Returns a class as a set of characters; `None` for one of bytes, which no rewritten pattern has.
fn char_set(class: &Class) -> Option<CharSet> {
    match class {
        Class::Unicode(class) => Some(CharSet::new(class)),
        Class::Bytes(_) => None,
    }
}
