//! The tree of a query as it is written: names are not resolved, parameters not filled in.

use document::Value;
pub(crate) use select::plan::{Binary, Subquery, Unary};

use crate::error::Span;

/// A query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) distinct: bool,
    pub(crate) top: Option<Count>,
    pub(crate) selection: Selection,
    pub(crate) from: Vec<Input>,
    pub(crate) filter: Option<Node>,
    pub(crate) group: Vec<Node>,
    pub(crate) order: Vec<OrderItem>,
    pub(crate) window: Option<(Count, Count)>,
}

/// What is selected.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selection {
    Star(Place),
    Value(Node),
    List(Vec<Item>),
}

/// An item of a list, with its name if it has one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) node: Node,
    pub(crate) alias: Option<(String, Place)>,
}

/// One name of FROM or JOIN.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    pub(crate) of: Collection,
    pub(crate) alias: Option<String>,
    /// `x IN`: the elements.
    pub(crate) iterates: bool,
    pub(crate) at: Place,
}

/// Where the values of a name come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Collection {
    Path { root: String, at: Place, steps: Vec<Step> },
    Query(Box<Query>),
}

/// An item of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderItem {
    pub(crate) node: Node,
    pub(crate) descending: bool,
}

/// A count of TOP, OFFSET or LIMIT.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Count {
    pub(crate) node: Node,
    pub(crate) clause: &'static str,
}

/// A place in the text; any two are the same, so that trees compare by what they say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place(pub(crate) Span);

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) at: Place,
}

impl Node {
    pub(crate) fn new(kind: NodeKind, span: Span) -> Self {
        Self { kind, at: Place(span) }
    }

    pub(crate) fn span(&self) -> Span {
        self.at.0
    }
}

impl Node {
    /// Shows the expressions right inside this one; queries inside are shown as such.
    pub(crate) fn inner<'n>(
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
                computed(steps, node);
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
    /// Shows the expressions and queries right inside this one.
    pub(crate) fn inner<'n>(
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
                Collection::Path { steps, .. } => computed(steps, node),
                Collection::Query(inner) => query(inner),
            }
        }
        self.filter.iter().for_each(&mut *node);
        self.group.iter().for_each(&mut *node);
        self.order.iter().for_each(|item| node(&item.node));
    }
}

fn computed<'n>(steps: &'n [Step], node: &mut dyn FnMut(&'n Node)) {
    for step in steps {
        if let Step::Computed(inner) = step {
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
        steps: Vec<Step>,
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
        escape: Option<(String, Place)>,
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

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Name(String),
    Computed(Node),
}

/// An operator of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    And,
    Or,
    Concat,
    Of(Binary),
}
