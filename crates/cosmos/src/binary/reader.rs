//! Decodes values: limits the depth, keeps the order of names, refuses duplicate names in one
//! object, and uses no more memory than a text of the permitted size would.
//!
//! The decoder recurses once per nesting level, so `depth` also bounds the call stack. Every value
//! spends from the budget before memory is allocated for it.

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

/// Minimum length of a value as text: one character, and a comma or bracket.
const MIN_VALUE_BYTES: usize = 2;
/// Length of the quotes and the colon that surround a name in the text.
const AROUND_NAME: usize = 3;

/// The number of text bytes that a body may still expand to. References and arrays of empty arrays
/// can expand a short body to a long text.
#[derive(Debug)]
pub(super) struct TextBudget(usize);

impl TextBudget {
    /// Spends bytes of text; fails if the budget is exhausted, with the status of a text that is
    /// too large.
    pub(super) fn spend_bytes(&mut self, bytes: usize) -> Result<()> {
        self.0 = self.0.checked_sub(bytes).ok_or_else(Failure::too_large)?;
        Ok(())
    }
}

/// A body that is being decoded.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    cursor: Cursor<'a>,
    text_budget: TextBudget,
}

impl<'a> Reader<'a> {
    /// Creates a reader for a body that may expand to `max_text_bytes` bytes of text.
    pub(super) fn new(body: &'a [u8], max_text_bytes: usize) -> Self {
        // The outermost value has no comma or bracket after it, so one byte is added back.
        let text_budget = TextBudget(max_text_bytes.saturating_add(1));
        Self { cursor: Cursor::new(body, FIRST_VALUE), text_budget }
    }

    /// Decodes the value and checks that it is the whole body.
    pub(super) fn read_whole(mut self, depth: usize) -> Result<Value> {
        let value = self.read_value(depth)?;
        if !self.cursor.is_at_end() {
            return Err(invalid("there is more than one value", self.cursor.position()));
        }
        Ok(value)
    }

    /// Decodes the next value, which may have `depth` nesting levels.
    fn read_value(&mut self, depth: usize) -> Result<Value> {
        let start = self.cursor.position();
        let marker = self.cursor.read_marker()?;
        self.text_budget.spend_bytes(MIN_VALUE_BYTES)?;
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

    /// Decodes a value that contains no other values. It must not be inlined into `read_value`,
    /// which is recursive: its variables would enlarge the stack frame of each level.
    #[inline(never)]
    fn read_scalar(&mut self, marker: Marker, start: usize) -> Result<Value> {
        Ok(match marker {
            Marker::Bool(value) => Value::Bool(value),
            Marker::Small(value) => Value::Int64(i64::from(value)),
            Marker::Number(number) => self.read_number(number)?,
            Marker::String(encoding) => Value::String(strings::read_string(
                encoding,
                start,
                &mut self.cursor,
                &mut self.text_budget,
            )?),
            Marker::Guid => Value::String(self.read_guid()?),
            Marker::Bytes(width) => {
                let len = self.cursor.read_length(width)?;
                let bytes = self.cursor.take_bytes(len)?;
                self.text_budget.spend_bytes(len)?;
                Value::String(STANDARD.encode(bytes))
            }
            // Unreachable: the caller handles all other markers.
            _ => Value::Null,
        })
    }

    /// Decodes a number to the type that JSON parsing would give it. An integer within `i64` is an
    /// int64, a larger one the nearest double. A value encoded as a double stays a double.
    fn read_number(&mut self, number: Number) -> Result<Value> {
        let start = self.cursor.position();
        let double = match number {
            Number::Signed(width) => {
                // Shifting up and down again extends the sign over the unused bits.
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

    /// Decodes 16 bytes in .NET's GUID layout: the first three groups are little-endian, the others
    /// are not.
    fn read_guid(&mut self) -> Result<String> {
        self.text_budget.spend_bytes(36)?;
        let mut raw = |width| self.cursor.read_number(width);
        let (first, second, third) = (raw(4)?, raw(2)?, raw(2)?);
        let (fourth, fifth) = (raw(2)?.swap_bytes() >> 48, raw(6)?.swap_bytes() >> 16);
        Ok(format!("{first:08x}-{second:04x}-{third:04x}-{fourth:04x}-{fifth:012x}"))
    }

    /// Decodes an array, whose values may have `inner` nesting levels.
    fn read_array(&mut self, frame: Frame, inner: usize) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        self.read_each(frame, |reader| {
            values.push(reader.read_value(inner)?);
            Ok(())
        })?;
        Ok(values)
    }

    /// Decodes an object. Duplicate names are detected at the end with a set, since searching on
    /// each insertion would be quadratic.
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

    /// Decodes a name: a string without U+0000, which stored documents cannot contain in names.
    fn read_name(&mut self) -> Result<String> {
        let start = self.cursor.position();
        let encoding = self.cursor.read_string_encoding()?;
        self.text_budget.spend_bytes(AROUND_NAME)?;
        let name = strings::read_string(encoding, start, &mut self.cursor, &mut self.text_budget)?;
        match name.contains('\0') {
            true => Err(invalid("a property name holds the character U+0000", start)),
            false => Ok(name),
        }
    }

    /// Decodes the elements of an array or object by calling `next` for each, and checks the
    /// encoded length and count. The cursor is limited to the array or object, so that an element
    /// cannot read beyond it.
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

    /// Decodes an array of numbers of one type; `width` is that of its count.
    fn read_numbers(&mut self, width: usize) -> Result<Value> {
        let number = self.number_of_array()?;
        let count = self.cursor.read_length(width)?;
        self.read_row(number, count)
    }

    /// Decodes an array of number arrays. Each row spends from the budget even if it is empty:
    /// empty rows have no bytes in the body, so a few bytes may declare millions of them.
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
            self.text_budget.spend_bytes(MIN_VALUE_BYTES)?;
            rows.push(self.read_row(number, len)?);
        }
        Ok(Value::Array(rows))
    }

    /// Decodes the marker of the numbers of a typed array.
    fn number_of_array(&mut self) -> Result<Number> {
        let start = self.cursor.position();
        let number = Number::of_array(self.cursor.read_byte()?);
        number.ok_or_else(|| invalid("there is no type of numbers", start))
    }

    fn read_row(&mut self, number: Number, count: usize) -> Result<Value> {
        let mut values = Vec::new();
        for _ in 0..count {
            self.text_budget.spend_bytes(MIN_VALUE_BYTES)?;
            values.push(self.read_number(number)?);
        }
        Ok(Value::Array(values))
    }
}

/// Returns the depth permitted for nested values; fails if no level is left.
fn inner_depth(depth: usize, start: usize) -> Result<usize> {
    depth.checked_sub(1).ok_or_else(|| invalid("the value is nested too deeply", start))
}
