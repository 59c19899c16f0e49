//! Rows: a header, a byte of presence bits, fixed and variable columns in order, sparse columns.

use crate::{
    Result,
    cursor::Cursor,
    schema::{Column, MAX_COLUMNS, Schema, Storage},
    types::{Type, Value, skip_value},
};

/// Version of the format, the first byte of each row.
pub(crate) const VERSION: u8 = 0x81;

/// The values of a row in schema order.
pub(crate) type Values<'a> = [Option<Value<'a>>; MAX_COLUMNS];

/// Reads the header of a row; fails unless its schema has this id.
pub(crate) fn read_header(id: i32, cursor: &mut Cursor<'_>) -> Result<()> {
    let error = cursor.invalid("the version of a row is not 0x81");
    if cursor.take_byte()? != VERSION {
        return Err(error);
    }
    let error = cursor.invalid("a row has an unexpected schema");
    if cursor.take_i32()? != id {
        return Err(error);
    }
    Ok(())
}

/// Appends the header of a row.
pub(crate) fn push_header(id: i32, out: &mut Vec<u8>) {
    out.push(VERSION);
    out.extend_from_slice(&id.to_le_bytes());
}

/// Decodes a row, which must take all bytes of the cursor.
pub(crate) fn read_row<'a>(schema: &Schema, mut cursor: Cursor<'a>) -> Result<Values<'a>> {
    let mut values = Values::default();
    read_header(schema.id, &mut cursor)?;
    let error = cursor.invalid("a presence bit belongs to no column");
    let bits = cursor.take_byte()?;
    if bits.checked_shr(schema.count_of_bits() as u32).unwrap_or_default() != 0 {
        return Err(error);
    }
    for (bit, (column, value)) in schema.columns.iter().zip(&mut values).enumerate() {
        let present = bits.checked_shr(bit as u32).unwrap_or_default() & 1 == 1;
        match column.storage {
            Storage::Fixed => {
                // An absent fixed column still has its bytes.
                let read = column.kind.read_value(0, &mut cursor)?;
                *value = Some(read).filter(|_| present);
            }
            Storage::Variable if present => *value = Some(column.kind.read_value(0, &mut cursor)?),
            Storage::Variable | Storage::Sparse => {}
        }
    }
    while !cursor.is_at_end() {
        read_sparse(schema, &mut values, &mut cursor)?;
    }
    Ok(values)
}

/// Decodes the next sparse column. Columns that are not in the schema are skipped.
fn read_sparse<'a>(
    schema: &Schema,
    values: &mut Values<'a>,
    cursor: &mut Cursor<'a>,
) -> Result<()> {
    let start = *cursor;
    let code = cursor.take_byte()?;
    let Some(place) = read_path(schema, cursor)? else {
        return skip_value(code, cursor);
    };
    let column = schema.columns.get(place).filter(|column| column.storage == Storage::Sparse);
    let (Some(column), Some(value)) = (column, values.get_mut(place)) else {
        return Err(start.invalid("a non-sparse column is among the sparse columns"));
    };
    if value.is_some() {
        return Err(start.invalid("a column occurs twice"));
    }
    match Type::of_code(code) {
        Some(kind) if kind == column.kind => *value = Some(kind.read_value(code, cursor)?),
        _ => return Err(start.invalid("a column has a value of another type")),
    }
    Ok(())
}

/// Reads the path of a sparse column, which is a token or a name. Returns the index of the column,
/// or `None` for a path that is not in the schema.
fn read_path(schema: &Schema, cursor: &mut Cursor<'_>) -> Result<Option<usize>> {
    let token = cursor.take_varuint()?;
    let Some(len) = token.checked_sub(schema.count_of_tokens()) else {
        // Token 0 denotes the empty path.
        return Ok(token.checked_sub(1).and_then(|place| usize::try_from(place).ok()));
    };
    let name = cursor.take_bytes(usize::try_from(len).unwrap_or(usize::MAX))?;
    Ok(schema.columns.iter().position(|column| column.name.as_bytes() == name))
}

pub(crate) fn write_row(schema: &Schema, values: &Values<'_>, out: &mut Vec<u8>) {
    push_header(schema.id, out);
    let columns = || schema.columns.iter().zip(values).enumerate();
    let present = columns()
        .filter(|(_, (column, value))| column.storage != Storage::Sparse && value.is_some())
        .fold(0_u8, |bits, (bit, _)| bits | 1_u8.checked_shl(bit as u32).unwrap_or_default());
    out.push(present);
    for (place, (column, value)) in columns() {
        debug_assert!(value.is_none_or(|value| value.kind() == column.kind), "{}", column.name);
        write_column(place, column, value.as_ref(), out);
    }
}

/// Appends the column with this index.
fn write_column(place: usize, column: &Column, value: Option<&Value<'_>>, out: &mut Vec<u8>) {
    match (column.storage, value) {
        // All fixed columns of both schemas have this type.
        (Storage::Fixed, None) => Value::Int32(0).write(out),
        (Storage::Fixed | Storage::Variable, Some(value)) => value.write(out),
        (Storage::Sparse, Some(value)) => {
            out.push(value.code());
            // Tokens of so few columns fit one byte.
            out.extend(u8::try_from(place + 1));
            value.write(out);
        }
        (Storage::Variable | Storage::Sparse, None) => {}
    }
}
