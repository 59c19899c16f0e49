//! Tokens to a tree: the clauses of a query. Expressions stand in `expression`, FROM in `from`.

mod expression;
mod from;
mod height;
mod operators;

use crate::{
    ast::{Count, Input, Item, Node, NodeKind, OrderItem, Place, Query, Selection},
    error::{Fault, Span},
    lexer,
    limits::{MAX_DEPTH, MAX_JOINS, MAX_KEYS, MAX_TEXT_BYTES},
    token::{Kind, Sign, Token, Word},
};

/// The query that a text is.
pub(crate) fn parse(text: &str) -> Result<Box<Query>, Fault> {
    whole(text, |parser| parser.query())
}

/// The condition that a text is: FROM and WHERE, with or without SELECT. Other clauses say nothing
/// about one document.
pub(crate) fn parse_condition(text: &str) -> Result<Box<Query>, Fault> {
    whole(text, |parser| {
        parser.enter()?;
        let selection = match parser.take_word(Word::Select) {
            true => parser.selection()?,
            false if parser.is_word(Word::From) => {
                Selection::Value(Node::new(NodeKind::Literal(true.into()), parser.span()))
            }
            false => return Err(parser.wrong()),
        };
        let (from, filter) = parser.rows()?;
        parser.check_joins()?;
        let (group, order) = (Vec::new(), Vec::new());
        let (distinct, top, window) = (false, None, None);
        Ok(Box::new(Query { distinct, top, selection, from, filter, group, order, window }))
    })
}

