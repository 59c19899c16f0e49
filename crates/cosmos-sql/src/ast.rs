//! The tree of a query as it is written: names are not resolved, parameters not filled in. Two
//! trees are equal when they say the same, wherever they stand in the text: a key of GROUP BY is
//! found again in SELECT that way.

use document::Value;
pub(crate) use select::plan::{Binary, Subquery, Unary};

use crate::error::Span;

/// A query: one SELECT with all its clauses, as written. FROM gives rows, `filter` is WHERE.
///
/// ```text
/// SELECT DISTINCT TOP 3 c.a AS x FROM c JOIN t IN c.tags WHERE t > 1 ORDER BY c.a DESC
///
/// distinct, top 3, selection [c.a as x], from [c, t IN c.tags], filter t > 1, order [c.a descending]
/// ```
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// Whether equal results count once.
    pub(crate) distinct: bool,
    /// TOP.
    pub(crate) top: Option<ClauseCount>,
    /// SELECT.
    pub(crate) selection: Selection,
    /// FROM and its JOINs, in order; empty for a query without FROM.
    /// Such a query has one row without names.
    pub(crate) from: Vec<Input>,
    /// WHERE.
    pub(crate) filter: Option<Node>,
    /// GROUP BY.
    pub(crate) group: Vec<Node>,
    /// ORDER BY, the first item first.
    pub(crate) order: Vec<OrderItem>,
    /// OFFSET and LIMIT.
    /// Both or neither: the language has no OFFSET without LIMIT.
    pub(crate) window: Option<(ClauseCount, ClauseCount)>,
    /// Where the query stands, and those of its clauses that choose among results and order them.
    pub(crate) places: ClausePlaces,
}

/// Where a query, its TOP, ORDER BY, and OFFSET with LIMIT stand in the text, for messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ClausePlaces {
    /// The whole query, without the parentheses of an inner one.
    pub(crate) whole: TextPlace,
    /// TOP and its count.
    pub(crate) top: TextPlace,
    /// ORDER BY and its items.
    pub(crate) order: TextPlace,
    /// OFFSET and LIMIT with their counts.
    pub(crate) window: TextPlace,
}

/// What is selected: everything, one value, or a list of items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selection {
    /// `*`.
    Star(TextPlace),
    /// `VALUE` and an expression: results are values, not objects.
    Value(Node),
    /// Expressions with commas between them: results are objects.
    List(Vec<Item>),
}

/// An item of a list, with its name if it has one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    /// What is selected.
    pub(crate) node: Node,
    /// The name after AS, and where it stands.
    /// Without it the last name of a path is taken, else `$1`, `$2` and so on.
    pub(crate) alias: Option<(String, TextPlace)>,
}

/// One name of FROM or JOIN, and where its values come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    /// Where the values come from.
    pub(crate) of: Collection,
    /// The name that the query gives the values, and where it stands.
    pub(crate) alias: Option<(String, TextPlace)>,
    /// Whether the values are the elements of the collection: `x IN c.list`.
    pub(crate) iterates: bool,
}

impl Input {
    /// Returns the name that the values have, and where it stands: an alias, else the last name of a
    /// path. A query without an alias has none, nor has a path that ends with a number.
    pub(crate) fn name(&self) -> Option<(&str, TextPlace)> {
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

/// Where the values of a name come from: a path that begins with a name, or a query in parentheses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Collection {
    /// `c.list`: the name with its place, the steps from there, and the place of the whole path.
    Path { root: String, at: TextPlace, steps: Vec<PathStep>, whole: TextPlace },
    /// A query in parentheses, whose results are the values.
    Query(Box<Query>),
}

/// An item of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderItem {
    /// What rows are ordered by.
    pub(crate) node: Node,
    /// DESC.
    pub(crate) descending: bool,
    /// ASC, which says nothing; a client is sent it as it was written.
    pub(crate) ascending: bool,
}

/// A count of TOP, OFFSET or LIMIT, with the clause's name for messages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClauseCount {
    /// A number or a parameter.
    pub(crate) node: Node,
    /// `TOP`, `OFFSET` or `LIMIT`.
    pub(crate) clause: &'static str,
}

/// A place in the text; any two are equal, so that trees compare by what they say.
/// A wrapper around [`Span`] for that reason alone: spans themselves differ when they differ.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextPlace(pub(crate) Span);

impl PartialEq for TextPlace {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// An expression and where it stands: the node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// What it is.
    pub(crate) kind: NodeKind,
    /// From its first token to its last one.
    pub(crate) at: TextPlace,
}

