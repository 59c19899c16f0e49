//! Parses tokens to a tree. This module parses the clauses of a query, the module `expression`
//! expressions, and the module `from` FROM and JOIN.
//!
//! It is a recursive descent parser. Every recursion calls `enter_level`, which bounds the depth,
//! so that no text can exhaust the stack. At the end the height of the whole tree is checked too,
//! since binding and evaluation recurse over it.

mod expression;
mod from;
mod height;
mod operators;

use crate::{
    ast::{
        ClauseCount, ClausePositions, Input, Item, Node, NodeKind, OrderItem, Query, Selection,
        TextPosition,
    },
    error::{Fault, Span},
    lexer,
    token::{Keyword, Punctuation, Token, TokenKind},
};

/// Maximum size of a query text, in bytes.
const MAX_TEXT_BYTES: usize = 512 * 1024;
/// Maximum nesting of parentheses, brackets, calls, prefix operators and queries. The parser
/// recurses once per level.
const MAX_DEPTH: usize = 100;
/// Maximum number of JOINs that are parsed, which bounds the work of the binder. The binder refuses
/// fewer JOINs, after all other faults.
const MAX_JOINS: usize = 100;
/// Maximum number of GROUP BY keys, and of ORDER BY items.
const MAX_KEYS: usize = 64;

/// Parses a text as a query. Fails with the first fault.
pub(crate) fn parse(text: &str) -> Result<Box<Query>, Fault> {
    parse_whole(text, |parser| parser.parse_query())
}

/// Parses a text as a condition: FROM and WHERE, with optional SELECT. Other clauses are refused,
/// since they have no meaning for a single document. Without SELECT the query selects `true`, which
/// is not used.
pub(crate) fn parse_condition(text: &str) -> Result<Box<Query>, Fault> {
    parse_whole(text, |parser| {
        parser.enter_level()?;
        let selection = match parser.take_keyword(Keyword::Select) {
            true => parser.parse_selection()?,
            false if parser.is_keyword(Keyword::From) => {
                Selection::Value(Node::new(NodeKind::Literal(true.into()), parser.current_span()))
            }
            false => return Err(parser.syntax_error()),
        };
        let (from, filter) = parser.parse_from_and_where()?;
        parser.check_star(&selection, &from);
        parser.check_joins()?;
        let (group, order) = (Vec::new(), Vec::new());
        let (distinct, top, window) = (false, None, None);
        let places = ClausePositions::default();
        Ok(Box::new(Query { distinct, top, selection, from, filter, group, order, window, places }))
    })
}

/// Parses a text that must be one query and nothing else. The length is checked first, because the
/// time and memory of all further steps depend on it.
fn parse_whole(
    text: &str,
    read: impl FnOnce(&mut Parser<'_>) -> Result<Box<Query>, Fault>,
) -> Result<Box<Query>, Fault> {
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
            height::check_height(&query)?;
            Ok(query)
        }
        _ => Err(parser.syntax_error()),
    }
}

/// The state of the parser: tokens, the current position, and how much of each limit is used.
struct Parser<'t> {
    text: &'t str,
    /// All tokens; the last one is [`TokenKind::End`].
    tokens: &'t [Token],
    /// The lexer's fault, if the tokens end before the text does.
    fault: Option<Fault>,
    /// The fault of a `SELECT *` without FROM. It is reported only if the text has no syntax error.
    star: Option<Fault>,
    /// Index of the current token.
    at: usize,
    /// Current nesting level: queries, expressions and prefix operators each add one.
    depth: usize,
    /// Number of JOINs so far, including those of subqueries.
    joins: usize,
    /// Number of AND and OR operators so far in the whole text.
    logic: usize,
}

