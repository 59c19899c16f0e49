//! Runs the program of a pattern on a text.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, Look};

use super::{
    program::{CharSet, GroupRegisters, Op, Program, Register, START, UNSET},
    stack::{Frame, Stack},
    steps::Steps,
};
use crate::{error::Error, pattern::lookahead::Spans};

/// Bytes of a text that are compared in one step.
const COMPARED: usize = 16;

/// The state of a search of one text.
pub(super) struct Machine<'a> {
    program: &'a Program,
    text: &'a str,
    /// The position at which the search started.
    from: usize,
    /// The position in the text, always between two characters.
    at: usize,
    /// Index of the next operation.
    op: u32,
    registers: Vec<u32>,
    stack: Stack,
    steps: Steps<'a>,
}

impl<'a> Machine<'a> {
    /// Prepares the search of a text for the first match at or after `from`.
    pub(super) fn new(program: &'a Program, text: &'a str, from: usize, steps: Steps<'a>) -> Self {
        let registers = vec![UNSET; program.registers];
        let stack = Stack::default();
        Self { program, text, from, at: from, op: 0, registers, stack, steps }
    }

    /// Returns the spans of the first match and of its groups.
    pub(super) fn search(&mut self) -> Result<Option<Spans>, Error> {
        if self.program.is_anchored() && self.from != 0 {
            return Ok(None);
        }
        let mut start = self.from;
        loop {
            if let Some(prefix) = self.program.prefix() {
                let rest = self.text.get(start..).unwrap_or_default();
                let skipped = rest.find(prefix);
                self.steps.add(skipped.unwrap_or(rest.len()) / COMPARED)?;
                let Some(skipped) = skipped else { return Ok(None) };
                start += skipped;
            }
            if self.matches_at(start)? {
                return Ok(Some(self.spans(start)));
            }
            match self.char_at(start) {
                Some(next) if !self.program.is_anchored() => start += next.len_utf8(),
                _ => return Ok(None),
            }
        }
    }

