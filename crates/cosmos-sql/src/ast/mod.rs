//! The syntax tree of a query: names are not resolved, parameters not replaced. Equality of trees
//! ignores positions in the text, so that a GROUP BY key is recognized when it is repeated in
//! SELECT.

mod index;

use document::Value;
pub(crate) use index::is_same_step;
pub(crate) use select::plan::{Binary, Subquery, Unary};

use crate::error::Span;

/// A query: one SELECT with all its clauses. FROM produces rows; `filter` is WHERE.
///
/// ```text
/// SELECT DISTINCT TOP 3 c.a AS x FROM c JOIN t IN c.tags WHERE t > 1 ORDER BY c.a DESC
///
/// distinct, top 3, selection [c.a as x], from [c, t IN c.tags], filter t > 1, order [c.a descending]
/// ```
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// Whether duplicates are removed (DISTINCT).
    pub(crate) distinct: bool,
    /// The count of TOP, if any.
    pub(crate) top: Option<ClauseCount>,
    pub(crate) selection: Selection,
    /// FROM and its JOINs, in order. Without FROM the list is empty; the query then has a single
    /// row without names.
    pub(crate) from: Vec<Input>,
    /// The condition of WHERE, if any.
    pub(crate) filter: Option<Node>,
    /// The keys of GROUP BY.
    pub(crate) group: Vec<Node>,
    /// The items of ORDER BY, most significant first.
    pub(crate) order: Vec<OrderItem>,
    /// OFFSET and LIMIT; the language requires both or neither.
    pub(crate) window: Option<(ClauseCount, ClauseCount)>,
    /// Positions of the query and of some of its clauses.
    pub(crate) places: ClausePositions,
}

/// Positions of a query and of its TOP, ORDER BY and OFFSET LIMIT clauses, for messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ClausePositions {
    /// Position of the query, without the parentheses of a subquery.
    pub(crate) whole: TextPosition,
    pub(crate) top: TextPosition,
    /// Position of the ORDER BY clause.
    pub(crate) order: TextPosition,
    /// Position of the OFFSET and LIMIT clauses.
    pub(crate) window: TextPosition,
}

/// The SELECT list: everything, one value, or a list of items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selection {
    Star(TextPosition),
    /// `VALUE` and an expression: results are plain values.
    Value(Node),
    /// Expressions separated by commas: results are objects.
    List(Vec<Item>),
}

/// An item of a SELECT list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) node: Node,
    /// The name after AS, and its position. Without AS, the item's name is the last name of its
    /// path, or, if it is not a path, `$1`, `$2` and so on.
    pub(crate) alias: Option<(String, TextPosition)>,
}

/// One source of FROM or JOIN.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    pub(crate) of: Collection,
    /// The alias and its position.
    pub(crate) alias: Option<(String, TextPosition)>,
    /// Whether the source yields the elements of the collection: `x IN c.list`.
    pub(crate) iterates: bool,
}

impl Input {
    /// Returns the name of the source's values and the position of the name. It is the alias or,
    /// without one, the last name of the path. Returns `None` for a subquery without an alias, and
    /// for a path without an alias that ends with a number.
    pub(crate) fn name(&self) -> Option<(&str, TextPosition)> {
        if let Some((alias, at)) = &self.alias {
            return Some((alias, *at));
        }
        match &self.of {
            Collection::Query(_) => None,
            Collection::Path { root, at, steps, .. } => match steps.last() {
                None => Some((root, *at)),
                Some(PathStep::Name(name, at)) => Some((name, *at)),
                Some(PathStep::Computed(..)) => None,
            },
        }
    }
}

/// The collection of a source: a path that starts with a name, or a query in parentheses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Collection {
    /// `c.list`: the first name with its position, the following steps, and the position of the
    /// whole path.
    Path { root: String, at: TextPosition, steps: Vec<PathStep>, whole: TextPosition },
    /// A query in parentheses, whose results are the values to iterate over.
    Query(Box<Query>),
}

