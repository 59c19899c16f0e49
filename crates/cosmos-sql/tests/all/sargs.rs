//! The condition for indexes: what it is for a WHERE, and that it is implied by it.

use cosmos_sql::compile;
use document::{
    Document, Value,
    json::{parse_document, to_string},
};
use query::{
    Context,
    expr::Random,
    json::{
        sarg::{Sarg, Step, Test},
        select::{PageLimit, Run},
    },
};

fn shown(sarg: &Sarg) -> String {
    let list = |parts: &[Sarg]| parts.iter().map(shown).collect::<Vec<_>>().join(", ");
    let text = |value: &Value| to_string(value.as_ref());
    match sarg {
        Sarg::All => "all".to_owned(),
        Sarg::Never => "never".to_owned(),
        Sarg::And(parts) => format!("and({})", list(parts)),
        Sarg::Or(parts) => format!("or({})", list(parts)),
        Sarg::Test(steps, test) => {
            let steps: Vec<&str> = steps
                .iter()
                .map(|step| match step {
                    Step::Property(name) => name.as_str(),
                    Step::Elements => "[]",
                })
                .collect();
            let bound = |bound: &Option<(Value, bool)>| match bound {
                Some((value, true)) => format!("[{}]", text(value)),
                Some((value, false)) => format!("({})", text(value)),
                None => String::new(),
            };
            let test = match test {
                Test::Equal(value) => format!("= {}", text(value)),
                Test::In(values) => format!("in {}", text(&Value::Array(values.clone()))),
                Test::Range { lower, upper } => format!("{}..{}", bound(lower), bound(upper)),
                Test::Prefix(prefix) => format!("{prefix}%"),
                Test::Defined => "defined".to_owned(),
                Test::Text => "text".to_owned(),
            };
            format!("{} {test}", steps.join("/"))
        }
    }
}

#[test]
fn conditions_are_derived() {
    for (filter, want) in [
        ("c.a = 1", "a = 1"),
        ("1 = c.a", "a = 1"),
        ("c.a.b = 'x' AND c.d > 2", "and(a/b = \"x\", d (2)..)"),
        ("c.a = 1 OR c.a = 2", "or(a = 1, a = 2)"),
        ("c.a = 1 OR RAND() > 0.5", "all"),
        ("c.a = 1 AND RAND() > 0.5", "a = 1"),
        ("2 < c.a", "a (2).."),
        ("c.a <= 2", "a ..[2]"),
        ("c.a BETWEEN 1 AND 5", "and(a [1].., a ..[5])"),
        ("NOT (c.a BETWEEN 1 AND 5)", "or(a ..(1), a (5)..)"),
        ("c.a IN (1, 'x')", "a in [1,\"x\"]"),
        ("c.a IN (1, [2])", "a defined"),
        ("NOT (c.a = 1)", "a defined"),
        ("NOT (c.a != 1)", "a = 1"),
        ("NOT (c.a < 1)", "a [1].."),
        ("c.a != 1", "a defined"),
        ("c.a = c.b", "and(a defined, b defined)"),
        ("c.a < c.b", "and(a defined, b defined)"),
        ("c.a + c.b", "all"),
        ("c.a = [1]", "a defined"),
        ("c.a < [1]", "never"),
        ("c.a = undefined", "and(a defined, never)"),
        ("c.a LIKE 'ab%'", "a ab%"),
        ("c.a LIKE 'ab%c'", "a ab%"),
        ("c.a LIKE 'ab'", "a = \"ab\""),
        ("c.a LIKE '%b'", "a text"),
        ("NOT (c.a LIKE 'ab%')", "a text"),
        ("STARTSWITH(c.a, 'x')", "a x%"),
        ("STARTSWITH(c.a, 'x', true)", "a text"),
        ("CONTAINS(c.a, 'x')", "a text"),
        ("IS_DEFINED(c.a)", "a defined"),
        ("NOT IS_DEFINED(c.a)", "all"),
        ("ARRAY_CONTAINS(c.t, 1)", "t/[] = 1"),
        ("ARRAY_CONTAINS(c.t, {a: 1}, true)", "t/[] defined"),
        ("EXISTS(SELECT VALUE x FROM x IN c.t WHERE x.k = 1)", "and(t/[] defined, t/[]/k = 1)"),
        ("EXISTS(SELECT VALUE COUNT(1) FROM x IN c.t WHERE x = 1)", "all"),
        ("c.a[0] = 1", "all"),
        ("c.a", "a = true"),
        ("NOT c.a", "a = false"),
        ("true", "all"),
        ("1", "never"),
        ("(c.a ?? c.b) = 1", "all"),
    ] {
        let plan = compile(&format!("SELECT * FROM c WHERE {filter}"), &[]).unwrap();
        let want = want.replace("and(a defined, never)", "never");
        assert_eq!(shown(plan.sarg()), want, "{filter}");
    }
    for (query, want) in [
        ("SELECT * FROM c", "all"),
        ("SELECT VALUE t FROM c JOIN t IN c.t WHERE t.k = 1 AND c.a = 2", "and(t/[]/k = 1, a = 2)"),
        ("SELECT VALUE t FROM t IN c.t WHERE t = 1", "t/[] = 1"),
        ("SELECT VALUE x FROM c.o x WHERE x.p = 1", "o/p = 1"),
        ("SELECT VALUE x FROM (SELECT VALUE c.o FROM c) x WHERE x.p = 1", "all"),
    ] {
        assert_eq!(shown(compile(query, &[]).unwrap().sarg()), want, "{query}");
    }
}