impl Node {
    /// An expression that stands at a place.
    pub(crate) fn new(kind: NodeKind, span: Span) -> Self {
        Self { kind, at: TextPlace(span) }
    }

    /// Where it stands.
    pub(crate) fn span(&self) -> Span {
        self.at.0
    }

    /// Where it stands in messages about the whole expression: a query of a single value without its
    /// parentheses.
    pub(crate) fn written_span(&self) -> Span {
        match &self.kind {
            NodeKind::Query(Subquery::Scalar, query) => query.places.whole.0,
            _ => self.span(),
        }
    }

    /// Whether it is a path that ends with a name.
    pub(crate) fn is_property(&self) -> bool {
        let numbered = |steps: &[PathStep]| matches!(steps.last(), Some(PathStep::Computed(..)));
        match &self.kind {
            NodeKind::Member { steps, .. } => self.is_path() && !numbered(steps),
            _ => self.is_path(),
        }
    }

    /// Whether it is a name, or a path that begins with one.
    pub(crate) fn is_path(&self) -> bool {
        match &self.kind {
            NodeKind::Name(_) => true,
            NodeKind::Member { base, .. } => base.is_path(),
            _ => false,
        }
    }
}

impl Node {
    /// Calls `node` with each expression and `query` with each query right inside this one, one
    /// level deep: whoever wants more calls it again.
    /// The one list of what holds what: walks over the tree (heights, aggregates) are made of it,
    /// so that a new kind of node is seen by all of them.
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
    /// Calls `node` with each expression and `query` with each query right inside this one.
    /// Counts of TOP, OFFSET and LIMIT are not visited: they are numbers or parameters only.
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

/// Calls `node` with the expressions in brackets of a path.
/// Other steps are names, which hold nothing.
fn visit_computed<'n>(steps: &'n [PathStep], node: &mut dyn FnMut(&'n Node)) {
    for step in steps {
        if let PathStep::Computed(inner, _) = step {
            node(inner);
        }
    }
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeKind {
    /// A number, a string, `true`, `false` or `null`.
    Literal(Value),
    /// `undefined`: the value of what is not there.
    Undefined,
    /// `@name`, with the `@`.
    /// Its value is put in when the tree is bound.
    Parameter(String),
    /// A name of FROM.
    /// It stands for the values that the name has row by row.
    Name(String),
    /// A path: `c.a["b"][0]` has the base `c` and three steps.
    Member { base: Box<Node>, steps: Vec<PathStep> },
    /// `[a, b]`.
    Array(Vec<Node>),
    /// `{"a": b}`.
    Object(Vec<Field>),
    /// NOT.
    Not(Box<Node>),
    /// `-`, `+` or `~` before its operand.
    Unary(Unary, Box<Node>),
    /// Operators of one precedence, from left to right.
    /// `a + b - c` is one chain of three operands, so that long sums do not make a deep tree.
    Chain { first: Box<Node>, rest: Vec<(Operator, Node)> },
    /// The value and both bounds.
    /// `a BETWEEN b AND c`, with NOT before BETWEEN where `negated`.
    Between { parts: Box<[Node; 3]>, negated: bool },
    /// `value IN (items)`.
    In { value: Box<Node>, items: Vec<Node>, negated: bool },
    /// `value LIKE pattern`, with the text after ESCAPE.
    Like {
        value: Box<Node>,
        pattern: Box<Node>,
        escape: Option<(String, TextPlace)>,
        negated: bool,
    },
    /// `a ?? b ?? c`: the first one that is there.
    Coalesce(Vec<Node>),
    /// `a ? b : c`.
    Conditional(Box<[Node; 3]>),
    /// `name(args)`, or `udf.name(args)`.
    /// The name is as it was written; the binder looks for it without regard to case.
    Call { name: String, udf: bool, args: Vec<Node> },
    /// A query in parentheses, and what is made of its results.
    Query(Subquery, Box<Query>),
}

/// A property of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    /// Its name.
    pub(crate) name: String,
    /// Where the name stands.
    pub(crate) at: TextPlace,
    /// Its value.
    pub(crate) value: Node,
}

/// A step of a path: a name, or an expression in brackets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PathStep {
    /// `.name` or `["name"]`, and where the name stands.
    Name(String, TextPlace),
    /// `[expression]`, with the place of the closing bracket. The binder takes numbers alone.
    Computed(Node, TextPlace),
}

/// An operator of a chain; all operators of a chain have one precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    /// AND.
    And,
    /// OR.
    Or,
    /// `||`.
    Concat,
    /// An operator that computes or compares two values.
    Of(Binary),
}