fn whole(
    text: &str,
    read: impl FnOnce(&mut Parser<'_>) -> Result<Box<Query>, Fault>,
) -> Result<Box<Query>, Fault> {
    if MAX_TEXT_BYTES < text.len() {
        let message = format!(
            "The SQL query text exceeded the maximum limit of {MAX_TEXT_BYTES} characters."
        );
        return Err(Fault::Limit(Span::default(), "SC3051", message));
    }
    let tokens = lexer::tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, joins: 0, logic: 0, wraps: 0 };
    let query = read(&mut parser)?;
    match parser.kind() {
        Kind::End => {
            height::check(&query)?;
            Ok(query)
        }
        _ => Err(parser.wrong()),
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
    joins: usize,
    logic: usize,
    wraps: usize,
}

impl<'t> Parser<'t> {
    fn kind(&self) -> &'t Kind {
        self.tokens.get(self.at).map_or(&Kind::End, |token| &token.kind)
    }

    fn kind_after(&self, count: usize) -> &'t Kind {
        self.tokens.get(self.at + count).map_or(&Kind::End, |token| &token.kind)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Span::default(), |token| token.span)
    }

    /// The span of the token before this one.
    fn before(&self) -> Span {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.map_or(Span::default(), |token| token.span)
    }

    fn wrong(&self) -> Fault {
        Fault::Syntax(self.span())
    }

    fn is_word(&self, word: Word) -> bool {
        *self.kind() == Kind::Word(word)
    }

    fn take_word(&mut self, word: Word) -> bool {
        let is = self.is_word(word);
        self.at += usize::from(is);
        is
    }

    fn word(&mut self, word: Word) -> Result<(), Fault> {
        if self.take_word(word) { Ok(()) } else { Err(self.wrong()) }
    }

    fn take_sign(&mut self, sign: Sign) -> bool {
        let is = *self.kind() == Kind::Sign(sign);
        self.at += usize::from(is);
        is
    }

    fn sign(&mut self, sign: Sign) -> Result<(), Fault> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.wrong()) }
    }

    fn name(&mut self) -> Result<String, Fault> {
        match self.kind() {
            Kind::Name(name) => {
                self.at += 1;
                Ok(name.clone())
            }
            _ => Err(self.wrong()),
        }
    }

    /// Goes one level deeper; whoever does, comes back.
    fn enter(&mut self) -> Result<(), Fault> {
        if self.depth == MAX_DEPTH {
            let message = format!("The SQL query is nested deeper than {MAX_DEPTH} levels.");
            return Err(Fault::Limit(self.span(), "SC3054", message));
        }
        self.depth += 1;
        Ok(())
    }

    fn query(&mut self) -> Result<Box<Query>, Fault> {
        self.enter()?;
        let query = self.clauses()?;
        self.depth -= 1;
        Ok(query)
    }

    fn clauses(&mut self) -> Result<Box<Query>, Fault> {
        self.word(Word::Select)?;
        let distinct = self.take_word(Word::Distinct);
        let top = if self.take_word(Word::Top) { Some(self.count("TOP", true)?) } else { None };
        let selection = self.selection()?;
        self.clauses_after(distinct, top, selection)
    }

    /// The clauses behind what is selected.
    fn clauses_after(
        &mut self,
        distinct: bool,
        top: Option<Count>,
        selection: Selection,
    ) -> Result<Box<Query>, Fault> {
        let (from, filter) = self.rows()?;
        let mut group = Vec::new();
        if self.take_word(Word::Group) {
            self.word(Word::By)?;
            group = self.list(Self::expression)?;
            self.check_keys(group.len(), "GROUP BY")?;
        }
        let order = self.order()?;
        let window = self.window(top.is_some())?;
        self.check_joins()?;
        Ok(Box::new(Query { distinct, top, selection, from, filter, group, order, window }))
    }

    /// FROM and WHERE.
    fn rows(&mut self) -> Result<(Vec<Input>, Option<Node>), Fault> {
        let from = if self.take_word(Word::From) { self.from()? } else { Vec::new() };
        let filter = if self.take_word(Word::Where) { Some(self.expression()?) } else { None };
        Ok((from, filter))
    }

    fn check_joins(&self) -> Result<(), Fault> {
        if MAX_JOINS < self.joins {
            let message = format!(
                "The SQL query exceeded the maximum number of joins. The allowed limit is {MAX_JOINS}."
            );
            return Err(Fault::Limit(self.before(), "SC3052", message));
        }
        Ok(())
    }

    fn window(&mut self, has_top: bool) -> Result<Option<(Count, Count)>, Fault> {
        let span = self.span();
        if !self.take_word(Word::Offset) {
            return Ok(None);
        }
        let offset = self.count("OFFSET", false)?;
        self.word(Word::Limit)?;
        let limit = self.count("LIMIT", false)?;
        if has_top {
            return Err(Fault::TopAndLimit(span.to(self.before())));
        }
        Ok(Some((offset, limit)))
    }

    fn selection(&mut self) -> Result<Selection, Fault> {
        if self.take_sign(Sign::Star) {
            return Ok(Selection::Star(Place(self.before())));
        }
        if self.take_word(Word::Value) {
            return Ok(Selection::Value(self.expression()?));
        }
        let items = self.list(|parser| {
            let node = parser.expression()?;
            let named = parser.take_word(Word::As);
            let alias = match parser.kind() {
                Kind::Name(_) => {
                    let span = parser.span();
                    Some((parser.name()?, Place(span)))
                }
                // A name in quotes, too.
                Kind::Text(name) if named => {
                    parser.at += 1;
                    Some((name.clone(), Place(parser.before())))
                }
                _ if named => return Err(parser.wrong()),
                _ => None,
            };
            Ok(Item { node, alias })
        })?;
        Ok(Selection::List(items))
    }

    fn order(&mut self) -> Result<Vec<OrderItem>, Fault> {
        if !self.take_word(Word::Order) {
            return Ok(Vec::new());
        }
        self.word(Word::By)?;
        let ranks = matches!(self.kind(), Kind::Name(name) if name.eq_ignore_ascii_case("rank"))
            && matches!(self.kind_after(1), Kind::Name(_));
        if ranks {
            return Err(Fault::Unsupported("ORDER BY RANK".to_owned()));
        }
        let order = self.list(|parser| {
            let node = parser.expression()?;
            let descending = parser.take_word(Word::Desc);
            if !descending {
                parser.take_word(Word::Asc);
            }
            Ok(OrderItem { node, descending })
        })?;
        self.check_keys(order.len(), "ORDER BY")?;
        Ok(order)
    }

    fn check_keys(&self, count: usize, clause: &str) -> Result<(), Fault> {
        if MAX_KEYS < count {
            let message = format!("{clause} has more than {MAX_KEYS} items.");
            return Err(Fault::Limit(self.before(), "SC3056", message));
        }
        Ok(())
    }

    fn count(&mut self, clause: &'static str, fraction: bool) -> Result<Count, Fault> {
        let span = self.span();
        let negative = self.take_sign(Sign::Minus);
        let kind = match self.kind() {
            Kind::Number(value) => {
                let whole = matches!(value, document::Value::Int64(_));
                if !whole && !fraction {
                    return Err(self.wrong());
                }
                NodeKind::Literal(value.clone())
            }
            Kind::Parameter(name) if !negative => NodeKind::Parameter(name.clone()),
            _ => return Err(self.wrong()),
        };
        self.at += 1;
        let span = span.to(self.before());
        if negative {
            return Err(Fault::Count(span, clause));
        }
        Ok(Count { node: Node::new(kind, span), clause })
    }

    /// One or more, with commas between them.
    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let mut items = vec![item(self)?];
        while self.take_sign(Sign::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }
}
