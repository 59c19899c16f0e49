//! Prints a tree as text that parses to the same tree: operators are in parentheses, names that are
//! not identifiers in quotes. Query plans for clients are made of such text.
//!
//! ```text
//! select c.a+1 as n from c where not c.b     the text of a client
//!
//! SELECT (c.a + 1) AS n                      the text of its tree
//! FROM c
//! WHERE (NOT c.b)
//! ```

use document::json;

use crate::{
    ast::{
        Binary, Collection, Field, Input, Node, NodeKind, Operator, OrderItem, PathStep, Query,
        Selection, Subquery, Unary,
    },
    token::Keyword,
};

/// Returns the text of an expression.
pub(crate) fn print_expression(node: &Node) -> String {
    let mut out = String::new();
    push_node(node, &mut out);
    out
}

/// Returns the text of a query, each clause on a separate line, for plans in which a client sends
/// the whole query with another TOP, OFFSET or LIMIT.
pub(crate) fn print_query(query: &Query) -> String {
    let mut out = "SELECT ".to_owned();
    if query.distinct {
        out.push_str("DISTINCT ");
    }
    out.push_str(&print_top(query));
    out.push_str(&print_selection(&query.selection));
    out.push_str(&print_from(&query.from));
    if let Some(filter) = &query.filter {
        out.push_str("\nWHERE ");
        push_node(filter, &mut out);
    }
    out.push_str(&print_group(&query.group));
    out.push_str(&print_order(query));
    if let Some((offset, limit)) = &query.window {
        out.push_str("\nOFFSET ");
        push_node(&offset.node, &mut out);
        out.push_str(" LIMIT ");
        push_node(&limit.node, &mut out);
    }
    out
}

/// Returns TOP, followed by a space.
pub(crate) fn print_top(query: &Query) -> String {
    let top = query.top.as_ref().map(|top| format!("TOP {} ", print_expression(&top.node)));
    top.unwrap_or_default()
}

/// Returns the SELECT list as text. Names that could be parsed as something else are quoted.
fn print_selection(selection: &Selection) -> String {
    match selection {
        Selection::Star(_) => "*".to_owned(),
        Selection::Value(node) => format!("VALUE {}", print_expression(node)),
        Selection::List(items) => {
            let item = |item: &crate::ast::Item| match &item.alias {
                Some((alias, _)) if is_identifier(alias) => {
                    format!("{} AS {alias}", print_expression(&item.node))
                }
                Some((alias, _)) => {
                    format!("{} AS {}", print_expression(&item.node), quoted_text(alias))
                }
                None => print_expression(&item.node),
            };
            items.iter().map(item).collect::<Vec<_>>().join(", ")
        }
    }
}

/// Returns FROM, preceded by a line break; empty for a query without FROM. Every further source is
/// a JOIN.
pub(crate) fn print_from(inputs: &[Input]) -> String {
    let mut out = String::new();
    for (at, input) in inputs.iter().enumerate() {
        out.push_str(if at == 0 { "\nFROM " } else { "\nJOIN " });
        if let Some((alias, _)) = input.alias.as_ref().filter(|_| input.iterates) {
            out.push_str(alias);
            out.push_str(" IN ");
        }
        match &input.of {
            Collection::Path { root, steps, .. } => {
                out.push_str(root);
                push_path(steps, &mut out);
            }
            Collection::Query(inner) => {
                out.push_str(&format!("({})", print_query(inner)));
            }
        }
        if let Some((alias, _)) = input.alias.as_ref().filter(|_| !input.iterates) {
            out.push_str(" AS ");
            out.push_str(alias);
        }
    }
    out
}

/// Returns GROUP BY, preceded by a line break.
pub(crate) fn print_group(keys: &[Node]) -> String {
    match keys {
        [] => String::new(),
        keys => format!("\nGROUP BY {}", print_list(keys)),
    }
}

/// Returns ORDER BY, preceded by a line break. An item has a direction only if it was written with
/// one.
pub(crate) fn print_order(query: &Query) -> String {
    let item = |item: &OrderItem| {
        let direction = match (item.descending, item.ascending) {
            (true, _) => " DESC",
            (_, true) => " ASC",
            _ => "",
        };
        format!("{}{direction}", print_expression(&item.node))
    };
    let items: Vec<String> = query.order.iter().map(item).collect();
    if items.is_empty() { String::new() } else { format!("\nORDER BY {}", items.join(", ")) }
}

/// Returns expressions separated by commas.
fn print_list(nodes: &[Node]) -> String {
    nodes.iter().map(print_expression).collect::<Vec<_>>().join(", ")
}

