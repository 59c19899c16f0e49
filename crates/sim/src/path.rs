//! All read paths and their expected results by the model: scans in both directions, each index,
//! points, counts, the forecast and the preview. An expired document must be missing on all of them
//! at the same instant.

use document::{DocRef, Document, doc};
use engine::{Engine, Error, Hint, Kind, Model as DataModel, Namespace, Plan};
use pipeline::{
    Filter,
    exec::{Stage, UnionWith},
};
use test_kit::{Direction, default_ttl, find_all};

use crate::{model::Model, op::id_of};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Path {
    /// All rows in order of ids.
    Scan,
    /// All rows in reverse order.
    Backward,
    /// A union of two scans of the same collection, which must read at the same instant.
    Twice,
    /// All entries of the index with this name, by a hint.
    Index(&'static str),
    /// The document with this id.
    Point(i32),
    /// Documents with this `v`, by any access path.
    ByV(i32),
    /// Documents with this `u`, which may have a unique index.
    ByU(i32),
    /// The number of live documents, without reading them.
    Count,
    /// Amounts (number and bytes) that expire within an hour, a day, a week, and the live amount.
    Forecast,
    /// The expiry forecast under another default TTL, and the number and bytes of documents that
    /// would expire at once.
    Preview(Option<i64>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReadResult {
    Docs(Vec<Document>),
    /// Pairs of a number of documents and their bytes.
    Amounts(Vec<(i64, i64)>),
    /// The index in the hint does not exist.
    Gone,
    Failed(String),
}

/// Horizons of a forecast, in seconds.
const SPANS_S: [i64; 3] = [3_600, 86_400, 604_800];

impl Path {
    /// Returns the path's filter, as equalities.
    fn filter_document(&self) -> Document {
        match self {
            Self::Index("e_1") => doc! { "p": 1 },
            Self::Point(id) => doc! { "_id": *id },
            Self::ByV(v) => doc! { "v": *v },
            Self::ByU(u) => doc! { "u": *u },
            _ => Document::new(),
        }
    }

    /// Returns the id of the document that the path reads; `None` if it reads several documents.
    pub(crate) fn id(&self) -> Option<i32> {
        match self {
            Self::Point(id) => Some(*id),
            _ => None,
        }
    }

    /// Returns whether the path reads every document.
    pub(crate) fn sees_all(&self) -> bool {
        matches!(
            self,
            Self::Scan | Self::Backward | Self::Twice | Self::Count | Self::Index("v_1" | "t_1")
        )
    }

    /// Reads along this path; returns the documents or count found.
    pub(crate) async fn read_along(self, engine: Engine, name: Namespace) -> ReadResult {
        let hinted = matches!(self, Self::Index(_));
        match self.try_read(engine, name).await {
            Ok(seen) => seen,
            Err(Error { kind: Kind::Gone | Kind::NotFound(_), .. }) => ReadResult::Gone,
            // The index was dropped, or is not built yet.
            Err(Error { kind: Kind::HintRefused(_), .. }) if hinted => ReadResult::Gone,
            Err(error) => ReadResult::Failed(format!("{:?}: {}", error.kind, error.message)),
        }
    }

    /// Reads along the path; the caller handles a missing index.
    async fn try_read(self, engine: Engine, name: Namespace) -> Result<ReadResult, Error> {
        let pair = |amount: engine::Amount| (amount.documents, amount.bytes);
        let within = |within: engine::HorizonAmounts| {
            vec![pair(within.hour), pair(within.day), pair(within.week)]
        };
        let collection = engine.expect_collection(DataModel::Documents, &name)?;
        match &self {
            Self::Count => {
                let live = engine.live_amount(&collection).await?;
                return Ok(ReadResult::Amounts(vec![pair(live)]));
            }
            Self::Forecast => {
                let forecast = engine.forecast_collection(&collection).await?;
                let mut out = within(forecast.expires_within);
                out.push(pair(forecast.live));
                return Ok(ReadResult::Amounts(out));
            }
            Self::Preview(default) => {
                let preview = engine.preview_default(&collection, default_ttl(*default)).await?;
                let mut out = within(preview.expires_within);
                out.push(pair(preview.expires_now));
                return Ok(ReadResult::Amounts(out));
            }
            _ => {}
        }
        let filter = mongo_query::filter::parse(DocRef::Tree(&self.filter_document()));
        let hint = match &self {
            Self::Backward => Hint::Natural(Direction::Backward),
            Self::Index(name) => Hint::Index((*name).to_owned()),
            _ => Hint::None,
        };
        let filter: Filter = filter.expect("a filter");
        let stages = match &self {
            Self::Twice => vec![union_with_itself(&name)],
            _ => Vec::new(),
        };
        let plan = Plan { hint, ..Plan::new(filter) }.with_stages(stages);
        let mut found = find_all(engine, name, plan).await?;
        if self == Self::Twice {
            let again = found.split_off(found.len() / 2);
            if found != again {
                return Ok(ReadResult::Failed(format!("first {found:?}, then {again:?}")));
            }
        }
        if self == Self::Backward {
            found.reverse();
        }
        if !matches!(self, Self::Scan | Self::Backward | Self::Twice) {
            found.sort_by_key(id_of);
        }
        Ok(ReadResult::Docs(found))
    }

    /// Returns the result that the path is expected to have by the model. For a forecast, a copy of
    /// the model is moved forward.
    pub(crate) fn expected_in(&self, model: &Model) -> ReadResult {
        match self {
            Self::Count => ReadResult::Amounts(vec![model.live_amount()]),
            Self::Forecast => {
                let mut out = expirations_within(model);
                out.push(model.live_amount());
                ReadResult::Amounts(out)
            }
            Self::Preview(default) => {
                let mut after = model.clone();
                after.apply_op(&crate::op::Op::SetDefault(*default));
                let mut out = expirations_within(&after);
                out.push(minus(model.live_amount(), after.live_amount()));
                ReadResult::Amounts(out)
            }
            _ => {
                let filter = self.filter_document();
                let wanted = |body: &Document| {
                    filter.fields().iter().all(|(name, value)| body.get(name) == Some(value))
                        && (*self != Self::Index("u_1") || body.get("u").is_some())
                };
                let docs =
                    model.live_documents().map(|(_, doc)| &doc.body).filter(|body| wanted(body));
                ReadResult::Docs(docs.cloned().collect())
            }
        }
    }

    /// Returns a random path. Indexes are the most frequent, since they can be wrong in most ways.
    pub(crate) fn random_path(rng: &mut fastrand::Rng, model: &Model, ids: i32) -> Self {
        let indexes: Vec<&'static str> = model.indexes.keys().copied().collect();
        match rng.u8(0..15) {
            0 | 1 => Self::Scan,
            13 => Self::Twice,
            2 => Self::Backward,
            3..=6 if !indexes.is_empty() => Self::Index(indexes[rng.usize(0..indexes.len())]),
            7 => Self::ByV(rng.i32(0..3)),
            8 => Self::ByU(rng.i32(0..4)),
            9 | 10 => Self::Count,
            11 => Self::Forecast,
            12 => Self::Preview([None, Some(-1), Some(rng.i64(1..6))][rng.usize(0..3)]),
            _ => Self::Point(rng.i32(0..ids)),
        }
    }
}

/// Returns a `$unionWith` stage that adds the documents of the same collection once more.
fn union_with_itself(name: &Namespace) -> Stage {
    let stages = Vec::new().into();
    let collection = name.collection.clone();
    Stage::UnionWith(Box::new(UnionWith { database: None, collection, stages }))
}

fn minus(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    (a.0 - b.0, a.1 - b.1)
}

/// Returns the number and bytes of the documents that expire within each horizon, found by moving
/// copies of the model to the horizons.
fn expirations_within(model: &Model) -> Vec<(i64, i64)> {
    let later = |seconds: &i64| {
        let mut later = model.clone();
        later.move_to(model.now_ms + seconds * 1000);
        minus(model.live_amount(), later.live_amount())
    };
    SPANS_S.iter().map(later).collect()
}
