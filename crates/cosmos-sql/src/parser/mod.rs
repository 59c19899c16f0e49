//! Tokens to a tree: the clauses of a query. Expressions stand in `expression`, FROM in `from`.
//!
//! It is a recursive descent parser. Whatever recurses goes through `enter_level`, which bounds the
//! depth, so that no text can exhaust the stack; at the end the height of the whole tree is checked
//! too, since binding and evaluation recurse over it.

mod expression;
mod from;
mod height;
mod operators;

use crate::{
    ast::{
        ClauseCount, ClausePlaces, Input, Item, Node, NodeKind, OrderItem, Query, Selection,
        TextPlace,
    },
    error::{Fault, Span},
    lexer,
    limits::{MAX_DEPTH, MAX_JOINS, MAX_KEYS, MAX_TEXT_BYTES},
    token::{Sign, Token, TokenKind, Word},
};

/// The query that a text is.
/// Fails with the first fault that is met.
pub(crate) fn parse(text: &str) -> Result<Box<Query>, Fault> {
    parse_whole(text, |parser| parser.parse_query())
}

/// The condition that a text is: FROM and WHERE, with or without SELECT. Other clauses say nothing
/// about one document.
/// Without SELECT it selects `true`, which nobody reads.
pub(crate) fn parse_condition(text: &str) -> Result<Box<Query>, Fault> {
    parse_whole(text, |parser| {
        parser.enter_level()?;
        let selection = match parser.take_word(Word::Select) {
            true => parser.parse_selection()?,
            false if parser.is_word(Word::From) => {
                Selection::Value(Node::new(NodeKind::Literal(true.into()), parser.current_span()))
            }
            false => return Err(parser.syntax_error()),
        };
        let (from, filter) = parser.parse_from_and_where()?;
        parser.check_star(&selection, &from);
        parser.check_joins()?;
        let (group, order) = (Vec::new(), Vec::new());
        let (distinct, top, window) = (false, None, None);
        let places = ClausePlaces::default();
        Ok(Box::new(Query { distinct, top, selection, from, filter, group, order, window, places }))
    })
}

/// Reads a text that is one query and nothing else.
/// The length is checked first, since everything after it takes time and memory by the length.
fn parse_whole(
    text: &str,
    read: impl FnOnce(&mut Parser<'_>) -> Result<Box<Query>, Fault>,
) -> Result<Box<Query>, Fault> {
    // Before the text is looked at.
    if MAX_TEXT_BYTES < text.len() {
        let message = format!(
            "The SQL query text exceeded the maximum limit of {MAX_TEXT_BYTES} characters."
        );
        return Err(Fault::Limit(Span::default(), "SC3051", message));
    }
    let (tokens, fault) = lexer::tokenize(text);
    let mut parser =
        Parser { text, tokens: &tokens, fault, star: None, at: 0, depth: 0, joins: 0, logic: 0 };
    let query = read(&mut parser)?;
    match parser.current_kind() {
        TokenKind::End if parser.fault.is_none() => {
            if let Some(fault) = parser.star {
                return Err(fault);
            }
            // Only a text that is a query has a tree to measure.
            height::check_height(&query)?;
            Ok(query)
        }
        _ => Err(parser.syntax_error()),
    }
}

/// Tokens, a place among them, and how much of each limit is used up.
struct Parser<'t> {
    /// The text that the tokens are of.
    text: &'t str,
    /// All tokens; the last one says that the text ends.
    tokens: &'t [Token],
    /// What is wrong where the tokens end, if it is not the end of the text.
    fault: Option<Fault>,
    /// The fault of a `*` in a query without FROM.
    star: Option<Fault>,
    /// The position of the token that comes next.
    at: usize,
    /// Levels that are open.
    /// Queries, expressions and operators in front of an operand each open one.
    depth: usize,
    /// JOINs so far, those of inner queries included.
    joins: usize,
    /// AND and OR operators so far.
    /// Counted over the whole text, inner queries included.
    logic: usize,
}