/// An item of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderItem {
    pub(crate) node: Node,
    pub(crate) descending: bool,
    /// Whether the default ASC was written explicitly. A plan for a client repeats the clause as it
    /// was written.
    pub(crate) ascending: bool,
}

/// A count of TOP, OFFSET or LIMIT, with the clause's name for messages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClauseCount {
    /// A literal number or a parameter.
    pub(crate) node: Node,
    pub(crate) clause: &'static str,
}

/// A position in the text. Any two compare as equal, so that the comparison of trees ignores
/// positions; [`Span`] itself has ordinary equality.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextPosition(pub(crate) Span);

impl PartialEq for TextPosition {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A node of the tree: an expression and its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// Position from the first token to the last token.
    pub(crate) at: TextPosition,
}

impl Node {
    /// Creates an expression at this position.
    pub(crate) fn new(kind: NodeKind, span: Span) -> Self {
        Self { kind, at: TextPosition(span) }
    }

    /// Returns the position of the expression.
    pub(crate) fn span(&self) -> Span {
        self.at.0
    }

    /// Returns the position of the expression for messages. For a scalar subquery it excludes the
    /// parentheses.
    pub(crate) fn written_span(&self) -> Span {
        match &self.kind {
            NodeKind::Query(Subquery::Scalar, query) => query.places.whole.0,
            _ => self.span(),
        }
    }

    /// Returns whether the expression is a name, or a path into any value whose last step is a name
    /// and not an expression in brackets.
    pub(crate) fn is_property(&self) -> bool {
        let numbered = |steps: &[PathStep]| matches!(steps.last(), Some(PathStep::Computed(..)));
        match &self.kind {
            NodeKind::Member { steps, .. } => !numbered(steps),
            _ => self.is_path(),
        }
    }

    /// Returns whether the expression is a name, or a path that starts with one.
    pub(crate) fn is_path(&self) -> bool {
        match &self.kind {
            NodeKind::Name(_) => true,
            NodeKind::Member { base, .. } => base.is_path(),
            _ => false,
        }
    }
}

impl Node {
    /// Calls `node` for each direct child that is an expression and `query` for each direct child
    /// that is a query; it does not recurse. All walks over the tree use this function, so that a
    /// new kind of node needs to be added in one place only.
    pub(crate) fn visit_inner<'n>(
        &'n self,
        node: &mut dyn FnMut(&'n Node),
        query: &mut dyn FnMut(&'n Query),
    ) {
        match &self.kind {
            NodeKind::Literal(_)
            | NodeKind::Undefined
            | NodeKind::Parameter(_)
            | NodeKind::Name(_) => {}
            NodeKind::Member { base, steps } => {
                node(base);
                visit_computed(steps, node);
            }
            NodeKind::Array(items) | NodeKind::Coalesce(items) => items.iter().for_each(node),
            NodeKind::Object(fields) => fields.iter().for_each(|field| node(&field.value)),
            NodeKind::Not(inner) | NodeKind::Unary(_, inner) => node(inner),
            NodeKind::Chain { first, rest } => {
                node(first);
                rest.iter().for_each(|(_, other)| node(other));
            }
            NodeKind::Between { parts, .. } | NodeKind::Conditional(parts) => {
                parts.iter().for_each(node);
            }
            NodeKind::In { value, items, .. } => {
                node(value);
                items.iter().for_each(node);
            }
            NodeKind::Like { value, pattern, .. } => {
                node(value);
                node(pattern);
            }
            NodeKind::Call { args, .. } => args.iter().for_each(node),
            NodeKind::Query(_, inner) => query(inner),
        }
    }
}

impl Query {
    /// Returns the number of JOINs in the query and its subqueries.
    pub(crate) fn count_joins(&self) -> usize {
        let mut inner = Vec::new();
        let mut count = self.from.len().saturating_sub(1);
        let mut nodes = Vec::new();
        self.visit_inner(&mut |node| nodes.push(node), &mut |query| inner.push(query));
        while let Some(node) = nodes.pop() {
            node.visit_inner(&mut |node| nodes.push(node), &mut |query| inner.push(query));
        }
        inner.into_iter().for_each(|query| count += query.count_joins());
        count
    }

