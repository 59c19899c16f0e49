//! Expressions and SELECT over JSON: nothing (undefined) is a value of its own that most operations
//! hand on, types are never mixed, arrays are not walked unless it is asked for.

pub mod functions;
pub mod sarg;
