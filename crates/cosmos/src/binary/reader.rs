//! Values out of the binary form: depth-limited, key order kept, a name twice in one object
//! refused, and no more room taken than a text of the allowed size would take.
//!
//! Reading goes down one level of the program's stack for each level of the value, so `depth`
//! bounds the stack too. Every value spends from the budget before memory is taken for it.

use std::collections::HashSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use document::{Document, Value};

use super::{
    FIRST_VALUE,
    cursor::Cursor,
    invalid,
    marker::{Frame, Marker, Number},
    strings,
};
use crate::failure::{Failure, Result};

/// No value takes less as text: one character, and the comma or bracket after it.
const LEAST: usize = 2;
/// Two quotes and a colon around a name.
const AROUND_NAME: usize = 3;

/// What is left of the bytes that a body may have as text. References, and arrays of empty arrays,
/// make much of little.
#[derive(Debug)]
pub(super) struct TextBudget(usize);

impl TextBudget {
    /// Spends bytes of text; a body that has spent all is refused as one that is too large, with
    /// the same status as a text of that size.
    pub(super) fn spend_bytes(&mut self, bytes: usize) -> Result<()> {
        self.0 = self.0.checked_sub(bytes).ok_or_else(Failure::too_large)?;
        Ok(())
    }
}

/// A body that is being read.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    cursor: Cursor<'a>,
    room: TextBudget,
}

impl<'a> Reader<'a> {
    /// A reader of a body that may have `room` bytes as text.
    pub(super) fn new(body: &'a [u8], room: usize) -> Self {
        // Nothing stands after the outermost value, so one byte that is spent for it comes back.
        let room = TextBudget(room.saturating_add(1));
        Self { cursor: Cursor::new(body, FIRST_VALUE), room }
    }

    /// Reads the value that is the whole body.
    pub(super) fn read_whole(mut self, depth: usize) -> Result<Value> {
        let value = self.read_value(depth)?;
        if !self.cursor.is_at_end() {
            return Err(invalid("there is more than one value", self.cursor.position()));
        }
        Ok(value)
    }

    /// Reads the value that begins here; `depth` is how many levels it may have.
    fn read_value(&mut self, depth: usize) -> Result<Value> {
        let start = self.cursor.position();
        let marker = self.cursor.read_marker()?;
        self.room.spend_bytes(LEAST)?;
        match marker {
            Marker::Array(frame) => {
                let inner = inner_depth(depth, start)?;
                self.read_array(frame, inner).map(Value::Array)
            }
            Marker::Object(frame) => {
                let inner = inner_depth(depth, start)?;
                self.read_object(frame, inner).map(Value::Document)
            }
            Marker::Numbers(width) => {
                inner_depth(depth, start)?;
                self.read_numbers(width)
            }
            Marker::Tables(width) => {
                inner_depth(inner_depth(depth, start)?, start)?;
                self.read_tables(width)
            }
            leaf => self.read_scalar(leaf, start),
        }
    }

    /// A value that holds no others. It is a function of its own and never inlined: `read_value`
    /// calls itself, and what its stack frame holds counts for each level of the value.
    #[inline(never)]
    fn read_scalar(&mut self, marker: Marker, start: usize) -> Result<Value> {
        Ok(match marker {
            Marker::Bool(value) => Value::Bool(value),
            Marker::Small(value) => Value::Int64(i64::from(value)),
            Marker::Number(number) => self.read_number(number)?,
            Marker::String(form) => {
                Value::String(strings::read_string(form, start, &mut self.cursor, &mut self.room)?)
            }
            Marker::Guid => Value::String(self.read_guid()?),
            Marker::Bytes(width) => {
                let len = self.cursor.read_length(width)?;
                let bytes = self.cursor.take_bytes(len)?;
                self.room.spend_bytes(len)?;
                Value::String(STANDARD.encode(bytes))
            }
            // The others were told apart before.
            _ => Value::Null,
        })
    }

    /// Reads a number as JSON would have it: whole and within `i64` it is an int64, anything else
    /// the nearest double. What was sent as a double stays one.
    fn read_number(&mut self, number: Number) -> Result<Value> {
        let start = self.cursor.position();
        let double = match number {
            Number::Signed(width) => {
                // Shifting up and down again spreads the sign over the unused bits.
                let unused = 64 - 8 * width;
                let raw = self.cursor.read_number(width)?.cast_signed();
                return Ok(Value::Int64(raw << unused >> unused));
            }
            Number::Unsigned(width) => {
                let raw = self.cursor.read_number(width)?;
                match i64::try_from(raw) {
                    Ok(value) => return Ok(Value::Int64(value)),
                    Err(_) => raw as f64,
                }
            }
            Number::Single => {
                let raw = u32::try_from(self.cursor.read_number(4)?).unwrap_or_default();
                f64::from(f32::from_bits(raw))
            }
            Number::Double => f64::from_bits(self.cursor.read_number(8)?),
        };
        match double.is_finite() {
            true => Ok(Value::Double(double)),
            false => Err(invalid("a number is not finite", start)),
        }
    }