    /// Calls `node` for each direct child that is an expression and `query` for each direct child
    /// that is a query. The counts of TOP, OFFSET and LIMIT are not visited: they are only numbers
    /// or parameters.
    pub(crate) fn visit_inner<'n>(
        &'n self,
        node: &mut dyn FnMut(&'n Node),
        query: &mut dyn FnMut(&'n Query),
    ) {
        match &self.selection {
            Selection::Star(_) => {}
            Selection::Value(value) => node(value),
            Selection::List(items) => items.iter().for_each(|item| node(&item.node)),
        }
        for input in &self.from {
            match &input.of {
                Collection::Path { steps, .. } => visit_computed(steps, node),
                Collection::Query(inner) => query(inner),
            }
        }
        self.filter.iter().for_each(&mut *node);
        self.group.iter().for_each(&mut *node);
        self.order.iter().for_each(|item| node(&item.node));
    }
}

/// Calls `node` for the expressions in brackets of a path; the other steps are names.
fn visit_computed<'n>(steps: &'n [PathStep], node: &mut dyn FnMut(&'n Node)) {
    for step in steps {
        if let PathStep::Computed(inner, _) = step {
            node(inner);
        }
    }
}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeKind {
    /// A number, a string, `true`, `false` or `null`.
    Literal(Value),
    /// `undefined`, the value of a missing property.
    Undefined,
    /// `@name`, including the `@`; replaced by its value when the tree is bound.
    Parameter(String),
    /// A name of FROM, which denotes the source's value in the current row.
    Name(String),
    /// A path: `c.a["b"][0]` has the base `c` and three steps.
    Member { base: Box<Node>, steps: Vec<PathStep> },
    /// An array constructor, such as `[a, b]`.
    Array(Vec<Node>),
    /// An object constructor, such as `{"a": b}`.
    Object(Vec<Field>),
    /// A negation, with the operator NOT.
    Not(Box<Node>),
    /// `-`, `+` or `~` before its operand.
    Unary(Unary, Box<Node>),
    /// Operators of one precedence, applied from left to right. `a + b - c` is one chain of three
    /// operands, so that long sums do not make a deep tree.
    Chain { first: Box<Node>, rest: Vec<(Operator, Node)> },
    /// `a BETWEEN b AND c`, or NOT BETWEEN if `negated`: the value, the lower and the upper bound.
    Between { parts: Box<[Node; 3]>, negated: bool },
    /// A membership test, `value IN (items)`.
    In { value: Box<Node>, items: Vec<Node>, negated: bool },
    /// `value LIKE pattern`, with the text after ESCAPE.
    Like {
        value: Box<Node>,
        pattern: Box<Node>,
        escape: Option<(String, TextPosition)>,
        negated: bool,
    },
    /// `a ?? b ?? c`: the first operand that is not undefined.
    Coalesce(Vec<Node>),
    /// `a ? b : c`.
    Conditional(Box<[Node; 3]>),
    /// `name(args)`, or `udf.name(args)`. The name is as written; the binder ignores its case.
    Call { name: String, udf: bool, args: Vec<Node> },
    /// A query in parentheses, with the kind of use of its results.
    Query(Subquery, Box<Query>),
}

/// A property of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) at: TextPosition,
    pub(crate) value: Node,
}

/// A step of a path: a name, or an expression in brackets.
#[derive(Clone, Debug)]
pub(crate) enum PathStep {
    /// `.name` or `["name"]`, and the position of the name.
    Name(String, TextPosition),
    /// `[expression]`, and the position from the end of the preceding part to the closing bracket.
    /// The binder accepts numbers only.
    Computed(Node, TextPosition),
}

/// An operator of a chain; all operators of a chain have the same precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    And,
    Or,
    Concat,
    /// An operator that computes or compares two values.
    Of(Binary),
}
