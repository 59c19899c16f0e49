//! Rows in groups. Keys are compared by their canonical encoding, so that equal numbers of any
//! type are one group; documents are read no further than the expressions need.

use std::{collections::HashMap, sync::Arc};

use document::{
    DocBuilder, DocRef, Document, Value, ValueRef,
    key::{TypeOrder, encode},
};
use foldhash::fast::RandomState;

use super::{
    Meter, Row,
    group_error::in_group,
    operator::{Operator, Poll},
    sized,
};
use crate::{
    Context, Env, Error, Expr,
    expr::{Holding, memory},
    group::{Field, State},
};

/// What a group is, and what is computed of it.
#[derive(Clone, Debug)]
pub struct Group {
    /// The key; missing is null.
    pub id: Expr,
    /// The computed fields.
    pub fields: Vec<Field>,
}

/// Names that are read in one pass at most.
const MAX_PICKED: usize = 8;

/// Fields of the row that the group reads as they are, each once.
#[derive(Debug, Default)]
struct Picked {
    names: Vec<String>,
    /// The key's place among the names.
    id: Option<usize>,
    /// The places of the computed fields' inputs.
    inputs: Vec<Option<usize>>,
}

impl Picked {
    fn of(group: &Group) -> Self {
        let mut picked = Self::default();
        picked.id = picked.place(&group.id);
        let inputs = group.fields.iter().map(|field| &field.taken.input);
        picked.inputs = inputs.map(|input| picked.place(input)).collect();
        picked
    }

    fn place(&mut self, expr: &Expr) -> Option<usize> {
        let Expr::Field(path) = expr else { return None };
        let name = path.part(0);
        if path.len() != 1 {
            return None;
        }
        let held = self.names.iter().position(|held| held == name);
        if held.is_none() && self.names.len() < MAX_PICKED {
            self.names.push(name.to_owned());
            return Some(self.names.len() - 1);
        }
        held
    }
}

/// A group, running.
#[derive(Debug)]
pub(super) struct Grouping {
    group: Arc<Group>,
    picked: Arc<Picked>,
    index: HashMap<Box<[u8]>, usize, RandomState>,
    groups: Vec<(Value, Vec<State>)>,
    key: Vec<u8>,
    meter: Meter,
    done: Option<std::vec::IntoIter<(Value, Vec<State>)>>,
}

impl Grouping {
    pub(super) fn new(group: Group, holding: &Holding) -> Self {
        Self {
            picked: Arc::new(Picked::of(&group)),
            group: Arc::new(group),
            index: HashMap::default(),
            groups: Vec::new(),
            key: Vec::new(),
            meter: Meter::new("$group", holding),
            done: None,
        }
    }

    /// The position of a key's group.
    fn find(&mut self, id: ValueRef<'_>, context: &Context) -> Result<usize, Error> {
        self.key.clear();
        encode(id, TypeOrder::Bson, false, &mut self.key);
        if let Some(at) = self.index.get(self.key.as_slice()) {
            return Ok(*at);
        }
        let states = start(&self.group.fields, id, context)?;
        let at = self.groups.len();
        self.meter.add(self.key.len() + memory(id) + states.len() * 96 + 64)?;
        self.index.insert(self.key.clone().into_boxed_slice(), at);
        self.groups.push((id.to_value(), states));
        Ok(at)
    }
}

/// The states of a new group with this key.
pub(super) fn start(
    fields: &[Field],
    id: ValueRef<'_>,
    context: &Context,
) -> Result<Vec<State>, Error> {
    let nothing = Document::new();
    let root = id.as_document().unwrap_or(DocRef::Tree(&nothing));
    let env = Env::new(root, context);
    fields.iter().map(|field| field.start(&env)).collect()
}

/// The row of a group.
pub(super) fn finished(id: &Value, fields: &[Field], states: Vec<State>) -> Result<Row, Error> {
    let mut builder = DocBuilder::new();
    builder.append("_id", id.as_ref());
    for (field, state) in fields.iter().zip(states) {
        builder.append(&field.name, state.value().as_ref());
    }
    Ok(Row::made(sized(builder.finish())?))
}

impl Operator for Grouping {
    fn accept(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        let env = Env::new(row.document.as_ref(), context);
        let (group, picked) = (Arc::clone(&self.group), Arc::clone(&self.picked));
        let mut values = [None; MAX_PICKED];
        context.effort.pass(row.document.bytes().len() / 64)?;
        env.root.pick(&picked.names, &mut values);
        let value = |place: usize| values.get(place).copied().flatten();
        let at = match picked.id {
            Some(place) => self.find(value(place).unwrap_or(ValueRef::Null), context)?,
            None => self.find(
                group.id.get(&env).map_err(|error| in_group(error, &group.id))?.or_null(),
                context,
            )?,
        };
        let Some((_, states)) = self.groups.get_mut(at) else { return Ok(()) };
        let mut grown = 0;
        for ((field, place), state) in group.fields.iter().zip(&picked.inputs).zip(states) {
            grown += match *place {
                Some(place) => field.add_value(state, value(place), &env)?,
                None => {
                    let failed = |error| in_group(error, &field.taken.input);
                    field.add(state, &env).map_err(failed)?
                }
            };
        }
        self.meter.add(grown)
    }

    fn end(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.index.clear();
        self.done = Some(std::mem::take(&mut self.groups).into_iter());
        Ok(())
    }

    fn poll(&mut self, _: &Arc<Context>) -> Result<Poll, Error> {
        let Some(done) = &mut self.done else { return Ok(Poll::Need) };
        match done.next() {
            Some((id, states)) => Ok(Poll::Row(finished(&id, &self.group.fields, states)?)),
            None => {
                self.meter.clear();
                Ok(Poll::Done)
            }
        }
    }
}
