//! FROM and JOIN.

use document::Value;

use super::Parser;
use crate::{
    ast::{Collection, Input, Node, NodeKind, Place, Step},
    error::Fault,
    token::{Kind, Sign, Word},
};

impl Parser<'_> {
    pub(super) fn from(&mut self) -> Result<Vec<Input>, Fault> {
        let mut inputs = vec![self.input()?];
        while self.take_word(Word::Join) {
            self.joins += 1;
            inputs.push(self.input()?);
        }
        Ok(inputs)
    }

    fn input(&mut self) -> Result<Input, Fault> {
        let start = self.span();
        if let (Kind::Name(name), Kind::Word(Word::In)) = (self.kind(), self.kind_after(1)) {
            self.at += 2;
            let of = self.collection()?;
            let at = Place(start.to(self.before()));
            return Ok(Input { of, alias: Some(name.clone()), iterates: true, at });
        }
        let of = self.collection()?;
        let named = self.take_word(Word::As);
        let alias = match self.kind() {
            Kind::Name(_) => Some(self.name()?),
            _ if named => return Err(self.wrong()),
            _ => None,
        };
        Ok(Input { of, alias, iterates: false, at: Place(start.to(self.before())) })
    }

    fn collection(&mut self) -> Result<Collection, Fault> {
        if self.take_sign(Sign::Open) {
            let query = self.query()?;
            self.sign(Sign::Close)?;
            return Ok(Collection::Query(query));
        }
        let start = self.span();
        let root = self.name()?;
        let mut steps = Vec::new();
        loop {
            if self.take_sign(Sign::Dot) {
                steps.push(Step::Name(self.name()?));
            } else if self.take_sign(Sign::OpenBracket) {
                let span = self.span();
                let step = match self.kind() {
                    Kind::Text(name) => Step::Name(name.clone()),
                    Kind::Number(value @ Value::Int64(_)) => {
                        Step::Computed(Node::new(NodeKind::Literal(value.clone()), span))
                    }
                    Kind::Parameter(name) => {
                        Step::Computed(Node::new(NodeKind::Parameter(name.clone()), span))
                    }
                    _ => return Err(self.wrong()),
                };
                self.at += 1;
                self.sign(Sign::CloseBracket)?;
                steps.push(step);
            } else {
                let at = Place(start.to(self.before()));
                return Ok(Collection::Path { root, at, steps });
            }
        }
    }
}