impl<'t> Parser<'t> {
    /// Returns the kind of the current token; past the end, [`TokenKind::End`].
    fn current_kind(&self) -> &'t TokenKind {
        self.tokens.get(self.at).map_or(&TokenKind::End, |token| &token.kind)
    }

    /// Returns the kind of the token `count` positions ahead.
    fn kind_after(&self, count: usize) -> &'t TokenKind {
        self.tokens.get(self.at + count).map_or(&TokenKind::End, |token| &token.kind)
    }

    /// Returns the span of the current token.
    fn current_span(&self) -> Span {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Span::default(), |token| token.span)
    }

    /// Returns the span of the preceding token. A node that was just parsed ends there.
    fn span_before(&self) -> Span {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.map_or(Span::default(), |token| token.span)
    }

    /// Returns the error for an unexpected current token.
    fn syntax_error(&self) -> Fault {
        match (self.current_kind(), &self.fault) {
            (TokenKind::End, Some(fault)) => fault.clone(),
            (TokenKind::End, None) => Fault::End(self.current_span()),
            _ => Fault::Syntax(self.current_span()),
        }
    }

    /// Returns whether the current token is this word.
    fn is_keyword(&self, word: Keyword) -> bool {
        *self.current_kind() == TokenKind::Keyword(word)
    }

    /// Consumes a reserved word if it is the current token; returns whether it was.
    fn take_keyword(&mut self, word: Keyword) -> bool {
        let is = self.is_keyword(word);
        self.at += usize::from(is);
        is
    }

    /// Consumes a reserved word; fails if the current token is another one.
    fn expect_keyword(&mut self, word: Keyword) -> Result<(), Fault> {
        if self.take_keyword(word) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Consumes a sign if it is the current token; returns whether it was.
    fn take_punctuation(&mut self, sign: Punctuation) -> bool {
        let is = *self.current_kind() == TokenKind::Punctuation(sign);
        self.at += usize::from(is);
        is
    }

    /// Consumes a sign; fails if the current token is another one.
    fn expect_punctuation(&mut self, sign: Punctuation) -> Result<(), Fault> {
        if self.take_punctuation(sign) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Consumes and returns a name.
    fn expect_name(&mut self) -> Result<String, Fault> {
        self.expect_placed_name().map(|(name, _)| name)
    }

    /// Consumes a name and returns it with its position. Reserved words are not names, even after a
    /// dot; they can be quoted in brackets.
    fn expect_placed_name(&mut self) -> Result<(String, TextPosition), Fault> {
        match self.current_kind() {
            TokenKind::Name(name) => {
                self.at += 1;
                Ok((name.clone(), TextPosition(self.span_before())))
            }
            _ => Err(self.syntax_error()),
        }
    }

    /// Enters a nesting level; fails at the limit. The caller decrements `depth` on success. After
    /// an error `depth` is not restored, since the first error ends the parsing.
    fn enter_level(&mut self) -> Result<(), Fault> {
        if self.depth == MAX_DEPTH {
            let message = format!("The SQL query is nested deeper than {MAX_DEPTH} levels.");
            return Err(Fault::Limit(self.current_span(), "SC3054", message));
        }
        self.depth += 1;
        Ok(())
    }

    fn parse_query(&mut self) -> Result<Box<Query>, Fault> {
        self.enter_level()?;
        let start = self.current_span();
        let mut query = self.parse_clauses()?;
        query.places.whole = TextPosition(start.up_to(self.span_before()));
        self.depth -= 1;
        Ok(query)
    }

    /// Parses the clauses of a query, in their only valid order: SELECT, FROM, WHERE, GROUP BY,
    /// ORDER BY, OFFSET LIMIT. A clause out of order is left as an unexpected token.
    fn parse_clauses(&mut self) -> Result<Box<Query>, Fault> {
        self.expect_keyword(Keyword::Select)?;
        let distinct = self.take_keyword(Keyword::Distinct);
        let begin = self.current_span();
        let top = if self.take_keyword(Keyword::Top) {
            Some(self.parse_count("TOP", true)?)
        } else {
            None
        };
        let places = ClausePositions {
            top: TextPosition(begin.up_to(self.span_before())),
            ..ClausePositions::default()
        };
        let selection = self.parse_selection()?;
        self.parse_clauses_after(distinct, top, selection, places)
    }

    /// Parses the clauses after the SELECT list.
    fn parse_clauses_after(
        &mut self,
        distinct: bool,
        top: Option<ClauseCount>,
        selection: Selection,
        mut places: ClausePositions,
    ) -> Result<Box<Query>, Fault> {
        // Each clause is optional; the caller reports remaining tokens.
        let (from, filter) = self.parse_from_and_where()?;
        let mut group = Vec::new();
        if self.take_keyword(Keyword::Group) {
            self.expect_keyword(Keyword::By)?;
            group = self.parse_list(Self::parse_expression)?;
            self.check_keys(group.len(), "GROUP BY")?;
        }
        let begin = self.current_span();
        let order = self.parse_order()?;
        places.order = TextPosition(begin.up_to(self.span_before()));
        let begin = self.current_span();
        let window = self.parse_window()?;
        places.window = TextPosition(begin.up_to(self.span_before()));
        self.check_star(&selection, &from);
        self.check_joins()?;
        Ok(Box::new(Query { distinct, top, selection, from, filter, group, order, window, places }))
    }

    /// Records the fault of `SELECT *` in an outermost query without FROM. It is reported only if
    /// the rest of the text has no syntax error.
    fn check_star(&mut self, selection: &Selection, from: &[Input]) {
        if let (Selection::Star(at), [], 1) = (selection, from, self.depth) {
            self.star = Some(Fault::StarWithoutFrom(at.0));
        }
    }

    fn parse_from_and_where(&mut self) -> Result<(Vec<Input>, Option<Node>), Fault> {
        let from = if self.take_keyword(Keyword::From) { self.parse_from()? } else { Vec::new() };
        let filter =
            if self.take_keyword(Keyword::Where) { Some(self.parse_expression()?) } else { None };
        Ok((from, filter))
    }

    /// Refuses a text with too many JOINs.
    fn check_joins(&self) -> Result<(), Fault> {
        if self.joins <= MAX_JOINS { Ok(()) } else { Err(Fault::Joins) }
    }

    /// Parses OFFSET and the LIMIT that must follow it.
    fn parse_window(&mut self) -> Result<Option<(ClauseCount, ClauseCount)>, Fault> {
        if !self.take_keyword(Keyword::Offset) {
            return Ok(None);
        }
        let offset = self.parse_count("OFFSET", false)?;
        self.expect_keyword(Keyword::Limit)?;
        let limit = self.parse_count("LIMIT", false)?;
        Ok(Some((offset, limit)))
    }

    /// Parses the SELECT list. `AS` is optional before a name, including a quoted one.
    fn parse_selection(&mut self) -> Result<Selection, Fault> {
        if self.take_punctuation(Punctuation::Star) {
            return Ok(Selection::Star(TextPosition(self.span_before())));
        }
        if self.take_keyword(Keyword::Value) {
            return Ok(Selection::Value(self.parse_expression()?));
        }
        let items = self.parse_list(|parser| {
            let node = parser.parse_expression()?;
            let named = parser.take_keyword(Keyword::As);
            let alias = match parser.current_kind() {
                TokenKind::Name(_) => Some(parser.expect_placed_name()?),
                // An empty string is accepted, but gives no name.
                TokenKind::Text(name) => {
                    parser.at += 1;
                    let named = !name.is_empty();
                    named.then(|| (name.clone(), TextPosition(parser.span_before())))
                }
                _ if named => return Err(parser.syntax_error()),
                _ => None,
            };
            Ok(Item { node, alias })
        })?;
        Ok(Selection::List(items))
    }

    /// Parses ORDER BY. `RANK` before a name requests a full-text order, which is not supported.
    fn parse_order(&mut self) -> Result<Vec<OrderItem>, Fault> {
        if !self.take_keyword(Keyword::Order) {
            return Ok(Vec::new());
        }
        self.expect_keyword(Keyword::By)?;
        let ranks = matches!(self.current_kind(), TokenKind::Name(name) if name.eq_ignore_ascii_case("rank"))
            && matches!(self.kind_after(1), TokenKind::Name(_));
        if ranks {
            return Err(Fault::Unsupported("ORDER BY RANK".to_owned()));
        }
        let order = self.parse_list(|parser| {
            let node = parser.parse_expression()?;
            let descending = parser.take_keyword(Keyword::Desc);
            let ascending = !descending && parser.take_keyword(Keyword::Asc);
            Ok(OrderItem { node, descending, ascending })
        })?;
        self.check_keys(order.len(), "ORDER BY")?;
        Ok(order)
    }

    /// Refuses a clause with too many items.
    fn check_keys(&self, count: usize, clause: &str) -> Result<(), Fault> {
        if MAX_KEYS < count {
            let message = format!("{clause} has more than {MAX_KEYS} items.");
            return Err(Fault::Limit(self.span_before(), "SC3056", message));
        }
        Ok(())
    }

    /// Parses the count of TOP, OFFSET or LIMIT: a number without a sign, or a parameter. The count
    /// of TOP may be written with a fraction or an exponent; the binder checks that its value is
    /// whole.
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

    /// Returns whether the number at a position is written without fraction and exponent.
    fn is_written_whole(&self, at: Span) -> bool {
        let number = self.text.get(at.start..at.end).unwrap_or_default();
        number.starts_with("0x") || number.starts_with("0X") || !number.contains(['.', 'e', 'E'])
    }

    /// Parses one or more items separated by commas.
    fn parse_list<T>(
        &mut self,
        item: impl Fn(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut items = vec![item(self)?];
        while self.take_punctuation(Punctuation::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }
}
