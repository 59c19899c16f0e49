//! Operators on numbers and bits.

use super::check;

#[test]
fn numbers_and_bits() {
    for row in ROWS {
        check(row);
    }
}

const ROWS: &[[&str; 3]] = &[
    ["{_id: 1}", "{$inc: {_id: 0}}", "= {_id: 1}"],
    [
        "{_id: 1}",
        "{$inc: {_id: 1}}",
        "66 Performing an update on the path '_id' would modify the immutable field '_id'",
    ],
    [
        "{_id: 1, s: 'x'}",
        "{$inc: {s: 1}}",
        "14 Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 's' of non-numeric type string",
    ],
    [
        "{_id: 1, n: null}",
        "{$inc: {n: 1}}",
        "14 Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 'n' of non-numeric type null",
    ],
    [
        "{_id: 1, a: 1}",
        "{$inc: {a: 'x'}}",
        r#"14 Cannot increment with non-numeric argument: {a: "x"}"#,
    ],
    [
        "{_id: 1, a: 1}",
        "{$inc: {a: null}}",
        "14 Cannot increment with non-numeric argument: {a: null}",
    ],
    ["{_id: 1}", "{$inc: {zz: 5}}", "{_id: 1, zz: 5}"],
    ["{_id: 1, a: 1}", "{$inc: {a: 0}}", "= {_id: 1, a: 1}"],
    ["{_id: 1, a: 1}", "{$inc: {a: 0.0}}", "{_id: 1, a: 1.0}"],
    ["{_id: 1, a: 1}", "{$inc: {a: 2147483647}}", "{_id: 1, a: NumberLong(2147483648)}"],
    [
        "{_id: 1, a: 1}",
        "{$inc: {a: NumberLong(9223372036854775807)}}",
        "2 Failed to apply $inc operations to current value ((NumberInt)1) for document {_id: 1}",
    ],
    ["{_id: 1, a: -0.0}", "{$inc: {a: 0.0}}", "= {_id: 1, a: -0.0}"],
    ["{_id: 1, a: -0.0}", "{$inc: {a: 0}}", "= {_id: 1, a: -0.0}"],
    ["{_id: 1, a: 0.0}", "{$mul: {a: -0.0}}", "= {_id: 1, a: 0.0}"],
    [
        "{_id: 1, a: NumberDecimal('1')}",
        "{$inc: {a: NumberDecimal('0.0')}}",
        "= {_id: 1, a: NumberDecimal('1')}",
    ],
    ["{_id: 1, a: NumberDecimal('-0')}", "{$inc: {a: 0}}", "= {_id: 1, a: NumberDecimal('-0')}"],
    ["{_id: 1, a: 1}", "{$inc: {a: 1.5}}", "{_id: 1, a: 2.5}"],
    ["{_id: 1, a: 1}", "{$inc: {a: NumberDecimal('1.10')}}", "{_id: 1, a: NumberDecimal('2.10')}"],
    ["{_id: 1, a: 1}", "{$mul: {a: 2}}", "{_id: 1, a: 2}"],
    ["{_id: 1}", "{$mul: {zz: 2}}", "{_id: 1, zz: 0}"],
    ["{_id: 1}", "{$mul: {zz: 2.5}}", "{_id: 1, zz: 0.0}"],
    ["{_id: 1}", "{$mul: {zz: NumberDecimal('2.50')}}", "{_id: 1, zz: NumberDecimal('0.00')}"],
    [
        "{_id: 1, s: 'x'}",
        "{$mul: {s: 2}}",
        "14 Cannot apply $mul to a value of non-numeric type. {_id: 1} has the field 's' of non-numeric type string",
    ],
    [
        "{_id: 1, a: 1}",
        "{$mul: {a: 'x'}}",
        r#"14 Cannot multiply with non-numeric argument: {a: "x"}"#,
    ],
    ["{_id: 1, a: 1}", "{$mul: {a: 1}}", "= {_id: 1, a: 1}"],
    ["{_id: 1, a: 1}", "{$min: {a: 0}}", "{_id: 1, a: 0}"],
    ["{_id: 1, a: 1}", "{$min: {a: 5}}", "= {_id: 1, a: 1}"],
    ["{_id: 1, a: 1}", "{$max: {a: 5}}", "{_id: 1, a: 5}"],
    ["{_id: 1, a: 1}", "{$max: {a: 1.0}}", "= {_id: 1, a: 1}"],
    ["{_id: 1}", "{$min: {zz: 1}}", "{_id: 1, zz: 1}"],
    ["{_id: 1, a: 1}", "{$max: {a: 'str'}}", "{_id: 1, a: 'str'}"],
    ["{_id: 1, o: {p: 1}}", "{$min: {o.p.q: 1}}", "28 Cannot create field 'q' in element {p: 1}"],
    ["{_id: 1, a: 1}", "{$bit: {a: {and: 0}}}", "{_id: 1, a: 0}"],
    ["{_id: 1, a: 1}", "{$bit: {a: {or: NumberLong(6)}}}", "{_id: 1, a: NumberLong(7)}"],
    ["{_id: 1, a: 1}", "{$bit: {a: {xor: 1}}}", "{_id: 1, a: 0}"],
    [
        "{_id: 1, a: 1}",
        "{$bit: {a: {foo: 1}}}",
        "2 The $bit modifier only supports 'and', 'or', and 'xor', not 'foo' which is an unknown operator: {foo: 1}",
    ],
    [
        "{_id: 1, a: 1}",
        "{$bit: {a: 1}}",
        "2 The $bit modifier is not compatible with a int. You must pass in an embedded document: {$bit: {field: {and/or/xor: #}}",
    ],
    [
        "{_id: 1, a: 1}",
        "{$bit: {a: {}}}",
        "2 You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}",
    ],
    [
        "{_id: 1, a: 1}",
        "{$bit: {a: {or: 1.0}}}",
        "2 The $bit modifier field must be an Integer(32/64 bit); a 'double' is not supported here: {or: 1.0}",
    ],
    [
        "{_id: 1, s: 'x'}",
        "{$bit: {s: {or: 1}}}",
        "2 Cannot apply $bit to a value of non-integral type._id: 1 has the field s of non-integer type string",
    ],
    ["{_id: 1}", "{$bit: {zz: {or: 5}}}", "{_id: 1, zz: 5}"],
    ["{_id: 1}", "{$bit: {zz: {and: 5}}}", "{_id: 1, zz: 0}"],
    ["{_id: 1, a: 1}", "{$bit: {a: {or: 2, xor: 1}}}", "{_id: 1, a: 2}"],
    ["{_id: 1}", "{$bit: {zz: {or: NumberLong(5)}}}", "{_id: 1, zz: NumberLong(5)}"],
    ["{_id: 1, a: 1}", "{$bit: {a: {or: 1}}}", "= {_id: 1, a: 1}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$min: {r.0: 0}}", "{_id: 1, r: [0, 2, 3]}"],
    ["{_id: 1, o: {p: [5, 6]}}", "{$max: {o: 5}}", "= {_id: 1, o: {p: [5, 6]}}"],
    ["{_id: 1, o: {p: [5, 6]}}", "{$min: {o: 5}}", "{_id: 1, o: 5}"],
    ["{_id: 1}", "{$min: {zz.b: 5}}", "{_id: 1, zz: {b: 5}}"],
    ["{_id: 1, a: 1}", "{$min: {a: NaN}}", "{_id: 1, a: NaN}"],
    ["{_id: 1, a: 1}", "{$max: {a: NaN}}", "= {_id: 1, a: 1}"],
    [
        "{_id: 1, a: 1}",
        "{$mul: {a: NumberLong(4611686018427387904)}}",
        "{_id: 1, a: NumberLong(4611686018427387904)}",
    ],
    ["{_id: 1, a: 1}", "{$mul: {a: 2147483648}}", "{_id: 1, a: NumberLong(2147483648)}"],
    ["{_id: 1, a: 1}", "{$mul: {a: 2.5}}", "{_id: 1, a: 2.5}"],
    ["{_id: 1, a: 1}", "{$mul: {a: NumberDecimal('1.10')}}", "{_id: 1, a: NumberDecimal('1.10')}"],
    ["{_id: 1, o: {p: [5, 6]}}", "{$mul: {o.p.1: 3}}", "{_id: 1, o: {p: [5, 18]}}"],
    ["{_id: 1, a: 1}", "{$mul: {a: NumberLong(1)}}", "{_id: 1, a: NumberLong(1)}"],
    ["{_id: 1, a: 1}", "{$mul: {a: 1.0}}", "{_id: 1, a: 1.0}"],
    ["{_id: 1, a: 1}", "{$inc: {a: NumberLong(1)}}", "{_id: 1, a: NumberLong(2)}"],
    ["{_id: 1, a: 1}", "{$inc: {a: NaN}}", "{_id: 1, a: NaN}"],
    [
        "{_id: 1, a: 1}",
        "{$inc: {a: -1, b: NumberDecimal('1')}}",
        "{_id: 1, a: 0, b: NumberDecimal('1')}",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$inc: {r.1: 5, r.5: 1}}", "{_id: 1, r: [1, 7, 3, null, null, 1]}"],
    ["{_id: 1, a: 1}", "{$inc: {a: 2147483646}}", "{_id: 1, a: 2147483647}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$bit: {r.0: {and: 1}}}", "= {_id: 1, r: [1, 2, 3]}"],
    [
        "{_id: 1, o: {p: [5, 6]}}",
        "{$bit: {o: {and: 1}}}",
        "2 Cannot apply $bit to a value of non-integral type._id: 1 has the field o of non-integer type object",
    ],
    ["{_id: 1, a: 1}", "{$bit: {a.b: {and: 1}}}", "28 Cannot create field 'b' in element {a: 1}"],
    ["{_id: 1, a: 0.0}", "{$inc: {a: NumberDecimal('1.1')}}", "{_id: 1, a: NumberDecimal('1.1')}"],
    [
        "{_id: 1, a: 2.5}",
        "{$inc: {a: NumberDecimal('1.1')}}",
        "{_id: 1, a: NumberDecimal('3.60000000000000')}",
    ],
    [
        "{_id: 1, a: 1e+300}",
        "{$mul: {a: NumberDecimal('1.1')}}",
        "{_id: 1, a: NumberDecimal('1.100000000000000E+300')}",
    ],
    [
        "{_id: 1, a: 0.1}",
        "{$mul: {a: NumberDecimal('3')}}",
        "{_id: 1, a: NumberDecimal('0.300000000000000')}",
    ],
];