/// Returns a string in double quotes with JSON escapes, which the query language has, too.
pub(crate) fn quoted_text(text: &str) -> String {
    let mut out = Vec::new();
    json::write_string(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Returns whether a name needs no quotes: it is not a reserved word and the lexer reads it as one
/// name.
fn is_identifier(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts && name.chars().all(|c| c.is_alphanumeric() || c == '_') && Keyword::find(name).is_none()
}

/// Appends the steps of a path: `.a` for identifiers, `["a b"]` for other names, `[x]` for other
/// steps.
fn push_path(steps: &[PathStep], out: &mut String) {
    for step in steps {
        match step {
            PathStep::Name(name, _) if is_identifier(name) => {
                out.push('.');
                out.push_str(name);
            }
            PathStep::Name(name, _) => out.push_str(&format!("[{}]", quoted_text(name))),
            PathStep::Computed(node, _) => {
                out.push('[');
                push_node(node, out);
                out.push(']');
            }
        }
    }
}

/// Appends an expression. Operators are in parentheses, so that the text does not depend on
/// precedence. The recursion is as deep as the tree is high, which the parser has limited.
fn push_node(node: &Node, out: &mut String) {
    match &node.kind {
        NodeKind::Literal(value) => out.push_str(&json::to_string(value.as_ref())),
        NodeKind::Undefined => out.push_str("undefined"),
        NodeKind::Parameter(name) | NodeKind::Name(name) => out.push_str(name),
        NodeKind::Member { base, steps } => {
            // A number followed by a dot would be parsed as another number. Parentheses make no
            // node of their own, so the tree stays the same.
            let wrapped = matches!(base.kind, NodeKind::Literal(_));
            out.push_str(if wrapped { "(" } else { "" });
            push_node(base, out);
            out.push_str(if wrapped { ")" } else { "" });
            push_path(steps, out);
        }
        NodeKind::Array(items) => out.push_str(&format!("[{}]", print_list(items))),
        NodeKind::Object(fields) => {
            let field = |Field { name, value, .. }: &Field| {
                format!("{}: {}", quoted_text(name), print_expression(value))
            };
            let fields: Vec<String> = fields.iter().map(field).collect();
            out.push_str(&format!("{{{}}}", fields.join(", ")));
        }
        NodeKind::Call { name, udf, args } => {
            out.push_str(if *udf { "udf." } else { "" });
            out.push_str(&format!("{name}({})", print_list(args)));
        }
        NodeKind::Query(kind, inner) => {
            out.push_str(match kind {
                Subquery::Scalar => "",
                Subquery::Exists => "EXISTS",
                Subquery::Array => "ARRAY",
                Subquery::All => "ALL",
                Subquery::First => "FIRST",
                Subquery::Last => "LAST",
            });
            out.push_str(&format!("({})", print_query(inner)));
        }
        _ => {
            out.push('(');
            push_operation(node, out);
            out.push(')');
        }
    }
}

/// Appends an expression with operators, without the enclosing parentheses. Called for expressions
/// with operators; all others are passed back to `push_node`.
fn push_operation(node: &Node, out: &mut String) {
    let not = |negated: &bool| if *negated { " NOT" } else { "" };
    match &node.kind {
        NodeKind::Not(inner) => {
            out.push_str("NOT ");
            push_node(inner, out);
        }
        NodeKind::Unary(operator, inner) => {
            out.push_str(match operator {
                Unary::Negate => "- ",
                Unary::Plus => "+ ",
                Unary::BitNot => "~ ",
            });
            // The space keeps the lexer and parser from making the sign a part of a number.
            push_node(inner, out);
        }
        NodeKind::Chain { first, rest } => {
            let inner = pairs(rest.len());
            out.push_str(&"(".repeat(inner));
            push_node(first, out);
            for (at, (operator, other)) in rest.iter().enumerate() {
                out.push_str(&format!(" {} ", operator_text(*operator)));
                push_node(other, out);
                out.push_str(if at < inner { ")" } else { "" });
            }
        }
        NodeKind::Between { parts, negated } => {
            let [value, low, high] = parts.as_ref();
            push_node(value, out);
            out.push_str(not(negated));
            out.push_str(&format!(
                " BETWEEN {} AND {}",
                print_expression(low),
                print_expression(high)
            ));
        }
        NodeKind::In { value, items, negated } => {
            push_node(value, out);
            out.push_str(not(negated));
            out.push_str(&format!(" IN ({})", print_list(items)));
        }
        NodeKind::Like { value, pattern, escape, negated } => {
            push_node(value, out);
            out.push_str(not(negated));
            out.push_str(&format!(" LIKE {}", print_expression(pattern)));
            if let Some((escape, _)) = escape {
                out.push_str(&format!(" ESCAPE {}", quoted_text(escape)));
            }
        }
        NodeKind::Coalesce(items) => {
            let inner = pairs(items.len().saturating_sub(1));
            for (at, item) in items.iter().enumerate() {
                let before = match at {
                    0 => "",
                    at if at <= inner => " ?? (",
                    _ => " ?? ",
                };
                out.push_str(before);
                push_node(item, out);
            }
            out.push_str(&")".repeat(inner));
        }
        NodeKind::Conditional(parts) => {
            let [condition, yes, no] = parts.as_ref();
            push_node(condition, out);
            out.push_str(&format!(" ? {} : {}", print_expression(yes), print_expression(no)));
        }
        // Never reached, since the caller passes only kinds with operators.
        _ => push_node(node, out),
    }
}

/// Maximum number of consecutive operators of one precedence for which each pair of operands gets
/// parentheses, as Azure Cosmos DB prints them.
const MAX_PAIRS: usize = 16;

/// Returns the number of pairs of parentheses that are printed inside a chain of operators of one
/// precedence. It is 0 if they would exceed the nesting limit of a text.
fn pairs(operators: usize) -> usize {
    if operators <= MAX_PAIRS { operators.saturating_sub(1) } else { 0 }
}

/// Returns the sign or keyword of an operator.
fn operator_text(operator: Operator) -> &'static str {
    match operator {
        Operator::And => "AND",
        Operator::Or => "OR",
        Operator::Concat => "||",
        Operator::Of(binary) => match binary {
            Binary::Equal => "=",
            Binary::NotEqual => "!=",
            Binary::Less => "<",
            Binary::LessOrEqual => "<=",
            Binary::Greater => ">",
            Binary::GreaterOrEqual => ">=",
            Binary::Add => "+",
            Binary::Subtract => "-",
            Binary::Multiply => "*",
            Binary::Divide => "/",
            Binary::Modulo => "%",
            Binary::BitAnd => "&",
            Binary::BitOr => "|",
            Binary::BitXor => "^",
            Binary::ShiftLeft => "<<",
            Binary::ShiftRight => ">>",
            Binary::ShiftRightZero => ">>>",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::parse;

    #[test]
    fn texts_read_as_the_same_tree() {
        for text in [
            "SELECT * FROM c",
            "SELECT 1, 'a\\n\"b\\'' AS x, c[\"value\"], c['a b'] AS \"y z\", c.é FROM c",
            "SELECT DISTINCT TOP @n VALUE {a: 1, 'b c': [1, -2.5, 1e300, undefined, null]} FROM c",
            "SELECT VALUE x FROM x IN c.a[0]['b'] JOIN (SELECT VALUE y FROM y IN x.z) AS q JOIN x.p r",
            "SELECT VALUE (SELECT VALUE 1)[0] FROM (SELECT c.a FROM c) s WHERE EXISTS(SELECT 1)",
            "SELECT ARRAY(SELECT 1), 2 FROM c",
            "SELECT VALUE ALL(SELECT 1) AND FIRST(SELECT 1) OR LAST(SELECT 1) FROM c",
            "SELECT VALUE -1 - -2 - - c.a - -(-9223372036854775808) + +1 FROM c",
            "SELECT LEFT(c.a, 1), RIGHT(c.TRUE, 2), TRUE.x FROM c",
            "SELECT (1).a, ('x').y FROM c",
            "SELECT VALUE NOT a = b AND ~c << 1 >>> 2 >> 3 | d ^ e & f FROM a",
            "SELECT VALUE a || b || (c || d) ?? e ?? (f ?? g) ? 1 : 2 ? 3 : 4 FROM a",
            "SELECT VALUE (a BETWEEN 1 AND 2) AND (b NOT BETWEEN (c AND d) AND e) FROM a",
            "SELECT VALUE a IN (1, b) OR a NOT IN (2) AND a LIKE 'x!%' ESCAPE '!' FROM a",
            "SELECT VALUE (a NOT LIKE b || '%') = true FROM a",
            "SELECT VALUE a + b - c * d / e % f < g <= h > i >= j != k <> l FROM a",
            "SELECT VALUE udf.f(1, abs(c.a)) FROM c",
            "SELECT c.a, COUNT(1) n FROM c WHERE c.b > @p GROUP BY c.a, c.b ORDER BY c.a, c.b DESC",
            "SELECT VALUE c FROM c ORDER BY c.a DESC, c.b ASC, c.d OFFSET 1 LIMIT @l",
        ] {
            let Ok(first) = parse(text) else { panic!("{text}") };
            let printed = print_query(&first);
            let Ok(second) = parse(&printed) else { panic!("{text} became {printed}") };
            assert_eq!(print_query(&second), printed, "{text}");
        }
    }

    #[test]
    fn operators_beside_one_another_have_parentheses() {
        let long = |operator: &str| vec!["c.a"; 18].join(operator);
        for (text, want) in [
            ("c.a - 1 - 2 - 3", "(((c.a - 1) - 2) - 3)".to_owned()),
            ("c.a ?? 1 ?? 2 ?? 3", "(c.a ?? (1 ?? (2 ?? 3)))".to_owned()),
            (&long(" OR "), format!("({})", long(" OR "))),
            (&long(" ?? "), format!("({})", long(" ?? "))),
        ] {
            let Ok(query) = parse(&format!("SELECT VALUE {text} FROM c")) else { panic!("{text}") };
            assert_eq!(print_query(&query), format!("SELECT VALUE {want}\nFROM c"), "{text}");
        }
    }
}