impl<'t> Parser<'t> {
    /// The token here.
    /// Past the end it goes on being the end, so that no caller has to look where it is.
    fn current_kind(&self) -> &'t TokenKind {
        self.tokens.get(self.at).map_or(&TokenKind::End, |token| &token.kind)
    }

    /// The token so many places on.
    fn kind_after(&self, count: usize) -> &'t TokenKind {
        self.tokens.get(self.at + count).map_or(&TokenKind::End, |token| &token.kind)
    }

    /// Where the token here stands in the text.
    fn current_span(&self) -> Span {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Span::default(), |token| token.span)
    }

    /// Where the token before this one stands.
    /// With the span at the start of a node it makes the node's span.
    fn span_before(&self) -> Span {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.map_or(Span::default(), |token| token.span)
    }

    /// The error that the token here is wrong.
    fn syntax_error(&self) -> Fault {
        match (self.current_kind(), &self.fault) {
            (TokenKind::End, Some(fault)) => fault.clone(),
            (TokenKind::End, None) => Fault::End(self.current_span()),
            _ => Fault::Syntax(self.current_span()),
        }
    }

    /// Whether this word stands here.
    fn is_word(&self, word: Word) -> bool {
        *self.current_kind() == TokenKind::Word(word)
    }

    /// Passes over a reserved word, if it stands here.
    /// Returns whether it did.
    fn take_word(&mut self, word: Word) -> bool {
        let is = self.is_word(word);
        self.at += usize::from(is);
        is
    }

    /// Passes over a reserved word; fails if something else stands here.
    fn expect_word(&mut self, word: Word) -> Result<(), Fault> {
        if self.take_word(word) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Passes over a sign, if it stands here.
    fn take_sign(&mut self, sign: Sign) -> bool {
        let is = *self.current_kind() == TokenKind::Sign(sign);
        self.at += usize::from(is);
        is
    }

    /// Passes over a sign; fails if something else stands here.
    fn expect_sign(&mut self, sign: Sign) -> Result<(), Fault> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Passes over a name and returns it.
    fn expect_name(&mut self) -> Result<String, Fault> {
        self.expect_placed_name().map(|(name, _)| name)
    }

    /// Passes over a name and returns it with its place.
    /// Reserved words are no names, not even after a dot; they stand in brackets and quotes.
    fn expect_placed_name(&mut self) -> Result<(String, TextPlace), Fault> {
        match self.current_kind() {
            TokenKind::Name(name) => {
                self.at += 1;
                Ok((name.clone(), TextPlace(self.span_before())))
            }
            _ => Err(self.syntax_error()),
        }
    }

    /// Goes one level deeper, if there may be another. Whoever calls it takes one off `depth` when
    /// done.
    /// After an error nobody takes it off, since the first error ends the parsing.
    fn enter_level(&mut self) -> Result<(), Fault> {
        if self.depth == MAX_DEPTH {
            let message = format!("The SQL query is nested deeper than {MAX_DEPTH} levels.");
            return Err(Fault::Limit(self.current_span(), "SC3054", message));
        }
        self.depth += 1;
        Ok(())
    }

    /// A query.
    fn parse_query(&mut self) -> Result<Box<Query>, Fault> {
        self.enter_level()?;
        let start = self.current_span();
        let mut query = self.parse_clauses()?;
        query.places.whole = TextPlace(start.up_to(self.span_before()));
        self.depth -= 1;
        Ok(query)
    }

    /// The clauses of a query from SELECT to LIMIT, in the only order there is.
    /// SELECT, FROM, WHERE, GROUP BY, ORDER BY, OFFSET LIMIT. A clause out of its place is a token
    /// that nothing goes on with.
    fn parse_clauses(&mut self) -> Result<Box<Query>, Fault> {
        self.expect_word(Word::Select)?;
        let distinct = self.take_word(Word::Distinct);
        let begin = self.current_span();
        let top =
            if self.take_word(Word::Top) { Some(self.parse_count("TOP", true)?) } else { None };
        let places = ClausePlaces {
            top: TextPlace(begin.up_to(self.span_before())),
            ..ClausePlaces::default()
        };
        let selection = self.parse_selection()?;
        self.parse_clauses_after(distinct, top, selection, places)
    }

    /// The clauses after what is selected.
    fn parse_clauses_after(
        &mut self,
        distinct: bool,
        top: Option<ClauseCount>,
        selection: Selection,
        mut places: ClausePlaces,
    ) -> Result<Box<Query>, Fault> {
        // Each clause takes its tokens if it is there: what is left over is an error of the
        // caller's.
        let (from, filter) = self.parse_from_and_where()?;
        let mut group = Vec::new();
        if self.take_word(Word::Group) {
            self.expect_word(Word::By)?;
            group = self.parse_list(Self::parse_expression)?;
            self.check_keys(group.len(), "GROUP BY")?;
        }
        let begin = self.current_span();
        let order = self.parse_order()?;
        places.order = TextPlace(begin.up_to(self.span_before()));
        let begin = self.current_span();
        let window = self.parse_window()?;
        places.window = TextPlace(begin.up_to(self.span_before()));
        self.check_star(&selection, &from);
        self.check_joins()?;
        Ok(Box::new(Query { distinct, top, selection, from, filter, group, order, window, places }))
    }

    /// Keeps the fault of a `*` where the outermost query has no FROM, which is told where the text is
    /// right by its form.
    fn check_star(&mut self, selection: &Selection, from: &[Input]) {
        if let (Selection::Star(at), [], 1) = (selection, from, self.depth) {
            self.star = Some(Fault::StarWithoutFrom(at.0));
        }
    }

    /// FROM and WHERE.
    fn parse_from_and_where(&mut self) -> Result<(Vec<Input>, Option<Node>), Fault> {
        let from = if self.take_word(Word::From) { self.parse_from()? } else { Vec::new() };
        let filter =
            if self.take_word(Word::Where) { Some(self.parse_expression()?) } else { None };
        Ok((from, filter))
    }

    /// Refuses a text with more JOINs than a limit allows.
    /// It looks when a query ends, so that the place in the message is the end of that query.
    fn check_joins(&self) -> Result<(), Fault> {
        if MAX_JOINS < self.joins {
            let message = format!(
                "The SQL query exceeded the maximum number of joins. The allowed limit is {MAX_JOINS}."
            );
            return Err(Fault::Limit(self.span_before(), "SC3052", message));
        }
        Ok(())
    }

    /// OFFSET and LIMIT, which has to follow it.
    fn parse_window(&mut self) -> Result<Option<(ClauseCount, ClauseCount)>, Fault> {
        if !self.take_word(Word::Offset) {
            return Ok(None);
        }
        let offset = self.parse_count("OFFSET", false)?;
        self.expect_word(Word::Limit)?;
        let limit = self.parse_count("LIMIT", false)?;
        Ok(Some((offset, limit)))
    }

    /// What is selected.
    /// `AS` may be left out before a name, also before one in quotes.
    fn parse_selection(&mut self) -> Result<Selection, Fault> {
        if self.take_sign(Sign::Star) {
            return Ok(Selection::Star(TextPlace(self.span_before())));
        }
        if self.take_word(Word::Value) {
            return Ok(Selection::Value(self.parse_expression()?));
        }
        let items = self.parse_list(|parser| {
            let node = parser.parse_expression()?;
            let named = parser.take_word(Word::As);
            let alias = match parser.current_kind() {
                TokenKind::Name(_) => Some(parser.expect_placed_name()?),
                // An empty text is no name.
                TokenKind::Text(name) => {
                    parser.at += 1;
                    let named = !name.is_empty();
                    named.then(|| (name.clone(), TextPlace(parser.span_before())))
                }
                _ if named => return Err(parser.syntax_error()),
                _ => None,
            };
            Ok(Item { node, alias })
        })?;
        Ok(Selection::List(items))
    }

    /// ORDER BY. `RANK` before a name asks for a full-text order, which is not supported.
    fn parse_order(&mut self) -> Result<Vec<OrderItem>, Fault> {
        if !self.take_word(Word::Order) {
            return Ok(Vec::new());
        }
        self.expect_word(Word::By)?;
        let ranks = matches!(self.current_kind(), TokenKind::Name(name) if name.eq_ignore_ascii_case("rank"))
            && matches!(self.kind_after(1), TokenKind::Name(_));
        if ranks {
            return Err(Fault::Unsupported("ORDER BY RANK".to_owned()));
        }
        let order = self.parse_list(|parser| {
            let node = parser.parse_expression()?;
            let descending = parser.take_word(Word::Desc);
            let ascending = !descending && parser.take_word(Word::Asc);
            Ok(OrderItem { node, descending, ascending })
        })?;
        self.check_keys(order.len(), "ORDER BY")?;
        Ok(order)
    }

    /// Refuses a clause with more items than a limit allows.
    fn check_keys(&self, count: usize, clause: &str) -> Result<(), Fault> {
        if MAX_KEYS < count {
            let message = format!("{clause} has more than {MAX_KEYS} items.");
            return Err(Fault::Limit(self.span_before(), "SC3056", message));
        }
        Ok(())
    }

    /// The count of TOP, OFFSET or LIMIT: a number without a sign, or a parameter. TOP may be written
    /// with a fraction or an exponent; the binder looks whether it is a whole number all the same.
    fn parse_count(&mut self, clause: &'static str, fraction: bool) -> Result<ClauseCount, Fault> {
        let span = self.current_span();
        let kind = match self.current_kind() {
            TokenKind::Number(value) if fraction || self.is_written_whole(span) => {
                NodeKind::Literal(value.clone())
            }
            TokenKind::Parameter(name) => NodeKind::Parameter(name.clone()),
            _ => return Err(self.syntax_error()),
        };
        self.at += 1;
        Ok(ClauseCount { node: Node::new(kind, span), clause })
    }

    /// Whether the number at a place has neither fraction nor exponent.
    fn is_written_whole(&self, at: Span) -> bool {
        let number = self.text.get(at.start..at.end).unwrap_or_default();
        number.starts_with("0x") || number.starts_with("0X") || !number.contains(['.', 'e', 'E'])
    }

    /// One or more items, with commas between them.
    fn parse_list<T>(
        &mut self,
        item: impl Fn(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut items = vec![item(self)?];
        while self.take_sign(Sign::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }
}