    /// Reports the steps since the last report as work.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.steps.report()
    }

    /// Returns whether the text matches at a position. The registers then have the groups.
    fn matches_at(&mut self, start: usize) -> Result<bool, Error> {
        self.registers.fill(UNSET);
        self.stack.clear();
        (self.at, self.op) = (start, 0);
        let program = self.program;
        loop {
            self.steps.add(1)?;
            let Some(op) = program.ops.get(self.op as usize) else { return Ok(false) };
            if matches!(op, Op::Match) {
                return Ok(true);
            }
            self.op += 1;
            if !self.step(op)? && !self.go_back()? {
                return Ok(false);
            }
        }
    }

    fn spans(&self, start: usize) -> Spans {
        let span = |start: Register, end: Register| {
            let (start, end) = (self.get(start)?, self.get(end)?);
            Some((start, end))
        };
        let start = self.get(START).unwrap_or(start);
        let groups = (1..=self.program.groups).map(GroupRegisters::of);
        let groups = groups.map(|group| span(group.start, group.end));
        [Some((start, self.at))].into_iter().chain(groups).collect()
    }

    /// Performs an operation; returns whether it succeeded.
    fn step(&mut self, op: &'a Op) -> Result<bool, Error> {
        match op {
            Op::Literal(text) => return self.read_text(text),
            Op::Set(set) => match self.char_at(self.at) {
                Some(next) if set.has(next) => self.at += next.len_utf8(),
                _ => return Ok(false),
            },
            Op::Run { set, least, most, greedy } => {
                return self.run(set, *least, *most, *greedy);
            }
            Op::Look(look) => return Ok(holds(*look, self.text.as_bytes(), self.at)),
            Op::Split { first, second } => {
                self.push(Frame::Branch { op: *second, at: position(self.at) })?;
                self.op = *first;
            }
            Op::Jump(to) => self.op = *to,
            Op::Store(register) => self.set(*register, position(self.at))?,
            Op::Close(group) => {
                let begun = self.registers.get(group.begun as usize).copied().unwrap_or(UNSET);
                self.set(group.start, begun)?;
                self.set(group.end, position(self.at))?;
            }
            Op::ExitIfEmpty { register, exit } => {
                if self.get(*register) == Some(self.at) {
                    self.op = *exit;
                }
            }
            Op::StoreHeight(register) => self.set(*register, position(self.stack.len()))?,
            Op::Cut(register) => {
                let height = self.get(*register).unwrap_or(0);
                self.steps.add(self.stack.len().saturating_sub(height) / COMPARED)?;
                self.stack.cut(height);
            }
            Op::Return(register) => self.at = self.get(*register).unwrap_or(self.at),
            Op::Refuse(register) => {
                let height = self.get(*register).unwrap_or(0);
                while height < self.stack.len() {
                    if let Some(Frame::Undo { register, value }) = self.stack.pop() {
                        self.restore(register, value);
                    }
                }
                return Ok(false);
            }
            Op::StepBack { least, more } => return self.step_back(*least, *more),
            Op::At(register) => return Ok(self.get(*register) == Some(self.at)),
            Op::Reference { group, ignore_case } => return self.refer(*group, *ignore_case),
            Op::AtSearchStart => return Ok(self.at == self.from),
            Op::Fail | Op::Match => return Ok(false),
        }
        Ok(true)
    }

    /// Continues with the last alternative that remains; returns false if none remains.
    fn go_back(&mut self) -> Result<bool, Error> {
        while let Some(frame) = self.stack.pop() {
            match frame {
                Frame::Undo { register, value } => self.restore(register, value),
                Frame::Branch { op, at } => {
                    (self.op, self.at) = (op, at as usize);
                    return Ok(true);
                }
                Frame::Shorter { op, least, at } => {
                    let Some(last) = self.char_before(at as usize) else { continue };
                    (self.op, self.at) = (op, at as usize - last.len_utf8());
                    if (least as usize) < self.at {
                        self.push(Frame::Shorter { op, least, at: position(self.at) })?;
                    }
                    return Ok(true);
                }
                Frame::Longer { op, at, left } => {
                    let Some(Op::Run { set, .. }) = self.program.ops.get(op as usize) else {
                        continue;
                    };
                    let next = self.char_at(at as usize).filter(|next| set.has(*next));
                    let Some(next) = next else { continue };
                    (self.op, self.at) = (op + 1, at as usize + next.len_utf8());
                    if 1 < left {
                        let left = if left == u32::MAX { left } else { left - 1 };
                        self.push(Frame::Longer { op, at: position(self.at), left })?;
                    }
                    return Ok(true);
                }
                Frame::Before { op, at, left } => {
                    let Some(last) = self.char_before(at as usize) else { continue };
                    (self.op, self.at) = (op, at as usize - last.len_utf8());
                    if 1 < left {
                        self.push(Frame::Before { op, at: position(self.at), left: left - 1 })?;
                    }
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Reads characters of a set.
    fn run(&mut self, set: &CharSet, least: u32, most: u32, greedy: bool) -> Result<bool, Error> {
        let first = if greedy { most } else { least };
        let (mut count, mut shortest) = (0, self.at);
        while count < first
            && let Some(next) = self.char_at(self.at).filter(|next| set.has(*next))
        {
            self.steps.add(usize::from(count % 4 == 0))?;
            self.at += next.len_utf8();
            count += 1;
            if count <= least {
                shortest = self.at;
            }
        }
        if count < least {
            return Ok(false);
        }
        if greedy && shortest < self.at {
            let (least, at) = (position(shortest), position(self.at));
            self.push(Frame::Shorter { op: self.op, least, at })?;
        } else if !greedy && least < most {
            let left = if most == u32::MAX { most } else { most - least };
            self.push(Frame::Longer { op: self.op - 1, at: position(self.at), left })?;
        }
        Ok(true)
    }

    fn read_text(&mut self, text: &[u8]) -> Result<bool, Error> {
        self.steps.add(text.len() / COMPARED)?;
        let found = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(text));
        if found {
            self.at += text.len();
        }
        Ok(found)
    }

    fn step_back(&mut self, least: u32, more: u32) -> Result<bool, Error> {
        self.steps.add(least as usize)?;
        for _ in 0..least {
            let Some(last) = self.char_before(self.at) else { return Ok(false) };
            self.at -= last.len_utf8();
        }
        if 0 < more {
            self.push(Frame::Before { op: self.op, at: position(self.at), left: more })?;
        }
        Ok(true)
    }

    fn refer(&mut self, group: GroupRegisters, ignore_case: bool) -> Result<bool, Error> {
        let text = self.text;
        let part = self.get(group.start).zip(self.get(group.end));
        let Some(part) = part.and_then(|(start, end)| text.get(start..end)) else {
            return Ok(false);
        };
        if !ignore_case {
            return self.read_text(part.as_bytes());
        }
        self.steps.add(part.len())?;
        let mut rest = text.get(self.at..).unwrap_or_default().chars();
        for wanted in part.chars() {
            match rest.next() {
                Some(next) if equal_without_case(wanted, next) => {}
                _ => return Ok(false),
            }
        }
        self.at = text.len() - rest.as_str().len();
        Ok(true)
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    fn char_before(&self, at: usize) -> Option<char> {
        self.text.get(..at)?.chars().next_back()
    }

    fn push(&mut self, frame: Frame) -> Result<(), Error> {
        match self.stack.push(frame)? {
            true => Ok(()),
            false => Err(self.steps.exceeded("memory")),
        }
    }

    /// Returns the value of a register; `None` if it is not set.
    fn get(&self, register: Register) -> Option<usize> {
        let value = self.registers.get(register as usize).copied()?;
        (value != UNSET).then_some(value as usize)
    }

    /// Sets a register, whose value is restored when the search goes back.
    fn set(&mut self, register: Register, value: u32) -> Result<(), Error> {
        let Some(held) = self.registers.get_mut(register as usize) else { return Ok(()) };
        let before = std::mem::replace(held, value);
        // Without an alternative to go back to, nothing has to be restored.
        if 0 < self.stack.len() {
            self.push(Frame::Undo { register, value: before })?;
        }
        Ok(())
    }

    fn restore(&mut self, register: Register, value: u32) {
        if let Some(held) = self.registers.get_mut(register as usize) {
            *held = value;
        }
    }
}

/// Returns a position as stored. Texts and stacks that exceed it are refused before.
fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(UNSET)
}

/// Returns whether an assertion holds at a position. Rewritten patterns have no others.
fn holds(look: Look, bytes: &[u8], at: usize) -> bool {
    let byte = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied();
    let (before, after) = (byte(at.checked_sub(1)), byte(Some(at)));
    let is_word =
        |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match look {
        Look::Start => at == 0,
        Look::End => at == bytes.len(),
        Look::StartLF => before.is_none_or(|byte| byte == b'\n'),
        Look::EndLF => after.is_none_or(|byte| byte == b'\n'),
        Look::WordAscii => is_word(before) != is_word(after),
        Look::WordAsciiNegate => is_word(before) == is_word(after),
        Look::WordStartAscii => !is_word(before) && is_word(after),
        Look::WordEndAscii => is_word(before) && !is_word(after),
        _ => false,
    }
}

/// Returns whether two characters are equal if case is ignored.
fn equal_without_case(a: char, b: char) -> bool {
    if a == b || a.is_ascii() && b.is_ascii() {
        return a.eq_ignore_ascii_case(&b);
    }
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(a, a)]);
    let folded = class.try_case_fold_simple();
    folded.is_ok() && class.iter().any(|range| (range.start()..=range.end()).contains(&b))
}