    /// Reads 16 bytes as .NET writes a GUID: the first three parts are numbers with the lowest byte
    /// first, the others are not.
    fn read_guid(&mut self) -> Result<String> {
        self.room.spend_bytes(36)?;
        let mut raw = |width| self.cursor.read_number(width);
        let (first, second, third) = (raw(4)?, raw(2)?, raw(2)?);
        let (fourth, fifth) = (raw(2)?.swap_bytes() >> 48, raw(6)?.swap_bytes() >> 16);
        Ok(format!("{first:08x}-{second:04x}-{third:04x}-{fourth:04x}-{fifth:012x}"))
    }

    /// Reads an array; `inner` is how deep its values may be.
    fn read_array(&mut self, frame: Frame, inner: usize) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        self.read_each(frame, |reader| {
            values.push(reader.read_value(inner)?);
            Ok(())
        })?;
        Ok(values)
    }

    /// Reads an object. Its names are compared when all are there, because an object of many names
    /// would be searched for each otherwise.
    fn read_object(&mut self, frame: Frame, inner: usize) -> Result<Document> {
        let start = self.cursor.position();
        let mut document = Document::new();
        self.read_each(frame, |reader| {
            let name = reader.read_name()?;
            let value = reader.read_value(inner)?;
            document.push(name, value);
            Ok(())
        })?;
        let mut names = HashSet::with_capacity(document.len());
        match document.fields().iter().find(|(name, _)| !names.insert(name.as_str())) {
            None => Ok(document),
            Some((name, _)) => Err(invalid(&format!("property '{name}' occurs twice"), start)),
        }
    }

    /// Reads a name: a string without U+0000, which no stored document can hold in a name.
    fn read_name(&mut self) -> Result<String> {
        let start = self.cursor.position();
        let form = self.cursor.read_string_form()?;
        self.room.spend_bytes(AROUND_NAME)?;
        let name = strings::read_string(form, start, &mut self.cursor, &mut self.room)?;
        match name.contains('\0') {
            true => Err(invalid("a property name holds the character U+0000", start)),
            false => Ok(name),
        }
    }

    /// Reads what is in a frame by `next`, once for each entry, and checks that it ends where the
    /// frame says and has as many entries as it says. An entry cannot read beyond the frame: the
    /// cursor is narrowed to it.
    fn read_each(
        &mut self,
        frame: Frame,
        mut next: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let (width, counted) = match frame {
            Frame::Empty => return Ok(()),
            Frame::One => return next(self),
            Frame::Long { width, counted } => (width, counted),
        };
        let start = self.cursor.position();
        let len = self.cursor.read_length(width)?;
        let wanted = if counted { Some(self.cursor.read_length(width)?) } else { None };
        let outer = self.cursor.narrow(len)?;
        let mut count = 0;
        while !self.cursor.is_at_end() {
            next(self)?;
            count += 1;
        }
        self.cursor.widen(outer);
        match wanted {
            Some(wanted) if wanted != count => Err(invalid("a count is wrong", start)),
            _ => Ok(()),
        }
    }

    /// Reads an array of numbers of one type; `width` is that of its count.
    fn read_numbers(&mut self, width: usize) -> Result<Value> {
        let number = self.number_of_array()?;
        let count = self.cursor.read_length(width)?;
        self.read_row(number, count)
    }

    /// Reads an array of arrays of numbers. Each row spends something even when it is empty, since
    /// it has no bytes of its own in the body: a few bytes may claim millions of rows.
    fn read_tables(&mut self, width: usize) -> Result<Value> {
        let start = self.cursor.position();
        if self.cursor.read_marker()? != Marker::Numbers(width) {
            return Err(invalid("there is no array of numbers", start));
        }
        let number = self.number_of_array()?;
        let len = self.cursor.read_length(width)?;
        let count = self.cursor.read_length(width)?;
        let mut rows = Vec::new();
        for _ in 0..count {
            self.room.spend_bytes(LEAST)?;
            rows.push(self.read_row(number, len)?);
        }
        Ok(Value::Array(rows))
    }

    /// Reads the type that all numbers of an array have.
    fn number_of_array(&mut self) -> Result<Number> {
        let start = self.cursor.position();
        let number = Number::of_array(self.cursor.read_byte()?);
        number.ok_or_else(|| invalid("there is no type of numbers", start))
    }

    /// Reads this many numbers of one type.
    fn read_row(&mut self, number: Number, count: usize) -> Result<Value> {
        let mut values = Vec::new();
        for _ in 0..count {
            self.room.spend_bytes(LEAST)?;
            values.push(self.read_number(number)?);
        }
        Ok(Value::Array(values))
    }
}

/// How deep what is in a value may be, where the value itself may have `depth` levels.
fn inner_depth(depth: usize, start: usize) -> Result<usize> {
    depth.checked_sub(1).ok_or_else(|| invalid("the value is nested too deeply", start))
}
