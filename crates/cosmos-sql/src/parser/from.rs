//! Parses FROM and JOIN.

use super::Parser;
use crate::{
    ast::{Collection, Input, Node, NodeKind, PathStep, TextPosition},
    error::Fault,
    token::{Keyword, Punctuation, TokenKind},
};

impl Parser<'_> {
    /// Parses the sources of FROM and JOIN. JOINs are only counted here; their limit is checked at
    /// the end of the query.
    pub(super) fn parse_from(&mut self) -> Result<Vec<Input>, Fault> {
        let mut inputs = vec![self.parse_input()?];
        while self.take_keyword(Keyword::Join) {
            self.joins += 1;
            inputs.push(self.parse_input()?);
        }
        Ok(inputs)
    }

    /// Parses one source: `x IN collection`, or a collection with or without an alias. Only the
    /// first form has `IN` after a name.
    fn parse_input(&mut self) -> Result<Input, Fault> {
        if let (TokenKind::Name(name), TokenKind::Keyword(Keyword::In)) =
            (self.current_kind(), self.kind_after(1))
        {
            let at = TextPosition(self.current_span());
            self.at += 2;
            let of = self.parse_collection()?;
            return Ok(Input { of, alias: Some((name.clone(), at)), iterates: true });
        }
        let of = self.parse_collection()?;
        let named = self.take_keyword(Keyword::As);
        let alias = match self.current_kind() {
            // The keyword AS before an alias is optional.
            TokenKind::Name(_) => Some(self.expect_placed_name()?),
            _ if named => return Err(self.syntax_error()),
            _ => None,
        };
        Ok(Input { of, alias, iterates: false })
    }

    /// Parses a query in parentheses, or a name with a path. Brackets may contain constants only,
    /// so the path is known before any row is read.
    fn parse_collection(&mut self) -> Result<Collection, Fault> {
        if self.take_punctuation(Punctuation::Open) {
            let query = self.parse_query()?;
            self.expect_punctuation(Punctuation::Close)?;
            return Ok(Collection::Query(query));
        }
        let (root, at) = self.expect_placed_name()?;
        let mut steps = Vec::new();
        loop {
            if self.take_punctuation(Punctuation::Dot) {
                let (name, at) = self.expect_placed_name()?;
                steps.push(PathStep::Name(name, at));
            } else if self.take_punctuation(Punctuation::OpenBracket) {
                let span = self.current_span();
                let step = match self.current_kind() {
                    TokenKind::Text(name) => PathStep::Name(name.clone(), TextPosition(span)),
                    TokenKind::Number(value) => PathStep::Computed(
                        Node::new(NodeKind::Literal(value.clone()), span),
                        TextPosition(span),
                    ),
                    _ => return Err(self.syntax_error()),
                };
                self.at += 1;
                self.expect_punctuation(Punctuation::CloseBracket)?;
                steps.push(step);
            } else {
                let whole = TextPosition(at.0.up_to(self.span_before()));
                return Ok(Collection::Path { root, at, steps, whole });
            }
        }
    }
}
