//! The tree of a query as it is written: names are not resolved, parameters not filled in. Two
//! trees are equal when they say the same, wherever they stand in the text: a key of GROUP BY is
//! found again in SELECT that way.

use document::Value;
pub(crate) use select::plan::{Binary, Subquery, Unary};

use crate::error::Span;

/// A query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) distinct: bool,
    /// TOP.
    pub(crate) top: Option<ClauseCount>,
    pub(crate) selection: Selection,
    pub(crate) from: Vec<Input>,
    pub(crate) filter: Option<Node>,
    /// GROUP BY.
    pub(crate) group: Vec<Node>,
    pub(crate) order: Vec<OrderItem>,
    /// OFFSET and LIMIT.
    pub(crate) window: Option<(ClauseCount, ClauseCount)>,
}

/// What is selected: everything, one value, or a list of items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selection {
    Star(TextPlace),
    Value(Node),
    List(Vec<Item>),
}

/// An item of a list, with its name if it has one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) node: Node,
    pub(crate) alias: Option<(String, TextPlace)>,
}

/// One name of FROM or JOIN, and where its values come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    pub(crate) of: Collection,
    pub(crate) alias: Option<String>,
    /// Whether the values are the elements of the collection: `x IN c.list`.
    pub(crate) iterates: bool,
    pub(crate) at: TextPlace,
}

/// Where the values of a name come from: a path that begins with a name, or a query in parentheses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Collection {
    Path { root: String, at: TextPlace, steps: Vec<PathStep> },
    Query(Box<Query>),
}

/// An item of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderItem {
    pub(crate) node: Node,
    pub(crate) descending: bool,
}

/// A count of TOP, OFFSET or LIMIT, with the clause's name for messages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClauseCount {
    pub(crate) node: Node,
    pub(crate) clause: &'static str,
}

/// A place in the text; any two are equal, so that trees compare by what they say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextPlace(pub(crate) Span);

impl PartialEq for TextPlace {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) at: TextPlace,
}

impl Node {
    pub(crate) fn new(kind: NodeKind, span: Span) -> Self {
        Self { kind, at: TextPlace(span) }
    }

    pub(crate) fn span(&self) -> Span {
        self.at.0
    }
}

impl Node {
    /// Calls `node` with each expression and `query` with each query right inside this one, one
    /// level deep: whoever wants more calls it again.
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
            NodeKind::Object(fields) => fields.iter().for_each(|(_, value)| node(value)),
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
fn visit_computed<'n>(steps: &'n [PathStep], node: &mut dyn FnMut(&'n Node)) {
    for step in steps {
        if let PathStep::Computed(inner) = step {
            node(inner);
        }
    }
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeKind {
    Literal(Value),
    Undefined,
    Parameter(String),
    Name(String),
    Member {
        base: Box<Node>,
        steps: Vec<PathStep>,
    },
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
    Not(Box<Node>),
    Unary(Unary, Box<Node>),
    /// Operators of one precedence, from left to right.
    Chain {
        first: Box<Node>,
        rest: Vec<(Operator, Node)>,
    },
    Between {
        parts: Box<[Node; 3]>,
        negated: bool,
    },
    In {
        value: Box<Node>,
        items: Vec<Node>,
        negated: bool,
    },
    Like {
        value: Box<Node>,
        pattern: Box<Node>,
        escape: Option<(String, TextPlace)>,
        negated: bool,
    },
    Coalesce(Vec<Node>),
    Conditional(Box<[Node; 3]>),
    Call {
        name: String,
        udf: bool,
        args: Vec<Node>,
    },
    Query(Subquery, Box<Query>),
}

/// A step of a path: a name, or an expression in brackets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PathStep {
    Name(String),
    Computed(Node),
}

/// An operator of a chain; all operators of a chain have one precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    And,
    Or,
    Concat,
    Of(Binary),
}