/// Random expressions and documents over few names and values.
struct Maker(Random);

impl Maker {
    fn pick<'t>(&self, of: &[&'t str]) -> &'t str {
        let at = usize::try_from(self.0.next() % of.len() as u64).unwrap();
        of[at]
    }

    fn constant(&self) -> &'static str {
        self.pick(&[
            "0",
            "1",
            "2.5",
            "'a'",
            "'ab'",
            "'b'",
            "''",
            "true",
            "false",
            "null",
            "undefined",
            "[1]",
            "{'p': 1}",
            "-1",
        ])
    }

    fn path(&self) -> &'static str {
        self.pick(&["c.a", "c.b", "c.o.p", "c.t", "c.a.p", "c.o"])
    }

    fn operand(&self) -> String {
        match self.0.next() % 8 {
            0..4 => self.path().to_owned(),
            4..7 => self.constant().to_owned(),
            _ => format!("({} + 1)", self.path()),
        }
    }

    fn filter(&self, depth: u32) -> String {
        let inner = || self.filter(depth - 1);
        match if depth == 0 { 6 + self.0.next() % 10 } else { self.0.next() % 16 } {
            0 | 1 => format!("({} AND {})", inner(), inner()),
            2 | 3 => format!("({} OR {})", inner(), inner()),
            4 => format!("(NOT {})", inner()),
            5 => format!("({} ?? {})", inner(), inner()),
            6..10 => {
                let operator = self.pick(&["=", "!=", "<", "<=", ">", ">="]);
                format!("({} {operator} {})", self.operand(), self.operand())
            }
            10 => {
                let not = self.pick(&["", "NOT "]);
                let (value, low, high) = (self.operand(), self.operand(), self.operand());
                format!("({value} {not}BETWEEN {low} AND {high})")
            }
            11 => {
                let not = self.pick(&["", "NOT "]);
                let (value, one) = (self.operand(), self.operand());
                format!("({value} {not}IN ({}, {one}, {}))", self.constant(), self.constant())
            }
            12 => {
                let not = self.pick(&["", "NOT "]);
                let pattern = self.pick(&["'a%'", "'a'", "'%b'", "'_'", "''", "c.b", "'[a-b]%'"]);
                format!("({} {not}LIKE {pattern})", self.operand())
            }
            13 => {
                let name = self.pick(&["STARTSWITH", "CONTAINS", "ENDSWITH", "STRINGEQUALS"]);
                let case = self.pick(&["", ", true", ", false", ", c.a"]);
                format!("{name}({}, {}{case})", self.operand(), self.operand())
            }
            14 => {
                let name = self.pick(&[
                    "IS_DEFINED",
                    "IS_NULL",
                    "IS_STRING",
                    "IS_BOOL",
                    "IS_NUMBER",
                    "IS_ARRAY",
                    "IS_OBJECT",
                    "IS_PRIMITIVE",
                ]);
                format!("{name}({})", self.operand())
            }
            _ => match self.0.next() % 3 {
                0 => format!("ARRAY_CONTAINS({}, {})", self.path(), self.operand()),
                1 => format!("EXISTS(SELECT VALUE x FROM x IN {})", self.path()),
                _ => format!(
                    "EXISTS(SELECT VALUE x FROM x IN {} WHERE x = {})",
                    self.path(),
                    self.operand()
                ),
            },
        }
    }

    fn document(&self) -> Document {
        let values = [
            "0",
            "1",
            "2.5",
            "\"a\"",
            "\"ab\"",
            "\"b\"",
            "\"\"",
            "true",
            "false",
            "null",
            "[1]",
            "[]",
            "[\"a\",1,true]",
            "{\"p\":1}",
            "{\"p\":\"a\"}",
            "{}",
            "-1",
            "3",
        ];
        let mut text = "{\"id\":\"1\"".to_owned();
        for name in ["a", "b", "o", "t"] {
            if !self.0.next().is_multiple_of(4) {
                text += &format!(",\"{name}\":{}", self.pick(&values));
            }
        }
        parse_document((text + "}").as_bytes(), 9).unwrap()
    }
}

#[test]
fn what_where_keeps_is_admitted() {
    let maker = Maker(Random::new(7));
    let (mut kept, mut refused) = (0, 0);
    for _ in 0..4_000 {
        let filter = maker.filter(3);
        let plan = compile(&format!("SELECT VALUE 1 FROM c WHERE {filter}"), &[]);
        let plan = std::sync::Arc::new(plan.unwrap());
        for _ in 0..12 {
            let document = maker.document();
            let limit = PageLimit { items: 1, bytes: 1 };
            let mut run = Run::new(plan.clone(), Context::default(), None, limit);
            run.row(b"1", document.to_buf().as_ref()).unwrap();
            let keeps = !run.finish(true).unwrap().values.is_empty();
            let admits = plan.sarg().admits(document.to_buf().as_ref());
            assert!(!keeps || admits, "{filter} keeps {document:?}: {}", shown(plan.sarg()));
            kept += usize::from(keeps);
            refused += usize::from(!admits);
        }
    }
    assert!(2_000 < kept && 2_000 < refused, "{kept} {refused}");
}
